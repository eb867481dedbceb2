"""All there is to say about the risk of a set of records in one object, and of two side by side.

It joins the curve, negative knowledge, whole records and the three attackers. They share one crowd, one
budget and the same draws. Nothing in it names a record or a label.

Whoever knows a whole record knows it in one of two ways. *Held*: all its items are known to be in it,
so every record that holds them fits, those with more items too. This is where the risk curve ends.
*Equal*: it is known besides that nothing else is in it, so only records equal to it fit: what
k-anonymity of whole records is about. A release that promises k^m-anonymity promises neither.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..kernels.attack.matches import draw_signed, supports_of_rows, supports_signed
from ..model.numbers import whole_number
from ..model.transactions import Transactions
from ..plain import Plain
from ..progress import Watch
from .attackers import AttackerModels, attacker_models
from .crowd import SEED, Crowd, Estimate, Table, percent
from .curve import BUDGET, READINGS, RiskCurve, curve_of, draws_of, heads_in_words, heads_of

_STEPS_PER_ROW = 8


@dataclass(frozen=True)
class WholeRecords(Table):
    """The shares of records that fewer than k match, or only they themselves, if all is known."""

    k: int
    held: Estimate
    held_unique: Estimate
    equal: Estimate
    equal_unique: Estimate

    def as_dict(self) -> dict[str, object]:
        names = ("held", "held_unique", "equal", "equal_unique")
        return {name: getattr(self, name).as_dict() for name in names}

    def _rows(self) -> list[tuple[str, str, str]]:
        return [
            ("known", f"<{self.k}", "unique"),
            ("all items known", str(self.held), str(self.held_unique)),
            ("all items known, and no others", str(self.equal), str(self.equal_unique)),
        ]


def whole_records(crowd: Crowd, k: int, *, budget: int, n_draws: int) -> WholeRecords:
    """Return the risk from whoever knows a whole record; some are drawn if the budget is short."""
    weights = crowd.weight_by_row
    if _dearest(crowd) * _STEPS_PER_ROW <= budget:
        everybody = np.arange(crowd.n_rows, dtype=np.int32)
        support = supports_of_rows(everybody, crowd.data, crowd.lists, k, 0, crowd.threads)
        held = [Estimate.counted(int(weights[support < each].sum()), crowd.records) for each in (k, 2)]
    else:
        drawn = crowd.drawn(n_draws)
        support = supports_of_rows(drawn, crowd.data, crowd.lists, k, 0, crowd.threads)
        held = [Estimate.below(support, each) for each in (k, 2)]
    equal = [Estimate.counted(int(weights[weights < each].sum()), crowd.records) for each in (k, 2)]
    return WholeRecords(k, *held, *equal)


def _dearest(crowd: Crowd) -> int:
    """Return how many rows are looked at, at most: for each row those that hold its rarest item."""
    is_filled = crowd.length_by_row > 0
    rarest = crowd.items[crowd.indptr[:-1][is_filled]]
    return int(np.diff(crowd.lists[0])[rarest].sum())


@dataclass(frozen=True)
class NegativePoint(Plain):
    """The shares of records that fewer than k fit, or only they themselves, if so much is known."""

    known: int
    average: Estimate
    average_unique: Estimate


@dataclass(frozen=True)
class NegativeCurve(Table):
    """The share of records at risk against the number of things known, present or absent."""

    k: int
    points: tuple[NegativePoint, ...]

    def as_dict(self) -> dict[str, object]:
        return {"points": [point.as_dict() for point in self.points]}

    def _rows(self) -> list[tuple[str, str, str]]:
        head = ("known", f"average <{self.k}", "average unique")
        return [head, *((str(p.known), str(p.average), str(p.average_unique)) for p in self.points)]


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
            shares = [Estimate.below(support, each) for each in (k, 2)]
        points.append(NegativePoint(size, *shares))
    return NegativeCurve(k, tuple(points))


@dataclass(frozen=True)
class Assessment:
    """What attackers can do with records; ``print`` it for all tables.

    >>> import setveil as sv
    >>> from setveil.io.demo import groceries
    >>> baskets, products = groceries()
    >>> release = sv.anonymize(baskets, sv.KmAnonymity(k=5, m=2), hierarchy=products)
    >>> found = sv.risk(release, most=1)
    >>> found.k, found.records == release.records
    (5, True)
    """

    curve: RiskCurve
    negative: NegativeCurve
    whole: WholeRecords
    attackers: AttackerModels

    @property
    def k(self) -> int:
        return self.curve.k

    @property
    def records(self) -> int:
        return self.curve.records

    def as_dict(self) -> dict[str, object]:
        return {
            **self.curve.as_dict(),
            "whole_records": self.whole.as_dict(),
            "negative": self.negative.as_dict(),
            "attackers": self.attackers.as_dict(),
        }

    def details(self, start: str = "The same if") -> str:
        """Return all tables but the curve, as text; the headings begin with `start`."""
        return "\n\n".join(
            [
                f"{start} the whole record is known\n{self.whole}",
                f"{start} things in it and things not in it are known, at random\n{self.negative}",
                f"The chance to be right about a record, from items at random\n{self.attackers}",
            ]
        )

    def __str__(self) -> str:
        return f"{self.curve}\n\n{self.details()}"

    def _repr_html_(self) -> str:
        parts = (self.curve, self.whole, self.negative, self.attackers)
        return "".join(part._repr_html_() for part in parts)


def assess_risk(
    transactions: Transactions,
    k: int,
    *,
    most: int | None = None,
    population: Transactions | None = None,
    budget: int = BUDGET,
    threads: int | None = None,
    watch: Watch | None = None,
) -> Assessment:
    """Return what attackers can do with records, the original ones or those that are published.

    The `population` are the records from which the data were taken, in the same labels; it is for the
    journalist and the marketer. For the rest see `risk_curve`.
    """
    whole_number("k", k, least=2)
    watch = watch or Watch()
    crowd = Crowd.of(transactions, threads=threads)
    curve = curve_of(crowd, k, most=most, budget=budget, watch=watch)
    n_draws = draws_of(budget)
    watch.tick("negative knowledge")
    negative = negative_curve(crowd, k, most=len(curve.points), n_draws=n_draws)
    watch.tick("whole records")
    whole = whole_records(crowd, k, budget=budget, n_draws=n_draws)
    watch.tick("attackers")
    attackers = attacker_models(
        transactions, crowd, k, curve=curve, population=population, n_draws=n_draws
    )
    return Assessment(curve, negative, whole, attackers)


@dataclass(frozen=True)
class RiskComparison(Plain, Table):
    """The risk of the original records, which is private, and of what is published of them."""

    before: Assessment
    after: Assessment

    def _rows(self) -> list[tuple[str, ...]]:
        rows = [heads_of(self.after.k)]
        most = max(len(self.before.curve.points), len(self.after.curve.points))
        for known in range(1, most + 1):
            before, after = self.before.curve.at(known), self.after.curve.at(known)
            rows.append((str(known), *(_cell(before, after, name) for name in READINGS)))
        for reading, told in (("held", "all items"), ("equal", "all, no others")):
            below = _cell(self.before.whole, self.after.whole, reading)
            alone = _cell(self.before.whole, self.after.whole, f"{reading}_unique")
            # Whoever knows the whole record has no choice of items: both readings are the same.
            rows.append((told, below, below, alone, alone))
        return rows

    def notes(self) -> tuple[str, ...]:
        if all(side.curve.exact and side.whole.held.exact for side in (self.before, self.after)):
            return ()
        return ("~: estimated from drawn records.",)

    def _head(self) -> str:
        head = f"Share of records that fewer than {self.after.k} match, or only they themselves"
        counts = f"before ({self.before.records:,} records) -> after ({self.after.records:,})"
        return f"{head}, {counts}\n{heads_in_words(self.after.k)}\n"


def _cell(before: object, after: object, name: str) -> str:
    shares: list[Estimate] = [getattr(side, name) for side in (before, after)]
    return " -> ".join(f"{'' if one.exact else '~'}{percent(one.value)}" for one in shares)
