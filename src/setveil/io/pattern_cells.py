"""Tables of attributes as sets of items ``column=value``: which columns count, and empty cells.

What `pattern_data` reads goes through here, whether it comes from a CSV text or from an Arrow table.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..distinct import number_distinct
from ..errors import DataError, Problem, UsageError
from ..model.layout import Layout, LayoutColumn
from ..model.transactions import Transactions
from ..model.vocabulary import label_fault
from .column_look import Roles, look_at_columns
from .columns import Column, Columns, columns_of_fields
from .csv_text import check_delimiter, split_fields
from .draft import Draft, Policy, check_choice, finish
from .formats.parquet import MAGIC, parquet_table
from .sniff import guess_table_delimiter
from .source import read_source
from .spelling import FORMS
from .tables import MISSING_LABEL
from .text import MAX_PROBLEMS, plain_text, shorten

if TYPE_CHECKING:
    import pyarrow as pa

MISSING_CELLS = ("error", "suppress", "suppress-row", "complete-rows", "category")

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class CellOptions:
    """Which columns of a table count, and what cells without a value mean."""

    attributes: tuple[str, ...] | None = None
    class_column: str | None = None
    missing: frozenset[str] = frozenset()
    missing_cells: str = "error"
    normalize: str | None = None
    strict: bool = False
    as_is: bool = False

    def __post_init__(self) -> None:
        check_choice("missing_cells", self.missing_cells, MISSING_CELLS)
        check_choice("normal_form", self.normalize, (None, *FORMS))
        named = self.attributes or ()
        for name in named:
            if named.count(name) > 1:
                raise UsageError(f"column {shorten(name)} is named twice.", "Name it once.")
        if self.class_column in named:
            raise UsageError(
                f"column {shorten(str(self.class_column))} is both the class and an attribute.",
                "It splits the table, so that no pattern can hold it: leave it out of --attributes.",
                code="two-roles",
            )

    def chosen(self, columns: Columns) -> tuple[str, ...]:
        """Return the attributes in the order of the table: all but the class if none are named."""
        for name in self.attributes or ():
            columns.require(name)
        if self.class_column is not None:
            columns.require(self.class_column)
        wanted = columns.names if self.attributes is None else self.attributes
        names = tuple(name for name in columns.names if name in wanted and name != self.class_column)
        if not names:
            raise UsageError(
                "the table has no attributes.",
                "Give a table with some beside the class.",
                file=columns.file,
            )
        for name in names:
            if "=" in name or label_fault(name) is not None:
                raise UsageError(
                    f"the column name {shorten(name)} holds '=', which ends column names in labels, or "
                    "what no file can hold.",
                    "Rename the column, or leave it out (--attributes).",
                    code="bad-column-name",
                )
        return names


@dataclass(frozen=True)
class Cells:
    """A table that was read, and the names of its attributes."""

    columns: Columns
    names: tuple[str, ...]
    layout: Layout
    notices: tuple[str, ...]

    def rows(self, chosen: Bools, *told: str) -> Cells:
        """Return some rows only, with what there is to tell about the others."""
        here = self.columns
        by_name = {
            name: Column(column.values, column.code_of_row[chosen])
            for name, column in here.by_name.items()
        }
        lines = None if here.line_of_row is None else here.line_of_row[chosen]
        columns = replace(here, by_name=by_name, n_rows=int(chosen.sum()), line_of_row=lines)
        return replace(self, columns=columns, notices=(*self.notices, *told))


def read_cells(
    path: str | os.PathLike[str],
    options: CellOptions,
    *,
    delimiter: str | None,
    encoding: str,
    max_bytes: int,
) -> Cells:
    """Return the cells of a CSV or Parquet file with a header."""
    source = read_source(path, max_bytes=max_bytes)
    if source.data.startswith(MAGIC):
        return arrow_cells(parquet_table(source, max_bytes=max_bytes), options, source.name)
    data, notices = plain_text(source, encoding=encoding)
    if delimiter is None:
        delimiter = guess_table_delimiter(data)
        told = f"read with the delimiter {delimiter!r}, by the look of the file; "
        notices = (*notices, told + "say otherwise with --delimiter.")
    fields = split_fields(data, delimiter=check_delimiter(delimiter), name=source.name)
    columns = columns_of_fields(fields, file=source.name, header=True, delimiter=delimiter)
    layout = Layout("table", delimiter=delimiter, gzip=source.gzip)
    return _looked_at(Cells(columns, options.chosen(columns), layout, notices), options)


def arrow_cells(table: pa.Table, options: CellOptions, file: str) -> Cells:
    """Return the cells of an Arrow table; of columns that do not count only what is null."""
    from .arrays import numpy_integers
    from .arrow import is_list, named_columns, row_numbers, text_column

    table = named_columns(table, file)
    blank = Column([], np.zeros(0, dtype=np.int32))
    names = options.chosen(Columns(dict.fromkeys(table.column_names, blank), 0, file))
    if table.num_rows == 0:
        raise DataError(
            "contains no records.", "Check that this is the right file.", code="no-records", file=file
        )
    by_name = {}
    for name in table.column_names:
        array, kind = table.column(name), table.schema.field(name).type
        used = name in names or name == options.class_column
        if used and is_list(kind):
            raise DataError(
                f"column {shorten(name)} holds lists; here a cell is one value.",
                "Leave it out (--attributes), or give the lists as transactions.",
                code="set-valued",
                file=file,
            )
        if used or str(kind) in ("string", "large_string"):
            by_name[name] = text_column(array, name, file)
        else:
            null = numpy_integers(array.is_null().combine_chunks().cast("int32"))
            by_name[name] = Column(["some"], -null.astype(np.int32))
    columns = Columns(by_name, table.num_rows, file, row_numbers(table.num_rows))
    return _looked_at(Cells(columns, names, Layout("table"), ()), options)


def absent_cells(column: Column, missing: frozenset[str]) -> Bools:
    """Tell which cells have no value."""
    flags = np.array([not value or value in missing for value in column.values] + [True], np.bool_)
    return flags[column.code_of_row]


def complete_rows(cells: Cells, options: CellOptions) -> Cells:
    """Leave out rows that lack a value, where that is what was asked for."""
    if options.missing_cells not in ("suppress-row", "complete-rows"):
        return cells
    columns = cells.columns
    among = columns.names if options.missing_cells == "complete-rows" else cells.names
    lacking = [absent_cells(columns.by_name[name], options.missing) for name in among]
    whole = ~np.logical_or.reduce(lacking)
    if whole.all():
        return cells
    if not whole.any():
        raise DataError(
            "every row has a cell without a value.",
            "Fill them in, or use --missing-cells suppress or category.",
            code="no-records",
            file=columns.file,
        )
    left_out = columns.n_rows - int(whole.sum())
    told = f"{left_out:,} of {columns.n_rows:,} rows have a cell without a value and were left out."
    return cells.rows(whole, told)


def cells_as_sets(cells: Cells, options: CellOptions) -> Transactions:
    """Return each row as the set of its items ``column=value``."""
    columns = cells.columns
    values: list[str] = []
    prefixes: list[str] = []
    rows, codes = [], []
    problems: list[Problem] = []
    for name in cells.names:
        column = columns.by_name[name]
        absent = absent_cells(column, options.missing)
        if options.missing_cells == "error":
            problems += missing_problems(name, absent, columns)
        here = np.flatnonzero(~absent)
        used, code = number_distinct(column.code_of_row[here])
        texts = [column.values[number] for number in used.tolist()]
        if options.missing_cells == "category" and absent.any():
            if MISSING_LABEL in texts:
                problems.append(_reserved(name, columns.file))
            here = np.concatenate([here, np.flatnonzero(absent)])
            code = np.concatenate([code, np.full(int(absent.sum()), len(texts))])
            texts.append(MISSING_LABEL)
        rows.append(here.astype(np.int64))
        codes.append((code + len(values)).astype(np.int32))
        values += [f"{name}={text}" for text in texts]
        prefixes += [f"{name}="] * len(texts)
    kept = tuple(LayoutColumn(name, "kept") for name in cells.names)
    draft = Draft(
        file=columns.file,
        layout=replace(cells.layout, columns=kept),
        values=values,
        prefixes=prefixes,
        row_of_entry=np.concatenate(rows),
        code_of_entry=np.concatenate(codes),
        n_rows=columns.n_rows,
        line_of_row=columns.line_of_row,
        notices=cells.notices,
        problems=tuple(sorted(problems, key=lambda problem: problem.line or 0)),
    )
    policy = Policy(empty_rows="keep", normalize=options.normalize, strict=options.strict)
    return finish(draft, policy)


def missing_problems(name: str, absent: Bools, columns: Columns) -> list[Problem]:
    """Return a problem for each cell of a column that has no value."""
    remedy = (
        "Fill it in, or choose what it means (--missing-cells suppress, suppress-row, complete-rows or "
        "category)."
    )
    what = f"no value in column {shorten(name)}."
    return [
        Problem("missing-cell", what, remedy, columns.file, columns.line(row))
        for row in np.flatnonzero(absent)[:MAX_PROBLEMS].tolist()
    ]


def _reserved(name: str, file: str | None) -> Problem:
    return Problem(
        "reserved-label",
        f"column {shorten(name)} holds {MISSING_LABEL!r}, which stands for no value.",
        "Rename that value, or use another --missing-cells.",
        file,
    )


def _looked_at(cells: Cells, options: CellOptions) -> Cells:
    """Refuse columns that do not hold what they should; tell what is left out."""
    roles = Roles(
        "pair",
        cells.names,
        missing=options.missing,
        split_by=options.class_column,
        as_is=options.as_is,
    )
    cells = replace(cells, notices=(*cells.notices, *look_at_columns(cells.columns, roles)))
    counted = {*cells.names, options.class_column}
    unused = [name for name in cells.columns.names if name not in counted]
    if not unused:
        return cells
    shown = ", ".join(shorten(name) for name in unused[:5])
    told = f"columns not asked for were left out: {shown}{', …' if unused[5:] else ''}."
    return replace(cells, notices=(*cells.notices, told))
