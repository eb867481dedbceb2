"""Where the time went is said of every kind of release, to the holder alone; and pages left out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import setveil as sv
from setveil.model.microdata import Microdata

from . import test_anonymize_pair as pair
from .cli import Ran, Shell
from .patients import bucketed

STAGES = ["method", "writing", "auditing", "reporting"]
LINE = re.compile(
    r"^  time     (\d+\.\d\d) s: " + ", ".join(rf"{stage} (\d+\.\d\d) s" for stage in STAGES) + "$",
    re.MULTILINE,
)


def of_sets(shell: Shell, *words: str) -> Ran:
    return shell.anonymize(*words)


def of_buckets(shell: Shell, *words: str) -> Ran:
    return bucketed(shell, "--l", "2", *words)


def of_a_pair(shell: Shell, *words: str) -> Ran:
    pair.write_people()
    return pair.people(shell, *words)


KINDS = pytest.mark.parametrize("run", [of_sets, of_buckets, of_a_pair])


@KINDS
def test_every_stage_is_told_and_adds_up(shell: Shell, run: pytest.FixtureRequest) -> None:
    ran = run(shell)
    assert ran.code == 0, ran.err
    found = LINE.search(ran.out)
    assert found is not None, ran.out
    total, *parts = map(float, found.groups())
    assert total == pytest.approx(sum(parts), abs=0.03)
    plain = run(shell, "--force", "--json").json
    assert list(plain["seconds_by_stage"]) == STAGES
    assert plain["seconds_by_stage"]["method"] == plain["seconds"]
    assert all(seconds >= 0 for seconds in plain["seconds_by_stage"].values())


@KINDS
def test_the_time_is_on_the_private_page_and_in_nothing_public(
    shell: Shell, run: pytest.FixtureRequest
) -> None:
    assert run(shell).code == 0
    told = re.compile(r"method \d+\.\d\d s, writing \d+\.\d\d s, auditing \d+\.\d\d s")
    assert told.search(Path("out.private/report.html").read_text())
    for file in Path("out").iterdir():
        assert not re.search(rb"\d\.\d\d s\b|auditing \d|seconds_", file.read_bytes())


@KINDS
def test_the_private_page_can_be_left_out(shell: Shell, run: pytest.FixtureRequest) -> None:
    whole = run(shell)
    assert whole.code == 0
    private = {path.name for path in Path("out.private").iterdir()}
    ran = run(shell, "--no-report", "--force")
    assert ran.code == 0, ran.err
    assert {path.name for path in Path("out.private").iterdir()} == private - {"report.html"}
    assert Path("out/report.html").is_file()
    assert shell("audit", "out").code == 0
    assert run(shell).code == 5
    assert run(shell, "--force").code == 0
    assert {path.name for path in Path("out.private").iterdir()} == private


def test_a_page_left_out_is_made_later(shell: Shell) -> None:
    assert shell.anonymize("--no-report").code == 0
    assert shell("report", "out", "--original", "baskets.csv").code == 0
    assert "Personal data" in Path("out.private/report.html").read_text()


def test_a_job_says_so_too(shell: Shell) -> None:
    assert shell.anonymize("--no-report", "--save-job", "job.toml").code == 0
    assert "no_report = true" in Path("job.toml").read_text()
    text = Path("job.toml").read_text().replace('output = "out"', 'output = "again"')
    Path("job.toml").write_text(text)
    assert shell("run", "job.toml").code == 0
    assert not Path("again.private/report.html").exists()


def test_in_python(tmp_path: Path) -> None:
    data = sv.Transactions.from_rows([["a", "b"], ["a", "b"], ["a"]])
    tree = sv.Hierarchy.from_parents({"a": "T", "b": "T", "T": None})
    release = sv.anonymize(data, sv.KmAnonymity(k=2, m=2), hierarchy=tree)
    publication = sv.publish(release, tmp_path / "out", private_report=False)
    assert not (publication.private / "report.html").exists()
    assert list(publication.seconds) == STAGES
    assert LINE.search(f"  time     {publication.time}")
    table = Microdata.from_columns({"sex": ["F", "M"], "ill": ["flu", "gout"]}, "ill")
    publication = sv.publish(
        sv.anonymize(table, sv.LDiversity(2)), tmp_path / "b", private_report=False
    )
    assert sorted(path.name for path in publication.private.iterdir()) == ["audit.json", "buckets.json"]
