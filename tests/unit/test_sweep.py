"""Sweeps: points say what anonymize says, limits are rows, JSON is exact, pictures show the grid."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import pytest

import setveil as sv
from setveil.errors import DataError, UsageError
from setveil.io.demo import groceries, toy
from setveil.registry import METHODS
from setveil.report.frontier import Sweep, SweepPoint
from setveil.report.terms import CUT, LATE, NONE, REFUSED
from setveil.sweep import read_sweep, sweep

KM = [record.key for record in METHODS if "km" in record.guarantees]


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter()]


@pytest.mark.parametrize("method", KM)
def test_points_are_what_anonymize_gives(method: str) -> None:
    data, tree = toy()
    found = sweep(data, tree, [2, 3], [1, 2], method=method)
    for point in found.points:
        release = sv.anonymize(data, sv.KmAnonymity(point.k, point.m), hierarchy=tree, method=method)
        assert point.loss == release.losses["ncp"]
        assert point.left_out == Fraction(release.suppressed, release.occurrences)
        assert point.labels == len(release.labels)
        assert point.useless == (release.useless is not None)
        if release.objective is not None:
            assert point.bound == release.objective.bound


def test_trim_sweeps_larger_data() -> None:
    data, tree = groceries(n=400)
    found = sweep(data, tree, [2, 5, 10], [1, 2], method="trim", time_limit=20)
    losses = {(point.k, point.m): point.loss or 0 for point in found.points}
    assert all(losses[k, 1] <= losses[k, 2] for k in (2, 5, 10))
    assert all(losses[2, m] <= losses[5, m] <= losses[10, m] for m in (1, 2))
    assert found.records == 400


def test_weights_and_cost() -> None:
    data, tree = toy()
    weights = {"a1": 5, "b1": Fraction(1, 2)}
    found = sweep(data, tree, 2, 2, weights=weights, cost="lm")
    release = sv.anonymize(
        data, sv.KmAnonymity(2, 2), hierarchy=tree, method="optimal", weights=weights, cost="lm"
    )
    assert release.objective is not None
    assert found.points[0].loss == release.objective.value
    assert found.lost == "weighted LM lost by optimal"


def test_points_without_a_result_say_why() -> None:
    data, tree = toy()
    found = sweep(data, tree, [2, 500], [1])
    assert [point.status for point in found.points] == ["done", NONE]
    assert "none" in str(found)
    data, tree = groceries(n=300)
    refused = sweep(data, tree, [5], [2], method="oa")
    assert refused.points[0].status == REFUSED
    late = sweep(data, tree, [5], [2], method="vpa", time_limit=1e-6)
    assert late.points[0].status == LATE
    assert "time limit" in str(late)
    for one in (found, refused, late):
        for figure in (one.figure(), one.curves()):
            ElementTree.fromstring(figure.svg)
        assert Sweep.from_json(one.to_json()).points[-1].status == one.points[-1].status


def test_the_watch_hears_of_every_point() -> None:
    data, tree = toy()
    stages: list[str] = []
    sweep(data, tree, [2, 3], [1], watch=sv.Watch(listener=lambda stage, _: stages.append(stage)))
    assert {stage.split(":")[0] for stage in stages} == {"k=2, m=1", "k=3, m=1"}


def test_json_is_exact_and_checked(tmp_path: Path) -> None:
    data, tree = toy()
    found = sweep(data, tree, [2, 3, 500], [1, 2], method="trim")
    path = tmp_path / "s.json"
    path.write_text(found.to_json())
    again = read_sweep(path)
    assert [(p.k, p.m, p.loss, p.bound, p.left_out, p.status) for p in again.points] == [
        (p.k, p.m, p.loss, p.bound, p.left_out, p.status) for p in found.points
    ]
    assert again.figure().svg == found.figure().svg


@pytest.mark.parametrize(
    "change",
    [
        {"setveil_sweep": 2},
        {"points": 3},
        {"points": [{}]},
        {"points": [3]},
        {"records": -1},
        {"items": "many"},
    ],
)
def test_what_is_no_sweep_is_refused(change: dict[str, object]) -> None:
    data, tree = toy()
    plain = json.loads(sweep(data, tree, 2, 1).to_json())
    with pytest.raises(DataError):
        Sweep.from_json(json.dumps(plain | change))


@pytest.mark.parametrize(
    "change",
    [
        {"loss": "2/0"},
        {"loss": "7/2"},
        {"loss": 0.5},
        {"loss": "9" * 100},
        {"k": True},
        {"status": "fine"},
        {"proven": 1},
        {"seconds": "x"},
    ],
)
def test_a_point_that_is_none_is_refused(change: dict[str, object]) -> None:
    data, tree = toy()
    plain = json.loads(sweep(data, tree, 2, 1).to_json())
    plain["points"][0] |= change
    with pytest.raises(DataError):
        Sweep.from_json(json.dumps(plain))
    for text in ("", "[]", "null", "[" * 9999, '{"setveil_sweep": 1}'):
        with pytest.raises(DataError):
            Sweep.from_json(text)


def test_pictures_show_every_point_and_mark_the_chosen_one() -> None:
    half = Fraction(1, 2)
    points = (
        SweepPoint(2, 1, Fraction(0), None, True, 5, 0.1),
        SweepPoint(2, 2, half, None, False, 5, 0.1, Fraction(1, 9), CUT),
        SweepPoint(5, 1, Fraction(1), None, True, 1, 0.1, useless=True),
        SweepPoint(5, 2, None, None, False, 0, 0.1, status=LATE),
    )
    found = Sweep("trim", "ncp", points, 100, 9)
    shown = texts(found.figure((2, 2)).svg)
    assert {"0.00 %", "50.00 % *", "root only", "time limit", "k = 5", "m = 2"} <= set(shown)
    assert any(text.startswith("Framed: k=2, m=2") for text in shown)
    assert any("Time limit: k=5 m=2." in text for text in shown)
    assert {"m = 1", "m = 2"} <= set(texts(found.curves().svg))
    assert str(found).endswith("less may be possible")
    assert "<td>50.00 % *</td>" in found._repr_html_()
    assert found.to_csv().count("\n") == 5
    with pytest.raises(UsageError, match="no point of the sweep"):
        found.figure((3, 1))


def test_the_count_one_and_the_share_of_all_are_two_strengths() -> None:
    data = sv.Transactions.from_rows([["ale"], ["milk"]])
    pair = sv.PatternPair.of_sets(
        data, data, sv.Hierarchy.from_parents({"ale": "x", "milk": "x", "x": None})
    )
    with pytest.raises(UsageError, match="as numbers they are the same"):
        sv.sweep(pair, growths=2, min_supports=["1", "100%"])
    assert "100%" in str(sv.sweep(pair, growths=2, min_supports="100%"))
