"""``--dry-run``, ``--save-job`` and ``setveil run`` for tables in buckets and for two data sets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .cli import Shell
from .patients import bucketed, write_patients
from .test_anonymize_pair import baskets, people, write_baskets, write_people
from .test_cli_run import published

TOLD = ("--intervals", "age=20,40,60", "--rules", "facts.csv", "--min-exp", "0.9", "--no-report")
MIXED = """
[defaults]
force = true
no_report = true

[[job]]
name = "sets"
data = "baskets.csv"
hierarchy = "products.csv"
k = 2
m = 2
output = "sets"

[[job]]
name = "buckets"
data = "patients.csv"
quasi = ["zip", "age,sex"]
sensitive = "disease"
l = 2
method = "anatomy"
output = "buckets"

[[job]]
name = "pair"
data = "people.csv"
class_column = "income"
hierarchy = "education=education.csv"
growth = 3
output = "pair"
"""


def write_all(job: str = MIXED) -> None:
    write_patients()
    write_people()
    write_baskets()
    Path("facts.csv").write_text("sex,disease\nF,Prostate Cancer\n")
    Path("jobs.toml").write_text(job)


def figures(told: dict[str, Any]) -> dict[str, Any]:
    """What chance does not change of the outcome of a table in buckets."""
    names = ("method", "guarantee", "records", "rules", "left_out", "options", "files", "format")
    return {name: told[name] for name in names}


def test_a_saved_job_of_two_tables_gives_the_same_bytes(shell: Shell) -> None:
    write_people()
    first = people(
        shell, "--save-job", "job.toml", "--theta-p", ".5", "--min-support", "0.10", "--threads", "1"
    )
    assert first.code == 0, first.err
    text = Path("job.toml").read_text()
    assert 'class_column = "income"\nhierarchy = "education=education.csv"\ngrowth = 3\n' in text
    assert "min_support = 0.10\n" in text
    before = published(shell.folder / "out")
    ran = shell("run", "job.toml", "--force")
    assert ran.code == 0, ran.err
    assert ran.out.startswith("Job job: Published\n  promise  no pattern of growth 3")
    assert published(shell.folder / "out") == before


def test_a_saved_job_of_two_files_is_read_from_its_own_folder(shell: Shell) -> None:
    write_baskets()
    Path("jobs").mkdir()
    how = ("--hierarchy", "tree.csv", "--every-level", "--save-job", "jobs/job.toml")
    ran = baskets(shell, *how)
    assert ran.code == 0, ran.err
    text = Path("jobs/job.toml").read_text()
    assert 'data = "../before.csv"\nagainst = "../after.csv"\nhierarchy = "../tree.csv"\n' in text
    before = published(shell.folder / "out")
    assert shell("run", "jobs/job.toml", "--force").code == 0
    assert published(shell.folder / "out") == before


def test_a_saved_job_of_a_table_keeps_the_same_promise(shell: Shell) -> None:
    write_all()
    first = bucketed(shell, "--l", "2", *TOLD, "--save-job", "job.toml", "--json")
    assert first.code == 0, first.err
    text = Path("job.toml").read_text()
    assert 'quasi = "zip,age,sex"\nintervals = "age=20,40,60"\nrules = "facts.csv"\nl = 2\n' in text
    ran = shell("run", "job.toml", "--force", "--json")
    assert ran.code == 0, ran.err
    (job,) = ran.json["jobs"]
    assert figures(job["result"]) == figures(first.json)
    assert (job["status"], job["result"]["verdict"]["holds"]) == ("done", True)
    assert shell("audit", "out").code == 0


def test_a_file_mixes_kinds(shell: Shell) -> None:
    write_all()
    ran = shell("run", "jobs.toml", "--json")
    assert ran.code == 0, ran.err
    assert [job["status"] for job in ran.json["jobs"]] == ["done"] * 3
    models = [job["result"]["guarantee"]["model"] for job in ran.json["jobs"]]
    assert models == ["km", "l", "patterns"]
    for name in ("sets", "buckets", "pair"):
        assert shell("audit", name).code == 0
    table = [line.split("\t") for line in shell("run", "jobs.toml").out.split("\n\n")[-1].splitlines()]
    assert [line[0] for line in table] == ["job", "sets", "buckets", "pair"]
    assert [line[1:3] for line in table[2:]] == [["done", "anatomy"], ["done", "hide-patterns"]]


def test_one_of_them_and_a_dry_run_of_all(shell: Shell) -> None:
    write_all()
    before = shell.names()
    ran = shell("run", "jobs.toml", "--dry-run", "--json")
    assert ran.code == 0, ran.err
    sets, buckets, pair = (job["result"] for job in ran.json["jobs"])
    assert (sets["records"], buckets["records"], pair["records"]) == (9, 9, [33, 47])
    assert {"dry_run", "method", "guarantee", "options", "records", "output"} <= (
        sets.keys() & buckets.keys() & pair.keys()
    )
    text = shell("run", "jobs.toml", "--dry-run").out
    assert "Job pair: Dry run: nothing was written.\n  method               hide-patterns\n" in text
    assert shell.names() == before
    assert shell("run", "jobs.toml", "--only", "pair").code == 0
    assert set(shell.names()) - set(before) == {"pair", "pair.private"}


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (("growth = 3", ""), 2, "job 'pair': --growth is missing"),
        (("growth = 3", "growth = 1"), 2, "job 'pair': the growth must be"),
        (("growth = 3", "growth = 3\nk = 5"), 2, "job 'pair': -k does not fit two data sets"),
        (("growth = 3", "growth = 3\nl = 2"), 2, "job 'pair': --l does not fit two data sets"),
        (("growth = 3", 'growth = 3\nagainst = "x.csv"'), 2, "too many data sets"),
        (
            ("growth = 3", 'growth = 3\nquasi = "sex"'),
            2,
            "--growth does not fit a table in buckets",
        ),
        (("l = 2", ""), 2, "job 'buckets': --l is missing"),
        (("l = 2", "l = 2\nm = 2"), 2, "job 'buckets': -m does not fit a table in buckets"),
        (("l = 2", 'l = 2\nrules = "no.csv"'), 5, "job 'buckets': cannot read"),
        (("l = 2", "l = 2\nrules_only = true"), 2, "unknown key 'rules_only'"),
        (("k = 2", "k = 2\nevery_level = true"), 2, "job 'sets': --every-level is for two data sets"),
        (("k = 2", 'k = 2\nintervals = "a=1,2"'), 2, "job 'sets': --intervals goes with --quasi"),
        (('output = "pair"', 'output = "sets.private"'), 2, "write to the same place"),
        (('data = "people.csv"', 'data = "sets/data.csv"'), 5, "cannot read"),
    ],
)
def test_jobs_of_all_kinds_are_checked_before_the_first_runs(
    shell: Shell, change: tuple[str, str], code: int, said: str
) -> None:
    text = MIXED.replace(*change)
    assert text != MIXED
    write_all(text)
    before = shell.names()
    ran = shell("run", "jobs.toml")
    assert ran.code == code, ran.err
    assert said in ran.err
    assert shell.names() == before


def test_a_job_does_not_read_what_another_writes_beside_its_data(shell: Shell) -> None:
    write_all()
    assert shell("run", "jobs.toml", "--only", "sets").code == 0
    data = next(path for path in Path("sets").iterdir() if path.name.startswith("data"))
    text = MIXED.replace('class_column = "income"', f'against = "{data}"')
    Path("jobs.toml").write_text(text.replace("education=education.csv", "products.csv"))
    ran = shell("run", "jobs.toml")
    assert ran.code == 2, ran.err
    assert "reads what 'sets' would write" in ran.err


def test_what_no_job_can_say_is_told_before_anything_is_written(shell: Shell) -> None:
    write_all()
    before = shell.names()
    words = ("--growth", "2", "-o", "out", "--save-job", "x.toml")
    ran = shell("anonymize", "before.csv", "--against", "-", *words)
    assert (ran.code, "against is standard input" in ran.err) == (2, True)
    ran = bucketed(shell, "--l", "2", "--rules-only", "--save-job", "x.toml", output="r.csv")
    assert (ran.code, "--rules-only makes no release" in ran.err) == (2, True)
    assert shell.names() == before


def test_a_dry_run_of_two_data_sets(shell: Shell) -> None:
    write_people()
    before = shell.names()
    words = ("anonymize", "people.csv", "--class-column", "income", "--growth", "3", "--dry-run")
    ran = shell(*words, "--attributes", "education", "--search", "greedy", "--json")
    assert ran.code == 0, ran.err
    told = {name: value for name, value in ran.json.items() if name not in ("verb", "kind")}
    # Each of the two usual values of a class is a pattern there, and nothing else is.
    assert told == {
        "dry_run": True,
        "method": "hide-patterns",
        "guarantee": {"model": "patterns", "growth": "3", "min_support": "1/10"},
        "options": {"search": "greedy"},
        "records": [33, 47],
        "items": 4,
        "values": 80,
        "closed_patterns": 4,
        "counted_all": True,
        "output": None,
    }
    text = shell(*words, "-o", "out").out
    assert text.startswith("Dry run: nothing was written.\n")
    assert "\n  guarantee            no pattern of growth 3" in text
    assert "\n  records              33 and 47\n" in text
    assert text.endswith("\n  output               out\n")
    assert shell.names() == before


def test_a_dry_run_of_two_data_sets_is_not_cut_by_its_time_limit(shell: Shell) -> None:
    write_people()
    ran = people(shell, "--dry-run", "--time-limit", "0.000001")
    assert ran.code == 0, ran.err
    assert "\n  closed patterns      at least 0\n" in ran.out
    assert people(shell, "--dry-run", "--time-limit", "0.000001", "--json").json["counted_all"] is False
