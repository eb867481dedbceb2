"""``setveil run``: the jobs of one or several files, each as ``setveil anonymize`` would run it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..errors import Cancelled, FileSystemError, Problem, ResourceLimit, SetveilError, UsageError
from ..run import Shown
from ..run.fields import Texts, switch, texts
from . import screen
from .flags import as_json, with_flags

if TYPE_CHECKING:
    from ..run.file import FileJob
    from ..run.work import Work

EXAMPLE = "Example: setveil run monthly.toml --dry-run"


class Asked(Shown):
    """What `run` can be asked."""

    PANEL = "Run"

    dry_run: bool = switch("check all jobs, show an estimate of each; write nothing")
    only: Texts = texts("run the job of this name; may be repeated", metavar="NAME")
    force: bool = switch("replace releases that are there")
    stop_on_error: bool = switch("run no further job after one fails")
    as_json: bool = as_json("the results", "Run")


@dataclass
class Entry:
    """A job on its way: what it shall do, and how that went."""

    name: str
    file: str
    work: Work
    status: str = "not run"
    exit_code: int = 0
    result: dict[str, Any] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    @property
    def output(self) -> str:
        return screen.printable(self.work.run.output or "")

    def as_dict(self) -> dict[str, Any]:
        plain: dict[str, Any] = {
            "job": self.name,
            "kind": self.work.run.kind,
            "file": screen.printable(self.file),
            "status": self.status,
            "exit_code": self.exit_code,
            "output": self.output,
        }
        if self.result:
            plain["result"] = self.result
        if self.problems:
            plain["problems"] = [problem.as_dict() for problem in self.problems]
        return plain

    def row(self) -> list[str]:
        loss = self.result.get("loss", {}).get("ncp")
        seconds = self.result.get("seconds")
        return [
            self.name,
            self.status,
            self.result.get("method", self.work.run.method or "auto"),
            "" if loss is None else f"{loss:.4f}",
            "" if seconds is None else f"{seconds:.2f}",
            self.output,
        ]


@with_flags(Asked)
def run(
    files: list[str] = typer.Argument(help="Job files (TOML).", metavar="JOB.toml..."), **given: Any
) -> None:
    """Run the jobs of one or several files; all are checked before the first one runs.

    A job's keys are the flags of `setveil anonymize`. One that fails does not stop the others. The exit
    code is that of the first failure.
    """
    asked = Asked.take(given)
    entries = _entries(files, asked)
    for entry in entries:
        _attempt(entry, asked)
        if entry.exit_code and asked.stop_on_error:
            break
    code = next((entry.exit_code for entry in entries if entry.exit_code), 0)
    if asked.as_json:
        screen.print_json({"jobs": [entry.as_dict() for entry in entries], "exit_code": code})
    elif len(entries) > 1:
        screen.echo()
        columns = ("job", "status", "method", "NCP lost", "seconds", "release")
        screen.table("Jobs", columns, [entry.row() for entry in entries])
    if code:
        raise typer.Exit(code)


def _entries(files: Sequence[str], asked: Asked) -> list[Entry]:
    """Return the jobs to run, every one checked; all that is wrong is told at once."""
    from ..run.file import read_jobs

    jobs = [job for file in files for job in read_jobs(file)]
    several = len(set(files)) > 1
    for name in asked.only:
        if not any(name in (job.name, job.shown) for job in jobs):
            known = ", ".join(job.shown if several else job.name for job in jobs)
            raise UsageError(f"there is no job {name[:80]!r}.", f"Jobs: {known}.")
    if asked.only:
        jobs = [job for job in jobs if job.name in asked.only or job.shown in asked.only]
    entries: list[Entry] = []
    failed: SetveilError | None = None
    problems: list[Problem] = []
    for job in jobs:
        try:
            work = _check(job, asked)
            entries.append(Entry(job.shown if several else job.name, os.fspath(job.file), work))
        except SetveilError as error:
            failed = failed or error
            problems += [_of_job(problem, job) for problem in error.problems]
    problems += _clashes(entries)
    if problems:
        raise type(failed or UsageError(""))(problems)
    return entries


def _check(job: FileJob, asked: Asked) -> Work:
    """Return what a job shall do, checked with its files and its destination."""
    from ..io.folder.disk import telling

    force = bool(job.values.get("force")) or asked.force
    run = job.run(dry_run=asked.dry_run, verbose=asked.verbose, force=force)
    for key, usual in (("data", "baskets.csv"), ("output", "release")):
        if key not in job.values:
            raise UsageError(f"{key} is missing.", f'Write for example {key} = "{usual}".')
    work = run.check()
    work.check_job()
    for name in work.inputs:
        with telling(Path(name), "read"):
            Path(name).stat()
    screen.notices(work.cleaned)
    return work


def _of_job(problem: Problem, job: FileJob) -> Problem:
    """Return a problem that says which job it is of."""
    what = f"job {job.name!r}: {problem.what}"
    file = screen.printable(os.fspath(job.file)) if problem.file is None else problem.file
    return Problem(problem.code, what, problem.remedy, file, problem.line, problem.column)


def _clashes(entries: Sequence[Entry]) -> list[Problem]:
    """Return what is wrong with jobs beside each other: places that one takes from another."""
    found: list[Problem] = []
    places: dict[str, str] = {}
    for entry in entries:
        output = os.path.realpath(entry.work.run.output or "")
        for place in (output, f"{output}.private"):
            for other, name in places.items():
                if os.path.commonpath([place, other]) in (place, other):
                    what = f"the jobs {name!r} and {entry.name!r} would write to the same place."
                    found.append(Problem("same-output", what, "Give each its own output.", entry.file))
                    break
        places |= dict.fromkeys((output, f"{output}.private"), entry.name)
    for entry in entries:
        for name in entry.work.inputs:
            path = os.path.realpath(name)
            for place, other in places.items():
                if other != entry.name and os.path.commonpath([place, path]) == place:
                    what = f"the job {entry.name!r} reads what {other!r} would write."
                    remedy = "Run it from a file of its own, afterwards."
                    found.append(Problem("output-is-input", what, remedy, entry.file))
    return list(dict.fromkeys(found))


def _attempt(entry: Entry, asked: Asked) -> None:
    """Run one job, or estimate it; what goes wrong is told and noted."""
    try:
        _carry_out(entry, asked)
        return
    except Cancelled:
        raise
    except SetveilError as error:
        known: SetveilError = error
    except MemoryError:
        known = ResourceLimit(
            "out of memory.", "Lower m, or choose a method with memory.", code="memory"
        )
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = error.strerror or type(error).__name__
        known = FileSystemError(f"the system refused to read or write: {reason}.", code="file")
    entry.exit_code, entry.problems = known.exit_code, known.problems
    in_place = ""
    if entry.status == "done":  # published, and only telling of it failed
        in_place = f"\nThe release is in place at {entry.output}."
    else:
        entry.status = "failed"
    screen.say(f"job {entry.name}: {known.text()}{in_place}")


def _of_entry(notice: str, entry: Entry) -> str:
    """Return a notice that says of which job it is; a warning and a remark stay one."""
    said = notice.removeprefix("warning: ")
    kind = notice[: len(notice) - len(said)]
    return type(notice)(f"{kind}job {entry.name}: {said}")


def _carry_out(entry: Entry, asked: Asked) -> None:
    from ..run.work import named_listener

    work = entry.work
    with screen.notices_before_error(work.notices, verbose=asked.verbose):
        work.read()
        with screen.progress() as listener:
            named = named_listener(listener, entry.name)
            if asked.dry_run:
                text, entry.result = work.estimate(work.watch(named))
                notices: Sequence[str] = work.notices
                entry.status = "would run"
            else:
                outcome = work.execute(named, screen.note_placed)
    if not asked.dry_run:
        entry.status = "done"
        text, entry.result, notices = str(outcome), outcome.as_dict(), outcome.notices
    screen.notices([_of_entry(notice, entry) for notice in notices], verbose=asked.verbose)
    if not asked.as_json:
        screen.echo(f"Job {entry.name}: {text}")
