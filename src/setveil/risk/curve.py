"""The risk curve: the more somebody knows of a person, the fewer records fit.

An attacker knows j items of a person's record and looks for records that hold them all. A record is at
risk where fewer than k records match, itself included: exactly what k^m-anonymity rules out for j up to
m. It is unique where no other matches. There are two readings. *Worst*: some j items of the record
single it out, as if the attacker knew the most telling ones. *Average*: the mean over records of the
share of their sets of j items that do, as if the attacker had picked up j at random. Of a record with
fewer than j items the attacker knows them all.

Points are counted exactly where that is affordable. The worst reading is cheaper: records that are
known to be at risk need no further look, and those that are left may be few. Each attempt may take a
part of the steps that are left; the first that does not come to its end is the last.

What would take too long to count is estimated from records drawn with replacement, each with the same
chance. For the average reading the items of each are put into a random order once, and the first j of
them are what is known: so the estimates cannot fall as j rises, as the truth cannot. For the worst
reading each drawn record is searched for a rare set. The draws begin at a constant seed and go over
canonical rows. What comes out depends on the records alone, not on their order, the time or the
machine.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from math import comb

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from ..kernels.attack.match_loops import SHARE
from ..kernels.attack.matches import (
    AT_RISK,
    UNKNOWN,
    count_rare_subsets,
    draw_known,
    mark_rare_rows,
    search_rare,
    supports_of_rows,
)
from ..model.numbers import whole_number
from ..model.transactions import Transactions
from ..plain import Plain
from ..progress import Watch
from .crowd import SEED, Crowd, Estimate, Table

Flags = NDArray[np.bool_]
Counts = NDArray[np.int64]
Ids = NDArray[np.int32]

_LEAST_STEPS, _FOR_WHOLE = 64, 16
_LARGEST = 1 << 62
_GROWTH, _MOST_TOGETHER = 8.0, 5
NOBODY = Estimate.counted(0)
MOST, LARGEST_MOST = 6, 1000
BUDGET = 1_000_000_000
"""Steps to spend by default: some seconds on a hundred thousand records."""
QUICK = 60_000_000
"""Steps for a curve in about a second, on up to a hundred thousand records."""
_STEPS_PER_DRAW = 25_000
_DRAWS = (4_000, 40_000)
_SEARCHED = 4
"""One of so many drawn records is searched for a rare set, which takes longer than counting one."""
READINGS = {
    "worst": "worst <{k}",
    "average": "average <{k}",
    "worst_unique": "worst unique",
    "average_unique": "average unique",
}
"""The fields of a point, and the heads of their columns."""


@dataclass
class Budget:
    """The steps that are left; one attempt may take a quarter of them."""

    steps: int

    @property
    def next(self) -> int:
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
    """Return the mean share of rare subsets of records; one with fewer items has one subset: itself."""
    length = crowd.length_by_row
    is_short = length < size
    at_risk = Fraction(int(crowd.weight_by_row[is_short & is_rare_whole].sum()))
    rare_by_length = np.zeros(crowd.longest + 1, np.int64)
    np.add.at(rare_by_length, length[~is_short], (rare_by_row * crowd.weight_by_row)[~is_short])
    for items in np.flatnonzero(rare_by_length).tolist():
        at_risk += Fraction(int(rare_by_length[items]), comb(items, size))
    return Estimate.counted(at_risk, crowd.records)


@dataclass(frozen=True, eq=False)
class KnownItems:
    """Drawn records: items of each in random order, and the support of the first 1, 2, ... of them."""

    items: Ids
    support_by_draw: tuple[Counts, ...]


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


def read_worst(
    crowd: Crowd,
    k: int,
    most: int,
    known: Worst,
    budget: int,
    watch: Watch,
    above: Worst | None = None,
) -> list[Estimate]:
    """Return the worst reading up to `most`: counted as far as that went, then from single records.

    All open rows are searched where they are few, else drawn records. `above` is what was counted for
    a larger k.
    """
    done = len(known.shares)
    if done == most:
        return known.shares
    watch.tick("searching single records")
    n_draws = draws_of(budget) // _SEARCHED
    most_steps = budget // n_draws
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
    estimates = list(known.shares)
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


@dataclass(frozen=True)
class RiskPoint(Plain):
    """The shares of records at risk from somebody who knows `known` items.

    `worst` and `average` are the records that fewer than k match, `worst_unique` and `average_unique`
    those that only they themselves match.
    """

    known: int
    worst: Estimate
    average: Estimate
    worst_unique: Estimate
    average_unique: Estimate


@dataclass(frozen=True)
class RiskCurve(Plain, Table):
    """The share of records at risk against the items known; `draws` is 0 where all is exact."""

    k: int
    records: int
    draws: int
    points: tuple[RiskPoint, ...]

    def at(self, known: int) -> RiskPoint:
        """Return the point of a number of known items; the last one for more than it goes to."""
        return self.points[min(known, len(self.points)) - 1]

    @property
    def exact(self) -> bool:
        return all(getattr(point, name).exact for point in self.points for name in READINGS)

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            heads_of(self.k),
            *(
                (str(point.known), *(str(getattr(point, name)) for name in READINGS))
                for point in self.points
            ),
        ]

    def notes(self) -> tuple[str, ...]:
        if self.exact:
            return ()
        return (f"intervals: 95 %, from up to {self.draws:,} drawn records; the rest is counted.",)

    def _head(self) -> str:
        head = f"Share of {self.records:,} records that fewer than {self.k} match"
        return f"{head}, or only they themselves\n{heads_in_words(self.k)}\n"


def heads_of(k: int) -> tuple[str, ...]:
    """Return the heads of the columns."""
    return ("known", *(head.format(k=k) for head in READINGS.values()))


def heads_in_words(k: int) -> str:
    """Return what the heads of the columns say.

    >>> print(heads_in_words(5))
    worst: the most telling items are known; average: items at random; <5: fewer than 5 records match
    """
    readings = "worst: the most telling items are known; average: items at random"
    return f"{readings}; <{k}: fewer than {k} records match"


def risk_curve(
    transactions: Transactions,
    k: int,
    *,
    most: int | None = None,
    budget: int = BUDGET,
    threads: int | None = None,
    watch: Watch | None = None,
) -> RiskCurve:
    """Return who is at risk from an attacker who knows 1 .. `most` items.

    By default `most` is 6, or the length of the longest record if that is less. The `budget` is in
    steps: more of it makes more points exact and estimates closer; `QUICK` takes about a second. The
    result does not depend on the number of threads.

    >>> baskets = Transactions.from_rows([["a", "b"], ["a", "b"], ["a", "c"], ["b", "c"]])
    >>> curve = risk_curve(baskets, k=2, most=2)
    >>> curve.at(1).worst, curve.at(2).worst, curve.at(2).average
    (Estimate(0), Estimate(1/2), Estimate(1/2))
    """
    whole_number("k", k, least=2)
    crowd = Crowd.of(transactions, threads=threads)
    return curve_of(crowd, k, most=most, budget=budget, watch=watch)


def curve_of(
    crowd: Crowd, k: int, *, most: int | None = None, budget: int = BUDGET, watch: Watch | None = None
) -> RiskCurve:
    """Return the curve of a crowd; as `risk_curve`, which makes the crowd."""
    whole_number("budget", budget, least=1)
    most = most_known(most, crowd)
    watch = watch or Watch()
    left = Budget(budget)
    n_draws = draws_of(budget)
    # Whoever knows as many items as the longest record has knows all: more change nothing.
    sizes = max(1, min(most, crowd.longest))
    below = count_worst(crowd, k, sizes, left, watch)
    worst = {k: read_worst(crowd, k, sizes, below, budget, watch)}
    if k != 2:
        alone = count_worst(crowd, 2, sizes, left, watch, below)
        worst[2] = read_worst(crowd, 2, sizes, alone, budget, watch, below)
    average = {each: count_average(crowd, each, worst[each], left, watch) for each in worst}
    if any(len(counted) < sizes for counted in average.values()):
        watch.tick("counting for drawn records")
        known = draw_items(crowd, sizes, n_draws, k)
        for each, counted in average.items():
            counted += [
                Estimate.below(known.support_by_draw[size - 1], each)
                for size in range(len(counted) + 1, sizes + 1)
            ]
    # Items at random single out nobody whom the most telling ones do not.
    worst = {
        each: [one.at_least(other) for one, other in zip(worst[each], average[each], strict=True)]
        for each in worst
    }
    # Whoever knows more singles out no fewer.
    columns = [
        list(accumulate(shares, lambda before, share: share.at_least(before)))
        for shares in (worst[k], average[k], worst[2], average[2])
    ]
    points = tuple(
        RiskPoint(known + 1, *(column[min(known, sizes - 1)] for column in columns))
        for known in range(most)
    )
    curve = RiskCurve(k, crowd.records, 0, points)
    return curve if curve.exact else replace(curve, draws=n_draws)


def most_known(most: int | None, crowd: Crowd) -> int:
    """Return to how many known items a curve goes, by default or as asked, or raise `UsageError`."""
    if most is None:
        return max(1, min(MOST, crowd.longest))
    if whole_number("most", most, least=1) > LARGEST_MOST:
        raise UsageError(f"most={most} is out of range.", f"Allowed: 1 <= most <= {LARGEST_MOST}.")
    return most


def quick_budget(records: int) -> int:
    """Return the steps for a curve that may not take long: about a second for 100,000 records.

    >>> quick_budget(1_000), quick_budget(500_000)
    (60000000, 300000000)
    """
    return max(QUICK, QUICK // 100_000 * records)


def draws_of(budget: int) -> int:
    """Return how many records a budget draws.

    >>> draws_of(BUDGET), draws_of(QUICK)
    (40000, 4000)
    """
    least, most = _DRAWS
    return min(most, max(least, budget // _STEPS_PER_DRAW))
