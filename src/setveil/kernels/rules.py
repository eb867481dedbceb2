"""Conjunctions of conditions with sensitive values: rules counted, those that follow, gaps.

A tuple supports a condition by its membership, a whole number of units: 1 of 1 where conditions are
crisp, hundredths where they are fuzzy. The search goes depth first through the attributes in order.
Each frame holds the tuples that support its prefix, counts them for every condition of a later
attribute, tells rules, and sorts the tuples by the conditions that are frequent enough to go on with.

Gaps ask in how many buckets each conjunction meets each value, and in which. There conjunctions take
one condition of each of the chosen attributes. They are numbered by their conditions' places among
those of their attribute, as the digits of a number; the last attribute counts ones. What meets is given
as pairs of tuple and value, bucket after bucket.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from .base import Counts, Ids, in_threads, jit, plain

Flags: TypeAlias = npt.NDArray[np.bool_]
PRODUCT, MINIMUM = 0, 1


class Coded(NamedTuple):
    """Tuples and conditions as arrays.

    The conditions met by leaf ``leaf_start[a] + leaf`` are `condition_of_entry` and
    `membership_of_entry` from ``entry_start`` of that leaf to the next. `step_by_attribute` is 1 where
    the memberships of an attribute are parts of a unit and multiply.
    """

    leaf_by_attribute: Ids
    value_by_tuple: Ids
    weight_by_tuple: Counts
    leaf_start: Counts
    entry_start: Counts
    condition_of_entry: Ids
    membership_of_entry: Counts
    step_by_attribute: Counts
    n_conditions: int


class Found(NamedTuple):
    """Rules as lines: conditions (-1 pads), value, support, support with the value; tests by length."""

    conditions: Ids
    values: Ids
    counts: Counts
    counts_with: Counts
    tests: Counts


@jit
def explore(
    leaf_by_attribute: Ids,
    value_by_tuple: Ids,
    weight_by_tuple: Counts,
    leaf_start: Counts,
    entry_start: Counts,
    condition_of_entry: Ids,
    membership_of_entry: Counts,
    step_by_attribute: Counts,
    n_conditions: int,
    least_by_value: Counts,
    sorted_least: Counts,
    doubt: int,
    whole: int,
    longest: int,
    combine: int,
    full: int,
    first: int,
    part: int,
    parts: int,
    most: int,
) -> tuple[Ids, Ids, Counts, Counts, Counts]:
    """Find the rules whose first condition is of the attribute `first`.

    A rule holds if its support reaches ``least_by_value[steps, value]`` and the support with the value
    is at most ``doubt / whole`` of it. Of the first conditions every one in `parts` is gone on with.
    The search ends early once more than `most` rules are found.
    """
    n_tuples, n_attributes = leaf_by_attribute.shape
    n_values = least_by_value.shape[1]
    room = 256
    found = np.full((room, longest), -1, np.int32)
    found_value = np.empty(room, np.int32)
    found_count = np.empty(room, np.int64)
    found_with = np.empty(room, np.int64)
    n_found = 0
    tests = np.zeros(longest + 1, np.int64)
    total = np.zeros(n_conditions, np.int64)
    table = np.zeros(n_conditions * n_values, np.int64)
    size = np.zeros(n_conditions, np.int64)
    touched = np.empty(n_conditions, np.int32)
    held = np.empty(n_tuples, np.int32)
    member = np.empty(n_tuples, np.int64)
    for tuple_ in range(n_tuples):
        held[tuple_] = tuple_
        member[tuple_] = full
    children = np.empty(64, np.int32)
    child_low = np.empty(64, np.int64)
    child_high = np.empty(64, np.int64)
    chosen = np.full(longest + 1, -1, np.int32)
    low = np.zeros(longest + 1, np.int64)
    high = np.zeros(longest + 1, np.int64)
    base = np.zeros(longest + 1, np.int64)
    top = np.zeros(longest + 1, np.int64)
    attribute = np.zeros(longest + 1, np.int64)
    steps = np.zeros(longest + 1, np.int64)
    child_base = np.zeros(longest + 1, np.int64)
    child_next = np.zeros(longest + 1, np.int64)
    child_end = np.zeros(longest + 1, np.int64)
    high[0] = base[0] = top[0] = n_tuples
    attribute[0] = first - 1
    depth = 0
    while depth >= 0:
        if child_next[depth] < child_end[depth]:
            child = child_next[depth]
            child_next[depth] += 1
            chosen[depth] = children[child]
            steps[depth + 1] = steps[depth] + step_by_attribute[attribute[depth]]
            attribute[depth + 1] = attribute[depth]
            depth += 1
            low[depth], high[depth] = child_low[child], child_high[child]
            base[depth] = top[depth] = top[depth - 1]
            child_base[depth] = child_next[depth] = child_end[depth] = child_end[depth - 1]
            continue
        attribute[depth] += 1
        here = attribute[depth]
        if here >= n_attributes or (depth == 0 and here > first):
            depth -= 1
            continue
        child_next[depth] = child_end[depth] = child_base[depth]
        top[depth] = base[depth]
        n_touched = 0
        for place in range(low[depth], high[depth]):
            tuple_ = held[place]
            value = value_by_tuple[tuple_]
            weight = weight_by_tuple[tuple_]
            leaf = leaf_start[here] + leaf_by_attribute[tuple_, here]
            for entry in range(entry_start[leaf], entry_start[leaf + 1]):
                condition = condition_of_entry[entry]
                if combine == 0:
                    support = weight * member[place] * membership_of_entry[entry]
                else:
                    support = weight * min(member[place], membership_of_entry[entry])
                if size[condition] == 0:
                    touched[n_touched] = condition
                    n_touched += 1
                size[condition] += 1
                total[condition] += support
                table[condition * n_values + value] += support
        used = steps[depth] + step_by_attribute[here]
        goes_on = depth + 1 < longest and here + 1 < n_attributes
        tells = depth > 0 or part == 0
        for number in range(n_touched):
            condition = touched[number]
            count = total[condition]
            start = condition * n_values
            if count >= sorted_least[used, 0]:
                if tells:
                    tests[depth + 1] += np.searchsorted(sorted_least[used], count, side="right")
                    for value in range(n_values):
                        fits = table[start + value] * whole <= doubt * count
                        if count >= least_by_value[used, value] and fits:
                            if n_found == room:
                                room *= 2
                                found = _grown(found, room)
                                found_value = _longer_ids(found_value, room)
                                found_count = _longer(found_count, room)
                                found_with = _longer(found_with, room)
                            for step in range(depth):
                                found[n_found, step] = chosen[step]
                            found[n_found, depth] = condition
                            found_value[n_found] = value
                            found_count[n_found] = count
                            found_with[n_found] = table[start + value]
                            n_found += 1
                            if n_found > most:
                                return (
                                    found[:n_found],
                                    found_value[:n_found],
                                    found_count[:n_found],
                                    found_with[:n_found],
                                    tests,
                                )
                if goes_on and (depth > 0 or condition % parts == part):
                    child = child_end[depth]
                    if child == children.size:
                        children = _longer_ids(children, 2 * child)
                        child_low = _longer(child_low, 2 * child)
                        child_high = _longer(child_high, 2 * child)
                    children[child] = condition
                    child_low[child] = child_high[child] = top[depth]
                    top[depth] += size[condition]
                    child_end[depth] += 1
            for value in range(n_values):
                table[start + value] = 0
            total[condition] = 0
            size[condition] = 0
        if child_end[depth] == child_base[depth]:
            continue
        if top[depth] > held.size:
            room_of_tuples = max(2 * held.size, top[depth])
            held = _longer_ids(held, room_of_tuples)
            member = _longer(member, room_of_tuples)
        for child in range(child_base[depth], child_end[depth]):
            size[children[child]] = child + 1
        for place in range(low[depth], high[depth]):
            tuple_ = held[place]
            leaf = leaf_start[here] + leaf_by_attribute[tuple_, here]
            for entry in range(entry_start[leaf], entry_start[leaf + 1]):
                child = size[condition_of_entry[entry]] - 1
                if child >= 0:
                    held[child_high[child]] = tuple_
                    if combine == 0:
                        member[child_high[child]] = member[place] * membership_of_entry[entry]
                    else:
                        member[child_high[child]] = min(member[place], membership_of_entry[entry])
                    child_high[child] += 1
        for child in range(child_base[depth], child_end[depth]):
            size[children[child]] = 0
    return found[:n_found], found_value[:n_found], found_count[:n_found], found_with[:n_found], tests


@jit
def _grown(lines: Ids, room: int) -> Ids:
    more = np.full((room, lines.shape[1]), -1, np.int32)
    more[: lines.shape[0]] = lines
    return more


@jit
def _longer_ids(array: Ids, room: int) -> Ids:
    more = np.empty(room, np.int32)
    more[: array.size] = array
    return more


@jit
def _longer(array: Counts, room: int) -> Counts:
    more = np.empty(room, np.int64)
    more[: array.size] = array
    return more


@jit
def mark_covered(
    conditions: Ids,
    value_by_rule: Ids,
    may_cover: Flags,
    order: Counts,
    coverer_start: Counts,
    coverers: Ids,
) -> Flags:
    """Tell which rules follow from one that may cover and comes before them in `order`.

    One rule covers another if each of its conditions is among the coverers of a condition of the other.
    `order` must put rules of one value side by side.
    """
    covered = np.zeros(order.size, np.bool_)
    stamp = np.full(max(coverer_start.size - 1, 1), -1, np.int64)
    kept = np.empty(order.size, np.int64)
    n_kept = 0
    last = -1
    for place in range(order.size):
        rule = order[place]
        if value_by_rule[rule] != last:
            n_kept = 0
            last = value_by_rule[rule]
        for condition in conditions[rule]:
            if condition >= 0:
                for entry in range(coverer_start[condition], coverer_start[condition + 1]):
                    stamp[coverers[entry]] = place
        for other in range(n_kept):
            follows = True
            for condition in conditions[kept[other]]:
                if condition >= 0 and stamp[condition] != place:
                    follows = False
                    break
            if follows:
                covered[rule] = True
                break
        if may_cover[rule] and not covered[rule]:
            kept[n_kept] = rule
            n_kept += 1
    return covered


def find_rules(
    coded: Coded,
    least_by_value: Counts,
    *,
    first: int,
    longest: int,
    doubt: int,
    whole: int,
    full: int = 1,
    combine: int = PRODUCT,
    most: int = 2**62,
    threads: int = 1,
) -> Found:
    """Return the rules whose first condition is of the attribute `first`; see `explore`."""
    least = plain(least_by_value, np.int64)
    arrays = (
        plain(coded.leaf_by_attribute, np.int32),
        plain(coded.value_by_tuple, np.int32),
        plain(coded.weight_by_tuple, np.int64),
        plain(coded.leaf_start, np.int64),
        plain(coded.entry_start, np.int64),
        plain(coded.condition_of_entry, np.int32),
        plain(coded.membership_of_entry, np.int64),
        plain(coded.step_by_attribute, np.int64),
        coded.n_conditions,
        least,
        np.sort(least, axis=1),
    )
    parts = 1 if threads <= 1 or longest == 1 else 4 * threads

    def search(part: int) -> Found:
        return Found(*explore(*arrays, doubt, whole, longest, combine, full, first, part, parts, most))

    return joined(in_threads(search, range(parts), threads))


def joined(pieces: Sequence[Found]) -> Found:
    """Return the rules of several searches as one."""
    return Found(
        np.concatenate([piece.conditions for piece in pieces]),
        np.concatenate([piece.values for piece in pieces]),
        np.concatenate([piece.counts for piece in pieces]),
        np.concatenate([piece.counts_with for piece in pieces]),
        np.sum([piece.tests for piece in pieces], axis=0),
    )


class Conjunctions(NamedTuple):
    """Conjunctions over some attributes, of which those of `low` to `high` in the first are meant.

    The conditions of leaf ``leaf_start[a] + leaf`` are `condition_of_entry` and `membership_of_entry`
    from ``entry_start`` of that leaf to the next, as in `Coded`. `first_condition` and
    `radix` tell for each chosen attribute its first condition and the weight of its digit.
    """

    leaf_by_tuple: Ids
    chosen: Ids
    leaf_start: Counts
    entry_start: Counts
    condition_of_entry: Ids
    membership_of_entry: Counts
    first_condition: Counts
    radix: Counts
    low: int
    high: int


@jit
def _spell(
    which: Conjunctions, tuple_: int, combine: int, full: int, cells: Counts, members: Counts
) -> int:
    """Write the conjunctions that a tuple meets, and its membership in each; return how many."""
    n = 1
    cells[0] = -which.low * which.radix[0]
    members[0] = full
    for place in range(which.chosen.size):
        attribute = which.chosen[place]
        leaf = which.leaf_start[attribute] + which.leaf_by_tuple[tuple_, attribute]
        start, end = which.entry_start[leaf], which.entry_start[leaf + 1]
        if place == 0:
            while (
                start < end and which.condition_of_entry[start] < which.first_condition[0] + which.low
            ):
                start += 1
            while (
                start < end
                and which.condition_of_entry[end - 1] >= which.first_condition[0] + which.high
            ):
                end -= 1
        width = end - start
        # From the last one down, so that nothing is overwritten before it is read.
        for old in range(n - 1, -1, -1):
            cell, member = cells[old], members[old]
            for entry in range(width - 1, -1, -1):
                digit = which.condition_of_entry[start + entry] - which.first_condition[place]
                own = which.membership_of_entry[start + entry]
                cells[old * width + entry] = cell + digit * which.radix[place]
                members[old * width + entry] = member * own if combine == PRODUCT else min(member, own)
        n *= width
        if n == 0:
            return 0
    return n


@jit
def add_supports(which: Conjunctions, most: int, combine: int, full: int, support: Counts) -> None:
    """Add the membership of every tuple to the conjunctions it meets, `most` of them at most."""
    cells = np.empty(most, np.int64)
    members = np.empty(most, np.int64)
    for tuple_ in range(which.leaf_by_tuple.shape[0]):
        for number in range(_spell(which, tuple_, combine, full, cells, members)):
            support[cells[number]] += members[number]


@jit
def add_buckets(
    which: Conjunctions,
    most: int,
    tuples: Ids,
    values: Ids,
    buckets: Ids,
    last: Ids,
    spread: Ids,
) -> None:
    """Count the buckets in which each conjunction (lines) meets each value (columns).

    `last` is the last bucket of each, -1 at first; equal buckets lie side by side.
    """
    cells = np.empty(most, np.int64)
    members = np.empty(most, np.int64)
    for place in range(tuples.size):
        value, bucket = values[place], buckets[place]
        for number in range(_spell(which, tuples[place], 0, 1, cells, members)):
            cell = cells[number]
            if last[cell, value] != bucket:
                last[cell, value] = bucket
                spread[cell, value] += 1


@jit
def list_buckets(
    which: Conjunctions,
    most: int,
    tuples: Ids,
    values: Ids,
    buckets: Ids,
    last: Ids,
    place_of: Ids,
    start: Counts,
    found: Ids,
) -> None:
    """Write the buckets of each pair with a place in `place_of` to ``found[start[place]:]``.

    `start` moves on; `last` is as in `add_buckets`.
    """
    cells = np.empty(most, np.int64)
    members = np.empty(most, np.int64)
    for place in range(tuples.size):
        value, bucket = values[place], buckets[place]
        for number in range(_spell(which, tuples[place], 0, 1, cells, members)):
            cell = cells[number]
            pair = place_of[cell, value]
            if pair >= 0 and last[cell, value] != bucket:
                last[cell, value] = bucket
                found[start[pair]] = bucket
                start[pair] += 1
