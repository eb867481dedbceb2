"""``setveil mine patterns``: on the screen, as JSON and as CSV; and what it refuses."""

from __future__ import annotations

import csv
import io
import stat

import pytest

from tests.integration.cli import Shell

AFTER = "ale,milk\nale\nale,bun\nale,milk\nrum,milk\n"
PEOPLE = "sex,job,pay\nF,cook,low\nM,cook,high\nF,clerk,low\nM,clerk,high\nM,?,high\nF,cook,some\n"
WORDS = ("mine", "patterns", "baskets.csv", "--against", "after.csv")


@pytest.fixture
def files(shell: Shell) -> Shell:
    (shell.folder / "after.csv").write_text(AFTER)
    (shell.folder / "people.csv").write_text(PEOPLE)
    return shell


def test_the_fastest_growing_first(files: Shell) -> None:
    ran = files(*WORDS, "--growth", "2")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0] == (
        "11 emerging patterns: 7 more frequent in baskets.csv (9 records), "
        "4 more frequent in after.csv (5 records); 8 jumping."
    )
    assert lines[1] == "growth\tshare\telsewhere\tmore frequent in\tpattern"
    assert lines[2:4] == [
        'infinite\t22.22%\t0.00%\tbaskets.csv\ta, "b"',
        "infinite\t22.22%\t0.00%\tbaskets.csv\twine",
    ]
    assert "3.60\t80.00%\t22.22%\tafter.csv\tale" in lines
    assert lines[-1].startswith("Personal data")


def test_options(files: Shell) -> None:
    def found(*more: str) -> list[list[str]]:
        ran = files(*WORDS, "--growth", "2", "--json", *more)
        assert ran.code == 0
        return [pattern["pattern"] for pattern in ran.json["patterns"]]

    every = found()
    assert len(every) == 11
    assert found("--top", "2") == every[:2]
    assert found("--threads", "1") == every
    assert ["ale"] in found("--one-way")
    assert ["wine"] not in found("--one-way")
    assert ["rum", "milk"] not in found("--minimal")
    assert all(len(pattern) == 1 for pattern in found("--most-items", "1"))
    assert found("--min-support", "80%") == [["ale"]]


def test_json(files: Shell) -> None:
    ran = files(*WORDS, "--growth", "3.6", "--json", "--min-support", "4")
    assert ran.json["personal_data"].startswith("Personal data")
    assert ran.json["found"] == 1
    assert ran.json["data_sets"] == [
        {"name": "baskets.csv", "records": 9, "patterns": 0},
        {"name": "after.csv", "records": 5, "patterns": 1},
    ]
    (pattern,) = ran.json["patterns"]
    assert pattern["growth_exact"] == "18/5"
    assert (pattern["count"], pattern["count_elsewhere"]) == (4, 2)


def test_a_file_that_only_its_owner_may_read(files: Shell) -> None:
    words = (*WORDS, "--growth", "2", "-o", "patterns.csv")
    ran = files(*words)
    assert ran.code == 0
    assert "Written to patterns.csv." in ran.out
    path = files.folder / "patterns.csv"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    rows = list(csv.DictReader(io.StringIO(path.read_text())))
    assert len(rows) == 11
    cells = {tuple(next(csv.reader([row["pattern"]]))): row for row in rows}
    assert cells['a, "b"', "milk"]["growth"] == "inf"
    assert cells["ale",]["growth"] == "3.6"
    again = files(*words)
    assert (again.code, "exists already" in again.err) == (5, True)
    assert files(*words, "--force", "--top", "2").code == 0
    assert len(path.read_text().splitlines()) == 3


def test_a_table_split_by_its_class(files: Shell) -> None:
    words = ("mine", "patterns", "people.csv", "--class-column", "pay", "--growth", "2", "--json")
    ran = files(*words, "--classes", "low,high", "--attributes", "sex")
    assert ran.code == 0
    assert [pattern["pattern"] for pattern in ran.json["patterns"]] == [["sex=M"], ["sex=F"]]
    assert ran.json["patterns"][0]["more_frequent_in"] == "pay=high"
    assert "1 rows are of neither class" in ran.err
    told = files(*words)
    assert told.code == 2
    assert "Name two: --classes a,b. There are: 'high', 'low', 'some'." in told.err
    named = (*words, "--classes", "low", "--classes", "high", "--missing", "?")
    assert files(*named).code == 3
    ran = files(*named, "--missing-cells", "suppress-row")
    assert ran.code == 0
    assert [entry["records"] for entry in ran.json["data_sets"]] == [2, 2]


def test_two_tables(files: Shell) -> None:
    (files.folder / "later.csv").write_text("job,sex,pay\nclerk,M,low\nclerk,F,low\n")
    words = ("mine", "patterns", "people.csv", "--against", "later.csv", "--growth", "1.5", "--json")
    ran = files(*words, "--table", "--minimal", "--one-way")
    assert ran.code == 0
    assert [p["pattern"] for p in ran.json["patterns"]][-2:] == [["job=clerk"], ["pay=low"]]
    assert files(*words, "--attributes", "sex, job").code == 0


def test_tables_that_are_taken_for_baskets(files: Shell) -> None:
    for name in ("one.csv", "two.csv"):
        (files.folder / name).write_text("job,sex,pay\n" + "clerk,M,low\ncook,F,high\n" * 20)
    refused = files("mine", "patterns", "one.csv", "--against", "two.csv", "--growth", "2")
    assert refused.code == 3
    assert "Give --table (every cell is the item column=value)" in refused.err
    assert "--set" not in refused.err


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--against", "after.csv"), 2, "--growth"),
        (("--growth", "2"), 2, "two data sets are needed"),
        (("--growth", "2", "--against", "after.csv", "--class-column", "x"), 2, "too many data sets"),
        (("--growth", "1", "--against", "after.csv"), 2, "a number above 1 (got '1')"),
        (("--growth", "x", "--against", "after.csv"), 2, "a number above 1"),
        (
            ("--growth", "2", "--against", "after.csv", "--min-support", "0"),
            2,
            "a share of the records",
        ),
        (("--growth", "2", "--against", "after.csv", "--most-items", "0"), 2, "1 item or more"),
        (("--growth", "2", "--against", "after.csv", "--classes", "a,b"), 2, "--class-column"),
        (("--growth", "2", "--against", "after.csv", "--missing-cells", "category"), 2, "--table"),
        (("--growth", "2", "--against", "after.csv", "--table", "--id", "x"), 2, "--id does not fit"),
        (("--growth", "2", "--against", "baskets.csv"), 2, "the same file"),
        (("--growth", "2", "--against", "after.csv", "--force"), 2, "--force is for -o"),
        (("--growth", "2", "--against", "none.csv"), 5, "none.csv"),
        (("--growth", "2", "--against", "after.csv", "-o", "after.csv", "--force"), 2, "of the inputs"),
    ],
)
def test_refusals(files: Shell, words: tuple[str, ...], code: int, said: str) -> None:
    ran = files("mine", "patterns", "baskets.csv", *words)
    assert ran.code == code
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_standard_input_is_read_once(files: Shell) -> None:
    ran = files("mine", "patterns", "-", "--against", "-", "--growth", "2")
    assert (ran.code, "more than once" in ran.err) == (2, True)


def test_data_without_common_items_are_told(files: Shell) -> None:
    (files.folder / "other.csv").write_text("x,y\nx\n")
    ran = files("mine", "patterns", "baskets.csv", "--against", "other.csv", "--growth", "2")
    assert ran.code == 0
    assert "no item in common" in ran.err
    none = files(*WORDS, "--growth", "2", "--min-support", "100%")
    assert none.out.startswith("0 emerging patterns")
    assert "growth\t" not in none.out


def test_help_says_that_it_is_private(files: Shell) -> None:
    ran = files("mine", "patterns", "--help")
    assert ran.code == 0
    assert "private" in ran.out
    assert "Example" in ran.out
    assert "patterns" in files("mine", "--help").out
