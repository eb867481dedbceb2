"""Hide emerging patterns: two data sets recoded until neither has anything far more often.

M. W.-K. Cheng, *Hiding emerging pattern with local recoding generalization*: rows of a pattern are
recoded together with rows of the other data set, so that both look alike, at the least distortion of
the frequent itemsets; in rounds, until mining what would be published finds no pattern. "greedy" and
"annealed" are the paper's searches. "grouped" is setveil's own: it hides whole groups of patterns,
gives values back at the end, and keeps the best of that, of greedy and of a run with least distortion
first.

Differences from the paper, with the reasons in docs/methods/hide-patterns.md:

- A pattern counts from a minimum support on, and both directions are hidden.
- The frequent itemsets that a move is judged by are those of the original data, in every round.
- Growth is taken in the worse direction, and a set too rare to be a pattern has none. So a move that
  turns a pattern round gains nothing.
- Jumping patterns fewer come first, then the weighted gain; annealing draws among the moves that are
  best in the first.
- Sets of items have no attributes: a row is like a pattern through its nearest values. Where no row is,
  the pattern's own values are raised to what they have in common.
- A time limit that passes hides the rest in the shortest way, by going to the top.

The parts: `work` holds what is to be hidden and finds the patterns left, `state` keeps what every row
is published as and the moves there are, `scoring` what each would change, `searches` choose among them,
one by one or for whole groups.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import NamedTuple

from ...errors import TimeLimit, UsageError
from ...model.guarantees import HiddenPatterns
from ...model.pattern_pair import PatternPair
from ...progress import Watch
from .. import PairOutcome
from .searches import (
    ByCare,
    ByChance,
    ByGain,
    Guarded,
    Ranking,
    give_back,
    hide_in_groups,
    hide_one_by_one,
)
from .state import Saved
from .work import Loss, PatternWork

SEARCHES = ("grouped", "greedy", "annealed")
UNGUARDED = "too many to be looked after"
CARE = 0.2
"""For the careful run of "grouped" a lost itemset weighs four times a distorted one."""


class Annealing(NamedTuple):
    """It starts at `temperature`, of which a round leaves `cooling`; of `restarts` the best is kept."""

    temperature: float = 10.0
    cooling: float = 0.4
    restarts: int = 5
    seed: int = 0


def anonymize(
    pair: PatternPair,
    guarantee: HiddenPatterns,
    *,
    frequent_support: float = 0.4,
    search: str = "grouped",
    theta_p: float = 0.4,
    theta_q: float = 0.8,
    multilevel: bool = False,
    guard: bool | None = None,
    watch: Watch | None = None,
    threads: int | None = None,
    **annealing: float,
) -> PairOutcome:
    """Return a recoding of both data sets under which no pattern is left.

    `frequent_support` is the share of all records that makes an itemset frequent, sigma; with
    `multilevel` itemsets of all levels of the hierarchy are kept, not only those of values.
    `theta_p` weighs falling growth against distortion, `theta_q` itemsets that are distorted
    against those that are lost. `annealing` is told by the fields of `Annealing`. `guard` looks
    after what is too rare to be a pattern: of good moves those that leave fewest jumping sets just
    below the minimum support, from half of it on; with "grouped" alone if not given. The result
    does not depend on `threads`.
    """
    for name, weight in (("theta_p", theta_p), ("theta_q", theta_q)):
        if not 0 <= weight <= 1:
            raise UsageError(f"{name}={weight} is out of range.", "Allowed: 0 to 1.", code="bad-option")
    heat = Annealing(**annealing)  # type: ignore[arg-type]
    if not heat.temperature > 0 or not 0 <= heat.cooling <= 1:
        raise UsageError(
            "the temperature must be above 0, the cooling from 0 to 1.",
            "The paper takes 10 and 0.4.",
            code="bad-option",
        )
    if search not in SEARCHES:
        raise UsageError(f"unknown search {search[:40]!r}.", f"Known: {', '.join(SEARCHES)}.")
    own = search == "grouped"
    work = PatternWork(
        pair,
        guarantee,
        frequent_support=frequent_support,
        multilevel=multilevel,
        guard=own if guard is None else guard,
        watch=watch or Watch(),
        threads=threads,
    )
    attempts = _Attempts(work, {"annealed": heat.restarts, "grouped": 3}.get(search, 1))
    if search == "annealed":
        for start in range(heat.restarts):
            # A text: the runs of two seeds have nothing in common.
            chance = Random(f"{heat.seed}/{start}")
            chosen = ByChance(theta_p, theta_q, heat.temperature, heat.cooling, chance)
            attempts.add(partial(hide_one_by_one, work, Guarded(chosen)))
        return attempts.outcome()
    gainful: Ranking = ByGain(theta_p, theta_q)
    # The first run of "grouped" is the paper's, guarded or not: quick, and nothing is worse than it.
    attempts.add(partial(hide_one_by_one, work, gainful if own else Guarded(gainful)), give=own)
    if own:
        attempts.add(partial(hide_one_by_one, work, Guarded(ByCare(CARE))), give=True)
        attempts.add(partial(hide_in_groups, work), give=True)
    return attempts.outcome()


class _Attempts:
    """The results of several runs on the same data; the best is kept."""

    def __init__(self, work: PatternWork, runs: int) -> None:
        self.work = work
        self.runs, self.run = runs, 0
        self.start = work.state.saved
        self.best: tuple[Loss, int, Saved] | None = None
        self.complete = True
        self.given = 0
        self.asked_to_guard = work.guard

    def add(self, run: Callable[[], int], *, give: bool = False) -> None:
        """Run a search, with what it raised in vain given back, and put the data back for the next.

        Nothing is run once the time is up, or where there is nothing to hide.
        """
        work = self.work
        if not self.complete or (self.best is not None and not self.best[1]):
            return
        self.run += 1
        work.told = f", run {self.run} of {self.runs}" if self.runs > 1 else ""
        try:
            rounds = run()
        except TimeLimit:
            self.complete, rounds = False, 0
            if self.best is not None:
                return
            work.finish()
        given, all_tried = give_back(work) if give else (0, True)
        self.complete = self.complete and all_tried
        found = work.loss()
        if self.best is None or found < self.best[0]:
            self.best, self.given = (found, rounds, work.state.saved), given
        work.state.go_back(self.start)

    def outcome(self) -> PairOutcome:
        assert self.best is not None
        loss, rounds, nodes = self.best
        self.work.state.go_back(nodes)
        figures: dict[str, int | float | str] = {}
        if (first := self.work.first) is not None:
            figures["patterns before"] = len(first)
            figures["jumping before"] = int((first.counts == 0).any(axis=1).sum())
            if self.work.miner.only_closed:
                figures["patterns looked at"] = "small ones of the closed sets"
            if len(first) and self.asked_to_guard and not self.work.guard:
                figures["rarer sets"] = UNGUARDED
        figures |= {
            "frequent itemsets": len(self.work.frequent),
            "itemsets lost": loss[0],
            "distortion": str(loss[1]),
            "rounds": rounds,
        }
        if self.given:
            figures["groups given back"] = self.given
        return PairOutcome(self.work.state.recoding(), figures, self.complete)
