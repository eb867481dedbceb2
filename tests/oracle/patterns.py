"""Emerging patterns by trying every set, with fractions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

Row = frozenset[str]
Growth = Fraction | None
"""None is infinite."""
Told = tuple[tuple[str, ...], int, Growth, Fraction]
"""Items, the place of the data set where they are more frequent, growth, and support there."""


def share(rows: Sequence[Row], items: Sequence[str]) -> Fraction:
    return Fraction(sum(row.issuperset(items) for row in rows), len(rows))


def growth(before: Sequence[Row], after: Sequence[Row], items: Sequence[str]) -> Growth:
    """Definition 3.1 of Cheng, from `before` to `after`: 0 where neither holds the set."""
    old, new = share(before, items), share(after, items)
    if old == 0:
        return Fraction(0) if new == 0 else None
    return new / old


def emerging(
    data: tuple[Sequence[Row], Sequence[Row]],
    least_growth: Fraction,
    least_share: Fraction,
    *,
    minimal: bool = False,
    most_items: int | None = None,
) -> list[Told]:
    """All patterns of both directions: jumping first, then by growth, support, side, size, items."""
    items = sorted(frozenset().union(*data[0], *data[1]))
    longest = len(items) if most_items is None else most_items
    found: list[Told] = []
    for side in (1, 0):
        here, there = data[side], data[1 - side]
        for size in range(1, longest + 1):
            for chosen in combinations(items, size):
                rate = growth(there, here, chosen)
                if share(here, chosen) >= least_share and (rate is None or rate >= least_growth):
                    found.append((chosen, side, rate, share(here, chosen)))
    if minimal:
        found = [one for one in found if not any(is_below(other, one) for other in found)]
    return sorted(found, key=in_order)


def is_below(one: Told, other: Told) -> bool:
    return one[1] == other[1] and set(one[0]) < set(other[0])


def in_order(told: Told) -> tuple[object, ...]:
    items, side, rate, support = told
    return (rate is not None, -(rate or 0), -support, -side, len(items), items)
