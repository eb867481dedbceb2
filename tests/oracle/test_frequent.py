"""The brute force itself, on a table one can count by hand."""

from __future__ import annotations

from tests.oracle.frequent import closed, frequent, in_order, maximal, says_more

# Items 0, 1, 2; above 0 and 1 stands 3, above 3 and 2 stands 4.
ROWS = [frozenset({0, 1}), frozenset({0, 1}), frozenset({0, 2}), frozenset({2})]
WEIGHTS = [1, 2, 1, 1]
PARENT = [3, 3, 4, 4, -1]


def test_all() -> None:
    found = frequent(ROWS, WEIGHTS, 2)
    assert in_order(found) == [((0,), 4), ((1,), 3), ((2,), 2), ((0, 1), 3)]
    assert frequent(ROWS, WEIGHTS, 2, most_items=1) == {(0,): 4, (1,): 3, (2,): 2}


def test_closed_and_maximal() -> None:
    found = frequent(ROWS, WEIGHTS, 1)
    assert closed(found) == {(0,): 4, (2,): 2, (0, 1): 3, (0, 2): 1}
    assert maximal(found) == {(0, 1): 3, (0, 2): 1}


def test_with_a_forest() -> None:
    found = frequent(ROWS, WEIGHTS, 1, parent=PARENT)
    # {0} and {3} are held by the same records, and {0} says more.
    assert found[3,] == found[0,] == 4
    assert (0, 3) not in found
    assert found[2, 3] == 1
    assert closed(found, PARENT) == {(0,): 4, (2,): 2, (4,): 5, (0, 1): 3, (0, 2): 1}
    assert says_more((0,), (3,), PARENT)
    assert not says_more((0,), (0,), PARENT)
    assert maximal(found, PARENT) == {(0, 1): 3, (0, 2): 1}
