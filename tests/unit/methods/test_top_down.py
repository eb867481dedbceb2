"""Threats of all cuts and the top-down search, against plain enumeration on small worlds."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.errors import ResourceLimit
from setveil.methods.topdown import CutSearch, Taxonomy, threats_by_levels, threats_of_all_cuts
from setveil.model.costs import Cost, make_cost
from tests.oracle.itemsets import node_support
from tests.unit.methods.worlds import World, world_of, worlds

ks, ms = st.integers(2, 5), st.integers(1, 4)


def whole(world: World) -> Taxonomy:
    return Taxonomy.above(world.hierarchy, np.arange(world.hierarchy.n_leaves, dtype=np.int32))


def as_sets(lines) -> set[frozenset[int]]:
    return {frozenset(node for node in line if node >= 0) for line in lines.tolist()}


def threats_by_enumeration(world: World, nodes, k: int, m: int) -> set[frozenset[int]]:
    parent, weights = world.hierarchy.parent.tolist(), [1] * len(world.sets)
    found: set[frozenset[int]] = set()
    for size in range(1, m + 1):
        for chosen in combinations(sorted(nodes), size):
            if any(
                world.hierarchy.covers(one, other) or world.hierarchy.covers(other, one)
                for one, other in combinations(chosen, 2)
            ):
                continue
            support = node_support(world.sets, weights, frozenset(chosen), parent)
            if 0 < support < k and not any(smaller < frozenset(chosen) for smaller in found):
                found.add(frozenset(chosen))
    return found


def scenario(world: World, cost: Cost, cut, k: int, m: int) -> tuple[int, set[int]]:
    """The enumeration tree walked as the paper says: the first valid child, again and again."""
    hierarchy, counts = world.hierarchy, np.zeros(world.hierarchy.n_leaves, dtype=np.int64)
    for row in world.sets:
        counts[sorted(row)] += 1
    kept_cost = cost.weight_by_node(hierarchy, counts).tolist()
    occurrences = cost.weighted_counts(counts)
    gone_cost = {
        node: cost.scale * int(occurrences[hierarchy.first_leaf[node] : hierarchy.end_leaf[node]].sum())
        for node in cut
    }
    threats = threats_by_enumeration(world, cut, k, m)
    tail = sorted(cut, key=lambda node: (kept_cost[node] - gone_cost[node], hierarchy.labels[node]))
    head: set[int] = set()
    while True:
        valid = (
            place
            for place, node in enumerate(tail)
            if not any(threat <= head | {node} for threat in threats)
        )
        first = next(valid, None)
        if first is None:
            break
        head.add(tail[first])
        tail = tail[first + 1 :]
    paid = sum(kept_cost[node] if node in head else gone_cost[node] for node in cut)
    return paid, head


@settings(max_examples=150, deadline=None)
@given(world=worlds(), k=ks, m=ms)
def test_threats_of_all_cuts_are_the_minimal_rare_antichains(world, k, m):
    nodes = whole(world).nodes
    expected = threats_by_enumeration(world, nodes.tolist(), k, m)
    assert as_sets(threats_of_all_cuts(world.local(), nodes, k, m, most=10**6)) == expected
    assert as_sets(threats_by_levels(world.loopback(), nodes, k, m)) == expected


@settings(max_examples=60, deadline=None)
@given(world=worlds(), k=ks, m=ms, data=st.data())
def test_threats_of_a_reduced_taxonomy(world, k, m, data):
    search = CutSearch(
        whole(world), np.empty((0, 1), np.int32), make_cost("lm", world.hierarchy), counts_of(world)
    )
    for _ in range(data.draw(st.integers(0, 4))):
        steps = search.steps()
        if steps:
            search.descend(data.draw(st.sampled_from(steps))[0])
    taxonomy = Taxonomy.above(world.hierarchy, search.cut)
    assert set(search.cut.tolist()) <= set(taxonomy.nodes.tolist())
    assert all(not taxonomy.children[node] for node in search.cut.tolist())
    expected = threats_by_enumeration(world, taxonomy.nodes.tolist(), k, m)
    assert as_sets(threats_of_all_cuts(world.local(), taxonomy.nodes, k, m, most=10**6)) == expected


def counts_of(world: World):
    return world.local().item_counts()


@settings(max_examples=150, deadline=None)
@given(world=worlds(), k=ks, m=ms, name=st.sampled_from(["ncp", "lm"]), data=st.data())
def test_scenario_cost_and_steps_are_those_of_the_enumeration_tree(world, k, m, name, data):
    cost = make_cost(name, world.hierarchy, weights={"d": 3, "k": Fraction(1, 2), "b": 0})
    taxonomy = whole(world)
    threats = threats_of_all_cuts(world.local(), taxonomy.nodes, k, m, most=10**6)
    search = CutSearch(taxonomy, threats, cost, counts_of(world))
    while True:
        cut = search.cut.tolist()
        assert (search.cost, set(search.kept.tolist())) == scenario(world, cost, cut, k, m)
        assert set(search.suppressed.tolist()) == set(cut) - set(search.kept.tolist())
        steps = search.steps()
        for node, added in steps:
            child = [*(set(cut) - {node}), *taxonomy.children[node]]
            assert search.cost + added == scenario(world, cost, child, k, m)[0]
        assert sorted(search.cut.tolist()) == sorted(cut), "trying leaves no trace"
        if not steps:
            break
        search.descend(data.draw(st.sampled_from(steps))[0])


def test_unary_chains_are_drawn_together_to_their_lowest_node():
    world = world_of(
        {"a": "A", "A": "AA", "b": "B", "c": "B", "B": "T", "AA": "T", "T": "TT", "TT": None},
        [["a", "b"], ["a", "c"]],
    )
    taxonomy = whole(world)
    labels = world.hierarchy.labels
    assert {labels[node] for node in taxonomy.nodes} == {"a", "b", "c", "B", "T"}
    assert [labels[root] for root in taxonomy.roots] == ["T"]
    below = taxonomy.children[world.hierarchy.node_of_label["T"]]
    assert {labels[node] for node in below} == {"a", "B"}


def test_too_many_threats_are_refused_with_a_way_out():
    world = world_of(dict.fromkeys("abcd", "T") | {"T": None}, [["a", "b"], ["b", "c"], ["c", "d"]])
    with pytest.raises(ResourceLimit, match="mhghs"):
        threats_of_all_cuts(world.local(), whole(world).nodes, 3, 2, most=2)
    with pytest.raises(ResourceLimit):
        threats_of_all_cuts(world.loopback(), whole(world).nodes, 3, 2, most=2)


def test_a_node_outside_the_cut_cannot_be_replaced():
    world = world_of(dict.fromkeys("ab", "T") | {"T": None}, [["a", "b"]])
    search = CutSearch(
        whole(world), np.empty((0, 1), np.int32), make_cost("lm", world.hierarchy), counts_of(world)
    )
    with pytest.raises(ValueError, match="not in the cut"):
        search.descend(0)
