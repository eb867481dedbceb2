"""Risk from somebody who knows a whole record, in two ways, or things that are not in it.

*Held*: all its items are known to be in it, so every record that holds them fits, those with more items
too. This is where the risk curve ends. *Equal*: it is known besides that nothing else is in it, so only
records equal to it fit: what k-anonymity of whole records is about. A release that promises
k^m-anonymity promises neither.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..kernels.attack.matches import draw_signed, supports_of_rows, supports_signed
from .crowd import SEED, Crowd
from .estimate import Estimate, Table

_STEPS_PER_ROW = 8

TITLES = {
    "held": "all items known",
    "equal": "all items known, and no others",
}


@dataclass(frozen=True)
class WholeRecords(Table):
    """The shares of records that fewer than k match, or only they themselves, if all is known."""

    k: int
    held: Estimate
    held_unique: Estimate
    equal: Estimate
    equal_unique: Estimate

    def as_dict(self) -> dict[str, object]:
        """Return plain values for ``--json``."""
        names = ("held", "held_unique", "equal", "equal_unique")
        return {name: getattr(self, name).as_dict() for name in names}

    def _rows(self) -> list[tuple[str, str, str]]:
        return [
            ("known", f"<{self.k}", "unique"),
            *(
                (title, str(getattr(self, name)), str(getattr(self, f"{name}_unique")))
                for name, title in TITLES.items()
            ),
        ]


def whole_records(crowd: Crowd, k: int, *, budget: int, n_draws: int) -> WholeRecords:
    """Return the risk from somebody who knows a whole record.

    Where the budget does not suffice to count for all records, some are drawn.
    """
    weights = crowd.weight_by_row
    if _dearest(crowd) * _STEPS_PER_ROW <= budget:
        everybody = np.arange(crowd.n_rows, dtype=np.int32)
        support = supports_of_rows(everybody, crowd.data, crowd.lists, k, 0, crowd.threads)
        held = [Estimate.counted(int(weights[support < each].sum()), crowd.records) for each in (k, 2)]
    else:
        drawn = crowd.drawn(n_draws)
        support = supports_of_rows(drawn, crowd.data, crowd.lists, k, 0, crowd.threads)
        held = [Estimate.drawn(int((support < each).sum()), n_draws) for each in (k, 2)]
    equal = [Estimate.counted(int(weights[weights < each].sum()), crowd.records) for each in (k, 2)]
    return WholeRecords(k, *held, *equal)


def _dearest(crowd: Crowd) -> int:
    """Return how many rows are looked at, at most: for each row those that hold its rarest item."""
    is_filled = crowd.length_by_row > 0
    rarest = crowd.items[crowd.indptr[:-1][is_filled]]
    return int(np.diff(crowd.lists[0])[rarest].sum())


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
class NegativeCurve(Table):
    """The share of records at risk against the number of things known, present or absent."""

    k: int
    points: tuple[NegativePoint, ...]

    def as_dict(self) -> dict[str, object]:
        """Return plain values for ``--json``."""
        return {"points": [point.as_dict() for point in self.points]}

    def _rows(self) -> list[tuple[str, str, str]]:
        head = ("known", f"average <{self.k}", "average unique")
        return [head, *((str(p.known), str(p.below), str(p.unique)) for p in self.points)]


def negative_curve(crowd: Crowd, k: int, *, most: int, n_draws: int) -> NegativeCurve:
    """Return who is at risk from somebody who knows 1 .. `most` things, present or absent.

    The things are drawn at random: each is an item of the record or an item that is not in it, with
    the same chance, unless the one kind is used up. Items of the record have the same chance each. An
    absent item has a chance by how many records hold it: that somebody does not buy bread is heard of
    more often, and tells more, than that they do not buy saffron. All shares are estimates from drawn
    records. For *every* mix, and not a random one, there is a guarantee:
    ``KmAnonymity(k, m, negative=True)``.
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
