"""``setveil mine patterns``: what one data set holds far more often than another. Private."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

from ..errors import DataError, UsageError
from . import screen
from .flags import NOTICES, READING, TABLE_PANEL, Flag, listed, picked, taking, whole
from .inputs import THREADS

if TYPE_CHECKING:
    from ..io.pattern_data import PatternData
    from ..mining.emerging import EmergingPatterns
    from ..model.transactions import Transactions

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

DATA_SETS = (
    Flag(
        "against",
        str | None,
        "the second data set, of the same kind as DATA",
        panel="Data sets",
        metavar="FILE",
    ),
    Flag(
        "class_column",
        str | None,
        "instead of --against: DATA is a table, split in two by the values of this column",
        panel="Data sets",
        metavar="COLUMN",
    ),
    Flag(
        "classes",
        list[str] | None,
        "with --class-column: the two values to compare, by a comma, or the option twice",
        panel="Data sets",
        metavar="A,B",
    ),
    Flag(
        "table",
        bool,
        "with --against: both are tables, every cell the item column=value",
        panel=TABLE_PANEL,
        default=False,
    ),
    Flag(
        "attributes",
        list[str] | None,
        "columns of tables that count, by commas; may be repeated; all but the class if not given",
        panel=TABLE_PANEL,
        metavar="COLUMNS",
    ),
    Flag(
        "missing_cells",
        str | None,
        "error, suppress, suppress-row, complete-rows (complete in all columns) or category for cells "
        "without a value",
        panel=TABLE_PANEL,
    ),
)
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
        "records that hold it at least, where it is more frequent: a share such as 10% or a count",
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
OF_TABLES = ("delimiter", "encoding", "missing", "normalize", "strict", "max_bytes")


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
    _check(data, given)
    pair = _read(data, given)
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
    screen.notices([*pair.notices, *_told(pair)], verbose=given["verbose"])
    _deliver(found, numbers["top"], given)


def _is_table(given: Mapping[str, Any]) -> bool:
    return bool(given["table"] or given["attributes"] or given["class_column"])


def _check(data: str, given: Mapping[str, Any]) -> None:
    """Refuse what does not go together, before anything is read."""
    from ..mining.emerging import exact_growth
    from ..mining.support import read_support

    exact_growth(given["growth"])
    read_support(given["min_support"])
    against, column = given["against"], given["class_column"]
    if (against is None) == (column is None):
        raise UsageError(
            "two data sets are needed." if against is None else "there are too many data sets.",
            "Give either a second file (--against FILE) or the column that splits one table "
            "(--class-column COLUMN).",
            code="not-two-data-sets",
        )
    if given["classes"] and column is None:
        raise UsageError("--classes goes with --class-column.", "Name the column.")
    if given["missing_cells"] is not None and not _is_table(given):
        raise UsageError("--missing-cells is for tables.", "Say that these are some: --table.")
    if _is_table(given):
        for name in sorted(set(picked(given, READING)) - set(OF_TABLES)):
            flag = next(flag for flag in READING if flag.name == name)
            raise UsageError(
                f"{flag.spelled[0].partition('/')[0]} does not fit a table.",
                "Leave it out.",
                code="option-does-not-fit",
            )
    files = [name for name in (data, against, given["labels"]) if name]
    if files.count("-") > 1:
        raise UsageError(
            "standard input (-) is named more than once.",
            "Give files for the others.",
            code="stdin-twice",
        )
    if data == against:
        raise UsageError("both data sets are the same file.", "Give another one (--against).")
    if given["force"] and given["output"] is None:
        raise UsageError("--force is for -o FILE.", "Leave it out.")
    if given["output"] is not None:
        from ..io.files import check_new_file

        inputs = [name for name in files if name != "-"]
        check_new_file(given["output"], force=given["force"], inputs=inputs)


def _read(data: str, given: Mapping[str, Any]) -> PatternData:
    """Return the two data sets, read as the flags say."""
    from ..io.pattern_data import PatternData, read_attribute_tables, read_classes

    reading = picked(given, READING)
    if "max_bytes" in reading:
        reading["max_bytes"] = whole("max_bytes", reading["max_bytes"])
    if _is_table(given):
        if given["missing_cells"] is not None:
            reading["missing_cells"] = given["missing_cells"]
        names = [name for text in given["attributes"] or () for name in listed(text)]
        reading["attributes"] = names or None
        if given["class_column"] is None:
            return read_attribute_tables(data, given["against"], **reading)
        classes: list[str] | None = given["classes"] or None
        if classes is not None and len(classes) == 1:
            classes = listed(classes[0])
        return read_classes(data, class_column=given["class_column"], classes=classes, **reading)
    first, second = (_baskets(path, reading) for path in (data, given["against"]))
    told = tuple(dict.fromkeys((*first.notices, *second.notices)))
    return PatternData(first, second, (data, given["against"]), told)


def _baskets(path: str, reading: Mapping[str, Any]) -> Transactions:
    """Return the records of a file of sets; where it looks like a table, say how to read one here."""
    from ..io.transactions import read_transactions

    try:
        return read_transactions(path, **reading)
    except DataError as error:
        if error.problems[0].code != "looks-like-a-table":
            raise
        remedy = (
            "Give --table (every cell is the item column=value), --id and --item (one item a line), or "
            "--layout baskets if each line really is a set of items."
        )
        raise DataError([replace(problem, remedy=remedy) for problem in error.problems]) from None


def _told(pair: PatternData) -> list[str]:
    """Return a warning where the data sets can hardly be compared."""
    first, second = (set(data.vocabulary.labels) for data in (pair.first, pair.second))
    if first & second:
        return []
    return [
        "the data sets have no item in common, so every pattern is jumping; are these two of a kind?"
    ]


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
