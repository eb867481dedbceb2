"""What a data steward tries first: it is refused, the right command is told, nothing is written."""

from __future__ import annotations

import csv
import gzip
import shlex
from pathlib import Path

import pytest

from tests.integration.cli import Ran, Shell
from tests.shared_data import shared_data

PEOPLE = 800
USELESS = ("--hierarchy", "products.csv", "-k", "8", "-m", "2", "--method", "aa")
TABLES = {
    "one.csv": "zip,birth,sex\n10011,1963,1\n10012,1953,2\n10011,1950,2\n10013,1963,1\n",
    "two.csv": "zip,birth,sex\n10011,1953,1\n10012,1950,2\n10013,1953,2\n",
}


def write_visits(mark: str) -> None:
    """Write people of a real survey with the list of their diagnoses, and the first of it."""
    file = shared_data("informs2005_rt.csv.gz")
    with gzip.open(file, "rt") as read, Path("visits.csv").open("w", newline="") as written:
        table = csv.writer(written)
        table.writerow(["zip", "sex", "diagnoses", "main_diagnoses"])
        for row, _ in zip(csv.DictReader(read, delimiter=";"), range(PEOPLE), strict=False):
            codes = row["icd9_conditions"].split()
            chapter = f"{codes[0][0]}.." if codes[0].isdecimal() else "V"
            table.writerow([f"100{row['DOBMM']:0>2}", row["SEX"], mark.join(codes), chapter])


def refused(ran: Ran, shell: Shell, code: str, number: int = 3) -> str:
    assert ran.code == number, ran.err
    assert f"error[{code}]" in ran.err
    assert ran.err.rstrip().endswith("Nothing was written.")
    assert not [name for name in shell.names() if "out" in name]
    return ran.err


def commands(text: str) -> list[list[str]]:
    return [shlex.split(part)[1:] for part in text.split("`")[1::2] if part.startswith("setveil ano")]


@pytest.mark.parametrize("mark", [";", "; ", "|", ",", " "])
def test_lists_as_a_sensitive_column(shell: Shell, mark: str) -> None:
    write_visits(mark)
    words = ("anonymize", "visits.csv", "--quasi", "zip,sex", "--sensitive", "diagnoses", "--l", "3")
    err = refused(shell(*words, "-o", "out"), shell, "looks-like-lists")
    separator = mark if mark == " " else mark.strip()
    assert f"cells of column 'diagnoses' hold several values with {separator!r} between them" in err
    right = commands(err)
    assert [words[2] for words in right] == ["--set", "--quasi"]
    for command in right if mark == "; " else ():
        assert shell(*command, "--force").code == 0
    assert refused(shell(*words, "-o", "out", "--method", "anatomy"), shell, "looks-like-lists")
    assert shell("mine", "rules", *words[1:6]).code == 3
    assert shell("mine", "rules", *words[1:6], "--as-is").code == 0


@pytest.mark.parametrize("mark", [";", "; ", "|", ", "])
def test_sets_without_their_separator(shell: Shell, mark: str) -> None:
    write_visits(mark)
    words = ("anonymize", "visits.csv", "--set", "diagnoses", "-k", "5", "-m", "1", "-o", "out")
    err = refused(shell(*words), shell, "looks-like-lists")
    assert [words[2] for words in commands(err)] == ["--set", "--quasi"]
    assert f"--set diagnoses --set-separator {shlex.quote(mark.strip())} " in err
    for verb in ("compare", "sweep"):
        assert shell(verb, "visits.csv", "--set", "diagnoses", "-k", "5", "-m", "1").code == 3
    if mark in ";|":  # else the blanks in them part the lists, at the wrong place
        err = refused(shell(*words, "--as-is"), shell, "useless", 4)
        assert f"of {PEOPLE} records would say nothing" in err
    ran = shell(*words, "--set-separator", mark.strip())
    assert ran.code == 0, ran.err
    assert ("blanks follow the separator" in ran.err) == (len(mark) > 1)


def test_as_is_and_publish_useless_are_part_of_a_job(shell: Shell) -> None:
    Path("t.csv").write_text("drug\n" + "ale|milk\nwine|milk\nbun\nmilk\n" * 2)
    words = ("--set", "drug", "-k", "7", "-m", "1", "--as-is", "--publish-useless", "-o", "out")
    ran = shell("anonymize", "t.csv", *words, "--save-job", "job.toml")
    assert ran.code == 0, ran.err
    assert "nothing is published: every item was left out." in ran.err
    text = Path("job.toml").read_text()
    assert "as_is = true\n" in text
    assert "publish_useless = true\n" in text
    assert shell("run", "job.toml", "--force").code == 0
    Path("job.toml").write_text(text.replace("publish_useless = true\n", ""))
    ran = shell("run", "job.toml", "--force", "--json")
    assert ran.code == 4
    assert [problem["code"] for problem in ran.json["jobs"][0]["problems"]] == ["useless"]
    assert shell("audit", "out").code == 0  # the earlier one is still there


def test_a_release_of_no_use(shell: Shell) -> None:
    words = ("anonymize", "baskets.csv", *USELESS, "-o", "out")
    err = refused(shell(*words), shell, "useless", 4)
    assert "--method trim, which may leave rare items out instead" in err
    assert shell.anonymize().code == 0
    before = Path("out/data.csv").read_bytes()
    ran = shell(*words, "--force")
    assert ran.code == 4
    assert Path("out/data.csv").read_bytes() == before
    ran = shell(*words, "--force", "--publish-useless")
    assert ran.code == 0
    assert "notice: nothing but 'ALL' is published" in ran.err
    Path("new.csv").write_text("ale\n")
    assert shell("apply", "out", "new.csv", "-o", "both").code == 4
    assert shell("apply", "out", "new.csv", "-o", "both", "--publish-useless").code == 0


def test_looking_at_releases_of_no_use_is_no_error(shell: Shell) -> None:
    ran = shell("compare", "baskets.csv", *USELESS[:-2], "--methods", "aa,optimal", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["recommended"] is None
    assert all(row["useless"] for row in ran.json["methods"])
    words = ("sweep", "baskets.csv", *USELESS, "--choose", "8,2")
    assert "root only" in shell(*words).out
    ran = shell(*words, "--save-job", "job.toml")
    assert ran.code == 4
    assert "error[useless]" in ran.err
    assert "job.toml" not in shell.names()
    assert shell("anonymize", "baskets.csv", *USELESS, "--dry-run").code == 0


def test_a_sensitive_column_of_lone_values(shell: Shell) -> None:
    rows = "".join(f"{30 + place % 4},{1000 + place * 7}\n" for place in range(60))
    Path("pay.csv").write_text("age,income\n" + rows)
    words = ("anonymize", "pay.csv", "--quasi", "age", "--sensitive", "income", "--l", "3", "-o", "out")
    err = refused(shell(*words), shell, "mostly-unique")
    assert "60 of 60 cells of the sensitive column 'income'" in err
    assert "anonymize pay.csv --quasi age --sensitive income_group --l 3" in err
    assert shell(*words, "--as-is").code == 0


@pytest.mark.parametrize("verb", ["anonymize", "mine"])
def test_two_tables_taken_for_baskets(shell: Shell, verb: str) -> None:
    for name, text in TABLES.items():
        Path(name).write_text(text)
    start = ("anonymize",) if verb == "anonymize" else ("mine", "patterns")
    output = ("-o", "out") if verb == "anonymize" else ()
    words = (*start, "one.csv", "--against", "two.csv", "--growth", "3")
    err = refused(shell(*words, *output), shell, "looks-like-a-table") if output else shell(*words).err
    assert "error[looks-like-a-table] one.csv:1: both data sets begin with the same line" in err
    as_tables, as_baskets = commands(err)
    assert as_tables == shlex.split("anonymize one.csv --against two.csv --table --growth 5 -o release")
    assert shell(*as_tables, "--publish-useless").code == 0
    assert "zip" not in Path("release/data-1.csv").read_text().split("\n", 1)[1]
    assert shell(*as_baskets, "--header", "--force", "--publish-useless").code == 0


def test_two_tables_of_one_column_taken_for_baskets(shell: Shell) -> None:
    for name, values in (("one.csv", "abc"), ("two.csv", "abd")):
        Path(name).write_text("diagnosis\n" + "\n".join(values * 10) + "\n")
    words = ("anonymize", "one.csv", "--against", "two.csv", "--growth", "3", "-o", "out")
    err = refused(shell(*words), shell, "looks-like-a-table")
    assert "error[looks-like-a-table] one.csv:1: both data sets begin with the same line" in err
    assert shell(*words, "--layout", "baskets", "--publish-useless").code == 0


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("ale,milk\nale,bun\nwine,milk\n", "ale,milk\nwine,bun\nbun,milk\n"),  # of baskets, one again
        ("gin,rum\nale,bun\n", "gin,tea\nale,bun\n"),  # they begin otherwise
        ("gin,rum\nale,bun,tea\nale,bun\n", "gin,rum\nale,bun\nale\n"),  # some are longer
        ("gin,rum\nale\nale,bun\nale\nbun\n", "gin,rum\nale\nbun\n"),  # most are shorter
        ("17,23\n4,5\n4,6\n", "17,23\n4,5\n5,6\n"),  # numbers are no names
        ("gin\nale\nale\n", "gin\nale\nbun\n"),  # one item a line, and few lines
        ("gin\n" + "ale\nbun\n" * 10, "gin\n" + "gin\nbun\n" * 10),  # many, but it is an item
    ],
)
def test_baskets_are_no_tables(shell: Shell, first: str, second: str) -> None:
    Path("one.csv").write_text(first)
    Path("two.csv").write_text(second)
    ran = shell("mine", "patterns", "one.csv", "--against", "two.csv", "--growth", "3")
    assert ran.code == 0, ran.err


def test_every_verb_that_publishes_takes_the_flags(shell: Shell) -> None:
    for verb in ("anonymize", "apply"):
        told = shell(verb, "--help").out
        assert "--publish-useless" in told
        assert "--as-is" in told
