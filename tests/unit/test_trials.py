"""Comparing and sweeping tables in buckets and two data sets: rows say what anonymize says."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from random import Random
from xml.etree import ElementTree

import pytest

import setveil as sv
from setveil.errors import Cancelled, UsageError
from setveil.io.demo import toy
from setveil.measure.buckets import measure_queries, same_queries
from setveil.measure.pairs import measure_pair
from setveil.model.guarantees import LDiversity
from setveil.model.microdata import Microdata
from setveil.model.pattern_pair import PatternPair
from setveil.model.rules import NegativeRule
from setveil.report.frontier import Sweep
from setveil.report.terms import LATE, NONE
from setveil.run.buckets import Prepared
from setveil.trials import GRIDS, Try
from setveil.trials.buckets import Trials
from tests.oracle.pair_patterns import frequent, is_pattern
from tests.unit.pair_cases import FOOD

ILL = ("flu", "gout", "ulcer", "cold")


def patients(seed: int = 1, n: int = 60) -> Microdata:
    """Return people of whom no man has the first and no woman the second of two further values."""
    random = Random(seed)
    sexes = [random.choice("FM") for _ in range(n)]
    own = {"F": "ovarian", "M": "prostate"}
    columns = {
        "age": [str(random.randint(20, 60)) for _ in range(n)],
        "sex": sexes,
        "ill": [random.choice([*ILL, own[sex]]) for sex in sexes],
    }
    return Microdata.from_columns(columns, "ill")


def shops(seed: int = 1, n: int = 30) -> PatternPair:
    random = Random(seed)
    items = ["ale", "tea", "bun", "rye"]
    sides = (
        [sorted(set(random.choices(items, weights, k=random.randint(1, 3)))) for _ in range(n)]
        for weights in ((5, 2, 3, 1), (1, 3, 5, 2))
    )
    first, second = (sv.Transactions.from_rows(side) for side in sides)
    return PatternPair.of_sets(first, second, FOOD, names=("old", "new"))


@pytest.fixture(scope="module")
def table() -> Microdata:
    return patients()


@pytest.fixture(scope="module")
def pair() -> PatternPair:
    return shops()


def possible_by_hand(release: sv.BucketRelease, rules: tuple[NegativeRule, ...]) -> list[int]:
    """Count for each row which values of its bucket some way of handing all of them out gives it."""
    data, found = release.data, [0] * len(release.data)
    rows = list(data.rows())
    names = [attribute.name for attribute in data.quasi]
    for bucket in range(release.bucketing.n_buckets):
        members = [row for row, at in enumerate(release.bucketing.bucket_by_tuple) if at == bucket]
        values = [rows[member][-1] for member in members]

        def may(member: int, value: str) -> bool:
            cells = dict(zip(names, rows[member], strict=False))
            return not any(
                rule.value == value and all(cells[name] == given for name, given in rule.conditions)
                for rule in rules
            )

        had: list[set[str]] = [set() for _ in members]
        for dealt in itertools.permutations(values):
            if all(may(member, value) for member, value in zip(members, dealt, strict=True)):
                for place, value in enumerate(dealt):
                    had[place].add(value)
        for place, member in enumerate(members):
            found[member] = len(had[place])
    return found


def test_rows_of_a_table_are_what_anonymize_gives(table: Microdata) -> None:
    found = sv.compare(table, sv.MatchingDiversity(3), random=Random(5), control="none")
    by_name = {row.name: row for row in found.rows}
    assert set(by_name) == {"injector compact", "injector printed", "anatomy"}
    asked = same_queries(table)
    for grouping in ("compact", "printed"):
        # The same source of chance cannot be had again in the middle: figures, not buckets.
        row = by_name[f"injector {grouping}"]
        assert row.holds and row.scores["rows_given_away"] == 0 and row.usable
        assert 1 <= row.scores["buckets"] <= len(table) // 3
    release = sv.anonymize(table, LDiversity(3), method="anatomy", random=Random(7))
    alone = sv.compare(table, LDiversity(3), methods=["anatomy"], random=Random(7))
    assert alone.rows[0].scores["buckets"] == release.bucketing.n_buckets
    mean = measure_queries(release.data, release.bucketing, asked).mean
    assert mean is not None and alone.rows[0].loss is not None
    assert 0 < mean < 2 and 0 < alone.rows[0].loss < 2


def test_what_rules_give_away_is_counted_by_hand(table: Microdata) -> None:
    job = sv.run.work.Job(LDiversity(3), "anatomy")
    trials = Trials(Prepared.bind(job, table, None, started=0.0, random=Random(3)))
    how = {"control": "none", "min_exp": 0.5}
    trials.expect([job, sv.run.work.Job(sv.MatchingDiversity(3), "injector", options=how)], None)
    watch = sv.Watch()
    trials.ready(job, watch)
    release = trials.run(job, watch)
    told = trials.row(job, release, None, watch)
    rules = trials._known(job, watch)
    assert rules, "no rule was mined"
    possible = possible_by_hand(release, rules)
    assert told["scores"]["rows_given_away"] == sum(number < 3 for number in possible) > 0
    mean = measure_queries(table, release.bucketing, same_queries(table)).mean
    assert mean is not None and told["loss"] == Fraction(mean)


def test_a_method_with_another_promise_is_shown_and_never_recommended(table: Microdata) -> None:
    found = sv.compare(table, sv.MatchingDiversity(3))
    other = next(row for row in found.rows if row.method == "anatomy")
    assert other.promise == str(LDiversity(3)) and not other.usable
    assert "promises 3-diversity of buckets instead" in other.remark()
    assert found.recommended is not None and found.recommended.startswith("injector")
    turned = sv.compare(table, LDiversity(3))
    assert turned.recommended == "anatomy"
    for one in (found, turned):
        shown = [element.text for element in ElementTree.fromstring(one.figure().svg).iter()]
        assert set(shown) > {row.name for row in one.rows}
        assert "query error" in str(one) and "sensitive values" in str(one)
        assert "<table>" in one._repr_html_()
        assert one.to_csv().count("\n") == 4


def test_options_choose_the_ways(table: Microdata, pair: PatternPair) -> None:
    found = sv.compare(table, sv.MatchingDiversity(3), grouping="printed", methods=["injector"])
    assert [row.name for row in found.rows] == ["injector printed"]
    kept = sv.compare(pair, sv.HiddenPatterns(3), search="greedy")
    assert [row.name for row in kept.rows] == ["hide-patterns greedy"]
    some = sv.compare(pair, sv.HiddenPatterns(3), restarts=1)
    assert {row.status for row in some.rows} == {"done"}
    with pytest.raises(UsageError, match="goes with --search annealed"):
        sv.compare(pair, sv.HiddenPatterns(3), search="greedy", restarts=1)


def test_rows_of_two_data_sets_are_what_anonymize_gives(pair: PatternPair) -> None:
    promise = sv.HiddenPatterns(3)
    found = sv.compare(pair, promise)
    assert {row.variant["search"] for row in found.rows} == {"grouped", "greedy", "annealed"}
    for row in found.rows:
        release = sv.anonymize(pair, promise, search=row.variant["search"])
        assert row.loss == Fraction(release.raised, release.values)
        scores = measure_pair(pair, release.recoding, promise, frequent_support=0.4)
        assert row.scores["frequent_sets_lost"] == scores.frequent.missing
        largest = scores.frequent.largest
        assert row.scores["distortion"] == (scores.frequent.distortion / largest if largest else 0)
        assert row.scores["ncp"] == scores.ncp
        sides = [list(side.rows()) for side in release.published.sides]
        assert row.scores["patterns_left"] == 0 == len(left_over(sides, promise))
    losses = [row.loss for row in found.usable]
    assert losses == sorted(losses, key=lambda loss: loss or 0)


def left_over(sides: list[list[tuple[str, ...]]], promise: sv.HiddenPatterns) -> list[object]:
    data = ([frozenset(row) for row in sides[0]], [frozenset(row) for row in sides[1]])
    sets = frequent(data, promise.min_support)
    return [one for one in sets if is_pattern(data, one, promise.growth)]


@pytest.fixture(scope="module")
def swept(table: Microdata) -> Sweep:
    return sv.sweep(table, ls=[2, 3, 9], min_exps=["0.5", "80%"])


def test_a_sweep_of_a_table(table: Microdata, swept: Sweep) -> None:
    assert swept.axes == ("l", "min_exp") and swept.method == "injector"
    assert [point.at for point in swept.points] == list(
        itertools.product((2, 3, 9), (Fraction(1, 2), Fraction(4, 5)))
    )
    for point in swept.points:
        job = {"min_exp": float(point.min_exp)}
        if point.l == 9:
            assert point.status == NONE and point.loss is None
            with pytest.raises(sv.errors.Infeasible):
                sv.anonymize(table, sv.MatchingDiversity(9), **job)
        else:
            release = sv.anonymize(table, sv.MatchingDiversity(int(point.l)), **job)
            assert point.figures["buckets"] <= len(table) // int(point.l)
            assert abs(point.figures["buckets"] - release.bucketing.n_buckets) <= 5
            assert point.loss is not None and point.loss > 0
    with pytest.raises(UsageError, match="no point of the sweep"):
        swept.point(4, Fraction(1, 2))
    assert swept.as_dicts()[0]["min_exp"] == 0.5


def test_rules_are_mined_once_for_each_expectation(
    table: Microdata, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    reckon = Prepared.reckon

    def counted(self: Prepared, watch: sv.Watch) -> object:
        asked.append(self.job.options.get("min_exp"))
        return reckon(self, watch)

    monkeypatch.setattr(Prepared, "reckon", counted)
    sv.sweep(table, ls=[2, 3], min_exps=[0.5, 0.8])
    assert sorted(map(str, asked)) == ["0.5", "0.8"]
    asked.clear()
    sv.compare(table, sv.MatchingDiversity(3), min_exp=0.6)
    # Those of the toy table, on which every method is warmed up, are others.
    assert asked.count(0.6) == 1


def test_a_sweep_of_two_data_sets(pair: PatternPair) -> None:
    found = sv.sweep(pair, growths=[3, "1.5"], min_supports=["5%", 0.5])
    assert found.axes == ("growth", "min_support")
    for point in found.points:
        release = sv.anonymize(pair, sv.HiddenPatterns(point.growth, point.min_support))
        assert point.loss == Fraction(release.raised, release.values)
        assert "frequent_sets_lost" in point.figures
    every = sv.sweep(pair, growths=3, min_supports=0.1, every_level=True)
    strong = sv.anonymize(pair, sv.HiddenPatterns(3, Fraction(1, 10), every_level=True))
    assert every.points[0].loss == Fraction(strong.raised, strong.values)
    counts = sv.sweep(pair, growths=3, min_supports=[4])
    assert counts.points[0].min_support == 4


def test_grids_are_kept_exactly(swept: Sweep, pair: PatternPair) -> None:
    for one in (swept, sv.sweep(pair, growths=3, min_supports=["1/3", 4])):
        again = Sweep.from_json(one.to_json())
        assert again.to_json() == one.to_json()
        at = one.points[0].at
        assert again.figure(at).svg == one.figure(at).svg
        for figure in (one.figure(at), one.curves()):
            ElementTree.fromstring(figure.svg)
        assert one.axes[1] in str(one) and "<table>" in one._repr_html_()
        assert one.to_csv().startswith(",".join(one.axes))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "no strengths"),
        ({"ls": 2, "growths": 3}, "different promises"),
        ({"min_exps": 0.9}, "ls is missing"),
        ({"ls": [2, "x"]}, "ls must be a whole number"),
        ({"ls": 1}, "out of range"),
        ({"ls": 2, "min_exps": [1]}, "below 1"),
        ({"ls": []}, "at least one l and one min_exp"),
        ({"ls": 2, "method": "anatomy"}, "does not give"),
        ({"ls": 2, "cost": "lm"}, "do not fit"),
        ({"ls": 2, "hierarchy": FOOD}, "do not fit"),
        ({"growths": 3}, "is about two data sets"),
    ],
)
def test_slips_are_told(table: Microdata, asked: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        sv.sweep(table, **asked)  # type: ignore[arg-type]


def test_measures_are_for_sets(table: Microdata) -> None:
    with pytest.raises(UsageError, match="for sets alone"):
        sv.compare(table, LDiversity(2), measures=["ncp"])
    with pytest.raises(UsageError, match="is about tables"):
        sv.compare(toy()[0], LDiversity(2))
    with pytest.raises(UsageError, match="does not give"):
        sv.compare(table, LDiversity(2), methods=["injector"])


def verbs(table: Microdata, pair: PatternPair) -> Iterator[tuple[object, dict[str, object]]]:
    yield sv.compare, {"data": table, "guarantee": sv.MatchingDiversity(3)}
    yield sv.compare, {"data": pair, "guarantee": sv.HiddenPatterns(3)}
    yield sv.sweep, {"data": table, "ls": [2, 3]}
    yield sv.sweep, {"data": pair, "growths": [2, 3]}


def test_they_tell_where_they_are_and_can_be_stopped(table: Microdata, pair: PatternPair) -> None:
    for verb, asked in verbs(table, pair):
        stages: list[str] = []
        watch = sv.Watch(listener=lambda stage, _, stages=stages: stages.append(stage))  # type: ignore[misc]
        found = verb(**asked, watch=watch)  # type: ignore[operator]
        told = {stage.split(":")[0] for stage in stages}
        shown = found.rows if hasattr(found, "rows") else found.points
        assert told == {getattr(one, "name", None) or one.place for one in shown}
        watch.cancel()
        with pytest.raises(Cancelled):
            verb(**asked, watch=watch)  # type: ignore[operator]


def test_a_time_limit_makes_rows_of_what_is_late(table: Microdata, pair: PatternPair) -> None:
    for verb, asked in verbs(table, pair):
        found = verb(**asked, time_limit=1e-9)  # type: ignore[operator]
        shown = found.rows if hasattr(found, "rows") else found.points
        assert {one.status for one in shown} <= {LATE, "cut short", "done"}
        assert any(one.status != "done" for one in shown) or asked["data"] is table


def test_tries_have_names_and_grids_their_kinds() -> None:
    assert [grid.promise.kind for grid in GRIDS] == ["sets", "buckets", "pairs"]
    job = sv.run.work.Job(LDiversity(2), "anatomy")
    assert Try(job, {}).name == "anatomy"
    assert GRIDS[2].typed((Fraction(5, 2), Fraction(1))) == {"growth": "2.5", "min_support": "100%"}
