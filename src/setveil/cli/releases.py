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
from ..refusals import refuse_folder
from ..run import Shown
from ..run.fields import Text, declare, switch
from ..run.reading import Reading, input_files
from . import screen
from .flags import as_json, check_outputs, with_flags

if TYPE_CHECKING:
    from ..model.transactions import Transactions
    from ..report.frontier import Sweep

EXPLAIN_EXAMPLE = (
    "Examples: setveil explain release ale --original baskets.csv    "
    "setveil explain release ale wine beer --original baskets.csv --top 10"
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


class Explaining(Reading, Shown):
    """What `explain` can be asked."""

    PANEL = "Explain"

    original: Text = declare(ORIGINAL, metavar="DATA")
    top: int | None = declare(
        f"how many combinations to show of a kind, and groups of a local recoding; {TOP} if not given",
        metavar="N",
    )
    as_json: bool = as_json("the answer", "Explain")


@with_flags(Explaining)
def explain(
    release: str = typer.Argument(
        help="A release folder; its private twin must lie beside it.", metavar="RELEASE"
    ),
    label: list[str] = typer.Argument(
        help="Items or categories; column=value for a table.", metavar="LABEL"
    ),
    **given: Any,
) -> None:
    """Tell why items are published as they are, and what it would take to keep them.

    The label is published finer, all else unchanged, and the combinations are shown that would then
    break the promise; then how far the promise had to be weakened, and which others had to give way.
    The answer is personal data: rare combinations point at persons.
    """
    asked = Explaining.take(given)
    screen.about_folder(release)
    top = check_top(asked.top, TOP)
    refuse_folder("explain", release)
    with original_of(asked) as (transactions, watch):
        from ..explain import PERSONAL, explain_all
        from ..reopen import read_set_release

        opened = read_set_release(release, transactions, watch=watch)
        found = explain_all(opened, list(dict.fromkeys(label)), top=top, watch=watch)
    screen.result(
        "\n\n".join([*map(str, found), PERSONAL]),
        {"personal_data": PERSONAL, "explanations": [answer.as_dict() for answer in found]},
        as_json=asked.as_json,
    )


class Reporting(Reading, Shown):
    """What `report` can be asked."""

    PANEL = "Report"

    original: Text = declare(ORIGINAL, metavar="DATA")
    sweep: Text = declare(
        "a sweep of the same data (`setveil sweep -o FILE`), to show what other strengths would cost",
        metavar="FILE",
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
    """
    asked = Reporting.take(given)
    screen.about_folder(release)
    refuse_folder("report", release)
    original = check_original(asked.original)
    inputs = input_files(asked, original, asked.sweep)
    check_outputs(asked, inputs, "output", force_is_for="-o")
    swept = None if asked.sweep is None else read_sweep(asked.sweep)
    with original_of(asked, asked.sweep) as (transactions, watch):
        from ..publish import report as write_report

        written = write_report(
            release,
            transactions,
            sweep=swept,
            output=asked.output,
            force=asked.force,
            watch=watch,
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
