"""What every search for a recoding without patterns needs: the state, the patterns left, the loss."""

from __future__ import annotations

import os
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..errors import Infeasible, UsageError
from ..kernels.rows import merge_rows
from ..mining.emerging_search import Side as MinedSide
from ..mining.emerging_search import grown_sets
from ..mining.frequent import frequent_itemsets
from ..mining.support import least_count
from ..model.guarantees import HiddenPatterns
from ..model.pattern_pair import PatternPair
from ..progress import Watch
from ..search.pair_state import Flags, Ids, PairState
from ..search.pattern_moves import FrequentForms, Patterns, is_narrow
from ..search.value_distance import ValueDistance

SMALL = 50_000
"""Below so many distinct rows, starting threads costs more than they bring."""

Loss = tuple[int, Fraction, float]
"""Frequent itemsets lost, the distance of the others, and the mean share of each value's tree that it
now stands for; smaller is better, in this order."""


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
        watch: Watch,
        threads: int | None,
    ) -> None:
        self.guarantee = guarantee
        self.watch = watch
        self.quiet = Watch(stop=watch.stop)
        """For work that must end once begun: it can be cancelled, and knows no deadline."""
        self.state = PairState(pair)
        self.every_level = guarantee.every_level
        self.narrow = is_narrow(self.state, self.every_level)
        rows = sum(len(side.weight_by_row) for side in self.state.sides)
        self.threads = 1 if rows < SMALL else threads or len(os.sched_getaffinity(0))
        self.least = np.array(
            [least_count(guarantee.min_support, int(n)) for n in self.state.records], dtype=np.int64
        )
        self.frequent = self._frequent(share(frequent_support), multilevel)
        self.cost_by_node = _share_of_tree(pair)
        self._weights = [
            np.repeat(side.weight_by_row, np.diff(side.indptr)).astype(np.float64)
            for side in self.state.sides
        ]
        self.first = self.patterns_left()

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
        return FrequentForms(list(found), distance, least, multilevel)

    def patterns_left(self, kind: str = "all") -> Patterns:
        """Return the patterns of what would be published now; "closed" is enough to see if any is."""
        sides = [
            MinedSide(side.indptr, side.items, side.weight_by_row, side.n_records)
            for side in self.state.published
        ]
        parent = self.state.tree.parent
        sets, counts, where = [], [], []
        for up in (0, 1):
            found, elsewhere = grown_sets(
                sides[up],
                sides[1 - up],
                len(parent),
                growth=self.guarantee.growth,
                least=int(self.least[up]),
                minimal=False,
                most_items=None,
                watch=self.quiet,
                threads=self.threads,
                parent=parent if self.every_level else None,
                kind=kind,
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

    def apply(self, move: Move) -> int:
        """Make a move; return how many values it changed."""
        own, other = self.state.sides[move.side], self.state.sides[1 - move.side]
        here = own.raise_to(move.targets, move.own, move.own_values)
        return here + other.raise_to(move.targets, move.other, move.other_values)

    def loss(self) -> Loss:
        """Return what would be lost if this were published."""
        lost, distance = self.frequent.total(self.state)
        return lost, distance, self.cost()

    def cost(self) -> float:
        """Return the mean share of its tree that a value stands for; 0 for a value as it was."""
        parts = [
            (self.cost_by_node[side.node_by_entry] * weights).sum()
            for side, weights in zip(self.state.sides, self._weights, strict=True)
        ]
        entries = sum(weights.sum() for weights in self._weights)
        return float(sum(parts) / entries) if entries else 0.0

    def tick(self, left: int) -> None:
        """Tell how many patterns are left."""
        before = max(1, len(self.first))
        self.watch.tick(f"hiding patterns, {left:,} left", max(0.0, 1 - left / before))

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
                f"{self.guarantee} cannot be reached: even where every value is generalized to the "
                "top, one data set has records with values so much more often than the other that this "
                "alone is a pattern.",
                "Leave out records without values, or ask for a larger growth or minimum support.",
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
        """Hide what is left in the shortest way: all values of the trees concerned go to the top."""
        tree = self.state.tree.hierarchy
        while len(left := self.patterns_left("closed")):
            roots = np.unique(tree.root[left.sets[left.sets >= 0]]).astype(np.int32)
            here, there = (
                np.ones(len(side.weight_by_row), dtype=np.bool_) for side in self.state.published
            )
            if not self.apply(Move(0, roots, here, there)):
                self.apply(self.way_out(left.pattern(0), int(left.side[0])))


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
