"""The oracle of emerging patterns, by hand."""

from __future__ import annotations

from fractions import Fraction

from tests.oracle.patterns import emerging, growth, share

BEFORE = [frozenset("ab"), frozenset("a"), frozenset("b"), frozenset("ab")]
AFTER = [frozenset("bc"), frozenset("ac"), frozenset("bc")]


def test_growth() -> None:
    assert share(BEFORE, "a") == Fraction(3, 4)
    assert growth(BEFORE, AFTER, "a") == Fraction(4, 9)
    assert growth(AFTER, BEFORE, "a") == Fraction(9, 4)
    assert growth(BEFORE, AFTER, "c") is None
    assert growth(BEFORE, AFTER, "d") == 0


def test_patterns() -> None:
    half = Fraction(1, 2)
    found = emerging((BEFORE, AFTER), Fraction(2), half)
    assert found == [
        (("c",), 1, None, Fraction(1)),
        (("b", "c"), 1, None, Fraction(2, 3)),
        (("a", "b"), 0, None, half),
        (("a",), 0, Fraction(9, 4), Fraction(3, 4)),
    ]
    least = emerging((BEFORE, AFTER), Fraction(2), half, minimal=True)
    assert [told[0] for told in least] == [("c",), ("a",)]
    assert emerging((BEFORE, AFTER), Fraction(2), half, most_items=1) == [found[0], found[3]]
