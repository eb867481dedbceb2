"""Destinations and inputs that cannot work: told before anything is computed, nothing touched."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import setveil as sv
from setveil.errors import FileSystemError, UsageError
from setveil.io.folder.staging import check_destination
from tests.integration.cli import Shell
from tests.integration.conftest import shell as shell


def computed(*_: object, **__: object) -> None:
    raise AssertionError("computed before the destination was checked")


def snapshot(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def refused(shell: Shell, code: int, text: str, *words: str) -> None:
    before = snapshot(shell.folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("setveil.run.sets.Prepared.run", computed)
        ran = shell.anonymize(*words)
    assert ran.code == code, ran.err
    assert text in ran.err
    assert ran.err.endswith("Nothing was written.\n")
    assert "Traceback" not in ran.err
    assert snapshot(shell.folder) == before


def test_output_exists(shell: Shell) -> None:
    Path("out").mkdir()
    refused(shell, 5, "error[exists]")


def test_private_twin_exists(shell: Shell) -> None:
    Path("out.private").mkdir()
    refused(shell, 5, "error[exists]")


def test_force_replaces_releases_only(shell: Shell) -> None:
    Path("out").mkdir()
    Path("out/thesis.tex").write_text("ten years of work")
    refused(shell, 5, "error[not-a-release]", "--force")
    Path("file").write_text("x")
    refused(shell, 5, "error[not-a-release]", "--force", "-o", "file")


def test_output_is_a_symbolic_link(shell: Shell) -> None:
    Path("real").mkdir()
    Path("out").symlink_to("real")
    refused(shell, 5, "error[symlink]")
    refused(shell, 5, "error[symlink]", "--force")
    Path("dangling").symlink_to("nowhere")
    refused(shell, 5, "error[symlink]", "-o", "dangling")


def test_parent_is_missing_or_a_file(shell: Shell) -> None:
    refused(shell, 5, "error[missing]", "-o", "none/out")
    refused(shell, 5, "error[missing]", "-o", "baskets.csv/out")


@pytest.mark.parametrize("spelling", ["baskets.csv", "./baskets.csv", "link.csv", "hard.csv", "."])
def test_output_is_the_input(shell: Shell, spelling: str) -> None:
    Path("link.csv").symlink_to("baskets.csv")
    os.link("baskets.csv", "hard.csv")
    refused(shell, 2, "error[", "-o", spelling, "--force")


def test_output_holds_an_input(shell: Shell) -> None:
    Path("deep").mkdir()
    Path("deep/products.csv").write_text(Path("products.csv").read_text())
    Path("deep/certificate.json").write_text("{}")
    refused(
        shell, 2, "error[output-is-input]", "-o", "deep", "--force", "--hierarchy", "deep/products.csv"
    )


@pytest.mark.parametrize("name", ["", "..", "/", "x/.."])
def test_output_without_a_name(shell: Shell, name: str) -> None:
    refused(shell, 2, "name of its own", "-o", name)


def test_name_is_too_long(shell: Shell) -> None:
    refused(shell, 5, "error[name]", "-o", "n" * 300)


def test_read_only_parent(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """The administrator may write anywhere, so the refusal is injected where the system gives it."""

    def denied(path: object, mode: int = 0o777, **_: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "mkdir", denied)
    refused(shell, 5, "error[permission]")


@pytest.mark.parametrize("kind", ["missing", "folder", "fifo", "device"])
def test_inputs_that_are_no_files(shell: Shell, kind: str) -> None:
    name = {"device": "/dev/zero"}.get(kind, "strange")
    if kind == "folder":
        Path(name).mkdir()
    if kind == "fifo":
        os.mkfifo(name)
    before = sorted(shell.names())
    words = ("--hierarchy", "products.csv", "-k", "2", "-m", "2", "-o", "out")
    ran = shell("anonymize", name, *words)
    assert ran.code == 5, ran.err
    assert "Traceback" not in ran.err
    assert shell.names() == before


def test_undecodable_names_work(shell: Shell) -> None:
    name = os.fsdecode(b"out-\xff")
    ran = shell.anonymize("-o", name)
    assert ran.code == 0, ran.err
    assert Path(name).is_dir()
    again = shell.anonymize("-o", name)
    assert again.code == 5
    assert "out-\\xff" in again.err


def test_two_runs_for_one_output(shell: Shell) -> None:
    """The second rename finds the first one's folder and gives up; the first stays complete."""
    tree = sv.Hierarchy.from_parents({"ale": "ALL", "ALL": None})
    data = sv.Transactions.from_rows([["ale"], ["ale"]])
    release = sv.anonymize(data, sv.KmAnonymity(2, 1), hierarchy=tree)
    from setveil.io.folder import staging

    original = staging.Staging.commit

    def late(self: staging.Staging, *told: object) -> list[str]:
        staging.Staging.commit = original  # type: ignore[method-assign]
        sv.publish(release, "both")
        return original(self, *told)  # type: ignore[arg-type]

    staging.Staging.commit = late  # type: ignore[method-assign]
    try:
        with pytest.raises(FileSystemError, match="exists"):
            sv.publish(release, "both")
    finally:
        staging.Staging.commit = original  # type: ignore[method-assign]
    assert sv.audit("both").holds
    assert shell.names() == ["baskets.csv", "both", "both.private", "products.csv"]


def test_file_size_limit(shell: Shell) -> None:
    def small() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))

    script = (
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "from setveil.cli.main import main; main()"
    )
    words = [
        "anonymize",
        "baskets.csv",
        "--hierarchy",
        "products.csv",
        "-k",
        "2",
        "-m",
        "2",
        "-o",
        "out",
    ]
    before = shell.names()
    ran = subprocess.run(
        [sys.executable, "-B", "-c", script, *words],
        cwd=shell.folder, capture_output=True, preexec_fn=small, check=False,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
    )  # fmt: skip
    assert ran.returncode == 5, ran.stderr
    assert b"error[disk-full]" in ran.stderr
    assert shell.names() == before


def test_check_destination_leaves_no_trace(tmp_path: Path) -> None:
    assert check_destination(tmp_path / "out") == []
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(UsageError):
        check_destination("a\0b")
