"""The ways to hide one pattern, each with what it would change.

M. W.-K. Cheng, *Hiding emerging pattern with local recoding generalization*, Fig. 2 and section 6: the
rows of a pattern, in the data set where it is more frequent, are recoded together with one class of
rows of the other data set, those that have the same values where the pattern has its own. Value by
value both are raised to what they have in common.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..kernels._calls import even_parts, in_threads
from ..kernels.hiding import match_slots
from ..kernels.move_scores import Classes, count_raised, find_distances, score_moves
from .pair_state import Counts, Flags, Ids, PairState
from .value_distance import ValueDistance

Reals = NDArray[np.float64]
MOST_FORMS = 4096
"""How many more general forms of one frequent itemset are watched."""


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


class FrequentForms:
    """The frequent itemsets to be kept, and every form in which one may still be found."""

    def __init__(
        self,
        itemsets: Sequence[tuple[int, ...]],
        distance: ValueDistance,
        least: int,
        every_level: bool,
    ) -> None:
        self.itemsets = tuple(itemsets)
        self.least = least
        self.every_level = every_level
        found = [distance.forms(itemset, MOST_FORMS) for itemset in self.itemsets]
        self.largest = np.array(
            [float(sum(distance.to_root[item] for item in itemset)) for itemset in self.itemsets]
        )
        self.start = np.zeros(len(found) + 1, dtype=np.int64)
        np.cumsum([len(forms) for forms in found], out=self.start[1:])
        width = max((len(itemset) for itemset in self.itemsets), default=1)
        self.forms = np.full((int(self.start[-1]), width), -1, dtype=np.int32)
        self.sizes = np.zeros(len(self.forms), dtype=np.int32)
        self.distance = np.zeros(len(self.forms), dtype=np.float64)
        self.exact: list[Fraction] = []
        for place, (far, form) in enumerate(form for forms in found for form in forms):
            nodes = sorted(set(form))
            self.forms[place, : len(nodes)] = nodes
            self.sizes[place] = len(nodes)
            self.distance[place] = float(far)
            self.exact.append(far)

    def __len__(self) -> int:
        return len(self.itemsets)

    def nearest(self, state: PairState) -> list[int | None]:
        """Return the place of the nearest form of each itemset that is frequent now, None for none."""
        counts = sum(
            side.supports(self.forms, every_level=self.every_level) for side in state.published
        )
        found: list[int | None] = []
        for begin, end in zip(self.start[:-1].tolist(), self.start[1:].tolist(), strict=True):
            frequent = np.flatnonzero(np.asarray(counts)[begin:end] >= self.least)
            found.append(begin + int(frequent[0]) if len(frequent) else None)
        return found

    def total(self, state: PairState) -> tuple[int, Fraction]:
        """Return how many itemsets are lost now, and how far the others are from what they were."""
        nearest = self.nearest(state)
        return (
            sum(place is None for place in nearest),
            sum((self.exact[place] for place in nearest if place is not None), Fraction(0)),
        )


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

    def targets_of(self, which: int) -> Ids:
        """Return the targets of a move."""
        return np.ascontiguousarray(self.targets[self.targets_of_class[which]])


@dataclass(frozen=True, eq=False)
class Scores:
    """What each move brings: jumping patterns fewer, finite growth less, and itemsets' distances."""

    jumping: Counts
    finite: Reals
    distance: Reals
    """For each move and frequent itemset how far it would be; -1 where it would be lost."""


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


def score(
    state: PairState,
    moves: Moves,
    patterns: Patterns,
    frequent: FrequentForms,
    least: Counts,
    *,
    every_level: bool,
    threads: int | None = None,
) -> Scores:
    """Return what each of these moves would change of the patterns and of the frequent itemsets."""
    workers = threads or len(os.sched_getaffinity(0))
    n_moves, n_classes = len(moves.targets), len(moves)
    own, other = state.published[moves.side], state.published[1 - moves.side]
    jumping = np.zeros(n_classes, dtype=np.int64)
    finite = np.zeros(n_classes, dtype=np.float64)
    distance = np.full((n_classes, len(frequent)), -1.0)
    values = np.ascontiguousarray(moves.values[moves.row_by_member[moves.class_start[:-1]]])

    def classes(narrow: bool) -> Classes:
        return (
            moves.targets_of_class,
            moves.targets,
            moves.pattern,
            values,
            narrow,
            moves.class_start,
            moves.row_by_member,
        )

    rows = (other.indptr, other.items, other.weight_by_row)
    sizes = (patterns.sets >= 0).sum(axis=1).astype(np.int32)

    moved = own.only(moves.holders)

    def raised(sets: Ids, lengths: Ids, images: int, levels: bool, narrow: bool) -> tuple[Counts, ...]:
        held = moved.supports(sets, every_level=levels, threads=workers)
        change = np.zeros((n_moves, len(sets)), dtype=np.int64)
        here, there = (np.full((n_moves, max(images, 1)), -1, dtype=np.int64) for _ in range(2))
        lists = (moved.lists(levels), own.lists(levels), other.lists(levels))
        in_threads(
            lambda part: count_raised(
                *part,
                images,
                moves.targets,
                moves.pattern,
                narrow,
                sets,
                lengths,
                held,
                state.tree.shape,
                *lists,
                change,
                here,
                there,
            ),
            even_parts(n_moves, 4 * workers),
            workers,
        )
        return held, change, here, there

    held, change, here, there = raised(patterns.sets, sizes, len(patterns), every_level, moves.narrow)
    reading = state.tree.reading(every_level)
    in_threads(
        lambda part: score_moves(
            *part,
            moves.side,
            classes(moves.narrow),
            patterns.sets,
            sizes,
            patterns.counts,
            held,
            change,
            here,
            there,
            rows,
            reading,
            state.tree.shape,
            state.records,
            least,
            jumping,
            finite,
        ),
        even_parts(n_classes, 4 * workers),
        workers,
    )
    if len(frequent):
        levels = frequent.every_level
        # At every level a value may go and what is above it stay, for another value's sake. That is
        # left out here: an itemset may look farther away than it will be.
        narrow = moves.narrow and not levels
        _, form_change, _, _ = raised(frequent.forms, frequent.sizes, 0, levels, narrow)
        counts = np.asarray(
            sum(side.supports(frequent.forms, every_level=levels) for side in state.published)
        )
        in_threads(
            lambda part: find_distances(
                *part,
                classes(narrow),
                frequent.forms,
                frequent.sizes,
                counts,
                form_change,
                rows,
                state.tree.reading(levels),
                state.tree.shape,
                frequent.least,
                frequent.start,
                frequent.distance,
                distance,
            ),
            even_parts(n_classes, 4 * workers),
            workers,
        )
    return Scores(jumping, finite, distance)


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
