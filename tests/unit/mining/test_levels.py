"""Levels of a hierarchy: short branches are padded, forests count from each root."""

from __future__ import annotations

import pytest

from setveil.hierarchy.tree import Hierarchy
from setveil.mining.itemsets import node_at_level
from tests.oracle.worlds import random_world


def labels_at(hierarchy: Hierarchy, level: int) -> dict[str, str | None]:
    found = node_at_level(hierarchy, level).tolist()
    return {
        label: None if node < 0 else hierarchy.labels[node]
        for label, node in zip(hierarchy.labels, found, strict=True)
    }


def test_short_branch() -> None:
    tree = Hierarchy.from_parents(
        {"a1": "A1", "A1": "A", "A": "ALL", "b": "B", "B": "ALL", "ALL": None}
    )
    at = [labels_at(tree, level) for level in range(4)]
    assert [level["a1"] for level in at] == ["a1", "A1", "A", "ALL"]
    # b lies on level 1 of 3 and stands for level 0 too.
    assert [level["b"] for level in at] == ["b", "b", "B", "ALL"]
    assert [level["B"] for level in at] == [None, None, "B", "ALL"]
    assert [level["ALL"] for level in at] == [None, None, None, "ALL"]


def test_forest_counts_from_each_root() -> None:
    forest = Hierarchy.from_parents({"a1": "A1", "A1": "A", "A": None, "b": "B", "B": None, "c": None})
    at = [labels_at(forest, level) for level in range(3)]
    assert [level["a1"] for level in at] == ["a1", "A1", "A"]
    assert [level["b"] for level in at] == ["b", "b", "B"]
    assert [level["c"] for level in at] == ["c", "c", "c"]


@pytest.mark.parametrize("seed", range(30))
def test_against_the_paths(seed: int) -> None:
    tree = random_world(seed, roots=1 + seed % 3).hierarchy
    for level in range(tree.height + 1):
        for label, found in labels_at(tree, level).items():
            path = tree.path(label)[::-1]
            deepest = tree.height - level
            is_leaf = tree.node_of_label[label] < tree.n_leaves
            expected = path[deepest] if len(path) > deepest else (label if is_leaf else None)
            assert found == expected
