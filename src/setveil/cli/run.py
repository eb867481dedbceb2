"""``setveil run``: the jobs of one or several files, each as ``setveil anonymize`` would run it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import typer

from ..errors import Cancelled, FileSystemError, Problem, ResourceLimit, SetveilError, UsageError
from . import screen
from .anonymize import Plan, as_plain, estimated, planned, published, read_and_bind, summary, told
from .flags import NOTICES, Flag, taking
from .job_keys import flags_of, job_keys
from .reading import guarantee_of

if TYPE_CHECKING:
    from ..job_file import FileJob

EXAMPLE = "Example: setveil run monthly.toml --dry-run"

OWN = (
    Flag(
        "dry_run",
        bool,
        "check all jobs, show an estimate of each; write nothing",
        panel="Run",
        default=False,
    ),
    Flag(
        "only",
        list[str] | None,
        "run the job of this name; may be repeated",
        panel="Run",
        metavar="NAME",
    ),
    Flag("force", bool, "replace releases that are there", panel="Run", default=False),
    Flag("stop_on_error", bool, "run no further job after one fails", panel="Run", default=False),
    Flag("as_json", bool, "print the results as JSON", ("--json",), panel="Run", default=False),
)


@dataclass
class Entry:
    """A job on its way: what it shall do, and how that went."""

    name: str
    file: str
    plan: Plan
    status: str = "not run"
    exit_code: int = 0
    result: dict[str, Any] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the job for --json."""
        plain: dict[str, Any] = {
            "job": self.name,
            "file": screen.printable(self.file),
            "status": self.status,
            "exit_code": self.exit_code,
            "output": screen.printable(self.plan.given["output"]),
        }
        if self.result:
            plain["result"] = self.result
        if self.problems:
            plain["problems"] = [problem.as_dict() for problem in self.problems]
        return plain

    def row(self) -> list[str]:
        """Return the job as a row of the summary."""
        loss = self.result.get("loss", {}).get("ncp")
        seconds = self.result.get("seconds")
        return [
            self.name,
            self.status,
            self.result.get("method", self.plan.settings.method or "auto"),
            "" if loss is None else f"{loss:.4f}",
            "" if seconds is None else f"{seconds:.2f}",
            screen.printable(self.plan.given["output"]),
        ]


@taking(OWN, NOTICES)
def run(
    files: list[str] = typer.Argument(help="Job files (TOML).", metavar="JOB.toml..."),
    **given: Any,
) -> None:
    """Run the jobs of one or several files; all are checked before the first one runs.

    A job's keys are the flags of `setveil anonymize`. One that fails does not stop the others. The exit
    code is that of the first failure.
    """
    entries = _entries(files, given)
    for entry in entries:
        _attempt(entry, given)
        if entry.exit_code and given["stop_on_error"]:
            break
    code = next((entry.exit_code for entry in entries if entry.exit_code), 0)
    if given["as_json"]:
        screen.print_json({"jobs": [entry.as_dict() for entry in entries], "exit_code": code})
    elif len(entries) > 1:
        screen.echo()
        columns = ("job", "status", "method", "NCP lost", "seconds", "release")
        screen.table("Jobs", columns, [entry.row() for entry in entries])
    if code:
        raise typer.Exit(code)


def _entries(files: Sequence[str], given: dict[str, Any]) -> list[Entry]:
    """Return the jobs to run, every one checked; all that is wrong is told at once."""
    from ..job_file import read_jobs

    keys = job_keys()
    jobs = [job for file in files for job in read_jobs(file, keys)]
    several = len(set(files)) > 1
    wanted = given["only"] or []
    for name in wanted:
        if not any(name in (job.name, job.shown) for job in jobs):
            known = ", ".join(job.shown if several else job.name for job in jobs)
            raise UsageError(f"there is no job {name[:80]!r}.", f"Jobs: {known}.")
    if wanted:
        jobs = [job for job in jobs if job.name in wanted or job.shown in wanted]
    entries: list[Entry] = []
    failed: SetveilError | None = None
    problems: list[Problem] = []
    for job in jobs:
        try:
            plan = _planned(job, given)
            entries.append(Entry(job.shown if several else job.name, os.fspath(job.file), plan))
        except SetveilError as error:
            failed = failed or error
            problems += [_of_job(problem, job) for problem in error.problems]
    problems += _clashes(entries)
    if problems:
        raise type(failed or UsageError(""))(problems)
    return entries


def _planned(job: FileJob, given: dict[str, Any]) -> Plan:
    """Return what a job shall do, checked with its files and its destination."""
    flags = flags_of(job) | {"dry_run": given["dry_run"], "verbose": given["verbose"]}
    flags["force"] = flags["force"] or given["force"]
    for key in ("data", "output"):
        if key not in job.values:
            raise UsageError(f"{key} is missing.", f'Write for example {key} = "{_USUAL[key]}".')
    plan = planned(str(job.values["data"]), flags)
    from pathlib import Path

    from ..io.folder.disk import telling
    from ..io.folder.staging import check_destination
    from ..job import Job

    settings = plan.settings
    Job(
        guarantee_of(flags, settings.method),
        method=settings.method,
        cost=flags["cost"],
        unknown=flags["unknown"],
        options=settings.options,
        domain=flags["domain"],
    ).check(without_hierarchy=not flags["hierarchy"] and not flags["set_columns"])
    for name in plan.inputs:
        with telling(Path(name), "read"):
            Path(name).stat()
    screen.notices(check_destination(flags["output"], force=flags["force"], inputs=plan.inputs))
    return plan


_USUAL = {"data": "baskets.csv", "output": "release"}


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
        output = os.path.realpath(entry.plan.given["output"])
        for place in (output, f"{output}.private"):
            for other, name in places.items():
                if os.path.commonpath([place, other]) in (place, other):
                    what = f"the jobs {name!r} and {entry.name!r} would write to the same place."
                    found.append(Problem("same-output", what, "Give each its own output.", entry.file))
                    break
        places |= dict.fromkeys((output, f"{output}.private"), entry.name)
    for entry in entries:
        for name in entry.plan.inputs:
            path = os.path.realpath(name)
            for place, other in places.items():
                if other != entry.name and os.path.commonpath([place, path]) == place:
                    what = f"the job {entry.name!r} reads what {other!r} would write."
                    remedy = "Run it from a file of its own, afterwards."
                    found.append(Problem("output-is-input", what, remedy, entry.file))
    return list(dict.fromkeys(found))


def _attempt(entry: Entry, given: dict[str, Any]) -> None:
    """Run one job, or estimate it; what goes wrong is told and noted."""
    try:
        _carry_out(entry, given)
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
        in_place = f"\nThe release is in place at {screen.printable(entry.plan.given['output'])}."
    else:
        entry.status = "failed"
    screen.say(f"job {entry.name}: {known.text()}{in_place}")


def _carry_out(entry: Entry, given: dict[str, Any]) -> None:
    verbose: bool = given["verbose"]
    prepared = read_and_bind(entry.plan)
    if given["dry_run"]:
        text, entry.result = estimated(entry.plan, prepared)
        entry.status = "would run"
        screen.notices(_named(entry, prepared.notices), verbose=verbose)
    else:
        with screen.progress() as listener:
            release, publication = published(
                entry.plan, prepared, None if listener is None else _telling(listener, entry.name)
            )
        entry.status = "done"
        text, entry.result = summary(release, publication), as_plain(release, publication)
        screen.notices(_named(entry, told(release, publication)), verbose=verbose)
    if not given["as_json"]:
        screen.echo(f"Job {entry.name}: {text}")


def _named(entry: Entry, notices: Sequence[str]) -> list[str]:
    return [type(notice)(f"job {entry.name}: {notice}") for notice in notices]


def _telling(listener: Any, name: str) -> Any:
    def listen(stage: str, share: float | None) -> None:
        listener(f"{name}: {stage}", share)

    return listen
