"""``setveil sweep``: the grid as table, pictures and JSON; a chosen point becomes a job."""

from __future__ import annotations

import tomllib
from xml.etree import ElementTree

import pytest

from setveil.sweep import read_sweep
from tests.integration.cli import Ran, Shell

USUAL = ("baskets.csv", "--hierarchy", "products.csv", "-k", "2,3", "-m", "1, 2")


def swept(shell: Shell, *words: str) -> Ran:
    return shell("sweep", *USUAL, *words)


def test_a_table(shell: Shell) -> None:
    before = shell.names()
    ran = swept(shell)
    assert ran.code == 0, ran.err
    assert ran.out.split("\n")[:2] == [
        "NCP lost by optimal: 0 % is nothing, 100 % everything",
        "k\tm = 1\tm = 2",
    ]
    assert shell.names() == before


def test_as_json_and_csv(shell: Shell) -> None:
    ran = swept(shell, "--json", "--method", "trim", "--choose", "2,2")
    assert ran.json["method"] == "trim"
    assert ran.json["chosen"] == {"k": 2, "m": 2}
    assert len(ran.json["points"]) == 4
    assert swept(shell, "--csv").out.startswith("k,m,status,feasible,loss,")
    assert swept(shell, "--csv", "--json").code == 2


def test_pictures_json_and_a_job(shell: Shell) -> None:
    ran = swept(
        shell, "--figure", "map.svg", "--curves", "curves.svg", "-o", "sweep.json",
        "--choose", "2,2", "--save-job", "job.toml",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert "Chosen: k=2, m=2: NCP" in ran.out
    for name in ("map.svg", "curves.svg"):
        ElementTree.parse(shell.folder / name)
    point = read_sweep(shell.folder / "sweep.json").point(2, 2)
    job = tomllib.loads((shell.folder / "job.toml").read_text())
    assert (job["k"], job["m"], job["method"]) == (2, 2, "optimal")
    assert job["output"] == "release-k2-m2"
    done = shell("run", "job.toml", "--json")
    assert done.code == 0, done.err
    assert done.json["jobs"][0]["result"]["loss"]["ncp"] == pytest.approx(float(point.loss or 0))
    assert swept(shell, "-o", "sweep.json").code == 5
    assert swept(shell, "-o", "sweep.json", "--force").code == 0


def test_without_a_hierarchy_items_are_left_out(shell: Shell) -> None:
    ran = shell("sweep", "baskets.csv", "-k", "2", "-m", "1,2", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["method"] == "trim"


def test_points_that_cannot_be_are_shown(shell: Shell) -> None:
    ran = shell("sweep", "baskets.csv", "--hierarchy", "products.csv", "-k", "2,500", "-m", "1")
    assert ran.code == 0, ran.err
    assert "500\tnone" in ran.out
    ran = shell(
        "sweep", "baskets.csv", "--hierarchy", "products.csv", "-k", "2,500", "-m", "1",
        "--choose", "500,1", "--save-job", "job.toml",
    )  # fmt: skip
    assert ran.code == 4
    assert "job.toml" not in shell.names()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-k", "2,x"), "k must be a whole number"),
        (("-k", ""), "k must be a whole number"),
        (("-k", "1"), "k"),
        (("-m", "0,2"), "m"),
        (("-k", ",".join(map(str, range(2, 500)))), "at most 400 points"),
        (("--choose", "4,1"), "no point of this sweep"),
        (("--choose", "2"), "takes K,M"),
        (("--save-job", "j.toml"), "which point"),
        (("--method", "partition"), "does not give"),
        (("--method", "nonesuch"), "unknown method"),
        (("--parts", "3"), "no option 'parts'"),
        (("--cost", "money"), "unknown cost"),
        (("--time-limit", "-1"), "time_limit"),
        (("--figure", "x.svg", "--curves", "x.svg"), "two outputs"),
        (("-o", "baskets.csv", "--force"), "one of the inputs"),
    ],
)
def test_slips(shell: Shell, words: tuple[str, ...], said: str) -> None:
    before = shell.names()
    ran = swept(shell, *words)
    assert ran.code == 2, ran.err
    assert said in ran.err
    assert shell.names() == before


def test_files_written_are_told(shell: Shell) -> None:
    ran = swept(
        shell, "--figure", "map.svg", "--curves", "lines.SVG", "--choose", "2,2", "--save-job", "j.toml"
    )
    assert ran.code == 0, ran.err
    for name in ("map.svg", "lines.SVG", "j.toml"):
        assert f"written: {name}\n" in ran.err
    assert "--method trim may lose less" in ran.out


@pytest.mark.parametrize("flag", ["--figure", "--curves"])
def test_pictures_are_svg(shell: Shell, flag: str) -> None:
    ran = swept(shell, flag, "out.png")
    assert ran.code == 2 and "ends in .svg" in ran.err
    assert not (shell.folder / "out.png").exists()


TABLE = ("people.csv", "--quasi", "age,sex", "--sensitive", "disease")
TWO = ("before.csv", "--against", "after.csv", "--layout", "baskets")


def test_a_table_in_buckets(others: Shell) -> None:
    ran = others(
        "sweep", *TABLE, "--l", "2,3,40", "--min-exp", "0.8,90%", "--choose", "2,0.9",
        "--save-job", "job.toml", "-o", "sweep.json", "--figure", "map.svg", "--curves", "lines.svg",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert "l\tmin_exp = 0.8\tmin_exp = 0.9" in ran.out
    assert "40\tnone\tnone" in ran.out
    assert "Chosen: l=2, min_exp=0.9: query error" in ran.out and "buckets: " in ran.out
    kept = read_sweep(others.folder / "sweep.json")
    assert kept.axes == ("l", "min_exp") and kept.cost == "query_error"
    job = tomllib.loads((others.folder / "job.toml").read_text())
    assert (job["l"], job["method"], job["output"]) == (2, "injector", "release-l2-min_exp0.9")
    assert others("run", "job.toml").code == 0
    ran = others("sweep", *TABLE, "--l", "2", "--choose", "2,0.9", "--json")
    assert ran.json["kind"] == "buckets"
    assert ran.json["chosen"] == {"l": 2, "min_exp": 0.9}
    assert ran.json["points"][0]["feasible"] and ran.json["points"][0]["buckets"] <= 24


def test_two_data_sets(others: Shell) -> None:
    words = ("sweep", *TWO, "--growth", "2,2.5", "--min-support", "5%,1/3")
    ran = others(*words, "--choose", "2.5,1/3", "--save-job", "job.toml", "--json")
    assert ran.code == 0, ran.err
    assert [(one["growth"], one["min_support"]) for one in ran.json["points"]] == [
        (2.0, 0.05),
        (2.0, pytest.approx(1 / 3)),
        (2.5, 0.05),
        (2.5, pytest.approx(1 / 3)),
    ]
    job = tomllib.loads((others.folder / "job.toml").read_text())
    assert (str(job["growth"]), job["min_support"]) == ("2.5", "1/3")
    done = others("run", "job.toml", "--json")
    assert done.code == 0, done.err
    result = done.json["jobs"][0]["result"]
    assert result["raised"] / result["values"] == pytest.approx(ran.json["points"][-1]["loss"])
    assert others(*words, "--csv").out.startswith("growth,min_support,status,feasible,loss,")
    assert others(*words, "--every-level").code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*TABLE,), "--l is missing"),
        ((*TABLE, "--l", "2", "-k", "2"), "-k does not fit a table in buckets"),
        ((*TABLE, "--l", "2", "--method", "anatomy"), "does not give"),
        ((*TABLE, "--l", "2", "--min-exp", "1"), "below 1"),
        ((*TABLE, "--l", "2", "--choose", "2"), "takes L,MIN_EXP"),
        ((*TABLE, "--l", "2", "--choose", "2,0.5"), "no point of this sweep"),
        ((*TWO, "--min-support", "5%"), "--growth is missing"),
        ((*TWO, "--growth", "1"), "above 1"),
        (("people.csv", "-k", "2", "-m", "1", "--l", "2"), "--l goes with --quasi"),
        (("people.csv", "-k", "2"), "-m is missing"),
    ],
)
def test_slips_with_other_data(others: Shell, words: tuple[str, ...], said: str) -> None:
    before = others.names()
    ran = others("sweep", *words)
    assert ran.code == 2, ran.err
    assert said in ran.err
    assert others.names() == before
