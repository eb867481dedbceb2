"""The risk curve: an example by hand, what a guarantee does to it, and what it refuses."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest
from benchmarks.pos_shape import pos_shape

import setveil as sv
from setveil.errors import Cancelled, DataError, UsageError
from setveil.io.demo import groceries, toy
from setveil.kernels.itemsets.rare import find_rare
from setveil.model.transactions import Transactions
from setveil.progress import Watch
from setveil.risk.crowd import Estimate, percent, wilson
from setveil.risk.curve import BUDGET, QUICK, READINGS, risk_curve
from tests.oracle import risk as oracle
from tests.oracle.worlds import random_world
from tests.shared_data import shared_data


def shares(curve: object, name: str) -> list[object]:
    return [getattr(point, name).value for point in curve.points]  # type: ignore[attr-defined]


def test_the_papers_records_by_hand() -> None:
    """{a1,b1,b2} {a2,b1} {a2,b1,b2} {a1,a2,b2}: the pairs a1 b1 and a1 a2 are in one record each."""
    baskets, products = toy()
    before = risk_curve(baskets, 2, most=4)
    assert shares(before, "worst") == [0, Fraction(1, 2), Fraction(3, 4), Fraction(3, 4)]
    # One of three pairs of the first record, one of three of the last, none of the others.
    assert shares(before, "average") == [0, Fraction(1, 6), Fraction(3, 4), Fraction(3, 4)]
    assert shares(before, "worst_unique") == shares(before, "worst")
    release = sv.anonymize(baskets, sv.KmAnonymity(2, 2), hierarchy=products, method="aa")
    after = risk_curve(release.published, 2, most=4)
    assert shares(after, "worst") == shares(after, "average") == [0, 0, 0, 0]


def test_support_of_k_is_no_risk_and_below_k_is() -> None:
    records = Transactions.from_rows([["a"]] * 3 + [["b"]] * 2)
    assert risk_curve(records, 3).at(1).worst.value == Fraction(2, 5)
    assert risk_curve(records, 2).at(1).worst.value == 0
    assert risk_curve(records, 3).at(1).worst_unique.value == 0


def test_fewer_records_than_k_are_all_at_risk_empty_ones_too() -> None:
    curve = risk_curve(Transactions.from_rows([["a"], []]), 3)
    assert shares(curve, "worst") == shares(curve, "average") == [1]
    assert shares(curve, "worst_unique") == [Fraction(1, 2)]
    alone = risk_curve(Transactions.from_rows([[]]), 2)
    assert shares(alone, "worst_unique") == [1]


def test_of_an_empty_record_nothing_can_be_known() -> None:
    curve = risk_curve(Transactions.from_rows([[], ["a"], ["a"]]), 2, most=2)
    assert shares(curve, "worst") == shares(curve, "average") == [0, 0]


def test_more_than_the_longest_record_has_changes_nothing() -> None:
    baskets, _ = toy()
    curve = risk_curve(baskets, 2, most=40)
    assert len(curve.points) == 40
    assert set(shares(curve, "worst")[2:]) == {Fraction(3, 4)}
    assert len(risk_curve(baskets, 2).points) == 3
    assert curve.at(100) == curve.points[-1]


@pytest.mark.parametrize("method", ["auto", "trim", "aa", "lra", "vpa", "mm"])
@pytest.mark.parametrize("seed", range(6))
def test_up_to_m_known_items_a_release_has_no_risk(method: str, seed: int) -> None:
    world = random_world(seed, most_labels=9, most_rows=30)
    k, m = 2 + seed % 3, 1 + seed % 3
    data = Transactions.from_rows([*world.rows, *world.rows[:5], *world.rows[:3], *world.rows[:1] * k])
    release = sv.anonymize(data, sv.KmAnonymity(k, m), hierarchy=world.hierarchy, method=method)
    if not release.records:
        return
    for budget in (BUDGET, 1):
        after = risk_curve(release.published, k, most=m, budget=budget)
        assert all(
            float(getattr(point, name).value) == 0 for point in after.points for name in READINGS
        )


@pytest.mark.parametrize("seed", range(30))
def test_a_global_recoding_puts_no_more_records_at_risk(seed: int) -> None:
    """Every rare set of labels is made of at least one rare set of as many items of the record."""
    world = random_world(seed, most_labels=9, most_rows=30)
    data = world.transactions
    release = sv.anonymize(data, sv.KmAnonymity(2, 1), hierarchy=world.hierarchy, method="aa")
    before, after = risk_curve(data, 3, most=5), risk_curve(release.published, 3, most=5)
    for one, other in zip(before.points, after.points, strict=True):
        assert other.worst.value <= one.worst.value
        assert other.worst_unique.value <= one.worst_unique.value


def test_the_average_reading_can_rise() -> None:
    """{a1,a2,b} becomes {A,b}: of three pairs two were telling, of one pair one is."""
    before = [frozenset(row) for row in (["a1", "a2", "b"], ["a1", "a2"], ["b"])]
    after = [frozenset(row) for row in (["A", "b"], ["A"], ["b"])]
    assert oracle.average(before, 2, 2) == Fraction(2, 9)
    assert oracle.average(after, 2, 2) == Fraction(1, 3)
    assert risk_curve(Transactions.from_rows(before), 2).at(2).average.value == Fraction(2, 9)
    assert risk_curve(Transactions.from_rows(after), 2).at(2).average.value == Fraction(1, 3)


def test_a_small_budget_estimates_and_says_so() -> None:
    data = pos_shape(20_000, 200)
    exact, rough = risk_curve(data, 5, most=3), risk_curve(data, 5, most=3, budget=100_000)
    assert exact.exact
    assert exact.draws == 0
    assert not rough.exact
    assert rough.draws == 4000
    assert "95 %, from up to 4,000 drawn records" in str(rough)
    for one, other in zip(exact.points, rough.points, strict=True):
        for name in READINGS:
            truth, share = float(getattr(one, name).value), getattr(other, name)
            assert share.low - 0.01 <= truth <= share.high + 0.01


def test_real_baskets_are_marked_by_their_minimal_rare_sets() -> None:
    """The finder of minimal rare itemsets takes another way to the same records."""
    data = sv.read_transactions(str(shared_data("groceries.dat.gz")))
    once = np.ones(len(data), np.int64)
    sets, _ = find_rare(data.indptr, data.items, once, len(data.vocabulary), 5, 3)
    rare = {frozenset(item for item in row if item >= 0) for row in sets.tolist()}
    least: Counter[int] = Counter()
    for start, end in pairwise(data.indptr.tolist()):
        row = data.items[start:end].tolist()
        sizes = (size for size in (1, 2, 3) for part in combinations(row, size) if {*part} in rare)
        least[next(sizes, 0)] += 1
    curve = risk_curve(data, 5, most=3)
    at_risk = 0
    for point in curve.points:
        at_risk += least[point.known]
        assert point.worst.value == Fraction(at_risk, len(data))


def test_shown_and_plain() -> None:
    baskets, _ = groceries(500)
    curve = risk_curve(baskets, 5, most=2)
    assert str(curve).splitlines()[2].split() == [
        "known", "worst", "<5", "average", "<5", "worst", "unique", "average", "unique",
    ]  # fmt: skip
    assert "<td>" in curve._repr_html_()
    plain = curve.as_dict()
    assert plain["k"] == 5
    assert plain["records"] == 500
    points = plain["points"]
    assert isinstance(points, list)
    assert set(points[0]["worst"]) == {"share", "low", "high", "exact"}


def test_what_is_refused() -> None:
    data, _ = toy()
    for options in ({"k": 1}, {"k": 2, "most": 0}, {"k": 2, "most": 1001}, {"k": 2, "budget": 0}):
        with pytest.raises(UsageError):
            risk_curve(data, **options)
    with pytest.raises(DataError, match="no records"):
        risk_curve(Transactions.from_rows([]), 2)
    watch = Watch()
    watch.cancel()
    with pytest.raises(Cancelled):
        risk_curve(data, 2, watch=watch)


def test_estimates() -> None:
    assert Estimate.counted(1, 3).exact
    assert not Estimate.drawn(1, 3).exact
    assert Estimate.between(2, 2, 4) == Estimate.counted(1, 2)
    open_ended = Estimate.between(1, 3, 4)
    assert (open_ended.low, open_ended.high, open_ended.exact) == (0.25, 0.75, False)
    assert Estimate.drawn(5, 10, unknown=2).high == wilson(7, 10)[1]
    raised = Estimate.drawn(1, 100).at_least(Estimate.counted(1, 2))
    assert raised.value == raised.low == raised.high == 0.5
    assert Estimate.counted(1, 4).at_least(Estimate.drawn(1, 2)) == Estimate.counted(1, 4)
    assert percent(0.5) == "50.00 %"
    assert str(Estimate.counted(0)) == "0 %"
    assert QUICK < BUDGET
