"""Columns that do not hold what they are said to hold: lists, values of one person each, names."""

from __future__ import annotations

import csv
import gzip
import shlex
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pytest

import setveil as sv
from setveil.errors import DataError
from setveil.io.column_look import Tally, told_of_identifiers
from setveil.io.frames import from_frame
from setveil.io.microdata import microdata_from_frame, read_microdata
from setveil.io.records import read_records
from tests.shared_data import shared_data

ROWS = 400
CODES = [str(code) for code in range(401, 441)]
WORDS = ["flu", "asthma", "gout", "heart disease", "migraine"]


def drawn(some: list[str], mark: str, most: int = 5) -> list[str]:
    """Return cells of one to `most` different values, in any order."""
    random = Random(1)
    return [mark.join(random.sample(some, random.randint(1, most))) for _ in range(ROWS)]


def made(form: Any) -> list[str]:
    random = Random(2)
    return [form(random) for _ in range(ROWS)]


def in_order(cells: list[str], mark: str) -> list[str]:
    return [mark.join(sorted(cell.split(mark))) for cell in cells]


LISTS = {
    "codes by semicolons": (drawn(CODES, ";"), ";"),
    "codes by semicolons and blanks": (drawn(CODES, "; "), ";"),
    "codes by bars": (drawn(CODES, "|"), "|"),
    "codes by commas": (drawn(CODES, ","), ","),
    "one or two codes by commas": (drawn(CODES, ",", 2), ","),
    "ICD-10 by commas and blanks": (drawn(["I10", "E11.9", "J45.0", "F32.1", "M54"], ", "), ","),
    "codes by blanks": (drawn(CODES, " "), " "),
    "sorted codes": (in_order(drawn(CODES, ";"), ";"), ";"),
    "words": (drawn(WORDS, ";"), ";"),
    "words by commas": (drawn(WORDS, ", "), ","),
    "sorted words": (in_order(drawn(WORDS, ";", 3), ";"), ";"),
    "pairs of words": (drawn(WORDS, ";", 2)[:] + ["flu;gout", "gout;flu"] * ROWS, ";"),
    "a few rows": (["401;428;250", "401;250", "272", "428;401;311", "250;401"], ";"),
    "an end mark": ([f"{cell};" for cell in drawn(CODES, ";")], ";"),
    "a quarter of the rows": (drawn(CODES, ";") + ["401"] * ROWS, ";"),
}
SINGLES = {
    "addresses": made(lambda r: f"Main Street {r.randrange(99)}; flat {r.randrange(20)}"),
    "some flats": made(lambda r: f"Elm Street {r.randrange(9)}" + "; flat 2" * (r.random() < 0.5)),
    "towns": made(lambda r: f"Oak Road {r.randrange(99)}, flat 3, {r.randrange(10000, 10050)} Ulm"),
    "names": made(lambda r: f"{r.choice(['Smith', 'Ng', 'Ali'])}, {r.choice(['Ann', 'Bo', 'Cy'])}"),
    "diseases with a remark": made(
        lambda r: (
            r.choice(["fracture", "diabetes", "flu"]) + r.choice(["", ", closed", ", type 2, mild"])
        )
    ),
    "diseases of two words": made(lambda r: r.choice(["ovarian cancer", "heart disease", "flu"])),
    "two columns made one": made(
        lambda r: f"{r.choice(['flu', 'gout'])} / {r.choice(['high', 'low'])}"
    ),
    "free text": made(
        lambda r: r.choice(
            ["Fell on day {}, broke arm", "Cough, no fever since {}", "Stable {}"]
        ).format(r.randrange(200))
    ),
    "decimals": made(lambda r: f"{r.randrange(12)},{r.randrange(10)}"),
    "decimals and whole numbers": made(
        lambda r: r.choice(["{},5", "{},25", "{}"]).format(r.randrange(9))
    ),
    "doses": made(lambda r: f"{r.randrange(9)},{r.randrange(9)} mg"),
    "ranges": made(lambda r: f"{r.randrange(4)},{r.randrange(9)}-{r.randrange(4, 9)},{r.randrange(9)}"),
    "thousands": made(lambda r: f"{r.randrange(900, 90_000):,}"),
    "hundreds of thousands": made(lambda r: f"{r.randrange(100_000, 999_999):,}"),
    "millions and less": made(lambda r: f"{r.randrange(100, 9_999_999):,}"),
    "thousands by blanks": made(lambda r: f"{r.randrange(900, 90_000):,}".replace(",", " ")),
    "points": made(lambda r: f"{r.randrange(9)}, {r.randrange(9)}"),
    "places": made(lambda r: f"{r.random() * 90:.2f}, {r.random() * 90:.2f}"),
    "dates": made(lambda r: f"{r.randrange(1, 28)}.{r.randrange(1, 12)}.2020"),
    "dates by blanks": made(
        lambda r: f"{r.randrange(1, 28)} {r.randrange(1, 12)} {r.randrange(1990, 2020)}"
    ),
    "dates in words": made(lambda r: f"Jan {r.randrange(1, 28)}, {r.randrange(2000, 2020)}"),
    "times": made(lambda r: f"2020-01-{r.randrange(10, 28)} {r.randrange(10, 24)}:30"),
    "pressure": made(lambda r: f"{r.randrange(90, 180)}/{r.randrange(60, 110)}"),
    "ages": made(lambda r: str(r.randrange(90))),
    "zip codes": made(lambda r: str(r.randrange(10_000, 10_050))),
    "postcodes": made(lambda r: f"SW{r.randrange(9)}A {r.randrange(9)}AA"),
    "phones": made(
        lambda r: f"{r.randrange(200, 999)} {r.randrange(200, 999)} {r.randrange(1000, 9999)}"
    ),
    "fewer than a quarter": drawn(CODES, ";", 2)[:100] + ["401"] * ROWS,
    "three rows": ["401;428", "428;401", "250;401", "272"],
}


@pytest.mark.parametrize("name", LISTS)
def test_lists_are_told_from_single_values(name: str) -> None:
    cells, mark = LISTS[name]
    found = Tally(Counter(cells)).lists()
    assert found is not None
    assert found == (mark, sum(mark in cell for cell in cells))


@pytest.mark.parametrize("name", SINGLES)
def test_what_only_looks_like_lists_is_left_alone(name: str) -> None:
    assert Tally(Counter(SINGLES[name])).lists() is None


def write(path: Path, **columns: list[str]) -> Path:
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


@pytest.fixture
def visits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    zips = [str(10_000 + place % 7) for place in range(ROWS)]
    ages = [str(20 + place % 5) for place in range(ROWS)]
    return write(
        tmp_path / "my visits.csv",
        **{"zip code": zips, "age": ages, "diagnoses": drawn(CODES, ";")},
        main_diagnoses=[cell.split(";")[0] for cell in drawn(CODES, ";")],
    )


def refused(call: Any, code: str = "looks-like-lists") -> str:
    with pytest.raises(DataError) as caught:
        call()
    (problem,) = caught.value.problems
    assert problem.code == code
    assert "as_is=True" in problem.remedy
    return str(problem)


def commands(text: str) -> list[list[str]]:
    return [shlex.split(part)[1:] for part in text.split("`")[1::2]]


def test_lists_in_a_sensitive_column_are_refused_with_commands_that_work(visits: Path) -> None:
    options: dict[str, Any] = {"quasi": ["zip code", "age"], "sensitive": "diagnoses"}
    text = refused(lambda: read_microdata("my visits.csv", **options))
    parted = sum(";" in cell for cell in drawn(CODES, ";"))
    assert f"{parted:,} of {ROWS:,} cells of column 'diagnoses' hold several values with ';'" in text
    as_sets, as_one = commands(text)
    assert as_sets[:6] == ["anonymize", "my visits.csv", "--set", "diagnoses", "--set-separator", ";"]
    assert "--quasi" in as_one
    from setveil.cli.main import run

    assert run([*as_one]) == 0
    assert run([*as_sets, "--force"]) == 0
    told = read_microdata("my visits.csv", **options, as_is=True).notices
    assert any(notice.startswith("taken as it is: ") for notice in told)


def test_lists_in_other_columns_are_refused_as_well(visits: Path) -> None:
    text = refused(
        lambda: read_microdata(visits, quasi=["age", "diagnoses"], sensitive="main_diagnoses")
    )
    assert "--keep age --sensitive-column main_diagnoses" in text
    assert "--quasi age,main_diagnoses" in text
    text = refused(
        lambda: read_records(visits, set_columns={"main_diagnoses": " "}, keep=["diagnoses"])
    )
    assert "--set diagnoses --set-separator ';'" in text
    words: dict[str, Any] = {"class_column": "age", "classes": ("20", "21")}
    text = refused(lambda: sv.read_pattern_pair(visits, **words))
    assert "--class-column age --attributes 'zip code,main_diagnoses' --growth 5" in text
    assert sv.read_pattern_pair(visits, **words, as_is=True)


def test_sets_that_another_separator_parts_are_refused(visits: Path) -> None:
    for separator in (" ", "|", ", "):
        text = refused(lambda mark=separator: read_records(visits, set_columns={"diagnoses": mark}))
        assert f"they would be split at {separator!r}" in text
        as_sets, as_one = commands(text)
        assert as_sets[2:6] == ["--set", "diagnoses", "--set-separator", ";"]
        assert as_one[2:] == shlex.split(
            "--quasi 'zip code,age,main_diagnoses' --sensitive main_diagnoses --l 3 -o release"
        )
    records = read_records(visits, set_columns={"diagnoses": " "}, as_is=True)
    assert int(records.items.length_by_record.max()) == 1
    assert int(read_records(visits, set_columns={"diagnoses": ";"}).items.length_by_record.max()) == 5


def test_frames_are_refused_with_the_calls_that_would_be_right(visits: Path) -> None:
    frame = pd.read_csv(visits, dtype=str)
    text = refused(lambda: microdata_from_frame(frame, quasi=["age"], sensitive="diagnoses"))
    assert (
        "`setveil.from_frame(frame, set_columns={'diagnoses': ';'}, keep=['age'], "
        "sensitive='diagnoses')`" in text
    )
    assert "microdata_from_frame(frame, quasi=['age'], sensitive='main_diagnoses')`" in text
    for call in text.split("`")[1::2]:  # as they stand, to be copied
        assert len(eval(call, {"setveil": sv, "frame": frame})) == len(frame)
    assert microdata_from_frame(frame, quasi=["age"], sensitive="diagnoses", as_is=True)
    assert "set_columns={'diagnoses': ';'}" in refused(
        lambda: from_frame(frame, set_columns={"diagnoses": " "})
    )


def test_blanks_that_follow_a_separator_are_left_out_and_told(tmp_path: Path) -> None:
    cells = drawn(CODES, "; ")
    path = write(tmp_path / "a.csv", diagnoses=cells)
    records = read_records(path, set_columns={"diagnoses": ";"})
    exact = read_records(path, set_columns={"diagnoses": "; "})
    assert list(records.items.rows()) == list(exact.items.rows())
    assert any("blanks follow the separator ';' in column 'diagnoses'" in n for n in records.notices)
    assert not any("blanks follow" in notice for notice in exact.notices)
    with pytest.raises(DataError, match="two spellings"):
        read_records(path, set_columns={"diagnoses": ";"}, as_is=True)
    text = refused(lambda: read_records(path, set_columns={"diagnoses": " "}))
    assert "--set diagnoses --set-separator ';'" in text


def test_a_blank_now_and_then_stays_a_slip(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", drugs=["ale;bun;milk", "ale;bun;milk", "ale; bun"])
    with pytest.raises(DataError, match="two spellings"):
        read_records(path, set_columns={"drugs": ";"})


@pytest.mark.parametrize(("alone", "rows", "stops"), [(11, 21, True), (10, 20, False), (12, 24, False)])
def test_a_sensitive_column_mostly_of_lone_values_is_refused(
    tmp_path: Path, alone: int, rows: int, stops: bool
) -> None:
    values = [f"v{place}" for place in range(alone)] + ["same"] * (rows - alone)
    path = write(tmp_path / "a.csv", age=["30"] * rows, income=values, drugs=["ale bun"] * rows)
    options: dict[str, Any] = {"quasi": ["age"], "sensitive": "income"}
    sets: dict[str, Any] = {"set_columns": {"drugs": " "}, "keep": ["age"], "sensitive": "income"}
    if not stops:
        assert len(read_microdata(path, **options)) == len(read_records(path, **sets)) == rows
        return
    text = refused(lambda: read_microdata(path, **options), "mostly-unique")
    assert (
        f"{alone} of {rows} cells of the sensitive column 'income' hold a value that no other" in text
    )
    assert "--quasi age --sensitive income_group --l 3" in text
    assert "--keep age --sensitive-column income_group" in refused(
        lambda: read_records(path, **sets), "mostly-unique"
    )
    assert len(read_microdata(path, **options, as_is=True)) == rows


def test_identifiers_are_named(tmp_path: Path) -> None:
    rows = 40
    path = write(
        tmp_path / "a.csv",
        name=[f"p{place}" for place in range(rows)],
        case_id=[f"c{place // 2}" for place in range(rows)],
        zip=[f"z{place // 2}" for place in range(rows)],
        ill=["flu", "gout"] * (rows // 2),
        drugs=["ale bun"] * rows,
    )
    table = read_microdata(path, quasi=["name", "case_id", "zip"], sensitive="ill")
    told = sv.anonymize(table, sv.LDiversity(2)).notices
    assert [notice for notice in told if "identif" in notice] == [
        "nearly every record has a value of its own in column 'name', which can identify people: leave "
        "it out of --quasi.",
        "column 'case_id' looks like an identifier: it has 20 values in 40 records; leave it out of "
        "--quasi.",
    ]
    for role in ("keep", "keep_unprotected"):
        records = read_records(path, set_columns={"drugs": " "}, **{role: ["name", "zip"]})  # type: ignore[arg-type]
        told = sv.anonymize(records, sv.KmAnonymity(2, 2)).notices
        assert sum("identify people" in notice for notice in told) == 1
    assert not any("p7" in notice for notice in told)


def test_few_records_and_other_names_are_no_identifiers() -> None:
    def told(values: dict[str, int], records: int) -> int:
        return len(told_of_identifiers(values, records, remedy="x"))

    assert told({"name": 20}, 20) == 0
    assert told({"zip": 90}, 100) == 0
    assert told({"zip": 91}, 100) == 1
    assert told({"patient_id": 25, "Case-Name": 26, "zip": 26}, 100) == 1


@pytest.mark.parametrize(
    ("file", "delimiter", "lists"),
    [
        ("adult.csv.gz", ",", {}),
        ("adult_test.csv.gz", ",", {}),
        ("mushroom.csv.gz", ",", {}),
        ("informs2005_rt.csv.gz", ";", {"icd9_conditions": " "}),
    ],
)
def test_real_tables(file: str, delimiter: str, lists: dict[str, str]) -> None:
    with gzip.open(shared_data(file), "rt") as opened:
        names, *rows = csv.reader(opened, delimiter=delimiter)
    tallies = {name: Tally(Counter(column)) for name, *column in zip(names, *rows, strict=True)}
    found = {name: tally.lists() for name, tally in tallies.items()}
    assert {name: told[0] for name, told in found.items() if told is not None} == lists
    assert not any(tally.missed_separator(" ") for tally in tallies.values())
    alone = {name for name, tally in tallies.items() if tally.mostly_alone}
    assert alone <= {"fnlwgt", "row", "icd9_conditions"}


def test_ids_in_front_of_baskets_are_told(tmp_path: Path) -> None:
    items = [["ale", "bun"], ["milk"], ["bun", "milk", "ale"]]
    lines = [",".join(items[place % 3]) for place in range(30)]
    path = tmp_path / "b.csv"
    for ids, told in ((True, 1), (False, 0)):
        path.write_text("".join(f"{f'p{n},' * ids}{line}\n" for n, line in enumerate(lines)))
        notices = sv.read_transactions(path).notices
        assert sum("as a name or an id does" in notice for notice in notices) == told


def test_commands_show_no_control_characters(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", **{"ag\x1b[31me": ["1"] * ROWS, "ill": drawn(CODES, ";")})
    text = refused(lambda: read_microdata(path, quasi=["ag\x1b[31me"], sensitive="ill"))
    assert "--keep 'ag" in text or "--keep \\'ag" in text
    assert text.isprintable()
