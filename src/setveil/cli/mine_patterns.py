"""``setveil mine patterns``: what one data set holds far more often than another. Private."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

from ..errors import UsageError
from . import screen
from .flags import NOTICES, READING, Flag, check_stdin_once, taking, whole
from .inputs import THREADS
from .pattern_inputs import DATA_SETS, check_data_sets, read_data_sets, told_of_sharing

if TYPE_CHECKING:
    from ..mining.emerging import EmergingPatterns

EXAMPLE = (
    "Examples: setveil mine patterns january.csv --against june.csv --growth 5    "
    "setveil mine patterns adult.csv --class-column salary-class --attributes sex,race,relationship "
    "--growth 35 --minimal    "
    "setveil mine patterns 2019.csv --against 2020.csv --table --growth 2 -o patterns.csv"
)
PRIVATE = (
    "Personal data: these patterns and counts are drawn from the original records. Keep them as safe "
    "as those."
)
TOP = 20

OWN = (
    Flag(
        "growth",
        str,
        "how many times as frequent a pattern must be in one data set as in the other, above 1",
        default=...,
        panel="Mining",
        metavar="RATE",
    ),
    Flag(
        "min_support",
        str,
        "records that hold it at least, where it is more frequent: a share such as 10% or 1/3, "
        "or a count",
        default="0.1",
        panel="Mining",
        metavar="SUPPORT",
    ),
    Flag(
        "one_way",
        bool,
        "only those that are more frequent in the second data set",
        default=False,
        panel="Mining",
    ),
    Flag(
        "minimal",
        bool,
        "without patterns that contain another one of the same direction",
        default=False,
        panel="Mining",
    ),
    Flag("most_items", str | None, "items of a pattern at most", panel="Mining", metavar="N"),
    replace(THREADS, panel="Mining"),
)
OUTPUT = (
    Flag(
        "top",
        str | None,
        f"the N fastest growing only; {TOP} on the screen if not given, all in a file and as JSON",
        panel="Output",
        metavar="N",
    ),
    Flag(
        "output",
        str | None,
        "write the patterns as CSV, one a line",
        ("-o", "--output"),
        panel="Output",
        metavar="FILE.csv",
    ),
    Flag("force", bool, "with -o: replace an existing file", default=False, panel="Output"),
    Flag("as_json", bool, "print the patterns as JSON", ("--json",), default=False, panel="Output"),
)


@taking(DATA_SETS, OWN, OUTPUT, READING, NOTICES)
def patterns(
    data: str = typer.Argument(help="The first data set; - is standard input.", metavar="DATA"),
    **given: Any,
) -> None:
    """Find emerging patterns: sets of items that one data set holds far more often than another.

    The data sets are two files, or a table split by the values of one column. The growth of a pattern
    is the ratio of the shares of records that hold it. One that the other data set does not hold at all
    is jumping: its growth is infinite, and it comes first.

    The result is private: it tells about the original records, under their original labels.
    """
    numbers = {
        name: None if given[name] is None else whole(name, given[name])
        for name in ("most_items", "threads", "top")
    }
    from ..pair_job import check_threads

    check_threads(numbers["threads"])
    _check(data, given)
    pair = read_data_sets(data, given)
    from ..mining.emerging import emerging_patterns
    from ..progress import Watch

    with (
        screen.notices_before_error(pair.notices, verbose=given["verbose"]),
        screen.progress() as listener,
    ):
        found = emerging_patterns(
            pair.first,
            pair.second,
            growth=given["growth"],
            min_support=given["min_support"],
            both_ways=not given["one_way"],
            minimal=given["minimal"],
            most_items=numbers["most_items"],
            names=pair.names,
            watch=Watch(listener=listener),
            threads=numbers["threads"],
        )
    screen.notices([*pair.notices, *told_of_sharing(pair)], verbose=given["verbose"])
    _deliver(found, numbers["top"], given)


def _check(data: str, given: Mapping[str, Any]) -> None:
    """Refuse what does not go together, before anything is read."""
    from ..model.guarantees import exact_growth, exact_support

    exact_growth(given["growth"])
    exact_support(given["min_support"])
    files = check_data_sets(data, given)
    check_stdin_once(files)
    if given["force"] and given["output"] is None:
        raise UsageError("--force is for -o FILE.", "Leave it out.")
    if given["output"] is not None:
        from ..io.files import check_new_file

        inputs = [name for name in files if name != "-"]
        check_new_file(given["output"], force=given["force"], inputs=inputs)


def _deliver(found: EmergingPatterns, top: int | None, given: Mapping[str, Any]) -> None:
    """Write the file, then show the patterns, the fastest growing first."""
    chosen = found if top is None else found[:top]
    if given["output"] is not None:
        from ..io.files import write_text_file

        write_text_file(given["output"], chosen.to_csv(), mode=0o600, force=given["force"])
    if given["as_json"]:
        plain = found.as_dict(top=top)
        screen.print_json({"personal_data": PRIVATE, "output": given["output"], **plain})
        return
    shown = chosen if top is not None else found[:TOP]
    title = found.summary()
    if len(shown) < len(found):
        title += f" The first {len(shown):,}:"
    screen.echo(title)
    if len(shown):
        screen.table(
            "",
            ("growth", "share", "elsewhere", "more frequent in", "pattern"),
            [
                (
                    pattern.told_growth,
                    f"{float(pattern.share):.2%}",
                    f"{float(pattern.share_elsewhere):.2%}",
                    pattern.more_frequent_in,
                    ", ".join(pattern.items),
                )
                for pattern in shown
            ],
        )
    if given["output"] is not None:
        screen.echo(f"Written to {given['output']}.")
    screen.echo(PRIVATE)
