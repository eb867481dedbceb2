"""Generalization and suppression together, with a certified gap (ours).

Any antichain of the hierarchy may be published: what it does not cover is suppressed. With z_a = 1 for
a leaf that is published at all and z_p = 1 for an inner node at or above which its leaves are
published, this is the integer program of `search.cut_model` with columns for leaves. A rare set of
nodes v_1 .. v_j and a record that holds it by the leaves a_1 .. a_j give the clause

    some a_i is suppressed, or some a_i is published above v_i,

for otherwise the record publishes, for each i, a node between a_i and v_i, and these together are at
most as frequent as v_1 .. v_j. The clauses are found as they are needed:

1. `Search.seed`: the best result of the faster methods is the first incumbent.
2. `Search.relax`: solve the LP, read several antichains off its solution, ask the engine for the rare
   sets they would publish, lift them, find witnesses (`search.clauses`) and add the clauses that
   the solution breaks most. Antichains with few rare sets are repaired by leaving labels out
   (`greedy_hitting_set`), which gives incumbents. The bound is recomputed in integers.
3. `Search.step`: the same with the integer program, solved roughly at first, since early solutions only
   serve to find clauses. When an exactly solved one publishes nothing rare it is optimal; its bound is
   the solver's, to less than one unit of cost, until `search.cut_model.holds` has shown it in integers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ..engines.base import Engine, NodeSets, Violations
from ..errors import Infeasible, ResourceLimit
from ..hierarchy.tree import Counts, Ids
from ..model.costs import Cost
from ..model.guarantees import KmAnonymity
from ..progress import Watch
from ..registry import method
from ..search.clauses import as_clauses, clauses_of_witnesses, find_witnesses, lift
from ..search.cut_model import Chosen
from ..search.cuts import check_enough_records
from ..search.solver import SolverTrouble, Values
from . import Outcome, apriori, optimal, topdown
from .moles import hit_all
from .proof import ProvingSearch

PER_ROUND = 3000
"""How many rare sets are asked for in one round."""
FINER = 10
"""How many times more of the finest antichain."""
FEW = 100
"""Below this many new clauses in a round the finest antichain is asked."""
PATIENCE, SLOW = 5, 0.0005
"""The LP is left when its bound grew by less than this share for this many rounds."""
ROUNDINGS = ((0.3, 0.3), (0.4999, 0.4999), (0.7, 0.7))
FINEST = (0.999, 0.001)
"""Above which value an inner node counts as chosen, and a leaf."""
PER_SET = 3
"""How many witnesses of each give a clause."""
SEED_SECONDS, SEED_SHARE = 10.0, 0.5
"""How long `optimal` is asked for a start, in seconds and as a share of the time limit."""
ROUGH = 0.01
"""The gap, as a share of the incumbent's cost, at which an early round's program is left."""


def anonymize(engine: Engine, guarantee: KmAnonymity, *, cost: Cost, watch: Watch) -> Outcome:
    """Return the antichain of least cost that meets `guarantee`, or the best one found and a bound.

    Suppressing everything is always valid, so `Infeasible` only where there are fewer than k records. A
    time limit that passes before anything better is found raises `TimeLimit`.
    """
    method("trim").check_guarantee(guarantee)
    check_enough_records(engine, guarantee.k)
    return Search(engine, guarantee, cost, watch).run()


class Search(ProvingSearch):
    """The search for the cheapest antichain; in a choice what is published at or above it is 1."""

    best: Chosen
    best_cost: int

    def __init__(self, engine: Engine, guarantee: KmAnonymity, cost: Cost, watch: Watch) -> None:
        super().__init__(engine, guarantee, cost, watch, suppressing=True)
        hierarchy, counts = engine.hierarchy, engine.item_counts()
        whole_by_node = cost.whole_by_node(hierarchy, counts)
        self.loss_by_node = whole_by_node - cost.weight_by_node(hierarchy, counts)
        # To publish nothing is valid, and held until there is something better.
        super().offer(np.zeros(self.model.n_columns, dtype=bool))

    def run(self) -> Outcome:
        """Search until proven or out of time."""
        self.seed()
        try:
            self.relax()
            rough = True
            while not self.is_done():
                rough = self.step(rough=rough)
        except SolverTrouble:
            self.fail()
        if not self.best.any() and not self.is_proven:
            self.watch.check_deadline()
        return self.outcome()

    def is_done(self) -> bool:
        """Whether nothing better is to be found, or time is up."""
        return self.is_proven or self.settled or self.watch.expired

    def seed(self) -> None:
        """Take the best result of the fast methods as the first incumbent: trim never loses more."""
        short = min(SEED_SECONDS, SEED_SHARE * self.watch.remaining)
        starts: tuple[tuple[Callable[..., Outcome], Watch], ...] = (
            (apriori.anonymize, self.watch),
            (topdown.anonymize_rounds, self.watch),
            (partial(optimal.anonymize, seed=False), self.watch.within(short)),
        )
        for ask, watch in starts:
            self.watch.tick("trim: first valid release")
            try:
                outcome = ask(self.engine, self.guarantee, cost=self.cost, watch=watch)
            except (Infeasible, ResourceLimit):
                continue
            self.offer(self.model.chosen(outcome.recoding.cut()))

    def offer(self, chosen: Chosen) -> None:
        cost = self.model.exact_cost(chosen)
        if cost < self.best_cost or not self.best.any():
            self.best, self.best_cost = chosen, cost

    def repair(self, chosen: Chosen, found: Violations) -> None:
        """Leave out labels until nothing rare is published, and offer the rest."""
        if found.complete:
            hit = greedy_hitting_set(found.sets, self.loss_by_node)
            published = np.setdiff1d(self.model.published(chosen), hit).astype(np.int32)
            self.offer(self.model.chosen(published))

    def relax(self) -> None:
        """Raise the bound by the LP relaxation while that pays.

        Several antichains are read off each solution: plain roundings, and where they give too little,
        the finest one that keeps whatever may be kept and generalizes only what surely is. It is asked
        for many rare sets, of which the most broken clauses join.
        """
        slow = 0
        while not self.is_done() and slow < PATIENCE:
            relaxed = self.model.solve_relaxed(self.watch)
            if relaxed is None:
                return
            slow = slow + 1 if relaxed.bound < (1 + SLOW) * self.bound else 0
            self.certify(relaxed.bound)
            self.report("trim: raising the bound")
            values = relaxed.value_by_column
            added = 0
            for inner, leaf in ROUNDINGS:
                chosen = self.model.rounded(values, inner, leaf)
                added += self.separate(chosen, values, PER_ROUND)
            if added < FEW:
                chosen = self.model.rounded(values, *FINEST)
                added += self.separate(chosen, values, FINER * PER_ROUND)
            if not added:
                return

    def separate(self, chosen: Chosen, values: Values, limit: int) -> int:
        """Add the clauses of an antichain's rare sets that the point breaks most; return how many."""
        found = self.violations(chosen, limit)
        if not len(found):
            self.offer(chosen)
            return 0
        self.repair(chosen, found)
        plus, minus = self.clauses(found)
        return self.model.add(self.model.most_violated(plus, values, PER_ROUND, minus))

    def step(self, *, rough: bool) -> bool:
        """Solve, separate, repair; return whether the next round may be rough again."""
        self.rounds += 1
        values, bound = self.model.solve_integer(
            self.watch, self.best.astype(np.float64), gap=int(ROUGH * self.best_cost) if rough else 0
        )
        self.claim(bound)
        self.report("trim: closing the gap")
        if values is None or self.is_proven:
            return rough
        chosen = self.model.rounded(values, 0.5)
        found = self.violations(chosen, PER_ROUND)
        if not len(found):
            self.offer(chosen)
            if not rough:
                self.claim_optimal(chosen)
            return False
        if not self.model.add(as_clauses(*self.clauses(found))):
            raise SolverTrouble("its solution breaks rows that it knows")
        self.repair(chosen, found)
        return rough

    def clauses(self, found: Violations) -> tuple[NodeSets, NodeSets]:
        """Return the clauses of these rare sets, some witnesses of each."""
        lifted, _ = lift(self.engine, found.sets, self.guarantee.crowd)
        held, set_of_witness = find_witnesses(self.engine, found.sets, PER_SET)
        return clauses_of_witnesses(self.engine.hierarchy, lifted[set_of_witness], held)


def greedy_hitting_set(sets: NodeSets, loss_by_node: Counts) -> Ids:
    """Return nodes that hit every set, at a small total loss; ties go to the smaller node.

    Leaving a label out changes no other support, so all that matters is that every rare set loses one
    of its labels. The label that hits the most rare sets for its loss goes first; at the end, labels
    that are not needed after all come back, the dearest first.
    """
    price = loss_by_node.astype(np.float64) + 0.5
    taken = hit_all(sets, len(price), lambda hits, _: int(np.argmax(hits / price)))
    is_taken = np.zeros(len(loss_by_node), dtype=bool)
    is_taken[taken] = True
    hit_count = np.where(sets >= 0, is_taken[sets], False).sum(axis=1)
    for node in sorted(taken, key=lambda node: (-int(loss_by_node[node]), node)):
        own = (sets == node).any(axis=1)
        if (hit_count[own] > 1).all():
            hit_count[own] -= 1
            is_taken[node] = False
    return np.flatnonzero(is_taken).astype(np.int32)
