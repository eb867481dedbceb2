"""``setveil report``: the private report of a release, made anew and fuller."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import typer

from ..refusals import refuse_folder
from ..run import Shown
from ..run.fields import Text, declare, switch
from ..run.reading import Reading, input_files
from . import screen
from .explain import ORIGINAL, check_original
from .flags import as_json, check_outputs, with_flags

if TYPE_CHECKING:
    from ..report.frontier import Sweep

EXAMPLE = (
    "Examples: setveil report release --original baskets.csv    "
    "setveil report release --original baskets.csv --sweep sweep.json -o for-the-board.html"
)
PRIVATE = "Personal data: keep it as safe as the original records."


class Asked(Reading, Shown):
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


@with_flags(Asked)
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
    asked = Asked.take(given)
    refuse_folder("report", release)
    original = check_original(asked.original)
    inputs = input_files(asked, original, asked.sweep)
    check_outputs(asked, inputs, "output", force_is_for="-o")
    swept = None if asked.sweep is None else read_sweep(asked.sweep)
    transactions = asked.read_sets(original)
    with screen.notices_before_error(transactions.notices, verbose=asked.verbose):
        from ..progress import Watch
        from ..publish import report as write_report

        with screen.progress() as listener:
            written = write_report(
                release,
                transactions,
                sweep=swept,
                output=asked.output,
                force=asked.force,
                watch=Watch(listener=listener),
            )
    screen.notices(transactions.notices, verbose=asked.verbose)
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
