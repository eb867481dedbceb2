"""Read two data sets to be compared: two tables of attributes, or one split by a class column.

Every cell of a chosen column is the item ``column=value``, so that a row is a set like any other.
Nothing is guessed: a cell without a value is an error until it is said what it means.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..distinct import distinct
from ..errors import DataError, Problem, UsageError
from ..model.transactions import Transactions
from .columns import FRAME, Column
from .pair_spelling import check_spelling_of_pair
from .pattern_cells import (
    Bools,
    CellOptions,
    Cells,
    absent_cells,
    arrow_cells,
    cells_as_sets,
    complete_rows,
    missing_problems,
    read_cells,
)
from .source import MAX_BYTES
from .tables import MISSING_LABEL
from .text import shorten

SHOWN_CLASSES = 8
FRAMES = ("first frame", "second frame")
"""How two frames are named in messages; their rows count from 1."""

Path = str | os.PathLike[str]


@dataclass(frozen=True, eq=False)
class PatternData:
    """Two data sets over the same items, what to call them, and what the reader had to say.

    Of tables `columns` are those that count, in order, and `classes` is the column that split one
    table in two with its two values, where one did. `made` are the items that stand for cells without
    a value: no hierarchy has to know them.
    """

    first: Transactions
    second: Transactions
    names: tuple[str, str]
    notices: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    classes: tuple[str, tuple[str, str]] | None = None
    made: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return (
            f"PatternData({self.names[0]!r} with {len(self.first):,} records, "
            f"{self.names[1]!r} with {len(self.second):,})"
        )


def read_classes(
    path: Path,
    *,
    class_column: str,
    classes: Sequence[str] | None = None,
    attributes: Sequence[str] | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    missing: Iterable[str] = (),
    missing_cells: str = "error",
    normalize: str | None = None,
    strict: bool = False,
    max_bytes: int = MAX_BYTES,
    as_is: bool = False,
) -> PatternData:
    """Return the rows of a table with a header, split in two by the value of one column.

    Parameters
    ----------
    path
        A regular file, CSV or Parquet, plain or gzip; ``-`` is standard input.
    class_column
        The column that tells which data set a row belongs to.
    classes
        The two values, the first data set's first; rows of other values are left out. If not given, the
        column must have two values, which are taken in alphabetical order.
    attributes
        The columns whose cells are items; all others by default.
    missing
        Texts that stand for no value, beside the empty cell.
    missing_cells
        A cell without a value is an ``error``, no item (``suppress``), leaves its row out
        (``suppress-row``) or is a value of its own (``category``). With ``complete-rows`` a row is left
        out where any column of the table has no value, chosen or not.
    delimiter, encoding, normalize, strict, max_bytes
        As in `read_transactions`.
    as_is
        Go on where cells look like lists of values.
    """
    options = _options(attributes, class_column, missing, missing_cells, normalize, strict, as_is)
    cells = read_cells(path, options, delimiter=delimiter, encoding=encoding, max_bytes=max_bytes)
    return _split(cells, options, class_column, classes)


def classes_from_frame(
    frame: object,
    *,
    class_column: str,
    classes: Sequence[str] | None = None,
    attributes: Sequence[str] | None = None,
    missing: Iterable[str] = (),
    missing_cells: str = "error",
    normalize: str | None = None,
    strict: bool = False,
    as_is: bool = False,
) -> PatternData:
    """Return the rows of a frame, split in two: of pandas, polars, or anything with Arrow's stream.

    The options are those of `read_classes`; a null is a cell without a value.
    """
    from .frames import arrow_table

    options = _options(attributes, class_column, missing, missing_cells, normalize, strict, as_is)
    cells = arrow_cells(arrow_table(frame), options, FRAME)
    return _split(cells, options, class_column, classes)


def read_attribute_tables(
    first: Path,
    second: Path,
    *,
    attributes: Sequence[str] | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    missing: Iterable[str] = (),
    missing_cells: str = "error",
    normalize: str | None = None,
    strict: bool = False,
    max_bytes: int = MAX_BYTES,
    as_is: bool = False,
) -> PatternData:
    """Return two tables with headers, every cell of the chosen columns an item.

    Without `attributes` both must have the same columns. The options are those of `read_classes`.
    """
    options = _options(attributes, None, missing, missing_cells, normalize, strict, as_is)
    here, there = (
        read_cells(path, options, delimiter=delimiter, encoding=encoding, max_bytes=max_bytes)
        for path in (first, second)
    )
    return _side_by_side((here, there), options, (os.fspath(first), os.fspath(second)))


def tables_from_frames(
    first: object,
    second: object,
    *,
    attributes: Sequence[str] | None = None,
    missing: Iterable[str] = (),
    missing_cells: str = "error",
    normalize: str | None = None,
    strict: bool = False,
    as_is: bool = False,
) -> PatternData:
    """Return two frames, every cell of the chosen columns an item.

    The options are those of `read_attribute_tables`; a null is a cell without a value.
    """
    from .frames import arrow_table

    options = _options(attributes, None, missing, missing_cells, normalize, strict, as_is)
    here, there = (
        arrow_cells(arrow_table(frame), options, name)
        for frame, name in zip((first, second), FRAMES, strict=True)
    )
    return _side_by_side((here, there), options, FRAMES)


def _side_by_side(
    tables: tuple[Cells, Cells], options: CellOptions, names: tuple[str, str]
) -> PatternData:
    """Return two tables as two data sets; they must have the same columns and spell values alike."""
    here, there = tables
    if set(here.names) != set(there.names):
        only_one = sorted(set(here.names) ^ set(there.names))
        raise UsageError(
            "the tables do not have the same columns: only one has "
            f"{', '.join(shorten(name) for name in only_one[:5])}.",
            "Name those to compare (--attributes).",
            code="different-columns",
        )
    whole = [complete_rows(cells, options) for cells in tables]
    first, second = (cells_as_sets(cells, options) for cells in whole)
    made = [_made(cells, options) for cells in whole]
    _refuse_mark(first, made[1] - made[0])
    _refuse_mark(second, made[0] - made[1])
    told = check_spelling_of_pair(first, second, table=True)
    notices = tuple(dict.fromkeys((*first.notices, *second.notices, *told)))
    return PatternData(first, second, names, notices, here.names, made=made[0] | made[1])


def _made(cells: Cells, options: CellOptions) -> frozenset[str]:
    """Return the items that stand for cells without a value."""
    if options.missing_cells != "category":
        return frozenset()
    by_name = cells.columns.by_name
    return frozenset(
        f"{name}={MISSING_LABEL}"
        for name in cells.names
        if absent_cells(by_name[name], options.missing).any()
    )


def _refuse_mark(data: Transactions, made_elsewhere: frozenset[str]) -> None:
    """Refuse a value that is written as the other table's cells without a value come out."""
    problems = [
        Problem(
            "reserved-label",
            f"column {shorten(label.partition('=')[0])} holds {MISSING_LABEL!r}, which stands for no "
            "value in the other table.",
            "Rename that value, or use another --missing-cells.",
            data.source,
            data.first_line_of(label),
        )
        for label in sorted(made_elsewhere)
        if label in data.vocabulary.ids
    ]
    if problems:
        raise DataError(problems)


def _options(
    attributes: Sequence[str] | None,
    class_column: str | None,
    missing: Iterable[str],
    missing_cells: str,
    normalize: str | None,
    strict: bool,
    as_is: bool,
) -> CellOptions:
    if isinstance(attributes, str):
        attributes = (attributes,)
    return CellOptions(
        None if attributes is None else tuple(attributes),
        class_column,
        frozenset([missing] if isinstance(missing, str) else missing),
        missing_cells,
        normalize,
        strict,
        as_is,
    )


def _split(
    cells: Cells, options: CellOptions, class_column: str, classes: Sequence[str] | None
) -> PatternData:
    """Return the rows of either class; only these have to be complete."""
    column = cells.columns.by_name[class_column]
    absent = absent_cells(column, options.missing)
    if options.missing_cells == "error" and absent.any():
        raise DataError(missing_problems(class_column, absent, cells.columns))
    pair = _two_classes(column, absent, class_column, classes, cells.columns.file)
    codes = [column.values.index(value) for value in pair]
    chosen = ~absent & np.isin(column.code_of_row, codes)
    if not chosen.all():
        left_out = len(chosen) - int(chosen.sum())
        cells = cells.rows(chosen, f"{left_out:,} rows are of neither class and were left out.")
    cells = complete_rows(cells, options)
    code_of_row = cells.columns.by_name[class_column].code_of_row
    data = cells_as_sets(cells, options)
    parts = [data.take(np.flatnonzero(code_of_row == code)) for code in codes]
    for part, value in zip(parts, pair, strict=True):
        if not len(part):
            raise DataError(
                f"no complete row has the class {shorten(value)}.",
                "Choose what cells without a value mean (--missing-cells), or other --classes.",
                code="no-records",
                file=cells.columns.file,
            )
    names = (f"{class_column}={pair[0]}", f"{class_column}={pair[1]}")
    return PatternData(
        parts[0],
        parts[1],
        names,
        data.notices,
        cells.names,
        (class_column, (pair[0], pair[1])),
        _made(cells, options),
    )


def _two_classes(
    column: Column, absent: Bools, name: str, asked: Sequence[str] | None, file: str | None
) -> tuple[str, str]:
    """Return the values that split the table; `UsageError` where it is not clear which."""
    there = sorted({column.values[code] for code in distinct(column.code_of_row[~absent]).tolist()})
    shown = ", ".join(shorten(value) for value in there[:SHOWN_CLASSES])
    shown += ", …" if len(there) > SHOWN_CLASSES else ""
    if asked is None and len(there) != 2:
        raise UsageError(
            f"column {shorten(name)} has {len(there):,} values; it takes two to make two data sets.",
            f"Name two: --classes a,b. There are: {shown}.",
            code="not-two-classes",
            file=file,
        )
    pair = tuple(there if asked is None else asked)
    if len(pair) != 2 or pair[0] == pair[1]:
        raise UsageError(
            f"two different classes are needed (got {len(pair)}).",
            f"Name two of: {shown}.",
            code="not-two-classes",
            file=file,
        )
    for value in pair:
        if value not in there:
            raise UsageError(
                f"no row has the class {shorten(value)}.",
                f"Column {shorten(name)} has: {shown}.",
                code="unknown-class",
                file=file,
            )
    return pair[0], pair[1]
