"""The order of the methods in Figure 3 of Liu and Wang (2010), counted in the points of `compare`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..report import Cell, Table


@dataclass(frozen=True)
class Loss:
    """What a method lost at a point; `cut` where the time limit ended its search."""

    lm: float
    cut: bool


Losses = Mapping[tuple[str, str, int, int], Loss]
"""(data, method, k, m) -> loss; partition stands at every m."""

NEAR = 1.01
"""A loss up to this many times another counts as near it."""


@dataclass(frozen=True)
class Claim:
    """Something said of the losses of two methods."""

    words: str
    one: str
    other: str
    holds: Callable[[float, float], bool]


def _less(one: float, other: float) -> bool:
    return one < other


CLAIMS = (
    Claim("mhghs loses less than partition", "mhghs", "partition", _less),
    Claim("mhghs loses less than aa", "mhghs", "aa", _less),
    Claim("mhghs loses less than mm", "mhghs", "mm", _less),
    Claim("partition loses less than aa", "partition", "aa", _less),
    Claim("partition loses less than mm", "partition", "mm", _less),
    Claim("aa loses less than mm", "aa", "mm", _less),
    Claim("aa loses everything", "aa", "aa", lambda one, _: one == 1.0),
    Claim("optimal loses everything", "optimal", "optimal", lambda one, _: one == 1.0),
    Claim("trim loses less than mhghs", "trim", "mhghs", _less),
    Claim("mhghs is within 1 % of trim", "mhghs", "trim", lambda one, other: one <= NEAR * other),
    Claim("trim loses less than partition", "trim", "partition", _less),
)
"""The first six are the order of the figure, least first: mHgHs, LG (partition), AA, MM."""


def claims_table(losses: Losses, names: tuple[str, ...]) -> Table:
    """Return at how many points each claim holds, of those where both methods ended, for m >= 2."""
    rows: list[tuple[Cell, ...]] = []
    for claim in CLAIMS:
        cells = []
        for name in names:
            places = {(k, m) for data, _, k, m in losses if data == name and m >= 2}
            pairs = [
                (losses.get((name, claim.one, *place)), losses.get((name, claim.other, *place)))
                for place in places
            ]
            known = [
                claim.holds(one.lm, other.lm)
                for one, other in pairs
                if one is not None and other is not None and not (one.cut or other.cut)
            ]
            cells.append(f"{sum(known)} of {len(known)}")
        rows.append((claim.words, *cells))
    return Table(("at m >= 2", *names), tuple(rows), "Against Figure 3 of Liu and Wang")
