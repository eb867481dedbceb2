"""The oracle itself, on an example small enough to check by hand."""

from __future__ import annotations

from tests.oracle import itemsets

# leaves 0 1 | 2 3 under nodes 4 and 5, both under the root 6
PARENT = [4, 4, 5, 5, 6, 6, -1]
ROWS = [frozenset(row) for row in ([0, 2], [0, 2], [0, 3], [1], [1, 2])]
WEIGHTS = [1, 2, 1, 3, 1]


def test_supports() -> None:
    assert itemsets.support(ROWS, WEIGHTS, [0]) == 4
    assert itemsets.support(ROWS, WEIGHTS, [0, 2]) == 3
    assert itemsets.support(ROWS, WEIGHTS, []) == 8
    assert itemsets.node_support(ROWS, WEIGHTS, [4], PARENT) == 8
    assert itemsets.node_support(ROWS, WEIGHTS, [0, 5], PARENT) == 4
    assert itemsets.node_support(ROWS, WEIGHTS, [4, 5], PARENT) == 5


def test_minimal_rare() -> None:
    # {3} is rare, so {0, 3} is not minimal; {0, 1} has no record, so it is not rare
    assert itemsets.minimal_rare(ROWS, WEIGHTS, 3, 2) == [((3,), 1), ((1, 2), 1)]
    assert itemsets.minimal_rare(ROWS, WEIGHTS, 3, 1) == [((3,), 1)]
    assert itemsets.minimal_rare(ROWS, WEIGHTS, 1, 3) == []


def test_merge_recode_expand() -> None:
    assert itemsets.merge(ROWS, WEIGHTS) == [((0, 2), 3), ((0, 3), 1), ((1,), 3), ((1, 2), 1)]
    assert itemsets.recode(ROWS[2:4], [4, -1, 5, 5]) == [frozenset([4, 5]), frozenset()]
    assert itemsets.with_ancestors([0, 2], PARENT) == {0, 2, 4, 5, 6}


def test_lift() -> None:
    # {1, 2} has 1 record; {4, 2} has 4 and {1, 5} has 1, after which {1, 6} is {6}, of 8
    assert itemsets.lift(ROWS, WEIGHTS, [1, 2], PARENT, 3) == [1, 5]
    assert itemsets.lift_is_maximal(ROWS, WEIGHTS, frozenset([1, 5]), PARENT, 3)
    assert not itemsets.lift_is_maximal(ROWS, WEIGHTS, frozenset([1, 2]), PARENT, 3)
    assert not itemsets.lift_is_maximal(ROWS, WEIGHTS, frozenset([0, 2]), PARENT, 3)
    assert itemsets.raised(frozenset([1, 5]), 5, PARENT) == {6}
