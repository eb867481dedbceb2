"""What is on the disk and what is said of it must agree: full outputs, signals, folders of others."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import resource
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from setveil.cli.main import run
from setveil.io.folder import staging
from setveil.io.folder.staging import signals_deferred
from tests.hostile.test_file_system import refused
from tests.integration.cli import BASKETS, PRODUCTS, Shell
from tests.integration.conftest import shell as shell
from tests.warm import Warm

ANONYMIZE = (
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
)
FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="the system has no /dev/full")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "baskets.csv").write_text(BASKETS)
    (tmp_path / "products.csv").write_text(PRODUCTS)
    return tmp_path


def started(
    place: Path, script: str, *words: str, redirect: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run Python in a shell, which can close or redirect what it inherits."""
    command = shlex.join([sys.executable, "-B", *([] if not script else ["-c", script]), *words])
    return subprocess.run(
        ["sh", "-c", f"exec {command} {redirect}"],
        cwd=place, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def command(place: Path, *words: str, redirect: str = "") -> subprocess.CompletedProcess[str]:
    return started(place, "", "-m", "setveil", *words, redirect=redirect)


def published(place: Path, *words: str) -> None:
    """Publish a release in this process, for what comes after it."""
    with contextlib.chdir(place):
        assert run([*ANONYMIZE, *words]) == 0


def names(place: Path) -> list[str]:
    return sorted(path.name for path in place.iterdir())


def is_complete(target: Path) -> bool:
    """Tell whether a release and the private twin that belongs to it are in place, and nothing else."""
    account = json.loads((staging.private_twin(target) / "audit.json").read_bytes())
    digest = hashlib.sha256((target / "certificate.json").read_bytes()).hexdigest()
    hidden = [name for name in names(target.parent) if name.startswith(".")]
    return bool(account["certificate_sha256"] == digest) and not hidden


@needs_full
@pytest.mark.parametrize("redirect", [">/dev/full", ">&-"])
@pytest.mark.parametrize("more", [(), ("--json",)], ids=["text", "json"])
def test_a_result_that_cannot_be_printed(place: Path, redirect: str, more: tuple[str, ...]) -> None:
    done = command(place, *ANONYMIZE, *more, redirect=redirect)
    assert done.returncode == 5, done.stderr
    assert "error[output]: the result could not be printed" in done.stderr
    assert done.stderr.endswith("The release is in place at out.\n")
    assert "Nothing was written" not in done.stderr
    assert "Traceback" not in done.stderr and "Exception" not in done.stderr
    assert is_complete(place / "out")


@needs_full
@pytest.mark.parametrize("redirect", ["2>/dev/full", "2>&-", "<&- 2>&-"])
def test_notices_and_errors_that_cannot_be_printed(place: Path, redirect: str) -> None:
    done = command(place, *ANONYMIZE, redirect=redirect)
    assert done.returncode == 0
    assert done.stdout.startswith("Published")
    assert is_complete(place / "out")
    again = command(place, *ANONYMIZE, "--json", redirect=redirect)
    assert again.returncode == 5
    assert json.loads(again.stdout)["problems"][0]["code"] == "exists"
    nowhere = command(place, *ANONYMIZE, "--json", redirect=f"{redirect} >/dev/full")
    assert nowhere.returncode == 5


def test_closed_streams_do_not_hand_their_numbers_to_a_file(place: Path) -> None:
    done = command(place, *ANONYMIZE, redirect=">&- 2>&- <&-")
    assert done.returncode == 5
    assert is_complete(place / "out")
    assert command(place, "audit", "out").returncode == 0


@needs_full
@pytest.mark.parametrize(
    "words",
    [("--help",), ("--version",), ("methods",), ("methods", "--json"), ("doctor",)],
    ids=" ".join,
)
def test_other_results_that_cannot_be_printed(place: Path, words: tuple[str, ...]) -> None:
    done = command(place, *words, redirect=">/dev/full")
    assert done.returncode == 5, done.stderr
    assert done.stderr.startswith("error[output]: ")
    assert "Traceback" not in done.stderr and "Exception" not in done.stderr


@needs_full
@pytest.mark.parametrize("redirect", [">/dev/full", ">&-"])
def test_a_hierarchy_that_cannot_be_printed(place: Path, redirect: str) -> None:
    words = ("hierarchy", "convert", "products.csv", "--to", "json")
    assert command(place, *words).returncode == 0
    done = command(place, *words, redirect=redirect)
    assert done.returncode == 5, done.stderr
    assert done.stderr.startswith("error[output]: ")


@needs_full
@pytest.mark.parametrize("module", ["setveil", "setveil.audit"])
@pytest.mark.parametrize("redirect", [">/dev/full", ">&-"])
@pytest.mark.parametrize("more", [(), ("--json",)], ids=["text", "json"])
def test_an_audit_that_cannot_answer_does_not_say_no(
    place: Path, module: str, redirect: str, more: tuple[str, ...]
) -> None:
    published(place)
    verb = ("audit",) if module == "setveil" else ()
    done = started(place, "", "-m", module, *verb, "out", *more, redirect=redirect)
    assert done.returncode == 5, done.stderr
    assert "error[output]" in done.stderr
    assert "Traceback" not in done.stderr and "Exception" not in done.stderr


SIGNALLED = """
import os, signal, sys
from setveil.io.folder import disk
real, left = disk._renameat2, [{rename}]
def renamed(*words):
    if {without}:
        raise disk._NotHere
    real(*words)
    left[0] -= 1
    if left[0] == 0:
        os.kill(os.getpid(), signal.{name})
disk._renameat2 = renamed
plain = os.rename
def moved(*words, **more):
    plain(*words, **more)
    left[0] -= 1
    if left[0] == 0:
        os.kill(os.getpid(), signal.{name})
os.rename = moved
from setveil.cli.main import main
main(sys.argv[1:])
"""


@pytest.mark.parametrize("rename", [1, 2])
@pytest.mark.parametrize("force", [False, True], ids=["fresh", "replacing"])
@pytest.mark.parametrize("without", [False, True], ids=["exchange", "two-steps"])
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_between_the_renames_waits(
    warm: Warm, place: Path, rename: int, force: bool, without: bool, name: str, code: int
) -> None:
    if force:
        published(place, "-k", "3", "-m", "1")
    script = SIGNALLED.format(rename=rename, without=without, name=name)
    done = warm.run(place, script, *ANONYMIZE, *(["--force"] if force else []))
    assert done.returncode == code, done.stderr
    assert done.stderr.endswith("The release is in place at out.\n")
    assert json.loads((place / "out/certificate.json").read_text())["guarantee"]["m"] == 2
    assert is_complete(place / "out")


@pytest.mark.parametrize("removal", [1, 2, 3, 4])
def test_a_second_signal_does_not_keep_the_old_twin(warm: Warm, place: Path, removal: int) -> None:
    """Interrupted once at the renames and once while what was replaced is removed."""
    published(place, "-k", "3", "-m", "1")
    script = SIGNALLED.format(rename=2, without=False, name="SIGINT").replace(
        "from setveil.cli.main",
        "import shutil\n"
        "plain_unlink, unlinked = os.unlink, [0]\n"
        "def unlink(*words, **more):\n"
        "    unlinked[0] += 1\n"
        f"    if unlinked[0] == {removal}:\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    plain_unlink(*words, **more)\n"
        "os.unlink = unlink\n"
        "from setveil.cli.main",
    )
    done = warm.run(place, script, *ANONYMIZE, "--force")
    assert done.returncode == 130, done.stderr
    assert is_complete(place / "out")


def test_a_signal_before_the_commit_leaves_nothing(warm: Warm, place: Path) -> None:
    script = (
        "import os, signal, sys\n"
        "from setveil.io.folder import staging\n"
        "def hung(*_, **__): os.kill(os.getpid(), signal.SIGHUP)\n"
        "staging.Staging.write_private = hung\n"
        "from setveil.cli.main import main\nmain(sys.argv[1:])\n"
    )
    before = names(place)
    done = warm.run(place, script, *ANONYMIZE)
    assert done.returncode == 129
    assert done.stderr.endswith("terminated. Nothing was written.\n")
    assert names(place) == before


def test_an_interrupt_after_publishing(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("setveil.cli.screen.result", stop)
    ran = shell.anonymize()
    assert ran.code == 130
    assert ran.err.endswith("interrupted. The release is in place at out.\n")
    assert is_complete(Path("out"))
    # What one run put into place is not told of the next.
    assert shell.anonymize().err.endswith("Nothing was written.\n")


def test_a_twin_that_stays_away_is_told(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the second rename nor undoing the first one works: the release is there, and is told."""
    real = staging.rename_new
    done: list[Path] = []

    def only_once(source: Path, target: Path) -> None:
        if done:
            raise staging.FileSystemError("cannot create.", file=str(target))
        done.append(target)
        real(source, target)

    monkeypatch.setattr(staging, "rename_new", only_once)
    ran = shell.anonymize()
    assert ran.code == 5
    assert ran.err.endswith("The release is in place at out.\n")
    monkeypatch.undo()
    monkeypatch.chdir(shell.folder)
    assert shell.anonymize().code == 5
    assert is_complete(Path("out"))


def test_signals_are_delivered_late_and_once() -> None:
    import signal

    seen: list[str] = []

    def interrupted() -> None:
        with signals_deferred():
            signal.raise_signal(signal.SIGINT)
            seen.append("block")

    before = signal.signal(signal.SIGTERM, lambda *_: seen.append("late"))
    try:
        with signals_deferred():
            signal.raise_signal(signal.SIGTERM)
            signal.raise_signal(signal.SIGTERM)
            seen.append("block")
        with pytest.raises(KeyboardInterrupt):
            interrupted()
    finally:
        signal.signal(signal.SIGTERM, before)
    assert seen == ["block", "late", "block"]


def test_an_interrupt_while_the_command_is_loaded(place: Path) -> None:
    script = (
        "import sys, builtins\n"
        "real = builtins.__import__\n"
        "def stop(name, *rest):\n"
        "    if name == 'typer': raise KeyboardInterrupt\n"
        "    return real(name, *rest)\n"
        "from setveil.__main__ import main\n"
        "builtins.__import__ = stop\n"
        "main()\n"
    )
    done = started(place, script, "--help")
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def foreign(folder: Path, kind: str) -> None:
    """Make of a release, or of a private twin, a folder that is not ours any more."""
    if kind == "one more file":
        (folder / "thesis.tex").write_text("years of work")
    elif kind == "a folder inside":
        (folder / "thesis").mkdir()
    elif kind == "a link inside":
        name = sorted(path.name for path in folder.iterdir())[-1]
        (folder / name).rename(folder.parent / "elsewhere")
        (folder / name).symlink_to("../elsewhere")
    elif kind.startswith("without "):
        (folder / kind.removeprefix("without ")).unlink()
    else:
        document = folder / ("audit.json" if folder.suffix else "certificate.json")
        texts = {"other json": '{"tls": 1}\n', "no json": "x", "a list": "[]\n", "deep": "[" * 99999}
        document.write_text(texts[kind])


KINDS = ("one more file", "a folder inside", "a link inside", "other json", "no json", "a list", "deep")
NEEDED = {
    "out": ("certificate.json", "data.csv", "hierarchy.csv", "report.html"),
    "out.private": ("audit.json", "hierarchy.csv", "recoding.json"),
}


@pytest.mark.parametrize(
    ("name", "kind"),
    [(name, kind) for name in NEEDED for kind in KINDS]
    + [(name, f"without {file}") for name, files in NEEDED.items() for file in files],
)
def test_force_replaces_nothing_of_others(shell: Shell, name: str, kind: str) -> None:
    assert shell.anonymize().code == 0
    foreign(Path(name), kind)
    refused(shell, 5, "error[not-a-release]", "--force")


def test_force_replaces_what_is_ours(shell: Shell) -> None:
    for form in ("baskets", "long", "onehot", "jsonl", "parquet", "baskets"):
        ran = shell.anonymize("--format", form, "--force")
        assert ran.code == 0, ran.err
    named = shell.anonymize("-o", "x.private"), shell.anonymize("-o", "x.private", "--force")
    assert [ran.code for ran in named] == [0, 0]
    Path("empty").mkdir()
    assert shell.anonymize("-o", "empty", "--force").code == 0
    Path("out.private/report.html").unlink()  # as if published with --no-report
    assert shell.anonymize("--force").code == 0


def test_a_folder_that_changed_owner_meanwhile(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shell.anonymize().code == 0
    real = staging.Staging.write_private

    def meddling(self: staging.Staging, *words: object) -> None:
        Path("out/thesis.tex").write_text("years of work")
        real(self, *words)  # type: ignore[arg-type]

    monkeypatch.setattr(staging.Staging, "write_private", meddling)
    ran = shell.anonymize("--force")
    assert ran.code == 5
    assert "error[not-a-release]" in ran.err
    assert Path("out/thesis.tex").read_text() == "years of work"
    assert not [name for name in shell.names() if name.startswith(".")]


def test_recovery_leaves_a_twin_of_others_alone(shell: Shell) -> None:
    assert shell.anonymize().code == 0
    Path("out.private").rename(".out.private.setveil-tmp-0123456789abcdef")
    Path("out.private").mkdir()
    Path("out.private/thesis.tex").write_text("years of work")
    assert shell.anonymize("--force").code == 5
    assert Path("out.private/thesis.tex").exists()


def test_a_full_disk_names_the_destination(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    import errno

    def full(number: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    ran = shell.anonymize()
    assert ran.code == 5
    assert "error[disk-full] out/data.csv: " in ran.err
    assert "setveil-tmp" not in ran.err
    assert run(["hierarchy", "convert", "products.csv", "-o", "new.json"]) == 5
    told = shell.capsys.readouterr().err
    assert "error[disk-full] new.json: " in told and "partial" not in told


def limited(place: Path, megabytes: int, module: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a module in so much memory."""

    def small() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    return subprocess.run(
        [sys.executable, "-m", module, *words],
        cwd=place, capture_output=True, text=True, preexec_fn=small, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("megabytes", [60, 100, 140, 200, 270, 340, 370, 410, 450])
@pytest.mark.parametrize(
    "words", [("setveil", *ANONYMIZE), ("setveil.audit", "out")], ids=lambda w: w[0]
)
def test_no_memory_to_load_a_library_is_a_limit(
    place: Path, words: tuple[str, ...], megabytes: int
) -> None:
    """No bug, no abort inside a library, and never the exit code of a promise that is not kept."""
    done = limited(place, megabytes, *words)
    assert done.returncode == 6, done.stderr[-600:]
    assert "error[memory]: out of memory." in done.stderr
    assert "Traceback" not in done.stderr
    assert names(place) == ["baskets.csv", "products.csv"]


def test_small_data_take_little_memory(place: Path) -> None:
    """Files of a release may have 4 GiB, private ones 2; room is asked for what they have."""
    measure = ("measure", "out", "--original", "baskets.csv")
    for words in (("setveil", *ANONYMIZE), ("setveil.audit", "out"), ("setveil", *measure)):
        done = limited(place, 2000, *words)
        assert done.returncode == 0, done.stderr[-600:]
