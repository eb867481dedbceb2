"""The brute force itself, on a table one can count by hand."""

from __future__ import annotations

from fractions import Fraction

from setveil.hierarchy.tree import Hierarchy
from tests.oracle import mining_loss as oracle
from tests.oracle.losses import Case

TREE = Hierarchy.from_parents({"a1": "A", "a2": "A", "A": "ALL", "b": "ALL", "ALL": None})
ROWS = [frozenset(row) for row in (("a1", "b"), ("a1", "b"), ("a2",), ("b",))]
# Local: A in the first record, a1 in the second; b is left out of the last.
CASE = Case(TREE, ROWS, [{"a1": "A", "b": "b"}, {"a1": "a1", "b": "b"}, {"a2": "a2"}, {}])


def test_levels() -> None:
    assert [oracle.at_level(TREE, "a1", level) for level in range(3)] == ["a1", "A", "ALL"]
    assert [oracle.at_level(TREE, "b", level) for level in range(3)] == ["b", "b", "ALL"]
    assert [oracle.at_level(TREE, "A", level) for level in range(3)] == [None, "A", "ALL"]


def test_ml2() -> None:
    # At 50 %, 2 records: a1, b, a1 b; A, b, A b; ALL. Published: b; A, b, A b; ALL.
    assert oracle.ceiling(Fraction(1, 2), 4) == 2
    assert oracle.ml2(CASE, Fraction(1, 2)) == (Fraction(2, 7), Fraction(2, 7), 1)


def test_survival() -> None:
    found = oracle.survival(CASE, Fraction(1, 2))
    # Of a1, b and a1 b only b is frequent as published, and nothing else is.
    assert found["itemset_recall"] == Fraction(1, 3)
    assert found["itemset_precision"] == 1
    # Labels: A, a1, a2, b. Frequent before: A, a1, b, A b, a1 b; as published b.
    assert found["label_recall"] == Fraction(1, 5)
    assert found["label_support_error"] == Fraction(1, 3)
    # a1: 1.5 of 2 expected; b: 2 of 3; a1 b: 1.5 of 2.
    assert found["item_support_error"] == (Fraction(1, 4) + Fraction(1, 3) + Fraction(1, 4)) / 3
