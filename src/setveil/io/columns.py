"""What readers hand over, not yet judged: named columns of one height, and drafts of records.

Columns are what a CSV with a header and an Arrow table have in common: the long, one-hot and table
layouts are read from them, whether the cells came from a file or a frame. What any format gives is a
`Draft`, which `transactions.finish` judges.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..distinct import first_places
from ..errors import DataError, Problem, UsageError
from ..model.layout import Layout
from .csv_text import Codes, Fields, Flags, Places, ragged_problems
from .source import HasLines, shorten

FRAME = "frame"
"""How a frame is named in messages; its rows count from 1."""


ID_NAMES = frozenset(
    {
        "id", "tid", "record", "record_id", "recordid", "transaction", "transaction_id",
        "transactionid", "basket", "basket_id", "basketid", "order", "order_id", "orderid",
        "customer", "customer_id", "customerid", "person", "person_id", "personid", "patient",
        "patient_id", "patientid", "user", "user_id", "userid", "session", "session_id",
        "sessionid", "invoice", "invoice_id", "invoiceno", "member", "member_id", "household",
        "household_id",
    }
)  # fmt: skip
ITEM_NAMES = frozenset(
    {
        "item", "items", "item_id", "itemid", "product", "product_id", "productid", "product_name",
        "article", "article_id", "label", "code", "name", "diagnosis", "condition", "value",
        "stockcode", "sku",
    }
)  # fmt: skip


@dataclass(frozen=True)
class Column:
    """A column's distinct values and the number of the value in each row (-1 for none)."""

    values: list[str]
    code_of_row: Codes

    def absent(self, missing: Container[str]) -> Flags:
        """Tell which cells have no value: nulls, and those that hold one of these texts."""
        flags = np.array([value in missing for value in self.values] + [True], dtype=np.bool_)
        return flags[self.code_of_row]


@dataclass(frozen=True)
class Draft(HasLines):
    """Entries, that is (row, value) pairs, with the place of each row in the file.

    `blank_rows` tells that a row without entries was a blank line rather than an explicit empty set.
    `record_of_row` is given where an id says which rows are one person. `prefixes` tells, value by
    value, what of it names a column. `cells_of_row` are the raw cells of unprotected columns, the same
    for all rows of a record.
    """

    file: str | None
    layout: Layout
    values: list[str]
    row_of_entry: Places
    code_of_entry: Codes
    n_rows: int
    line_of_row: Places | None = None
    record_of_row: Places | None = None
    count_of_entry: Places | None = None
    prefixes: list[str] | None = None
    blank_rows: bool = False
    cells_of_row: list[tuple[str, ...]] | None = None
    notices: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class Columns(HasLines):
    """Columns by name, in order, with the file and the line of each row where there are any."""

    by_name: Mapping[str, Column]
    n_rows: int
    file: str | None = None
    line_of_row: Places | None = None

    @property
    def names(self) -> list[str]:
        """The names of the columns in order."""
        return list(self.by_name)

    def rows(self, chosen: Flags) -> Columns:
        """Return some rows only."""
        by_name = {
            name: Column(column.values, column.code_of_row[chosen])
            for name, column in self.by_name.items()
        }
        lines = None if self.line_of_row is None else self.line_of_row[chosen]
        return replace(self, by_name=by_name, n_rows=int(chosen.sum()), line_of_row=lines)

    def require(self, name: str) -> Column:
        """Return the column `name`; `UsageError` lists what there is."""
        if name not in self.by_name:
            known = ", ".join(shorten(other) for other in self.names[:30])
            hint = " (one column only: is the delimiter right?)" if len(self.by_name) == 1 else ""
            raise UsageError(
                f"no column {shorten(name)}{hint}.",
                f"There are: {known}.",
                code="no-such-column",
                file=self.file,
                line=1 if self.line_of_row is not None else None,
            )
        return self.by_name[name]

    def without(self, names: Iterable[str]) -> Columns:
        """Return the columns that are not in `names`."""
        gone = set(names)
        return replace(
            self, by_name={name: col for name, col in self.by_name.items() if name not in gone}
        )

    def draft(
        self, layout: Layout, values: list[str], rows: Places, codes: Codes, **more: Any
    ) -> Draft:
        """Return the draft of values that stand in these rows."""
        return Draft(self.file, layout, values, rows, codes, self.n_rows, self.line_of_row, **more)


def no_records(file: str | None) -> DataError:
    """Return the error of a file or frame without any record."""
    return DataError(
        "contains no records.", "Check that this is the right file.", code="no-records", file=file
    )


def by_line(problems: Iterable[Problem]) -> list[Problem]:
    """Return problems in the order of their lines."""
    return sorted(problems, key=lambda problem: problem.line or 0)


def told_of_unused(names: Sequence[str], what: str = "columns") -> tuple[str, ...]:
    """Tell of columns that were left out."""
    if not names:
        return ()
    shown = ", ".join(shorten(name) for name in names[:5])
    return (f"{what} not asked for were left out: {shown}{', …' if names[5:] else ''}.",)


def check_names(names: Sequence[str], file: str | None, line: int | None = None) -> None:
    """Raise `UsageError` for empty and repeated names of columns."""
    first_of_name: dict[str, int] = {}
    problems = []
    for place, name in enumerate(names, start=1):
        if not name:
            what, code = f"column {place} has no name.", "empty-column-name"
        elif name in first_of_name:
            code = "duplicate-column"
            what = f"columns {first_of_name[name]} and {place} are both named {shorten(name)}."
        else:
            first_of_name[name] = place
            continue
        problems.append(Problem(code, what, "Give each column its own name.", file, line))
    if problems:
        raise UsageError(problems)


def columns_of_fields(fields: Fields, *, file: str, header: bool, delimiter: str) -> Columns:
    """Return the columns of a CSV text; without a header they are named 1, 2, ..."""
    if fields.n_rows == 0:
        raise no_records(file)
    width = int(fields.width_of_row[0])
    names = fields.row(0) if header else [str(place + 1) for place in range(width)]
    better = better_delimiter(fields, delimiter)
    if better is not None:
        raise DataError(
            f"found 1 column with the delimiter {delimiter!r}.",
            f"Did you mean --delimiter {better!r}?",
            code="wrong-delimiter",
            file=file,
            line=int(fields.line_of_row[0]),
        )
    if header:
        check_names(names, file, int(fields.line_of_row[0]))
        fields = fields.without_first_row()
    if fields.n_rows == 0:
        what, remedy = "contains no records, only a header.", "Check that this is the right file."
        raise DataError(what, remedy, code="no-records", file=file)
    problems = ragged_problems(fields, width)
    if problems:
        raise DataError(problems)
    cells = fields.code_of_field.reshape(fields.n_rows, width)
    by_name = {
        name: Column(fields.values, np.ascontiguousarray(cells[:, place]))
        for place, name in enumerate(names)
    }
    return Columns(by_name, fields.n_rows, file, fields.line_of_row)


def better_delimiter(fields: Fields, delimiter: str) -> str | None:
    """Return another delimiter that would part the first rows, each of one field, evenly."""
    rows = [fields.row(row) for row in range(min(fields.n_rows, 10))]
    if any(len(row) != 1 for row in rows):
        return None
    for mark in ",;\t|":
        counts = {row[0].count(mark) for row in rows}
        if mark != delimiter and len(counts) == 1 and counts != {0}:
            return mark
    return None


def records_of_ids(columns: Columns, id_column: str) -> tuple[Places, int]:
    """Return the record of each row, numbered by the first row of each id, and how many there are."""
    column = columns.require(id_column)
    ids = column.code_of_row
    absent = ids < 0
    if "" in column.values:
        absent |= ids == column.values.index("")
    if absent.any():
        rows = np.flatnonzero(absent)
        raise DataError(
            columns.problems_at("no-id", "a row without an id.", "Give every row an id.", rows)
        )
    return number_by_first_row(ids)


def number_by_first_row(ids: Codes) -> tuple[Places, int]:
    """Renumber ids in the order in which they are seen first."""
    first_of_id = np.full(int(ids.max(initial=-1)) + 1, -1, dtype=np.int64)
    # Assigned from the back, so that the first row of an id is written last.
    first_of_id[ids[::-1]] = np.arange(len(ids) - 1, -1, -1)
    used = np.flatnonzero(first_of_id >= 0)
    rank = np.full(len(first_of_id), -1, dtype=np.int64)
    rank[used[np.argsort(first_of_id[used])]] = np.arange(len(used))
    return rank[ids], len(used)


def repeats(record_of_row: Places, n_records: int) -> Places:
    """Return the rows whose record an earlier row has already."""
    return np.setdiff1d(np.arange(len(record_of_row)), first_places(record_of_row, n_records))


def merged_by_id(columns: Columns, id_column: str, id_policy: str) -> tuple[Places, tuple[str, ...]]:
    """Return the record of each row where a row should be a person; tell or refuse repeated ids."""
    record_of_row, n_records = records_of_ids(columns, id_column)
    return merge_rows(record_of_row, n_records, columns, id_policy)


def merge_rows(
    record_of_row: Places, n_records: int, place: Columns, id_policy: str
) -> tuple[Places, tuple[str, ...]]:
    """Tell or refuse that several rows have one id."""
    extra = len(record_of_row) - n_records
    if extra and id_policy == "error":
        what, remedy = (
            "an id that an earlier row has already.",
            "Merge the rows (--id-policy merge) or give ids of their own.",
        )
        raise DataError(
            place.problems_at("repeated-id", what, remedy, repeats(record_of_row, n_records))
        )
    if not extra:
        return record_of_row, ()
    return record_of_row, (
        f"{len(record_of_row):,} rows were merged to {n_records:,} records by their id.",
    )
