"""The arrays of a hierarchy: intervals, ancestors, forests, chains, restriction."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.errors import HierarchyError
from setveil.hierarchy.tree import Hierarchy

UNBALANCED = {
    "a1": "A", "a2": "A", "b": "ALL", "c": "C1", "C1": "C2", "C2": "ALL", "A": "ALL", "ALL": None,
}  # fmt: skip


@st.composite
def parent_maps(draw: st.DrawFn) -> dict[str, str | None]:
    """Random forests: the parent of node i is some j < i, or none."""
    size = draw(st.integers(1, 25))
    names = draw(st.permutations([f"n{number}" for number in range(size)]))
    parents: dict[str, str | None] = {}
    for number in range(size):
        above = draw(st.integers(-1, number - 1)) if number else -1
        parents[names[number]] = None if above < 0 else names[above]
    return parents


def leaves_below(parents: dict[str, str | None], label: str) -> set[str]:
    children = {child for child, above in parents.items() if above == label}
    if not children:
        return {label}
    return set().union(*(leaves_below(parents, child) for child in children))


@given(parent_maps())
def test_leaves_under_a_node_are_an_interval(parents: dict[str, str | None]) -> None:
    tree = Hierarchy.from_parents(parents)
    assert tree.parents_by_label() == parents
    for node, label in enumerate(tree.labels):
        held = set(tree.labels[tree.first_leaf[node] : tree.end_leaf[node]])
        assert held == leaves_below(parents, label)
        assert tree.leaf_count[node] == len(held)


@given(parent_maps())
def test_covers_is_the_ancestor_test(parents: dict[str, str | None]) -> None:
    tree = Hierarchy.from_parents(parents)
    for lower in range(len(tree)):
        above = {lower, *tree.ancestors(lower)}
        assert [node for node in range(len(tree)) if tree.covers(node, lower)] == sorted(above)


@given(parent_maps())
def test_numbers_put_leaves_first_and_children_before_parents(parents: dict[str, str | None]) -> None:
    tree = Hierarchy.from_parents(parents)
    inner = {above for above in parents.values() if above is not None}
    assert set(tree.labels[tree.n_leaves :]) == inner
    assert all(above < 0 or above > node for node, above in enumerate(tree.parent.tolist()))
    assert [tree.labels[node] for node in tree.roots] == [
        label for label in tree.labels if parents[label] is None
    ]


@given(parent_maps(), st.data())
def test_restriction_keeps_the_paths_of_its_leaves(
    parents: dict[str, str | None], data: st.DataObject
) -> None:
    tree = Hierarchy.from_parents(parents)
    leaves = tree.labels[: tree.n_leaves]
    chosen = data.draw(st.sets(st.sampled_from(leaves), min_size=1))
    part = tree.restricted_to(chosen)
    assert set(part.labels[: part.n_leaves]) == chosen
    assert all(part.path(label) == tree.path(label) for label in chosen)
    assert set(part.labels) == {step for label in chosen for step in tree.path(label)}


def test_order_of_declaration_does_not_matter() -> None:
    there = Hierarchy.from_parents(UNBALANCED)
    back = Hierarchy.from_parents(dict(reversed(UNBALANCED.items())))
    assert there.labels == back.labels
    assert np.array_equal(there.parent, back.parent)


def test_unbalanced_tree_with_a_unary_chain() -> None:
    tree = Hierarchy.from_parents(UNBALANCED)
    node = tree.node_of_label
    assert tree.path("c") == ("c", "C1", "C2", "ALL")
    assert tree.height == 3
    assert [int(tree.depth[node[label]]) for label in ("b", "a1", "c")] == [1, 2, 3]
    assert [int(tree.leaf_count[node[label]]) for label in ("C1", "C2", "A", "ALL")] == [1, 1, 2, 4]
    # The chain covers the same leaf, yet the order along it is known.
    assert tree.covers(node["C2"], node["C1"])
    assert not tree.covers(node["C1"], node["C2"])
    assert not tree.covers(node["A"], node["b"])


def test_forest_with_a_lone_root() -> None:
    tree = Hierarchy.from_parents({"a": "A", "A": None, "s": None})
    assert {tree.labels[root] for root in tree.roots} == {"A", "s"}
    root = tree.root
    assert tree.labels[root[tree.node_of_label["a"]]] == "A"
    assert tree.labels[root[tree.node_of_label["s"]]] == "s"
    assert not tree.covers(tree.node_of_label["A"], tree.node_of_label["s"])


def test_children_and_label_rank_follow_code_points() -> None:
    tree = Hierarchy.from_parents({"b": "T", "a": "T", "Z": "T", "T": None})
    assert [tree.labels[child] for child in tree.children[tree.node_of_label["T"]]] == ["Z", "a", "b"]
    assert [tree.labels[node] for node in np.argsort(tree.label_rank)] == ["T", "Z", "a", "b"]


def test_padding_along_a_path_is_collapsed() -> None:
    tree = Hierarchy.from_paths([("a", "A", "A", "T"), ("b", "b", "b", "T"), ("c", "T", "T", "T")])
    assert tree.path("a") == ("a", "A", "T")
    assert tree.path("b") == ("b", "T")
    assert tree.path("c") == ("c", "T")


def test_private_mark_survives_restriction() -> None:
    tree = Hierarchy.from_parents({"a": "T", "b": "T", "T": None}, private=True)
    assert tree.restricted_to(["a"]).private


def test_ten_thousand_levels() -> None:
    depth = 10_000
    parents: dict[str, str | None] = {str(level): str(level + 1) for level in range(depth)}
    parents[str(depth)] = None
    tree = Hierarchy.from_parents(parents)
    assert tree.height == depth
    assert len(tree.path("0")) == depth + 1


@pytest.mark.parametrize(
    ("parents", "part"),
    [({"a": "b", "b": "a"}, "cycle"), ({"a": "a"}, "cycle"), ({"a": "gone"}, "not itself declared")],
)
def test_what_is_no_tree_is_refused(parents: dict[str, str | None], part: str) -> None:
    with pytest.raises(HierarchyError, match=part):
        Hierarchy.from_parents(parents)


def test_two_parents_in_paths_are_refused() -> None:
    with pytest.raises(HierarchyError, match="two parents"):
        Hierarchy.from_paths([("a", "A", "T"), ("a", "B", "T")])
