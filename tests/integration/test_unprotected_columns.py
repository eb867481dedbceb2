"""Columns that are published as they are: they pass whole, and everything says they are not covered."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

import pyarrow as pa
import pytest

import setveil as sv
from setveil.errors import DataError, UsageError
from tests.integration.cli import Shell

LINES = [
    "1,10,F,ale milk",
    "2,11,F,wine milk",
    "3,12,M,ale",
    '4,"x, y",M,wine',
    "5,,M,milk",
    "6,10,M,milk",
]
TABLE = ("--set", "drug", "--keep", "sex", "--keep-unprotected", "zip", "--id", "who")
KM = ("-k", "2", "-m", "2")
TREE = {
    "ale": "alcohol",
    "wine": "alcohol",
    "milk": "food",
    "alcohol": "ALL",
    "food": "ALL",
    "ALL": None,
}


def write(lines: list[str], name: str = "t.csv") -> None:
    Path(name).write_text("\n".join(["who,zip,sex,drug", *lines]) + "\n")


def anonymize(shell: Shell, *words: str) -> tuple[str, str]:
    ran = shell("anonymize", "t.csv", *TABLE, "--hierarchy", "drug=products.csv", *KM, *words)
    assert ran.code == 0, ran.err
    return ran.out, ran.err


@pytest.fixture
def table(shell: Shell) -> Shell:
    write(LINES)
    return shell


def test_cells_pass_with_their_records(table: Shell) -> None:
    out, err = anonymize(table, "-o", "out")
    assert "not covered by the promise, published as they are: zip" in out
    assert "NOT covered by the promise: 'zip'" in err
    with open("out/data.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["zip", "sex", "drug"]
    assert rows[1:] == [
        ["", "M", "milk"],
        ["10", "F", "alcohol milk"],
        ["10", "M", "milk"],
        ["11", "F", "alcohol milk"],
        ["12", "M", "alcohol"],
        ["x, y", "M", "alcohol"],
    ]
    assert "zip" not in Path("out/hierarchy.csv").read_text()


def test_certificate_and_verdict_name_them(table: Shell) -> None:
    anonymize(table, "-o", "out")
    certificate = json.loads(Path("out/certificate.json").read_text())
    assert certificate["data"]["columns"][0] == {"name": "zip", "kind": "unprotected"}
    assert "published as they are: zip." in certificate["not_promised"][0]
    for words in ((), KM, ("--mode", "cover")):
        plain = table("audit", "out", *words, "--json").json
        assert plain["holds"] is True
        assert any("not checked: the columns zip" in note for note in plain["notes"])
    private = json.loads(Path("out.private/audit.json").read_text())
    assert any("zip" in note for note in private["verdict"]["notes"])
    covered = table(
        "audit", "t.csv", "--set", "drug", "--keep", "zip", "--missing-cells", "category", *KM
    )
    assert covered.code == 1
    assert "not checked" not in covered.out


@pytest.mark.parametrize("method", ["optimal", "aa", "lra", "vpa"])
def test_the_order_of_the_input_does_not_show(table: Shell, method: str) -> None:
    shuffler = random.Random(7)
    lines = [
        f"{n},{n % 3},{'FM'[n % 2]},{('ale', 'wine', 'milk', 'ale milk')[n % 4]}" for n in range(40)
    ]
    found = set()
    for turn in range(3):
        shuffler.shuffle(lines)
        write(lines)
        anonymize(table, "-o", f"out{turn}", "--method", method)
        found.add(Path(f"out{turn}/data.csv").read_bytes())
    assert len(found) == 1
    assert table("audit", "out0").code == 0


def test_merged_rows_must_agree(table: Shell) -> None:
    write([*LINES, "1,99,F,bun"])
    before = table.names()
    ran = table("anonymize", "t.csv", *TABLE, "--hierarchy", "drug=products.csv", *KM, "-o", "out")
    assert ran.code == 3
    assert "error[conflicting-cells] t.csv:8:" in ran.err
    assert "99" not in ran.err
    assert table.names() == before
    write([*LINES, "1,10,F,ale"])
    anonymize(table, "-o", "out")
    assert Path("out/data.csv").read_text().count("\n") == 7


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("--keep-unprotected", "drug"), 2, "two roles"),
        (("--keep-unprotected", "nowhere"), 2, "no column 'nowhere'"),
        (("--keep-unprotected", "zip", "--hierarchy", "zip=products.csv"), 2, "does not name a column"),
        (("--keep-unprotected", "zip", "--format", "jsonl"), 3, "only a table can hold"),
    ],
)
def test_what_does_not_fit(table: Shell, words: tuple[str, ...], code: int, text: str) -> None:
    start = (
        "anonymize",
        "t.csv",
        "--set",
        "drug",
        "--hierarchy",
        "drug=products.csv",
        *KM,
        "-o",
        "out",
    )
    ran = table(*start, *words)
    assert ran.code == code
    assert text in ran.err
    assert not Path("out").exists()


def test_they_need_a_table(table: Shell) -> None:
    ran = table("anonymize", "baskets.csv", "--keep-unprotected", "zip", *KM, "-o", "out")
    assert ran.code == 2
    assert "--set COLUMN" in ran.err


def test_formulas_in_them_count(table: Shell) -> None:
    write([line.replace(",12,", ",=1+1,") for line in LINES])
    words = ("anonymize", "t.csv", *TABLE, "--hierarchy", "drug=products.csv", *KM, "-o", "out")
    ran = table(*words, "--csv-safe")
    assert ran.code == 3
    assert "not safe to open" in ran.err
    assert table(*words).code == 0


def test_frames_bring_them_too(tmp_path: Path) -> None:
    frame = pa.table(
        {
            "drug": [["ale"], ["wine"], ["milk"], ["milk"]],
            "age": [30, 41, None, 30],
        }
    )
    data = sv.from_frame(frame, set_columns=["drug"], keep_unprotected=["age"])
    assert data.unprotected == (("30",), ("41",), ("",), ("30",))
    tree = {"drug": sv.Hierarchy.from_parents(TREE)}
    release = sv.anonymize(data, sv.KmAnonymity(2, 1), hierarchy=tree)
    assert "published as they are: age" in str(release)
    assert release.to_arrow().to_pydict() == {
        "drug": [["alcohol"], ["alcohol"], ["milk"], ["milk"]],
        "age": ["30", "41", "", "30"],
    }
    verdict = sv.audit(release)
    assert verdict.holds
    assert "the columns age" in verdict.notes[-1]
    assert sv.publish(release, tmp_path / "out").verdict.notes == verdict.notes
    with pytest.raises(UsageError, match="need set_columns"):
        sv.from_frame(frame, keep_unprotected=["age"])


def test_rows_left_out_take_their_cells_along(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("zip,drug\n1,ale\n2,\n3,milk\n")
    options = {"set_columns": {"drug": " "}, "keep_unprotected": ["zip"]}
    kept = sv.read_records(tmp_path / "t.csv", **options).as_transactions()
    assert kept.unprotected == (("1",), ("2",), ("3",))
    fewer = sv.read_records(tmp_path / "t.csv", empty_rows="skip", **options).as_transactions()
    assert fewer.unprotected == (("1",), ("3",))


def test_cells_that_no_file_can_hold() -> None:
    frame = pa.table({"drug": [["ale"], ["ale"]], "age": ["3\x00", "4"]})
    with pytest.raises(DataError) as caught:
        sv.from_frame(frame, set_columns=["drug"], keep_unprotected=["age"])
    assert (caught.value.problems[0].code, caught.value.problems[0].line) == ("nul-byte", 1)
