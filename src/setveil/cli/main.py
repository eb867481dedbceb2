"""The command ``setveil``: its main verb, all others, and what happens when something goes wrong.

Every way out has a code: 0 done, 1 the audit says no, 2 usage, 3 bad data, 4 no solution, 5 file
system, 6 resource limit, 70 a bug in setveil, 129 hung up, 130 interrupted, 141 the reader of the
output has gone, 143 terminated. Only a bug prints a traceback, and that only where SETVEIL_DEBUG=1 asks
for it: a traceback can hold private values.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from .._version import __version__
from ..errors import (
    FileSystemError,
    InternalError,
    SetveilError,
    UsageError,
    is_out_of_memory,
    out_of_memory,
)
from ..run import Run
from . import apply as apply_more
from . import audit as audit_published
from . import compare, first_steps, hierarchy, measure, mine, releases, risk, screen
from . import run as run_jobs
from .flags import with_flags

if TYPE_CHECKING:
    from ..run.work import Work

app = typer.Typer(
    name="setveil",
    help="Publish set-valued data so that nobody can be picked out, and prove it on the bytes written.",
    epilog="Example: setveil anonymize baskets.csv --hierarchy products.csv -k 5 -m 2 -o release",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
EXAMPLE = (
    "Examples: setveil anonymize baskets.csv --hierarchy products.csv -k 5 -m 2 -o release    "
    "setveil anonymize patients.csv --quasi zip,age,sex --sensitive disease --l 3 -o release    "
    "setveil anonymize before.csv --against after.csv --hierarchy products.csv --growth 5 -o release"
)

_CLICK_ERROR: type[Exception] = typer.BadParameter.__mro__[2]  # ClickException, wherever typer keeps it
INTERRUPTED = 130
AGAIN_SECONDS = 0.05
"""After so long a swallowed signal is sent again: the callback that swallowed it has returned."""
_NO_WORK = frozenset({"--help", "--version"})
_WRITING = frozenset({"anonymize", "apply", "demo", "run"})


@with_flags(Run)
def anonymize(
    data: str = typer.Argument(help="The file to anonymize; - is standard input.", metavar="DATA"),
    **given: Any,
) -> None:
    """Make a release of data that keeps a promise, and prove it on the bytes written.

    Records are sets of items. A table with one sensitive column is put into buckets instead, where
    --quasi names the other columns. Of two data sets, given by --against or by --class-column, it is
    hidden what one holds far more often than the other (--growth).
    """
    run = Run.take(given, data=data)
    screen.about(run.kind)
    work = run.check()
    save_job = _saver(run)
    screen.notices(work.cleaned)
    with screen.notices_before_error(work.notices, verbose=run.verbose):
        work.read()
        with screen.progress() as listener:
            if run.is_preview:
                text, plain = work.estimate(work.watch(listener))
            else:
                outcome = work.execute(listener, screen.note_placed)
    save_job()
    if run.is_preview:
        screen.notices(work.notices, verbose=run.verbose)
        _show_preview(work, text, plain)
        return
    screen.notices(outcome.notices, verbose=run.verbose)
    screen.result(str(outcome), outcome.as_dict(), as_json=run.as_json)


def _saver(run: Run) -> Callable[[], None]:
    """Return what writes the job, where that is asked for; `UsageError` where the run can be none."""
    path = run.save_job
    if path is None:
        return lambda: None
    from ..run.file import text_of_run, write_job

    text_of_run(path, run)

    def save() -> None:
        write_job(path, run, about=("A job of setveil.",), force=run.force)
        screen.notices([f"the job is written to {path}."])

    return save


def _show_preview(work: Work, text: str, plain: dict[str, Any]) -> None:
    """Show an estimate, and the rules that a run on a table would reckon with."""
    run, start = work.run, getattr(work, "start", None)
    if start is None or start.mined is None:
        screen.result(text, plain, as_json=run.as_json)
        return
    from .mine_rules import PRIVATE, deliver_rules

    if run.rules_only:
        deliver_rules(start.mined, run.output, force=run.force, as_json=run.as_json, facts=start.facts)
    elif run.as_json:
        screen.print_json(plain | {"personal_data": PRIVATE, "mined": start.mined.as_dict()})
    else:
        screen.echo(text)
        deliver_rules(start.mined, None, facts=start.facts)


app.command("anonymize", epilog=EXAMPLE)(anonymize)
app.command("audit", epilog=audit_published.EXAMPLE)(audit_published.audit)
app.command("measure", epilog=measure.EXAMPLE)(measure.measure)
app.command("risk", epilog=risk.EXAMPLE)(risk.risk)
app.command("explain", epilog=releases.EXPLAIN_EXAMPLE)(releases.explain)
app.command("report", epilog=releases.REPORT_EXAMPLE)(releases.report)
app.command("compare", epilog=compare.COMPARE_EXAMPLE)(compare.compare)
app.command("sweep", epilog=compare.SWEEP_EXAMPLE)(compare.sweep)
app.command("run", epilog=run_jobs.EXAMPLE)(run_jobs.run)
app.command("apply", epilog=apply_more.EXAMPLE)(apply_more.apply)
app.add_typer(hierarchy.app, name="hierarchy")
app.add_typer(mine.app, name="mine")
app.command("methods", epilog=first_steps.METHODS_EXAMPLE)(first_steps.methods)
app.command("demo", epilog=first_steps.DEMO_EXAMPLE)(first_steps.demo)
app.command("doctor", epilog=first_steps.DOCTOR_EXAMPLE)(first_steps.doctor)


class Terminated(BaseException):
    """The system asked the process to end, by the signal of this number."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def _version(wanted: bool) -> None:
    if wanted:
        screen.echo(f"setveil {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version."
    ),
) -> None:
    del version


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    del frame
    raise Terminated(number)


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    screen.begin(_verb(arguments))
    as_json = "--json" in arguments
    try:
        _sweep(arguments)
        returned = app(args=list(arguments), standalone_mode=False, prog_name="setveil")
        if sys.stdout is not None:
            sys.stdout.flush()
        code = returned if isinstance(returned, int) else 0
        if code == INTERRUPTED:
            _tell_end("interrupted.", arguments)
        return code
    except SetveilError as error:
        known: SetveilError = error
    except typer.Exit as leaving:
        return leaving.exit_code
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted(arguments)
    except Terminated as ended:
        return _terminated(ended, arguments)
    except BrokenPipeError:
        return _reader_has_gone()
    except SystemExit as leaving:  # what typer makes of a broken pipe
        if not isinstance(leaving.__context__, BrokenPipeError):
            raise
        return _reader_has_gone()
    except OSError as error:
        _show_traceback()
        screen.silence(sys.stdout)
        known = FileSystemError(
            f"the system refused to read or write: {error.strerror or type(error).__name__}.",
            "Check the place that the output goes to.",
            code="output",
        )
        if is_out_of_memory(error):
            known = out_of_memory()
    except _CLICK_ERROR as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            screen.say(_message(error))
            return UsageError.exit_code
        known = UsageError(_sentence(error), "See --help.")
    except Exception as error:
        # A signal that comes while compiled code is entered or left is wrapped in a SystemError.
        ending = _ending_behind(error)
        if isinstance(ending, KeyboardInterrupt):
            return _interrupted(arguments)
        if isinstance(ending, Terminated):
            return _terminated(ending, arguments)
        _show_traceback()
        known = InternalError(
            f"a bug in setveil: {type(error).__name__} in {_place(error)}.",
            "Please report it; SETVEIL_DEBUG=1 shows the traceback, which can hold private values.",
            code="bug",
        )
        if is_out_of_memory(error):
            known = out_of_memory()
    screen.failure(known, as_json=as_json, standing=_standing(arguments))
    return known.exit_code


def _verb(arguments: Sequence[str]) -> str | None:
    """Return the verb that is called, in two words where it has two; None where there is no such."""
    words, found, below = [word for word in arguments if not word.startswith("-")], "", app
    for word in words[:2]:
        if word in {
            one.name or getattr(one.callback, "__name__", "") for one in below.registered_commands
        }:
            return f"{found}{word}"
        group = next((one for one in below.registered_groups if one.name == word), None)
        if group is None or group.typer_instance is None:
            break
        found, below = f"{word} ", group.typer_instance
    return found.strip() or None


def _sweep(arguments: Sequence[str]) -> None:
    """Deal with what stopped runs have left here and beside what is named; say what was done."""
    if not arguments or not _NO_WORK.isdisjoint(arguments):
        return
    from ..io.folder.ownership import sweep

    named = (Path(word.rpartition("=")[2]).parent for word in arguments)
    screen.notices(sweep([Path(), *named]))


def _standing(arguments: Sequence[str]) -> str:
    """Return what to tell at an early end, after another look at what this run may have left."""
    writing = next((word for word in arguments if not word.startswith("-")), "") in _WRITING
    if writing:
        with contextlib.suppress(KeyboardInterrupt, Terminated):
            _sweep(arguments)
    return screen.how_it_stands(writing=writing)


def _interrupted(arguments: Sequence[str]) -> int:
    _tell_end("interrupted.", arguments)
    return INTERRUPTED


def _terminated(ended: Terminated, arguments: Sequence[str]) -> int:
    _tell_end("terminated.", arguments)
    return 128 + ended.number


def _ending_behind(error: BaseException) -> BaseException | None:
    """Return the interrupt or the end asked for that an error of the interpreter wraps, if any."""
    behind: BaseException | None = error
    while isinstance(behind, SystemError):
        behind = behind.__cause__ or behind.__context__
    return behind if isinstance(behind, KeyboardInterrupt | Terminated) else None


def _again_if_swallowed(unraisable: Any) -> None:
    """Send a signal again whose exception a callback of a library has swallowed; tell other faults."""
    ending = unraisable.exc_value
    if not isinstance(ending, KeyboardInterrupt | Terminated):
        if os.environ.get("SETVEIL_DEBUG") == "1":
            sys.__unraisablehook__(unraisable)
        return
    number = ending.number if isinstance(ending, Terminated) else signal.SIGINT
    again = threading.Timer(AGAIN_SECONDS, os.kill, (os.getpid(), number))
    again.daemon = True
    again.start()


def _show_traceback() -> None:
    if os.environ.get("SETVEIL_DEBUG") == "1":
        traceback.print_exc()


def _tell_end(text: str, arguments: Sequence[str]) -> None:
    screen.say(f"{text} {_standing(arguments)}".rstrip())


def _reader_has_gone() -> int:
    screen.silence(sys.stdout)
    return 141


def _sentence(error: Exception) -> str:
    text = _message(error)
    return text if text.endswith((".", "?", "!")) else text + "."


def _message(error: Exception) -> str:
    text: str = getattr(error, "format_message", error.__str__)()
    return text.strip()


def _place(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "setveil" in frame.filename] or frames
    name = ours[-1].filename.replace("\\", "/").rpartition("/setveil/")[2] if ours else "?"
    return f"{name}:{ours[-1].lineno}" if ours else name


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave with its exit code."""
    _hold_standard_numbers()
    sys.unraisablehook = _again_if_swallowed
    signal.signal(signal.SIGTERM, _terminate)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) == signal.SIG_DFL:
        signal.signal(signal.SIGHUP, _terminate)
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def _hold_standard_numbers() -> None:
    """Open the null device where stdin, stdout or stderr is closed.

    Else a file of ours would get its number, and with it what native libraries print.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
