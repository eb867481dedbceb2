"""``setveil anonymize``: data in, a release folder out, audited on the bytes written."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from ..errors import UsageError
from . import screen, standing
from .anonymize_pair import PAIR, anonymize_pair, is_about_two, refuse_alone
from .anonymize_table import BUCKETS, anonymize_table
from .flags import GUARANTEE, NOTICES, READING, TABLE, Flag, method_flags, taking
from .inputs import (
    COST,
    HIERARCHY,
    METHOD,
    THREADS,
    TIME_LIMIT,
    Settings,
    bound,
    input_files,
    settings_of,
)
from .reading import read_data

if TYPE_CHECKING:
    from ..job import Prepared
    from ..progress import Listener
    from ..publish import Publication
    from ..release.release import Release

EXAMPLE = (
    "Examples: setveil anonymize baskets.csv --hierarchy products.csv -k 5 -m 2 -o release    "
    "setveil anonymize patients.csv --quasi zip,age,sex --sensitive disease --l 3 -o release    "
    "setveil anonymize before.csv --against after.csv --hierarchy products.csv --growth 5 -o release"
)

RUN = (
    METHOD,
    *COST,
    TIME_LIMIT,
    THREADS,
    Flag(
        "dry_run",
        bool,
        "show an estimate and what would be done; write nothing",
        panel="Run",
        default=False,
    ),
)
OUTPUT = (
    Flag(
        "output", str | None, "the folder to make", ("-o", "--output"), panel="Output", metavar="FOLDER"
    ),
    Flag(
        "format",
        str | None,
        "baskets, long, onehot, fimi, jsonl or parquet; for a table: table or jsonl; for buckets: "
        "buckets (two tables) or joined (one)",
        panel="Output",
    ),
    Flag(
        "csv_safe",
        bool,
        "no CSV with labels that a spreadsheet would run as formulas; JSON lines instead",
        panel="Output",
        default=False,
    ),
    Flag(
        "no_report",
        bool,
        "leave the page of the private folder out, which can take long for a large table",
        panel="Output",
        default=False,
    ),
    Flag("force", bool, "replace a release that is there", panel="Output", default=False),
    Flag(
        "publish_useless",
        bool,
        "publish a release too of which most records say nothing",
        panel="Output",
        default=False,
    ),
    Flag(
        "save_job",
        str | None,
        "write these flags as a job that `setveil run` repeats",
        panel="Output",
        metavar="FILE.toml",
    ),
    Flag("as_json", bool, "print the result as JSON", ("--json",), panel="Output", default=False),
)


FLAGS = (GUARANTEE, HIERARCHY, RUN, OUTPUT, READING, NOTICES, TABLE, BUCKETS, PAIR, method_flags())


@taking(*FLAGS)
def anonymize(
    data: str = typer.Argument(help="The file to anonymize; - is standard input.", metavar="DATA"),
    **given: Any,
) -> None:
    """Make a release of data that keeps a promise, and prove it on the bytes written.

    Records are sets of items. A table with one sensitive column is put into buckets instead, where
    --quasi names the other columns. Of two data sets, given by --against or by --class-column, it is
    hidden what one holds far more often than the other (--growth).
    """
    every_flag = [flag for group in FLAGS for flag in group]
    if given["quasi"]:
        anonymize_table(data, given, every_flag)
        return
    if is_about_two(given):
        anonymize_pair(data, given, every_flag)
        return
    refuse_alone(given)
    for flag in BUCKETS:
        if given[flag.name] not in (flag.default, []):
            raise UsageError(
                f"{flag.spelled[0]} goes with --quasi.", "Name the columns, or leave it out."
            )
    plan = planned(data, given)
    prepared = read_and_bind(plan)
    if given["dry_run"]:
        _save_job(plan)
        screen.notices(prepared.notices, verbose=given["verbose"])
        screen.result(*estimated(plan, prepared), as_json=given["as_json"])
        return
    with screen.progress() as listener:
        release, publication = published(plan, prepared, listener)
    _save_job(plan)
    screen.notices(told(release, publication), verbose=given["verbose"])
    screen.result(
        summary(release, publication), as_plain(release, publication), as_json=given["as_json"]
    )


@dataclass(frozen=True)
class Plan:
    """One run by flags, checked as far as it can be without reading the data."""

    data: str
    given: Mapping[str, Any]
    settings: Settings
    inputs: list[str]


def planned(data: str, given: Mapping[str, Any]) -> Plan:
    """Return the run that the flags describe; a slip is told before a large file is read."""
    settings = settings_of(given)
    if given["output"] is None and not given["dry_run"]:
        raise UsageError("no output is named.", "Give -o FOLDER, or --dry-run.")
    plan = Plan(data, given, settings, input_files(data, given))
    from ..editions.sets import check_format
    from ..publish import check_environment

    check_environment()
    check_format(given["format"])
    if given["save_job"] is not None:
        from ..io.files import check_new_file

        if data == "-" or given["output"] is None:
            raise UsageError(
                "a job names the file it reads and the folder it makes.",
                "Give both, or leave --save-job out.",
            )
        check_new_file(given["save_job"], force=given["force"], inputs=plan.inputs)
    return plan


def read_and_bind(plan: Plan) -> Prepared:
    """Check the destination, read everything, and bind it; nothing is computed yet."""
    from ..editions.sets import check_format
    from ..io.folder.staging import check_destination

    given = plan.given
    if given["output"] is not None:
        screen.notices(check_destination(given["output"], force=given["force"], inputs=plan.inputs))
    transactions = read_data(plan.data, given)
    with screen.notices_before_error(transactions.notices, verbose=given["verbose"]):
        check_format(given["format"], transactions.layout)
        return bound(transactions, given, plan.settings)


def published(plan: Plan, prepared: Prepared, listener: Listener | None) -> tuple[Release, Publication]:
    """Run the job, write its release, audit it and put it into place."""
    from ..progress import Watch
    from ..publish import publish

    given = plan.given
    with screen.notices_before_error(prepared.notices, verbose=given["verbose"]):
        release = prepared.run(Watch(listener=listener, time_limit=plan.settings.time_limit))
        publication = publish(
            release,
            given["output"],
            force=given["force"],
            format=given["format"],
            csv_safe=given["csv_safe"],
            allow_useless=given["publish_useless"],
            private_report=not given["no_report"],
            placed=standing.placed,
            watch=Watch(listener=listener),
        )
    return release, publication


def _save_job(plan: Plan) -> None:
    if plan.given["save_job"] is None:
        return
    from .job_keys import write_job

    force: bool = plan.given["force"]
    write_job(plan.given["save_job"], plan.data, plan.given, about=("A job of setveil.",), force=force)
    screen.notices([f"the job is written to {plan.given['save_job']}."])


def estimated(plan: Plan, prepared: Prepared) -> tuple[str, dict[str, Any]]:
    """Return what a run would work on, as text and as plain values."""
    plain: dict[str, Any] = {"dry_run": True, **prepared.estimate(), "output": plan.given["output"]}
    if plain["method"] == "auto":
        from ..methods.auto import choose

        suppression = bool(prepared.job.options.get("suppression", True))
        plain["would_take"] = choose(prepared.hierarchy, suppression=suppression).key
    lines = ["Dry run: nothing was computed or written."]
    lines += [f"  {name.ljust(20)} {text}" for name, text in _figures(plain)]
    return "\n".join(lines), plain


def _figures(plain: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what a dry run tells, name by name, in words."""
    for name, value in plain.items():
        if name in ("dry_run", "would_take") or value is None:
            continue
        if name == "memory_bytes":
            yield "memory", f"about {value / 2**20:,.0f} MiB"
        elif name == "method" and "would_take" in plain:
            yield name, f"{value}, which takes {plain['would_take']} here"
        else:
            yield name.replace("_", " "), f"{value:,}" if isinstance(value, int) else str(value)


def told(release: Release, publication: Publication) -> tuple[str, ...]:
    """Return the notices of a run, with a loud one where nothing of use is published."""
    useless = release.useless
    return (*publication.notices, *(() if useless is None else (useless,)))


def files(publication: Publication) -> list[str]:
    """Return the names of the files of a release."""
    from ..io.folder.ownership import CERTIFICATE, HIERARCHY, REPORT
    from ..io.formats import data_file_name

    return [data_file_name(publication.layout), HIERARCHY, CERTIFICATE, REPORT]


def summary(release: Release, publication: Publication) -> str:
    """Return what was kept, lost and guaranteed, and where it lies."""
    lines = screen.lines_of(release, publication.time)
    smallest = publication.verdict.as_dict()["smallest_support"]
    audited = "the written bytes keep the promise"
    if smallest is not None:
        audited += f"; smallest support {smallest:,}"
    lines.append(f"  {'audit'.ljust(8)} {audited}")
    lines.append(
        f"  {'release'.ljust(8)} {os.fspath(publication.path)} ({', '.join(files(publication))})"
    )
    lines.append(f"  {'private'.ljust(8)} {os.fspath(publication.private)} (personal data: keep it)")
    return "\n".join(["Published", *lines])


def as_plain(release: Release, publication: Publication) -> dict[str, Any]:
    """Return the result for --json; stdout is the holder's, so figures are exact here."""
    verdict: Any = publication.verdict
    return {
        "method": release.method,
        "guarantee": release.guarantee.as_dict(),
        "records": release.records,
        "suppressed_items": release.suppressed_items,
        "suppressed_occurrences": release.suppressed,
        "dropped_records": len(release.dropped),
        "empty_records": release.empty_records,
        "loss": {name: float(loss) for name, loss in release.losses.items()},
        "domain": release.hierarchy.domain,
        "objective": None if release.objective is None else release.objective.as_dict(),
        "seconds": release.seconds,
        "seconds_by_stage": dict(publication.seconds),
        "complete": release.complete,
        "verdict": {
            "holds": verdict.holds,
            "mode": verdict.mode,
            "smallest_support": verdict.smallest_support,
        },
        "options": dict(release.options),
        "figures": dict(release.figures),
        "notices": list(told(release, publication)),
        "format": publication.layout.format,
        "output": os.fspath(publication.path),
        "files": files(publication),
        "private": os.fspath(publication.private),
    }
