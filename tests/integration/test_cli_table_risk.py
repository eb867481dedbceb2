"""``setveil risk`` and ``setveil measure`` on tables in buckets."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from random import Random

import pytest

from setveil.measure.buckets import draw_queries, measure_buckets
from setveil.reopen.others import read_bucket_release
from setveil.risk.buckets import attack_by_learning

from .cli import Shell
from .patients import bucketed

FACT = "sex,disease\nM,Ovarian Cancer\n"


def test_injector_leaves_nobody_to_whoever_knows_the_rules(shell: Shell) -> None:
    assert bucketed(shell, "--l", "2", "--min-exp", "0.75", "--control", "none").code == 0
    ran = shell("risk", "out", "--json")
    assert ran.code == 0, ran.err
    risk = ran.json["risk"]
    assert risk["guarantee"] == {"model": "matching", "l": 2}
    assert risk["rules"] > 0
    assert risk["by_rules"]["vulnerable"] == 0
    assert risk["by_rules"]["fewest_possible"] >= 2
    release = read_bucket_release("out")
    assert risk["by_learning"] == attack_by_learning(release.data, release.bucketing).as_dict()
    assert "Keep it as safe" in ran.json["personal_data"]
    shown = shell("risk", "out").out
    assert "0 of 9 records (0.0%) have fewer than 2 possible values" in shown
    assert "deFinetti" in shown


def test_a_fact_that_anatomy_does_not_know_may_give_people_away(shell: Shell) -> None:
    Path("fact.csv").write_text(FACT)
    found = set()
    for number in range(12):
        assert bucketed(shell, "--method", "anatomy", "--l", "2", output=f"o{number}").code == 0
        plain = shell("risk", f"o{number}", "--json").json["risk"]
        assert (plain["rules"], plain["by_rules"]["vulnerable"]) == (0, 0)
        known = shell("risk", f"o{number}", "--rules", "fact.csv", "--json").json["risk"]
        assert known["rules"] == 1
        found.add(known["by_rules"]["vulnerable"])
    assert max(found) > 0


def test_the_public_folder_alone_tells_of_the_rules(shell: Shell, tmp_path: Path) -> None:
    assert bucketed(shell, "--l", "2").code == 0
    whole = shell("risk", "out", "--json").json
    shutil.rmtree(tmp_path / "out.private")
    ran = shell("risk", "out", "--json")
    assert ran.code == 0
    assert "no private folder" in ran.err
    assert "personal_data" not in ran.json
    assert ran.json["risk"] == {**whole["risk"], "by_learning": None}


def test_where_it_is_not_known_which_rules_are_missing_it_is_said(shell: Shell) -> None:
    told = "not counted is what rules that are missing tell"
    how = ("--l", "2", "--min-exp", "0.75", "--control", "none")
    for more, said in (((), False), (("--fuzzy",), True)):
        assert bucketed(shell, *how, *more, output="out").code == 0
        assert (told in shell("risk", "out").out) is said
        assert ("rules that are missing that somebody" in shell("risk", "out").out) is not said
        shutil.rmtree("out")
        shutil.rmtree("out.private")


def test_rules_that_contradict_are_told(shell: Shell) -> None:
    Path("fact.csv").write_text("sex,disease\nM,Flu\nF,Flu\n")
    assert bucketed(shell, "--l", "2").code == 0
    ran = shell("risk", "out", "--rules", "fact.csv")
    assert ran.code == 0
    assert "the rules contradict their buckets" in ran.out


def test_measures_are_those_of_the_functions(shell: Shell) -> None:
    assert bucketed(shell, "--l", "2").code == 0
    release = read_bucket_release("out")
    ran = shell("measure", "out", "--json")
    assert ran.code == 0, ran.err
    told = ran.json
    assert (told.pop("verb"), told.pop("kind")) == ("measure", "buckets")
    assert told.pop("personal_data")
    assert told.pop("method") == "injector"
    assert told.pop("guarantee")["l"] == 2
    assert told == measure_buckets(release.data, release.bucketing).as_dict()
    more = ("--support", "20%", "--min-conviction", "1.1", "--max-conditions", "1")
    more += ("--random-queries", "50", "--query-size", "2", "--selectivity", "0.5")
    told = shell("measure", "out", *more, "--json").json
    expected = measure_buckets(
        release.data,
        release.bucketing,
        min_support="1/5",
        min_conviction="1.1",
        max_conditions=1,
        queries=50,
        dimensions=2,
        selectivity="0.5",
    )
    assert {name: told[name] for name in ("rules", "queries")} == expected.as_dict()
    assert told["queries"]["asked"] == 50
    shown = shell("measure", "out").out
    for name in ("confidence error", "false rules", "missed rules", "query error", "Personal data"):
        assert name in shown


def test_one_bucket_a_person_would_lose_nothing() -> None:
    import numpy as np

    from setveil.model.microdata import Microdata
    from setveil.release.buckets import Bucketing

    data = Microdata.from_columns({"sex": list("FFMM"), "ill": ["flu", "flu", "gout", "cold"]}, "ill")
    scores = measure_buckets(data, Bucketing(np.arange(4, dtype=np.int32)), queries=20)
    assert scores.rules.false_negative == scores.rules.false_positive == 0
    assert scores.rules.confidence == scores.queries.mean == 0
    assert scores.dimensions == 1
    drawn = draw_queries(data, columns=1, selectivity="0.3", random=Random(0))
    assert len(drawn) == 1000


@pytest.mark.parametrize("verb", ["risk", "measure", "explain"])
def test_the_original_is_confirmed_in_any_order(shell: Shell, verb: str) -> None:
    assert bucketed(shell, "--l", "2").code == 0
    head, *rows = Path("patients.csv").read_text().splitlines(keepends=True)
    Path("turned.csv").write_text("".join([head, *reversed(rows)]))
    row = ("sex=F",) if verb == "explain" else ()
    alone, named = (
        shell(verb, "out", *row, "--json"),
        shell(verb, "out", *row, "--original", "turned.csv", "--json"),
    )
    assert (alone.code, named.code) == (0, 0), named.err
    assert alone.json == named.json


WRONG = [
    (("risk", "out", "-k", "3"), 2, "-k does not fit"),
    (("risk", "out", "--original", "other.csv"), 2, "not the data"),
    (("risk", "out", "--figure", "x.svg"), 2, "--figure does not fit"),
    (("risk", "out", "--rules", "none.csv"), 5, "none.csv"),
    (("risk", "baskets.csv", "-k", "2", "--rules", "fact.csv"), 2, "--rules is for a table"),
    (("measure", "out", "--original", "other.csv"), 2, "not the data"),
    (("measure", "out", "--original", "none.csv"), 5, "none.csv"),
    (("measure", "out", "--by-branch"), 2, "--by-branch does not fit"),
    (("measure", "out", "--query-size", "9"), 2, "at most 3"),
    (("measure", "out", "--query-size", "0"), 2, "1 or more|least|0"),
    (("measure", "out", "--selectivity", "2"), 2, "selectivity"),
    (("measure", "out", "--selectivity", "x"), 2, "exact number"),
    (("measure", "out", "--support", "0"), 2, "support"),
    (("measure", "none", "--original", "baskets.csv", "--selectivity", "1"), 2, "tables in buckets"),
    (("explain", "out", "Flu"), 2, "names no row of a table.*zip=VALUE"),
    (("explain", "out", "sex=X"), 2, "'X' is neither a value of 'sex'"),
    (("explain", "out", "0"), 2, "no row"),
    (("explain", "out", "10"), 2, "no row 10.*Give 1 to 9"),
    (("explain", "out", "sex=M", "--layout", "baskets"), 2, "--layout does not fit a table in buckets"),
    (("explain", "out", "sex=M", "--original", "other.csv"), 2, "not the data"),
    (("report", "out", "--original", "other.csv"), 2, "not the data"),
    (("report", "out", "--sweep", "fact.csv"), 2, "--sweep does not fit a table in buckets"),
]


@pytest.mark.parametrize(("words", "code", "told"), WRONG, ids=[str(n) for n in range(len(WRONG))])
def test_what_does_not_fit_is_refused(
    shell: Shell, words: tuple[str, ...], code: int, told: str
) -> None:
    Path("fact.csv").write_text(FACT)
    assert bucketed(shell, "--l", "2").code == 0
    lines = Path("patients.csv").read_text().splitlines(keepends=True)
    Path("other.csv").write_text("".join(lines[:-1]))
    ran = shell(*words)
    assert ran.code == code, ran.err
    assert re.search(told, ran.err), ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("verb", ["risk", "measure"])
def test_damaged_folders_are_refused(shell: Shell, tmp_path: Path, verb: str) -> None:
    assert bucketed(shell, "--l", "2").code == 0
    (tmp_path / "out.private/buckets.json").write_text("{}")
    ran = shell(verb, "out")
    assert ran.code == 3
    assert "buckets.json" in ran.err
    (tmp_path / "out/sensitive.csv").write_text("x\n")
    assert shell(verb, "out").code == 3


def test_measure_needs_the_private_twin(shell: Shell, tmp_path: Path) -> None:
    assert bucketed(shell, "--l", "2").code == 0
    shutil.rmtree(tmp_path / "out.private")
    ran = shell("measure", "out")
    assert ran.code == 5
    assert "private folder" in ran.err
