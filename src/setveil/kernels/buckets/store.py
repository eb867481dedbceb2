"""Buckets whose tuples come and go, as classes with counts, and whether one keeps Definition 1.

A bucket is a linked list of slots; a slot is a class and how many tuples of it. So a large bucket costs
no more than it has classes. Free slots are linked too. A *pool* is a bucket under work: what several
buckets hold, taken together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..base import Counts, Flags, Ids, jit
from .assignments import find_valid, forget_bucket, gather_bucket
from .injector import Classes

FREE, BUCKETS = 0, 1
"""Places in `Store.ends`: the first free slot, and how many buckets were ever made."""
WORDS, NEXT, BUDGET, STAMP = 0, 1, 2, 3
"""Places in `Desk.at`: the last random word, the last bucket, the work allowed, the last mark."""


class Store(NamedTuple):
    """All buckets; one without tuples is no more."""

    first_slot: Counts
    next_slot: Counts
    slot_class: Ids
    slot_count: Counts
    size: Counts
    ends: Counts


class Pool(NamedTuple):
    """Tuples under work: which classes there may be, and how many of each."""

    listed: Ids
    length: Counts
    """One number: how many of `listed` are in use."""
    is_listed: Flags
    by_class: Counts
    """How many of each class."""


class Desk(NamedTuple):
    """Work space, and what is remembered between calls."""

    line_of_set: Ids
    column_of_value: Ids
    may_have: Counts
    """By value: the mark of the last look that found it possible."""
    may_swap: Counts
    home: Counts
    """By class: a bucket that took a tuple of it, -1 for none known."""
    is_homeless: Flags
    """By class: whether no bucket was found for one that gives up its place."""
    words: Counts
    at: Counts


@jit
def add(store: Store, bucket: int, which: int, count: int) -> None:
    """Add tuples of a class to a bucket; a negative count takes them away."""
    store.size[bucket] += count
    before, slot = -1, store.first_slot[bucket]
    while slot >= 0 and store.slot_class[slot] != which:
        before, slot = slot, store.next_slot[slot]
    if slot < 0:
        slot = store.ends[FREE]
        store.ends[FREE] = store.next_slot[slot]
        store.slot_class[slot] = which
        store.slot_count[slot] = count
        store.next_slot[slot] = store.first_slot[bucket]
        store.first_slot[bucket] = slot
        return
    store.slot_count[slot] += count
    if store.slot_count[slot] == 0:
        if before < 0:
            store.first_slot[bucket] = store.next_slot[slot]
        else:
            store.next_slot[before] = store.next_slot[slot]
        store.next_slot[slot] = store.ends[FREE]
        store.ends[FREE] = slot


@jit
def fill_buckets(store: Store, grouped: Ids, number: Counts, l: int) -> None:
    """Let buckets hold the classes of `grouped`, `l` each; `number` says which bucket is next."""
    for place in range(grouped.size):
        add(store, number[place // l], grouped[place], 1)


@jit
def pour(pool: Pool, which: int, count: int) -> None:
    """Add tuples of a class to a pool; a negative count takes them away."""
    if not pool.is_listed[which]:
        pool.is_listed[which] = True
        pool.listed[pool.length[0]] = which
        pool.length[0] += 1
    pool.by_class[which] += count


@jit
def pour_bucket(store: Store, bucket: int, pool: Pool) -> None:
    """Add what a bucket holds to a pool."""
    slot = store.first_slot[bucket]
    while slot >= 0:
        pour(pool, store.slot_class[slot], store.slot_count[slot])
        slot = store.next_slot[slot]


@jit
def list_members(store: Store, bucket: int, members: Ids) -> int:
    """Write the classes in a bucket; return how many there are."""
    n_members = 0
    slot = store.first_slot[bucket]
    while slot >= 0:
        members[n_members] = store.slot_class[slot]
        n_members += 1
        slot = store.next_slot[slot]
    return n_members


@jit
def empty_pool(pool: Pool) -> None:
    """Take everything out of a pool."""
    for place in range(pool.length[0]):
        pool.by_class[pool.listed[place]] = 0
        pool.is_listed[pool.listed[place]] = False
    pool.length[0] = 0


@jit
def clear_bucket(store: Store, bucket: int) -> None:
    """Take everything out of a bucket."""
    slot = store.first_slot[bucket]
    while slot >= 0:
        after = store.next_slot[slot]
        store.next_slot[slot] = store.ends[FREE]
        store.ends[FREE] = slot
        slot = after
    store.first_slot[bucket] = -1
    store.size[bucket] = 0


@jit
def keep_pool(store: Store, bucket: int, pool: Pool) -> None:
    """Let an empty bucket hold what a pool holds."""
    for place in range(pool.length[0]):
        which = pool.listed[place]
        if pool.by_class[which] > 0:
            add(store, bucket, which, pool.by_class[which])


@jit
def is_valid(classes: Classes, desk: Desk, pool: Pool, l: int) -> bool:
    """Tell whether everybody in a pool has `l` possible values (Definition 1)."""
    length = pool.length[0]
    kinds, values = np.empty(length, np.int32), np.empty(length, np.int32)
    counts = np.empty(length, np.int64)
    held_by = 0
    for place in range(length):
        which = pool.listed[place]
        if pool.by_class[which] > 0:
            kinds[held_by] = classes.kind[which]
            values[held_by] = classes.value[which]
            counts[held_by] = pool.by_class[which]
            held_by += 1
    kinds, values, counts = kinds[:held_by], values[:held_by], counts[:held_by]
    desk.at[BUDGET] -= held_by
    if held_by < l:
        return False
    held, allowed = gather_bucket(
        kinds, values, counts, classes.cannot, desk.line_of_set, desk.column_of_value
    )
    forget_bucket(kinds, values, desk.line_of_set, desk.column_of_value)
    for line in range(allowed.shape[0]):
        if allowed[line].sum() < l:
            return False
    exists, valid = find_valid(held, allowed)
    if not exists:
        return False
    fewest = l
    for line in range(valid.shape[0]):
        fewest = min(fewest, valid[line].sum())
    return bool(fewest >= l)


@jit
def can_take(
    classes: Classes, desk: Desk, store: Store, pool: Pool, bucket: int, which: int, l: int
) -> bool:
    """Tell whether a valid bucket is there and stays so with one more tuple of a class.

    A tuple can swap its value with each compatible member. With l - 1 different values among those
    nothing else need be looked at, as long as all may keep their own values.
    """
    if store.size[bucket] == 0:
        return False
    value, kind = classes.value[which], classes.kind[which]
    desk.at[STAMP] += 1
    mark = desk.at[STAMP]
    denied = classes.cannot[kind, value]
    possible, swaps = 0, 1
    if not denied:
        possible = 1
        desk.may_have[value] = mark
    slot = store.first_slot[bucket]
    while slot >= 0:
        member = store.slot_class[slot]
        other, its_kind = classes.value[member], classes.kind[member]
        if classes.cannot[its_kind, other]:
            denied = True
        if not classes.cannot[kind, other]:
            if desk.may_have[other] != mark:
                desk.may_have[other] = mark
                possible += 1
            if other != value and not classes.cannot[its_kind, value] and desk.may_swap[other] != mark:
                desk.may_swap[other] = mark
                swaps += 1
        slot = store.next_slot[slot]
    desk.at[BUDGET] -= 1
    if possible < l:
        return False
    if swaps >= l and not denied:
        return True
    pour_bucket(store, bucket, pool)
    pour(pool, which, 1)
    valid = is_valid(classes, desk, pool, l)
    empty_pool(pool)
    return valid


@jit
def next_word(desk: Desk) -> int:
    """Return the next random word."""
    desk.at[WORDS] = (desk.at[WORDS] + 1) % desk.words.size
    return int(desk.words[desk.at[WORDS]])


@jit
def next_bucket(desk: Desk, store: Store) -> int:
    """Return the next bucket that is there; there must be one."""
    while True:
        desk.at[NEXT] = (desk.at[NEXT] + 1) % store.ends[BUCKETS]
        if store.size[desk.at[NEXT]] > 0:
            return int(desk.at[NEXT])


@jit
def count_buckets(store: Store) -> int:
    """Return how many buckets there are."""
    return int((store.size[: store.ends[BUCKETS]] > 0).sum())
