"""What every search for a recoding without patterns needs: the state, the patterns left, the loss."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from ...errors import Infeasible, ResourceLimit, TimeLimit, UsageError
from ...kernels.rows import merge_rows
from ...mining.itemsets import frequent_itemsets, least_count
from ...model.costs import ValueDistance
from ...model.guarantees import HiddenPatterns
from ...model.pattern_pair import PatternPair
from ...progress import Watch
from .mined import PatternMiner
from .moves import Patterns, is_narrow
from .scoring import FrequentForms
from .state import Flags, Ids, PairState

SMALL = 50_000
"""Below so many distinct rows, starting threads costs more than they bring."""

LEAST_PATIENCE = 1.0
"""So many seconds after the time limit are spent on an end that keeps more, or a tenth of the limit."""
MOST_ITEMSETS = 50_000
"""How many frequent itemsets can be looked after."""

UNKNOWN = 1 << 40
"""How many jumping sets there are taken to be where they are too many to be counted."""

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
