"""The two data sets while they are being recoded, and the ways to hide one pattern.

Records that are the same at first stay the same, so each distinct row is kept once, with the number of
its records. `Published` is what a reader would see now: rows that have become the same are merged.

`Moves` (Fig. 2 and section 6 of the thesis): the rows of a pattern, in the data set where it is more
frequent, are recoded together with one class of rows of the other data set, those that have the same
values where the pattern has its own. Value by value both are raised to what they have in common.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from ...hierarchy.tree import Counts, Hierarchy, Ids
from ...kernels.base import Flags
from ...kernels.hiding import find_holders, match_slots, raise_entries
from ...kernels.rows import merge_rows, recode_rows
from ...kernels.supports import Index, count_supports, index_nodes
from ...model.pattern_pair import PatternPair
from ...release.recoding import PairRecoding


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
        return self.sides[0].published, self.sides[1].published

    @property
    def records(self) -> Counts:
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


@dataclass(frozen=True, eq=False)
class Patterns:
    """Sets of nodes with their counts on both sides, and on which side each is more frequent."""

    sets: Ids
    """One set a row, padded with -1."""
    counts: Counts
    """One row a set: the counts on either side."""
    side: Counts

    def __len__(self) -> int:
        return len(self.sets)

    def pattern(self, place: int) -> Ids:
        line = self.sets[place]
        return np.ascontiguousarray(line[line >= 0])


@dataclass(frozen=True, eq=False)
class Moves:
    """The ways to hide one pattern: for each the targets, and which rows of the other side move too."""

    side: int
    pattern: Ids
    holders: Flags
    narrow: bool
    """Whether only the values in the pattern's places are raised, and not all below the targets."""
    values: Ids
    """One line a row of the other side: its values in the pattern's places, -1 for none."""
    targets: Ids
    """One row for each combination of targets."""
    targets_of_class: Ids
    class_start: Counts
    row_by_member: Counts
    """The rows of class c are ``row_by_member[class_start[c]:class_start[c + 1]]``."""

    def __len__(self) -> int:
        return len(self.targets_of_class)

    def members(self, which: int, n_rows: int) -> Flags:
        """Tell which rows of the other side belong to a class."""
        inside = np.zeros(n_rows, dtype=np.bool_)
        inside[self.row_by_member[self.class_start[which] : self.class_start[which + 1]]] = True
        return inside

    def part(self, first: int, end: int) -> Moves:
        """Return the moves of the combinations of targets first .. end - 1."""
        low, high = np.searchsorted(self.targets_of_class, (first, end)).tolist()
        return replace(
            self,
            targets=self.targets[first:end],
            targets_of_class=self.targets_of_class[low:high] - np.int32(first),
            class_start=self.class_start[low : high + 1],
        )

    def targets_of(self, which: int) -> Ids:
        return np.ascontiguousarray(self.targets[self.targets_of_class[which]])


def is_narrow(state: PairState, every_level: bool) -> bool:
    """Tell whether moves raise the values in a pattern's places alone: in sets, read as they stand."""
    return not every_level and not state.pair.is_table


def find_slots(state: PairState, pattern: Ids, side: int) -> tuple[Ids, Ids]:
    """Return for each row of a side its value in each place of a pattern, and what both have in common.

    -1 where a row has none.
    """
    rows = state.published[side]
    shape = (len(rows.weight_by_row), len(pattern))
    values, targets = np.empty(shape, dtype=np.int32), np.empty(shape, dtype=np.int32)
    match_slots(rows.indptr, rows.items, pattern, state.tree.parent, state.tree.shape, values, targets)
    return values, targets


def find_moves(state: PairState, pattern: Ids, side: int, *, every_level: bool) -> Moves:
    """Return the ways to hide a pattern that is more frequent on `side`: one for each class of rows.

    A class is made of the rows of the other side that do not hold the pattern and have the same values
    in its places. Rows that have no value for one of them belong to none.
    """
    own, other = state.published[side], state.published[1 - side]
    values, targets = find_slots(state, pattern, 1 - side)
    able = (values >= 0).all(axis=1) & ~other.holders(pattern, every_level=every_level)
    rows = np.flatnonzero(able)
    first, class_of_row = _distinct(values[rows], len(state.tree.parent))
    of_class = targets[rows][first]
    kept, targets_of_class = _distinct(of_class, len(state.tree.parent))
    # Classes of the same targets stand together.
    ranked = np.argsort(targets_of_class, kind="stable")
    place_of_class = np.empty(len(ranked), dtype=np.int64)
    place_of_class[ranked] = np.arange(len(ranked))
    class_of_row = place_of_class[class_of_row]
    order = np.argsort(class_of_row, kind="stable")
    class_start = np.zeros(len(first) + 1, dtype=np.int64)
    np.cumsum(np.bincount(class_of_row, minlength=len(first)), out=class_start[1:])
    return Moves(
        side,
        pattern,
        own.holders(pattern, every_level=every_level),
        is_narrow(state, every_level),
        values,
        np.ascontiguousarray(of_class[kept]),
        targets_of_class[ranked].astype(np.int32),
        class_start,
        rows[order].astype(np.int64),
    )


def _distinct(lines: Ids, n_nodes: int) -> tuple[Counts, Counts]:
    """Return where each distinct line is first, in order of the lines, and each line's number."""
    if lines.shape[1] * np.log2(max(2, n_nodes)) < 62:
        keys = np.zeros(len(lines), dtype=np.int64)
        for column in lines.T:
            keys = keys * n_nodes + column
        _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    else:
        _, first, number = np.unique(lines, axis=0, return_index=True, return_inverse=True)
    return first.astype(np.int64), number.reshape(-1).astype(np.int64)
