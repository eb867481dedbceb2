"""The default: the best method of ours for the case, and why (`choose`).

Generalization and suppression together (`trim`) lose least; where suppression is not wanted, `optimal`
does. Both start from the results of the fast heuristics and return the best they have when time is
short or the solver fails, so no faster method is needed beside them. Without a time limit a proof is
waited for `PATIENT_SECONDS`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from ..engines.base import Engine
from ..hierarchy.tree import Hierarchy
from ..model.costs import Cost
from ..model.guarantees import KmAnonymity
from ..progress import Watch
from ..registry import method
from . import Outcome

PATIENT_SECONDS = 120.0
"""How long a proof is waited for where no time limit is given."""


class Choice(NamedTuple):
    """A method's key and the reason it was taken."""

    key: str
    why: str


def choose(hierarchy: Hierarchy, *, suppression: bool) -> Choice:
    """Return the method for the case."""
    if not suppression:
        return Choice("optimal", "suppression was not wanted")
    if len(hierarchy) == hierarchy.n_leaves:
        return Choice("trim", "there is no hierarchy, so rare items can only be left out")
    return Choice("trim", "it may leave rare items out where that loses less")


def anonymize(
    engine: Engine,
    guarantee: KmAnonymity,
    *,
    cost: Cost,
    watch: Watch,
    suppression: bool = True,
) -> Outcome:
    """Return what the chosen method returns; ``figures["chosen"]`` and ``["why"]`` say which."""
    method("auto").check_guarantee(guarantee)
    patient = watch
    if watch.time_limit is None:
        patient = Watch(watch.listener, PATIENT_SECONDS, stop=watch.stop)
    choice = choose(engine.hierarchy, suppression=suppression)
    chosen = method(choice.key).load()
    outcome: Outcome = chosen(engine, guarantee, cost=cost, watch=patient)
    told: dict[str, int | float | str] = {"chosen": choice.key, "why": choice.why}
    if not outcome.complete and watch.time_limit is None:
        told["patience"] = PATIENT_SECONDS
    return replace(outcome, figures={**outcome.figures, **told})
