"""``setveil run``: jobs are checked together, run one by one, and told in one table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.cli import Shell

JOB = 'data = "baskets.csv"\nhierarchy = "products.csv"\nk = 2\nm = 2\n'
TWO = (
    f'[defaults]\n{JOB}[[job]]\nname = "one"\noutput = "one"\n'
    '[[job]]\nname = "two"\nm = 1\noutput = "two"\n'
)


def jobs(shell: Shell, text: str, name: str = "jobs.toml") -> str:
    (shell.folder / name).write_text(text)
    return name


def published(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_job_does_what_the_flags_do(shell: Shell) -> None:
    assert shell.anonymize().code == 0
    ran = shell("run", jobs(shell, JOB + 'output = "again"\n'))
    assert ran.code == 0, ran.err
    assert ran.out.startswith("Job jobs: Published")
    assert published(shell.folder / "out") == published(shell.folder / "again")


def test_anonymize_writes_the_job_that_repeats_it(shell: Shell) -> None:
    first = shell.anonymize("--save-job", "job.toml", "--method", "aa", "--threads", "1")
    assert first.code == 0, first.err
    text = (shell.folder / "job.toml").read_text()
    assert (
        'hierarchy = "products.csv"\nk = 2\nm = 2\nmethod = "aa"\nthreads = 1\noutput = "out"' in text
    )
    before = published(shell.folder / "out")
    assert shell("run", "job.toml").code == 5  # it is there
    assert shell("run", "job.toml", "--force").code == 0
    assert published(shell.folder / "out") == before


def test_a_dry_run_can_write_the_job(shell: Shell) -> None:
    ran = shell.anonymize("--save-job", "job.toml", "--dry-run", "--time-limit", "2.50")
    assert ran.code == 0
    assert "\ntime_limit = 2.5\n" in (shell.folder / "job.toml").read_text()
    assert not (shell.folder / "out").exists()


def test_a_job_that_is_there_is_not_replaced(shell: Shell) -> None:
    (shell.folder / "job.toml").write_text("mine")
    ran = shell.anonymize("--save-job", "job.toml")
    assert ran.code == 5
    assert (shell.folder / "job.toml").read_text() == "mine"
    assert not (shell.folder / "out").exists()
    ran = shell.anonymize("--save-job", "baskets.csv", "--force")
    assert ran.code == 2
    assert "one of the inputs" in ran.err


def test_a_job_needs_files_of_its_own(shell: Shell) -> None:
    ran = shell(
        "anonymize", "-", "--method", "trim", "-k", "2", "-m", "2", "--save-job", "j", "-o", "o"
    )
    assert ran.code == 2
    assert "a job names the file" in ran.err


def test_several_jobs_and_their_table(shell: Shell) -> None:
    ran = shell("run", jobs(shell, TWO))
    assert ran.code == 0, ran.err
    table = ran.out.split("\n\n")[-1].strip().split("\n")
    assert table[0].split("\t") == ["job", "status", "method", "NCP lost", "seconds", "release"]
    assert [row.split("\t")[:2] for row in table[1:]] == [["one", "done"], ["two", "done"]]
    assert {"one", "one.private", "two", "two.private"} <= set(shell.names())


def test_only_one_of_them(shell: Shell) -> None:
    assert shell("run", jobs(shell, TWO), "--only", "two").code == 0
    assert "one" not in shell.names()
    ran = shell("run", "jobs.toml", "--only", "three")
    assert ran.code == 2
    assert "Jobs: one, two." in ran.err


def test_dry_run_writes_nothing(shell: Shell) -> None:
    jobs(shell, TWO)
    before = shell.names()
    ran = shell("run", "jobs.toml", "--dry-run", "--json")
    assert ran.code == 0, ran.err
    assert [job["status"] for job in ran.json["jobs"]] == ["would run", "would run"]
    assert ran.json["jobs"][0]["result"]["records"] == 9
    assert shell.names() == before


def test_one_failure_does_not_stop_the_others(shell: Shell) -> None:
    text = TWO.replace('name = "one"', 'name = "one"\nk = 500')
    ran = shell("run", jobs(shell, text), "--json")
    assert ran.code == 4
    assert ran.json["exit_code"] == 4
    assert [job["status"] for job in ran.json["jobs"]] == ["failed", "done"]
    assert "impossible" in ran.json["jobs"][0]["problems"][0]["what"]
    assert "job one: error[" in ran.err
    ran = shell("run", "jobs.toml", "--force", "--stop-on-error", "--json")
    assert [job["status"] for job in ran.json["jobs"]] == ["failed", "not run"]


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (('output = "two"', 'output = "one"'), 2, "write to the same place"),
        (('output = "two"', 'output = "./one/"'), 2, "write to the same place"),
        (('output = "two"', 'output = "one.private"'), 2, "write to the same place"),
        (('output = "two"', ""), 2, "output is missing"),
        (("m = 1", "m = 0"), 2, "job 'two': m"),
        (("m = 1", 'm = "x"'), 2, "m must be a whole number"),
        (("m = 1", "m = -1"), 2, "m must be a whole number"),
        (("m = 1", 'method = "aa"\nparts = 3'), 2, "has no option 'parts'"),
        (("m = 1", 'method = "nonesuch"'), 2, "unknown method"),
        (("m = 1", 'method = "partition"\nm = 2'), 2, "job 'two'"),
        (("m = 1", 'cost = "money"'), 2, "unknown cost"),
        (("m = 1", 'unknown = "guess"'), 2, "is not known"),
        (("m = 1", 'format = "xml"'), 2, "unknown format"),
        (("m = 1", "time_limit = 0"), 2, "time_limit must be"),
        (("m = 1", 'data = "none.csv"'), 5, "job 'two': cannot read"),
        (("m = 1", 'hierarchy = "none.csv"'), 5, "job 'two': cannot read"),
        (("m = 1", 'method = "aa"\nhierarchy = []'), 2, "needs a hierarchy"),
        (("m = 1", 'data = "one/data.csv"'), 5, "cannot read"),
        (("m = 1", "dry_run = true"), 2, "unknown key 'dry_run'"),
    ],
)
def test_everything_is_checked_before_the_first_runs(
    shell: Shell, change: tuple[str, str], code: int, said: str
) -> None:
    jobs(shell, TWO.replace(*change))
    before = shell.names()
    ran = shell("run", "jobs.toml")
    assert ran.code == code, ran.err
    assert said in ran.err
    assert shell.names() == before
    assert "Nothing was written." in ran.err


def test_a_job_does_not_read_what_another_writes(shell: Shell) -> None:
    assert shell("run", jobs(shell, TWO)).code == 0
    data = next(path.name for path in (shell.folder / "one").iterdir() if path.name.startswith("data"))
    jobs(shell, TWO.replace("m = 1", f'data = "one/{data}"'))
    ran = shell("run", "jobs.toml", "--force")
    assert ran.code == 2, ran.err
    assert "reads what 'one' would write" in ran.err


def test_faults_of_all_jobs_are_told_at_once(shell: Shell) -> None:
    ran = shell(
        "run", jobs(shell, TWO.replace("k = 2", "k = 1").replace("m = 1", "m = 99999999999")), "--json"
    )
    assert ran.code == 2
    assert len(ran.json["problems"]) == 2


def test_files_together(shell: Shell) -> None:
    jobs(shell, JOB + 'output = "a"\n', "a.toml")
    (shell.folder / "sub").mkdir()
    jobs(shell, JOB.replace('"b', '"../b').replace('"p', '"../p') + 'output = "b"\n', "sub/b.toml")
    ran = shell("run", "a.toml", "sub/b.toml", "--json")
    assert ran.code == 0, ran.err
    assert [job["job"] for job in ran.json["jobs"]] == ["a.toml:a", "b.toml:b"]
    assert (shell.folder / "sub" / "b").is_dir()
    assert shell("run", "a.toml", "none.toml").code == 5


def test_a_bare_file_is_no_job(shell: Shell) -> None:
    for name in ("baskets.csv", "."):
        ran = shell("run", name, "--json")
        assert ran.code in (2, 5)
        assert json.loads(ran.out)["problems"]


def test_a_file_that_is_not_there(shell: Shell) -> None:
    ran = shell("run", "nosuch.toml")
    assert ran.code == 5
    assert "Check the name." in ran.err and "Create" not in ran.err
