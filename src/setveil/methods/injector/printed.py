"""Injector's grouping as the paper prints it: Figure 2, phases 2 and 3.

1. The tuple with most incompatible tuples starts a group. Compatible ones are added, each time the one
   that leaves the group with fewest incompatible tuples, until there are l. Where none is compatible
   with the group, the first tuple is put aside and the others go back (`form_groups`).
2. Each tuple put aside joins the group with fewest tuples incompatible with it, and that group is
   joined with the one that has most other values until the tuple has l valid values (`place_class`).

Of equally good tuples a random one is taken; equally good groups go by size, then by chance. Tuples put
aside are placed class by class. A tuple whose own value is ruled out takes no part in step 1 and is
placed last, and then the whole bucket is checked, for adding such a tuple can take values from others.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import NamedTuple

import numpy as np

from ...hierarchy.tree import Counts, Ids
from ...kernels.base import plain
from ...kernels.buckets.injector import Classes, Tallies, add_tuples, form_groups
from ...kernels.buckets.leftovers import WORD, Groups, add_to_group, place_class, start_groups
from ...progress import Watch
from ...release.possible import TupleClasses
from ..bucketing import draw_words, shuffle

STRIDE = 50_000_000
"""Steps between two looks at the clock: about a tenth of a second."""


class Grouped(NamedTuple):
    """Groups as the bucket and the class of each tuple, in any order, and figures of how they came."""

    bucket: Ids
    member: Ids
    figures: Mapping[str, int]

    @property
    def n_buckets(self) -> int:
        """How many groups there are."""
        return int(self.bucket.max(initial=-1)) + 1


def as_arrays(classes: TupleClasses) -> Classes:
    """Return the classes as the kernels take them."""
    cannot = classes.impossible_by_set
    kinds, values = np.nonzero(cannot)
    ruled = np.flatnonzero(cannot.any(axis=0))
    column_of_value = np.full(cannot.shape[1], -1, dtype=np.int32)
    column_of_value[ruled] = np.arange(len(ruled), dtype=np.int32)
    return Classes(
        plain(classes.value_by_class, np.int32),
        plain(classes.set_by_class, np.int32),
        plain(cannot, np.bool_),
        plain(np.searchsorted(kinds, np.arange(len(cannot) + 1)), np.int64),
        plain(values, np.int32),
        column_of_value,
    )


def most_buckets(classes: TupleClasses, l: int) -> int:  # noqa: E741
    """Return a number of buckets that cannot be exceeded: each has `l` tuples and `l` values."""
    count = np.bincount(classes.value_by_class, weights=classes.count_by_class).astype(np.int64)
    low, high = 1, max(1, int(count.sum()) // l)
    while low < high:
        middle = (low + high + 1) // 2
        if int(np.minimum(count, middle).sum()) >= middle * l:
            low = middle
        else:
            high = middle - 1
    return low


def start_tallies(arrays: Classes, remaining: Counts) -> Tallies:
    """Return the tallies of so many tuples at hand of each class."""
    n_values, n_ruled = len(arrays.column_of_value), int(arrays.column_of_value.max(initial=-1)) + 1
    tallies = Tallies(
        remaining,
        np.zeros(n_values, dtype=np.int64),
        np.zeros(n_ruled, dtype=np.int64),
        np.zeros((n_values, n_ruled), dtype=np.int64),
    )
    for which, count in enumerate(remaining.tolist()):
        add_tuples(arrays, tallies, which, count)
    return tallies


def group_as_printed(
    classes: TupleClasses,
    l: int,  # noqa: E741
    random: Random,
    watch: Watch,
) -> Grouped:
    """Return the groups of Figure 2."""
    arrays = as_arrays(classes)
    grouped, rest, _ = group_tuples(classes, arrays, l, random, watch)
    rank = shuffle(random, max(1, len(grouped) // l))
    groups, joined = place_leftovers(arrays, grouped, rest, l, rank, watch)
    return Grouped(*spell_out(groups), {"left over": len(rest), "buckets joined": joined})


def group_tuples(
    classes: TupleClasses,
    arrays: Classes,
    l: int,  # noqa: E741
    random: Random,
    watch: Watch,
) -> tuple[Ids, Ids, Counts]:
    """Return the classes of the groups of `l` in turn, those put aside, and the NIT of each choice."""
    tallies = start_tallies(arrays, np.where(classes.is_denied, 0, classes.count_by_class))
    total = int(tallies.remaining.sum())
    grouped, rest = np.empty(total + l, dtype=np.int32), np.empty(total, dtype=np.int32)
    n_grouped, n_rest = 0, 0
    nits = []
    choices = min(max(l, STRIDE // (len(classes) + len(arrays.ruled))), total)
    words = np.empty(0, dtype=np.int64)
    while total - n_grouped - n_rest >= l:
        watch.check_deadline()
        watch.tick("injector: grouping tuples", 0.1 + 0.6 * (n_grouped + n_rest) / total)
        words = np.concatenate([words, draw_words(random, choices)])
        nit_by_choice = np.empty(len(words), dtype=np.int64)
        n_grouped, n_rest, used = form_groups(
            arrays, tallies, l, words, grouped, n_grouped, rest, n_rest, nit_by_choice
        )
        nits.append(nit_by_choice[:used])
        words = words[used:]
    denied = np.where(classes.is_denied, classes.count_by_class, 0)
    # Line 17, and the classes whose own value is ruled out, which come last.
    put_aside = np.sort(
        np.concatenate([rest[:n_rest], np.repeat(np.arange(len(classes)), tallies.remaining)])
    )
    last = np.repeat(np.arange(len(classes)), denied)
    every_nit = np.concatenate(nits) if nits else np.empty(0, dtype=np.int64)
    return grouped[:n_grouped], np.concatenate([put_aside, last]).astype(np.int32), every_nit


def place_leftovers(
    arrays: Classes,
    grouped: Ids,
    rest: Ids,
    l: int,  # noqa: E741
    rank: Counts,
    watch: Watch,
) -> tuple[Groups, int]:
    """Return the groups with the tuples put aside added, and how often two were joined."""
    n_groups = max(1, len(grouped) // l)
    groups = Groups(
        np.full(n_groups, -1, dtype=np.int64),
        np.full(len(grouped) + len(rest), -1, dtype=np.int64),
        np.zeros(len(grouped) + len(rest), dtype=np.int32),
        np.zeros(len(grouped) + len(rest), dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.zeros(n_groups, dtype=np.int64),
        plain(rank, np.int64),
        np.ones(n_groups, dtype=np.bool_),
        np.zeros(n_groups, dtype=np.bool_),
        np.zeros((n_groups, -(-len(arrays.column_of_value) // WORD)), dtype=np.uint64),
    )
    start_groups(arrays, groups, grouped, l)
    which, first, count = np.unique(rest, return_index=True, return_counts=True)
    joined, done = 0, 0
    for place in np.argsort(first):
        watch.check_deadline()
        watch.tick("injector: placing tuples left over", 0.7 + 0.2 * done / len(rest))
        if len(grouped):
            joined += place_class(arrays, groups, int(which[place]), int(count[place]), l)
        else:
            add_to_group(arrays, groups, 0, int(which[place]), int(count[place]))
        done += int(count[place])
    return groups, joined


def spell_out(groups: Groups) -> tuple[Ids, Ids]:
    """Return the bucket and the class of each tuple in the groups that are there."""
    owner = np.full(int(groups.used[0]), -1, dtype=np.int64)
    slot = groups.first_slot.copy()
    while (slot >= 0).any():
        here = np.flatnonzero(slot >= 0)
        owner[slot[here]] = here
        slot[here] = groups.next_slot[slot[here]]
    slots = np.flatnonzero(owner >= 0)
    number = np.cumsum(groups.is_there) - 1
    count = groups.slot_count[slots]
    return (
        np.repeat(number[owner[slots]], count).astype(np.int32),
        np.repeat(groups.slot_class[slots], count),
    )
