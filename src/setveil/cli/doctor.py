"""``setveil doctor``: is this machine ready? Versions, threads, compiled code, solver."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from importlib import metadata
from typing import Any

import typer

from .._version import __version__
from . import screen

EXAMPLE = "Example: setveil doctor --json"

PACKAGES = ("numpy", "numba", "pyarrow", "highspy", "typer", "rich")


def doctor(as_json: bool = typer.Option(False, "--json", help="Print as JSON.")) -> None:
    """Check that everything setveil needs is here; exit code 0 if so, 70 if not."""
    checks: list[tuple[str, Callable[[], str]]] = [
        ("setveil", lambda: __version__),
        ("python", platform.python_version),
        *((name, lambda name=name: metadata.version(name)) for name in PACKAGES),
        ("threads", lambda: str(len(os.sched_getaffinity(0)))),
        ("memory", _memory),
        ("compiled code", _cache),
        ("solver", _solver),
        ("rename in one step", _exchange),
    ]
    found: list[tuple[str, bool, str]] = []
    for name, check in checks:
        try:
            found.append((name, True, check()))
        except Exception as error:
            found.append((name, False, f"{type(error).__name__}: {error}"))
    healthy = all(good for _, good, _ in found)
    if as_json:
        plain = [{"check": name, "ok": good, "found": text} for name, good, text in found]
        screen.print_json({"ok": healthy, "checks": plain})
    else:
        screen.table(
            "Doctor",
            ("check", "", "found"),
            [(name, "ok" if good else "NO", text) for name, good, text in found],
        )
    if not healthy:
        raise typer.Exit(70)


def _memory() -> str:
    size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return f"{size / 2**30:.1f} GiB"


def _cache() -> str:
    folder = screen.cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise RuntimeError("not writable: every run compiles anew; set NUMBA_CACHE_DIR")
    return "there" if screen.compiled() else "not yet: the first run compiles"


def _solver() -> str:
    from highspy import Highs

    solver: Any = Highs
    return f"HiGHS {solver().version()}"


def _exchange() -> str:
    from ..io.folder.disk import can_exchange

    return "yes" if can_exchange() else "no: replacing a release takes two steps here"
