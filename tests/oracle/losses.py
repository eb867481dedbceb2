"""Slow, obvious twins of the measures: labels, frozensets, fractions and enumerated worlds.

A world is a `Case`: rows of item labels and, beside each, the label that every item is published as
(absent: suppressed).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from setveil.hierarchy.tree import Hierarchy

Row = frozenset[str]


@dataclass(frozen=True)
class Case:
    """Records before and after: ``published_as[r]`` maps items of record r to labels."""

    hierarchy: Hierarchy
    rows: list[Row]
    published_as: list[dict[str, str]]

    @property
    def published(self) -> list[Row]:
        return [
            frozenset(cut[item] for item in row if item in cut)
            for row, cut in zip(self.rows, self.published_as, strict=True)
        ]

    def leaves(self, label: str) -> Row:
        """The items at or below a label."""
        n_leaves = self.hierarchy.n_leaves
        return frozenset(x for x in self.hierarchy.labels[:n_leaves] if label in self.hierarchy.path(x))


def discernibility(case: Case) -> int:
    """Bayardo and Agrawal's sum, with emptied records counted as all."""
    published, n = case.published, len(case.rows)
    total = 0
    for before, after in zip(case.rows, published, strict=True):
        total += n if before and not after else sum(other == after for other in published)
    return total


def occurrence_losses(case: Case, name: str) -> list[tuple[str, Fraction]]:
    """Every occurrence with what it lost."""
    lost: list[tuple[str, Fraction]] = []
    for row, cut in zip(case.rows, case.published_as, strict=True):
        for item in sorted(row):
            whole = len(case.leaves(case.hierarchy.path(item)[-1]))
            if item not in cut:
                lost.append((item, Fraction(1)))
                continue
            own = len(case.leaves(cut[item]))
            if own == 1:
                lost.append((item, Fraction(0)))
            else:
                less = 1 if name == "lm" else 0
                lost.append((item, Fraction(own - less, whole - less)))
    return lost


def true_count(case: Case, query: Sequence[str]) -> int:
    """In how many records something below every label of the query is."""
    return sum(all(row & case.leaves(label) for label in query) for row in case.rows)


def chance(case: Case, published: Row, label: str) -> Fraction:
    """The share of worlds in which a record holds something below `label`.

    In a world every published label stands for one of its items, all alike.
    """
    labels = sorted(published)
    worlds = list(product(*(sorted(case.leaves(shown)) for shown in labels)))
    wanted = case.leaves(label)
    held = sum(bool(wanted & set(world)) for world in worlds)
    return Fraction(held, len(worlds))


def estimated_count(case: Case, query: Sequence[str]) -> Fraction:
    """The expected number of records that hold the query, its labels being independent."""
    total = Fraction(0)
    for published in case.published:
        probability = Fraction(1)
        for label in query:
            probability *= chance(case, published, label)
        total += probability
    return total
