"""Injector's Figure 2: forming groups of tuples that can swap their sensitive values, and leftovers.

Tuples are seen as classes: a sensitive value, and the number of a set of values ruled out. Two tuples
are compatible if their values differ and each may take the other's. NIT of a group is the number of
tuples at hand that are not compatible with all of it. For a group g and a candidate of value s with
set S it is ::

    NIT[g] + able(s) + sum over v in S + {s} of (open(v) - unable(v, s))

where only *open* tuples are counted, those compatible with g: open(v) have value v, able(s) is how many
cannot take s, and unable(v, s) how many of value v cannot. So a candidate costs as much as its set is
large, whatever the number of tuples.

Leftover tuples are added to groups, and groups joined, by lines 18-23. A group is then a linked list of
classes with counts, so that a large one costs no more than it has classes. Tuples of one class are
placed together: for that class every group's number of incompatible tuples is counted once and then
kept up to date.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

from ..base import Counts, Flags, Ids, Words, jit
from .assignments import find_valid, forget_bucket, gather_bucket

ATTEMPTS = 256
"""How many groups are tried between two lists of the classes that have tuples left."""


class Classes(NamedTuple):
    """Classes of tuples as arrays; a *ruled* value is one that some set holds."""

    value: Ids
    """The sensitive value of each class."""
    kind: Ids
    """The set of each class."""
    cannot: Flags
    """Which values (columns) each set (lines) holds."""
    ruled_start: Counts
    ruled: Ids
    """The values of set i are ``ruled[ruled_start[i] : ruled_start[i + 1]]``."""
    column_of_value: Ids
    """The place of each value among the ruled ones, -1 for the others."""


class Tallies(NamedTuple):
    """Counts of tuples that are not yet in a group; all but the first of open ones only."""

    remaining: Counts
    """By class."""
    by_value: Counts
    unable: Counts
    """By ruled value: how many cannot take it."""
    unable_by_value: Counts
    """The same by value (lines) and ruled value (columns)."""


@jit
def are_incompatible(classes: Classes, one: int, other: int) -> bool:
    """Tell whether tuples of two classes cannot swap their values, or have the same (Definition 2)."""
    value, value_of_other = classes.value[one], classes.value[other]
    return bool(
        value == value_of_other
        or classes.cannot[classes.kind[one], value_of_other]
        or classes.cannot[classes.kind[other], value]
    )


@jit
def add_tuples(classes: Classes, tallies: Tallies, which: int, count: int) -> None:
    """Add tuples of a class to the open ones; a negative count takes them away."""
    value, kind = classes.value[which], classes.kind[which]
    tallies.by_value[value] += count
    for place in range(classes.ruled_start[kind], classes.ruled_start[kind + 1]):
        column = classes.column_of_value[classes.ruled[place]]
        tallies.unable[column] += count
        tallies.unable_by_value[value, column] += count


@jit
def count_incompatible(classes: Classes, tallies: Tallies, which: int) -> int:
    """Return how many open tuples are incompatible with a class."""
    value, kind = classes.value[which], classes.kind[which]
    column = classes.column_of_value[value]
    found = tallies.by_value[value]
    if column >= 0:
        found += tallies.unable[column] - tallies.unable_by_value[value, column]
    for place in range(classes.ruled_start[kind], classes.ruled_start[kind + 1]):
        other = classes.ruled[place]
        found += tallies.by_value[other]
        if column >= 0:
            found -= tallies.unable_by_value[other, column]
    return int(found)


@jit
def _choose(
    classes: Classes,
    tallies: Tallies,
    listed: Counts,
    is_shut: Flags,
    cost: Counts,
    most: bool,
    word: int,
) -> int:
    """Return the open class with most (or fewest) incompatible tuples, -1 where none is open.

    Of equally good tuples a random one is taken, so a class counts as often as it has tuples.
    """
    best, ties = -1, 0
    for which in listed:
        count = tallies.remaining[which]
        if count == 0 or is_shut[which]:
            continue
        here = count_incompatible(classes, tallies, which)
        cost[which] = here
        if best < 0 or (here > best if most else here < best):
            best, ties = here, count
        elif here == best:
            ties += count
    if best < 0:
        return -1
    place = word % ties
    for which in listed:
        if tallies.remaining[which] > 0 and not is_shut[which] and cost[which] == best:
            place -= tallies.remaining[which]
            if place < 0:
                return int(which)
    return -1


@jit
def form_groups(
    classes: Classes,
    tallies: Tallies,
    l: int,
    words: Counts,
    grouped: Ids,
    n_grouped: int,
    rest: Ids,
    n_rest: int,
    nit_by_choice: Counts,
) -> tuple[int, int, int]:
    """Form groups of `l` mutually compatible tuples until fewer tuples or words than that are left.

    `tallies` are changed in place; outside of this function all tuples are open.
    ``grouped[:n_grouped]`` are the classes of the groups so far, in turn, ``rest[:n_rest]`` those of
    tuples for which no group was found. Each choice takes one of the random `words`, and
    `nit_by_choice` gets its NIT. Returned are the new counts, and how many words were used.
    """
    n_classes = classes.value.size
    is_shut = np.zeros(n_classes, np.bool_)
    shut = np.empty(n_classes, np.int64)
    cost = np.empty(n_classes, np.int64)
    total = tallies.remaining.sum()
    used, attempts = 0, 0
    listed = np.flatnonzero(tallies.remaining)
    while total >= l and used + l <= words.size:
        attempts += 1
        if attempts % ATTEMPTS == 0:
            # Rare values run out early, and classes without tuples need not be looked at.
            listed = np.flatnonzero(tallies.remaining)
        n_shut, size = 0, 0
        shut_tuples = np.int64(0)
        while size < l:
            # Line 3 takes the tuple with most, lines 12-13 that with fewest incompatible tuples.
            new = _choose(classes, tallies, listed, is_shut, cost, size == 0, words[used])
            if new < 0:
                break
            nit_by_choice[used] = shut_tuples + cost[new]
            used += 1
            grouped[n_grouped + size] = new
            size += 1
            total -= 1
            tallies.remaining[new] -= 1
            add_tuples(classes, tallies, new, -1)
            for number in listed:
                which = int(number)
                if not is_shut[which] and are_incompatible(classes, new, which):
                    is_shut[which] = True
                    shut[n_shut] = which
                    n_shut += 1
                    add_tuples(classes, tallies, which, -tallies.remaining[which])
                    shut_tuples += tallies.remaining[which]
        if size == l:
            n_grouped += l
        else:
            # Lines 8-11: the first tuple is put aside, the others go back.
            rest[n_rest] = grouped[n_grouped]
            n_rest += 1
            for place in range(n_grouped + 1, n_grouped + size):
                tallies.remaining[grouped[place]] += 1
                total += 1
        for place in range(n_shut):
            is_shut[shut[place]] = False
            add_tuples(classes, tallies, shut[place], tallies.remaining[shut[place]])
    return n_grouped, n_rest, used


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
    """Add tuples of a class to groups, joined until each has `l` valid values; return the joins.

    A newcomer goes to the group with fewest tuples that are incompatible with it, of equals to the
    smallest. It can swap its value with each compatible member, so with l - 1 different values among
    those nothing else need be looked at, as long as all may keep their own values.
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
