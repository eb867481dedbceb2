"""The patterns of two data sets on their way to a release, however many there are.

As long as there are few, all are mined after every move, as the paper does. In wide tables there are
millions of sets, of which thousands are closed. Any pattern has a closed one above it, in the same
records of the data set where it is more frequent; so patterns are looked for among these, and each is
made as small as it can be, so that a move that hides it hides many others. After a move they are only
counted again, until none of them is left.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ...errors import ResourceLimit, TimeLimit
from ...mining.emerging import Side, grown_sets, most_elsewhere
from ...mining.itemsets import MOST_SETS, half_support, least_count
from ...model.guarantees import HiddenPatterns
from ...progress import Watch
from .moves import Patterns
from .state import Counts, Flags, Ids, PairState

FEW_SETS = 100_000
"""Where one side has more frequent sets than this, patterns are looked for among its closed sets."""
MOST_GUARDED = 20_000
"""The most sets of half the minimum support that are looked after, move by move."""

ENDLESS = Fraction(1 << 62)
"""More than any number of records: of this growth are jumping patterns alone."""


class PatternMiner:
    """Finds the patterns of what would be published now. All of it can raise `TimeLimit`."""

    def __init__(
        self, state: PairState, guarantee: HiddenPatterns, threads: int, all_threads: int
    ) -> None:
        self.state = state
        self.growth, self.every_level = guarantee.growth, guarantee.every_level
        self.threads, self.all_threads = threads, all_threads
        self.least = np.array(
            [least_count(guarantee.min_support, int(n)) for n in state.records], dtype=np.int64
        )
        self.only_closed = False
        """Whether there were too many sets to look at all of them."""
        half = half_support(guarantee.min_support)
        self.half = (
            None
            if half is None
            else np.array([least_count(half, int(n)) for n in state.records], dtype=np.int64)
        )

    def left(self, watch: Watch) -> Patterns:
        """Return all patterns or, of too many, some small ones: none only if there is none."""
        if not self.only_closed:
            try:
                return self._mined("all", FEW_SETS, watch)
            except TimeLimit:
                raise
            except ResourceLimit:
                self.only_closed = True
        return self._shrunk(self.closed(watch))

    def left_of(self, before: Patterns, watch: Watch) -> Patterns:
        """Return the patterns after a move, given those before it."""
        if self.only_closed:
            sets, counts = self._counted(before.sets)
            still = self._is_pattern(counts, before.side)
            if still.any():
                watch.check_deadline()
                return Patterns(np.ascontiguousarray(sets[still]), counts[still], before.side[still])
        return self.left(watch)

    def closed(self, watch: Watch) -> Patterns:
        """Return the patterns that are closed where they are more frequent."""
        try:
            return self._mined("closed", MOST_SETS, watch)
        except TimeLimit:
            raise
        except ResourceLimit as error:
            raise ResourceLimit(
                f"one data set has more than {MOST_SETS:,} closed sets of the minimum support.",
                "Ask for a larger minimum support (--min-support), or name fewer columns "
                "(--attributes).",
                code="too-many-itemsets",
            ) from error

    def some(self, watch: Watch) -> Patterns:
        """Return small patterns, by a search that ends soon; `ResourceLimit` where it does not."""
        try:
            return self._mined("all", FEW_SETS, watch, minimal=True)
        except ResourceLimit:
            return self._shrunk(self._mined("closed", FEW_SETS, watch))

    def jumping_below(self, watch: Watch) -> int | None:
        """Return how many sets of one side alone have half the minimum support, and not all of it.

        None where there are too many sets: this is asked often.
        """
        if self.half is None:
            return 0
        try:
            found = self._mined("all", MOST_GUARDED, watch, growth=ENDLESS, least=self.half)
        except TimeLimit:
            raise
        except ResourceLimit:
            return None
        return int((found.counts.max(axis=1) < self.least[found.side]).sum())

    def _mined(
        self,
        kind: str,
        most_sets: int,
        watch: Watch,
        *,
        minimal: bool = False,
        growth: Fraction | None = None,
        least: Counts | None = None,
    ) -> Patterns:
        least = self.least if least is None else least
        sides = [
            Side(side.indptr, side.items, side.weight_by_row, side.n_records)
            for side in self.state.published
        ]
        parent = self.state.tree.parent
        sets, counts, where = [], [], []
        for up in (0, 1):
            found, elsewhere = grown_sets(
                sides[up],
                sides[1 - up],
                len(parent),
                growth=self.growth if growth is None else growth,
                least=int(least[up]),
                minimal=minimal,
                most_items=None,
                watch=watch,
                threads=self.all_threads if self.only_closed else self.threads,
                parent=parent if self.every_level else None,
                kind=kind,
                most_sets=most_sets,
            )
            sets.append(found.padded())
            by_side = (found.support, elsewhere) if up == 0 else (elsewhere, found.support)
            counts.append(np.stack(by_side, axis=1))
            where.append(np.full(len(found), up, dtype=np.int64))
        width = max(1, *(part.shape[1] for part in sets))
        padded = [
            np.pad(part, ((0, 0), (0, width - part.shape[1])), constant_values=-1) for part in sets
        ]
        return Patterns(
            np.ascontiguousarray(np.concatenate(padded)), np.concatenate(counts), np.concatenate(where)
        )

    def _shrunk(self, found: Patterns) -> Patterns:
        """Return smaller patterns: values are left out while a set stays one, the most common first."""
        if not len(found):
            return found
        every = np.arange(len(self.state.tree.parent), dtype=np.int32)[:, None]
        often = self._counted(every)[1].sum(axis=1)
        rank = np.where(found.sets < 0, -1, often[found.sets])
        sets = np.take_along_axis(found.sets, np.argsort(-rank, axis=1, kind="stable"), axis=1)
        for place in range(sets.shape[1]):
            smaller = sets.copy()
            smaller[:, place] = -1
            stays = self._is_pattern(self._counted(smaller)[1], found.side)
            stays &= (smaller >= 0).any(axis=1)
            sets[stays] = smaller[stays]
        sets, counts = self._counted(sets)
        keys = np.concatenate([sets, found.side[:, None].astype(np.int32)], axis=1)
        kept = np.sort(np.unique(keys, axis=0, return_index=True)[1])
        return Patterns(np.ascontiguousarray(sets[kept]), counts[kept], found.side[kept])

    def _counted(self, sets: Ids) -> tuple[Ids, Counts]:
        """Return sets with their padding at the end, and their counts on either side."""
        nobody = len(self.state.tree.parent)
        padded = np.sort(np.where(sets < 0, nobody, sets), axis=1)
        padded = np.where(padded == nobody, -1, padded).astype(np.int32)
        counts = [
            side.supports(padded, every_level=self.every_level, threads=self.threads)
            for side in self.state.published
        ]
        return padded, np.stack(counts, axis=1)

    def _is_pattern(self, counts: Counts, more_frequent_in: Counts) -> Flags:
        """Tell which sets of these counts are patterns, each on its side."""
        records = self.state.records
        found = np.zeros(len(counts), dtype=np.bool_)
        for up in (0, 1):
            here, there = counts[:, up], counts[:, 1 - up]
            most = most_elsewhere(here, int(records[up]), int(records[1 - up]), self.growth)
            found |= (more_frequent_in == up) & (here >= self.least[up]) & (there <= most)
        return found
