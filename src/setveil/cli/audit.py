"""``setveil audit``: is the promise kept? Answered from the published files alone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import typer

from ..errors import FileSystemError, UsageError
from . import screen
from .flags import GUARANTEE, NOTICES, READING, TABLE, Flag, picked, taking, whole
from .reading import (
    guarantee_of,
    hierarchy_files,
    read_data,
    read_hierarchies,
    refuse_stdin_twice,
)

EXAMPLE = "Examples: setveil audit release     setveil audit anything.csv -k 5 -m 2"

OWN = (
    Flag(
        "mode",
        str,
        "exact, or cover: a label counts for all items under it",
        default="exact",
        panel="Audit",
    ),
    Flag(
        "hierarchy",
        list[str] | None,
        "for --mode cover on a file; COLUMN=FILE for tables, may be repeated",
        panel="Audit",
        metavar="[COLUMN=]FILE",
    ),
    Flag(
        "witnesses",
        str,
        "show up to N violations (they may point at persons)",
        default="0",
        panel="Audit",
    ),
    Flag("threads", str | None, "how many threads count; all if not given", panel="Audit", metavar="N"),
    Flag("as_json", bool, "print the verdict as JSON", ("--json",), panel="Audit", default=False),
)


@taking(GUARANTEE, OWN, READING, NOTICES, TABLE)
def audit(
    target: str = typer.Argument(help="A release folder or any data file.", metavar="TARGET"),
    **given: Any,
) -> None:
    """Tell whether published data keep a promise; exit code 0 if so, 1 if not."""
    if given["mode"] not in ("exact", "cover"):
        raise UsageError(f"unknown mode {given['mode'][:40]!r}.", "Known: exact, cover.")
    witnesses = whole("witnesses", given["witnesses"])
    threads = None if given["threads"] is None else whole("threads", given["threads"])
    told = picked(given, GUARANTEE)
    hierarchy = None
    if given["hierarchy"] and given["mode"] != "cover":
        raise UsageError("--hierarchy is for --mode cover.", "Give --mode cover, or leave it out.")
    if Path(target).is_dir():
        if picked(given, READING) or picked(given, TABLE) or given["hierarchy"]:
            raise UsageError("a release folder says itself how it is read.", "Leave those options out.")
        guarantee = guarantee_of(given) if told else None
        data: Any = target
    else:
        if target != "-" and not os.path.lexists(target):
            raise FileSystemError(
                "there is no such folder or file.",
                "Check the name.",
                code="missing",
                file=screen.printable(target),
            )
        guarantee_of(given)
        refuse_stdin_twice(target, hierarchy_files(given["hierarchy"] or [], given), given)
        # A bag tells more than the set that would be counted.
        data = read_data(target, given, repeats="error")
        screen.notices(data.notices, verbose=given["verbose"])
        guarantee = guarantee_of(given, None, data)
        if given["hierarchy"]:
            hierarchy = read_hierarchies(given["hierarchy"], data, given)
    from ..api import audit as judge

    verdict = judge(
        data, guarantee, mode=given["mode"], hierarchy=hierarchy, witnesses=witnesses, threads=threads
    )
    screen.result(str(verdict), verdict.as_dict(), as_json=given["as_json"])
    if not verdict.holds:
        raise typer.Exit(1)
