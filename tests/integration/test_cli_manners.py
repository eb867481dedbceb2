"""How the command line behaves: help, errors, signals, pipes, and what goes where."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from setveil.cli import main as main_module
from setveil.registry import ALL_METHODS
from tests.integration.cli import Shell

VERBS = (
    "anonymize", "audit", "measure", "risk", "explain", "report", "compare", "sweep", "run", "apply",
    "hierarchy", "mine", "methods", "demo", "doctor",
)  # fmt: skip


@pytest.mark.parametrize("verb", VERBS)
def test_help_shows_an_example(shell: Shell, verb: str) -> None:
    ran = shell(verb, "--help")
    assert ran.code == 0
    assert f"setveil {verb}" in ran.out.replace("\n", " ")
    assert "Example" in ran.out


def test_help_lists_the_verbs(shell: Shell) -> None:
    ran = shell("--help")
    assert ran.code == 0
    assert all(verb in ran.out for verb in VERBS)
    assert shell("--version").out == "setveil 0.2.0\n"


@pytest.mark.parametrize("verb", ["anonymize", "audit", "methods", "demo", "doctor"])
def test_every_verb_speaks_json(shell: Shell, verb: str) -> None:
    assert "--json" in shell(verb, "--help").out


def test_methods_come_from_the_registry(shell: Shell) -> None:
    plain = shell("methods", "--json").json
    assert [entry["method"] for entry in plain["methods"]] == [record.key for record in ALL_METHODS]
    assert all(record.key in shell("methods").out for record in ALL_METHODS)
    assert "--parts" in shell("methods", "lra").out
    assert shell("methods", "lra", "--json").json["recoding"] == "local"
    assert shell("methods", "nothing").code == 2


def test_doctor_is_content(shell: Shell) -> None:
    plain = shell("doctor", "--json").json
    assert plain["ok"] is True
    assert {"numba", "highspy", "threads", "compiled code", "solver"} <= {
        entry["check"] for entry in plain["checks"]
    }
    assert "solver\tok" in shell("doctor").out


def test_errors_are_text_on_stderr_and_json_on_stdout(shell: Shell) -> None:
    ran = shell.anonymize("--method", "optimum", "--json")
    assert ran.code == 2
    assert ran.err.startswith("error[unknown-method]: unknown method 'optimum'. Did you mean optimal?")
    assert ran.err.endswith("Nothing was written.\n")
    [problem] = ran.json["problems"]
    assert problem["code"] == "unknown-method"
    assert ran.json["exit_code"] == 2


def test_a_slip_in_the_method_is_told_before_anything_is_read(shell: Shell) -> None:
    guarantee = ("--guarantee", "lm", "--sensitive", "beer", "--l", "2", "-k", "2", "-m", "1")
    ran = shell("anonymize", "missing.csv", *guarantee, "--method", "optimum", "-o", "release")
    assert ran.code == 2
    assert ran.err.startswith("error[unknown-method]: unknown method 'optimum'. Did you mean optimal?")


@pytest.mark.parametrize(
    "words",
    [("anonymize",), ("strange",), ("anonymize", "x", "--strange"), ("methods", "--json", "a", "b")],
)
def test_wrong_usage(shell: Shell, words: tuple[str, ...]) -> None:
    ran = shell(*words)
    assert ran.code == 2
    assert ran.err.startswith("error[usage]")
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("words", [(), ("hierarchy",)])
def test_a_bare_command_shows_its_help(shell: Shell, words: tuple[str, ...]) -> None:
    ran = shell(*words)
    assert ran.code == 2
    assert ran.err.startswith("Usage: setveil")
    assert "error" not in ran.err.split("Commands:")[0]
    assert ran.out == ""


def test_a_slip_of_the_pen_is_guessed(shell: Shell) -> None:
    assert "Did you mean 'anonymize'? See --help." in shell("anonymise").err


def test_a_bug_is_called_a_bug(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("private: wine of p17")

    monkeypatch.setattr("setveil.run.Run.read_sets", broken)
    ran = shell.anonymize("--json")
    assert ran.code == 70
    assert "a bug in setveil: ZeroDivisionError in" in ran.err
    assert "p17" not in ran.err + ran.out
    assert "Traceback" not in ran.err
    monkeypatch.setenv("SETVEIL_DEBUG", "1")
    assert "Traceback" in shell.anonymize().err


@pytest.mark.parametrize(
    ("raised", "code"),
    [(MemoryError(), 6), (KeyboardInterrupt(), 130), (main_module.Terminated(15), 143)],
)
def test_other_ways_out(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, raised: BaseException, code: int
) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise raised

    monkeypatch.setattr("setveil.run.sets.Prepared.run", stopped)
    before = shell.names()
    ran = shell.anonymize()
    assert ran.code == code
    assert "Nothing was written." in ran.err
    assert shell.names() == before


def slow_run(folder: Path) -> subprocess.Popen[bytes]:
    """Start a run that reaches its publishing and then waits, its hidden folders open."""
    script = (
        "import sys, time, pathlib\n"
        "import setveil.audit\n"
        "def wait(path):\n"
        "    pathlib.Path('waiting').write_text('x')\n"
        "    time.sleep(60)\n"
        "setveil.audit.audit_folder = wait\n"
        "from setveil.cli.main import main\n"
        "words = 'anonymize baskets.csv --hierarchy products.csv -k 2 -m 2 -o out'\n"
        "main(words.split())\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    for _ in range(600):
        if (folder / "waiting").exists() or process.poll() is not None:
            break
        time.sleep(0.1)
    assert process.poll() is None, process.communicate()
    (folder / "waiting").unlink()
    return process


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_leave_nothing_behind(shell: Shell, number: int, code: int) -> None:
    before = shell.names()
    process = slow_run(shell.folder)
    assert len(shell.names()) == len(before) + 2
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert b"Traceback" not in err
    assert b"Nothing was written." in err
    assert out == b""
    assert shell.names() == before


def test_a_killed_run_is_cleaned_up_by_the_next(shell: Shell) -> None:
    before = shell.names()
    process = slow_run(shell.folder)
    during = shell.names()
    beside = shell.anonymize("--dry-run")
    assert beside.code == 0
    assert shell.names() == during, "a living run's folders must stay"
    process.kill()
    process.communicate()
    assert len(shell.names()) == len(before) + 2
    assert not Path("out").exists()
    ran = shell.anonymize()
    assert ran.code == 0
    assert "a stopped run had left" in ran.err
    assert shell.names() == sorted([*before, "out", "out.private"])


def test_broken_pipe_is_quiet(shell: Shell) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    process = subprocess.run(
        [sys.executable, "-m", "setveil", "methods", "--json"],
        stdout=writing, stderr=subprocess.PIPE, cwd=shell.folder, check=False,
    )  # fmt: skip
    os.close(writing)
    assert process.stderr == b""
    assert process.returncode == 141


@pytest.mark.parametrize("locale", ["C", "POSIX", "C.UTF-8"])
def test_any_locale_gives_the_same_bytes(shell: Shell, locale: str) -> None:
    Path("baskets.csv").write_bytes("caf\u00e9\ncaf\u00e9\nth\u00e9\nth\u00e9\n".encode())
    Path("products.csv").write_bytes("caf\u00e9;all\nth\u00e9;all\n".encode())
    environment = {**os.environ, "LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    words = [
        sys.executable,
        "-m",
        "setveil",
        "anonymize",
        "baskets.csv",
        "--layout",
        "baskets",
        "--hierarchy",
    ]
    words += ["products.csv", "-k", "2", "-m", "2", "-o", "out", "--json"]
    ran = subprocess.run(words, cwd=shell.folder, env=environment, capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["records"] == 4
    assert Path("out/data.csv").read_bytes() == "caf\u00e9\ncaf\u00e9\nth\u00e9\nth\u00e9\n".encode()
    wrong = subprocess.run(
        [*words, "--method", "caf\u00e9"], cwd=shell.folder, env=environment, capture_output=True
    )
    assert wrong.returncode == 2
    assert b"Traceback" not in wrong.stderr
