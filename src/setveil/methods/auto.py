"""The default: the best method of ours for the case, and why (`choose`).

Generalization and suppression together (`trim`) lose least; where suppression is not wanted, `optimal`
does. Both prove their results and can take long to close the last of the gap, so without a time limit
they get `PATIENT_SECONDS`; with one that the estimate exceeds, `aa` is asked instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ..engines.base import Engine
from ..errors import UsageError
from ..model.costs import Cost
from ..model.guarantees import Guarantee, KmAnonymity
from ..progress import Watch
from . import apriori, optimal, trim
from .outcome import Outcome

PATIENT_SECONDS = 120.0
"""How long a proof is waited for where no time limit is given."""
SECONDS_PER_OCCURRENCE = 6e-6
"""About what the exact methods took on the data of the benchmarks; it doubles with each m above 3."""
METHODS: dict[str, Callable[..., Outcome]] = {
    "aa": apriori.anonymize,
    "optimal": optimal.anonymize,
    "trim": trim.anonymize,
}


@dataclass(frozen=True)
class Choice:
    """A method's key and the reason it was taken."""

    key: str
    why: str


def choose(engine: Engine, guarantee: KmAnonymity, *, suppression: bool, remaining: float) -> Choice:
    """Return the method for the case; `remaining` is the time limit in seconds, or infinity."""
    can_generalize = len(engine.hierarchy) > engine.hierarchy.n_leaves
    estimate = SECONDS_PER_OCCURRENCE * int(engine.item_counts().sum()) * 2 ** max(0, guarantee.m - 3)
    if can_generalize and estimate > remaining:
        why = f"an exact search may take {estimate:.0f} s, more than the time limit"
        return Choice("aa", why)
    if suppression and not can_generalize:
        return Choice("trim", "there is no hierarchy, so rare items can only be left out")
    if suppression:
        return Choice("trim", "leaving a little out keeps more than generalizing alone")
    return Choice("optimal", "suppression was not wanted")


def anonymize(
    engine: Engine,
    guarantee: Guarantee,
    *,
    cost: Cost,
    watch: Watch,
    suppression: bool = True,
) -> Outcome:
    """Return what the chosen method returns; ``figures["chosen"]`` and ``["why"]`` say which."""
    if not isinstance(guarantee, KmAnonymity) or guarantee.negative:
        raise UsageError("auto chooses among the methods for k^m-anonymity.", "Name a method.")
    choice = choose(engine, guarantee, suppression=suppression, remaining=watch.remaining)
    if watch.time_limit is None:
        watch = Watch(watch.listener, PATIENT_SECONDS, stop=watch.stop)
    outcome = METHODS[choice.key](engine, guarantee, cost=cost, watch=watch)
    told = {"chosen": choice.key, "why": choice.why}
    return replace(outcome, figures={**outcome.figures, **told})
