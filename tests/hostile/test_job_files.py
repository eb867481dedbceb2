"""Job files that nobody wrote by hand, and runs whose result cannot be told."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.integration.cli import Shell
from tests.integration.conftest import shell as shell


def test_only_regular_files_are_jobs(shell: Shell) -> None:
    os.mkfifo("pipe")
    for name in ("pipe", "/dev/zero", "."):
        ran = shell("run", name)
        assert ran.code == 5, ran.err


def test_a_missing_file_is_told_as_such(shell: Shell) -> None:
    ran = shell("run", "none.toml")
    assert ran.code == 5
    assert "Check the name" in ran.err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (".".join(["a"] * 200_000) + " = 1\n", "a line of a job file"),
        ("k = " + "9" * 9_000 + "\n", "too many digits"),
        ("[" * 5_000, "TOML"),
    ],
)
def test_hostile_texts_are_refused_at_once(shell: Shell, text: str, told: str) -> None:
    Path("job.toml").write_text(text)
    ran = shell("run", "job.toml")
    assert ran.code == 2
    assert told in ran.err


def test_compare_does_not_ignore_an_output(shell: Shell) -> None:
    usual = ("baskets.csv", "--hierarchy", "products.csv", "-k", "2", "-m", "1", "--methods", "aa")
    ran = shell("compare", *usual, "-o", "c.json")
    assert ran.code == 2
    assert "--save-job" in ran.err
    assert shell("compare", *usual, "-o", "made", "--save-job", "j.toml").code == 0
    assert 'output = "made"' in Path("j.toml").read_text()
