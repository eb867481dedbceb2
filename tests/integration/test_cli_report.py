"""``setveil report``: the private report anew, in the twin or elsewhere, never where others get it."""

from __future__ import annotations

import os
import stat
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO

import pytest

import setveil as sv
from setveil.errors import FileSystemError
from setveil.io.folder import staging
from setveil.reporting import report
from tests.integration.cli import Shell
from tests.integration.conftest import shell as shell


@pytest.fixture
def made(shell: Shell) -> Shell:
    assert shell.anonymize().code == 0
    return shell


def test_the_twin_gets_a_fuller_page(made: Shell) -> None:
    page = Path("out.private/report.html")
    before, others = page.read_text(), {p.name: p.read_bytes() for p in Path("out").iterdir()}
    ran = made("report", "out", "--original", "baskets.csv")
    assert ran.code == 0, ran.err
    assert "out.private/report.html" in ran.out and "Personal data" in ran.out
    after = page.read_text()
    assert "All measures" in after and "All measures" not in before
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert made.names() == ["baskets.csv", "out", "out.private", "products.csv"]
    assert {p.name: p.read_bytes() for p in Path("out").iterdir()} == others
    # The twin is still one of ours: it can be reopened, and replaced.
    assert made("report", "out", "--original", "baskets.csv").code == 0
    assert made.anonymize("--force").code == 0


def test_json(made: Shell) -> None:
    plain = made("report", "out", "--original", "baskets.csv", "--json").json
    assert plain["output"] == str(Path("out.private") / "report.html")


def test_a_sweep_is_shown(made: Shell) -> None:
    tree = sv.read_hierarchy("products.csv")
    swept = sv.sweep(sv.read_transactions("baskets.csv"), tree, [2, 3], [1, 2])
    Path("sweep.json").write_text(swept.to_json())
    words = ("report", "out", "--original", "baskets.csv", "--sweep", "sweep.json", "-o", "full.html")
    ran = made(*words)
    assert ran.code == 0, ran.err
    assert "What other strengths would cost" in Path("full.html").read_text()
    assert stat.S_IMODE(Path("full.html").stat().st_mode) == 0o600
    assert made(*words).code == 5
    assert made(*words, "--force").code == 0


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("out",), 2, "no-original"),
        (("out", "--original", "products.csv"), 2, "other-data"),
        (("none", "--original", "baskets.csv"), 5, "missing"),
        (("out", "--original", "baskets.csv", "--force"), 2, "--force is for -o"),
        (("out", "--original", "baskets.csv", "-o", "out/private.html"), 2, "private-in-release"),
        (("out", "--original", "baskets.csv", "-o", "./out/../out/x.html"), 2, "private-in-release"),
        (("out", "--original", "baskets.csv", "-o", "baskets.csv", "--force"), 2, "output-is-input"),
        (("out", "--original", "baskets.csv", "-o", "none/x.html"), 5, "missing"),
        (("out", "--original", "baskets.csv", "--sweep", "products.csv"), 3, "not-a-sweep"),
        (("out", "--original", "-", "--sweep", "-"), 2, "stdin-twice"),
    ],
)
def test_refusals(made: Shell, words: tuple[str, ...], code: int, said: str) -> None:
    before = {path: path.read_bytes() for path in made.folder.rglob("*") if path.is_file()}
    ran = made("report", *words)
    assert ran.code == code, ran.err
    assert said in ran.err
    assert "Traceback" not in ran.err
    assert {path: path.read_bytes() for path in made.folder.rglob("*") if path.is_file()} == before


def test_a_twin_that_is_gone(made: Shell) -> None:
    for path in Path("out.private").iterdir():
        path.unlink()
    Path("out.private").rmdir()
    assert made("report", "out", "--original", "baskets.csv").code == 5


def test_a_release_that_was_changed(made: Shell) -> None:
    Path("out/report.html").write_text("x\n")
    ran = made("report", "out", "--original", "baskets.csv")
    assert ran.code == 3
    assert "changed" in ran.err


def test_a_fault_leaves_the_old_page(made: Shell) -> None:
    page = Path("out.private/report.html")
    old = page.read_bytes()

    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    data = sv.read_transactions("baskets.csv")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(FileSystemError):
            report("out", data)
    assert page.read_bytes() == old
    assert made.names() == ["baskets.csv", "out", "out.private", "products.csv"]


def test_what_a_killed_run_left_is_cleaned_up(made: Shell) -> None:
    """The hidden folder of a report has the name that a later run looks for."""
    seen: list[str] = []
    real = staging.created

    def note(path: Path, *, mode: int, told: Path | None = None) -> AbstractContextManager[BinaryIO]:
        seen.append(path.parent.name)
        return real(path, mode=mode, told=told)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(staging, "created", note)
        report("out", sv.read_transactions("baskets.csv"))
    Path(seen[0]).mkdir()
    Path(seen[0], "report.html").write_text("half")
    assert made.anonymize("--force").code == 0
    assert made.names() == ["baskets.csv", "out", "out.private", "products.csv"]
