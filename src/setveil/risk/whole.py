"""Risk from somebody who knows a whole record, in two ways.

*Held*: all its items are known to be in it, so every record that holds them fits, those with more items
too. This is where the risk curve ends. *Equal*: it is known besides that nothing else is in it, so only
records equal to it fit: what k-anonymity of whole records is about. A release that promises
k^m-anonymity promises neither.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..kernels.matches import supports_of_rows
from .crowd import Crowd
from .estimate import Estimate
from .tables import as_html, as_text

_STEPS_PER_ROW = 8

TITLES = {
    "held": "all items known",
    "equal": "all items known, and no others",
}


@dataclass(frozen=True)
class WholeRecords:
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

    def __str__(self) -> str:
        return as_text(self._rows())

    def _repr_html_(self) -> str:
        return as_html(self._rows())


def whole_records(crowd: Crowd, k: int, *, budget: int, n_draws: int) -> WholeRecords:
    """Return the risk from somebody who knows a whole record.

    Parameters
    ----------
    crowd
        The records.
    k
        A record is at risk where fewer records than this match.
    budget
        The steps to spend; where they do not suffice to count for all records, some are drawn.
    n_draws
        How many records to draw.
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
