"""What the user sees: results on stdout, progress and errors on stderr, JSON where asked for."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from ..errors import SetveilError
from ..model.notices import Remark
from ..progress import Listener


def say(text: str) -> None:
    """Print a line to stderr."""
    typer.echo(printable(text, sys.stderr), err=True)


def notices(lines: Iterable[str], *, verbose: bool = False) -> None:
    """Print what the user should know, to stderr; remarks only where all is asked for."""
    for line in lines:
        if verbose or not isinstance(line, Remark):
            say(f"notice: {line}")


def result(text: str, plain: Mapping[str, Any], *, as_json: bool) -> None:
    """Print a result to stdout: as text, or as JSON."""
    if as_json:
        print_json(plain)
    else:
        typer.echo(printable(text, sys.stdout))


def print_json(plain: Mapping[str, Any]) -> None:
    """Print one JSON object to stdout; ASCII, so that it survives any terminal."""
    typer.echo(json.dumps(plain, indent=2, allow_nan=False, default=str))


def failure(error: SetveilError, *, as_json: bool, untouched: bool) -> None:
    """Print an error: text to stderr, and with --json the same as an object to stdout."""
    text = error.text()
    say(f"{text}\nNothing was written." if untouched else text)
    if as_json:
        problems = [problem.as_dict() for problem in error.problems]
        print_json({"error": {"exit_code": error.exit_code, "problems": problems}})


def printable(text: str, stream: Any = None) -> str:
    """Return text that the stream's encoding can hold; the rest is escaped, never a crash."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table to stdout: drawn on a terminal, tab-separated elsewhere."""
    if not sys.stdout.isatty():
        typer.echo("\t".join(columns))
        for row in rows:
            typer.echo(printable("\t".join(row), sys.stdout))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(*columns, title=title, title_justify="left", header_style="bold")
    for row in rows:
        drawn.add_row(*(Text(cell) for cell in row))
    Console().print(drawn)


@contextlib.contextmanager
def progress() -> Iterator[Listener | None]:
    """Show how far the work is, with the time left, on a terminal; nothing elsewhere."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    shown = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
        console=Console(stderr=True),
        transient=True,
    )
    first = "" if compiled() else " (first run: compiling, this takes a while)"
    with shown:
        task = shown.add_task("starting" + first, total=None)

        def listen(stage: str, share: float | None) -> None:
            total = None if share is None else 1.0
            shown.update(task, description=stage + first, total=total, completed=share or 0.0)

        yield listen


def cache_folder() -> Path:
    """Return where compiled code is kept."""
    own = os.environ.get("NUMBA_CACHE_DIR")
    return Path(own) if own else Path(__file__).resolve().parents[1] / "kernels" / "__pycache__"


def compiled() -> bool:
    """Tell whether compiled code is there from an earlier run."""
    return next(cache_folder().rglob("*.nbi"), None) is not None
