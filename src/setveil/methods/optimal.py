"""Provably optimal generalization at full scale (ours).

The cuts of a hierarchy under k^m-anonymity are the solutions of a hitting-set problem with precedence:
see `search.clauses` and `search.cut_model`, and docs/methods/optimal.md for the proofs. The clauses are
found as they are needed:

1. `Search.seed`: a heuristic cut (aa) is the first incumbent, so that there is always a valid result.
2. `Search.relax`: solve the LP and round its solution to a coarse cut (what is at least half
   generalized), then to a fine one (what surely is); ask the engine for the rare itemsets they would
   publish, lift them (`search.clauses.lift`), add the clauses that the solution breaks most; until the
   bound stands still. The bound is recomputed in integers.
3. `Search.settle`: the same with the integer program, until its cut publishes nothing rare. Its exact
   cost then equals the bound, which here is the solver's, to less than one unit of cost, until
   `search.cut_model.holds` has shown it in integers. Programs are dear, so `Search.look_ahead` adds
   clauses that only the next solution would break.

At any time there is a lower bound on the loss, and from the seed on a valid cut; a time limit returns
both, and so does trouble in the solver. Clauses are kept with the support and size of their sets
(`ClausePool`): one holds for every larger k and m, so that a sweep is nearly free after its first
point.

Negative knowledge and l^m-diversity are not monotone; their clauses are weaker and stay exact.
"""

from __future__ import annotations

import numpy as np

from ..engines.base import Engine, NodeSets, Violations
from ..errors import Infeasible, ResourceLimit, TimeLimit
from ..hierarchy.tree import Counts, Hierarchy
from ..model.costs import Cost
from ..model.guarantees import KmAnonymity, LmDiversity
from ..progress import Watch
from ..registry import method
from ..search.clauses import (
    Clause,
    as_clauses,
    clause_of_exact,
    clauses_of_signed,
    lift,
    lowest_parents,
)
from ..search.cut_model import Chosen
from ..search.cuts import check_enough_records
from ..search.solver import NothingFits, SolverTrouble
from . import Outcome, apriori
from .proof import ProvingSearch

FEWEST_PER_ROUND, PER_COLUMN = 3000, 10
"""How many violations are asked for in one round: at least, and for each column of the model."""
PATIENCE = 3
"""Rounds without progress of the LP bound before the integer program takes over."""
FEWEST_JOINING, JOINING_PER_COLUMN = 500, 3
"""How many of their clauses join the LP in one round: the most broken ones."""
FINER = 10
"""How many times more are asked of a fine cut, of which the most useful are kept."""
FURTHER = 4
"""The same of the cut below two solutions of the integer program."""
HALF, SURE = 0.4999, 0.999
"""Where an LP value counts as 1: just below one half, for halves are frequent; and nearly 1."""
SIGNED_PER_ROUND = 200
"""Clauses of negative knowledge are dear to make, so they are asked for in small portions."""


class ClausePool:
    """Clauses found so far on one data set and hierarchy, with the support and size of their sets."""

    def __init__(self) -> None:
        self._found: list[tuple[NodeSets, Counts, Counts]] = []

    def remember(self, hierarchy: Hierarchy, sets: NodeSets, support: Counts) -> NodeSets:
        """Keep the clauses of rare sets for later questions, and return them."""
        plus = lowest_parents(hierarchy, sets)
        distinct, first = np.unique(plus, axis=0, return_index=True)
        self._found.append((distinct, support[first], (sets[first] >= 0).sum(axis=1)))
        return distinct

    def clauses(self, k: int, m: int) -> NodeSets:
        """Return the clauses, as lines of `plus`, whose sets of at most `m` are in fewer than `k`."""
        lines: list[NodeSets] = [np.empty((0, m), dtype=np.int32)]
        for plus, support, size in self._found:
            part = plus[(support < k) & (size <= m)][:, :m]
            wide = np.full((len(part), m), -1, dtype=np.int32)
            wide[:, : part.shape[1]] = part
            lines.append(wide)
        return np.concatenate(lines)


def anonymize(
    engine: Engine,
    guarantee: KmAnonymity | LmDiversity,
    *,
    cost: Cost,
    watch: Watch,
    pool: ClausePool | None = None,
    seed: bool = True,
) -> Outcome:
    """Return a cut of least cost among all cuts that meet `guarantee`, with its proof.

    With a time limit, the best cut found and the bound reached; `TimeLimit` where there is no valid cut
    yet. `Infeasible` only where no cut meets the guarantee. A `pool` shares what is found between
    calls on the same data; without `seed` no heuristic is asked for a first cut.
    """
    method("optimal").check_guarantee(guarantee)
    check_enough_records(engine, guarantee.crowd)
    search = Search(engine, guarantee, cost, watch, pool or ClausePool())
    return search.run(seed=seed)


class Search(ProvingSearch):
    """The search for the cheapest cut; in a choice the generalized inner nodes are 1."""

    def __init__(
        self,
        engine: Engine,
        guarantee: KmAnonymity | LmDiversity,
        cost: Cost,
        watch: Watch,
        pool: ClausePool,
    ) -> None:
        super().__init__(engine, guarantee, cost, watch)
        self.pool = pool
        self.monotone = guarantee.monotone
        self.per_round = max(FEWEST_PER_ROUND, PER_COLUMN * self.model.n_columns)
        if guarantee.signed:
            self.per_round = SIGNED_PER_ROUND
        self.joining = max(FEWEST_JOINING, JOINING_PER_COLUMN * self.model.n_columns)
        self.last: Chosen | None = None
        self.kept = pool.clauses(guarantee.crowd, guarantee.m)

    def run(self, *, seed: bool) -> Outcome:
        """Search until proven or out of time; `seed` asks a heuristic for a first incumbent."""
        if self.monotone and seed:
            self.seed()
        try:
            if self.monotone:
                self.relax()
            self.settle()
        except SolverTrouble as trouble:
            self.fall_back(trouble)
        if self.best is None:
            self.watch.check_deadline()
            raise TimeLimit("no valid cut was found in time.", "Raise the time limit.")
        return self.outcome()

    def fall_back(self, trouble: SolverTrouble) -> None:
        """Go on without the solver: a heuristic's cut, or the topmost labels, where nothing is held."""
        self.fail()
        if self.best is not None:
            return
        if self.monotone:
            self.seed()
            return
        topmost = np.ones(self.model.n_columns, dtype=np.bool_)
        if not len(self.violations(topmost, 1)):
            self.offer(topmost)
        elif isinstance(trouble, NothingFits):
            raise Infeasible(
                "no cut of the hierarchy meets the guarantee.",
                "Lower k, l or m, or use a method that suppresses.",
            ) from trouble
        else:
            raise ResourceLimit(
                f"the solver failed before a valid cut was found: {trouble}.",
                "Use another cost or coarser weights, or ask for less.",
                code="solver-failed",
            ) from trouble

    def seed(self) -> None:
        """Take the cut of a fast heuristic as the first incumbent."""
        self.watch.tick("optimal: first valid cut")
        assert isinstance(self.guarantee, KmAnonymity)
        try:
            outcome = apriori.anonymize(self.engine, self.guarantee, cost=self.cost, watch=self.watch)
        except TimeLimit:
            return
        self.offer(self.model.chosen(outcome.recoding.cut()))

    def relax(self) -> None:
        """Raise the bound by the LP relaxation until it stands still.

        Two cuts are read off each solution. What is at least half generalized gives a coarse cut,
        whose rare itemsets break the solution deeply. Where it gives nothing new, the fine cut of what
        is surely generalized is asked for many more, of which the most broken join.
        """
        still = 0
        while not self.is_proven and still < PATIENCE and not self.watch.expired:
            relaxed = self.model.solve_relaxed(self.watch)
            if relaxed is None:
                return
            still = 0 if relaxed.bound > self.bound else still + 1
            self.certify(relaxed.bound)
            self.report("optimal: raising the bound")
            values = relaxed.value_by_column
            if self.model.add(self.model.most_violated(self.kept, values, self.joining)):
                continue
            for threshold, limit in ((HALF, self.per_round), (SURE, FINER * self.per_round)):
                generalized = self.model.rounded(values, threshold)
                found = self.violations(generalized, limit)
                if not len(found):
                    self.offer(generalized)
                    continue
                plus = self.lifted(found)
                if self.model.add(self.model.most_violated(plus, values, self.joining)):
                    break
            else:
                return

    def settle(self) -> None:
        """Close the gap by the integer program."""
        while not self.is_proven and not self.watch.expired:
            start = None if self.best is None else self.best.astype(np.float64)
            values, bound = self.model.solve_integer(self.watch, start)
            self.claim(bound)
            self.report("optimal: closing the gap")
            if values is None or self.is_proven:
                return
            if self.model.add(self.model.most_violated(self.kept, values, self.joining)):
                continue
            generalized = self.model.rounded(values, HALF)
            found = self.violations(generalized, self.per_round)
            if not len(found):
                self.offer(generalized)
                self.claim_optimal(generalized)
                return
            if not self.model.add(self.clauses_against(found)):
                raise SolverTrouble("its solution breaks rows that it knows")
            if self.monotone:
                self.look_ahead(generalized)
                self.last = generalized

    def look_ahead(self, generalized: Chosen) -> None:
        """Add clauses that this solution meets by one label only, and others will break.

        Solutions that follow each other take turns in what they leave open, and integer programs are
        dear. So the cut below both this and the last one is asked too.
        """
        if self.last is None:
            return
        found = self.violations(generalized & self.last, FURTHER * self.per_round)
        if len(found):
            values = generalized.astype(np.float64)
            plus = self.lifted(found)
            self.model.add(self.model.most_violated(plus, values, self.joining, below=1.5))

    def violations(self, chosen: Chosen, limit: int) -> Violations:
        self.rounds += 1
        return super().violations(chosen, limit)

    def clauses_against(self, found: Violations) -> list[Clause]:
        """Return clauses that a cut with these violations breaks."""
        hierarchy = self.engine.hierarchy
        if self.guarantee.secret_labels:
            return [clause_of_exact(hierarchy, nodes.tolist()) for nodes in found.sets]
        if found.absent is not None:
            return clauses_of_signed(self.engine, found, self.guarantee.crowd)
        return as_clauses(self.lifted(found))

    def lifted(self, found: Violations) -> NodeSets:
        """Return the clauses of the rare sets, lifted, and keep them for other questions."""
        sets, support = lift(self.engine, found.sets, self.guarantee.crowd)
        return self.pool.remember(self.engine.hierarchy, sets, support)
