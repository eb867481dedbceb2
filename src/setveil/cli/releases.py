"""Verbs on a release folder: audit it, explain its labels, make its report anew.

``setveil audit`` reads published files alone. The others read the private twin, and most of them the
original records too: what they tell is for the holder of the data.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from ..errors import UsageError
from ..progress import Watch
from ..run import Shown
from ..run.fields import ALL, Text, declare, switch
from ..run.reading import Reading, input_files
from . import screen
from .flags import as_json, check_outputs, with_flags
from .risk import confirm_original, refuse_unread

if TYPE_CHECKING:
    from ..model.transactions import Transactions
    from ..report.frontier import Sweep

EXPLAIN_EXAMPLE = (
    "Examples: setveil explain release ale --original baskets.csv    "
    "setveil explain release ale wine beer --original baskets.csv --top 10    "
    "setveil explain release age=34,sex=M"
)
TOP = 5
ORIGINAL = "the data the release was made from, read with the same options as then; - is standard input"
REPORT_EXAMPLE = (
    "Examples: setveil report release --original baskets.csv    "
    "setveil report release --original baskets.csv --sweep sweep.json -o for-the-board.html"
)
PRIVATE = "Personal data: keep it as safe as the original records."


def check_top(top: int | None, usual: int) -> int:
    """Return how many to show; 0 is refused."""
    if top == 0:
        raise UsageError("top must be 1 or more.", f"Give for example {usual}.")
    return usual if top is None else top


def check_original(original: str | None) -> str:
    """Return the file of the original; `UsageError` where none is named."""
    if original is None:
        raise UsageError(
            "the original records are needed.", "Give them: --original DATA.", code="no-original"
        )
    return original


@contextlib.contextmanager
def original_of(asked: Any, *others: str | None) -> Iterator[tuple[Transactions, Watch]]:
    """Read the records that a release was made from, and work on them; tell how they were read."""
    original = check_original(asked.original)
    input_files(asked, original, *others)
    transactions = asked.read_sets(original)
    with screen.working(transactions.notices, verbose=asked.verbose) as watch:
        yield transactions, watch
    screen.notices(transactions.notices, verbose=asked.verbose)


@contextlib.contextmanager
def opened(release: str, asked: Any, *others: str | None) -> Iterator[tuple[Any, Watch]]:
    """Read a release of any kind from its folder, with its original, and work on it.

    Of sets the original is needed. Of the other kinds the private twin holds it, or all that is needed
    of it; where one is named, it is made sure that it is the one.
    """
    from ..publish import editions_in
    from ..reopen import read_release

    if not editions_in(release).holds_originals:
        with original_of(asked, *others) as (transactions, watch):
            yield read_release(release, transactions, watch=watch), watch
        return
    refuse_unread(release, asked)
    with screen.working((), verbose=asked.verbose) as watch:
        found: Any = read_release(release, watch=watch)
        screen.notices(confirm_original(found, asked.original, asked), verbose=asked.verbose)
        yield found, watch


class Explaining(Reading, Shown):
    """What `explain` can be asked."""

    PANEL = "Explain"
    FITS = ALL

    original: Text = declare(f"{ORIGINAL}; of sets it is needed", metavar="DATA", fits="sets buckets")
    top: int | None = declare(
        "how many combinations to show of a kind, patterns, rows, and groups of a local recoding; "
        f"{TOP} if not given",
        metavar="N",
    )
    as_json: bool = as_json("the answer", "Explain")


@with_flags(Explaining)
def explain(
    release: str = typer.Argument(
        help="A release folder; its private twin must lie beside it.", metavar="RELEASE"
    ),
    label: list[str] = typer.Argument(
        help="Items or categories; column=value for a table. Of a table in buckets what a row shows, "
        "such as age=34,sex=M, or its number.",
        metavar="LABEL",
    ),
    **given: Any,
) -> None:
    """Tell why items are published as they are, and what it would take to keep them.

    The label is published finer, all else unchanged, and the combinations are shown that would then
    break the promise; then how far the promise had to be weakened, and which others had to give way.

    Of two data sets a value is published as itself again, and the patterns are shown that would appear.
    Of a table in buckets: the bucket of a row, which of its values this person may have, and the rule
    that forbids the others. Neither needs --original.

    The answer is personal data: rare combinations point at persons.
    """
    asked = Explaining.take(given)
    screen.about_folder(release)
    top = check_top(asked.top, TOP)
    with opened(release, asked) as (read, watch):
        from ..explain import PERSONAL, explain_all

        found = explain_all(read, list(dict.fromkeys(label)), top=top, watch=watch)
    screen.result(
        "\n\n".join([*map(str, found), PERSONAL]),
        {"personal_data": PERSONAL, "explanations": [answer.as_dict() for answer in found]},
        as_json=asked.as_json,
    )


class Reporting(Reading, Shown):
    """What `report` can be asked."""

    PANEL = "Report"
    FITS = ALL

    original: Text = declare(f"{ORIGINAL}; of sets it is needed", metavar="DATA", fits="sets buckets")
    sweep: Text = declare(
        "a sweep of the same data (`setveil sweep -o FILE`), to show what other strengths would cost",
        metavar="FILE",
        fits="sets",
    )
    output: Text = declare(
        "the page to write; the one in the private folder of the release if not given",
        "-o",
        "--output",
        metavar="FILE.html",
    )
    force: bool = switch("with -o: replace a file that is there")
    as_json: bool = as_json("where it is", "Report")


@with_flags(Reporting)
def report(
    release: str = typer.Argument(
        help="A release folder; its private twin must lie beside it.", metavar="RELEASE"
    ),
    **given: Any,
) -> None:
    """Write the private report of a release anew, as a page for the browser.

    It has all that the public report.html of the release has, and what only the holder of the data may
    know: exact losses and their bound, the risk before and after, what became of which item, all
    measures, and what other strengths of the promise would cost. It is personal data.

    Of a table in buckets and of two data sets no --original is needed.
    """
    asked = Reporting.take(given)
    screen.about_folder(release)
    from ..publish import editions_in

    if not editions_in(release).holds_originals:
        check_original(asked.original)
    inputs = input_files(asked, asked.original, asked.sweep)
    check_outputs(asked, inputs, "output", force_is_for="-o")
    if editions_in(release).holds_originals:
        refuse_unread(release, asked)
    swept = None if asked.sweep is None else read_sweep(asked.sweep)
    with opened(release, asked, asked.sweep) as (read, watch):
        from ..reporting import write_report

        written = write_report(
            read, release, sweep=swept, output=asked.output, force=asked.force, watch=watch
        )
    place = screen.printable(os.fspath(written))
    screen.result(
        f"Written: {place}\n{PRIVATE}",
        {"output": place, "personal_data": PRIVATE},
        as_json=asked.as_json,
    )


def read_sweep(path: str) -> Sweep:
    """Return the sweep in a file."""
    from ..io.source import read_source
    from ..report.frontier import Sweep

    return Sweep.from_json(read_source(path, max_bytes=1 << 24).data.decode("utf-8", "replace"))
