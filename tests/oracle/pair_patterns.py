"""Patterns left in a published pair, by trying every set of labels, with fractions.

Nothing is shared with the audit or with the mining: rows are sets of labels, and shares are fractions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

Row = frozenset[str]
Paths = Mapping[str, tuple[str, ...]]


class Left(NamedTuple):
    """A set of labels, the data set in which it is frequent (1 or 2), and its counts there and not."""

    labels: tuple[str, ...]
    side: int
    count: int
    elsewhere: int


def raised(rows: Sequence[Row], paths: Paths) -> list[Row]:
    """The rows, each with all labels above its own."""
    return [row.union(*(paths.get(label, ()) for label in row)) for row in rows]


def frequent(data: tuple[Sequence[Row], Sequence[Row]], support: Fraction | int) -> list[Left]:
    """All sets that have the minimum support in one data set, with their counts in both."""
    labels = sorted(frozenset().union(*data[0], *data[1]))
    found = []
    for size in range(1, len(labels) + 1):
        for chosen in combinations(labels, size):
            counts = [sum(row.issuperset(chosen) for row in rows) for rows in data]
            for side in (1, 2):
                count, records = counts[side - 1], len(data[side - 1])
                enough = (
                    count >= support
                    if isinstance(support, int)
                    else count > 0 and Fraction(count, records) >= support
                )
                if enough:
                    found.append(Left(chosen, side, count, counts[2 - side]))
    return found


def is_pattern(data: tuple[Sequence[Row], Sequence[Row]], left: Left, growth: Fraction) -> bool:
    here = Fraction(left.count, len(data[left.side - 1]))
    return here >= growth * Fraction(left.elsewhere, len(data[2 - left.side]))


def is_closed(data: tuple[Sequence[Row], Sequence[Row]], left: Left) -> bool:
    """Whether no label can be added without losing a record of the data set of the set."""
    holding = [row for row in data[left.side - 1] if row.issuperset(left.labels)]
    return frozenset.intersection(*holding) == frozenset(left.labels)


def highest_growth(data: tuple[Sequence[Row], Sequence[Row]], sets: Sequence[Left]) -> Fraction | None:
    """The largest finite growth, of sets that are at least as frequent in their data set."""
    growths = [
        Fraction(left.count * len(data[2 - left.side]), left.elsewhere * len(data[left.side - 1]))
        for left in sets
        if left.elsewhere
    ]
    return max((growth for growth in growths if growth >= 1), default=None)
