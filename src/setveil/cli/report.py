"""``setveil report``: the private report of a release, made anew and fuller."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import typer

from ..errors import UsageError
from . import screen
from .flags import NOTICES, READING, TABLE, Flag, taking
from .measure_pair import refuse_pair
from .reading import read_data, refuse_stdin_twice

if TYPE_CHECKING:
    from ..report.frontier import Sweep

EXAMPLE = (
    "Examples: setveil report release --original baskets.csv    "
    "setveil report release --original baskets.csv --sweep sweep.json -o for-the-board.html"
)
PRIVATE = "Personal data: keep it as safe as the original records."

OWN = (
    Flag(
        "original",
        str | None,
        "the data the release was made from, read with the same options as then; - is standard input",
        panel="Report",
        metavar="DATA",
    ),
    Flag(
        "sweep",
        str | None,
        "a sweep of the same data (`setveil sweep -o FILE`), to show what other strengths would cost",
        panel="Report",
        metavar="FILE",
    ),
    Flag(
        "output",
        str | None,
        "the page to write; the one in the private folder of the release if not given",
        ("-o", "--output"),
        panel="Report",
        metavar="FILE.html",
    ),
    Flag("force", bool, "with -o: replace a file that is there", panel="Report", default=False),
    Flag("as_json", bool, "print where it is as JSON", ("--json",), panel="Report", default=False),
)


@taking(OWN, READING, NOTICES, TABLE)
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
    original, output = given["original"], given["output"]
    refuse_pair(release, "report")
    if original is None:
        raise UsageError(
            "the original records are needed.", "Give them: --original DATA.", code="no-original"
        )
    if given["force"] and output is None:
        raise UsageError("--force is for -o.", "Leave it out.")
    read = [given["sweep"]] if given["sweep"] is not None else []
    refuse_stdin_twice(original, read, given)
    from ..io.files import check_new_file

    inputs = [name for name in (original, *read) if name != "-"]
    if output is not None:
        check_new_file(output, force=given["force"], inputs=inputs)
    swept = None if given["sweep"] is None else read_sweep(given["sweep"])
    transactions = read_data(original, given)
    with screen.notices_before_error(transactions.notices, verbose=given["verbose"]):
        from ..progress import Watch
        from ..publish import report as write_report

        with screen.progress() as listener:
            written = write_report(
                release,
                transactions,
                sweep=swept,
                output=output,
                force=given["force"],
                watch=Watch(listener=listener),
            )
    screen.notices(transactions.notices, verbose=given["verbose"])
    place = screen.printable(os.fspath(written))
    screen.result(
        f"Written: {place}\n{PRIVATE}",
        {"output": place, "personal_data": PRIVATE},
        as_json=given["as_json"],
    )


def read_sweep(path: str) -> Sweep:
    """Return the sweep in a file."""
    from ..io.source import read_source
    from ..report.frontier import Sweep

    return Sweep.from_json(read_source(path, max_bytes=1 << 24).data.decode("utf-8", "replace"))
