"""``setveil anonymize --quasi``: facts that are not true, rules alone, people whom no buckets hide."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from .cli import Shell
from .patients import COLUMNS, ROWS, bucketed, write_patients


def rows_of(path: str | Path) -> list[list[str]]:
    return list(csv.reader(io.StringIO(Path(path).read_text())))


def test_a_fact_that_the_data_contradict_is_refused(shell: Shell) -> None:
    """F and M mixed up: the rule would be published, and be false."""
    Path("facts.csv").write_text("sex,disease\nF,Ovarian Cancer\nM,Ovarian Cancer\n")
    write_patients()
    before = shell.names()
    ran = bucketed(shell, "--l", "2", "--rules", "facts.csv")
    assert ran.code == 3
    assert "error[facts-contradicted]" in ran.err
    assert "'sex=F => not Ovarian Cancer' is not true of these data: 2 of 3 records" in ran.err
    assert "sex=M" not in ran.err
    assert not [row[1] for row in ROWS if row[1] in ran.err]
    assert shell.names() == before
    Path("facts.csv").write_text("sex,disease\nM,Prostate Cancer\n")
    assert bucketed(shell, "--l", "2", "--rules", "facts.csv", "--min-fact-conf", "0.9").code == 3
    # One of six men has it: a fact that must hold for four of five is taken as if it had no exception.
    ran = bucketed(shell, "--l", "2", "--rules", "facts.csv", "--min-fact-conf", "0.8")
    assert ran.code == 0, ran.err
    assert ["", "", "M", "Prostate Cancer"] in rows_of(shell.folder / "out/rules.csv")


def test_rules_alone_are_those_that_are_mined(shell: Shell) -> None:
    write_patients()
    how = ("--min-exp", "0.5", "--control", "none", "--fuzzy", "--membership", "minimum")
    mined = shell("mine", "rules", "patients.csv", *COLUMNS, *how, "-o", "mined.csv")
    ran = bucketed(shell, "--l", "2", *how, "--rules-only", output="only.csv")
    assert (ran.code, ran.out) == (0, mined.out.replace("mined.csv", "only.csv"))
    assert Path("only.csv").read_text() == Path("mined.csv").read_text()
    assert Path("only.csv").stat().st_mode & 0o777 == 0o600
    assert bucketed(shell, "--rules-only", output="only.csv").code == 5
    assert bucketed(shell, "--rules-only", "--suppress-infeasible", output="x.csv").code == 2
    before = shell.names()
    Path("facts.csv").write_text("sex,disease\nF,Prostate Cancer\n")
    how = ("--min-exp", "0.75", "--control", "none")
    only = ("anonymize", "patients.csv", *COLUMNS, "--l", "2", *how, "--rules", "facts.csv")
    shown = shell(*only, "--rules-only")
    assert shown.code == 0
    assert "known fact: sex=F => not Prostate Cancer" in shown.out
    told = shell(*only, "--dry-run", "--json").json
    assert (told["dry_run"], told["records"], told["left_out"]) == (True, 9, 0)
    assert told["mined"]["rules"] == shell(*only, "--rules-only", "--json").json["rules"]
    assert told["rules"] == len(told["mined"]["rules"]) + 1
    assert "Dry run: nothing was written." in shell(*only, "--dry-run").out
    assert shell(*only, "--dry-run", "--l", "7").code == 4
    anatomy = shell(
        "anonymize", "patients.csv", *COLUMNS, "--method", "anatomy", "--l", "2", "--dry-run"
    )
    assert (anatomy.code, "  buckets at most      4\n" in anatomy.out) == (0, True)
    assert shell.names() == sorted([*before, "facts.csv"])


PEOPLE = (
    *(("kid", "M", f"k{place}", "a") for place in range(3)),
    *(("kid", "F", f"g{place}", "ac"[place % 2]) for place in range(4)),
    *(("adult", "M", f"m{place}", "ab"[place % 2]) for place in range(6)),
    *(("adult", "F", f"w{place}", "abc"[place % 3]) for place in range(9)),
)
"""No kid has b and no man c: boys have a."""
BOYS = ("--quasi", "age,sex,zip", "--sensitive", "ill", "--l", "2", "--rules", "known.csv")


def write_people() -> None:
    lines = [",".join(row) for row in (("age", "sex", "zip", "ill"), *PEOPLE)]
    Path("people.csv").write_text("\n".join(lines) + "\n")
    Path("known.csv").write_text("age,sex,ill\nkid,,b\n,M,c\n")


def test_people_whom_no_buckets_hide_are_told_with_the_rule_and_the_ways_out(shell: Shell) -> None:
    write_people()
    before = shell.names()
    ran = shell("anonymize", "people.csv", *BOYS, "-o", "out")
    assert ran.code == 4
    assert "3 of 22 tuples have fewer than l=2 possible sensitive values, some only 1" in ran.err
    assert "'age=kid => not b' (3 of them); 'sex=M => not c' (3 of them)." in ran.err
    for way in ("--min-exp", "--rules", "--suppress-infeasible"):
        assert way in ran.err
    assert not [row[2] for row in PEOPLE if row[2] in ran.err]
    assert shell.names() == before


@pytest.mark.parametrize("form", ["buckets", "joined"])
def test_people_whom_no_buckets_hide_are_left_out_where_asked(
    shell: Shell, tmp_path: Path, form: str
) -> None:
    write_people()
    asked = ("anonymize", "people.csv", *BOYS, "--format", form, "-o", "out", "--suppress-infeasible")
    ran = shell(*asked, "--json")
    assert ran.code == 0, ran.err
    assert (ran.json["records"], ran.json["left_out"]) == (19, 3)
    assert "3 of 22 tuples were left out" in ran.err
    assert shell("audit", "out").code == 0
    public = b"".join(path.read_bytes() for path in (tmp_path / "out").iterdir()).decode()
    assert all((row[2] in public) == (row[:2] != ("kid", "M")) for row in PEOPLE)
    twin = json.loads((tmp_path / "out.private/buckets.json").read_bytes())
    assert twin["left_out"] == [list(row) for row in PEOPLE if row[:2] == ("kid", "M")]
    told = json.loads((tmp_path / "out/certificate.json").read_bytes())
    assert "it is not told whether there were any" in " ".join(told["not_promised"])
    # The same is said where nobody was: the words tell nothing.
    Path("people.csv").write_text(
        "\n".join(line for line in Path("people.csv").read_text().split("\n") if "kid,M" not in line)
    )
    assert shell(*asked[:-2], "none", "--suppress-infeasible").code == 0
    again = json.loads((tmp_path / "none/certificate.json").read_bytes())
    assert again["not_promised"] == told["not_promised"]
    assert again["terms"] == told["terms"]
    assert (tmp_path / "none/rules.csv").read_bytes() == (tmp_path / "out/rules.csv").read_bytes()
    # The original is known again, with those who were left out.
    write_people()
    assert shell("risk", "out", "--original", "people.csv").code == 0
    assert shell("risk", "none", "--original", "people.csv").code == 2
    # Where nobody could stay nothing is left out, and nothing is published.
    assert shell(*asked[:-2], "all", "--suppress-infeasible", "--l", "9").code == 4
