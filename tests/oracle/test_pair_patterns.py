"""The oracle of patterns left in a pair, by hand."""

from __future__ import annotations

from fractions import Fraction

from tests.oracle.pair_patterns import (
    Left,
    frequent,
    highest_growth,
    is_closed,
    is_pattern,
    raised,
)

FIRST = [frozenset("ab"), frozenset("ab"), frozenset("b"), frozenset()]
SECOND = [frozenset("a"), frozenset("c")]
DATA = (FIRST, SECOND)


def test_sets_that_are_frequent_somewhere() -> None:
    found = frequent(DATA, Fraction(1, 2))
    assert found == [
        Left(("a",), 1, 2, 1),
        Left(("a",), 2, 1, 2),
        Left(("b",), 1, 3, 0),
        Left(("c",), 2, 1, 0),
        Left(("a", "b"), 1, 2, 0),
    ]
    assert frequent(DATA, 3) == [Left(("b",), 1, 3, 0)]
    patterns = [left for left in found if is_pattern(DATA, left, Fraction(2))]
    assert [left.labels for left in patterns] == [("b",), ("c",), ("a", "b")]
    # Whoever of the first data set has a has b.
    assert [left.labels for left in found if not is_closed(DATA, left)] == [("a",)]
    assert highest_growth(DATA, found) == 1
    assert highest_growth(DATA, patterns) is None


def test_rows_at_every_level() -> None:
    assert raised([frozenset("a"), frozenset()], {"a": ("a", "A", "T")}) == [
        frozenset("aAT"),
        frozenset(),
    ]
