from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.errors import Infeasible
from setveil.methods import apriori
from setveil.methods.apriori import apriori_cut, rare_sets_above
from setveil.model.costs import make_cost
from setveil.model.guarantees import KmAnonymity
from setveil.progress import Watch
from setveil.search.cuts import WorkingCut, falling_support_rank, node_supports, set_keys
from tests.oracle import cuts
from tests.unit.methods.worlds import World, world_of, worlds


def cut_from(world: World, k: int, m: int, start: np.ndarray, **options):
    cost = make_cost("ncp", world.hierarchy)
    return apriori_cut(world.local(), k, m, start, cost=cost, watch=Watch(), **options)


@settings(max_examples=200, deadline=None)
@given(worlds(one_tree=True), st.integers(2, 4), st.integers(1, 3), st.data())
def test_closure_finds_every_rare_set_above_the_cut(
    world: World, k: int, size: int, data: st.DataObject
):
    """Facts 1 and 2: with all smaller sets safe, raising from the cut's rare sets misses none."""
    hierarchy = world.hierarchy
    if sum(map(bool, world.sets)) < k:
        return
    safe = np.arange(hierarchy.n_leaves, dtype=np.int32)
    if size > 1:
        safe = cut_from(world, k, size - 1, safe).cut.node_of_leaf
    cut = WorkingCut(hierarchy, make_cost("ncp", hierarchy), world.local().item_counts(), safe)
    if data.draw(st.booleans()):
        cut.raise_to(data.draw(st.sampled_from(np.flatnonzero(cut.in_force_by_node()).tolist())))
    chosen = frozenset(cut.nodes.tolist())
    rows = cuts.published(hierarchy, world.sets, chosen)
    assert not cuts.rare_sets(rows, k, range(1, size))
    start = cuts.rare_sets(rows, k, [size])
    if not start:
        assert not cuts.rare_at_or_above(hierarchy, world.sets, chosen, k, size)
        return
    engine = world.local()
    rank = falling_support_rank(hierarchy, node_supports(engine))
    rare = np.array([sorted(nodes) for nodes in sorted(start, key=sorted)], dtype=np.int32)
    everything = rare_sets_above(
        engine, rare, rank, cut.allowed_by_node, k, Watch(), leading_only=False
    )
    assert {frozenset(line) for line in everything.tolist()} == cuts.rare_at_or_above(
        hierarchy, world.sets, chosen, k, size
    )
    assert len(everything) == len({frozenset(line) for line in everything.tolist()})
    leading = rare_sets_above(engine, rare, rank, cut.allowed_by_node, k, Watch())
    in_order = sorted(sorted(int(rank[node]) for node in line) for line in everything.tolist())
    first_of_leading = min(sorted(int(rank[node]) for node in line) for line in leading.tolist())
    assert first_of_leading == in_order[0]


def start_of_part(world: World, tops: list[int]) -> np.ndarray:
    start = np.full(world.hierarchy.n_leaves, -1, dtype=np.int32)
    for top in tops:
        leaves = np.arange(world.hierarchy.first_leaf[top], world.hierarchy.end_leaf[top])
        start[leaves] = leaves
    return start


@settings(max_examples=250, deadline=None)
@given(worlds(most_rows=9), st.integers(2, 3), st.integers(1, 3), st.data())
def test_a_part_is_repaired_within_itself(world: World, k: int, m: int, data: st.DataObject):
    hierarchy = world.hierarchy
    tops = data.draw(st.lists(st.integers(0, len(hierarchy) - 1), min_size=1, max_size=3))
    start = start_of_part(world, tops)
    reached = cut_from(world, k, m, start)
    assert ((reached.cut.node_of_leaf < 0) == (start < 0)).all()
    chosen = frozenset(reached.cut.node_of_leaf[reached.cut.node_of_leaf >= 0].tolist())
    for node in chosen:
        leaves = slice(hierarchy.first_leaf[node], hierarchy.end_leaf[node])
        assert (start[leaves] >= 0).all(), "a node over a leaf outside the part was published"
        assert (reached.cut.node_of_leaf[leaves] == node).all()
    left = cuts.rare_sets(cuts.published(hierarchy, world.sets, chosen), k, range(1, m + 1))
    assert reached.repaired == (not left)
    inside = np.flatnonzero(start >= 0)
    kept = [row & frozenset(inside.tolist()) for row in world.sets]
    for nodes in left:
        ways = cuts.repairs(hierarchy, kept, sorted(nodes), k)
        usable = [
            way
            for way in ways
            if all((start[hierarchy.first_leaf[n] : hierarchy.end_leaf[n]] >= 0).all() for n in way)
        ]
        assert not usable, "what was left had a repair within the part"


@settings(max_examples=150, deadline=None)
@given(worlds(one_tree=True), st.integers(2, 3), st.integers(1, 3), st.data())
def test_one_subtree_as_a_part_equals_aa_on_it_alone(world: World, k: int, m: int, data: st.DataObject):
    hierarchy = world.hierarchy
    top = data.draw(st.sampled_from(range(hierarchy.n_leaves, len(hierarchy))))
    covered = range(int(hierarchy.first_leaf[top]), int(hierarchy.end_leaf[top]))
    parents = {
        label: above
        for label, above in hierarchy.parents_by_label().items()
        if hierarchy.covers(top, hierarchy.node_of_label[label])
    }
    parents[hierarchy.labels[top]] = None
    alone = world_of(
        parents, [[hierarchy.labels[leaf] for leaf in row if leaf in covered] for row in world.sets]
    )
    try:
        outcome = apriori.anonymize(
            alone.local(),
            KmAnonymity(k, m),
            cost=make_cost("ncp", alone.hierarchy),
            watch=Watch(),
            path="reference",
        )
    except Infeasible:
        return
    part = cut_from(world, k, m, start_of_part(world, [top]))
    assert part.repaired
    labels = {hierarchy.labels[node] for node in part.cut.node_of_leaf if node >= 0}
    assert labels == {alone.hierarchy.labels[node] for node in outcome.recoding.cut()}


@settings(max_examples=100, deadline=None)
@given(worlds(one_tree=True), st.integers(2, 3), st.integers(1, 3))
def test_a_later_start_goes_on_from_the_cut(world: World, k: int, m: int):
    if sum(map(bool, world.sets)) < k:
        return
    leaves = np.arange(world.hierarchy.n_leaves, dtype=np.int32)
    whole = cut_from(world, k, m, leaves)
    by_steps = leaves
    for size in range(1, m + 1):
        by_steps = cut_from(world, k, size, by_steps, first_size=size).cut.node_of_leaf
    assert whole.cut.node_of_leaf.tolist() == by_steps.tolist()
    assert whole.repaired
    again = cut_from(world, k, m, whole.cut.node_of_leaf)
    assert again.cut.node_of_leaf.tolist() == whole.cut.node_of_leaf.tolist()
    assert again.repairs == 0


def test_a_huge_m_ends_in_a_part_that_cannot_be_repaired():
    world = world_of({"x": "M", "y": "M", "z": "T", "M": "T", "T": None}, [["x"], ["y"], ["z"]])
    reached = cut_from(world, 3, 2**31 - 1, start_of_part(world, [0, 1]))
    assert not reached.repaired


@pytest.mark.parametrize("n_nodes", [5, 10**9])
def test_keys_tell_sets_apart(n_nodes: int):
    sets = np.array([[0, 1, 2, 3], [0, 1, 2, 4], [1, 2, 3, 4]], dtype=np.int32)
    keys = set_keys(sets, n_nodes)
    assert len(set(keys.tolist())) == 3
    assert sorted(keys.tolist()) == keys.tolist()
