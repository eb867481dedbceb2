"""``setveil mine rules`` end to end."""

from __future__ import annotations

import random

import pytest

from setveil.io.rules import read_rules
from setveil.model.rules import NegativeRule
from tests.integration.cli import Shell

PATIENTS = """zip,age,sex,disease
47677,29,F,ovarian cancer
47602,22,F,ovarian cancer
47678,27,M,prostate cancer
47905,43,M,flu
47909,52,F,heart disease
47906,47,M,heart disease
47605,30,M,heart disease
47673,36,M,flu
47607,32,M,flu
"""
USUAL = ("mine", "rules", "patients.csv", "--quasi", "age,sex", "--sensitive", "disease")
AGES = ("--intervals", "age=20,30,40,50,60", "--intervals", "age=20,40,60")
OVARIAN = NegativeRule((("sex", "M"),), "ovarian cancer")


@pytest.fixture
def patients(shell: Shell) -> Shell:
    (shell.folder / "patients.csv").write_text(PATIENTS)
    return shell


def test_a_table_of_rules(patients: Shell) -> None:
    ran = patients(*USUAL, "--min-exp", "0.75", "--control", "none", *AGES)
    assert ran.code == 0
    assert ran.out.splitlines()[0] == "1 negative rule, from 9 tuples and 6 tests."
    assert "sex=M => not ovarian cancer\t0.779\t6" in ran.out
    assert "Personal data" in ran.out
    assert "left out: 'zip'" in ran.err


def test_the_file_holds_rules_and_no_counts(patients: Shell) -> None:
    ran = patients(*USUAL, "--min-exp", "0.75", "--control", "none", "-o", "rules.csv")
    assert ran.code == 0
    assert "Written to rules.csv." in ran.out
    path = patients.folder / "rules.csv"
    assert path.read_text() == "age,sex,disease\n,M,ovarian cancer\n"
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_rules(path, quasi=("age", "sex"), sensitive="disease") == (OVARIAN,)
    again = patients(*USUAL, "-o", "rules.csv")
    assert (again.code, path.read_text().count("\n")) == (5, 2)
    assert patients(*USUAL, "-o", "rules.csv", "--force").code == 0
    assert path.read_text() == "age,sex,disease\n"
    assert patients(*USUAL, "-o", "patients.csv", "--force").code == 2
    assert patients(*USUAL, "--force").code == 2


def test_json(patients: Shell) -> None:
    ran = patients(*USUAL, "--min-exp", "0.75", "--control", "none", "--json")
    found = ran.json
    assert "Personal data" in found["personal_data"]
    assert found["rules"] == [
        {
            "conditions": {"sex": "M"},
            "not": "ovarian cancer",
            "expectation": 0.778623,
            "confidence": 1.0,
            "count": 6,
            "count_with_value": 0,
            "redundant": False,
        }
    ]
    assert (found["found"], found["needed"], found["left_out"], found["tuples"]) == (1, 1, 0, 9)
    assert found["options"]["min_expectation"] == "3/4"


def test_all_tells_what_follows_from_what(patients: Shell) -> None:
    wide = (*USUAL, "--min-exp", "0.5", "--max-antecedent", "2", "--control", "none", *AGES)
    every, needed = (patients(*wide, *more, "--json").json["rules"] for more in (("--all",), ()))
    assert needed == [rule for rule in every if not rule["redundant"]]
    assert len(needed) < len(every)
    assert "follows" in patients(*wide, "--all").out
    assert patients(*wide, "--top", "1").out.count("=> not") == 1
    controlled = patients(*(word for word in wide if word not in ("--control", "none")), "--json").json
    assert controlled["left_out"] > 0


def test_confidence_and_fuzzy(patients: Shell) -> None:
    crisp = (*USUAL, "--control", "none")
    ran = patients(*crisp, "--min-exp", "0.75", "--min-conf", "0.5")
    assert "has it" in ran.out
    assert "sex=M => not flu\t0.912\t6\t3" in ran.out
    fuzzy = patients(*crisp, "--min-exp", "0.5", "--fuzzy", *AGES)
    assert "age=[36, 52] => not ovarian cancer\t0.613\t3.78" in fuzzy.out
    least = patients(*crisp, "--min-exp", "0.5", "--fuzzy", "--membership", "minimum", *AGES)
    assert least.out == fuzzy.out
    assert "--fuzzy changes nothing" not in patients(*USUAL, "--fuzzy").err
    idle = patients("mine", "rules", "patients.csv", "--quasi", "sex", *USUAL[5:], "--fuzzy")
    assert "--fuzzy changes nothing" in idle.err


def test_a_hierarchy_for_a_column(patients: Shell) -> None:
    tree = "".join(f"{zip};{zip[:3]}**;*\n" for zip in ("47677", "47602", "47678", "47905"))
    tree += "".join(f"{zip};{zip[:3]}**;*\n" for zip in ("47909", "47906", "47605", "47673", "47607"))
    (patients.folder / "zips.csv").write_text(tree)
    words = ("mine", "rules", "patients.csv", "--quasi", "zip", "--sensitive", "disease")
    ran = patients(*words, "--hierarchy", "zip=zips.csv", "--min-exp", "0.5", "--control", "none")
    assert "zip=479** => not ovarian cancer" in ran.out
    (patients.folder / "zips.csv").write_text(tree.replace("47905", "99999"))
    ran = patients(*words, "--hierarchy", "zip=zips.csv")
    assert ran.code == 3
    assert "error[unknown-item] patients.csv:5:" in ran.err


def test_many_numbers_without_intervals_are_told(shell: Shell) -> None:
    chance = random.Random(3)
    lines = [f"{chance.randrange(90)},{chance.choice('ab')}" for _ in range(60)]
    (shell.folder / "t.csv").write_text("age,s\n" + "\n".join(lines) + "\n")
    ran = shell("mine", "rules", "t.csv", "--quasi", "age", "--sensitive", "s")
    assert "--intervals age=EDGES" in ran.err


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("--quasi", "age"), 2, "--sensitive"),
        (("--sensitive", "disease"), 2, "--quasi"),
        (("--quasi", "age,", "--sensitive", "disease"), 2, "no name"),
        (("--quasi", "age,job", "--sensitive", "disease"), 2, "There are: 'zip'"),
        (("--quasi", "age,disease", "--sensitive", "disease"), 2, "two roles"),
        (("--quasi", "age", "--sensitive", "disease,sex"), 2, "Combine them"),
        (("--quasi", "age", "--sensitive", "disease", "--hierarchy", "zip=x.csv"), 2, "COLUMN=FILE"),
        (("--quasi", "age", "--sensitive", "disease", "--hierarchy", "age="), 2, "COLUMN=FILE"),
        (("--quasi", "age", "--sensitive", "disease", "--intervals", "20,30"), 2, "COLUMN=EDGES"),
        (("--quasi", "age", "--sensitive", "disease", "--intervals", "age=20,x"), 2, "not a number"),
        (("--quasi", "age", "--sensitive", "disease", "--intervals", "age=20,30"), 3, "no interval"),
        (("--quasi", "age", "--sensitive", "disease", "--add-root", "X"), 2, "--hierarchy"),
        (("--quasi", "age", "--sensitive", "disease", "--min-exp", "1"), 2, "below 1"),
        (("--quasi", "age", "--sensitive", "disease", "--min-exp", "1e-1"), 2, "below 1"),
        (("--quasi", "age", "--sensitive", "disease", "--min-conf", "0"), 2, "above 0"),
        (("--quasi", "age", "--sensitive", "disease", "--max-antecedent", "0"), 2, "max-antecedent"),
        (("--quasi", "age", "--sensitive", "disease", "--control", "some"), 2, "all, longer, none"),
        (
            ("--quasi", "age", "--sensitive", "disease", "--fuzzy", "--membership", "sum"),
            2,
            "product, minimum",
        ),
        (("--quasi", "age", "--sensitive", "disease", "--missing-cells", "drop"), 2, "suppress-row"),
        (("--quasi", "age", "--sensitive", "disease", "--missing", "29"), 3, "patients.csv:2"),
        (("--quasi", "age", "--sensitive", "disease", "--id", "sex"), 3, "cannot be merged"),
        (("--quasi", "age", "--sensitive", "disease", "-o", "no/such/rules.csv"), 5, "Create it"),
    ],
)
def test_refusals(patients: Shell, words: tuple[str, ...], code: int, told: str) -> None:
    before = patients.names()
    ran = patients("mine", "rules", "patients.csv", *words)
    assert (ran.code, told in ran.err) == (code, True), ran.err
    assert ran.out == ""
    assert patients.names() == before
    as_json = patients("mine", "rules", "patients.csv", *words, "--json")
    assert as_json.json["exit_code"] == code


def test_missing_cells_chosen(patients: Shell) -> None:
    ran = patients(*USUAL, "--missing", "29", "--missing-cells", "suppress-row", "--json")
    assert ran.json["tuples"] == 8
    assert "1 of 9 rows" in ran.err


def test_chance_is_kept_out_and_none_found_is_a_warning(patients: Shell) -> None:
    """One of three tests at an expectation of 0.779 is what chance alone shows."""
    ran = patients(*USUAL, "--min-exp", "0.75")
    assert ran.code == 0
    assert ran.out.startswith(
        "0 negative rules, from 9 tuples and 3 tests; 1 left out as likely chance"
    )
    assert "warning: no rule was found in the data; 1 that may be chance were left out." in ran.err
    assert "--control none" in ran.err
    assert "warning" not in patients(*USUAL, "--min-exp", "0.75", "--control", "longer").err


def test_stdin_is_read_once(patients: Shell) -> None:
    ran = patients("mine", "rules", "-", "--quasi", "age", "--sensitive", "s", "--hierarchy", "age=-")
    assert ran.code == 2
    assert "stdin-twice" in ran.err


def test_help_says_it_is_private(shell: Shell) -> None:
    ran = shell("mine", "rules", "--help")
    assert ran.code == 0
    assert "private" in ran.out
    assert "rules" in shell("mine", "--help").out
