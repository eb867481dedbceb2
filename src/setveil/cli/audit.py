"""``setveil audit``: is the promise kept? Answered from the published files alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import typer

from ..errors import UsageError
from ..run import Promised, Shown
from ..run.fields import Fields, Texts, declare, texts
from ..run.reading import Files, SetsInput, Tables, input_files
from . import screen
from .flags import as_json, check_there, with_flags

EXAMPLE = "Examples: setveil audit release     setveil audit anything.csv -k 5 -m 2"


class How(Fields):
    """How it is audited."""

    PANEL = "Audit"

    mode: str = declare("exact, or cover: a label counts for all items under it", default="exact")
    hierarchy: Texts = texts(
        "for --mode cover on a file; COLUMN=FILE for tables, may be repeated", metavar="[COLUMN=]FILE"
    )
    witnesses: int = declare("show up to N violations (they may point at persons)", default="0")
    threads: int | None = declare("how many threads count; all if not given", metavar="N")
    as_json: bool = as_json("the verdict", "Audit")


class Asked(Promised, How, SetsInput, Shown):
    """What `audit` can be asked."""

    ORDER: ClassVar[tuple[type[Fields], ...]] = (Promised, How, Files, Shown, Tables)


@with_flags(Asked)
def audit(
    target: str = typer.Argument(help="A release folder or any data file.", metavar="TARGET"),
    **given: Any,
) -> None:
    """Tell whether published data keep a promise; exit code 0 if so, 1 if not."""
    asked = Asked.take(given)
    if asked.mode not in ("exact", "cover"):
        raise UsageError(f"unknown mode {asked.mode[:40]!r}.", "Known: exact, cover.")
    if asked.hierarchy and asked.mode != "cover":
        raise UsageError("--hierarchy is for --mode cover.", "Give --mode cover, or leave it out.")
    hierarchy = None
    if Path(target).is_dir():
        if asked.given(Files) or asked.given(Tables) or asked.hierarchy:
            raise UsageError("a release folder says itself how it is read.", "Leave those options out.")
        guarantee = asked.guarantee() if asked.given(Promised) else None
        data: Any = target
    else:
        check_there([] if target == "-" else [target])
        guarantee = asked.guarantee()
        input_files(asked, target, lists=asked.item_lists())
        # A bag tells more than the set that would be counted.
        data = asked.read_sets(target, repeats="error")
        screen.notices(data.notices, verbose=asked.verbose)
        guarantee = asked.with_column(guarantee, data)
        if asked.hierarchy:
            hierarchy = asked.read_trees(data)
    from ..api import audit as judge

    verdict = judge(
        data,
        guarantee,
        mode=asked.mode,
        hierarchy=hierarchy,
        witnesses=asked.witnesses,
        threads=asked.threads,
    )
    screen.result(str(verdict), verdict.as_dict(), as_json=asked.as_json)
    if not verdict.holds:
        raise typer.Exit(1)
