"""The risk curve: the more somebody knows of a person, the fewer records fit.

An attacker knows j items of a person's record and looks for records that hold them all. A record is at
risk where fewer than k records match, itself included: exactly what k^m-anonymity rules out for j up to
m. It is unique where no other matches. There are two readings. *Worst*: some j items of the record
single it out, as if the attacker knew the most telling ones. *Average*: the mean over records of the
share of their sets of j items that do, as if the attacker had picked up j at random. Of a record with
fewer than j items the attacker knows them all.

Points are counted exactly where that is affordable, else estimated from draws (`levels`, `samples`).
What comes out depends on the records alone, not on their order, the time or the machine.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import UsageError
from ..model.numbers import whole_number
from ..model.transactions import Transactions
from ..plain import Plain
from ..progress import Watch
from .crowd import Crowd
from .estimate import Estimate, Table
from .levels import Budget, Worst, count_average, count_worst, draw_items, search_worst

MOST, LARGEST_MOST = 6, 1000
BUDGET = 1_000_000_000
"""Steps to spend by default: some seconds on a hundred thousand records."""
QUICK = 60_000_000
"""Steps for a curve in about a second, on up to a hundred thousand records."""
_STEPS_PER_DRAW = 25_000
_DRAWS = (4_000, 40_000)
_SEARCHED = 4
"""One of so many drawn records is searched for a rare set, which takes longer than counting one."""


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


READINGS = ("worst", "average", "worst_unique", "average_unique")


@dataclass(frozen=True)
class RiskCurve(Table):
    """The share of records at risk against the number of items known; ``print`` it as a table.

    `draws` is how many records were drawn for the points that are not exact, 0 where all are.
    """

    k: int
    records: int
    points: tuple[RiskPoint, ...]
    draws: int = 0

    def at(self, known: int) -> RiskPoint:
        """Return the point of a number of known items; the last one for more than it goes to."""
        return self.points[min(known, len(self.points)) - 1]

    @property
    def exact(self) -> bool:
        """Whether all points were counted."""
        return all(getattr(point, name).exact for point in self.points for name in READINGS)

    def as_dict(self) -> dict[str, object]:
        """Return plain values for ``--json``."""
        return {
            "k": self.k,
            "records": self.records,
            "draws": self.draws,
            "points": [point.as_dict() for point in self.points],
        }

    def _rows(self) -> list[tuple[str, ...]]:
        head = ("known", f"worst <{self.k}", f"average <{self.k}", "worst unique", "average unique")
        body = [
            (str(point.known), *(str(getattr(point, name)) for name in READINGS))
            for point in self.points
        ]
        return [head, *body]

    def notes(self) -> tuple[str, ...]:
        """Return what to know about the numbers, in words."""
        if self.exact:
            return ()
        return (f"intervals: 95 %, from up to {self.draws:,} drawn records; the rest is counted.",)

    def _head(self) -> str:
        head = f"Share of {self.records:,} records that fewer than {self.k} match"
        return f"{head}, or only they themselves\n{heads_in_words(self.k)}\n"


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

    Parameters
    ----------
    transactions
        The records: the original ones, or those that are published.
    k
        A record is at risk where fewer records than this match, itself included.
    most
        The most items known; by default 6, or the length of the longest record if that is less.
    budget
        How much work to spend, in steps. More of it makes more points exact and estimates closer;
        `QUICK` takes about a second.
    threads
        The threads to use, all if not given; the result does not depend on their number.
    watch
        Progress and cancelling.

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
    most = default_most(crowd) if most is None else checked_most(most)
    watch = watch or Watch()
    left = Budget(budget)
    n_draws = draws_of(budget)
    # Whoever knows as many items as the longest record has knows all: more change nothing.
    sizes = max(1, min(most, crowd.longest))
    below = count_worst(crowd, k, sizes, left, watch)
    worst = {k: _searched(crowd, k, sizes, below, budget, watch)}
    if k != 2:
        alone = count_worst(crowd, 2, sizes, left, watch, below)
        worst[2] = _searched(crowd, 2, sizes, alone, budget, watch, below)
    average = {each: count_average(crowd, each, worst[each], left, watch) for each in worst}
    if any(len(counted) < sizes for counted in average.values()):
        watch.tick("counting for drawn records")
        known = draw_items(crowd, sizes, n_draws, k)
        for each, counted in average.items():
            counted += [known.below(each, size) for size in range(len(counted) + 1, sizes + 1)]
    # Items at random single out nobody whom the most telling ones do not.
    worst = {
        each: [one.at_least(other) for one, other in zip(worst[each], average[each], strict=True)]
        for each in worst
    }
    columns = [_rising(shares) for shares in (worst[k], average[k], worst[2], average[2])]
    points = tuple(
        RiskPoint(known + 1, *(column[min(known, sizes - 1)] for column in columns))
        for known in range(most)
    )
    curve = RiskCurve(k, crowd.records, points)
    return curve if curve.exact else RiskCurve(k, crowd.records, points, n_draws)


def _searched(
    crowd: Crowd,
    k: int,
    most: int,
    known: Worst,
    budget: int,
    watch: Watch,
    above: Worst | None = None,
) -> list[Estimate]:
    """Return the worst reading: counted as far as that went, then from single records."""
    if len(known.shares) == most:
        return known.shares
    watch.tick("searching single records")
    searched = draws_of(budget) // _SEARCHED
    return known.shares + search_worst(crowd, k, most, known, searched, budget // searched, above)


def checked_most(most: int) -> int:
    """Return to how many known items a curve goes, or raise `UsageError`."""
    if whole_number("most", most, least=1) > LARGEST_MOST:
        raise UsageError(f"most={most} is out of range.", f"Allowed: 1 <= most <= {LARGEST_MOST}.")
    return most


def default_most(crowd: Crowd) -> int:
    """Return to how many known items a curve goes by default."""
    return max(1, min(MOST, crowd.longest))


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


def _rising(shares: list[Estimate]) -> list[Estimate]:
    """Return the shares with none below the one before: whoever knows more singles out no fewer."""
    risen: list[Estimate] = []
    for share in shares:
        risen.append(share.at_least(risen[-1]) if risen else share)
    return risen
