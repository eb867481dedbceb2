"""Who is at risk from an attacker that knows 1, 2, 3, ... items, counted or estimated.

Two questions about each number of items: which records hold a rare set at all (the worst reading), and
how large a share of its subsets is rare (the average reading). The first is cheaper: records that are
known to be at risk need no further look, and those that are left may be few. Each attempt may take a
part of the steps that are left; the first that does not come to its end is the last.

What would take too long to count is estimated from records drawn with replacement, each with the same
chance. For the average reading the items of each are put into a random order once, and the first j of
them are what is known: so the estimates cannot fall as j rises, as the truth cannot. For the worst
reading each drawn record is searched for a rare set. The draws begin at a constant seed and go over
canonical rows: the same records give the same estimates.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb

import numpy as np
from numpy.typing import NDArray

from ..kernels.attack.matches import (
    AT_RISK,
    SHARE,
    UNKNOWN,
    count_rare_subsets,
    draw_known,
    mark_rare_rows,
    search_rare,
    supports_of_rows,
)
from ..progress import Watch
from .crowd import SEED, Crowd
from .estimate import Estimate

Flags = NDArray[np.bool_]

_LEAST_STEPS, _FOR_WHOLE = 64, 16
_LARGEST = 1 << 62
_GROWTH, _MOST_TOGETHER = 8.0, 5
NOBODY = Estimate.counted(0)


@dataclass
class Budget:
    """The steps that are left; one attempt may take a quarter of them."""

    steps: int

    @property
    def next(self) -> int:
        """What the next attempt may take."""
        return self.steps // SHARE

    def spend(self, steps: int | None) -> None:
        """Take off the steps of an attempt; None where it took all it had and failed."""
        self.steps -= self.next if steps is None else steps


@dataclass(frozen=True, eq=False)
class Worst:
    """Who holds a rare set: counted shares for 1, 2, ... items, and the rows that are not decided yet.

    `least_by_row` is the size of a row's smallest rare set, 0 where none is known. Rows that are
    neither open nor have one hold no rare set of any size.
    """

    shares: list[Estimate]
    is_open: Flags
    least_by_row: NDArray[np.int64]

    def may_hold(self, size: int) -> Flags:
        """Return the rows that may hold a rare set of `size`, by what is known."""
        if size > len(self.shares):
            return self.is_open | (self.least_by_row > 0)
        return (self.least_by_row > 0) & (self.least_by_row <= size)


def count_worst(
    crowd: Crowd, k: int, most: int, budget: Budget, watch: Watch, above: Worst | None = None
) -> Worst:
    """Count the records that hold a rare set, size by size, until the budget does not reach.

    A record that at least k hold as a whole has no rare part: it is out of danger at once.

    What is spent is taken off the budget. `above` is the answer for a larger k: who is out of danger
    there is so here.
    """
    nothing = np.zeros(crowd.n_rows, np.bool_)
    if crowd.records < k:
        return Worst([Estimate.counted(1)] * most, nothing, np.ones(crowd.n_rows, np.int64))
    watch.tick("finding who is at risk")
    is_open = ~nothing if above is None else above.is_open | (above.least_by_row > 0)
    rows = np.flatnonzero(is_open).astype(np.int32)
    most_steps = max(_LEAST_STEPS, budget.steps // _FOR_WHOLE // crowd.n_rows)
    support = supports_of_rows(rows, crowd.data, crowd.lists, k, most_steps, crowd.threads)
    is_open[rows] = support < k
    least_by_row = np.zeros(crowd.n_rows, np.int64)
    shares: list[Estimate] = []
    for size in range(1, most + 1):
        watch.tick("finding who is at risk", (size - 1) / most)
        asked = is_open if above is None else is_open & above.may_hold(size)
        still_open, steps = mark_rare_rows(crowd.data, k, size, asked, budget.next)
        budget.spend(steps)
        least_by_row[asked & ~still_open] = size
        is_open &= ~asked | still_open
        if steps is None:
            break
        at_risk = int(crowd.weight_by_row[least_by_row > 0].sum())
        shares.append(Estimate.counted(at_risk, crowd.records))
    return Worst(shares, is_open, least_by_row)


def count_average(
    crowd: Crowd, k: int, worst: list[Estimate], budget: Budget, watch: Watch
) -> list[Estimate]:
    """Count the mean share of rare subsets, size by size, until the budget does not reach.

    Where the `worst` reading is 0, nothing needs to be counted, and the sizes end where it does.
    """
    if crowd.records < k:
        return [Estimate.counted(1)] * len(worst)
    # Nobody is at risk up to some size.
    first = next((size for size, share in enumerate(worst, 1) if share != NOBODY), len(worst) + 1)
    end = first
    while end <= len(worst) and comb(crowd.longest, end) * crowd.records < _LARGEST:
        end += 1
    is_rare_whole = np.zeros(crowd.n_rows, np.bool_)
    shares = [NOBODY] * (first - 1)
    taken: list[int] = []
    while (size := len(shares) + 1) < end:
        watch.tick("counting who fits", (size - 1) / len(worst))
        asked = range(size, min(end, size + _together(taken, budget.next)))
        counted = count_rare_subsets(crowd.data, k, asked, budget.steps)
        for each, (rare_by_row, steps) in zip(asked, counted, strict=False):
            budget.spend(steps)
            taken.append(steps)
            is_rare_whole |= (crowd.length_by_row == each) & (rare_by_row > 0)
            shares.append(_average(crowd, rare_by_row, is_rare_whole, each))
        if len(counted) < len(asked):
            budget.spend(None)
            break
    return shares


def _together(taken: list[int], most: int) -> int:
    """Return how many sizes to count on one way: those that will probably take `most` steps or fewer.

    It changes how long the counting takes and nothing else.

    >>> _together([], 100), _together([10, 40], 100), _together([10, 40, 60], 100)
    (1, 1, 5)
    """
    if not taken:
        return 1
    growth = taken[-1] / taken[-2] if len(taken) > 1 else _GROWTH
    slower = min(1.0, growth * taken[-3] / taken[-2]) if len(taken) > 2 else 1.0
    steps, sizes = taken[-1] * growth, 0
    while steps <= most and sizes < _MOST_TOGETHER:
        growth = max(1.0, growth * slower)
        steps, sizes = steps * growth, sizes + 1
    return max(1, sizes)


def _average(crowd: Crowd, rare_by_row: NDArray[np.int64], is_rare_whole: Flags, size: int) -> Estimate:
    """Return the mean over records of the share of their subsets that is rare.

    A record with fewer items has one subset: itself.
    """
    length = crowd.length_by_row
    is_short = length < size
    at_risk = Fraction(int(crowd.weight_by_row[is_short & is_rare_whole].sum()))
    rare_by_length = np.zeros(crowd.longest + 1, np.int64)
    np.add.at(rare_by_length, length[~is_short], (rare_by_row * crowd.weight_by_row)[~is_short])
    for items in np.flatnonzero(rare_by_length).tolist():
        at_risk += Fraction(int(rare_by_length[items]), comb(items, size))
    return Estimate.counted(at_risk, crowd.records)


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

    Of a record with fewer items all are known. Where `enough` is above 0, supports at or above it are
    only known to be so.
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

    `known` is what was counted, `above` what was counted for a larger k. The search of one record may
    take `most_steps`.
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
