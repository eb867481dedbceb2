"""Comparing methods: every row is told, the recommendation follows from the rows."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from fractions import Fraction
from xml.etree import ElementTree

import pytest

import setveil as sv
from setveil.compare import Compared, Comparison, compare
from setveil.errors import Cancelled, UsageError
from setveil.io.demo import groceries, toy
from setveil.io.resident import measure_peak
from setveil.registry import METHODS
from setveil.release.header import ObjectiveValue
from setveil.report.terms import CUT, DONE, LATE, NONE, REFUSED

KM = sv.KmAnonymity(2, 2)


@pytest.fixture(scope="module")
def all_methods() -> Comparison:
    data, tree = toy()
    return compare(data, KM, hierarchy=tree)


def row(method: str, loss: Fraction | None = None, **more: object) -> Compared:
    plain = Compared(method, DONE if loss is not None else REFUSED, 1.0, loss=loss, holds=True)
    return replace(plain, **more)  # type: ignore[arg-type]


def comparison(*rows: Compared) -> Comparison:
    return Comparison("5^2-anonymity", "ncp", 9, 4, rows)


def test_every_method_for_the_guarantee_has_a_row(all_methods: Comparison) -> None:
    able = {record.key for record in METHODS if "km" in record.guarantees} - {"auto"}
    assert {one.method for one in all_methods.rows} == able
    assert all(one.holds for one in all_methods.rows if one.loss is not None)


def test_rows_say_what_anonymize_does(all_methods: Comparison) -> None:
    data, tree = toy()
    for one in all_methods.rows:
        release = sv.anonymize(data, KM, hierarchy=tree, method=one.method)
        assert one.loss == release.losses["ncp"] == one.scores["ncp"]
        assert one.labels == len(release.labels)
        assert one.left_out == Fraction(release.suppressed, release.occurrences)
        assert one.objective == release.objective


def test_rows_are_in_order_and_nothing_loses_less_than_the_recommended(all_methods: Comparison) -> None:
    losses = [one.loss for one in all_methods.usable]
    assert losses == sorted(losses, key=lambda loss: loss or 0)
    assert all_methods.recommended == all_methods.usable[0].method == "trim"
    text = " ".join(all_methods.reasons)
    assert text.startswith("trim loses least: NCP")
    assert "It is proven that no recoding of its kind has a lower NCP." in text


def test_weights_count() -> None:
    data, tree = toy()
    weights = {"a1": 5, "b1": Fraction(1, 2)}
    found = compare(data, KM, hierarchy=tree, methods=["optimal"], weights=weights)
    release = sv.anonymize(data, KM, hierarchy=tree, method="optimal", weights=weights)
    assert release.objective is not None
    assert found.rows[0].loss == release.objective.value
    assert "weighted NCP" in str(found)


def test_without_a_hierarchy_only_some_can_work() -> None:
    data, _ = toy()
    found = compare(data, KM)
    by_method = {one.method: one for one in found.rows}
    assert by_method["aa"].status == REFUSED
    assert "hierarchy" in by_method["aa"].remark()
    assert by_method["trim"].loss is not None
    with pytest.raises(UsageError, match="needs a hierarchy"):
        compare(data, KM, methods=["aa", "trim"])


def test_what_is_refused_or_late_is_a_row() -> None:
    data, tree = groceries(n=300)
    found = compare(data, sv.KmAnonymity(5, 2), hierarchy=tree, methods=["oa", "aa"])
    assert found.rows[-1].status == REFUSED
    assert "cuts" in found.rows[-1].why
    late = compare(data, sv.KmAnonymity(5, 2), hierarchy=tree, methods=["vpa"], time_limit=1e-6)
    assert late.rows[0].status == LATE
    assert late.recommended is None
    assert "No method is recommended" in str(late)


def test_other_guarantees() -> None:
    data, tree = toy()
    found = compare(data, sv.KAnonymity(2), hierarchy=tree)
    assert [one.method for one in found.rows] == ["partition"]


def test_options_go_to_the_methods_that_have_them() -> None:
    data, tree = toy()
    compare(data, KM, hierarchy=tree, methods=["aa", "vpa"], parts=2)
    for methods in (["aa", "optimal"], ["aa"]):
        with pytest.raises(UsageError, match="option 'parts'"):
            compare(data, KM, hierarchy=tree, methods=methods, parts=2)
    with pytest.raises(UsageError, match="must be a whole number"):
        compare(data, KM, hierarchy=tree, parts="x")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"methods": "aa"}, "not several"),
        ({"methods": []}, "no method"),
        ({"methods": ["aaa"]}, "unknown method"),
        ({"methods": ["partition"]}, "does not give"),
        ({"measures": ["beauty"]}, "unknown measure"),
        ({"cost": "money"}, "unknown cost"),
        ({"time_limit": 0}, "time_limit"),
        ({"hierarchy": "tree.csv"}, "is a path"),
    ],
)
def test_slips_are_told_first(options: dict[str, object], said: str) -> None:
    data, tree = toy()
    with pytest.raises(UsageError, match=said):
        compare(data, KM, **{"hierarchy": tree, **options})  # type: ignore[arg-type]


def test_it_can_be_stopped_and_tells_where_it_is() -> None:
    data, tree = toy()
    stages: list[str] = []
    watch = sv.Watch(listener=lambda stage, _: stages.append(stage))
    compare(data, KM, hierarchy=tree, methods=["aa", "mm"], watch=watch)
    assert {stage.split(":")[0] for stage in stages} == {"aa", "mm"}
    watch.cancel()
    with pytest.raises(Cancelled):
        compare(data, KM, hierarchy=tree, methods=["aa"], watch=watch)


def test_a_useless_release_is_never_recommended() -> None:
    found = comparison(
        row("trim", Fraction(1, 2), left_out=Fraction(1, 4)),
        row("optimal", Fraction(1), useless="nothing but '*' is published: x. Try."),
        row("aa", Fraction(1), useless="nothing but '*' is published: x. Try."),
    )
    assert found.recommended == "trim"
    assert "optimal and aa are not recommended: nothing but '*' is published: x." in found.reasons
    assert "No method here publishes every item in some form." in found.reasons


def test_a_broken_promise_is_never_recommended() -> None:
    found = comparison(row("aa", Fraction(1, 2)), row("vpa", Fraction(1, 4), holds=False))
    assert found.recommended == "aa"
    assert "The audit says no to vpa" in found.reasons[-1]


def test_the_fastest_that_is_nearly_as_good() -> None:
    best = row("trim", Fraction(100, 1000), seconds=9.0)
    near = row("aa", Fraction(110, 1000), seconds=0.5)
    far = row("mm", Fraction(111, 1000), seconds=0.1)
    found = comparison(best, near, far)
    assert any(
        said.startswith("aa is the fastest within 10 % of that: 0.50 s") for said in found.reasons
    )
    same = comparison(best, row("aa", Fraction(1, 10), seconds=0.5))
    assert any("aa loses as little and was faster" in said for said in same.reasons)


def test_a_gap_is_told() -> None:
    objective = ObjectiveValue("ncp", Fraction(1, 2), Fraction(1, 4))
    found = comparison(row("trim", Fraction(1, 2), objective=objective, status=CUT))
    assert "at most 0.2500 above" in found.reasons[1]
    assert "gap 0.2500" in str(found)
    assert "cut short" in str(found)


def test_as_text_csv_html_and_plain(all_methods: Comparison) -> None:
    assert str(all_methods).startswith("2^2-anonymity of ")
    rows = list(csv.DictReader(io.StringIO(all_methods.to_csv())))
    assert [one["method"] for one in rows] == [one.method for one in all_methods.rows]
    assert rows[0]["proven"] == "True"
    assert all_methods._repr_html_().count("<tr>") == len(rows) + 1
    hostile = comparison(row("aa", None, status=NONE, why="<b>&"))
    assert "&lt;b&gt;&amp;" in hostile._repr_html_()
    assert Comparison("x", "ncp", 0, 0, ()).to_csv() == "method\n"


def test_the_picture_shows_every_method(all_methods: Comparison) -> None:
    svg = all_methods.figure().svg
    shown = [element.text for element in ElementTree.fromstring(svg).iter() if element.text]
    for one in all_methods.rows:
        assert one.method in shown
    assert all_methods.figure().svg == svg
    for found in (comparison(), comparison(row("aa", None, why="<b>" * 99))):
        ElementTree.fromstring(found.figure().svg)


def test_memory_is_measured_where_the_system_tells() -> None:
    with measure_peak() as peak:
        block = bytearray(50 * 2**20)
        block[::4096] = b"x" * len(block[::4096])
    if peak.added is None:
        pytest.skip("this system does not tell the peak of a process")
    assert 45 * 2**20 < peak.added < 90 * 2**20
    with pytest.raises(ZeroDivisionError), measure_peak() as peak:
        _ = 1 / 0
    assert peak.added is not None
