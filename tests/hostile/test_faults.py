"""Faults, SQLite's way: fail the n-th call to the system until the run succeeds; kill it at the n-th.

Whatever happens, the destination holds the old bytes or the new, complete ones, and the private twin
belongs to what is there.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import signal
import warnings
from collections.abc import Callable
from inspect import stack
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from setveil.cli.main import run
from setveil.errors import FileSystemError
from setveil.io.folder import disk, ownership, staging

ROWS = [["ale", "milk"], ["wine", "milk"], ["milk"], ["ale"], ["wine"]]
TREE = {"ale": "alcohol", "wine": "alcohol", "alcohol": "ALL", "milk": "ALL", "ALL": None}
CALLS = ("open", "mkdir", "rename", "chmod", "fchmod", "fsync", "fdopen", "listdir", "unlink", "rmdir")
ANY_PATH = ("fsync", "fchmod", "unlink", "rmdir")
"""Calls whose first argument is a number, or a name inside a folder that is being removed."""


@pytest.fixture(scope="module")
def release() -> sv.Release:
    made = sv.anonymize(
        sv.Transactions.from_rows(ROWS),
        sv.KmAnonymity(2, 2),
        hierarchy=sv.Hierarchy.from_parents(TREE),
    )
    assert sv.audit(made).holds  # compiled before any fault
    return made


class Faults:
    """Counts calls to the system and does something at the n-th."""

    def __init__(self, patch: pytest.MonkeyPatch, fault: Callable[[], None], *, exchange: bool) -> None:
        self.left = -1
        self.seen = 0
        self.in_removal = False
        self.fault = fault
        self.folder = ""
        for name in CALLS:
            patch.setattr(os, name, self.counted(getattr(os, name), any_path=name in ANY_PATH))
        rename = disk._renameat2 if exchange else self.not_here
        patch.setattr(disk, "_renameat2", self.counted(rename))

    @staticmethod
    def not_here(*_: object) -> None:
        raise disk._NotHere

    def counted(self, call: Callable[..., Any], *, any_path: bool = False) -> Callable[..., Any]:
        def wrapped(*arguments: Any, **options: Any) -> Any:
            first = arguments[0]
            ours = any_path or isinstance(first, int) or self.folder in os.fsdecode(first)
            if self.folder and ours:
                self.seen += 1
                self.left -= 1
                if self.left == 0:
                    self.in_removal = any(frame.filename == shutil.__file__ for frame in stack())
                    self.fault()
            found = call(*arguments, **options)
            return Spoiled(found, self) if call is _FDOPEN and self.folder else found

        return wrapped

    def arm(self, folder: Path, number: int) -> None:
        self.folder, self.left, self.seen = str(folder), number, 0

    def disarm(self) -> None:
        self.folder = ""


_FDOPEN = os.fdopen


class Spoiled:
    """A file whose writes, flushes and closing are counted too."""

    def __init__(self, file: Any, faults: Faults) -> None:
        self.file = file
        self.faults = faults

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.file, name)
        if name in ("write", "flush"):
            return self.faults.counted(lambda _, *rest: found(*rest), any_path=True).__get__(0)
        return found

    def __enter__(self) -> Spoiled:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()
        self.faults.counted(lambda _: None, any_path=True)(0)


def full() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def belongs(target: Path) -> bool:
    account = json.loads((staging.private_twin(target) / "audit.json").read_bytes())
    digest = hashlib.sha256((target / "certificate.json").read_bytes()).hexdigest()
    return bool(account["certificate_sha256"] == digest)


@pytest.fixture(params=[True, False], ids=["exchange", "two-steps"])
def exchange(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def old(tmp_path: Path, release: sv.Release) -> Path:
    sv.publish(release, tmp_path / "out", format="baskets")
    return tmp_path / "out"


def test_every_call_may_fail_on_a_fresh_place(
    release: sv.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exchange: bool
) -> None:
    faults = Faults(monkeypatch, full, exchange=exchange)
    failed = 0
    for number in range(1, 400):
        faults.arm(tmp_path, number)
        try:
            publication = sv.publish(release, tmp_path / "out")
        except FileSystemError:
            faults.disarm()
            failed += 1
            assert list(tmp_path.iterdir()) == [], f"left over after fault {number}"
            continue
        faults.disarm()
        if faults.left <= 0 and not faults.in_removal:
            # The fault hit a step after the release was in place: it is told as a notice. A removal
            # is tried twice.
            assert any("did not confirm" in notice for notice in publication.notices)
        assert {path.name for path in tmp_path.iterdir()} == {"out", "out.private"}
        assert sv.audit(tmp_path / "out").holds
        assert belongs(tmp_path / "out")
        if faults.left > 0:
            break
        for place in (tmp_path / "out", tmp_path / "out.private"):
            disk.remove_folder(place)
    else:
        raise AssertionError("the run never succeeded")
    assert failed > 25


def test_every_call_may_fail_on_a_replacement(
    release: sv.Release, old: Path, monkeypatch: pytest.MonkeyPatch, exchange: bool
) -> None:
    before = (contents(old), contents(staging.private_twin(old)))
    faults = Faults(monkeypatch, full, exchange=exchange)
    failed = 0
    for number in range(1, 400):
        faults.arm(old.parent, number)
        try:
            sv.publish(release, old, force=True)
        except FileSystemError:
            faults.disarm()
            failed += 1
            assert (contents(old), contents(staging.private_twin(old))) == before
            assert sorted(path.name for path in old.parent.iterdir()) == ["out", "out.private"]
            continue
        faults.disarm()
        assert (old / "data.jsonl").exists()
        assert {path.name for path in old.parent.iterdir()} == {"out", "out.private"}
        assert sv.audit(old).holds
        assert belongs(old)
        if faults.left > 0:
            break
        for place in (old, staging.private_twin(old)):
            disk.remove_folder(place)
        sv.publish(release, old, format="baskets")
        before = (contents(old), contents(staging.private_twin(old)))
    else:
        raise AssertionError("the run never succeeded")
    assert failed > 25


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def killed_at(number: int, publish: Callable[[], object], folder: Path, *, exchange: bool) -> bool:
    """Publish in a child that is killed at its n-th call; tell whether it was killed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        child = os.fork()
    if child == 0:
        code = 1
        try:
            with pytest.MonkeyPatch.context() as patch:
                faults = Faults(patch, die, exchange=exchange)
                faults.arm(folder, number)
                publish()
                code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == 0
    return False


def test_kill_at_every_call_of_a_fresh_run(release: sv.Release, tmp_path: Path, exchange: bool) -> None:
    target = tmp_path / "out"
    for number in range(1, 400):
        killed = killed_at(number, lambda: sv.publish(release, target), tmp_path, exchange=exchange)
        if target.exists():
            assert sv.audit(target).holds
        staging.check_destination(target, force=True)
        names = {path.name for path in tmp_path.iterdir()}
        assert names in (set(), {"out", "out.private"}), names
        if names:
            assert belongs(target)
        if not killed:
            break
        for place in (target, staging.private_twin(target)):
            disk.remove_folder(place)
    assert not killed
    assert number > 25


def test_kill_at_every_call_of_a_replacement(release: sv.Release, old: Path, exchange: bool) -> None:
    before = contents(old)
    for number in range(1, 400):
        killed = killed_at(
            number, lambda: sv.publish(release, old, force=True), old.parent, exchange=exchange
        )
        if exchange:
            assert old.exists(), "with exchange there is never a moment without a release"
        staging.check_destination(old, force=True)
        assert {path.name for path in old.parent.iterdir()} == {"out", "out.private"}
        assert sv.audit(old).holds
        assert belongs(old), number
        if not killed:
            break
        if contents(old) != before:
            sv.publish(release, old, format="baskets", force=True)
    assert not killed
    assert number > 25


def test_kill_at_every_call_and_any_next_verb(
    release: sv.Release, old: Path, exchange: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a dead run leaves, private documents old and new, stays until any verb starts beside it."""
    elsewhere = old.parent / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    left = 0
    for number in range(1, 400, 5):
        killed = killed_at(
            number, lambda: sv.publish(release, old, force=True), old.parent, exchange=exchange
        )
        left += any(name.startswith(".") for name in os.listdir(old.parent))
        assert run(["methods", f"--format={old}"]) == 2
        assert {path.name for path in old.parent.iterdir()} == {"elsewhere", "out", "out.private"}
        assert sv.audit(old).holds
        assert belongs(old), number
        if not killed:
            break
    assert not killed
    assert left > 10


def test_a_sweep_that_is_killed_is_finished_by_the_next(
    release: sv.Release, old: Path, exchange: bool
) -> None:
    """After a run killed between its two renames: the twin of the old release has to give way."""
    for number in range(1, 400):
        sv.publish(release, old, format="baskets", force=True)
        new = sv.publish(release, old.with_name("new"), format="jsonl")
        disk.remove_folder(old)
        new.path.rename(old)
        new.private.rename(old.with_name(".out.private.setveil-tmp-0123456789abcdef"))
        assert not belongs(old)
        killed = killed_at(number, lambda: ownership.sweep([old.parent]), old.parent, exchange=exchange)
        ownership.sweep([old.parent])
        assert {path.name for path in old.parent.iterdir()} == {"out", "out.private"}
        assert belongs(old), number
        if not killed:
            break
    assert not killed
    assert number > 4


def test_what_cannot_be_removed_is_told(
    release: sv.Release, old: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = os.unlink

    def refused(path: Any, **words: Any) -> None:
        if os.fsdecode(path) == "audit.json":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        real(path, **words)

    monkeypatch.setattr(os, "unlink", refused)
    publication = sv.publish(release, old, force=True)
    (hidden,) = (path for path in old.parent.iterdir() if path.name.startswith("."))
    assert [path.name for path in hidden.iterdir()] == ["audit.json"]
    (told,) = (notice for notice in publication.notices if hidden.name in notice)
    assert "could not be removed (Permission denied)" in told and "private records" in told
    # The next verb tries again, and says it again.
    monkeypatch.chdir(old.parent)
    assert run(["methods"]) == 0
    assert hidden.name in capsys.readouterr().err
    monkeypatch.setattr(os, "unlink", real)
    assert run(["methods"]) == 0
    assert "removed what a stopped run had left beside out." in capsys.readouterr().err
    assert not hidden.exists()


def test_an_error_tells_what_it_left(
    release: sv.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any, **__: Any) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    def failing(*_: Any) -> None:
        monkeypatch.setattr(os, "unlink", refused)
        full()

    monkeypatch.setattr(os, "fchmod", failing)
    with pytest.raises(FileSystemError) as caught:
        sv.publish(release, tmp_path / "out")
    (hidden,) = (path for path in tmp_path.iterdir())
    assert [hidden.name in note for note in caught.value.__notes__] == [True]


def test_a_sweep_takes_only_what_is_ours_and_dead(release: sv.Release, old: Path) -> None:
    token = "0123456789abcdef"
    foreign = old.with_name(f".out.setveil-tmp-{token}")
    foreign.mkdir()
    (foreign / "thesis.tex").write_text("years of work")
    linked = old.with_name(f".out.private.setveil-old-{token}")
    linked.symlink_to(old)
    others = [old.with_name(name) for name in (f"out.setveil-tmp-{token}", ".out.setveil-tmp-0123")]
    for place in others:
        place.mkdir()
    before = {path.name for path in old.parent.iterdir()}
    notices = ownership.sweep([old.parent, old.parent / "none", Path("a\0b")])
    assert len(notices) == 2 and all("remove it yourself" in notice for notice in notices)
    with staging.Staging(old, force=True) as living:
        assert ownership.sweep([old.parent]) == notices
        assert living.public.exists() and living.private.exists()
    assert {path.name for path in old.parent.iterdir()} == before
    assert (foreign / "thesis.tex").exists() and belongs(old)


def test_a_run_that_lives_keeps_what_it_replaces(
    release: sv.Release, old: Path, monkeypatch: pytest.MonkeyPatch, exchange: bool
) -> None:
    """Between its renames another verb starts beside it, and the second rename fails."""
    if not exchange:
        monkeypatch.setattr(disk, "_renameat2", Faults.not_here)
    before = (contents(old), contents(staging.private_twin(old)))
    real = staging.replace_folder

    def replace(source: Path, target: Path, aside: Path) -> bool:
        assert ownership.sweep([old.parent]) == []
        if target.name == "out.private":
            full()
        return real(source, target, aside)

    monkeypatch.setattr(staging, "replace_folder", replace)
    with pytest.raises((FileSystemError, OSError)):
        sv.publish(release, old, force=True)
    assert (contents(old), contents(staging.private_twin(old))) == before
    assert sorted(path.name for path in old.parent.iterdir()) == ["out", "out.private"]
