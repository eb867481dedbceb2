"""The two data sets while they are being recoded: what each value is published as so far.

Records that are the same at first stay the same, so each distinct row is kept once, with the number of
its records. `Published` is what a reader would see now: rows that have become the same are merged.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...hierarchy.tree import Hierarchy
from ...kernels.hiding.rows import find_holders, raise_entries
from ...kernels.rows import merge_rows, recode_rows
from ...kernels.supports import Index, count_supports, index_nodes
from ...model.pattern_pair import PatternPair
from ...release.recoding import PairRecoding

Ids = NDArray[np.int32]
Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Tree:
    """The arrays of a hierarchy that the loops take, and the two ways to read a value.

    `alone` is -1 everywhere: a value counts as it stands. `parent` makes it count for all above it.
    """

    hierarchy: Hierarchy
    parent: Ids
    alone: Ids

    @classmethod
    def of(cls, hierarchy: Hierarchy) -> Tree:
        """Return the arrays of a hierarchy."""
        parent = np.ascontiguousarray(hierarchy.parent, dtype=np.int32)
        return cls(hierarchy, parent, np.full(len(hierarchy), -1, dtype=np.int32))

    @cached_property
    def shape(self) -> tuple[Ids, Ids, Ids]:
        """First leaf, end of the leaves and depth of each node."""
        found = (self.hierarchy.first_leaf, self.hierarchy.end_leaf, self.hierarchy.depth)
        return (
            np.ascontiguousarray(found[0], dtype=np.int32),
            np.ascontiguousarray(found[1], dtype=np.int32),
            np.ascontiguousarray(found[2], dtype=np.int32),
        )

    def reading(self, every_level: bool) -> Ids:
        """Return the parents that a way to read values goes by."""
        return self.parent if every_level else self.alone


@dataclass(frozen=True, eq=False)
class Published:
    """One side as it would be published now: distinct rows, and how many records each is."""

    indptr: Counts
    items: Ids
    weight_by_row: Counts
    n_records: int
    merged_of_row: Counts
    tree: Tree

    @property
    def rows(self) -> tuple[Counts, Ids, Counts]:
        """The rows and their weights, as the scoring loops take them."""
        return self.indptr, self.items, self.weight_by_row

    def lists(self, every_level: bool) -> Index:
        """Return rows by node, bitmaps and weights, as the counting loops take them."""
        return self._at_every_level if every_level else self._as_they_stand

    @cached_property
    def _as_they_stand(self) -> Index:
        return self._listed(self.tree.alone)

    @cached_property
    def _at_every_level(self) -> Index:
        return self._listed(self.tree.parent)

    def _listed(self, parent: Ids) -> Index:
        return index_nodes(self.indptr, self.items, parent, self.weight_by_row)

    def supports(self, sets: Ids, *, every_level: bool, threads: int = 1) -> Counts:
        """Return in how many records each set is; one set a row, padded with -1."""
        return count_supports(sets, self.lists(every_level), threads=threads)

    def only(self, chosen: Flags) -> Published:
        """Return these rows alone."""
        rows = np.flatnonzero(chosen)
        lengths = np.diff(self.indptr)[rows]
        indptr = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum(lengths, out=indptr[1:])
        places = np.repeat(self.indptr[:-1][rows] - indptr[:-1], lengths)
        places += np.arange(int(indptr[-1]), dtype=np.int64)
        weights = self.weight_by_row[rows]
        return Published(
            indptr, self.items[places], weights, int(weights.sum()), np.arange(len(rows)), self.tree
        )

    def holders(self, pattern: Ids, *, every_level: bool) -> Flags:
        """Tell which rows hold a pattern."""
        holds = np.zeros(len(self.weight_by_row), dtype=np.bool_)
        find_holders(self.indptr, self.items, pattern, self.tree.reading(every_level), holds)
        return holds


SavedSide: TypeAlias = "tuple[Ids, Published | None]"
Saved: TypeAlias = "tuple[SavedSide, SavedSide]"


class Side:
    """One of the data sets: its distinct rows, and the node that each of their values stands under."""

    def __init__(self, indptr: Counts, leaves: Ids, tree: Tree) -> None:
        ones = np.ones(len(indptr) - 1, dtype=np.int64)
        self.tree = tree
        self.indptr, self.leaves, self.weight_by_row, self.row_of_record = merge_rows(
            indptr, leaves, ones
        )
        self.n_records = len(indptr) - 1
        self.node_by_entry = self.leaves.copy()
        self._published: Published | None = None

    @property
    def published(self) -> Published:
        """What a reader would see now."""
        if self._published is None:
            places = np.arange(len(self.node_by_entry), dtype=np.int32)
            indptr, nodes = recode_rows(self.indptr, places, self.node_by_entry)
            merged = merge_rows(indptr, nodes, self.weight_by_row)
            self._published = Published(*merged[:3], self.n_records, merged[3], self.tree)
        return self._published

    def raise_to(self, targets: Ids, is_moved: Flags, values: Ids | None = None) -> int:
        """Raise what is below the targets in these published rows; return how many values changed.

        With `values`, one line a published row, only those are raised, each to the target of its place.
        """
        merged = self.published.merged_of_row
        nodes = self.node_by_entry.copy()
        lines = np.empty((0, len(targets)), dtype=np.int32) if values is None else values
        changed = int(
            raise_entries(self.indptr, nodes, is_moved[merged], targets, lines, merged, self.tree.shape)
        )
        if changed:
            self.node_by_entry, self._published = nodes, None
        return changed

    @property
    def saved(self) -> SavedSide:
        """What `go_back` takes; the array is never changed in place."""
        return self.node_by_entry, self._published

    def go_back(self, saved: SavedSide) -> None:
        """Undo everything since `saved`."""
        self.node_by_entry, self._published = saved


class PairState:
    """Both sides, and how to go on from here and back."""

    def __init__(self, pair: PatternPair) -> None:
        self.pair = pair
        self.tree = Tree.of(pair.hierarchy)
        here, there = pair.sides
        self.sides = (
            Side(here.indptr, here.leaves, self.tree),
            Side(there.indptr, there.leaves, self.tree),
        )

    @property
    def published(self) -> tuple[Published, Published]:
        """Both sides as they would be published now."""
        return self.sides[0].published, self.sides[1].published

    @property
    def records(self) -> Counts:
        """How many records either side has."""
        return np.array([side.n_records for side in self.sides], dtype=np.int64)

    @property
    def saved(self) -> Saved:
        """What `go_back` takes."""
        return self.sides[0].saved, self.sides[1].saved

    def go_back(self, saved: Saved) -> None:
        """Undo everything since `saved`."""
        for side, nodes in zip(self.sides, saved, strict=True):
            side.go_back(nodes)

    def recoding(self) -> PairRecoding:
        """Return what every value of every record is published as."""
        first, second = (
            _spread(side, rows.indptr) for side, rows in zip(self.sides, self.pair.sides, strict=True)
        )
        return PairRecoding((first, second))


def _spread(side: Side, indptr: Counts) -> Ids:
    """Return the nodes of all records' entries, from those of the distinct rows."""
    lengths = np.diff(indptr)
    places = np.repeat(side.indptr[:-1][side.row_of_record] - indptr[:-1], lengths)
    places += np.arange(int(indptr[-1]), dtype=np.int64)
    return side.node_by_entry[places]
