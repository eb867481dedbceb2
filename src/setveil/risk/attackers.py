"""Three attackers: the prosecutor, the journalist and the marketer.

The names are those of disclosure control. The *prosecutor* knows that a person is in the data and
looks for that one record: among f records that match, the chance is 1/f. The *journalist* only knows
that the person is in a population from which the data were taken. F of it match, at least f, and the
chance is 1/F. Without a population at hand nothing is known to be better than for the prosecutor. The
*marketer* wants as many as possible, not one in particular: the expected share of records that are put
to the right person is the mean of 1/F.

What matches depends on what is known: j items picked at random, or the whole record and that there is
nothing else in it. A record is above the line where its risk is above 1/k.

Everything is a mean of 1/F over cases, a case being a record and what is known of it. Whole records are
counted: records that are equal are one class. Sets of j items are all counted where they are few, else
they are drawn. With a population, F is counted there by the same labels, and is at least f, since the
data are part of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from ..distinct import count_distinct, number_distinct
from ..kernels.rows import merge_rows, recode_rows
from ..model.transactions import Transactions, Vocabulary
from ..plain import Plain
from .crowd import Crowd, Estimate, Table, percent
from .curve import KnownItems, RiskCurve, RiskPoint, draw_items

ATTACKERS = ("prosecutor", "journalist", "marketer")
Ids = NDArray[np.int32]
Counts = NDArray[np.int64]
MOST_SETS = 300_000
"""Up to so many sets of items are all counted."""


@dataclass(frozen=True)
class AttackerRisk(Plain):
    """The risk from one attacker who knows `known` items, or all where that is None.

    `mean` is the mean risk over records, for the marketer the expected share that is re-identified.
    `highest` is the highest risk of a record, `above` the share of records above 1/k, `mean_above` the
    mean risk of those. These are None for the marketer, who is after nobody in particular, and the last
    one is where no record is above.
    """

    attacker: str
    known: int | None
    mean: Estimate
    highest: Estimate | None = None
    above: Estimate | None = None
    mean_above: Estimate | None = None

    def cells(self) -> tuple[str, str, str, str]:
        highest = "-"
        if self.highest is not None:
            highest = f"{'' if self.highest.exact else '>='}{percent(self.highest.value)}"
        above = "-" if self.above is None else str(self.above)
        return str(self.mean), highest, above, "-" if self.mean_above is None else str(self.mean_above)


@dataclass(frozen=True)
class AttackerModels(Table):
    """The risk from all three attackers, for each kind of knowledge; ``print`` it as a table."""

    k: int
    records: int
    risks: tuple[AttackerRisk, ...]
    population: int | None = None
    remarks: tuple[str, ...] = ()

    def of(self, attacker: str, known: int | None = None) -> AttackerRisk:
        for risk in self.risks:
            if (risk.attacker, risk.known) == (attacker, known):
                return risk
        raise KeyError((attacker, known))

    def as_dict(self) -> dict[str, object]:
        return {
            "population": self.population,
            "risks": [risk.as_dict() for risk in self.risks],
            "notes": list(self.notes()),
        }

    def _rows(self) -> list[tuple[str, ...]]:
        """Return a row for each kind of knowledge, and two where the population makes a difference."""
        told = ("prosecutor",) if self.population is None else ("prosecutor", "journalist")
        rows = [("known", "attacker", "mean risk", "highest", f"above 1/{self.k}", "mean of those")]
        for risk in self.risks:
            if risk.attacker in told:
                known = "all and no more" if risk.known is None else str(risk.known)
                rows.append((known, risk.attacker, *risk.cells()))
        if len(told) > 1:
            return list(rows)
        return [(known, *cells) for known, _, *cells in rows]  # a column that says nothing

    def notes(self) -> tuple[str, ...]:
        if self.population is None:
            who = (
                "prosecutor: knows that the person is in the data; these are the numbers above.",
                "journalist: does not know that; without a population the same numbers, at most.",
                "marketer: tries everybody, and is right for the share of the mean risk.",
            )
        else:
            who = (
                "prosecutor: knows that the person is in the data.",
                "journalist: does not; knows only that the person is in the population.",
                "marketer: tries everybody, and is right for the share of the journalist's mean risk.",
            )
        return (*who, *self.remarks)


@dataclass(frozen=True, eq=False)
class _Cases:
    """How many match in each case, by its chance: exact where all cases are here.

    `chance_by_group` is the chance of one case of a group, so that exact sums are over few numbers.
    """

    support: Counts
    group: Counts
    chance_by_group: tuple[Fraction, ...]
    exact: bool

    def mean(self, support: Counts, chosen: NDArray[np.bool_]) -> Estimate:
        """Return the mean over all cases of 1/support, where chosen, else 0."""
        if not self.exact:
            risk = np.where(chosen, 1.0 / support, 0.0)
            return Estimate.averaged(float(risk.mean()), float(risk.var()), len(risk))
        total = Fraction(0)
        width = int(support.max(initial=0)) + 1
        keys, times = count_distinct(self.group[chosen] * width + support[chosen])
        for key, n_cases in zip(keys.tolist(), times.tolist(), strict=True):
            total += n_cases * self.chance_by_group[key // width] / (key % width)
        return Estimate.counted(total)

    def share(self, chosen: NDArray[np.bool_]) -> Estimate:
        if not self.exact:
            return Estimate.drawn(int(chosen.sum()), len(chosen))
        times = np.bincount(self.group[chosen], minlength=len(self.chance_by_group)).tolist()
        return Estimate.counted(
            sum(
                (n * chance for n, chance in zip(times, self.chance_by_group, strict=True)), Fraction(0)
            )
        )


def attacker_models(
    transactions: Transactions,
    crowd: Crowd,
    k: int,
    *,
    curve: RiskCurve | None = None,
    population: Transactions | None = None,
    n_draws: int,
) -> AttackerModels:
    """Return the risk from prosecutor, journalist and marketer.

    The attackers know as many items as the `curve` has points, and always whole records too. The data
    were taken from the `population`, if one is given, which has the same labels. Where there are too
    many cases to count, `n_draws` are drawn.
    """
    larger = None if population is None else Crowd.of(population, threads=crowd.threads)
    risks: list[AttackerRisk] = []
    points = () if curve is None else curve.points
    drawn: KnownItems | None = None
    for point in points:
        if _n_sets(crowd, point.known) <= MOST_SETS:
            sets, cases = _all_sets(crowd, point.known)
        else:
            drawn = drawn or draw_items(crowd, len(points), n_draws)
            support = drawn.support_by_draw[point.known - 1]
            sets = drawn.items[:, : point.known]
            cases = _Cases(support, np.zeros(n_draws, np.int64), (), exact=False)
        found = None if larger is None else _supports_by_label(crowd, larger, sets)
        risks += _risks(point.known, cases, found, k, point)
    cases, found = _classes(transactions, crowd, population)
    risks += _risks(None, cases, found, k)
    notes: tuple[str, ...] = ()
    missing = 0 if found is None else int(crowd.weight_by_row[found < cases.support].sum())
    if missing:
        notes = (
            f"{missing:,} records are in the data more often than in the population, and count as "
            "often as in the data.",
        )
    return AttackerModels(
        k, crowd.records, tuple(risks), None if population is None else len(population), notes
    )


def _risks(
    known: int | None, cases: _Cases, found: Counts | None, k: int, point: RiskPoint | None = None
) -> list[AttackerRisk]:
    inside = cases.support
    outside = inside if found is None else np.maximum(inside, found)
    prosecutor = _against_one("prosecutor", known, cases, inside, k)
    if point is not None and point.average.exact:
        prosecutor = replace(prosecutor, above=point.average)
    if point is not None and point.worst_unique.low > 0:
        prosecutor = replace(prosecutor, highest=Estimate.counted(1))
    journalist = replace(prosecutor, attacker="journalist")
    if found is not None:
        journalist = _against_one("journalist", known, cases, outside, k)
    marketer = AttackerRisk("marketer", known, cases.mean(outside, outside > 0))
    return [prosecutor, journalist, marketer]


def _against_one(
    attacker: str, known: int | None, cases: _Cases, support: Counts, k: int
) -> AttackerRisk:
    highest = Fraction(1, int(support.min()))
    is_above = support < k
    above, mean_above = cases.share(is_above), None
    if is_above.any():
        if cases.exact:
            total = cases.mean(support, is_above).value
            mean_above = Estimate.counted(Fraction(total) / Fraction(above.value))
        else:
            risk = 1.0 / support[is_above]
            mean_above = Estimate.averaged(float(risk.mean()), float(risk.var()), len(risk))
    return AttackerRisk(
        attacker,
        known,
        cases.mean(support, support > 0),
        Estimate.counted(highest)
        if cases.exact or highest == 1
        else Estimate(float(highest), float(highest), 1.0),
        above,
        mean_above,
    )


def _n_sets(crowd: Crowd, size: int) -> int:
    lengths = np.bincount(crowd.length_by_row).tolist()
    return sum(n * comb(length, min(size, length)) for length, n in enumerate(lengths))


def _all_sets(crowd: Crowd, size: int) -> tuple[Ids, _Cases]:
    lengths = np.bincount(crowd.length_by_row)
    sets: list[Ids] = []
    group: list[Counts] = []
    chances: list[Fraction] = []
    for length in np.flatnonzero(lengths).tolist():
        taken = min(size, length)
        places = np.array(list(combinations(range(length), taken)), dtype=np.int64)
        places = places.reshape(comb(length, taken), taken)
        rows = np.flatnonzero(crowd.length_by_row == length)
        found = np.full((len(rows) * len(places), size), -1, np.int32)
        starts = np.repeat(crowd.indptr[rows], len(places))[:, None]
        found[:, :taken] = crowd.items[starts + np.tile(places, (len(rows), 1))]
        sets.append(found)
        # Equal weights make equal chances, so that exact sums are over few numbers.
        weights, number = number_distinct(crowd.weight_by_row[rows])
        group.append(np.repeat(number + len(chances), len(places)))
        chances += [Fraction(w, crowd.records * len(places)) for w in weights.tolist()]
    known = np.concatenate(sets)
    return known, _Cases(crowd.supports(known), np.concatenate(group), tuple(chances), exact=True)


def _supports_by_label(crowd: Crowd, larger: Crowd, sets: Ids) -> Counts:
    """Return how many records of a larger crowd hold each set, by labels."""
    item_of_label = {label: item for item, label in enumerate(larger.labels)}
    # The last number stands for -1, which says nothing.
    other = np.array([*(item_of_label.get(label, -2) for label in crowd.labels), -1], dtype=np.int32)
    mapped = other[sets]
    is_unknown = (mapped == -2).any(axis=1)
    support = np.zeros(len(sets), np.int64)
    support[~is_unknown] = larger.supports(mapped[~is_unknown])
    return support


def _classes(
    transactions: Transactions, crowd: Crowd, population: Transactions | None
) -> tuple[_Cases, Counts | None]:
    """Return the classes of equal records, and how often each is in the population."""
    weights = crowd.weight_by_row
    sizes, number = number_distinct(weights)
    chances = tuple(Fraction(size, crowd.records) for size in sizes.tolist())
    cases = _Cases(weights, number, chances, exact=True)
    if population is None:
        return cases, None
    vocabulary = Vocabulary.of((*transactions.vocabulary, *population.vocabulary))
    parts = []
    for data in (transactions, population):
        new_of_item = np.array([vocabulary.ids[label] for label in data.vocabulary] or [-1], np.int32)
        parts.append(recode_rows(data.indptr, data.items, new_of_item))
    indptr = np.concatenate([parts[0][0], parts[1][0][1:] + parts[0][0][-1]])
    items = np.concatenate([parts[0][1], parts[1][1]])
    once = np.ones(len(indptr) - 1, np.int64)
    *_, class_of_record = merge_rows(indptr, items, once)
    n_classes = int(class_of_record.max()) + 1
    found_by_class = np.bincount(class_of_record[len(transactions) :], minlength=n_classes)
    found = np.zeros(crowd.n_rows, np.int64)
    found[crowd.row_of_record] = found_by_class[class_of_record[: len(transactions)]]
    return cases, found
