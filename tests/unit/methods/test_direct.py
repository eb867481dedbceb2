from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.errors import Cancelled, Infeasible, ResourceLimit, UsageError
from setveil.methods import direct
from setveil.model.costs import make_cost
from setveil.model.guarantees import KAnonymity, KmAnonymity
from setveil.progress import Watch
from tests.oracle import cuts
from tests.unit.methods.worlds import World, toy, world_of, worlds


def run(world: World, k: int, m: int, **options):
    cost = make_cost("ncp", world.hierarchy)
    return direct.anonymize(world.local(), KmAnonymity(k, m), cost=cost, watch=Watch(), **options)


@settings(max_examples=200, deadline=None)
@given(worlds(most_rows=8), st.integers(2, 4), st.integers(1, 4))
def test_result_holds_by_brute_force(world: World, k: int, m: int):
    try:
        outcome = run(world, k, m)
    except Infeasible:
        roots = cuts.published(world.hierarchy, world.sets, frozenset(world.hierarchy.roots))
        assert len(world.sets) < k or not cuts.is_km_anonymous(roots, k, m)
        return
    cut = frozenset(outcome.recoding.cut().tolist())
    assert (outcome.recoding.node_of_leaf() >= 0).all()
    assert cuts.is_km_anonymous(cuts.published(world.hierarchy, world.sets, cut), k, m)
    assert outcome.objective is not None
    cost = make_cost("ncp", world.hierarchy)
    assert outcome.objective.cost == cuts.cut_cost(world.hierarchy, world.sets, cut, cost)


def test_leaves_of_the_tree_above_depth_m_count():
    # `a` alone is in one record and in no pair: its path ends at depth 1.
    world = world_of(
        {"a": "A", "b": "A", "c": "T", "A": "T", "T": None}, [["a"], ["b", "c"], ["b", "c"]]
    )
    assert [world.hierarchy.labels[node] for node in run(world, 2, 2).recoding.cut()] == ["A", "c"]


def test_an_m_beyond_every_record_is_no_burden():
    assert run(toy(), 2, 2**31 - 1).recoding.cut().tolist() == run(toy(), 2, 3).recoding.cut().tolist()


def test_refuses_by_estimate():
    with pytest.raises(ResourceLimit, match=r"could have 2\d nodes, more than the limit of 10"):
        run(toy(), 2, 2, max_tree_nodes=10)


def test_estimate_refuses_long_records_at_once():
    items = [f"i{number:03}" for number in range(150)]
    world = world_of(dict.fromkeys(items, "T") | {"T": None}, [items, items])
    with pytest.raises(ResourceLimit, match="Use method aa or optimal"):
        run(world, 2, 6)


def test_refusals():
    cost = make_cost("ncp", toy().hierarchy)
    for guarantee in (KAnonymity(2), KmAnonymity(2, 2, negative=True)):
        with pytest.raises(UsageError, match="'da' does not give"):
            direct.anonymize(toy().local(), guarantee, cost=cost, watch=Watch())
    with pytest.raises(UsageError, match="holds no rows"):
        direct.anonymize(toy().loopback(), KmAnonymity(2, 2), cost=cost, watch=Watch())
    with pytest.raises(Infeasible):
        run(toy(), 5, 1)
    stopped = Watch()
    stopped.cancel()
    with pytest.raises(Cancelled):
        direct.anonymize(toy().local(), KmAnonymity(2, 2), cost=cost, watch=stopped)
