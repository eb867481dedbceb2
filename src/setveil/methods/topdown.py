"""HgHs and mHgHs: generalization with suppression, top down (Liu, Wang: Anonymizing transaction data by
integrating suppression and generalization, PAKDD 2010).

- `anonymize` is HgHs. List the minimal privacy threats of all cuts once (`threats_of_all_cuts`). Begin
  with the roots; of the cuts that replace one node by its children, each with its own suppression
  scenario, take the one that costs least, while that costs less than the cut in hand (`CutSearch`).
- `anonymize_rounds` is mHgHs. Round i = 1 .. m does the same for threats of at most i nodes, on the
  taxonomy at and above the cut of the round before, so that the lists of threats stay short.

Where the time limit cuts a search, the best of what is known to be valid is returned: the cut in hand,
those further down the same tree with their suppression scenarios (`_Round.search_in_haste`), and, for
`anonymize`, what the rounds gave, which are quick and are run first where there is a limit.

What a cut costs is the cost of its kept nodes plus the whole of every occurrence suppressed. Fixed
here, since the paper leaves it open: of equal steps the one at the smaller label is taken, and of nodes
with equal suppression cost the smaller label is kept. See docs/methods/hghs.md and mhghs.md.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..engines.base import Engine
from ..errors import ResourceLimit, TimeLimit
from ..model.costs import Cost
from ..model.guarantees import KmAnonymity
from ..progress import Watch
from ..registry import method
from ..release.recoding import Recoding
from ..search.feasible import check_enough_records
from ..search.threats import threats_of_all_cuts
from ..search.top_down import CutSearch, Taxonomy
from .outcome import Objective, Outcome

Ids = NDArray[np.int32]

MOST_THREATS = 50_000_000
ROUNDS_SHARE = 0.5
"""The share of a time limit that hghs leaves to the rounds before its own search."""
FROM_ROUNDS = "hghs was not through in time: this is the result of its search in rounds (mhghs)."


def anonymize(
    engine: Engine,
    guarantee: KmAnonymity,
    *,
    cost: Cost,
    watch: Watch,
    max_threats: int = MOST_THREATS,
) -> Outcome:
    """Return the cut and the suppression that HgHs finds.

    Parameters
    ----------
    engine
        The data.
    guarantee
        `KmAnonymity` without negative knowledge.
    cost
        What a published node costs.
    watch
        Told about progress; stops the work. Past the time limit the best result known is returned, be
        it that of the rounds; `TimeLimit` where not even those were through.
    max_threats
        `ResourceLimit` where there are more minimal threats than this.
    """
    km = _checked(engine, guarantee, "hghs")
    bottom = np.arange(engine.hierarchy.n_leaves, dtype=np.int32)
    held: Outcome | None = None
    if watch.time_limit is not None:
        with contextlib.suppress(TimeLimit, ResourceLimit):
            share = watch.within(ROUNDS_SHARE * watch.remaining)
            held = anonymize_rounds(engine, guarantee, cost=cost, watch=share, max_threats=max_threats)
    try:
        reached = _Round(engine, km.k, km.m, bottom, cost, watch, max_threats, "hghs")
    except TimeLimit:
        if held is None:
            raise
        return replace(held, complete=False, notices=(FROM_ROUNDS,))
    own = reached.outcome(cost, {"threats": reached.n_threats, "steps": reached.steps})
    if held is None or own.complete or reached.cost <= _cost(held):
        return own
    return replace(held, complete=False, notices=(FROM_ROUNDS,))


def anonymize_rounds(
    engine: Engine,
    guarantee: KmAnonymity,
    *,
    cost: Cost,
    watch: Watch,
    max_threats: int = MOST_THREATS,
) -> Outcome:
    """Return the cut and the suppression that mHgHs finds; the parameters are those of `anonymize`."""
    km = _checked(engine, guarantee, "mhghs")
    bottom = np.arange(engine.hierarchy.n_leaves, dtype=np.int32)
    most, steps, size = 0, 0, 1
    while True:
        stage = f"mhghs: round {size}"
        reached = _Round(engine, km.k, size, bottom, cost, watch, max_threats, stage)
        most, steps = max(most, reached.n_threats), steps + reached.steps
        if size == km.m:
            return reached.outcome(cost, {"threats": most, "steps": steps, "rounds": size})
        bottom, size = reached.search.cut, size + 1


class _Round:
    """One top-down search: the cut it ends at, and whether the time limit cut it short."""

    def __init__(
        self,
        engine: Engine,
        k: int,
        m: int,
        bottom: Ids,
        cost: Cost,
        watch: Watch,
        max_threats: int,
        stage: str,
    ) -> None:
        watch.tick(stage)
        watch.check_deadline()
        self.hierarchy = engine.hierarchy
        self.taxonomy = taxonomy = Taxonomy.above(engine.hierarchy, bottom)
        threats = threats_of_all_cuts(
            engine, taxonomy.nodes, k, m, most=max_threats, ask=watch.asking(stage)
        )
        self.n_threats = len(threats)
        self.search = CutSearch(taxonomy, threats, cost, engine.item_counts())
        self.steps = 0
        self.complete = False
        whole = max(1, len(taxonomy.nodes))
        while not watch.expired:
            # How far down the cut is tells little about when no step helps; it is an upper share.
            watch.tick(stage, len(self.search.cut) / whole)
            steps = self.search.steps()
            node, added = min(steps, key=lambda step: step[1], default=(-1, 0))
            if added >= 0:
                self.complete = True
                break
            self.search.descend(node)
            self.steps += 1
        self.cost, self.kept = self.search.cost, self.search.kept
        if not self.complete:
            self.search_in_haste()

    def search_in_haste(self) -> None:
        """Keep the best of the cuts further down, each node in turn replaced by its children.

        No step is compared with others, so that this takes hardly any time. It ends at the bottom,
        where nothing is generalized beyond it and all that is rare is left out.
        """
        taxonomy, search = self.taxonomy, self.search
        for node in reversed(taxonomy.nodes.tolist()):
            if taxonomy.children[node] and node in search:
                search.descend(node)
                if search.cost < self.cost:
                    self.cost, self.kept = search.cost, search.kept

    def outcome(self, cost: Cost, figures: dict[str, int | float | str]) -> Outcome:
        """Return what a method returns."""
        return Outcome(
            Recoding.from_cut(self.hierarchy, self.kept),
            Objective(cost.name, self.cost),
            figures,
            complete=self.complete,
        )


def _cost(outcome: Outcome) -> int:
    assert outcome.objective is not None
    return outcome.objective.cost


def _checked(engine: Engine, guarantee: KmAnonymity, key: str) -> KmAnonymity:
    method(key).check_guarantee(guarantee)
    check_enough_records(engine, guarantee.k)
    # No record holds more labels than there are items.
    return KmAnonymity(guarantee.k, max(1, min(guarantee.m, engine.hierarchy.n_leaves)))
