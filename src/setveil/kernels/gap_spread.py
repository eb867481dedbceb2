"""In how many buckets each conjunction of conditions meets each sensitive value, and in which.

Conjunctions take one condition of each of the chosen attributes. They are numbered by their conditions'
places among those of their attribute, as the digits of a number; the last attribute counts ones. What
meets is given as pairs of tuple and value, bucket after bucket.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._calls import Counts, Ids
from ._jit import jit
from .rule_counts import PRODUCT


class Conjunctions(NamedTuple):
    """Conjunctions over some attributes, of which those of `low` to `high` in the first are meant.

    The conditions of leaf ``leaf_start[a] + leaf`` are `condition_of_entry` and `membership_of_entry`
    from ``entry_start`` of that leaf to the next, as in `rule_counts.Coded`. `first_condition` and
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
