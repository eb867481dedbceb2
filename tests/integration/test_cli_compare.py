"""``setveil compare``: a table, a picture, a job; nothing is published."""

from __future__ import annotations

import tomllib
from xml.etree import ElementTree

import pytest

from tests.integration.cli import Ran, Shell

USUAL = ("baskets.csv", "--hierarchy", "products.csv", "-k", "2", "-m", "2")


def compared(shell: Shell, *words: str) -> Ran:
    return shell("compare", *USUAL, *words)


def test_a_table_and_a_recommendation(shell: Shell) -> None:
    before = shell.names()
    ran = compared(shell)
    assert ran.code == 0, ran.err
    heads = ran.out.split("\n")[0].split("\t")
    assert heads[:3] == ["method", "NCP", "LM"]
    assert "trim loses least" in ran.out
    assert shell.names() == before


def test_as_json_and_csv(shell: Shell) -> None:
    ran = compared(shell, "--methods", "aa, optimal", "--json")
    assert ran.code == 0, ran.err
    assert {row["method"] for row in ran.json["methods"]} == {"aa", "optimal"}
    assert ran.json["recommended"] == "optimal"
    assert all(row["audit"] for row in ran.json["methods"])
    ran = compared(shell, "--methods", "aa,optimal", "--csv")
    assert ran.out.split("\n")[0].startswith("method,status,loss,ncp,lm,discernibility,bound")
    assert compared(shell, "--csv", "--json").code == 2


def test_the_recommended_run_as_a_job(shell: Shell) -> None:
    ran = compared(shell, "--save-job", "best.toml", "--figure", "methods.svg", "--parts", "2")
    assert ran.code == 0, ran.err
    ElementTree.parse(shell.folder / "methods.svg")
    job = tomllib.loads((shell.folder / "best.toml").read_text())
    assert job["method"] == "trim"
    assert "parts" not in job
    assert "time_limit" not in job
    assert shell("run", "best.toml").code == 0
    assert "release" in shell.names()
    again = compared(shell, "--save-job", "best.toml")
    assert again.code == 5
    assert compared(shell, "--save-job", "best.toml", "--force").code == 0


def test_no_job_without_a_recommendation(shell: Shell) -> None:
    ran = compared(shell, "--methods", "vpa", "--time-limit", "0.000001", "--save-job", "best.toml")
    assert ran.code == 4
    assert "time limit" in ran.out
    assert "best.toml" not in shell.names()


def test_the_guarantee_follows_from_the_methods(shell: Shell) -> None:
    ran = shell(
        "compare", "baskets.csv", "--hierarchy", "products.csv", "-k", "2", "--methods", "partition"
    )
    assert ran.code == 0, ran.err
    assert "partition loses least" in ran.out


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--methods", "aaa"), 2, "unknown method"),
        (("--methods", "aa,"), 2, "unknown method"),
        (("--measures", "beauty"), 2, "unknown measure"),
        (("--time-limit", "0"), 2, "time_limit"),
        (("--figure", "baskets.csv", "--force"), 2, "one of the inputs"),
        (("--figure", "products.csv"), 2, "one of the inputs"),
        (("--figure", "no/where.svg"), 5, "does not exist"),
        (("--figure", "x", "--save-job", "x"), 2, "two outputs"),
        (("-k", "500"), 4, "impossible"),
        (("--hierarchy", "none.csv"), 2, "several hierarchies"),
    ],
)
def test_slips(shell: Shell, words: tuple[str, ...], code: int, said: str) -> None:
    before = shell.names()
    ran = compared(shell, *words)
    assert ran.code == code, ran.err
    assert said in ran.err
    assert shell.names() == before


def test_no_data(shell: Shell) -> None:
    (shell.folder / "empty.csv").write_text("")
    ran = shell("compare", "empty.csv", "--hierarchy", "products.csv", "-k", "2", "-m", "2")
    assert ran.code == 3
    assert shell("compare", "-", "-k", "2", "-m", "2", "--save-job", "x.toml").code == 2


def test_pictures_are_svg_and_are_told(shell: Shell) -> None:
    ran = compared(shell, "--methods", "aa", "--figure", "out.png")
    assert ran.code == 2 and "ends in .svg" in ran.err
    ran = compared(shell, "--methods", "aa", "--figure", "out.svg")
    assert ran.code == 0 and "written: out.svg" in ran.err


def test_a_sensitive_column_without_m_is_told_the_way_of_tables(shell: Shell) -> None:
    ran = shell("compare", "baskets.csv", "--sensitive", "ale", "--l", "3")
    assert ran.code == 2
    assert "-m is missing" in ran.err and "--quasi" in ran.err


TABLE = ("people.csv", "--quasi", "age,sex", "--sensitive", "disease")
TWO = ("before.csv", "--against", "after.csv", "--layout", "baskets", "--hierarchy", "tree.csv")


def test_a_table_in_buckets(others: Shell) -> None:
    ran = others("compare", *TABLE, "--l", "3", "--figure", "b.svg", "--save-job", "best.toml")
    assert ran.code == 0, ran.err
    heads = ran.out.split("\n")[0].split("\t")
    assert heads[:5] == ["method", "query error", "buckets", "largest bucket", "rows given away"]
    assert {line.split("\t")[0] for line in ran.out.split("\n")[1:4]} == {
        "injector compact",
        "injector printed",
        "anatomy",
    }
    assert "loses least: query error" in ran.out
    ElementTree.parse(others.folder / "b.svg")
    job = tomllib.loads((others.folder / "best.toml").read_text())
    assert job["method"] == "injector" and job["grouping"] in ("compact", "printed")
    assert job["quasi"] == "age,sex"
    assert others("run", "best.toml").code == 0
    assert others("audit", "release").code == 0
    ran = others("compare", *TABLE, "--l", "3", "--guarantee", "l", "--json")
    assert ran.json["kind"] == "buckets" and ran.json["recommended"] == "anatomy"
    assert all(row["audit"] for row in ran.json["methods"])


def test_two_data_sets(others: Shell) -> None:
    ran = others("compare", *TWO, "--growth", "2", "--save-job", "best.toml", "--json")
    assert ran.code == 0, ran.err
    assert {row["variant"] for row in ran.json["methods"]} == {"grouped", "greedy", "annealed"}
    assert all(row["patterns_left"] == 0 and row["audit"] for row in ran.json["methods"])
    job = tomllib.loads((others.folder / "best.toml").read_text())
    assert f"{job['method']} {job['search']}" == ran.json["recommended"]
    done = others("run", "best.toml", "--json")
    assert done.code == 0, done.err
    result = done.json["jobs"][0]["result"]
    best = ran.json["methods"][0]
    assert result["raised"] / result["values"] == pytest.approx(best["loss"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*TABLE, "--l", "2", "--threads", "2"), "--threads does not fit"),
        ((*TABLE, "--l", "2", "--measures", "ncp"), "--measures does not fit"),
        ((*TABLE, "--l", "2", "--methods", "aa"), "no promise about a table"),
        ((*TABLE,), "--l is missing"),
        ((*TWO, "--methods", "hide-patterns"), "--growth is missing"),
        ((*TWO, "--growth", "2", "-k", "2"), "-k does not fit two data sets"),
        (
            ("people.csv", "-k", "2", "-m", "2", "--methods", "anatomy"),
            "tables with a sensitive column",
        ),
        (("before.csv", "-k", "2", "-m", "2", "--attributes", "a"), "two data sets"),
    ],
)
def test_slips_with_other_data(others: Shell, words: tuple[str, ...], said: str) -> None:
    before = others.names()
    ran = others("compare", *words)
    assert ran.code == 2, ran.err
    assert said in ran.err
    assert others.names() == before
