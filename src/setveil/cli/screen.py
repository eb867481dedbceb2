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

from ..errors import FileSystemError, Remark, SetveilError
from ..progress import Listener, Watch


def say(text: str) -> None:
    """Print a line to stderr; where that cannot be, the exit code has to do."""
    try:
        typer.echo(printable(text, sys.stderr), err=True)
    except (OSError, ValueError):
        silence(sys.stderr)


def echo(text: str = "") -> None:
    """Print a line to stdout; `FileSystemError` where it is closed or full."""
    if sys.stdout is None:
        raise unprintable("stdout is closed")
    try:
        typer.echo(printable(text, sys.stdout))
    except BrokenPipeError:
        raise
    except OSError as error:
        raise unprintable(error.strerror or type(error).__name__) from error
    except ValueError as error:
        raise unprintable("stdout is closed") from error


def unprintable(reason: str) -> FileSystemError:
    """Return the error for a result that cannot be printed; what is left of it goes nowhere."""
    silence(sys.stdout)
    return FileSystemError(
        f"the result could not be printed: {reason}.",
        "Send the output to a place that takes it.",
        code="output",
    )


def silence(stream: Any) -> None:
    """Send what a stream still holds nowhere, so that no second error follows at exit."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def notices(lines: Iterable[str], *, verbose: bool = False) -> None:
    """Print what the user should know, to stderr; remarks only where all is asked for.

    A line that begins with "warning: " says so instead of "notice: ".
    """
    for line in lines:
        if verbose or not isinstance(line, Remark):
            say(line if line.startswith("warning: ") else f"notice: {line}")


def written(path: str) -> None:
    """Tell that a file was written: a notice, so that scripts find results alone on stdout."""
    notices([f"written: {path}"])


@contextlib.contextmanager
def notices_before_error(lines: Iterable[str], *, verbose: bool) -> Iterator[None]:
    """Print the notices if an error ends the block: how a file was read often explains it."""
    try:
        yield
    except SetveilError:
        notices(lines, verbose=verbose)
        raise


@contextlib.contextmanager
def working(lines: Iterable[str], *, verbose: bool) -> Iterator[Watch]:
    """Show how far the work is; where an error ends it, print first how the data were read."""
    with notices_before_error(lines, verbose=verbose), progress() as listener:
        yield Watch(listener=listener)


def result(text: str, plain: Mapping[str, Any], *, as_json: bool) -> None:
    """Print a result to stdout: as text, or as JSON."""
    if as_json:
        print_json(plain)
    else:
        echo(text)


def print_json(plain: Mapping[str, Any]) -> None:
    """Print one JSON object to stdout; ASCII, so that it survives any terminal.

    It begins with the verb and the kind of release or data that it is about, whatever comes then.
    """
    assert _now.keys().isdisjoint(plain), "two things of one name"
    echo(json.dumps({**_now, **plain}, indent=2, allow_nan=False, default=str))


def failure(error: SetveilError, *, as_json: bool, standing: str) -> None:
    """Print an error: text to stderr, and with --json the same as an object to stdout.

    `standing` tells what there is on the disk nevertheless, or that there is nothing.
    """
    text = error.text()
    say(f"{text}\n{standing}" if standing else text)
    if as_json:
        problems = [problem.as_dict() for problem in error.problems]
        with contextlib.suppress(FileSystemError, BrokenPipeError):
            name = type(error).__name__
            print_json({"error": name, "exit_code": error.exit_code, "problems": problems})


def printable(text: str, stream: Any = None) -> str:
    """Return text that the stream's encoding can hold; the rest is escaped, never a crash."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def on_terminal() -> bool:
    """Tell whether results go to a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


_placed: list[str] = []
_now: dict[str, str | None] = {"verb": None, "kind": None}
"""What the run that is under way is: what JSON begins with."""


def begin(verb: str | None) -> None:
    """Begin a run of a verb: nothing is in place, and what it is about is not known."""
    _placed.clear()
    _now.update(verb=verb, kind=None)


def about(kind: str | None) -> None:
    """Note the kind of release or data that the run is about, as soon as it is known."""
    _now["kind"] = kind


def about_folder(path: str) -> None:
    """Note the kind of a release folder; of anything else nothing is known yet."""
    from ..io.folder.ownership import kind_of_folder

    about(kind_of_folder(path))


def note_placed(path: Path) -> None:
    """Note that a release is in place, whatever comes now, so that no message claims the contrary."""
    _placed.append(os.fspath(path))


def how_it_stands(*, writing: bool) -> str:
    """Return what to tell at an early end of a run; nothing where the verb writes no release."""
    if _placed:
        return f"The release is in place at {_placed[-1]}."
    return "Nothing was written." if writing else ""


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table to stdout: drawn on a terminal, tab-separated elsewhere."""
    if not on_terminal():
        echo("\t".join(columns))
        for row in rows:
            echo("\t".join(row))
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
    """Show how far the work is, with the time left, on a terminal; nothing elsewhere.

    From the moment on when loops must be compiled, and are not there from an earlier run, it says so.
    """
    if sys.stderr is None or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
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
    now, first = "starting", ""
    with shown:
        task = shown.add_task(now, total=None)

        def listen(stage: str, share: float | None) -> None:
            nonlocal now
            now, total = stage, None if share is None else 1.0
            shown.update(task, description=now + first, total=total, completed=share or 0.0)

        from numba.core import event

        class Compiling(event.Listener):
            def on_start(self, _event: object) -> None:
                nonlocal first
                first = " (first run: compiling, this takes a while)"
                shown.update(task, description=now + first)

            def on_end(self, _event: object) -> None:
                pass

        with event.install_listener("numba:compile", Compiling()):
            yield listen
