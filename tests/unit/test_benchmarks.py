"""The benchmarks run, each on a tiny input. What they measure is judged elsewhere, never here."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from benchmarks.__main__ import main
from benchmarks.buckets import false_links
from benchmarks.catalogue import BENCHMARKS, NAMES, benchmark
from benchmarks.context import Context, WorkerFailed, measured_apart
from benchmarks.data import FILES, ROOT, DataAbsent, Source, by_level
from benchmarks.grid import METHODS, Apart, Bench, Point, answers
from benchmarks.plot import Panel, small_multiples
from benchmarks.report import (
    Report,
    Table,
    as_markdown,
    as_plain,
    as_text,
    at_least,
    at_most,
    is_true,
    ratio,
    shown,
    write,
)
from benchmarks.work.audit import rare_by_size
from benchmarks.work.compare import (
    COLUMNS,
    Loss,
    bars,
    claims_table,
    grid,
    kept,
    key,
    report,
    row,
)
from benchmarks.worker import timed

from setveil.model.microdata import Microdata
from setveil.model.rules import NegativeRule
from setveil.release.buckets import Bucketing
from tests.oracle.itemsets import minimal_rare

QUICK = Context(quick=True)


def test_the_names() -> None:
    assert len(set(NAMES)) == len(NAMES) == 25
    assert [entry.name for entry in BENCHMARKS if not entry.by_default] == [
        "pos-large-m",
        "compare",
    ]
    assert all(entry.about for entry in BENCHMARKS)
    with pytest.raises(KeyError, match="known: startup"):
        benchmark("speed")


@pytest.mark.parametrize("name", NAMES)
def test_each_runs_on_a_tiny_input(name: str, tmp_path: Path) -> None:
    report = benchmark(name).load()(QUICK)
    assert report.name == name
    assert report.quick
    assert all(bar.met is None for bar in report.bars)
    for table in report.tables:
        assert table.rows
        assert all(len(row) == len(table.columns) for row in table.rows)
    write(report, tmp_path)
    plain = json.loads((tmp_path / f"{name}.json").read_text())
    assert plain["benchmark"] == name
    assert set(plain) >= {"cores", "python", "tables", "bars"}
    assert len(plain["tables"][0]["rows"]) == len(report.tables[0].rows)
    assert (tmp_path / f"{name}.md").read_text().startswith(f"# {name}\n")
    for picture in report.pictures:
        root = ElementTree.parse(tmp_path / picture).getroot()
        assert root.tag.endswith("svg")


@pytest.mark.parametrize(
    "name", ["aa", "optimal", "trim", "threats", "pos", "partition", "negative", "diversity"]
)
def test_what_is_measured_holds_by_the_audit(name: str) -> None:
    report = benchmark(name).load()(QUICK)
    column = report.tables[0].columns.index("holds")
    assert all(row[column] is True for row in report.tables[0].rows)


def test_a_process_of_its_own_reports_time_memory_and_loss() -> None:
    spec = {
        "task": "anonymize",
        "data": Source("small", 200).as_dict(),
        "guarantee": {"model": "km", "k": 3, "m": 2},
        "method": "aa",
        "runs": 2,
    }
    found = measured_apart(spec)
    assert found["holds"] is True
    assert found["runs"] == 2
    assert found["peak_mb"] > 20
    assert 0 <= found["ncp"] <= 1
    impossible = spec | {"guarantee": {"model": "km", "k": 1000, "m": 2}}
    assert measured_apart(impossible) == {"failed": "Infeasible"}


def test_a_process_of_its_own_tells_how_a_time_limit_ended() -> None:
    spec = {
        "task": "stopped",
        "data": Source("small", 200).as_dict(),
        "guarantee": {"model": "km", "k": 3, "m": 2},
        "method": "hghs",
    }
    assert measured_apart(spec | {"time_limit": 1e-9})["end"] == "TimeLimit"
    assert measured_apart(spec)["end"] == "a release"


def test_the_first_run_is_not_counted() -> None:
    calls: list[int] = []
    result, found = timed(lambda: calls.append(1) or len(calls), runs=3)
    assert (result, len(calls), found["runs"]) == (4, 4, 3)
    _, once = timed(lambda: None, runs=1)
    assert once["runs"] == 1
    assert once["seconds"] >= 0


def test_real_data_that_are_absent_skip_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SETVEIL_DATA", str(tmp_path))
    for name in (*FILES, "modulo"):
        with pytest.raises(DataAbsent, match="SETVEIL_DATA"):
            Source(name).check()
    Source("POS shape").check()
    assert main(["partition", "--output", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "partition: skipped: BMS-WebView-2.dat.gz is not here" in said
    assert str(tmp_path) not in said
    assert list(tmp_path.iterdir()) == []


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    assert all(name in capsys.readouterr().out for name in [NAMES[0]])
    assert main(["speed"]) == 2
    assert "known: startup" in capsys.readouterr().err
    assert main(["partition", "--quick", "--output", str(tmp_path)]) == 0
    assert "Quick run" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["partition.json", "partition.md"]


def test_the_same_work_by_another_checkout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["partition", "--quick", "--against", str(ROOT)]) == 0
    said = capsys.readouterr().out
    assert "here / there" in said
    assert len(re.findall(r"^  \d: partition", said, re.MULTILINE)) == 2
    assert main(["partition", "--quick", "--against", str(tmp_path)]) == 1
    assert "is no checkout" in capsys.readouterr().out


def test_a_checkout_may_build_its_trees_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    from setveil.hierarchy import build

    monkeypatch.setitem(sys.modules, "setveil.hierarchy.build", None)
    monkeypatch.setitem(sys.modules, "setveil.model.build", build)
    data, hierarchy = Source("POS shape", 50, 20).load()
    assert len(data) == 50
    assert hierarchy.path(data.vocabulary.labels[0])


def test_ratio_and_bars() -> None:
    assert ratio(6.0, 1.5) == 4.0
    assert ratio(1.0, 0.0) is None
    assert ratio(None, 1.0) is None
    assert ratio(1.0, None) is None
    assert at_most("a", 1.0, 1.0, quick=False).met is True
    assert at_most("a", 1.1, 1.0, quick=False).met is False
    assert at_most("a", None, 1.0, quick=False).met is False
    assert at_most("a", 1.1, 1.0, quick=True).met is None
    assert at_least("a", 20.0, 20, quick=False).met is True
    assert at_least("a", None, 20, quick=False).met is False
    assert is_true("a", False, quick=False).met is False


def test_cells_as_text() -> None:
    cells = [None, True, False, 515_597, 1234.5, 12.34, 1.5, 0.05143, 0.000058, 0.0, "word"]
    said = ["-", "yes", "no", "515,597", "1,234", "12.3", "1.50", "0.05143", "0.000058", "0", "word"]
    assert [shown(cell) for cell in cells] == said


def test_reports_as_text_markdown_and_plain_values() -> None:
    table = Table(("what", "seconds"), (("a", 1.0), ("long name", None)), "Times")
    report = Report(
        "x",
        "A title",
        (table,),
        (at_most("a", 2.0, 1.0, quick=False),),
        ("said.",),
        False,
        {"x.svg": ""},
    )
    text = as_text(report)
    assert "MISSED" in text
    assert "  long name        -" in text
    assert "| long name | - |" in as_markdown(report)
    assert "![A title](x.svg)" in as_markdown(report)
    piped = replace(report, tables=(Table(("point", "s"), (("|D| = 5", 1.0),)),))
    assert "| \\|D\\| = 5 | 1.00 |" in as_markdown(piped)
    assert as_plain(report)["tables"][0]["rows"][0] == {"what": "a", "seconds": 1.0}
    assert "Quick run" in as_markdown(replace(report, quick=True))
    assert not re.search(r"20\d\d-\d\d", as_markdown(report))


def test_the_rival_of_the_audit_counts_right() -> None:
    data, _ = Source("POS shape", 90, 18).load()
    rows = [data.items[start:end].tolist() for start, end in pairwise(data.indptr.tolist())]
    found = minimal_rare([frozenset(row) for row in rows], [1] * len(rows), 7, 3)
    sizes = [len(itemset) for itemset, _ in found]
    assert rare_by_size(rows, 7) == (sizes.count(1), sizes.count(2), sizes.count(3))
    assert sizes.count(2)
    assert sizes.count(3)


def test_a_picture_shows_what_is_known() -> None:
    panel = Panel("seconds", "m", (1, 2, 3), {"aa": (1.0, None, 3.0), "a<b": (2.0, 2.0, 2.0)})
    picture = small_multiples([("block", [[panel, replace(panel, logarithmic=True)]])], "title")
    root = ElementTree.fromstring(picture)
    space = "{http://www.w3.org/2000/svg}"
    # Two known points in each of two panels, and one mark in the legend.
    assert len(root.findall(f"{space}circle")) == 2 * 2 + 1
    assert "a&lt;b" in picture
    assert small_multiples([("block", [[panel]])], "title") == small_multiples(
        [("block", [[panel]])], "title"
    )


def test_a_worker_that_fails_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(context: Context) -> Report:
        found = measured_apart({"task": "no such task"})
        raise AssertionError(f"measured {found} of {context}")

    entry = benchmark("threads")
    monkeypatch.setattr(type(entry), "load", lambda self: fails if self is entry else _one_row)
    assert main(["threads", "sweep", "--quick", "--output", str(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert "threads: failed:" in said
    assert "no such task" in said
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["sweep.json", "sweep.md"]


def _one_row(context: Context) -> Report:
    return Report("sweep", "One row", (Table(("a",), ((1,),)),), quick=context.quick)


def test_no_words_of_a_picture_overlap() -> None:
    xs = (25_000, 50_000, 100_000, 200_000)
    panel = Panel("seconds", "|D|", xs, dict.fromkeys(("aa", "optimal"), (0.01, 4.0, 90.0, 12345.0)))
    rows = [[panel] * 5, [replace(panel, logarithmic=True)] * 3]
    root = ElementTree.fromstring(small_multiples([("one", rows), ("two", rows)], "title"))
    width, height = (float(value) for value in root.attrib["viewBox"].split()[2:])
    boxes = [_box(text) for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert len(boxes) > 150
    for left, top, right, bottom in boxes:
        assert left >= 0
        assert top >= 0
        assert right <= width
        assert bottom <= height
    for one, other in combinations(boxes, 2):
        apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
        assert apart, (one, other)


def _box(text: ElementTree.Element) -> tuple[float, float, float, float]:
    size, x, y = (float(text.attrib[name]) for name in ("font-size", "x", "y"))
    width = 0.56 * size * len(text.text or "")
    left = x - width * {"start": 0, "middle": 0.5, "end": 1}[text.attrib.get("text-anchor", "start")]
    return left, y - 0.75 * size, left + width, y + 0.2 * size


def test_a_label_at_two_levels_can_be_two_nodes() -> None:
    tree = by_level("a;C;B;*\nb;D;C;*\nc;D;C;*\n")
    assert tree.path("a") == ("a", "C@1", "B@2", "*@3")
    assert tree.path("b") == ("b", "D@1", "C@2", "*@3")
    assert by_level("a;C;C;*\n").path("a") == ("a", "C@1", "C@2", "*@3")


def test_points_are_compared_by_exact_losses() -> None:
    bench = Bench(Source("small", 300))
    found = {name: bench.answer(Point(name, 3, 2), 30.0) for name in METHODS if name != "partition"}
    whole = bench.answer(Point("partition", 3, None), 30.0)
    assert all(answer["state"] == "" for answer in found.values())
    assert found["trim"]["proven"] is found["optimal"]["proven"] is True
    assert found["trim"]["lm"] == found["trim"]["bound"]
    assert found["trim"]["lm"] == min(answer["lm"] for answer in found.values())
    assert found["optimal"]["left_out"] == found["aa"]["left_out"] == whole["left_out"] == 0
    assert found["mm"]["left_out"] > 0
    assert found["aa"]["proven"] is None


def test_a_method_that_gave_up_is_not_asked_for_more() -> None:
    points = [Point("aa", 10**6, 1), Point("aa", 10**6, 2), Point("aa", 2, 1)]
    found = [answer["state"] for _, answer in answers(QUICK, Source("small", 100), points, 5.0)]
    assert found == ["Infeasible", "not tried", ""]


def test_a_point_in_a_process_of_its_own_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    apart = Apart(Source("small", 200))
    here = Bench(Source("small", 200)).answer(Point("trim", 3, 2), 30.0)
    there = apart.answer(Point("trim", 3, 2), 30.0)
    assert {**there, "seconds": 0} == {**here, "seconds": 0}
    monkeypatch.setattr("benchmarks.grid.at_most_seconds", lambda limit: 0.0)
    assert apart.answer(Point("trim", 3, 2), 30.0)["state"] == "stopped"
    monkeypatch.undo()
    assert apart.answer(Point("aa", 3, 2), 30.0)["state"] == ""
    with pytest.raises(WorkerFailed, match="no_method"):
        apart.answer(Point("no_method", 3, None), 30.0)
    apart.close()


def test_a_comparison_goes_on_where_it_was_cut(tmp_path: Path) -> None:
    context = replace(QUICK, output=tmp_path, only=("groceries",))
    whole = benchmark("compare").load()(context)
    assert len(whole.tables[-1].rows) == 2 * (2 * (len(METHODS) - 1) + 1)
    rows = kept(tmp_path, 2.0)
    assert len(rows) == len(whole.tables[-1].rows)
    some = dict(list(rows.items())[:7])
    write(report(some, 2.0, quick=True), tmp_path)
    again = benchmark("compare").load()(replace(context, resume=True))
    losses = [[tuple(line[:6]) for line in each.tables[-1].rows] for each in (whole, again)]
    assert losses[0] == losses[1]
    assert set(some.values()) <= set(again.tables[-1].rows)
    assert kept(tmp_path / "nowhere", 2.0) == {}


def test_a_point_that_was_cut_is_measured_again_where_there_is_more_time(tmp_path: Path) -> None:
    states = {1: "", 2: "cut short", 3: "TimeLimit", 5: "ResourceLimit"}
    found = {m: key("groceries", Point("trim", 5, m)) for m in states}
    rows = {found[m]: row(found[m], {"state": state, "lm": 0.5}, 5.0) for m, state in states.items()}
    write(report(rows, 5.0, quick=False), tmp_path)
    assert set(kept(tmp_path, 5.0)) == set(found.values())
    assert set(kept(tmp_path, 6.0)) == {found[1], found[5]}


def test_the_points_of_the_comparison() -> None:
    points = grid((5, 50), (1, 2, 3, 5, 7))
    assert len(set(points)) == len(points) == 2 * (7 * 5 + 1)
    assert [point.m for point in points if point.method == "partition"] == [None, None]
    with pytest.raises(DataAbsent, match="known: groceries"):
        benchmark("compare").load()(replace(QUICK, only=("retail",)))


def test_where_trim_loses_more_the_bar_names_it() -> None:
    def rows(own: float | None, other: float) -> dict[Any, Any]:
        answers = {"trim": own, "mm": other, "partition": 0.0}
        found = {name: key("groceries", Point(name, 5, 2)) for name in answers}
        return {
            found[name]: row(found[name], {"lm": lm, "state": ""}, 5.0) for name, lm in answers.items()
        }

    assert bars(rows(0.5, 0.5), quick=False)[0].met is True
    assert bars(rows(0.6, 0.5), quick=False)[0].met is False
    assert "groceries k=5 m=2 (mm)" in bars(rows(None, 0.5), quick=False)[0].what
    assert COLUMNS[:4] == ("data", "method", "k", "m")


def test_claims_are_counted_where_both_methods_ended() -> None:
    losses = {
        ("x", "mhghs", 5, 1): Loss(0.9, False),
        ("x", "aa", 5, 1): Loss(0.1, False),
        ("x", "mhghs", 5, 2): Loss(0.1, False),
        ("x", "aa", 5, 2): Loss(1.0, False),
        ("x", "mhghs", 5, 3): Loss(1.0, True),
        ("x", "aa", 5, 3): Loss(1.0, False),
        ("x", "trim", 5, 2): Loss(0.0995, False),
        ("x", "mhghs", 50, 2): Loss(0.2, False),
        ("x", "trim", 50, 2): Loss(0.2, True),
    }
    said = {line[0]: line[1] for line in claims_table(losses, ("x",)).rows}
    assert said["mhghs loses less than aa"] == "1 of 1"
    assert said["aa loses everything"] == "2 of 2"
    assert said["mhghs is within 1 % of trim"] == "1 of 1"
    assert said["trim loses less than mhghs"] == "1 of 1"
    assert said["aa loses less than mm"] == "0 of 0"


def test_false_links_are_counted_by_share() -> None:
    data = Microdata.from_columns({"sex": list("FMM"), "ill": ["ovary", "flu", "flu"]}, "ill")
    rules = [NegativeRule((("sex", "M"),), "ovary")]
    one = Bucketing(np.zeros(3, np.int32))
    # Each of two men is linked to ovary with 1/3.
    assert false_links(data, one, rules) == Fraction(2, 9)
    apart = Bucketing(np.array([0, 1, 1], np.int32))
    assert false_links(data, apart, rules) == 0
    assert false_links(data, one, ()) == 0
