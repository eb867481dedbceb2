from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.model.costs import make_cost
from setveil.progress import Watch
from setveil.search import count_tree
from setveil.search.count_tree import build_count_tree, counted_nodes, most_paths
from setveil.search.cuts import WorkingCut, falling_support_rank, node_supports
from tests.oracle import cuts
from tests.unit.methods.worlds import World, worlds


def brute_force(world: World, usable: set[int], sizes: range) -> dict[frozenset[int], int]:
    counted: dict[frozenset[int], int] = {}
    for row in world.sets:
        inside = sorted(cuts.expand(world.hierarchy, row) & usable)
        for size in sizes:
            for nodes in combinations(inside, size):
                if cuts.unrelated(world.hierarchy, nodes):
                    counted[frozenset(nodes)] = counted.get(frozenset(nodes), 0) + 1
    return counted


def tree_of(world: World, in_force: np.ndarray, sizes: range) -> count_tree.CountTree:
    rank_of_node = falling_support_rank(world.hierarchy, node_supports(world.local()))
    return build_count_tree(world.hierarchy, world.rows, rank_of_node, in_force, sizes, Watch())


@settings(max_examples=150, deadline=None)
@given(worlds(), st.integers(1, 3), st.integers(1, 4), st.data())
def test_paths_and_supports_equal_brute_force(world: World, low: int, high: int, data: st.DataObject):
    sizes = range(low, high + 1)
    cut = WorkingCut(world.hierarchy, make_cost("ncp", world.hierarchy), world.local().item_counts())
    for _ in range(data.draw(st.integers(0, 2))):
        cut.raise_to(data.draw(st.sampled_from(np.flatnonzero(cut.in_force_by_node()).tolist())))
    in_force = cut.in_force_by_node()
    usable = set(np.flatnonzero(in_force & counted_nodes(world.hierarchy)).tolist())
    expected = brute_force(world, usable, sizes)
    tree = tree_of(world, in_force, sizes)
    lines = [tree.nodes(path) for path in range(len(tree))]
    assert {frozenset(nodes) for nodes in lines} == set(expected)
    assert len(lines) == len(expected)
    for nodes in lines:
        assert tree.support(nodes) == tree.support(nodes[::-1]) == expected[frozenset(nodes)]
    ranks = [[int(tree.rank_of_node[node]) for node in nodes] for nodes in lines]
    assert ranks == sorted(ranks), "the lines are in preorder"
    prefixes = {tuple(line[:length]) for line in ranks for length in range(1, len(line) + 1)}
    assert tree.n_nodes == len(prefixes)
    leaves = [
        not any(line == other[: len(line)] and line != other for other in ranks) for line in ranks
    ]
    assert tree.is_leaf_by_path.tolist() == leaves


@settings(max_examples=60, deadline=None)
@given(worlds(), st.integers(1, 4))
def test_small_buffers_and_long_keys_change_nothing(world: World, m: int):
    import pytest

    everything = np.ones(len(world.hierarchy), dtype=np.bool_)
    usual = tree_of(world, everything, range(1, m + 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(count_tree, "_BUFFERED", 3)
        patch.setattr(count_tree, "_MOST_CELLS", 5)
        small = tree_of(world, everything, range(1, m + 1))
    assert usual.path_ranks.tolist() == small.path_ranks.tolist()
    assert usual.support_by_path.tolist() == small.support_by_path.tolist()
    # The same numbers where a key needs more than 63 bits.
    wide = count_tree._path_keys(usual.path_ranks, 2**20)
    assert (np.argsort(wide, kind="stable") == np.arange(len(usual))).all()


@settings(max_examples=150, deadline=None)
@given(worlds(), st.integers(1, 4))
def test_estimate_is_never_too_small(world: World, m: int):
    everything = np.ones(len(world.hierarchy), dtype=np.bool_)
    tree = tree_of(world, everything, range(1, m + 1))
    assert tree.n_nodes <= most_paths(world.hierarchy, world.rows, m)


def test_an_unknown_set_has_no_support():
    from tests.unit.methods.worlds import toy

    world = toy()
    tree = tree_of(world, np.ones(len(world.hierarchy), dtype=np.bool_), range(1, 3))
    assert tree.support([0, 1, 2]) == 0
    assert tree.support([world.hierarchy.roots[0]]) == 0
