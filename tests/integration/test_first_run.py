"""The first run compiles: the line of progress says so where loops are compiled, and only there."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from setveil.cli import screen


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, *, compiles: bool) -> str:
    """What a terminal shows of work that calls a loop, which is compiled then or was before."""
    terminal = _Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    loop = numba.njit(lambda number: number + 1)
    if not compiles:
        loop(1)
    with screen.progress() as listener:
        assert listener is not None
        listener("counting", 0.5)
        assert loop(1) == 2
        listener("writing", None)
    return terminal.getvalue()


def test_a_run_that_compiles_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "writing (first run: compiling, this takes a while)" in shown(monkeypatch, compiles=True)


def test_a_run_that_finds_all_compiled_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(monkeypatch, compiles=False)
    assert "writing" in text
    assert "compiling" not in text


def test_the_doctor_looks_where_numba_does(tmp_path: Path) -> None:
    (tmp_path / "other_program").mkdir()
    (tmp_path / "other_program" / "loops.run-1.py312.nbi").touch()

    def told() -> str:
        ended = subprocess.run(
            [sys.executable, "-m", "setveil", "doctor", "--json"],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            check=True,
        )
        checks = json.loads(ended.stdout)["checks"]
        return str(next(check["found"] for check in checks if check["check"] == "compiled code"))

    assert told() == "not yet: the first run compiles"
    (own,) = tmp_path.glob("kernels_*")
    (own / "base.sort_slice-1.py312.nbi").touch()
    assert told() == "there"
