"""Job files: there and back, with hostile labels and paths; every fault is told at once."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.errors import FileSystemError, UsageError
from setveil.run import Run, job_fields
from setveil.run.fields import fields_of
from setveil.run.file import FileJob, Value, job_text, keys_of_jobs, read_jobs


def read(folder: Path, text: str | bytes) -> list[FileJob]:
    path = folder / "monthly.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_jobs(path)


def faults(folder: Path, text: str | bytes) -> list[str]:
    with pytest.raises(UsageError) as raised:
        read(folder, text)
    assert all(problem.file and "monthly.toml" in problem.file for problem in raised.value.problems)
    return [f"{problem.what} {problem.remedy}" for problem in raised.value.problems]


def test_one_job_at_the_top(tmp_path: Path) -> None:
    (job,) = read(tmp_path, 'data = "b.csv"\nk = 5\nforce = true\nhierarchy = "p.csv"\n')
    assert job.name == "monthly"
    assert job.values == {
        "data": str(tmp_path / "b.csv"),
        "k": "5",
        "force": True,
        "hierarchy": (str(tmp_path / "p.csv"),),
    }


def test_several_jobs_share_defaults(tmp_path: Path) -> None:
    jobs = read(
        tmp_path,
        '[defaults]\ndata = "b.csv"\nk = 5\n[[job]]\nname = "weak"\nk = 2\n[[job]]\noutput = "../o"\n',
    )
    assert [job.name for job in jobs] == ["weak", "monthly-2"]
    assert [job.values["k"] for job in jobs] == ["2", "5"]
    assert jobs[1].values["output"] == str(tmp_path.parent / "o")


def test_only_a_table_has_hierarchies_of_columns(tmp_path: Path) -> None:
    text = 'hierarchy = "a=b.csv"\n'
    (plain,) = read(tmp_path, text)
    assert plain.values["hierarchy"] == (str(tmp_path / "a=b.csv"),)
    (table,) = read(tmp_path, 'set = "a"\n' + text)
    assert table.values["hierarchy"] == (f"a={tmp_path / 'b.csv'}",)


@pytest.mark.parametrize(
    "told", ["quasi = 'a=b,a'", "class_column = 'c'", "table = true", "attributes = 'a=b'"]
)
def test_tables_of_all_kinds_have_hierarchies_of_columns(tmp_path: Path, told: str) -> None:
    """A column's name may hold the sign itself, where the columns are named."""
    (job,) = read(tmp_path, told + "\nhierarchy = ['a=b=c.csv', 'a=/d.csv']\n")
    column = "a=b=" if "quasi" in told else "a="
    path = tmp_path / ("c.csv" if "quasi" in told else "b=c.csv")
    assert job.values["hierarchy"] == (f"{column}{path}", "a=/d.csv")


def test_the_files_of_all_kinds_are_found_beside_the_job(tmp_path: Path) -> None:
    (pair,) = read(tmp_path, 'data = "a.csv"\nagainst = "b.csv"\ngrowth = 5.0\nmin_support = "1/3"\n')
    assert (pair.values["against"], pair.values["growth"]) == (str(tmp_path / "b.csv"), "5.0")
    (table,) = read(tmp_path, 'quasi = "age,sex"\nsensitive = "@x"\nrules = "r.csv"\n')
    assert table.values["rules"] == str(tmp_path / "r.csv")
    assert table.values["sensitive"] == ("@x",)  # a column, not a list of items


def test_lists_of_items_may_be_files(tmp_path: Path) -> None:
    (job,) = read(tmp_path, 'sensitive = ["hiv", "@more.txt"]')
    assert job.values["sensitive"] == ("hiv", f"@{tmp_path / 'more.txt'}")


def test_keys_may_have_dashes(tmp_path: Path) -> None:
    (job,) = read(tmp_path, "time-limit = 2.50")
    assert job.values == {"time_limit": "2.50"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no job"),
        ("k = ", "not valid TOML"),
        ("k = 5\nk = 6", "not valid TOML"),
        (b"k = 5 # \xff", "not UTF-8"),
        ("k = " + "[" * 5000, "not valid TOML"),
        ("k = " + "9" * 5000, "not valid TOML"),
        ("hierachy = 'x'", "Did you mean hierarchy?"),
        ("zzz = 1", "unknown key 'zzz'"),
        ("k = true", "k must be a text or a number"),
        ("k = [1]", "k must be a text or a number"),
        ("k = 2024-01-01", "k must be a text or a number"),
        ("force = 1", "force must be true or false"),
        ("hierarchy = {a = 1}", "hierarchy must be a text, or several in [ ]"),
        ("hierarchy = ['a', ['b']]", "hierarchy must be"),
        ("data = '-'", "standard input"),
        ("sensitive = '@-'", "standard input"),
        ("data = ''", "data must name a file"),
        ('data = "a\\u0000b"', "data must name a file"),
        ("defaults = 3\nk = 5", "defaults is not a table"),
        ("[defaults]\nname = 'x'\n[[job]]\nk = 5", "cannot hold a name"),
        ("job = 3", "job is not a table"),
        ("job = []", "job is not a table"),
        ("k = 5\n[[job]]\nk = 5", "Move it below [defaults]"),
        ("[other]\nk = 5\n[[job]]\nk = 5", "Known there: defaults, job."),
        ("[[job]]\nname = 'a'\n[[job]]\nname = 'a'", "two jobs are named 'a'"),
        ("name = '../x'\nk = 5", "is no name for a job"),
        ("name = 7\nk = 5", "is no name for a job"),
    ],
)
def test_faults_are_told(tmp_path: Path, text: str | bytes, said: str) -> None:
    assert any(said in line for line in faults(tmp_path, text)), faults(tmp_path, text)


def test_all_faults_at_once(tmp_path: Path) -> None:
    told = faults(tmp_path, "[[job]]\nkk = 1\nforce = 1\n[[job]]\ndata = '-'\nzz = 2\n")
    assert len(told) == 4


def test_a_file_that_is_too_large_or_missing(tmp_path: Path) -> None:
    assert "at most" in faults(tmp_path, "#" * (2**20 + 1))[0]
    with pytest.raises(FileSystemError):
        read_jobs(tmp_path / "none.toml")
    with pytest.raises(FileSystemError):
        read_jobs(tmp_path)


names = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12
).filter(lambda text: text not in ("-", "@-") and "/" not in text and not text.startswith("@"))


@given(data=names, labels=st.lists(names, min_size=1, max_size=3), about=st.text(max_size=20))
def test_there_and_back(
    data: str, labels: list[str], about: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("jobs")
    values: dict[str, Value] = {
        "data": str(folder / data), "sensitive": tuple(labels), "k": "5", "force": True
    }  # fmt: skip
    text = job_text(values, folder=folder, about=[about])
    assert tomllib.loads(text)["k"] == 5
    (job,) = read(folder, text)
    assert job.values == values | {"data": os.path.normpath(folder / data)}


def test_relative_paths_are_written_as_seen_from_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "jobs").mkdir()
    monkeypatch.chdir(tmp_path)
    text = job_text({"data": "b.csv", "output": "/srv/out"}, folder="jobs")
    assert tomllib.loads(text) == {"data": "../b.csv", "output": "/srv/out"}
    Path("jobs/j.toml").write_text(text)
    assert read_jobs("jobs/j.toml")[0].values["data"] == "b.csv"


def test_what_toml_cannot_hold_is_refused() -> None:
    with pytest.raises(UsageError, match="Unicode"):
        job_text({"data": "b\udcff.csv"})
    with pytest.raises(UsageError, match="standard input"):
        job_text({"data": "-"})


def test_every_flag_of_anonymize_is_a_key_or_named_as_none() -> None:
    every = {field.name for field in fields_of(Run)}
    not_of_a_job = {field.name for field in fields_of(Run) if not field.in_job}
    assert not_of_a_job == {"dry_run", "rules_only", "as_json", "save_job", "verbose"}
    assert every - not_of_a_job == {field.name for field in job_fields()}
    keys = [field.key for field in keys_of_jobs()]
    assert len(set(keys)) == len(keys)
    assert {"data", "set", "id", "guarantee", "time_limit", "suppression"} <= set(keys)


def test_a_job_is_the_run_of_its_flags() -> None:
    run = FileJob("x", Path("x.toml"), {"k": "5", "set": ("a",), "suppression": False}).run()
    assert run == Run.take({"k": "5", "set_columns": ["a"], "suppression": False})
    assert run.k == 5
    assert run.set_columns == ("a",)
    assert run.options == {"suppression": False}
    assert run.cost == "ncp"
