"""What a search for the optimum knows of it: bounds below the cost reached, and who vouches for them.

A bound is *certified* where it was recomputed in integers (`search.cut_model`). One that is only
*claimed* is the solver's word. Once the solver has failed or contradicted itself its word counts
nothing: the search ends with the certified bound and what it holds, and says so.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..progress import Watch
from ..release.recoding import Recoding
from ..search.branching import holds
from ..search.cut_model import CutModel
from ..search.solver import SolverTrouble
from .outcome import Objective, Outcome

FAILED = (
    "the solver of the integer program failed, which ended the search for a proof: the result is "
    "valid, and its bound was computed in whole numbers before."
)
ROUNDED = (
    "the costs are too large for the solver's numbers and were rounded down for it: the bound is true, "
    "and may be a trace too low."
)


class Proof:
    """The bounds of one search, and how it ended.

    `settled` tells that the solver has nothing to add, `failed` that it is not trusted any more.
    """

    def __init__(self) -> None:
        self.certified = 0
        self.claimed = 0
        self.settled = False
        self.failed = False

    @property
    def bound(self) -> int:
        """The best bound there is."""
        return max(self.certified, self.claimed)

    def certify(self, bound: int) -> bool:
        """Take a bound that was computed in integers; tell whether it is news."""
        news = bound > self.bound
        self.certified = max(self.certified, bound)
        return news

    def claim(self, bound: int, reached: int | None) -> None:
        """Take the solver's word; `SolverTrouble` where a valid result costs less."""
        if reached is not None and bound > reached:
            raise SolverTrouble("it claims a bound above the cost of a valid result")
        self.claimed = max(self.claimed, bound)

    def fail(self) -> None:
        """Trust the solver no longer."""
        self.failed, self.claimed = True, 0

    def outcome(
        self,
        recoding: Recoding,
        name: str,
        reached: int,
        figures: Mapping[str, int | float | str],
        model: CutModel,
        watch: Watch,
    ) -> Outcome:
        """Return what the method returns, after a look whether the solver's claim can be shown."""
        if self.claimed > reached:
            self.fail()
        claimed = self.claimed == reached or (self.settled and model.rounded_costs)
        if claimed and self.certified < reached and holds(model, reached, watch):
            self.certify(reached)
        bound = min(self.bound, reached)
        objective = Objective(name, reached, bound, certified=bound <= self.certified)
        notices = (FAILED,) if self.failed and not objective.proven else ()
        if self.settled and model.rounded_costs and not objective.proven:
            notices = (ROUNDED,)
        complete = objective.proven or self.settled or self.failed
        return Outcome(recoding, objective, figures, complete, notices)
