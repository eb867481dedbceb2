"""`optimal` against brute force over all cuts, and against the optima known for real data."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from setveil.engines.local import LocalEngine
from setveil.errors import Cancelled, Infeasible, UsageError
from setveil.hierarchy.tree import Hierarchy
from setveil.methods import optimal
from setveil.model.costs import Cost, make_cost
from setveil.model.guarantees import Guarantee, KAnonymity, KmAnonymity, LmDiversity
from setveil.model.transactions import bind
from setveil.progress import Watch
from tests.oracle.loopback import LoopbackEngine
from tests.oracle.worlds import World, all_cuts, generalize, is_diverse, is_km, random_world

CASES_A_BLOCK = 100


def cost_of_cut(cut: dict[str, str], hierarchy: Hierarchy, cost: Cost, world: World) -> int:
    node = hierarchy.node_of_label
    return sum(
        int(cost.importance_by_leaf[node[label]]) * int(cost.unit_by_node[node[cut[label]]])
        for row in world.rows
        for label in set(row)
    )


def best_by_brute_force(
    world: World, hierarchy: Hierarchy, cost: Cost, guarantee: Guarantee
) -> int | None:
    best: int | None = None
    for cut in all_cuts(hierarchy):
        rows = generalize(world.rows, cut)
        if isinstance(guarantee, LmDiversity):
            good = is_diverse(rows, guarantee.l, guarantee.m, set(guarantee.sensitive))
        else:
            assert isinstance(guarantee, KmAnonymity)
            good = is_km(rows, guarantee.k, guarantee.m, negative=guarantee.negative)
        if good:
            value = cost_of_cut(cut, hierarchy, cost, world)
            best = value if best is None else min(best, value)
    return best


def check(world: World, guarantee: Guarantee, *, cost_name: str = "ncp", weights: bool = False) -> None:
    restricted, rows = bind(world.transactions, world.hierarchy)
    random = Random(len(world.rows))
    given = {label: random.randint(0, 5) for label in restricted.labels[:3]} if weights else None
    cost = make_cost(cost_name, restricted, weights=given)
    best = best_by_brute_force(world, restricted, cost, guarantee)
    engine = LocalEngine(restricted, rows, threads=1)
    try:
        outcome = optimal.anonymize(engine, guarantee, cost=cost, watch=Watch())
    except Infeasible:
        assert best is None
        return
    assert best is not None
    assert outcome.objective is not None
    assert outcome.objective.proven
    assert outcome.objective.cost == best
    cut = {
        restricted.labels[leaf]: restricted.labels[node]
        for leaf, node in enumerate(outcome.recoding.node_of_leaf().tolist())
    }
    assert cost_of_cut(cut, restricted, cost, world) == best


@pytest.mark.parametrize("block", range(20))
def test_equals_brute_force(block: int) -> None:
    for seed in range(block * CASES_A_BLOCK, (block + 1) * CASES_A_BLOCK):
        random = Random(seed)
        world = random_world(seed, roots=1 + (seed % 5 == 0), empty=seed % 3 == 0)
        guarantee = KmAnonymity(random.randint(2, 4), random.randint(1, 4))
        check(world, guarantee, cost_name=random.choice(["ncp", "lm"]), weights=seed % 4 == 0)


@pytest.mark.parametrize("block", range(6))
def test_equals_brute_force_with_negative_knowledge(block: int) -> None:
    for seed in range(block * CASES_A_BLOCK, (block + 1) * CASES_A_BLOCK):
        random = Random(seed)
        world = random_world(seed, most_labels=5, roots=1 + (seed % 7 == 0), empty=seed % 3 == 0)
        guarantee = KmAnonymity(random.randint(2, 3), random.randint(1, 3), negative=True)
        check(world, guarantee)


@pytest.mark.parametrize("block", range(8))
def test_equals_brute_force_with_diversity(block: int) -> None:
    for seed in range(block * CASES_A_BLOCK, (block + 1) * CASES_A_BLOCK):
        random = Random(seed)
        world = random_world(seed, most_labels=6, empty=seed % 3 == 0)
        parents = world.hierarchy.parents_by_label()
        leaves = sorted(world.hierarchy.labels[: world.hierarchy.n_leaves])
        sensitive = random.sample(leaves, min(len(leaves) - 1, random.randint(1, 2)) or 1)
        rest = [label for label in leaves if label not in sensitive]
        hierarchy = Hierarchy.from_parents(
            {
                **(world.hierarchy.restricted_to(rest).parents_by_label() if rest else {}),
                **dict.fromkeys(sensitive),
            }
        )
        assert set(parents) >= set(sensitive)
        check(
            World(world.rows, hierarchy),
            LmDiversity(random.randint(2, 3), random.randint(1, 3), frozenset(sensitive)),
        )


def test_the_same_without_rows() -> None:
    for seed in range(30):
        world = random_world(seed)
        restricted, rows = bind(world.transactions, world.hierarchy)
        cost = make_cost("ncp", restricted)
        results = []
        for engine in (LocalEngine(restricted, rows), LoopbackEngine(restricted, rows)):
            try:
                outcome = optimal.anonymize(engine, KmAnonymity(2, 2), cost=cost, watch=Watch())
                results.append(outcome.objective and outcome.objective.cost)
            except Infeasible:
                results.append(None)
        assert results[0] == results[1]


def test_negative_knowledge_needs_more() -> None:
    """Merging a and b leaves one row without A: generalizing can create a violation."""
    hierarchy = Hierarchy.from_parents({"a": "A", "b": "A", "A": "T", "c": "T", "T": None})
    world = World([["a"], ["b"], ["c"], ["a", "b", "c"]], hierarchy)
    check(world, KmAnonymity(2, 1, negative=True))
    assert is_km(generalize(world.rows, {x: x for x in "abc"}), 2, 1, negative=True)
    assert not is_km(generalize(world.rows, {"a": "A", "b": "A", "c": "c"}), 2, 1, negative=True)


def test_diversity_feasible_below_the_root() -> None:
    hierarchy = Hierarchy.from_parents({"a": "T", "b": "T", "T": None, "s": None})
    world = World([["a", "s"], ["b", "s"], ["a", "b"]], hierarchy)
    check(world, LmDiversity(2, 2, frozenset({"s"})))


def test_few_records_and_wrong_guarantee() -> None:
    world = random_world(1)
    restricted, rows = bind(world.transactions, world.hierarchy)
    engine, cost = LocalEngine(restricted, rows), make_cost("ncp", restricted)
    with pytest.raises(Infeasible, match="records"):
        optimal.anonymize(engine, KmAnonymity(10_000, 1), cost=cost, watch=Watch())
    with pytest.raises(UsageError):
        optimal.anonymize(engine, KAnonymity(2), cost=cost, watch=Watch())


def test_cancel() -> None:
    world = random_world(3)
    restricted, rows = bind(world.transactions, world.hierarchy)
    watch = Watch()
    watch.cancel()
    with pytest.raises(Cancelled):
        optimal.anonymize(
            LocalEngine(restricted, rows),
            KmAnonymity(2, 2),
            cost=make_cost("ncp", restricted),
            watch=watch,
        )


def test_a_pool_serves_other_parameters() -> None:
    for seed in range(40):
        world = random_world(seed, most_rows=20)
        restricted, rows = bind(world.transactions, world.hierarchy)
        engine, cost = LocalEngine(restricted, rows), make_cost("ncp", restricted)
        pool = optimal.ClausePool()
        for k, m in ((2, 1), (2, 2), (3, 2), (3, 3), (2, 3)):
            costs = []
            for shared in (pool, None):
                try:
                    outcome = optimal.anonymize(
                        engine, KmAnonymity(k, m), cost=cost, watch=Watch(), pool=shared
                    )
                    costs.append(outcome.objective and outcome.objective.cost)
                except Infeasible:
                    costs.append(None)
            assert costs[0] == costs[1]


def test_share_is_exact() -> None:
    hierarchy = Hierarchy.from_parents({"a": "T", "b": "T", "T": None})
    cost = make_cost("ncp", hierarchy)
    assert cost.share(5, np.array([2, 3])) == Fraction(1, 2)
