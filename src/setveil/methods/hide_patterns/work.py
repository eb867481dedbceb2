"""What every search for a recoding without patterns needs: the state, the patterns left, the loss.

As long as patterns are few, all are mined after every move, as the paper does. In wide tables there are
millions of sets, of which thousands are closed. Any pattern has a closed one above it, in the same
records of the data set where it is more frequent; so patterns are looked for among these, and each is
made as small as it can be, so that a move that hides it hides many others. After a move they are only
counted again, until none of them is left.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from ...errors import Infeasible, ResourceLimit, TimeLimit, UsageError
from ...hierarchy.tree import Counts, Ids
from ...kernels.base import Flags
from ...kernels.rows import merge_rows
from ...mining.emerging import Side, grown_sets, most_elsewhere
from ...mining.itemsets import MOST_SETS, frequent_itemsets, half_support, least_count
from ...model.costs import ValueDistance
from ...model.guarantees import HiddenPatterns
from ...model.pattern_pair import PatternPair
from ...progress import Watch
from .scoring import FrequentForms
from .state import PairState, Patterns, is_narrow

SMALL = 50_000
"""Below so many distinct rows, starting threads costs more than they bring."""

LEAST_PATIENCE = 1.0
"""So many seconds after the time limit are spent on an end that keeps more, or a tenth of the limit."""
MOST_ITEMSETS = 50_000
"""How many frequent itemsets can be looked after."""

UNKNOWN = 1 << 40
"""How many jumping sets there are taken to be where they are too many to be counted."""

FEW_SETS = 100_000
"""Where one side has more frequent sets than this, patterns are looked for among its closed sets."""
MOST_GUARDED = 20_000
"""The most sets of half the minimum support that are looked after, move by move."""

MOST_COUNTED, MOST_SECONDS = 1_000_000, 10.0
"""How many sets of one side are looked at, and how long, to count the patterns of the originals."""

ENDLESS = Fraction(1 << 62)
"""More than any number of records: of this growth are jumping patterns alone."""

Loss = tuple[int, Fraction, int, float]
"""Frequent itemsets lost, the distance of the others, where that is guarded the jumping sets just below
the minimum support, and the mean share of each value's tree that it now stands for; smaller is better,
in this order."""


@dataclass(frozen=True, eq=False)
class Move:
    """Rows of both sides in which everything below the targets is raised to them.

    With values, one line a row of either side, only these are raised, each to the target of its place.
    """

    side: int
    targets: Ids
    own: Flags
    other: Flags
    own_values: Ids | None = None
    other_values: Ids | None = None


class PatternWork:
    """Two data sets on their way to a release: mine, move, measure, go back."""

    def __init__(
        self,
        pair: PatternPair,
        guarantee: HiddenPatterns,
        *,
        frequent_support: float,
        multilevel: bool,
        guard: bool = False,
        watch: Watch,
        threads: int | None,
    ) -> None:
        self.guarantee = guarantee
        self.guard = guard
        self.watch = watch
        self.quiet = Watch(stop=watch.stop)
        """For work that must end once begun: it can be cancelled, and knows no deadline."""
        self.silent = replace(watch, listener=None)
        """For the mining of every round: its progress says nothing of the whole."""
        self.told = ""
        """Which of several runs this is, for the progress line."""
        self.state = PairState(pair)
        self.every_level = guarantee.every_level
        self.narrow = is_narrow(self.state, self.every_level)
        rows = sum(len(side.weight_by_row) for side in self.state.sides)
        all_threads = threads or len(os.sched_getaffinity(0))
        self.threads = 1 if rows < SMALL else all_threads
        self.miner = PatternMiner(self.state, guarantee, self.threads, all_threads)
        self.frequent = self._frequent(share(frequent_support), multilevel)
        self.cost_by_node = _share_of_tree(pair)
        self._weights = [
            np.repeat(side.weight_by_row, np.diff(side.indptr)).astype(np.float64)
            for side in self.state.sides
        ]
        self.first: Patterns | None = None
        """The patterns of the originals; None until `begin` has found them."""

    def begin(self) -> Patterns:
        """Find the patterns to hide; `TimeLimit` where the time is up before."""
        if self.first is None:
            self.watch.tick("looking for patterns", None)
            self.first = self.miner.left(self.watch)
            self.guard = self.guard and self.miner.jumping_below(self.watch) is not None
        return self.first

    def hide(self, next_move: Callable[[Patterns], Move]) -> int:
        """Hide all patterns; return in how many moves. `TimeLimit` where the time is up before."""
        moves = 0
        patterns = self.begin()
        while len(patterns):
            self.tick(len(patterns))
            self.apply(next_move(patterns))
            patterns = self.after_a_move(patterns)
            moves += 1
        return moves

    def after_a_move(self, before: Patterns) -> Patterns:
        """Return the patterns left, given those there were; `TimeLimit` where the time is up."""
        return self.miner.left_of(before, self.silent)

    @property
    def is_clean(self) -> bool:
        """Whether no pattern is left; `TimeLimit` where the time is up."""
        return not len(self.miner.closed(self.silent))

    def _frequent(self, support: Fraction, multilevel: bool) -> FrequentForms:
        """Return the maximal frequent itemsets of both data sets together."""
        first, second = self.state.published
        indptr, items, weights, _ = merge_rows(
            np.concatenate([first.indptr, second.indptr[1:] + first.indptr[-1]]),
            np.concatenate([first.items, second.items]),
            np.concatenate([first.weight_by_row, second.weight_by_row]),
        )
        least = least_count(support, int(self.state.records.sum()))
        parent = self.state.tree.parent
        found = frequent_itemsets(
            indptr,
            items,
            weights,
            len(parent),
            least,
            kind="maximal",
            parent=parent if multilevel else None,
            threads=self.threads,
            watch=self.quiet,
        )
        distance = ValueDistance(self.state.pair.hierarchy)
        if len(found) > MOST_ITEMSETS:
            raise ResourceLimit(
                f"{len(found):,} maximal sets of values are frequent, more than {MOST_ITEMSETS:,}.",
                "Ask for a larger frequent support (--frequent-support).",
                code="too-many-itemsets",
            )
        return FrequentForms(list(found), distance, least, multilevel)

    def apply(self, move: Move) -> int:
        """Make a move; return how many values it changed."""
        own, other = self.state.sides[move.side], self.state.sides[1 - move.side]
        here = own.raise_to(move.targets, move.own, move.own_values)
        return here + other.raise_to(move.targets, move.other, move.other_values)

    def loss(self) -> Loss:
        """Return what would be lost if this were published."""
        lost, distance = self.frequent.total(self.state)
        return lost, distance, self.jumping_below(), self.cost()

    def jumping_below(self) -> int:
        """Return how many jumping sets are just below the minimum support; 0 if nothing is guarded."""
        if not self.guard:
            return 0
        found = self.miner.jumping_below(self.quiet)
        return UNKNOWN if found is None else found

    def cost(self) -> float:
        """Return the mean share of its tree that a value stands for; 0 for a value as it was."""
        parts = [
            (self.cost_by_node[side.node_by_entry] * weights).sum()
            for side, weights in zip(self.state.sides, self._weights, strict=True)
        ]
        entries = sum(weights.sum() for weights in self._weights)
        return float(sum(parts) / entries) if entries else 0.0

    def tick(self, left: int) -> None:
        """Tell how many patterns are left; raise `TimeLimit` where the time is up."""
        before = max(1, left if self.first is None else len(self.first))
        self.watch.tick(f"hiding patterns{self.told}, {left:,} left", max(0.0, 1 - left / before))
        self.watch.check_deadline()

    def way_out(self, pattern: Ids, side: int) -> Move:
        """Return a move for a pattern that no row of the other side is like.

        Values of one tree are raised to what they have in common, else each to its root. Where neither
        is possible, every row of the other side that could hold the pattern does, and it is one even
        where everything is generalized to the top: `Infeasible`.
        """
        tree, sides = self.state.tree.hierarchy, self.state.published
        nodes = pattern.tolist()
        roots = [int(tree.root[node]) for node in nodes]
        if nodes == roots and len(set(roots)) == len(roots):
            raise Infeasible(
                f"no way was found to a release with {self.guarantee}: so many more records are empty "
                "in one data set than in the other that to have a value is a pattern by itself, even "
                "where all values are generalized to the top.",
                "Leave out records without values (of tables --missing-cells suppress-row, of sets "
                "--empty-rows skip), or ask for a larger growth or minimum support.",
                code="patterns-remain",
            )
        targets = []
        for node, root in zip(nodes, roots, strict=True):
            beside = [other for other, above in zip(nodes, roots, strict=True) if above == root]
            common = node
            while not all(tree.covers(common, other) for other in beside):
                common = int(tree.parent[common])
            targets.append(common if len(beside) > 1 else root)
        own = sides[side].holders(pattern, every_level=self.every_level)
        none = np.zeros(len(sides[1 - side].weight_by_row), dtype=np.bool_)
        values = np.repeat(pattern[None, :], len(own), axis=0) if self.narrow else None
        return Move(side, np.array(targets, dtype=np.int32), own, none, values)

    def finish(self) -> None:
        """Hide what is left in a short way: in all records, the values that make most patterns go up.

        Step by step at first, then each to its root. `TimeLimit` where that ends in a pattern: records
        without values can make one of the root itself.
        """
        tree = self.state.tree.hierarchy
        patience = max(LEAST_PATIENCE, (self.watch.time_limit or 0.0) / 10)
        while len(left := self._left_at_the_end()):
            nodes = left.sets[(left.sets >= 0) & (tree.root[left.sets] != left.sets)]
            if not len(nodes):
                raise TimeLimit(
                    f"the time limit passed before a way was found to a release with {self.guarantee}.",
                    "Raise --time-limit, or leave out records without values.",
                )
            worst = int(np.bincount(nodes).argmax())
            above = tree.parent if self.watch.remaining > -patience else tree.root
            self._raise_everywhere([int(above[worst])])

    def _left_at_the_end(self) -> Patterns:
        """Return some of the patterns left; where the search is long, all goes to the top before it."""
        try:
            return self.miner.some(self.quiet)
        except ResourceLimit:
            self._raise_everywhere(self.state.tree.hierarchy.roots)
            return self.miner.some(self.quiet)

    def _raise_everywhere(self, targets: Sequence[int]) -> None:
        """Raise what is below these nodes, in all records."""
        here, there = (
            np.ones(len(side.weight_by_row), dtype=np.bool_) for side in self.state.published
        )
        self.apply(Move(0, np.asarray(targets, dtype=np.int32), here, there))


def count_patterns(
    pair: PatternPair, guarantee: HiddenPatterns, *, watch: Watch, threads: int | None
) -> tuple[int, bool]:
    """Return how many closed sets of two data sets are patterns, and whether all of them were counted.

    The most frequent are counted first, then twice as rare ones, and so on; what is known when some
    seconds have passed, or where there are too many sets, is a part of them. The first look takes as
    long as it takes: code may have to be compiled.
    """
    all_threads = threads or len(os.sched_getaffinity(0))
    miner = PatternMiner(PairState(pair), guarantee, all_threads, all_threads)
    found, known, halvings, patient = 0, False, 0, watch
    while not known:
        least = np.maximum(miner.least, miner.state.records >> halvings)
        try:
            found = len(miner.mined("closed", MOST_COUNTED, patient, least=least))
        except ResourceLimit:
            break
        known = bool((least == miner.least).all())
        patient = watch.within(MOST_SECONDS) if not halvings else patient
        halvings += 1
    return found, known


def share(value: float) -> Fraction:
    """Return a share of the records as it is written; `UsageError` where it is none."""
    exact = Fraction(str(value)) if np.isfinite(value) else Fraction(0)
    if not 0 < exact <= 1:
        raise UsageError(
            f"frequent_support={value} is no share of the records.",
            "Give a number above 0 and at most 1, such as 0.4.",
            code="bad-option",
        )
    return exact


def _share_of_tree(pair: PatternPair) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    leaves = pair.hierarchy.leaf_count
    others = np.maximum(leaves[pair.hierarchy.root] - 1, 1)
    found: np.ndarray[tuple[int], np.dtype[np.float64]] = (leaves - 1) / others
    return found


class PatternMiner:
    """Finds the patterns of what would be published now. All of it can raise `TimeLimit`."""

    def __init__(
        self, state: PairState, guarantee: HiddenPatterns, threads: int, all_threads: int
    ) -> None:
        self.state = state
        self.growth, self.every_level = guarantee.growth, guarantee.every_level
        self.threads, self.all_threads = threads, all_threads
        self.least = self._least(guarantee.min_support)
        half = half_support(guarantee.min_support)
        self.half = None if half is None else self._least(half)
        self.only_closed = False
        """Whether there were too many sets to look at all of them."""

    def _least(self, support: Fraction | int) -> Counts:
        """Return in how many records of either side a set of this support is at least."""
        counts = [least_count(support, int(n)) for n in self.state.records]
        return np.array(counts, dtype=np.int64)

    def left(self, watch: Watch) -> Patterns:
        """Return all patterns or, of too many, some small ones: none only if there is none."""
        if not self.only_closed:
            try:
                return self.mined("all", FEW_SETS, watch)
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
            return self.mined("closed", MOST_SETS, watch)
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
            return self.mined("all", FEW_SETS, watch, minimal=True)
        except ResourceLimit:
            return self._shrunk(self.mined("closed", FEW_SETS, watch))

    def jumping_below(self, watch: Watch) -> int | None:
        """Return how many sets of one side alone have half the minimum support, and not all of it.

        None where there are too many sets: this is asked often.
        """
        if self.half is None:
            return 0
        try:
            found = self.mined("all", MOST_GUARDED, watch, growth=ENDLESS, least=self.half)
        except TimeLimit:
            raise
        except ResourceLimit:
            return None
        return int((found.counts.max(axis=1) < self.least[found.side]).sum())

    def mined(
        self,
        kind: str,
        most_sets: int,
        watch: Watch,
        *,
        minimal: bool = False,
        growth: Fraction | None = None,
        least: Counts | None = None,
    ) -> Patterns:
        """Return the patterns among the frequent sets; `ResourceLimit` where these are too many."""
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
