"""One round of the deFinetti attack, with dictionaries."""

from __future__ import annotations

import math
from collections.abc import Sequence

Row = Sequence[str]
Shares = list[dict[str, float]]
"""For each row the weight of each value of its bucket."""


def equal_chances(buckets: Sequence[int], values: Sequence[str]) -> Shares:
    shares: Shares = []
    for bucket in buckets:
        inside = [value for other, value in zip(buckets, values, strict=True) if other == bucket]
        shares.append({value: inside.count(value) / len(inside) for value in sorted(set(inside))})
    return shares


def chance(
    rows: Sequence[Row], shares: Shares, values: Sequence[str], a: int, cell: str, v: str
) -> float:
    """How likely a cell of attribute `a` is given value `v`, one added to each count."""
    seen = sum(own.get(v, 0.0) for row, own in zip(rows, shares, strict=True) if row[a] == cell)
    return (seen + 1) / (values.count(v) + len({row[a] for row in rows}))


def next_shares(
    rows: Sequence[Row], buckets: Sequence[int], values: Sequence[str], shares: Shares, sweeps: int
) -> Shares:
    found: Shares = [
        {
            v: math.prod(chance(rows, shares, values, a, cell, v) for a, cell in enumerate(row))
            for v in own
        }
        for row, own in zip(rows, shares, strict=True)
    ]
    for own in found:
        most = max(own.values())
        for v in own:
            own[v] /= most
    for bucket in set(buckets):
        lines = [own for own, other in zip(found, buckets, strict=True) if other == bucket]
        inside = [v for v, other in zip(values, buckets, strict=True) if other == bucket]
        for _ in range(sweeps):
            for v in set(inside):
                total = sum(own[v] for own in lines)
                for own in lines:
                    own[v] *= inside.count(v) / total
            for own in lines:
                total = sum(own.values())
                for v in own:
                    own[v] /= total
    return found
