from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.model.costs import make_cost
from setveil.search.cuts import (
    WorkingCut,
    cheapest_repair,
    count_cuts,
    falling_support_rank,
    next_cuts,
    publish_repair,
)
from tests.oracle import cuts
from tests.unit.methods.worlds import World, toy, world_of, worlds


def expanded(world: World) -> list[frozenset[int]]:
    up = world.hierarchy.ancestors
    return [frozenset(node for leaf in row for node in (leaf, *up(leaf))) for row in world.sets]


def supports_of(world: World):
    rows = expanded(world)

    def supports(sets: Sequence[tuple[int, ...]]) -> list[int]:
        return [sum(row.issuperset(nodes) for row in rows) for nodes in sets]

    return supports


def working(world: World, node_of_leaf=None, cost: str = "ncp") -> WorkingCut:
    counts = world.local().item_counts()
    return WorkingCut(world.hierarchy, make_cost(cost, world.hierarchy), counts, node_of_leaf)


@given(worlds())
def test_count_cuts_equals_listing_them(world: World):
    assert count_cuts(world.hierarchy) == len(set(cuts.all_cuts(world.hierarchy)))


@settings(max_examples=50, deadline=None)
@given(worlds())
def test_next_cuts_reach_every_cut(world: World):
    reached = {frozenset(range(world.hierarchy.n_leaves))}
    waiting = list(reached)
    while waiting:
        for above in next_cuts(world.hierarchy, waiting.pop()):
            if above not in reached:
                reached.add(above)
                waiting.append(above)
    assert reached == set(cuts.all_cuts(world.hierarchy))


@settings(max_examples=100, deadline=None)
@given(worlds(), st.data())
def test_working_cut_knows_cost_and_force(world: World, data: st.DataObject):
    hierarchy = world.hierarchy
    cut = working(world)
    cost = make_cost("ncp", hierarchy)
    for _ in range(data.draw(st.integers(0, 3))):
        usable = np.flatnonzero(cut.in_force_by_node()).tolist()
        node = data.draw(st.sampled_from(usable))
        before, added = cut.cost, cut.added_cost(node)
        cut.raise_to(node)
        assert cut.cost == before + added
        assert added >= 0
    chosen = frozenset(cut.nodes.tolist())
    assert chosen in set(cuts.all_cuts(hierarchy))
    assert cut.cost == cuts.cut_cost(hierarchy, world.sets, chosen, cost)
    for node in range(len(hierarchy)):
        below = bool(chosen.intersection(hierarchy.ancestors(node)))
        assert cut.in_force(node) == (not below) == bool(cut.in_force_by_node()[node])


@settings(max_examples=300, deadline=None)
@given(worlds(), st.integers(2, 4), st.integers(1, 4), st.sampled_from(["ncp", "lm"]), st.data())
def test_cheapest_repair_equals_trying_all(
    world: World, k: int, size: int, cost: str, data: st.DataObject
):
    hierarchy = world.hierarchy
    cut = working(world, cost=cost)
    for _ in range(data.draw(st.integers(0, 2))):
        cut.raise_to(data.draw(st.sampled_from(np.flatnonzero(cut.in_force_by_node()).tolist())))
    chosen = frozenset(cut.nodes.tolist())
    rare = cuts.rare_at_or_above(hierarchy, world.sets, chosen, k, size)
    if not rare:
        return
    nodes = tuple(sorted(data.draw(st.sampled_from(sorted(rare, key=sorted)))))
    found = cheapest_repair(cut, nodes, k, supports_of(world))
    ways = cuts.repairs(hierarchy, world.sets, nodes, k)
    if not ways:
        assert found is None
        return
    minimal = [
        way
        for way in ways
        if not any(
            other != way and all(set(way) & {v, *hierarchy.ancestors(v)} for v in other)
            for other in ways
        )
    ]

    def price(way: frozenset[int]) -> tuple[int, list[str]]:
        after = {
            next((n for n in way - set(nodes) if n in (v, *hierarchy.ancestors(v))), v) for v in chosen
        }
        total = cuts.cut_cost(hierarchy, world.sets, frozenset(after), make_cost(cost, hierarchy))
        return total, sorted(hierarchy.labels[node] for node in way)

    assert found is not None
    assert frozenset(found) == min(minimal, key=price)
    publish_repair(cut, nodes, found)
    assert cut.cost == price(frozenset(found))[0]
    assert not all(map(cut.in_force, nodes))


def test_a_node_that_stays_forces_nothing():
    world = toy()
    cut = working(world)
    label = world.hierarchy.node_of_label
    rare = (label["a1"], label["B"])
    found = cheapest_repair(cut, rare, 3, supports_of(world))
    assert found == tuple(sorted((label["A"], label["B"])))
    assert publish_repair(cut, rare, found) == (label["A"],)
    assert {world.hierarchy.labels[node] for node in cut.nodes} == {"A", "b1", "b2"}


def test_of_equal_cost_the_lower_way_wins_over_the_label():
    # Raising on to the one-child category C costs nothing and has a smaller label; it is not needed.
    world = world_of(
        {"x": "M", "y": "M", "M": "C", "C": "T", "z": "T", "T": None},
        [["x"], ["y"], ["z"], ["z"]],
    )
    cut = working(world)
    label = world.hierarchy.node_of_label
    assert cheapest_repair(cut, (label["x"],), 2, supports_of(world)) == (label["M"],)


def test_no_way_within_the_part():
    world = world_of({"x": "M", "y": "M", "z": "T", "M": "T", "T": None}, [["x"], ["y"], ["z"]])
    label = world.hierarchy.node_of_label
    part = np.array([-1, -1, -1], dtype=np.int32)
    part[label["x"]], part[label["y"]] = label["x"], label["y"]
    cut = working(world, part)
    assert cheapest_repair(cut, (label["x"],), 2, supports_of(world)) == (label["M"],)
    assert cheapest_repair(cut, (label["x"],), 3, supports_of(world)) is None
    assert not cut.in_force_by_node()[label["T"]]


def test_order_is_by_falling_support_then_label():
    world = world_of({"b": "T", "a": "T", "c": "T", "T": None}, [["a", "b"], ["c"], ["c"], ["c", "a"]])
    label = world.hierarchy.node_of_label
    support = world.local().supports(np.arange(4, dtype=np.int32)[:, None])
    rank = falling_support_rank(world.hierarchy, support)
    assert [int(rank[label[name]]) for name in ("T", "c", "a", "b")] == [0, 1, 2, 3]
