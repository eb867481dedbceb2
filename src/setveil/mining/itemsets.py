"""Frequent itemsets, exactly: the search for all, the closed or the maximal ones, and the list of them.

The work is done by `kernels.itemsets.frequent`. With a hierarchy the search goes across its levels
(Srikant and Agrawal's generalized itemsets): a record holds an item and everything above it, and no set
has a node and its ancestor, since that says nothing more. A set that names a node says more than one
that names its ancestor, so closed and maximal sets are then those that no set says more than.

Mining at several levels counts them from the leaves up (`node_at_level`). Level 0 is that of the leaves
and level h, the height, that of the roots. At level i an item stands for its ancestor at depth h - i.
Where its own depth is smaller it stays as it is: a short branch counts as one whose leaf is repeated
down to the lowest level (Terrovitis et al. 2011, section 3.3; Han and Fu). Every tree of a forest is
counted from its own root.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..engines.base import within_32_bits
from ..errors import ResourceLimit, UsageError
from ..hierarchy.tree import Hierarchy
from ..kernels.itemsets.frequent import find_frequent
from ..kernels.rows import expand_rows, merge_rows
from ..progress import Watch

Ids = NDArray[np.int32]
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Itemsets:
    """Sets of items, each once, and how many records hold each.

    Set s is ``items[indptr[s]:indptr[s + 1]]``, ascending. The sets come by size, then in
    lexicographic order.

    >>> sets = Itemsets(np.array([0, 1, 3]), np.array([4, 4, 7]), np.array([9, 5]))
    >>> len(sets), list(sets), sets.as_dict()
    (2, [(4,), (4, 7)], {(4,): 9, (4, 7): 5})
    """

    indptr: Counts
    items: Ids
    support: Counts

    def __len__(self) -> int:
        return len(self.support)

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        items = self.items.tolist()
        return (tuple(items[begin:end]) for begin, end in pairwise(self.indptr.tolist()))

    def __repr__(self) -> str:
        longest = int(self.size_by_set.max(initial=0))
        return f"Itemsets({len(self):,} sets of up to {longest} items)"

    @property
    def size_by_set(self) -> Counts:
        """How many items each set has."""
        return np.diff(self.indptr)

    def as_dict(self) -> dict[tuple[int, ...], int]:
        """Return the support of each set."""
        return dict(zip(self, self.support.tolist(), strict=True))

    def labelled(self, labels: Sequence[str]) -> Iterator[tuple[tuple[str, ...], int]]:
        """Yield each set as labels, sorted, with its support."""
        for chosen, support in zip(self, self.support.tolist(), strict=True):
            yield tuple(sorted(labels[item] for item in chosen)), support

    def take(self, places: NDArray[np.int64]) -> Itemsets:
        """Return the sets at these places, in the order given."""
        sizes = self.size_by_set[places]
        indptr = np.zeros(len(places) + 1, dtype=np.int64)
        np.cumsum(sizes, out=indptr[1:])
        source = np.repeat(self.indptr[:-1][places] - indptr[:-1], sizes)
        source += np.arange(int(indptr[-1]), dtype=np.int64)
        return Itemsets(indptr, self.items[source], self.support[places])

    def places_of(self, indptr: Counts, items: Ids) -> Counts:
        """Return the place of each of these sets, items ascending; -1 where it is not here."""
        both = np.concatenate([self.indptr, indptr[1:] + len(self.items)])
        joined = np.concatenate([self.items, items])
        _, _, _, group = merge_rows(both, joined, np.ones(len(both) - 1, dtype=np.int64))
        place_of_group = np.full(len(both), -1, dtype=np.int64)
        place_of_group[group[: len(self)]] = np.arange(len(self))
        return place_of_group[group[len(self) :]]

    def padded(self) -> Ids:
        """Return one set a row, padded at its end with -1."""
        width = int(self.size_by_set.max(initial=0))
        rows = np.full((len(self), width), -1, dtype=np.int32)
        rows[np.arange(width) < self.size_by_set[:, None]] = self.items
        return rows

    def most_frequent(self, number: int) -> Itemsets:
        """Return the `number` sets with the highest support, that first; ties stay in order."""
        return self.take(np.argsort(-self.support, kind="stable")[:number])


KINDS = ("all", "closed", "maximal")
MOST_SETS = 20_000_000
"""Above this the search is given up: with their items so many sets fill some gigabytes."""


def frequent_itemsets(
    indptr: Counts,
    items: Ids,
    weight_by_row: Counts,
    n_items: int,
    least: int,
    *,
    kind: str = "all",
    most_items: int | None = None,
    parent: Ids | None = None,
    most_sets: int = MOST_SETS,
    threads: int | None = None,
    watch: Watch | None = None,
) -> Itemsets:
    """Return the itemsets that at least `least` records hold.

    Parameters
    ----------
    indptr, items
        The rows: row r holds ``items[indptr[r]:indptr[r + 1]]``, ascending.
    weight_by_row
        The number of records that each row stands for, all above 0.
    n_items
        One more than the largest item.
    least
        The least support, a number of records; see `least_count` for a share of them.
    kind
        "all"; "closed", without the sets that a larger one of the same support stands for; "maximal",
        without those that any larger frequent one stands for.
    most_items
        The most items of a set. It chooses among what `kind` names and makes nothing closed or maximal.
    parent
        The parent of each node, -1 for a root, of the hierarchy whose leaves the items are, ids of
        parents above those of children. Sets of nodes at all levels are then returned.
    most_sets
        `ResourceLimit` where there are more sets than this.
    threads
        How many threads search; all by default. The result does not depend on it.
    watch
        Told how far the search is.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([0, 2, 4, 5]), np.array([0, 1, 0, 1, 1], np.int32), np.array([1, 1, 1])
    >>> frequent_itemsets(*rows, 2, 2).as_dict()
    {(0,): 2, (1,): 3, (0, 1): 2}
    >>> frequent_itemsets(*rows, 2, 2, kind="closed").as_dict()
    {(1,): 3, (0, 1): 2}
    """
    if kind not in KINDS:
        raise UsageError(f"unknown kind of itemsets {kind[:40]!r}.", f"Known: {', '.join(KINDS)}.")
    if least < 1:
        raise UsageError(f"the least support must be 1 record or more (got {least}).")
    if most_items is not None and most_items < 1:
        raise UsageError(f"a set must be allowed 1 item or more (got {most_items}).")
    watch = watch or Watch()

    def tick(share: float) -> None:
        watch.tick("mining", share)
        watch.check_deadline()

    tick(0.0)
    if parent is not None:
        indptr, items = expand_rows(indptr, items, parent)
        n_items = len(parent)
    with within_32_bits():
        found = find_frequent(
            indptr,
            items,
            weight_by_row,
            n_items,
            least,
            kind=kind,
            most_items=most_items or 0,
            parent=parent,
            most_sets=most_sets,
            threads=threads or len(os.sched_getaffinity(0)),
            tick=tick,
        )
    if found is None:
        raise ResourceLimit(
            f"there are more than {most_sets:,} itemsets that at least {least:,} of the records hold.",
            "Raise the least support (--min-support), allow fewer items (--most-items), or ask for "
            "closed or maximal sets (--kind).",
            code="too-many-itemsets",
        )
    return Itemsets(*found)


def least_count(support: Fraction | int, n_records: int) -> int:
    """Return the smallest number of records that is at least this share of them, or this count.

    >>> least_count(Fraction(1, 1000), 77512), least_count(Fraction(1, 2), 4), least_count(50, 4)
    (78, 2, 50)
    """
    if isinstance(support, int):
        if support < 1:
            raise UsageError(f"the least support must be 1 record or more (got {support}).")
        return support
    if not 0 < support <= 1:
        raise UsageError(f"a share of the records must be above 0 and at most 1 (got {support}).")
    return max(1, -(-support.numerator * n_records // support.denominator))


def half_support(support: Fraction | int) -> Fraction | int | None:
    """Return half a threshold, a count rounded up; None where nothing is below it.

    >>> half_support(Fraction(1, 10)), half_support(5), half_support(1)
    (Fraction(1, 20), 3, None)
    """
    if isinstance(support, int):
        return (support + 1) // 2 if support > 1 else None
    return support / 2


def node_at_level(hierarchy: Hierarchy, level: int) -> Ids:
    """Return what each node is at a level: itself, its ancestor there, or -1 if it lies above it.

    >>> toy = Hierarchy.from_parents({"a1": "A", "a2": "A", "b": "ALL", "A": "ALL", "ALL": None})
    >>> [toy.labels[node] if node >= 0 else "-" for node in node_at_level(toy, 1)]
    ['A', 'A', 'b', 'A', '-']
    """
    deepest = hierarchy.height - level
    depth, parent = hierarchy.depth, hierarchy.parent
    at_level = np.arange(len(hierarchy), dtype=np.int32)
    is_below = depth > deepest
    while is_below.any():
        at_level[is_below] = parent[at_level[is_below]]
        is_below = depth[at_level] > deepest
    is_inner = np.arange(len(hierarchy)) >= hierarchy.n_leaves
    at_level[is_inner & (depth < deepest)] = -1
    return at_level
