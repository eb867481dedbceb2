"""Proofs with weights of six digits before and after the point, against brute force.

Rows are told many times over, and k with them, so that sums of costs leave what a float holds: the
cuts that keep the promise stay the same, and every cost is as many times larger.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from setveil.engines.local import LocalEngine
from setveil.errors import Infeasible
from setveil.hierarchy.tree import Hierarchy
from setveil.methods import optimal, trim
from setveil.methods.proof import ROUNDED
from setveil.model.costs import Cost, make_cost
from setveil.model.guarantees import KmAnonymity
from setveil.model.transactions import Transactions, bind
from setveil.progress import Watch
from setveil.search import cut_model
from tests.oracle.optima import as_published, cost_of, is_valid, least_cost
from tests.oracle.worlds import World, random_world

CASES_A_BLOCK = 40
TIMES = 2_000
METHODS = {"optimal": optimal, "trim": trim}


def fine_weight(random: Random) -> Fraction:
    """Return a weight with digits before and after the point, near 0, near a million or between."""
    largest = 10**12 - 1
    spread = (
        random.randint(1, largest),
        round(10 ** random.uniform(0, 11.9)),
        random.choice([1, 999_999, 999_999_000_001, largest]),
    )
    return Fraction(random.choice(spread), 10**6)


def weighted_world(seed: int) -> tuple[World, Hierarchy, Cost, KmAnonymity]:
    random = Random(seed)
    world = random_world(seed, most_labels=6, most_rows=10, roots=1 + seed % 2)
    hierarchy, _ = bind(world.transactions, world.hierarchy)
    weights = {label: fine_weight(random) for label in hierarchy.labels[: hierarchy.n_leaves]}
    cost = make_cost(random.choice(["ncp", "lm"]), hierarchy, weights=weights)
    return world, hierarchy, cost, KmAnonymity(random.randint(2, 3), random.randint(1, 3))


@pytest.mark.parametrize("block", range(8))
@pytest.mark.parametrize("key", METHODS)
def test_costs_beyond_floats_keep_a_proof(key: str, block: int) -> None:
    rounded = proven = 0
    for seed in range(block * CASES_A_BLOCK, (block + 1) * CASES_A_BLOCK):
        world, tree, cost, promise = weighted_world(seed)
        if len(world.rows) < promise.k:
            continue
        best = least_cost(world, tree, cost, promise, suppressing=key == "trim")
        told = Transactions.from_rows([row for row in world.rows for _ in range(TIMES)])
        _, rows = bind(told, tree)
        engine = LocalEngine(tree, rows, threads=1)
        larger = KmAnonymity(TIMES * (promise.k - 1) + 1, promise.m)
        try:
            outcome = METHODS[key].anonymize(engine, larger, cost=cost, watch=Watch())
        except Infeasible:
            assert best is None
            continue
        published, objective = as_published(outcome.recoding), outcome.objective
        assert best is not None
        assert is_valid(published, world, promise)
        assert objective is not None and objective.bound is not None
        assert objective.cost == TIMES * cost_of(published, tree, cost, world)
        assert objective.bound <= TIMES * best <= objective.cost
        # What is not proven to the unit is short by less than the rounding of all columns.
        assert objective.cost - objective.bound <= cost.whole(engine.item_counts()) // 10**12
        assert outcome.complete
        model = cut_model.CutModel(tree, cost, engine.item_counts(), suppressing=key == "trim")
        if model.rounded_costs:
            rounded += 1
            proven += objective.proven
            assert objective.proven or ROUNDED in outcome.notices
        else:
            assert objective.proven
    assert rounded >= CASES_A_BLOCK / 4
    assert proven >= 0.9 * rounded


@pytest.mark.parametrize("key", METHODS)
def test_the_integer_program_on_rounded_costs(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Costs are rounded to very few bits and the LP is left out: the bound stays true, and near."""
    monkeypatch.setattr(cut_model, "LARGEST_EXACT", 2**8)
    monkeypatch.setattr(METHODS[key].Search, "relax", lambda self: None)
    missed = 0
    for seed in range(200):
        world, tree, cost, promise = weighted_world(seed)
        best = least_cost(world, tree, cost, promise, suppressing=key == "trim")
        if best is None or len(world.rows) < promise.k:
            continue
        _, rows = bind(world.transactions, tree)
        engine = LocalEngine(tree, rows, threads=1)
        outcome = METHODS[key].anonymize(engine, promise, cost=cost, watch=Watch())
        objective = outcome.objective
        assert objective is not None and objective.bound is not None
        assert objective.bound <= best <= objective.cost
        model = cut_model.CutModel(tree, cost, engine.item_counts(), suppressing=key == "trim")
        unit = -(-sum(abs(one) for one in model.coefficients) // 2**7)
        assert objective.cost - objective.bound <= unit * model.n_columns
        missed += not objective.proven
    assert missed
