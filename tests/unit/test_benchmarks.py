"""The benchmarks run, each on a tiny input. What they measure is judged elsewhere, never here."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from benchmarks.__main__ import main
from benchmarks.catalogue import BENCHMARKS, NAMES, benchmark
from benchmarks.context import Context, measured_apart
from benchmarks.data import FILES, DataAbsent, Source
from benchmarks.plot import Panel, log_ticks, small_multiples, ticks
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
from benchmarks.worker import timed

from tests.oracle.itemsets import minimal_rare

QUICK = Context(quick=True)


def test_the_names() -> None:
    assert len(set(NAMES)) == len(NAMES) == 13
    assert [entry.name for entry in BENCHMARKS if not entry.by_default] == ["pos-large-m"]
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


@pytest.mark.parametrize("name", ["aa", "optimal", "pos", "partition", "negative", "diversity"])
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


def test_axes() -> None:
    assert ticks(0.0) == [0.0, 1.0]
    for largest in (0.003, 0.9, 1.0, 7.3, 250.0, 99_999.0):
        marks = ticks(largest)
        assert marks[0] == 0
        assert marks[-1] >= largest > marks[-2]
        assert 3 <= len(marks) <= 6
    assert log_ticks(1.0, 1.0) == [1.0, 10.0]


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
    left = x - width * {"start": 0, "middle": 0.5, "end": 1}[text.attrib["text-anchor"]]
    return left, y - 0.75 * size, left + width, y + 0.2 * size
