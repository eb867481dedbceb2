"""Prosecutor, journalist and marketer, whole records, absent items, and the most exposed records."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from benchmarks.pos_shape import pos_shape

import setveil as sv
from setveil.errors import UsageError
from setveil.io.demo import groceries, toy
from setveil.model.transactions import Transactions
from setveil.risk.assessment import assess_risk
from setveil.risk.attackers import ATTACKERS
from setveil.risk.exposed import most_exposed
from tests.oracle import risk as oracle
from tests.oracle.worlds import random_world

Record = frozenset[str]


def records_of(seed: int) -> tuple[list[Record], list[Record]]:
    """Random records, and a population of which they are a part."""
    random = Random(seed)
    world = random_world(seed, most_labels=7, most_rows=14, empty=True)
    records = [frozenset(row) for row in world.rows]
    return records, records + random.choices(records, k=9) + [frozenset({"other"})]


@pytest.mark.parametrize("seed", range(60))
def test_the_attackers_are_those_of_brute_force(seed: int) -> None:
    records, population = records_of(seed)
    k = 2 + seed % 3
    found = assess_risk(
        Transactions.from_rows(records), k, most=4, population=Transactions.from_rows(population)
    ).attackers
    assert found.population == len(population)
    for known in (1, 2, 3, 4):
        prosecutor, journalist, marketer = (found.of(name, known) for name in ATTACKERS)
        assert prosecutor.mean.value == oracle.mean_of_one_over(records, records, known)
        assert journalist.mean.value == oracle.mean_of_one_over(records, population, known)
        assert marketer.mean == journalist.mean
        assert prosecutor.above is not None
        assert prosecutor.above.value == oracle.average(records, k, known)
        least = min(oracle.matching(records, p) for r in records for p in oracle.subsets(r, known))
        assert prosecutor.highest is not None
        assert prosecutor.highest.value == Fraction(1, least)
    inside = [records.count(record) for record in records]
    outside = [population.count(record) for record in records]
    for name, sizes in (("prosecutor", inside), ("journalist", outside)):
        whole = found.of(name)
        assert whole.mean.value == sum(Fraction(1, size) for size in sizes) / len(sizes)
        assert whole.highest is not None
        assert whole.above is not None
        assert whole.highest.value == Fraction(1, min(sizes))
        few = [Fraction(1, size) for size in sizes if size < k]
        assert whole.above.value == Fraction(len(few), len(sizes))
        if few:
            assert whole.mean_above is not None
            assert whole.mean_above.value == sum(few) / len(few)
        else:
            assert whole.mean_above is None


def test_without_a_population_the_journalist_is_the_prosecutor_and_it_says_so() -> None:
    found = assess_risk(groceries(300)[0], 5, most=2).attackers
    for known in (1, 2, None):
        prosecutor, journalist = found.of("prosecutor", known), found.of("journalist", known)
        assert (journalist.mean, journalist.above) == (prosecutor.mean, prosecutor.above)
    assert "without a population" in str(found)
    assert "journalist " not in str(found)
    with pytest.raises(KeyError):
        found.of("prosecutor", 9)


def test_a_population_that_lacks_records_is_told() -> None:
    data = Transactions.from_rows([["a"], ["b"]])
    found = assess_risk(data, 2, population=Transactions.from_rows([["a"], ["a"], ["c"]])).attackers
    assert found.of("journalist").mean.value == Fraction(3, 4)
    assert found.of("journalist", 1).mean.value == Fraction(3, 4)
    assert "1 records are in the data more often" in str(found)


def test_drawn_attackers_are_near_the_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    data = groceries(400)[0]
    exact = assess_risk(data, 5, most=3)
    monkeypatch.setattr("setveil.risk.attackers.MOST_SETS", 10)
    drawn = assess_risk(data, 5, most=3)
    for known in (1, 2, 3):
        one, other = (found.attackers.of("prosecutor", known) for found in (exact, drawn))
        assert one.mean.exact
        assert not other.mean.exact
        assert other.mean.low - 0.01 <= float(one.mean.value) <= other.mean.high + 0.01
        assert other.highest is not None
        assert other.highest.exact  # known from the curve
        assert "(" in str(drawn.attackers)


@pytest.mark.parametrize("seed", range(30))
def test_whole_records_by_brute_force(seed: int) -> None:
    records, _ = records_of(seed)
    whole = assess_risk(Transactions.from_rows(records), 3, most=1).whole
    for name, least in (("", 3), ("_unique", 2)):
        held = sum(oracle.matching(records, record) < least for record in records)
        equal = sum(records.count(record) < least for record in records)
        assert getattr(whole, f"held{name}").value == Fraction(held, len(records))
        assert getattr(whole, f"equal{name}").value == Fraction(equal, len(records))


def test_whole_records_of_large_data_are_drawn() -> None:
    data = pos_shape(20_000, 100)
    exact, drawn = assess_risk(data, 5, most=1), assess_risk(data, 5, most=1, budget=1)
    assert exact.whole.held.exact
    assert not drawn.whole.held.exact
    assert drawn.whole.held.low - 0.01 <= exact.whole.held.value <= drawn.whole.held.high + 0.01
    assert drawn.whole.equal == exact.whole.equal


def test_a_promise_about_absent_items_leaves_no_risk_from_them() -> None:
    data, products = groceries(1500)
    promise = sv.KmAnonymity(3, 2, negative=True)
    release = sv.anonymize(data, promise, hierarchy=products)
    after = assess_risk(release.published, 3, most=3)
    assert [float(point.average.value) for point in after.negative.points[:2]] == [0, 0]
    before = assess_risk(data, 3, most=3)
    assert before.negative.points[2].average.low > 0.1
    assert all(point.average_unique.value <= point.average.value for point in before.negative.points)


def test_a_k_anonymous_release_has_no_risk_at_all() -> None:
    data, products = toy()
    release = sv.anonymize(data, sv.KAnonymity(2), hierarchy=products)
    after = assess_risk(release.published, 2)
    assert after.whole.equal.value == after.whole.held.value == 0
    assert after.attackers.of("prosecutor").highest.value <= Fraction(1, 2)  # type: ignore[union-attr]


def test_all_of_it_shown_and_plain() -> None:
    found = assess_risk(groceries(200)[0], 5, most=2)
    assert (found.k, found.records) == (5, 200)
    assert "The same if the whole record is known" in str(found)
    assert found._repr_html_().count("<table>") == 4
    plain = found.as_dict()
    assert {"points", "whole_records", "negative", "attackers"} < set(plain)


@pytest.mark.parametrize("seed", range(40))
def test_the_most_exposed_records_are_those_of_brute_force(seed: int) -> None:
    records, _ = records_of(seed)
    k = 2 + seed % 3
    found = most_exposed(Transactions.from_rows(records), k, top=50, most=5)
    assert found.complete
    sizes = [len(each.known) for each in found.exposed]
    assert sizes == sorted(sizes)
    listed: dict[int, int] = {}
    for each in found.exposed:
        assert each.support == oracle.matching(records, each.known) < k
        for number in each.records:
            assert records[number - 1].issuperset(each.known)
            listed[number - 1] = len(each.known)
    least = {n: oracle.least_known(records, record, k) for n, record in enumerate(records)}
    assert listed == {n: size for n, size in least.items() if size is not None and size <= 5}


def test_the_top_of_the_exposed() -> None:
    data = groceries(2000)[0]
    few, many = most_exposed(data, 5, top=3), most_exposed(data, 5, top=30)
    assert few.exposed == many.exposed[:3]
    assert len(many.exposed) == 30
    assert str(few).startswith("PERSONAL DATA")
    assert "personal data" in str(few.as_dict()["personal_data"])
    assert "<li>" in few._repr_html_()
    nobody = most_exposed(Transactions.from_rows([["a"]] * 5), 5)
    assert "no record is singled out" in str(nobody)
    cut = most_exposed(data, 5, top=2000, budget=1000)
    assert not cut.complete
    with pytest.raises(UsageError):
        most_exposed(data, 5, top=0)


def test_many_rows_at_one_size_are_compared_by_their_rarest_item(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = groceries(2000)[0]
    monkeypatch.setattr("setveil.risk.exposed._MOST_COMPARED", 20)
    found = most_exposed(data, 5, top=20)
    ranks = [(len(each.known), each.support) for each in found.exposed]
    assert len(ranks) == 20
    assert ranks == sorted(ranks)
