"""What `optimal` and `trim` share: a search that holds a result, and a bound that no result goes below.

A bound is *certified* where it was recomputed in integers (`search.cut_model`). One that is only
*claimed* is the solver's word. Once the solver has failed or contradicted itself its word counts
nothing: the search ends with the certified bound and what it holds, and says so.
"""

from __future__ import annotations

from ..engines.base import Engine, Violations
from ..model.costs import Cost
from ..model.guarantees import KmAnonymity, LmDiversity
from ..progress import Watch
from ..release.recoding import Recoding
from ..search.cut_model import Chosen, CutModel, holds
from ..search.solver import SolverTrouble
from . import Objective, Outcome

FAILED = (
    "the solver of the integer program failed, which ended the search for a proof: the result is "
    "valid, and its bound was computed in whole numbers before."
)
ROUNDED = (
    "the costs are too large for the solver's numbers and were rounded down for it: the bound is true, "
    "and may be a trace too low."
)


class ProvingSearch:
    """One search: the integer program, the best valid result so far, and the bounds.

    `settled` tells that the solver has nothing to add, `failed` that it is not trusted any more.
    """

    def __init__(
        self,
        engine: Engine,
        guarantee: KmAnonymity | LmDiversity,
        cost: Cost,
        watch: Watch,
        *,
        suppressing: bool = False,
    ) -> None:
        self.engine, self.guarantee, self.cost, self.watch = engine, guarantee, cost, watch
        counts = engine.item_counts()
        self.model = CutModel(engine.hierarchy, cost, counts, suppressing=suppressing)
        self.best: Chosen | None = None
        self.best_cost: int | None = None
        self.certified, self.claimed = 0, 0
        self.settled, self.failed = False, False
        self.rounds = 0

    @property
    def bound(self) -> int:
        """The best bound there is."""
        return max(self.certified, self.claimed)

    @property
    def is_proven(self) -> bool:
        """Whether the result held costs no more than the bound."""
        return self.best_cost is not None and self.best_cost <= self.bound

    def certify(self, bound: int) -> None:
        """Take a bound that was computed in integers."""
        self.certified = max(self.certified, bound)

    def claim(self, bound: int) -> None:
        """Take the solver's word; `SolverTrouble` where a valid result costs less."""
        if self.best_cost is not None and bound > self.best_cost:
            raise SolverTrouble("it claims a bound above the cost of a valid result")
        self.claimed = max(self.claimed, bound)

    def claim_optimal(self, chosen: Chosen) -> None:
        """Take the solver's word that nothing costs less than this, its own solution.

        Its absolute gap was below one, and costs are integers.
        """
        self.claim(self.model.least_cost(chosen))
        self.settled = True

    def fail(self) -> None:
        """Trust the solver no longer."""
        self.failed, self.claimed = True, 0

    def offer(self, chosen: Chosen) -> None:
        """Hold a valid result if it is the cheapest so far."""
        cost = self.model.exact_cost(chosen)
        if self.best_cost is None or cost < self.best_cost:
            self.best, self.best_cost = chosen, cost

    def violations(self, chosen: Chosen, limit: int) -> Violations:
        """Return what a choice would publish against the guarantee."""
        recoding = Recoding.from_cut(self.engine.hierarchy, self.model.published(chosen))
        return self.engine.violations(recoding, self.guarantee, limit=limit)

    def report(self, stage: str) -> None:
        """Tell how far the bound has come towards the cost of what is held."""
        share = None if not self.best_cost else min(1.0, self.bound / self.best_cost)
        self.watch.tick(stage, share)

    def outcome(self) -> Outcome:
        """Return what is held, after a look whether the solver's claim can be shown."""
        assert self.best is not None
        assert self.best_cost is not None
        reached, rounded = self.best_cost, self.settled and self.model.rounded_costs
        if self.claimed > reached:
            self.fail()
        claimed = self.claimed == reached or rounded
        if claimed and self.certified < reached and holds(self.model, reached, self.watch):
            self.certify(reached)
        bound = min(self.bound, reached)
        objective = Objective(self.cost.name, reached, bound, certified=bound <= self.certified)
        notices: tuple[str, ...] = ()
        if not objective.proven:
            notices = (ROUNDED,) if rounded else (FAILED,) if self.failed else ()
        return Outcome(
            Recoding.from_cut(self.engine.hierarchy, self.model.published(self.best)),
            objective,
            {"rounds": self.rounds, "clauses": len(self.model.clauses)},
            objective.proven or self.settled or self.failed,
            notices,
        )
