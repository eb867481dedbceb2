"""Tuples that found no group placed in buckets, and buckets dealt anew: Injector's compact grouping.

A tuple that is left over joins the smallest bucket in which everybody then keeps l possible values
(`place_class`). Where there is none, it joins a bucket together with another one that is left over
(`place_together`), or takes the place of a member that some other bucket can take (`exchange_one`).
Only after that it is dealt, with two or three buckets, into as many (`form_anew`), and only where that
is not found either buckets are joined, no more than it takes (`join_buckets`). In the end buckets are
dealt anew into more where that can be done (`split_bucket`, `gain_bucket`).

Buckets are looked at in the order of their numbers, from where the last look ended; who calls numbers
them by chance. How long is searched follows from the number of tuples (`Desk.at[BUDGET]`), never from
the clock.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np

from ..base import Counts, Ids, jit
from .injector import Classes, are_incompatible
from .store import (
    BUCKETS,
    BUDGET,
    Desk,
    Pool,
    Store,
    add,
    can_take,
    clear_bucket,
    count_buckets,
    empty_pool,
    is_valid,
    keep_pool,
    list_members,
    next_bucket,
    next_word,
    pour,
    pour_bucket,
)

LOOK = 2_000
"""How many buckets in turn may refuse a class before it is given up for now."""


@jit
def place_class(
    classes: Classes,
    desk: Desk,
    store: Store,
    pool: Pool,
    which: int,
    count: int,
    l: int,
    most: int,
    looks: int,
) -> int:
    """Add tuples of a class, each to the smallest bucket that can take it; return how many are left.

    No bucket of `most` tuples or more is given one, and after `looks` in turn that cannot take one no
    other is asked.
    """
    heap = [(np.int64(0), 0)]
    heap.clear()
    for bucket in range(store.ends[BUCKETS]):
        if store.size[bucket] > 0:
            heap.append((store.size[bucket], bucket))
    heapify(heap)
    refused = 0
    while count > 0 and len(heap) > 0 and refused < looks:
        size, bucket = heappop(heap)
        if size >= most:
            break
        if can_take(classes, desk, store, pool, bucket, which, l):
            add(store, bucket, which, 1)
            desk.home[which] = bucket
            heappush(heap, (size + 1, bucket))
            count -= 1
            refused = 0
        else:
            refused += 1
    return count


@jit
def place_near(
    classes: Classes, desk: Desk, store: Store, pool: Pool, which: int, count: int, l: int
) -> int:
    """Add tuples of a class to small buckets nearby while one can take them; return how many are left.

    If some are left, `Desk.home` is a large bucket that can take one more, or -1.
    """
    while count > 0:
        home = desk.home[which]
        if home >= 0 and not can_take(classes, desk, store, pool, home, which, l):
            home = -1
        if home < 0 or store.size[home] >= 2 * l:
            looks = LOOK // 10 if desk.at[BUDGET] >= 0 else LOOK // 100
            for _ in range(min(looks, store.ends[BUCKETS])):
                bucket = next_bucket(desk, store)
                if home >= 0 and store.size[bucket] >= 2 * l:
                    continue
                if can_take(classes, desk, store, pool, bucket, which, l):
                    home = bucket
                    if store.size[bucket] < 2 * l:
                        break
        desk.home[which] = home
        # With no work left to look for better a large bucket will do.
        if home < 0 or (store.size[home] >= 2 * l and desk.at[BUDGET] >= 0):
            break
        add(store, home, which, 1)
        count -= 1
    return count


@jit
def find_home(
    classes: Classes, desk: Desk, store: Store, pool: Pool, which: int, but: int, looks: int, l: int
) -> int:
    """Return a bucket other than `but` that can take a tuple of a class, -1 where none was found."""
    home = desk.home[which]
    if home >= 0 and home != but and can_take(classes, desk, store, pool, home, which, l):
        return int(home)
    for _ in range(min(looks, store.ends[BUCKETS]) if desk.at[BUDGET] >= 0 else 0):
        bucket = next_bucket(desk, store)
        if bucket != but and can_take(classes, desk, store, pool, bucket, which, l):
            desk.home[which] = bucket
            return bucket
    return -1


@jit
def exchange_one(classes: Classes, desk: Desk, store: Store, pool: Pool, which: int, l: int) -> bool:
    """Let a tuple take the place of a member that some other bucket can take."""
    members = np.empty(classes.value.size, np.int32)
    for _ in range(min(LOOK, store.ends[BUCKETS])):
        if desk.at[BUDGET] < 0:
            return False
        bucket = next_bucket(desk, store)
        n_members = list_members(store, bucket, members)
        for place in range(n_members):
            member = members[place]
            if member == which or desk.is_homeless[member]:
                continue
            pour_bucket(store, bucket, pool)
            pour(pool, member, -1)
            pour(pool, which, 1)
            valid = is_valid(classes, desk, pool, l)
            empty_pool(pool)
            if not valid:
                continue
            home = find_home(classes, desk, store, pool, member, bucket, LOOK // 10, l)
            if home < 0:
                # It is not looked for again until buckets are joined.
                desk.is_homeless[member] = True
            else:
                add(store, bucket, member, -1)
                add(store, bucket, which, 1)
                add(store, home, member, 1)
                return True
    return False


@jit
def place_together(
    classes: Classes, desk: Desk, store: Store, pool: Pool, which: int, left: Counts, l: int
) -> int:
    """Add a tuple to a bucket with another one that is left over; return its class, -1 for none."""
    others = np.flatnonzero(left)
    for _ in range(min(LOOK // 10, store.ends[BUCKETS])):
        bucket = next_bucket(desk, store)
        for number in others:
            other = int(number)
            if desk.at[BUDGET] < 0:
                return -1
            if left[other] < 1 + (other == which):
                continue
            pour_bucket(store, bucket, pool)
            pour(pool, which, 1)
            pour(pool, other, 1)
            valid = is_valid(classes, desk, pool, l)
            empty_pool(pool)
            if valid:
                add(store, bucket, which, 1)
                add(store, bucket, other, 1)
                return other
    return -1


TRIES = 100
"""How many pairs or threes of buckets are dealt anew, or joined, for one tuple."""
DEALS = 6
"""How often a pool is dealt: the hardest tuples first, then by chance."""
GROWN = 3
"""From this deal on groups grow by chance until they are valid, so that they may hold anybody."""
ROOM = 3
"""A group may grow to so many times l tuples before those that it can do without are put back."""
TAKEN = 6
"""How many buckets at most are dealt anew into one more."""


@jit
def _deal_group(classes: Classes, desk: Desk, pool: Pool, l: int, by_chance: bool, group: Ids) -> bool:
    """Take `l` mutually compatible tuples out of a pool, into `group`; tell whether there were."""
    length = pool.length[0]
    weight = np.zeros(length, np.int64)
    for place in range(length):
        which = pool.listed[place]
        if classes.cannot[classes.kind[which], classes.value[which]]:
            continue
        weight[place] = pool.by_class[which]
        if not by_chance and weight[place] > 0:
            weight[place] = 0
            for number in range(length):
                other = pool.listed[number]
                if are_incompatible(classes, which, other):
                    weight[place] += pool.by_class[other]
    desk.at[BUDGET] -= length * l
    for size in range(l):
        best = -1
        if by_chance:
            total = weight.sum()
            if total > 0:
                share = next_word(desk) % total
                for place in range(length):
                    share -= weight[place]
                    if share < 0:
                        best = place
                        break
        else:
            start = next_word(desk) % length
            for number in range(length):
                place = (start + number) % length
                if weight[place] > 0 and (best < 0 or weight[place] > weight[best]):
                    best = place
        if best < 0:
            for place in range(size):
                pool.by_class[group[place]] += 1
            return False
        new = pool.listed[best]
        group[size] = new
        pool.by_class[new] -= 1
        for place in range(length):
            if weight[place] > 0 and are_incompatible(classes, new, pool.listed[place]):
                weight[place] = 0
    return True


@jit
def _grow_group(classes: Classes, desk: Desk, pool: Pool, small: Pool, l: int, group: Ids) -> int:
    """Take tuples that make a valid bucket out of a pool, none of them needless; return how many.

    Chance adds tuples until the bucket is valid, by class or by tuple, so that rare classes have their
    turn too. Then those are put back that it can do without. 0 where there is no room for so many.
    """
    size, length = 0, pool.length[0]
    valid = False
    while size < group.size and not valid:
        place = next_word(desk) % length
        if next_word(desk) % 2 == 0:
            total = 0
            for number in range(length):
                total += pool.by_class[pool.listed[number]]
            share = next_word(desk) % max(1, total)
            for number in range(length):
                share -= pool.by_class[pool.listed[number]]
                if share < 0:
                    place = number
                    break
        for _ in range(length):
            if pool.by_class[pool.listed[place]] > 0:
                break
            place = (place + 1) % length
        new = pool.listed[place]
        if pool.by_class[new] == 0:
            break
        pour(pool, new, -1)
        pour(small, new, 1)
        group[size] = new
        size += 1
        valid = size >= l and is_valid(classes, desk, small, l)
    kept = 0
    for number in range(size):
        which = group[number]
        pour(small, which, -1)
        if valid and not is_valid(classes, desk, small, l):
            pour(small, which, 1)
            group[kept] = which
            kept += 1
        else:
            pour(pool, which, 1)
    empty_pool(small)
    return kept


@jit
def _new_bucket(store: Store) -> int:
    """Return the number of a bucket that is not there; there are more numbers than valid buckets."""
    if store.ends[BUCKETS] < store.size.size:
        store.ends[BUCKETS] += 1
        return int(store.ends[BUCKETS] - 1)
    bucket = 0
    while store.size[bucket] > 0:
        bucket += 1
    return bucket


@jit
def deal_anew(
    classes: Classes, desk: Desk, store: Store, pool: Pool, taken: Counts, parts: int, l: int
) -> bool:
    """Deal a pool into `parts` valid buckets, in place of those `taken`; tell whether that was done.

    All but the first of the new buckets have no tuple that they can do without; it has the rest. The
    pool is empty afterwards only if it was done.
    """
    total = 0
    for place in range(pool.length[0]):
        total += pool.by_class[pool.listed[place]]
    if total < parts * l:
        return False
    group = np.empty((parts, ROOM * l), np.int32)
    size = np.empty(parts, np.int64)
    n_classes = classes.value.size
    small = Pool(
        np.empty(n_classes, np.int32),
        np.zeros(1, np.int64),
        np.zeros(n_classes, np.bool_),
        np.zeros(n_classes, np.int64),
    )
    for attempt in range(DEALS):
        made = 0
        while made < parts - 1:
            if attempt >= GROWN:
                size[made] = _grow_group(classes, desk, pool, small, l, group[made])
            else:
                dealt = _deal_group(classes, desk, pool, l, attempt > 0, group[made])
                size[made] = l if dealt else 0
            if size[made] == 0:
                break
            made += 1
        if made == parts - 1 and is_valid(classes, desk, pool, l):
            for bucket in taken:
                clear_bucket(store, bucket)
            keep_pool(store, taken[0], pool)
            for part in range(1, parts):
                bucket = taken[part] if part < taken.size else _new_bucket(store)
                for place in range(size[part - 1]):
                    add(store, bucket, group[part - 1, place], 1)
            empty_pool(pool)
            return True
        for part in range(made):
            for place in range(size[part]):
                pool.by_class[group[part, place]] += 1
    return False


@jit
def _pour_several(desk: Desk, store: Store, n_buckets: int, pool: Pool) -> Counts:
    """Add what so many different buckets hold to a pool; return them. There must be as many."""
    found = np.empty(n_buckets, np.int64)
    for place in range(n_buckets):
        # From one run of the numbers to the next not always the same neighbours.
        for _ in range(next_word(desk) % 4):
            next_bucket(desk, store)
        bucket = next_bucket(desk, store)
        while (found[:place] == bucket).any():
            bucket = next_bucket(desk, store)
        found[place] = bucket
        pour_bucket(store, bucket, pool)
    return found


@jit
def form_anew(classes: Classes, desk: Desk, store: Store, pool: Pool, which: int, l: int) -> bool:
    """Deal a tuple and two or three buckets anew into as many."""
    there = count_buckets(store)
    for n_buckets in range(2, 4):
        if n_buckets > there:
            return False
        for _ in range(TRIES):
            if desk.at[BUDGET] < 0:
                return False
            taken = _pour_several(desk, store, n_buckets, pool)
            pour(pool, which, 1)
            if deal_anew(classes, desk, store, pool, taken, n_buckets, l):
                return True
            empty_pool(pool)
    return False


@jit
def join_buckets(classes: Classes, desk: Desk, store: Store, pool: Pool, which: int, l: int) -> int:
    """Join buckets until one can take a tuple, few if that can be seen; return how many were joined."""
    desk.is_homeless[:] = False
    there = count_buckets(store)
    for n_buckets in range(2, 4):
        for _ in range(TRIES):
            if desk.at[BUDGET] < 0 or n_buckets > there:
                break
            taken = _pour_several(desk, store, n_buckets, pool)
            pour(pool, which, 1)
            if is_valid(classes, desk, pool, l):
                for bucket in taken:
                    clear_bucket(store, bucket)
                keep_pool(store, taken[0], pool)
                empty_pool(pool)
                desk.home[which] = taken[0]
                return n_buckets
            empty_pool(pool)
    into = next_bucket(desk, store)
    joined = 1
    pour_bucket(store, into, pool)
    pour(pool, which, 1)
    while not is_valid(classes, desk, pool, l) and joined < there:
        bucket = next_bucket(desk, store)
        if bucket != into:
            pour_bucket(store, bucket, pool)
            clear_bucket(store, bucket)
            joined += 1
    clear_bucket(store, into)
    keep_pool(store, into, pool)
    empty_pool(pool)
    desk.home[which] = into
    return joined


@jit
def split_bucket(classes: Classes, desk: Desk, store: Store, pool: Pool, bucket: int, l: int) -> int:
    """Deal a large bucket into as many as can be seen; return how many it became."""
    found = 1
    one = np.array([bucket])
    while store.size[bucket] >= 2 * l:
        pour_bucket(store, bucket, pool)
        made = deal_anew(classes, desk, store, pool, one, 2, l)
        empty_pool(pool)
        if not made:
            break
        found += 1
    return found


@jit
def gain_bucket(
    classes: Classes, desk: Desk, store: Store, pool: Pool, large: Counts, first: int, l: int
) -> bool:
    """Deal buckets anew into one more; tell whether that was done.

    `large` are buckets that had more than `l` tuples when they were listed. The one at the place
    `first` is joined by others of them by chance, until they have `l` tuples more than they need, and
    every other time by a bucket of any size.
    """
    taken = np.empty(TAKEN + 1, np.int64)
    taken[0] = large[first]
    n_taken, more = 1, store.size[large[first]] - l
    for _ in range(2 * TAKEN):
        if more >= l or n_taken == TAKEN:
            break
        bucket = large[next_word(desk) % large.size]
        if store.size[bucket] > l and not (taken[:n_taken] == bucket).any():
            taken[n_taken] = bucket
            n_taken += 1
            more += store.size[bucket] - l
    if more < l:
        return False
    if n_taken == 1 or next_word(desk) % 2 == 0:
        bucket = next_bucket(desk, store)
        if not (taken[:n_taken] == bucket).any():
            taken[n_taken] = bucket
            n_taken += 1
    for bucket in taken[:n_taken]:
        pour_bucket(store, bucket, pool)
    made = deal_anew(classes, desk, store, pool, taken[:n_taken], n_taken + 1, l)
    empty_pool(pool)
    return made


@jit
def relieve_bucket(
    classes: Classes, desk: Desk, store: Store, pool: Pool, bucket: int, l: int, spared: Counts
) -> None:
    """Take out of a large bucket the tuples of each class that it can do without; `spared` counts them.

    One of each class stays, so that the bucket can take all of them back.
    """
    members = np.empty(classes.value.size, np.int32)
    n_members = list_members(store, bucket, members)
    pour_bucket(store, bucket, pool)
    for place in range(n_members):
        which = members[place]
        count = pool.by_class[which] - 1
        if count > 0 and not classes.cannot[classes.kind[which], classes.value[which]]:
            pour(pool, which, -count)
            if is_valid(classes, desk, pool, l):
                add(store, bucket, which, -count)
                spared[which] += count
            else:
                pour(pool, which, count)
    empty_pool(pool)
