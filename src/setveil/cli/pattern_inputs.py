"""Two data sets, from flags: two files, or a table that one column splits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from .flags import AS_IS, READING, TABLE_PANEL, Flag, listed, picked, whole

if TYPE_CHECKING:
    from ..io.pairs import PatternData

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
    AS_IS,
)
OF_TABLES = ("delimiter", "encoding", "missing", "normalize", "strict", "max_bytes")
NOTHING_SHARED = (
    "the data sets have no item in common, so every pattern is jumping; are these two of a kind?"
)


def is_table(given: Mapping[str, Any]) -> bool:
    """Tell whether the data sets are tables."""
    return bool(given["table"] or given["attributes"] or given["class_column"] is not None)


def attributes_of(given: Mapping[str, Any]) -> list[str] | None:
    """Return the columns that are named; an empty name is a slip, and must not mean all of them."""
    texts: list[str] = given["attributes"] or []
    names = [name for text in texts for name in listed(text) or [""]]
    if not all(names):
        raise UsageError(
            "--attributes names a column without a name.",
            "Give the columns by commas, or leave it out for all of them.",
            code="empty-column-name",
        )
    return names or None


def check_data_sets(data: str, given: Mapping[str, Any]) -> list[str]:
    """Refuse what does not go together, before anything is read; return the files, without - ."""
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
    if given["missing_cells"] is not None and not is_table(given):
        raise UsageError("--missing-cells is for tables.", "Say that these are some: --table.")
    if given["as_is"] and not is_table(given):
        raise UsageError("--as-is is for tables.", "Say that these are some: --table.")
    attributes_of(given)
    if is_table(given):
        for name in sorted(set(picked(given, READING)) - set(OF_TABLES)):
            flag = next(flag for flag in READING if flag.name == name)
            raise UsageError(
                f"{flag.spelled[0].partition('/')[0]} does not fit a table.",
                "Leave it out.",
                code="option-does-not-fit",
            )
    if data == against and data != "-":
        raise UsageError("both data sets are the same file.", "Give another one (--against).")
    return [name for name in (data, against, given["labels"]) if name]


def read_data_sets(data: str, given: Mapping[str, Any]) -> PatternData:
    """Return the two data sets, read as the flags say."""
    from ..io.pairs import read_attribute_tables, read_classes

    reading = picked(given, READING)
    if "max_bytes" in reading:
        reading["max_bytes"] = whole("max_bytes", reading["max_bytes"])
    if is_table(given):
        if given["missing_cells"] is not None:
            reading["missing_cells"] = given["missing_cells"]
        reading["attributes"] = attributes_of(given)
        reading["as_is"] = given["as_is"]
        if given["class_column"] is None:
            return read_attribute_tables(data, given["against"], **reading)
        classes: list[str] | None = given["classes"] or None
        if classes is not None and len(classes) == 1:
            classes = listed(classes[0])
        return read_classes(data, class_column=given["class_column"], classes=classes, **reading)
    from ..io.pairs import read_sets

    return read_sets(data, given["against"], **reading)


def told_of_sharing(pair: PatternData) -> list[str]:
    """Return a warning where the data sets can hardly be compared."""
    first, second = (set(data.vocabulary.labels) for data in (pair.first, pair.second))
    return [] if first & second else [NOTHING_SHARED]


def told_of_columns(pair: PatternData, given: Mapping[str, Any]) -> list[str]:
    """Return what should be known of tables to be published: what passes."""
    if not pair.columns or given["attributes"]:
        return []
    return [f"all {len(pair.columns):,} columns are published; name those that shall be: --attributes."]
