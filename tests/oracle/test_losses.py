"""The oracle of the measures against figures worked out by hand."""

from __future__ import annotations

from fractions import Fraction

from setveil.hierarchy.tree import Hierarchy
from tests.oracle.losses import (
    Case,
    chance,
    discernibility,
    estimated_count,
    occurrence_losses,
    true_count,
)

TREE = Hierarchy.from_parents(
    {"ale": "alcohol", "wine": "alcohol", "bun": "ALL", "milk": "ALL", "alcohol": "ALL", "ALL": None}
)
ROWS = [frozenset(row) for row in (["ale", "bun"], ["wine", "bun"], ["bun"], ["milk"], [])]
CUT = {"ale": "alcohol", "wine": "alcohol", "bun": "bun"}
CASE = Case(TREE, ROWS, [CUT] * 5)


def test_published() -> None:
    drunk = frozenset(["alcohol", "bun"])
    assert CASE.published == [drunk, drunk, frozenset(["bun"]), frozenset(), frozenset()]


def test_discernibility() -> None:
    # Two alike, one alone, one emptied (all five), one that came empty among two empty ones.
    assert discernibility(CASE) == 2 + 2 + 1 + 5 + 2


def test_losses() -> None:
    assert sum(loss for _, loss in occurrence_losses(CASE, "ncp")) == 2 * Fraction(2, 4) + 1
    assert sum(loss for _, loss in occurrence_losses(CASE, "lm")) == 2 * Fraction(1, 3) + 1


def test_counts() -> None:
    assert true_count(CASE, ["ale", "bun"]) == 1
    assert true_count(CASE, ["alcohol", "bun"]) == 2
    assert true_count(CASE, ["ALL"]) == 4
    assert chance(CASE, frozenset(["alcohol", "bun"]), "ale") == Fraction(1, 2)
    assert chance(CASE, frozenset(["alcohol", "bun"]), "ALL") == 1
    assert chance(CASE, frozenset(["bun"]), "ale") == 0
    assert estimated_count(CASE, ["ale", "bun"]) == 1
    assert estimated_count(CASE, ["ale", "wine"]) == Fraction(1, 2)
    assert estimated_count(CASE, ["milk"]) == 0
