"""Adding leftover tuples to groups and joining groups: lines 18-23 of Injector's Figure 2.

A group is a linked list of classes with counts, so that a large one costs no more than it has classes.
Tuples of one class are placed together: for that class every group's number of incompatible tuples is
counted once and then kept up to date.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

from ..base import Counts, Flags, Ids, Words, jit
from .assignments import find_valid, forget_bucket, gather_bucket
from .injector import Classes, are_incompatible

WORD = 64


class Groups(NamedTuple):
    """Groups as linked lists of slots; a slot is a class and how many tuples of it."""

    first_slot: Counts
    """The first slot of each group, -1 for none."""
    next_slot: Counts
    slot_class: Ids
    slot_count: Counts
    used: Counts
    """One number: how many slots are in use."""
    size: Counts
    rank: Counts
    """A random order; it tells groups apart that are equally good and equally large."""
    is_there: Flags
    """False for a group that was joined to another."""
    is_denied: Flags
    """Whether the rules rule out the own value of some tuple."""
    values: Words
    """The values in each group, as bits."""


@jit
def _bits_set(word: np.uint64) -> int:
    """Return how many bits of a word are set, one step for each."""
    count = 0
    while word:
        word &= word - np.uint64(1)
        count += 1
    return count


@jit
def add_to_group(classes: Classes, groups: Groups, group: int, which: int, count: int) -> None:
    """Add tuples of a class to a group."""
    groups.size[group] += count
    value = classes.value[which]
    groups.values[group, value // WORD] |= np.uint64(1) << np.uint64(value % WORD)
    if classes.cannot[classes.kind[which], value]:
        groups.is_denied[group] = True
    slot = groups.first_slot[group]
    while slot >= 0:
        if groups.slot_class[slot] == which:
            groups.slot_count[slot] += count
            return
        slot = groups.next_slot[slot]
    slot = groups.used[0]
    groups.used[0] += 1
    groups.slot_class[slot] = which
    groups.slot_count[slot] = count
    groups.next_slot[slot] = groups.first_slot[group]
    groups.first_slot[group] = slot


@jit
def start_groups(classes: Classes, groups: Groups, grouped: Ids, l: int) -> None:
    """Fill the groups with the classes of `grouped`, `l` each in turn."""
    for place in range(grouped.size):
        add_to_group(classes, groups, place // l, grouped[place], 1)


@jit
def _join(groups: Groups, group: int, other: int, slot_of_class: Counts) -> None:
    """Move all tuples of `other` to `group`; `slot_of_class` is work space of -1."""
    slot = groups.first_slot[group]
    while slot >= 0:
        slot_of_class[groups.slot_class[slot]] = slot
        slot = groups.next_slot[slot]
    slot = groups.first_slot[other]
    while slot >= 0:
        after = groups.next_slot[slot]
        same = slot_of_class[groups.slot_class[slot]]
        if same >= 0:
            groups.slot_count[same] += groups.slot_count[slot]
        else:
            groups.next_slot[slot] = groups.first_slot[group]
            groups.first_slot[group] = slot
        slot = after
    slot = groups.first_slot[group]
    while slot >= 0:
        slot_of_class[groups.slot_class[slot]] = -1
        slot = groups.next_slot[slot]
    groups.first_slot[other] = -1
    groups.is_there[other] = False
    groups.size[group] += groups.size[other]
    groups.is_denied[group] |= groups.is_denied[other]
    groups.values[group] |= groups.values[other]


@jit
def _most_different(groups: Groups, group: int) -> int:
    """Return the group with most values that `group` lacks (line 22), -1 where it is the only one."""
    best, most = -1, -1
    for other in range(groups.size.size):
        if other == group or not groups.is_there[other]:
            continue
        new = 0
        for word in range(groups.values.shape[1]):
            new += _bits_set(groups.values[other, word] & ~groups.values[group, word])
        if new > most:
            best, most = other, new
        elif new == most and (
            groups.size[other] < groups.size[best]
            or (groups.size[other] == groups.size[best] and groups.rank[other] < groups.rank[best])
        ):
            best = other
    return best


@jit
def is_diverse(
    classes: Classes, groups: Groups, group: int, l: int, line_of_set: Ids, column_of_value: Ids
) -> bool:
    """Tell whether every tuple of a group has `l` valid values, by looking for assignments."""
    n_slots = 0
    slot = groups.first_slot[group]
    while slot >= 0:
        n_slots += 1
        slot = groups.next_slot[slot]
    kinds = np.empty(n_slots, np.int32)
    values = np.empty(n_slots, np.int32)
    counts = np.empty(n_slots, np.int64)
    slot = groups.first_slot[group]
    for place in range(n_slots):
        which = groups.slot_class[slot]
        kinds[place] = classes.kind[which]
        values[place] = classes.value[which]
        counts[place] = groups.slot_count[slot]
        slot = groups.next_slot[slot]
    held, allowed = gather_bucket(kinds, values, counts, classes.cannot, line_of_set, column_of_value)
    forget_bucket(kinds, values, line_of_set, column_of_value)
    exists, valid = find_valid(held, allowed)
    fewest = l if exists else 0
    for line in range(valid.shape[0]):
        fewest = min(fewest, valid[line].sum())
    return bool(fewest >= l)


@jit
def place_class(classes: Classes, groups: Groups, which: int, count: int, l: int) -> int:
    """Add tuples of one class to groups, and join groups until each newcomer has `l` valid values.

    A newcomer goes to the group with fewest tuples that are incompatible with it, of equals to the
    smallest. It can swap its value with each compatible member, so with l - 1 different values among
    those nothing else need be looked at, as long as all may keep their own values.

    Returns
    -------
    int
        How often two groups were joined.
    """
    n_groups, n_words = groups.values.shape
    incompatible = np.zeros(n_groups, np.int64)
    to_swap = np.zeros((n_groups, n_words), np.uint64)
    heap = [(np.int64(0), np.int64(0), np.int64(0), 0)]
    heap.clear()
    for group in range(n_groups):
        if not groups.is_there[group]:
            continue
        slot = groups.first_slot[group]
        while slot >= 0:
            member = groups.slot_class[slot]
            if are_incompatible(classes, which, member):
                incompatible[group] += groups.slot_count[slot]
            else:
                value = classes.value[member]
                to_swap[group, value // WORD] |= np.uint64(1) << np.uint64(value % WORD)
            slot = groups.next_slot[slot]
        heap.append((incompatible[group], groups.size[group], groups.rank[group], group))
    heapify(heap)
    slot_of_class = np.full(classes.value.size, -1, np.int64)
    line_of_set = np.full(classes.cannot.shape[0], -1, np.int32)
    column_of_value = np.full(classes.cannot.shape[1], -1, np.int32)
    joined = 0
    for _ in range(count):
        least, size, _, group = heappop(heap)
        # A group that changed was put back with its new numbers.
        while not groups.is_there[group] or incompatible[group] != least or groups.size[group] != size:
            least, size, _, group = heappop(heap)
        add_to_group(classes, groups, group, which, 1)
        incompatible[group] += 1
        while True:
            different = 1
            for word in range(n_words):
                different += _bits_set(to_swap[group, word])
            if different >= l and not groups.is_denied[group]:
                break
            if is_diverse(classes, groups, group, l, line_of_set, column_of_value):
                break
            other = _most_different(groups, group)
            if other < 0:
                break
            _join(groups, group, other, slot_of_class)
            incompatible[group] += incompatible[other]
            to_swap[group] |= to_swap[other]
            joined += 1
        heappush(heap, (incompatible[group], groups.size[group], groups.rank[group], group))
    return joined
