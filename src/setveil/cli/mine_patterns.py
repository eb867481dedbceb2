"""``setveil mine patterns``: what one data set holds far more often than another. Private."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from ..run import Shown
from ..run.fields import TABLE_PANEL, Text, check_threads, declare, refuse_stdin_twice, switch
from ..run.reading import TwoSets, warn_of_nothing_shared
from . import screen
from .flags import as_json, check_outputs, with_flags

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


class Asked(TwoSets, Shown):
    """What `mine patterns` can be asked."""

    PANEL = "Mining"

    growth: str = declare(
        "how many times as frequent a pattern must be in one data set as in the other, above 1",
        default=...,
        metavar="RATE",
    )
    min_support: str = declare(
        "records that hold it at least, where it is more frequent: a share such as 10% or 1/3, "
        "or a count",
        default="0.1",
        metavar="SUPPORT",
    )
    one_way: bool = switch("only those that are more frequent in the second data set")
    minimal: bool = switch("without patterns that contain another one of the same direction")
    most_items: int | None = declare("items of a pattern at most", metavar="N")
    threads: int | None = declare("how many threads count; all if not given", metavar="N")
    top: int | None = declare(
        f"the N fastest growing only; {TOP} on the screen if not given, all in a file and as JSON",
        panel="Output",
        metavar="N",
    )
    output: Text = declare(
        "write the patterns as CSV, one a line", "-o", "--output", panel="Output", metavar="FILE.csv"
    )
    force: bool = switch("with -o: replace an existing file", panel="Output")
    as_json: bool = as_json("the patterns")
    missing_cells: Text = declare(
        "error, suppress, suppress-row, complete-rows (complete in all columns) or category for cells "
        "without a value",
        panel=TABLE_PANEL,
    )


@with_flags(Asked)
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
    asked = Asked.take(given)
    check_threads(asked.threads)
    _check(data, asked)
    pair = asked.read_two(data)
    from ..mining.emerging import emerging_patterns
    from ..progress import Watch

    with (
        screen.notices_before_error(pair.notices, verbose=asked.verbose),
        screen.progress() as listener,
    ):
        found = emerging_patterns(
            pair.first,
            pair.second,
            growth=asked.growth,
            min_support=asked.min_support,
            both_ways=not asked.one_way,
            minimal=asked.minimal,
            most_items=asked.most_items,
            names=pair.names,
            watch=Watch(listener=listener),
            threads=asked.threads,
        )
    screen.notices([*pair.notices, *warn_of_nothing_shared(pair)], verbose=asked.verbose)
    _deliver(found, asked)


def _check(data: str, asked: Asked) -> None:
    """Refuse what does not go together, before anything is read."""
    from ..model.numbers import exact_growth, exact_support

    exact_growth(asked.growth)
    exact_support(asked.min_support)
    files = asked.check_two(data)
    refuse_stdin_twice(files)
    inputs = [name for name in files if name != "-"]
    check_outputs(asked, inputs, "output", force_is_for="-o FILE")


def _deliver(found: EmergingPatterns, asked: Asked) -> None:
    """Write the file, then show the patterns, the fastest growing first."""
    chosen = found if asked.top is None else found[: asked.top]
    if asked.output is not None:
        from ..io.folder.staging import write_text_file

        write_text_file(asked.output, chosen.to_csv(), mode=0o600, force=asked.force)
    if asked.as_json:
        plain = found.as_dict(top=asked.top)
        screen.print_json({"personal_data": PRIVATE, "output": asked.output, **plain})
        return
    shown = chosen if asked.top is not None else found[:TOP]
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
    if asked.output is not None:
        screen.echo(f"Written to {asked.output}.")
    screen.echo(PRIVATE)
