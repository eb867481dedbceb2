"""A list of itemsets with their supports, as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..kernels.rows import merge_rows

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
