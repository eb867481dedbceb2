"""Tries on two data sets: how many values are raised, what becomes of frequent sets, what is left.

The loss is the share of the values that are published as something more general. Frequent sets are
those that the search keeps in mind (`frequent_support`); how many are lost, and how far the others are
distorted, is measured as `setveil measure` does. Patterns left are counted by the audit.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .. import trials
from ..hierarchy.tree import Hierarchy
from ..measure.pairs import frequent_distortion, raised_values
from ..model.pattern_pair import PatternPair
from ..model.transactions import Transactions
from ..progress import Watch
from ..registry import method
from ..report.terms import RAISED
from ..run.work import Job


class Trials(trials.Trials):
    """Two data sets with their hierarchy."""

    @property
    def cost(self) -> str:
        return RAISED

    @property
    def size(self) -> tuple[int, int]:
        return sum(self.prepared.pair.records), self.prepared.pair.hierarchy.n_leaves

    def toy(self) -> tuple[Any, Any]:
        above = {"ale": "drink", "tea": "drink", "bun": "bread", "rye": "bread"}
        tree = Hierarchy.from_parents({**above, "drink": "all", "bread": "all", "all": None})
        sets = [["ale", "bun"], ["ale", "rye"], ["tea"], ["tea", "bun", "rye"], ["bun"]]
        first, second = (
            Transactions.from_rows([row for row, n in zip(sets, times, strict=True) for _ in range(n)])
            for times in ((9, 1, 4, 1, 5), (2, 6, 4, 5, 3))
        )
        return PatternPair.of_sets(first, second, tree), None

    def row(self, job: Job, release: Any, verdict: Any, watch: Watch) -> dict[str, Any]:
        del job
        chosen: dict[str, Any] = method(release.method).with_defaults(release.options)
        watch.tick("comparing frequent sets", None)
        frequent = frequent_distortion(
            release.pair,
            release.recoding,
            frequent_support=chosen["frequent_support"],
            multilevel=bool(chosen["multilevel"]),
        )
        largest = frequent.largest
        scores: dict[str, Fraction | int] = {
            "ncp": raised_values(release.pair, release.recoding)[1],
            "frequent_sets_lost": frequent.missing,
            "distortion": frequent.distortion / largest if largest else Fraction(0),
        }
        if verdict is not None:
            scores["patterns_left"] = verdict.patterns
        return {
            "loss": Fraction(release.raised, max(release.values, 1)),
            "scores": scores,
            "useless": release.useless,
            "cut": not release.complete,
        }
