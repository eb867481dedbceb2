"""The search behind emerging patterns: one direction, in whole numbers.

A pattern must be frequent where it is more frequent, so the candidates are the frequent itemsets of
that side; each is then counted on the other side. What is asked of the growth becomes a bound: a set of
this support may be in so many records of the other side at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..distinct import number_distinct
from ..kernels.rows import merge_rows
from ..kernels.supports import count_supports, node_bitmaps, node_lists
from ..model.transactions import Transactions
from ..model.vocabulary import Vocabulary
from ..progress import Watch
from .frequent import MOST_SETS, frequent_itemsets
from .itemsets import Counts, Ids, Itemsets

AT_ONCE = 1 << 18
"""How many sets are counted between two looks at the watch."""

Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Side:
    """One of the data sets: distinct rows of items, how many records each is, and all of them."""

    indptr: Counts
    items: Ids
    weight_by_row: Counts
    n_records: int


def as_sides(first: Transactions, second: Transactions) -> tuple[tuple[Side, Side], tuple[str, ...]]:
    """Return both data sets over one list of labels, identical records merged."""
    here, there = first.vocabulary, second.vocabulary
    both = here if here == there else Vocabulary.of((*here.labels, *there.labels))
    return (_side(first, both), _side(second, both)), both.labels


def _side(data: Transactions, both: Vocabulary) -> Side:
    items = data.items
    if data.vocabulary != both:
        # Ids follow the labels in both vocabularies, so the rows stay ascending.
        number = np.array([both.ids[label] for label in data.vocabulary.labels], dtype=np.int32)
        items = number[items] if len(number) else items
    ones = np.ones(len(data), dtype=np.int64)
    indptr, merged, weight_by_row, _ = merge_rows(data.indptr, items, ones)
    return Side(indptr, merged, weight_by_row, len(data))


def grown_sets(
    up: Side,
    down: Side,
    n_items: int,
    *,
    growth: Fraction,
    least: int,
    minimal: bool,
    most_items: int | None,
    watch: Watch,
    threads: int,
    parent: Ids | None = None,
    kind: str = "all",
    most_sets: int = MOST_SETS,
) -> tuple[Itemsets, Counts]:
    """Return the sets that are `growth` times as frequent in `up` as in `down`, and their counts there.

    Parameters
    ----------
    up, down
        The data set where the sets are more frequent, and the other.
    n_items
        How many items there are.
    growth
        The least ratio of the shares of records.
    least
        The least number of records of `up`.
    minimal
        Whether sets are left out that have a smaller one among those found.
    most_items
        The most items of a set; None for any number.
    watch, threads
        As everywhere.
    parent
        The parent of each node of a hierarchy whose nodes the items are: a record then also holds what
        is above its items. None: items count as they stand.
    kind
        "all", or "closed" for the sets that no larger one in the same records of `up` stands for; where
        any set is grown, a closed one is. Not together with `minimal`.
    most_sets
        `ResourceLimit` where `up` has more frequent sets than this.
    """
    found = frequent_itemsets(
        up.indptr,
        up.items,
        up.weight_by_row,
        n_items,
        least,
        kind=kind,
        most_items=most_items,
        parent=parent,
        most_sets=most_sets,
        threads=threads,
        watch=watch,
    )
    elsewhere = _counted(found, down, n_items, watch, threads, parent)
    is_grown = elsewhere <= most_elsewhere(found.support, up.n_records, down.n_records, growth)
    if minimal:
        is_grown &= ~_above_others(found, is_grown, watch)
    places = np.flatnonzero(is_grown)
    return found.take(places), elsewhere[places]


def _counted(
    found: Itemsets, down: Side, n_items: int, watch: Watch, threads: int, parent: Ids | None
) -> Counts:
    """Return in how many records of the other side each set is."""
    above = np.full(n_items, -1, dtype=np.int32) if parent is None else parent
    lists = node_lists(down.indptr, down.items, above)
    bitmaps = node_bitmaps(*lists, len(down.weight_by_row))
    counts = np.empty(len(found), dtype=np.int64)
    for start in range(0, len(found), AT_ONCE):
        watch.tick("counting on the other side", start / len(found))
        watch.check_deadline()
        part = found.take(np.arange(start, min(start + AT_ONCE, len(found))))
        counts[start : start + AT_ONCE] = count_supports(
            part.padded(), *lists, *bitmaps, down.weight_by_row, threads=threads
        )
    return counts


def most_elsewhere(support: Counts, here: int, there: int, growth: Fraction) -> Counts:
    """Return in how many records of the other side a set of each support may be."""
    # support / here >= growth * count / there, solved for count; by Python's whole numbers, which do
    # not overflow, once for each support that occurs.
    values, place = number_distinct(support)
    most = [
        value * there * growth.denominator // (growth.numerator * here) for value in values.tolist()
    ]
    return np.array(most, dtype=np.int64)[place]


def _above_others(found: Itemsets, is_grown: Bools, watch: Watch) -> Bools:
    """Tell which sets have a proper subset that is grown.

    All subsets of a frequent set are frequent and so among those found. Growth has no order along
    subsets, so what is known of each set is handed on to those of one more item.
    """
    is_above = np.zeros(len(found), dtype=np.bool_)
    longest = int(found.size_by_set.max(initial=0))
    # The sets come by size; those of s items begin at start_of_size[s - 1].
    start_of_size = np.searchsorted(found.size_by_set, np.arange(1, longest + 2))
    for size in range(2, longest + 1):
        watch.tick("telling the minimal ones", size / (longest + 1))
        watch.check_deadline()
        before, start, end = start_of_size[size - 2 : size + 1].tolist()
        below = found.take(np.arange(before, start))
        known = is_grown[before:start] | is_above[before:start]
        lines = found.items[found.indptr[start] : found.indptr[end]].reshape(-1, size)
        indptr = np.arange(len(lines) + 1, dtype=np.int64) * (size - 1)
        for left_out in range(size):
            smaller = np.delete(lines, left_out, axis=1)
            is_above[start:end] |= known[below.places_of(indptr, smaller.reshape(-1))]
    return is_above
