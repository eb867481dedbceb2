"""Risk from somebody who knows what is in a record and what is not.

The attacker knows j things, drawn at random: each is an item of the record or an item that is not in
it, with the same chance, unless the one kind is used up. Items of the record have the same chance each.
An absent item has a chance by how many records hold it: that somebody does not buy bread is heard of
more often, and tells more, than that they do not buy saffron. A record is at risk where fewer than k
records fit. All shares are estimates from drawn records.

For *every* mix, and not a random one, there is a guarantee: ``KmAnonymity(k, m, negative=True)``.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..kernels.matches import draw_signed, supports_signed
from .crowd import SEED, Crowd
from .estimate import Estimate
from .tables import as_html, as_text


@dataclass(frozen=True)
class NegativePoint:
    """The shares of records that fewer than k fit, or only they themselves, if j things are known."""

    known: int
    below: Estimate
    unique: Estimate

    def as_dict(self) -> dict[str, object]:
        """Return plain values."""
        return {
            "known": self.known,
            "average": self.below.as_dict(),
            "average_unique": self.unique.as_dict(),
        }


@dataclass(frozen=True)
class NegativeCurve:
    """The share of records at risk against the number of things known, present or absent."""

    k: int
    points: tuple[NegativePoint, ...]

    def as_dict(self) -> dict[str, object]:
        """Return plain values for ``--json``."""
        return {"points": [point.as_dict() for point in self.points]}

    def _rows(self) -> list[tuple[str, str, str]]:
        head = ("known", f"average <{self.k}", "average unique")
        return [head, *((str(p.known), str(p.below), str(p.unique)) for p in self.points)]

    def __str__(self) -> str:
        return as_text(self._rows())

    def _repr_html_(self) -> str:
        return as_html(self._rows())


def negative_curve(crowd: Crowd, k: int, *, most: int, n_draws: int) -> NegativeCurve:
    """Return who is at risk from somebody who knows 1 .. `most` things, present or absent.

    Parameters
    ----------
    crowd
        The records.
    k
        A record is at risk where fewer records than this fit.
    most
        The most things known.
    n_draws
        How many records to draw.
    """
    sizes = max(1, min(most, len(crowd.labels)))
    known = draw_signed(crowd.drawn(n_draws), crowd.data, sizes, SEED)
    points = []
    for size in range(1, most + 1):
        if size <= sizes:
            support = supports_signed(known[:, :size], crowd.data, crowd.lists, k, crowd.threads)
            shares = [Estimate.drawn(int((support < each).sum()), n_draws) for each in (k, 2)]
        points.append(NegativePoint(size, *shares))
    return NegativeCurve(k, tuple(points))
