"""Who is at risk, estimated from records drawn at random, where counting all would take too long.

Records are drawn with replacement, each with the same chance. For the average reading the items of
each are put into a random order once, and the first j of them are what is known: so the estimates
cannot fall as j rises, as the truth cannot. For the worst reading each drawn record is searched for a
rare set. The draws begin at a constant seed and go over canonical rows: the same records give the same
estimates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..kernels.matches import AT_RISK, UNKNOWN, draw_known, search_rare, supports_of_rows
from .crowd import SEED, Crowd
from .estimate import Estimate
from .levels import Worst

Counts = NDArray[np.int64]
Ids = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class KnownItems:
    """Drawn records: items of each in random order, and the support of the first 1, 2, ... of them."""

    items: Ids
    support_by_draw: tuple[Counts, ...]

    def below(self, k: int, size: int) -> Estimate:
        """Return the share of draws in which fewer than `k` records match `size` known items."""
        support = self.support_by_draw[size - 1]
        return Estimate.drawn(int((support < k).sum()), len(support))


def draw_items(crowd: Crowd, most: int, n_draws: int, enough: int = 0) -> KnownItems:
    """Draw records and an order of the items of each, and count who holds the first 1 .. `most`.

    Parameters
    ----------
    crowd
        The records.
    most
        The most items known; of a record with fewer all are.
    n_draws
        How many records to draw.
    enough
        Where above 0, supports at or above it are only known to be so.
    """
    known = draw_known(crowd.drawn(n_draws), crowd.data, most, SEED)
    supports: list[Counts] = []
    for size in range(1, most + 1):
        if not supports:
            one = np.append(crowd.support_by_item, crowd.records)  # -1: an empty record fits all
            supports.append(one[known[:, 0]])
            continue
        # Nothing changes where no item was added, and nobody is left to go where one record matches.
        again = np.flatnonzero((known[:, size - 1] >= 0) & (supports[-1] > 1))
        support = supports[-1].copy()
        support[again] = crowd.supports(known[again, :size], enough)
        supports.append(support)
    return KnownItems(known, tuple(supports))


def search_worst(
    crowd: Crowd,
    k: int,
    most: int,
    known: Worst,
    n_draws: int,
    most_steps: int,
    above: Worst | None = None,
) -> list[Estimate]:
    """Estimate the worst reading for the sizes that were not counted, up to `most`.

    All open rows are searched where they are few, else drawn records.

    Parameters
    ----------
    crowd
        The records.
    k
        A record is at risk where fewer records than this match what is known of it.
    most
        The most items known.
    known
        What was counted.
    n_draws
        How many records to search.
    most_steps
        The steps that the search of one record may take.
    above
        What was counted for a larger k.
    """
    done = len(known.shares)
    rows = np.flatnonzero(known.is_open).astype(np.int32)
    sampled = len(rows) > n_draws
    whole = n_draws if sampled else crowd.records
    if sampled:
        times_by_row = np.bincount(crowd.drawn(n_draws), minlength=crowd.n_rows)
        rows = rows[times_by_row[rows] > 0]
    else:
        times_by_row = crowd.weight_by_row
    hits = int(times_by_row[known.least_by_row > 0].sum())
    times = times_by_row[rows]
    support = supports_of_rows(rows, crowd.data, crowd.lists, k, most_steps, crowd.threads)
    rows, times = rows[support < k], times[support < k]
    state, _ = search_rare(rows, crowd.data, crowd.lists, k, most, most_steps, done + 1, crowd.threads)
    estimates = []
    for size in range(done + 1, most + 1):
        found = hits + int(times[state[:, size - 1] == AT_RISK].sum())
        is_unknown = state[:, size - 1] == UNKNOWN
        if above is not None:
            is_unknown &= above.may_hold(size)[rows]
        unknown = int(times[is_unknown].sum())
        if sampled:
            estimates.append(Estimate.drawn(found, whole, unknown))
        else:
            estimates.append(Estimate.between(found, found + unknown, whole))
    return estimates
