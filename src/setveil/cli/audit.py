"""``setveil audit``: are published data as they are promised to be? It reads published files alone.

A release folder says itself what it promises. Of any other file the flags say it: of records as sets,
of a table in buckets (``--quasi``), of two data sets (a second file, or ``--class-column``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import typer

from ..errors import UsageError
from ..refusals import refuse
from ..run import Growth, Promised, Run, Shown
from ..run.fields import ALL, BUCKETS, SETS, Fields, Text, Texts, declare, texts
from ..run.reading import Files, Quasi, SecretTable, SetsInput, Tables, TwoSets, input_files
from . import screen
from .flags import as_json, check_there, with_flags

EXAMPLE = (
    "Examples: setveil audit release     setveil audit anything.csv -k 5 -m 2    "
    "setveil audit joined.csv --quasi age,sex --sensitive disease --l 3    "
    "setveil audit before.csv after.csv --growth 5"
)


class AuditFlags(Fields):
    """How it is audited."""

    PANEL = "Audit"

    mode: str = declare(
        "exact, or cover: a label counts for all items under it", default="exact", fits=SETS
    )
    hierarchy: Texts = texts(
        "for --mode cover on a file, for --rules, for two data sets; COLUMN=FILE for tables, may be "
        "repeated",
        metavar="[COLUMN=]FILE",
    )
    witnesses: int = declare(
        "show up to N violations (they may point at persons)", default="0", fits="sets pairs"
    )
    threads: int | None = declare(
        "how many threads count; all if not given", metavar="N", fits="sets pairs"
    )
    as_json: bool = as_json("the verdict", "Audit")


class Buckets(Fields):
    """Where a table in buckets that somebody published has what."""

    PANEL = "Tables"
    FITS = BUCKETS

    bucket: str = declare("column that names the bucket", default="bucket", metavar="COLUMN")
    sensitive_table: Text = declare(
        "the second table, where there are two: which bucket has which sensitive value", metavar="FILE"
    )
    bucket_count: Text = declare(
        "its column that tells how often a bucket has a value; count if there is one, else every line "
        "counts once",
        metavar="COLUMN",
    )
    rules: Text = declare(
        "the published rules, for --guarantee matching, which is taken then", metavar="FILE"
    )


class Auditing(Promised, AuditFlags, SetsInput, SecretTable, TwoSets, Buckets, Growth, Shown):
    """What `audit` can be asked."""

    FITS = ALL
    ORDER: ClassVar[tuple[type[Fields], ...]] = (
        *(Promised, Growth, AuditFlags, Files, Shown, Tables, Quasi, Buckets, TwoSets),
    )


@with_flags(Auditing)
def audit(
    target: str = typer.Argument(help="A release folder or any data file.", metavar="TARGET"),
    second: str | None = typer.Argument(
        None, help="The second of two data sets, as --against.", metavar="SECOND"
    ),
    **given: Any,
) -> None:
    """Tell whether published data keep a promise; exit code 0 if so, 1 if not.

    A release folder says itself what it promises and how it is read. Of other files the flags say it:
    of a table in buckets --quasi, --sensitive and --l, of two data sets --growth.
    """
    asked = Auditing.take(given)
    screen.about_folder(target)
    if asked.mode not in ("exact", "cover"):
        raise UsageError(f"unknown mode {asked.mode[:40]!r}.", "Known: exact, cover.")
    if Path(target).is_dir():
        verdict = _of_folder(asked, target, second)
    else:
        verdict = _of_files(asked, target, second)
    screen.about(verdict.guarantee.kind)
    screen.result(str(verdict), verdict.as_dict(), as_json=asked.as_json)
    if not verdict.holds:
        raise typer.Exit(1)


def _of_folder(asked: Auditing, folder: str, second: str | None) -> Any:
    """Return the verdict on a release folder."""
    if asked.hierarchy and asked.mode != "cover":
        raise UsageError("--hierarchy is for --mode cover.", "Give --mode cover, or leave it out.")
    groups = (Files, Tables, Quasi, Buckets, TwoSets, Growth)
    if second is not None or asked.hierarchy or any(asked.given(group) for group in groups):
        raise UsageError("a release folder says itself how it is read.", "Leave those options out.")
    return _judge(asked, folder, asked.guarantee() if asked.given(Promised) else None)


def _of_files(asked: Auditing, target: str, second: str | None) -> Any:
    """Return the verdict on files that say nothing of themselves."""
    if second is not None and asked.against is not None:
        raise UsageError("there are too many data sets.", "Name the second once.")
    against = second or asked.against
    run = Run.like(asked, data=target, against=against)
    check_there([name for name in (target, against, asked.sensitive_table) if name not in (None, "-")])
    if run.kind == BUCKETS and second is not None:
        raise UsageError(
            "a second file is the second of two data sets, and here is a table in buckets (--quasi).",
            "Leave it out, or give its values by --sensitive-table FILE.",
            code="option-does-not-fit",
        )
    if run.kind == SETS:
        return _of_sets(asked, target)
    from ..foreign import of_kind

    screen.about(run.kind)
    foreign, guarantee = of_kind(run.kind).asked(asked, run)
    screen.notices(foreign.notices, verbose=asked.verbose)
    return foreign.judge(guarantee, witnesses=asked.witnesses, threads=asked.threads)


def _of_sets(asked: Auditing, target: str) -> Any:
    """Return the verdict on records as sets."""
    for field in asked.given_fields():
        if SETS not in field.fits:
            refuse("beside sets", field.fits[0], field.flag)
    if asked.hierarchy and asked.mode != "cover":
        raise UsageError("--hierarchy is for --mode cover.", "Give --mode cover, or leave it out.")
    guarantee = asked.guarantee()
    input_files(asked, target, lists=asked.item_lists())
    # A bag tells more than the set that would be counted.
    data = asked.read_sets(target, repeats="error")
    screen.notices(data.notices, verbose=asked.verbose)
    guarantee = asked.with_column(guarantee, data)
    hierarchy = asked.read_trees(data) if asked.hierarchy else None
    return _judge(asked, data, guarantee, hierarchy=hierarchy)


def _judge(asked: Auditing, target: Any, guarantee: Any, **more: Any) -> Any:
    """Return the verdict on a folder, or on records as sets."""
    from ..api import audit as judge

    effort = {"witnesses": asked.witnesses, "threads": asked.threads}
    return judge(target, guarantee, mode=asked.mode, **effort, **more)
