"""Provably optimal generalization at full scale (ours).

The cuts of a hierarchy under k^m-anonymity are the solutions of a hitting-set problem with precedence:
see `search.clauses` and `search.cut_model`, and docs/methods/optimal.md for the proofs. The clauses are
found as they are needed:

1. `Search.seed`: a heuristic cut (aa) is the first incumbent, so that there is always a valid result.
2. `Search.relax`: solve the LP, read off the cut of what is surely generalized, ask the engine for
   the rare itemsets it would publish, lift them (`search.lifting`), add their clauses; until the
   bound stands still.
3. `Search.settle`: the same with the integer program, until its cut publishes nothing rare. Its exact
   cost then equals the bound: it is optimal.

At any time the bound is a certified lower bound on the loss and the incumbent a valid cut; a time
limit returns both. Clauses are kept with their support and size (`ClausePool`): a rare set forbids the same
cuts for every larger k and m, so that a sweep is nearly free after its first point.

Negative knowledge and l^m-diversity are not monotone; their clauses are weaker and stay exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..engines.base import Engine, Violations
from ..errors import Infeasible, SetveilError, TimeLimit, UsageError
from ..model.costs import Cost
from ..model.guarantees import Guarantee, KAnonymity, KmAnonymity, LmDiversity
from ..progress import Watch
from ..release.recoding import Recoding
from ..search.clauses import Clause, clause_of_exact, clause_of_rare
from ..search.cut_model import CutModel
from ..search.lifting import lift
from ..search.signed_clauses import clauses_of_signed
from .outcome import Objective, Outcome

FEWEST_PER_ROUND, PER_COLUMN = 3000, 10
"""How many violations are asked for in one round: at least, and for each column of the model."""
PATIENCE = 3
"""Rounds without progress of the LP bound before the integer program takes over."""
HALF, SURE = 0.4999, 0.999

Ids = NDArray[np.int32]


@dataclass
class ClausePool:
    """Rare sets found so far on one data set and hierarchy, with their supports."""

    support_by_set: dict[tuple[int, ...], int] = field(default_factory=dict)

    def remember(self, nodes: tuple[int, ...], support: int) -> None:
        """Keep a rare set for later questions."""
        self.support_by_set[nodes] = support

    def valid_for(self, guarantee: KmAnonymity) -> list[tuple[int, ...]]:
        """Return the kept sets that are rare under `guarantee` too."""
        return [
            nodes
            for nodes, support in self.support_by_set.items()
            if support < guarantee.k and len(nodes) <= guarantee.m
        ]


def anonymize(
    engine: Engine,
    guarantee: Guarantee,
    *,
    cost: Cost,
    watch: Watch,
    pool: ClausePool | None = None,
) -> Outcome:
    """Return a cut of least cost among all cuts that meet `guarantee`, with its proof.

    With a time limit, the best cut found and the bound reached; `TimeLimit` where there is no valid cut
    yet. `Infeasible` only where no cut meets the guarantee.
    """
    if isinstance(guarantee, KAnonymity):
        raise UsageError("optimal works on itemsets, not whole records.", "Use method partition.")
    if isinstance(guarantee, KmAnonymity) and engine.n_records < guarantee.k:
        raise Infeasible(f"k={guarantee.k} is more than the number of records.", "Lower k.")
    search = Search(engine, guarantee, cost, watch, pool or ClausePool())
    return search.run()


class Search:
    """One search for the optimum: the model, the incumbent and the bound."""

    def __init__(
        self, engine: Engine, guarantee: Guarantee, cost: Cost, watch: Watch, pool: ClausePool
    ) -> None:
        self.engine = engine
        self.guarantee = guarantee
        self.cost = cost
        self.watch = watch
        self.pool = pool
        self.model = CutModel(engine.hierarchy, cost, engine.item_counts())
        self.monotone = isinstance(guarantee, KmAnonymity) and not guarantee.negative
        # Wide clauses of negative knowledge are dear to make, so they are asked for in small portions.
        signed = isinstance(guarantee, KmAnonymity) and guarantee.negative
        self.per_round = 200 if signed else max(FEWEST_PER_ROUND, PER_COLUMN * self.model.n_columns)
        self.bound = 0
        self.best: NDArray[np.bool_] | None = None
        self.best_cost: int | None = None
        self.rounds = 0

    def run(self) -> Outcome:
        """Search until proven or out of time."""
        if isinstance(self.guarantee, KmAnonymity):
            hierarchy = self.engine.hierarchy
            kept = self.pool.valid_for(self.guarantee)
            self.model.add([clause_of_rare(hierarchy, nodes) for nodes in kept])
        if self.monotone:
            self.seed()
            self.relax()
        self.settle()
        if self.best is None or self.best_cost is None:
            self.watch.check_deadline()
            raise TimeLimit("no valid cut was found in time.", "Raise the time limit.")
        figures = {"rounds": self.rounds, "clauses": len(self.model.clauses)}
        recoding = Recoding.from_node_of_leaf(self.engine.hierarchy, self.model.node_of_leaf(self.best))
        objective = Objective(self.cost.name, self.best_cost, min(self.bound, self.best_cost))
        return Outcome(recoding, objective, figures, complete=objective.proven)

    @property
    def proven(self) -> bool:
        """Whether the incumbent costs no more than the bound."""
        return self.best_cost is not None and self.best_cost <= self.bound

    def seed(self) -> None:
        """Take the cut of a fast heuristic as the first incumbent."""
        from . import apriori

        self.watch.tick("optimal: first valid cut")
        try:
            outcome = apriori.anonymize(self.engine, self.guarantee, cost=self.cost, watch=self.watch)
        except TimeLimit:
            return
        self.offer(self.model.generalized(outcome.recoding.node_of_leaf()))

    def offer(self, generalized: NDArray[np.bool_]) -> None:
        """Make a valid cut the incumbent if it is the cheapest so far."""
        cost = self.model.exact_cost(generalized)
        if self.best_cost is None or cost < self.best_cost:
            self.best, self.best_cost = generalized, cost

    def relax(self) -> None:
        """Raise the bound by the LP relaxation until it stands still.

        Two cuts are read off each solution. What is at least half generalized gives a coarse cut,
        whose rare itemsets break the solution deeply; where it gives nothing new, the fine cut of what
        is surely generalized is asked, then with a higher limit.
        """
        still = 0
        limit = self.per_round
        while not self.proven and still < PATIENCE and not self.watch.expired:
            relaxed = self.model.solve_relaxed()
            still = still + 1 if relaxed.bound <= self.bound else 0
            self.bound = max(self.bound, relaxed.bound)
            self.report("optimal: raising the bound")
            values = relaxed.value_by_column
            added = 0
            for threshold in (HALF, SURE):
                generalized = self.model.rounded(values, threshold)
                clauses, complete = self.clauses_against(generalized, limit)
                if not clauses:
                    self.offer(generalized)
                    continue
                added += self.model.add(self.model.violated(clauses, values))
                if added:
                    break
            if self.proven:
                return
            if not added:
                if complete:
                    return
                limit *= 4

    def settle(self) -> None:
        """Close the gap by the integer program."""
        while not self.proven and not self.watch.expired:
            start = None if self.best is None else self.best.astype(np.float64)
            values, bound = self.model.solve_integer(self.watch, start)
            self.bound = max(self.bound, bound)
            self.report("optimal: closing the gap")
            if values is None or self.proven:
                return
            generalized = self.model.rounded(values, HALF)
            clauses, _ = self.clauses_against(generalized, self.per_round)
            if not clauses:
                self.offer(generalized)
                # The solver's absolute gap is below one and costs are integers.
                self.bound = max(self.bound, self.model.exact_cost(generalized))
            elif not self.model.add(clauses):
                raise SetveilError("the search repeats itself.")

    def clauses_against(self, generalized: NDArray[np.bool_], limit: int) -> tuple[list[Clause], bool]:
        """Return clauses that this cut breaks (none if it is valid), and if these are all."""
        self.rounds += 1
        hierarchy = self.engine.hierarchy
        recoding = Recoding.from_node_of_leaf(hierarchy, self.model.node_of_leaf(generalized))
        found = self.engine.violations(recoding, self.guarantee, limit=limit)
        if isinstance(self.guarantee, LmDiversity):
            clauses = [clause_of_exact(hierarchy, nodes.tolist()) for nodes in found.sets]
        elif found.absent is not None:
            clauses = clauses_of_signed(self.engine, found, self.guarantee.k)
        else:
            clauses = self.lifted(found)
        return clauses, found.complete

    def lifted(self, found: Violations) -> list[Clause]:
        """Return the clauses of the lifted sets, and keep the sets for other questions."""
        assert isinstance(self.guarantee, KmAnonymity)
        sets, support = lift(self.engine, found.sets, self.guarantee.k)
        clauses: dict[Clause, None] = {}
        for line, records in zip(sets.tolist(), support.tolist(), strict=True):
            nodes = tuple(node for node in line if node >= 0)
            self.pool.remember(nodes, records)
            clauses[clause_of_rare(self.engine.hierarchy, nodes)] = None
        return list(clauses)

    def report(self, stage: str) -> None:
        """Tell how far the bound has come towards the incumbent."""
        share = None if not self.best_cost else min(1.0, self.bound / self.best_cost)
        self.watch.tick(stage, share)
