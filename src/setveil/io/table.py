"""Tables with a header, from a file or a frame: opened once, whatever their columns are for.

Three kinds of data come from tables: `records` with sets in their cells, `microdata` with a sensitive
column, `pairs` of attributes to be compared. What they do alike is here: opening, columns of Arrow,
cells without a value, and values that become items ``column=value``.
"""

from __future__ import annotations

import os
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..distinct import number_distinct
from ..errors import DataError, Problem
from ..model.layout import NO_VALUE, Layout
from .columns import FRAME, Column, Columns, Draft, by_line, columns_of_fields, no_records
from .csv_text import Codes, Places, check_delimiter, guess_table_delimiter, split_fields
from .formats.parquet import MAGIC, parquet_table
from .options import OfFiles
from .source import plain_text, read_source, shorten

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Table:
    """A table that was opened.

    Of a table of Arrow, which is `arrow` then, `columns` has only the names until `load` brings some.
    """

    columns: Columns
    layout: Layout
    notices: tuple[str, ...] = ()
    arrow: Any = None

    def lists(self, names: Container[str]) -> dict[str, Any]:
        """Return those of the named columns that are lists, which only Arrow has."""
        if self.arrow is None:
            return {}
        from .frames import is_list, list_column

        return {
            name: list_column(self.arrow.column(name), name, self.columns.file)
            for name in self.columns.names
            if name in names and is_list(self.arrow.schema.field(name).type)
        }

    def load(self, used: Container[str | None], *, whole: bool = False, remedy: str = "") -> Columns:
        """Return the table with its used columns; of the others of Arrow it holds nothing.

        With `whole` it holds of those too which cells have a value. With a remedy, a used column of
        lists is refused.
        """
        if self.arrow is None:
            return self.columns
        from .csv_text import numpy_integers
        from .frames import is_list, text_column

        table, file = self.arrow, self.columns.file
        if table.num_rows == 0:
            raise no_records(file)
        by_name = {}
        nothing = np.full(table.num_rows, -1, dtype=np.int32)
        for name in self.columns.names:
            array, kind = table.column(name), table.schema.field(name).type
            if name in used and remedy and is_list(kind):
                what = f"column {shorten(name)} holds lists; here a cell is one value."
                raise DataError(what, remedy, code="set-valued", file=file)
            if name in used or (whole and str(kind) in ("string", "large_string")):
                by_name[name] = text_column(array, name, file)
            elif whole:
                null = numpy_integers(array.is_null().combine_chunks().cast("int32"))
                by_name[name] = Column(["some"], -null.astype(np.int32))
            else:
                by_name[name] = Column([], nothing)
        # Rows stand for lines where there are none.
        return Columns(by_name, table.num_rows, file, np.arange(1, table.num_rows + 1, dtype=np.int64))


def open_table(given: object, reading: OfFiles, file: str = FRAME) -> Table:
    """Return the table in a CSV or Parquet file, or a frame, which messages call `file`."""
    if not isinstance(given, str | os.PathLike):
        return open_frame(given, file)
    max_bytes, delimiter = reading["max_bytes"], reading["delimiter"]
    source = read_source(given, max_bytes=max_bytes)
    if source.data.startswith(MAGIC):
        return table_of_arrow(parquet_table(source, max_bytes=max_bytes), source.name)
    data, notices = plain_text(source, encoding=reading["encoding"])
    if delimiter is None:
        delimiter = guess_table_delimiter(data)
        told = f"read with the delimiter {delimiter!r}, by the look of the file; "
        notices = (*notices, f"{told}say otherwise with --delimiter.")
    fields = split_fields(data, delimiter=check_delimiter(delimiter), name=source.name)
    columns = columns_of_fields(fields, file=source.name, header=True, delimiter=delimiter)
    return Table(columns, Layout("table", delimiter=delimiter, gzip=source.gzip), notices)


def open_frame(frame: object, file: str = FRAME) -> Table:
    """Return the table in a frame; a path is none."""
    from .frames import arrow_table

    return table_of_arrow(arrow_table(frame), file)


def table_of_arrow(table: pa.Table, file: str) -> Table:
    """Return an Arrow table, which messages call `file`."""
    from .frames import named_columns

    table = named_columns(table, file)
    nothing = Column([], np.zeros(0, dtype=np.int32))
    return Table(
        Columns(dict.fromkeys(table.column_names, nothing), 0, file), Layout("table"), arrow=table
    )


def missing_cells(
    columns: Columns, name: str, rows: Places, choices: Sequence[str], *, choice: str = "error"
) -> list[Problem]:
    """Return what is wrong with cells of a column that have no value, by what was chosen for them.

    With "category" they become `NO_VALUE`, which must be no value of the column then.
    """
    if choice == "category":
        remedy = f"Rename that value, or use --missing-cells {_either(choices[:-1])}."
        what = f"column {shorten(name)} holds {NO_VALUE!r}, which stands for no value."
        return [Problem("reserved-label", what, remedy, columns.file)]
    remedy = f"Fill it in, or choose what it means (--missing-cells {_either(choices[1:])})."
    return columns.problems_at("missing-cell", f"no value in column {shorten(name)}.", remedy, rows)


def every_row_lacks(file: str | None, choices: Sequence[str]) -> DataError:
    """Return the error of a table that has no row with a value in every cell."""
    remedy = f"Fill them in, or use --missing-cells {_either(choices)}."
    return DataError("every row has a cell without a value.", remedy, code="no-records", file=file)


def told_of_left_out(n_rows: int, left_out: int) -> tuple[str, ...]:
    """Tell of rows that were left out because a cell has no value."""
    if not left_out:
        return ()
    return (f"{left_out:,} of {n_rows:,} rows have a cell without a value and were left out.",)


def _either(choices: Sequence[str]) -> str:
    return " or ".join([*([", ".join(choices[:-1])] if choices[:-1] else []), choices[-1]])


@dataclass
class Entries:
    """Items ``column=value`` gathered column by column, and what is wrong with them."""

    columns: Columns
    choices: Sequence[str]
    missing: str = "error"
    values: list[str] = field(default_factory=list)
    prefixes: list[str] = field(default_factory=list)
    rows: list[Places] = field(default_factory=list)
    codes: list[Codes] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def add(self, name: str, values: Sequence[str], rows: Places, codes: Codes | Places) -> None:
        """Add the entries of one column, its values labelled with its name."""
        prefix = f"{name}="
        self.codes.append(codes.astype(np.int32) + np.int32(len(self.values)))
        self.rows.append(rows.astype(np.int64))
        self.values += [prefix + value for value in values]
        self.prefixes += [prefix] * len(values)

    def add_cells(self, name: str, absent_texts: Container[str]) -> None:
        """Add a column whose cells are one value each."""
        column = self.columns.require(name)
        absent = column.absent(absent_texts)
        rows = np.flatnonzero(~absent)
        used, codes = number_distinct(column.code_of_row[rows])
        self.add(name, [column.values[code] for code in used.tolist()], rows, codes)
        self.treat_missing(name, np.flatnonzero(absent))

    def treat_missing(self, name: str, rows: Places) -> None:
        """Refuse cells without a value, leave them out, or make them a value of their own."""
        if not len(rows) or self.missing not in ("error", "category"):
            return
        if self.missing == "error" or f"{name}={NO_VALUE}" in self.values:
            self.problems += missing_cells(self.columns, name, rows, self.choices, choice=self.missing)
        else:
            self.add(name, [NO_VALUE], rows, np.zeros(len(rows), dtype=np.int32))

    def draft(self, layout: Layout, notices: tuple[str, ...], **more: Any) -> Draft:
        """Return all entries as a draft."""
        return self.columns.draft(
            layout,
            self.values,
            np.concatenate(self.rows),
            np.concatenate(self.codes),
            prefixes=self.prefixes,
            notices=notices,
            problems=tuple(by_line(self.problems)),
            **more,
        )
