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
from typing import NamedTuple

import numpy as np

from .base import Counts, Flags, Ids, grown, grown_lines, in_threads, jit, plain

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


class Bar(NamedTuple):
    """What a rule must reach: supports in units, by how many conditions multiply parts of a unit."""

    least_by_value: Counts
    """By that number (lines) and value (columns), the least support."""
    sorted_least: Counts
    """Each line of it in order."""
    doubt: int
    whole: int
    """The support with the value may be ``doubt / whole`` of the support at most."""
    most: int
    """The search ends early once more rules than this are found."""


class Way(NamedTuple):
    """How far conjunctions go, and how the memberships of their conditions are joined."""

    longest: int
    combine: int
    """`PRODUCT` or `MINIMUM`."""
    full: int
    """The membership of a tuple before the first condition."""


class Frames(NamedTuple):
    """The prefixes that are gone on with, by number of conditions.

    The tuples of a prefix lie from `LOW` to `HIGH` on a stack, what it adds there from `BASE` to `TOP`.
    Its children, the conditions of the `ATTRIBUTE` at hand to go on with, are those from `CHILDREN` to
    `END` on a stack of their own, `NEXT` the next one. `STEPS` is how many conditions multiply parts
    of a unit.
    """

    chosen: Ids
    at: Counts


LOW, HIGH, BASE, TOP, ATTRIBUTE, STEPS, CHILDREN, NEXT, END = range(9)
"""Columns of `Frames.at`."""


@jit
def _join(combine: int, one: int, other: int) -> int:
    """Return the membership in two conditions together."""
    return one * other if combine == PRODUCT else min(one, other)


@jit
def _first_frames(longest: int, n_tuples: int, first: int) -> Frames:
    """Return frames of which the one without conditions has all tuples."""
    frames = Frames(np.full(longest + 1, -1, np.int32), np.zeros((longest + 1, 9), np.int64))
    frames.at[0, HIGH] = frames.at[0, BASE] = frames.at[0, TOP] = n_tuples
    frames.at[0, ATTRIBUTE] = first - 1
    return frames


@jit
def explore(
    coded: Coded, bar: Bar, way: Way, first: int, part: int, parts: int
) -> tuple[Ids, Ids, Counts, Counts, Counts]:
    """Find the rules whose first condition is of the attribute `first`; see `Found`.

    Of the first conditions every one in `parts` is gone on with.
    """
    leaf_by_attribute, value_by_tuple, weight_by_tuple = coded[:3]
    leaf_start, entry_start, condition_of_entry, membership_of_entry = coded[3:7]
    least_by_value, sorted_least, doubt, whole, most = bar
    longest, combine, full = way
    n_tuples, n_attributes = leaf_by_attribute.shape
    n_values = least_by_value.shape[1]
    found, found_value = np.full((256, longest), -1, np.int32), np.empty(256, np.int32)
    found_count, found_with = np.empty(256, np.int64), np.empty(256, np.int64)
    n_found = 0
    tests = np.zeros(longest + 1, np.int64)
    total = np.zeros(coded.n_conditions, np.int64)
    table = np.zeros(coded.n_conditions * n_values, np.int64)
    size = np.zeros(coded.n_conditions, np.int64)
    touched = np.empty(coded.n_conditions, np.int32)
    held = np.empty(n_tuples, np.int32)
    member = np.empty(n_tuples, np.int64)
    for tuple_ in range(n_tuples):
        held[tuple_] = tuple_
        member[tuple_] = full
    children = np.empty(64, np.int32)
    child_low = np.empty(64, np.int64)
    child_high = np.empty(64, np.int64)
    chosen, at = _first_frames(longest, n_tuples, first)
    depth = 0
    while depth >= 0:
        if at[depth, NEXT] < at[depth, END]:
            child = at[depth, NEXT]
            at[depth, NEXT] += 1
            chosen[depth] = children[child]
            here = at[depth, ATTRIBUTE]
            depth += 1
            at[depth, STEPS] = at[depth - 1, STEPS] + coded.step_by_attribute[here]
            at[depth, ATTRIBUTE] = here
            at[depth, LOW], at[depth, HIGH] = child_low[child], child_high[child]
            at[depth, BASE] = at[depth, TOP] = at[depth - 1, TOP]
            at[depth, CHILDREN] = at[depth, NEXT] = at[depth, END] = at[depth - 1, END]
            continue
        at[depth, ATTRIBUTE] += 1
        here = at[depth, ATTRIBUTE]
        if here >= n_attributes or (depth == 0 and here > first):
            depth -= 1
            continue
        at[depth, NEXT] = at[depth, END] = at[depth, CHILDREN]
        at[depth, TOP] = at[depth, BASE]
        low, high = at[depth, LOW], at[depth, HIGH]
        n_touched = 0
        for place in range(low, high):
            tuple_ = held[place]
            value = value_by_tuple[tuple_]
            weight = weight_by_tuple[tuple_]
            leaf = leaf_start[here] + leaf_by_attribute[tuple_, here]
            for entry in range(entry_start[leaf], entry_start[leaf + 1]):
                condition = condition_of_entry[entry]
                support = weight * _join(combine, member[place], membership_of_entry[entry])
                if size[condition] == 0:
                    touched[n_touched] = condition
                    n_touched += 1
                size[condition] += 1
                total[condition] += support
                table[condition * n_values + value] += support
        used = at[depth, STEPS] + coded.step_by_attribute[here]
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
                            found = grown_lines(found, n_found, n_found + 1)
                            found_value = grown(found_value, n_found, n_found + 1)
                            found_count = grown(found_count, n_found, n_found + 1)
                            found_with = grown(found_with, n_found, n_found + 1)
                            for step in range(depth):
                                found[n_found, step] = chosen[step]
                            found[n_found, depth] = condition
                            for step in range(depth + 1, longest):
                                found[n_found, step] = -1
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
                    child = at[depth, END]
                    if child == children.size:
                        children = grown(children, child, 2 * child)
                        child_low = grown(child_low, child, 2 * child)
                        child_high = grown(child_high, child, 2 * child)
                    children[child] = condition
                    child_low[child] = child_high[child] = at[depth, TOP]
                    at[depth, TOP] += size[condition]
                    at[depth, END] += 1
            for value in range(n_values):
                table[start + value] = 0
            total[condition] = 0
            size[condition] = 0
        if at[depth, END] == at[depth, CHILDREN]:
            continue
        if at[depth, TOP] > held.size:
            held = grown(held, at[depth, BASE], at[depth, TOP])
            member = grown(member, at[depth, BASE], at[depth, TOP])
        for child in range(at[depth, CHILDREN], at[depth, END]):
            size[children[child]] = child + 1
        for place in range(low, high):
            tuple_ = held[place]
            leaf = leaf_start[here] + leaf_by_attribute[tuple_, here]
            for entry in range(entry_start[leaf], entry_start[leaf + 1]):
                child = size[condition_of_entry[entry]] - 1
                if child >= 0:
                    held[child_high[child]] = tuple_
                    joined_member = _join(combine, member[place], membership_of_entry[entry])
                    member[child_high[child]] = joined_member
                    child_high[child] += 1
        for child in range(at[depth, CHILDREN], at[depth, END]):
            size[children[child]] = 0
    return found[:n_found], found_value[:n_found], found_count[:n_found], found_with[:n_found], tests


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
    coded = Coded(
        plain(coded.leaf_by_attribute, np.int32),
        plain(coded.value_by_tuple, np.int32),
        plain(coded.weight_by_tuple, np.int64),
        plain(coded.leaf_start, np.int64),
        plain(coded.entry_start, np.int64),
        plain(coded.condition_of_entry, np.int32),
        plain(coded.membership_of_entry, np.int64),
        plain(coded.step_by_attribute, np.int64),
        coded.n_conditions,
    )
    bar = Bar(least, np.sort(least, axis=1), doubt, whole, most)
    parts = 1 if threads <= 1 or longest == 1 else 4 * threads

    def search(part: int) -> Found:
        return Found(*explore(coded, bar, Way(longest, combine, full), first, part, parts))

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
    which: Conjunctions, most: int, tuples: Ids, values: Ids, buckets: Ids, last: Ids, spread: Ids
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
