"""What each way to hide a pattern would change: of the patterns' growth, and of the frequent itemsets.

The counting itself is in `kernels.hiding`; this hands it the moves in parts, so that memory
stays bounded however many moves and sets there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...hierarchy.tree import Counts
from ...kernels.base import even_parts, in_threads
from ...kernels.hiding import (
    Classes,
    Counted,
    Raised,
    Reading,
    Sets,
    count_raised,
    find_distances,
    score_moves,
)
from ...model.costs import MOST_FORMS, ValueDistance
from .state import Moves, PairState, Patterns, Published

Reals = NDArray[np.float64]
ALL_FORMS = 200_000
"""How many forms of all frequent itemsets together are looked after."""
ENTRIES_AT_ONCE = 1 << 24
"""How many counts of moves by sets are held at a time."""
HEAVY = 1 << 18
"""So many counts of moves by sets are worth all threads, and a look at the clock now and then."""


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
        most = min(MOST_FORMS, ALL_FORMS // max(1, len(self.itemsets)))
        found = [distance.forms(itemset, most) for itemset in self.itemsets]
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
class Scores:
    """What each move brings: jumping patterns fewer, finite growth less, and itemsets' distances."""

    jumping: Counts
    finite: Reals
    distance: Reals
    """For each move and frequent itemset how far it would be; -1 where it would be lost."""


@dataclass(frozen=True, eq=False)
class Scoring:
    """What the scores of moves rest on. Heavy work is shared by `all_threads`.

    `ask` is called then and now; what it raises ends the work.
    """

    state: PairState
    patterns: Patterns
    frequent: FrequentForms
    least: Counts
    every_level: bool
    threads: int = 1
    all_threads: int = 1
    ask: Callable[[], None] | None = None

    def score(self, moves: Moves) -> Scores:
        """Return what each of these moves would change of the patterns and of the frequent itemsets."""
        moved = self.state.published[moves.side].only(moves.holders)
        at_once = max(1, ENTRIES_AT_ONCE // max(1, len(self.patterns), len(self.frequent.forms)))
        found = [
            self._scores(moves.part(first, first + at_once), moved)
            for first in range(0, max(1, len(moves.targets)), at_once)
        ]
        return Scores(
            np.concatenate([part.jumping for part in found]),
            np.concatenate([part.finite for part in found]),
            np.concatenate([part.distance for part in found]),
        )

    def _scores(self, moves: Moves, moved: Published) -> Scores:
        """Return the scores of some of the moves, which move these rows of the pattern's own side."""
        state, patterns = self.state, self.patterns
        jumping = np.zeros(len(moves), dtype=np.int64)
        finite = np.zeros(len(moves), dtype=np.float64)
        sizes = (patterns.sets >= 0).sum(axis=1).astype(np.int32)
        sets = Sets(patterns.sets, sizes)
        classes = self._classes(moves, moves.narrow)
        held, raised = self._raised(moves, moved, classes, sets, len(patterns), self.every_level)
        counted = Counted(sets, patterns.counts, held)
        rows = state.published[1 - moves.side].rows
        reading = Reading(state.tree.reading(self.every_level), state.tree.shape)
        self._in_parts(
            lambda part: score_moves(
                *part,
                moves.side,
                classes,
                counted,
                raised,
                rows,
                reading,
                state.records,
                self.least,
                jumping,
                finite,
            ),
            len(moves),
            len(patterns),
        )
        return Scores(jumping, finite, self._distances(moves, moved))

    def _distances(self, moves: Moves, moved: Published) -> Reals:
        """Return how far each frequent itemset would be after each move."""
        state, frequent = self.state, self.frequent
        distance = np.full((len(moves), len(frequent)), -1.0)
        if not len(frequent):
            return distance
        levels = frequent.every_level
        # At every level a value may go and what is above it stay, for another value's sake. That is
        # left out here: an itemset may look farther away than it will be.
        classes = self._classes(moves, moves.narrow and not levels)
        forms = Sets(frequent.forms, frequent.sizes)
        _, raised = self._raised(moves, moved, classes, forms, 0, levels)
        rows = state.published[1 - moves.side].rows
        reading = Reading(state.tree.reading(levels), state.tree.shape)
        self._in_parts(
            lambda part: find_distances(
                *part,
                classes,
                forms,
                self._form_counts,
                raised.change,
                rows,
                reading,
                frequent.least,
                frequent.start,
                frequent.distance,
                distance,
            ),
            len(moves),
            len(frequent.forms),
        )
        return distance

    @cached_property
    def _form_counts(self) -> Counts:
        """In how many records of both sides each form is now."""
        forms, levels = self.frequent.forms, self.frequent.every_level
        first, second = (side.supports(forms, every_level=levels) for side in self.state.published)
        return first + second

    def _raised(
        self,
        moves: Moves,
        moved: Published,
        classes: Classes,
        sets: Sets,
        images: int,
        levels: bool,
    ) -> tuple[Counts, Raised]:
        """Count the pattern's records that hold each set, and what raising their rows changes of it."""
        own, other = (self.state.published[side] for side in (moves.side, 1 - moves.side))
        held = moved.supports(sets.nodes, every_level=levels, threads=self.threads)
        here, there = (
            np.full((len(moves.targets), max(images, 1)), -1, dtype=np.int64) for _ in range(2)
        )
        raised = Raised(np.zeros((len(moves.targets), len(sets.nodes)), dtype=np.int64), here, there)
        shape = self.state.tree.shape
        lists, ours, theirs = (side.lists(levels) for side in (moved, own, other))
        self._in_parts(
            lambda part: count_raised(
                *part, images, classes, sets, held, shape, lists, ours, theirs, raised
            ),
            len(moves.targets),
            len(sets.nodes),
        )
        return held, raised

    def _classes(self, moves: Moves, narrow: bool) -> Classes:
        """Return the moves as the loops take them."""
        return Classes(
            moves.targets_of_class,
            moves.targets,
            moves.pattern,
            np.ascontiguousarray(moves.values[moves.row_by_member[moves.class_start[:-1]]]),
            narrow,
            moves.class_start,
            moves.row_by_member,
        )

    def _in_parts(self, work: Callable[[tuple[int, int]], None], size: int, sets: int) -> None:
        """Do the work for 0 .. size - 1, of so many sets each, in parts."""
        if size * sets < HEAVY:
            in_threads(work, even_parts(size, 4 * self.threads), self.threads)
        else:
            in_threads(work, even_parts(size, 64), self.all_threads, self.ask)
