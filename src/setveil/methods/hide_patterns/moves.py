"""The ways to hide one pattern.

M. W.-K. Cheng, *Hiding emerging pattern with local recoding generalization*, Fig. 2 and section 6: the
rows of a pattern, in the data set where it is more frequent, are recoded together with one class of
rows of the other data set, those that have the same values where the pattern has its own. Value by
value both are raised to what they have in common.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...kernels.hiding.rows import match_slots
from .state import Counts, Flags, Ids, PairState


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
        """Return the nodes of one set."""
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
        """Return the targets of a move."""
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
