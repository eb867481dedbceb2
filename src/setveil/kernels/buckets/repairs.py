"""Placing tuples that found no group in buckets as they are: part of Injector's compact grouping.

A tuple that is left over joins the smallest bucket in which everybody then keeps l possible values
(`place_class`). Where there is none, it joins a bucket together with another one that is left over
(`place_together`), or takes the place of a member that some other bucket can take (`exchange_one`).
Buckets are dealt anew or joined (`dealing`) only after that.

Buckets are looked at in the order of their numbers, from where the last look ended; who calls numbers
them by chance. How long is searched follows from the number of tuples (`Desk.at[BUDGET]`), never from
the clock.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np

from ..base import Counts, jit
from .injector import Classes
from .store import (
    BUCKETS,
    BUDGET,
    Desk,
    Pool,
    Store,
    add,
    can_take,
    empty_pool,
    is_valid,
    list_members,
    next_bucket,
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
