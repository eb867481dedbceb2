"""Formats of tables with a header: long, one-hot, and with sets in their cells.

A long table has a row for each (record, item), with an id that says which rows belong together; a
one-hot table a column for each item, with cells that say yes or no; any other table a row a record, a
set in a cell with a separator inside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from ...errors import DataError, Problem, UsageError
from ...model.layout import Layout, LayoutColumn
from ...model.transactions import Transactions
from ..columns import (
    ID_NAMES,
    ITEM_NAMES,
    Columns,
    Draft,
    by_line,
    check_names,
    merged_by_id,
    records_of_ids,
    told_of_unused,
)
from ..csv_text import Head, Places, arrow_integers, arrow_text, arrow_texts, quoted, split_fields
from ..options import OfItems
from ..source import MAX_PROBLEMS, shorten
from .base import ROWS_PER_BLOCK, Format, Reading, arrow_lines

_COUNT = re.compile(r"0*[1-9][0-9]{0,8}\Z")
BLOCK_BYTES = 16 << 20
LIMIT_BYTES = 4 << 30
YES = frozenset({"1", "true", "True", "TRUE"})
NO = frozenset({"0", "false", "False", "FALSE"})


class Long(Format):
    """One row for each (record, item)."""

    key = "long"
    options = frozenset({"delimiter", "header", "id_column", "item_column", "count_column", "counts"})
    holds_empty = False

    def looks(self, head: Head) -> bool:
        if head.asked["id_column"] is not None and head.asked["item_column"] is not None:
            return True
        rows = head.rows
        if head.asked["header"] is False or len(rows) < 2 or any(len(row) != 2 for row in rows):
            return False
        first, second = (cell.strip().casefold().replace(" ", "_") for cell in rows[0])
        return first in ID_NAMES and second in ITEM_NAMES

    def read(self, reading: Reading) -> Draft:
        return draft_of_long(reading.columns(), reading.asked, reading.layout("long"), reading.notices)

    def blocks(self, transactions: Transactions, layout: Layout) -> Iterator[bytes]:
        import pyarrow as pa
        import pyarrow.compute as pc

        mark = layout.delimiter
        yield f"record{mark}item\n".encode()
        values = arrow_texts([quoted(label, mark) for label in transactions.vocabulary.labels])
        for start in range(0, len(transactions), ROWS_PER_BLOCK):
            bounds = transactions.indptr[start : start + ROWS_PER_BLOCK + 1]
            numbers = np.arange(start + 1, start + len(bounds), dtype=np.int64)
            records = arrow_integers(np.repeat(numbers, np.diff(bounds))).cast(pa.large_string())
            items = values.take(arrow_integers(transactions.items[bounds[0] : bounds[-1]]))
            if len(items):
                yield arrow_lines(pc.binary_join_element_wise(records, items, arrow_text(mark)))


def draft_of_long(
    columns: Columns, asked: OfItems, layout: Layout, notices: tuple[str, ...] = ()
) -> Draft:
    """Return the draft of a long table; without names, the two columns are id and item."""
    id_column, item_column = asked["id_column"], asked["item_column"]
    count_column = asked["count_column"]
    if id_column is None and item_column is None and len(columns.names) == 2:
        id_column, item_column = columns.names
    if id_column is None or item_column is None:
        what = f"which of {len(columns.names)} columns hold the id and the item?"
        remedy = "Name them (--id, --item)."
        raise UsageError(what, remedy, code="columns-unnamed", file=columns.file)
    record_of_row, _ = records_of_ids(columns, id_column)
    items = columns.require(item_column)
    code = items.code_of_row
    empty = code < 0
    if "" in items.values:
        empty = empty | (code == items.values.index(""))
    problems = columns.problems_at(
        "empty-item",
        "a row without an item.",
        "Remove the row, or name the item.",
        np.flatnonzero(empty),
    )
    used = {id_column, item_column, count_column}
    notices = (*notices, *told_of_unused([name for name in columns.names if name not in used]))
    row_of_entry = np.flatnonzero(~empty)
    return columns.draft(
        layout,
        items.values,
        row_of_entry,
        code[row_of_entry],
        record_of_row=record_of_row,
        count_of_entry=_counts(columns, count_column, row_of_entry),
        notices=notices,
        problems=tuple(problems),
    )


def _counts(columns: Columns, count_column: str | None, row_of_entry: Places) -> Places | None:
    if count_column is None:
        return None
    column = columns.require(count_column)
    number_of_code = np.array(
        [int(value) if _COUNT.match(value) else 0 for value in [*column.values, ""]], dtype=np.int64
    )
    number_of_row = number_of_code[column.code_of_row]
    bad = np.flatnonzero(number_of_row == 0)
    if len(bad):
        what = "a count that is not a whole number of at least 1."
        raise DataError(columns.problems_at("bad-count", what, "Write digits 0-9.", bad))
    return number_of_row[row_of_entry]


class OneHot(Format):
    """A column for each item, a row for each record."""

    key = "onehot"
    options = frozenset({"delimiter", "header", "id_column", "id_policy"})

    def looks(self, head: Head) -> bool:
        rows = head.rows
        if head.asked["header"] is False or len(rows) < 2 or len(rows[0]) < 2:
            return False
        if any(len(row) != len(rows[0]) for row in rows):
            return False
        flags = YES | NO
        places = [place for place, name in enumerate(rows[0]) if name != head.asked["id_column"]]
        if any(rows[0][place] in flags for place in places):
            return False
        return all(row[place] in flags for row in rows[1:] for place in places)

    def read(self, reading: Reading) -> Draft:
        plain = _read_plain(reading) if reading.header and reading.asked["id_column"] is None else None
        return plain or draft_of_onehot(
            reading.columns(), reading.asked, reading.layout("onehot"), reading.notices
        )

    def blocks(self, transactions: Transactions, layout: Layout) -> Iterator[bytes]:
        mark = layout.delimiter
        used = np.flatnonzero(transactions.count_by_item)
        labels = [transactions.vocabulary.labels[item] for item in used.tolist()]
        yield (mark.join(quoted(label, mark) for label in labels) + "\n").encode()
        column_of_item = np.zeros(len(transactions.vocabulary), dtype=np.int64)
        column_of_item[used] = np.arange(len(used))
        step = max(1, BLOCK_BYTES // (2 * len(used)))
        for start in range(0, len(transactions), step):
            bounds = transactions.indptr[start : start + step + 1]
            rows = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
            block = np.full((len(bounds) - 1, 2 * len(used)), ord(mark), dtype=np.uint8)
            block[:, 0::2] = ord("0")
            block[:, -1] = ord("\n")
            block[rows, 2 * column_of_item[transactions.items[bounds[0] : bounds[-1]]]] = ord("1")
            yield block.tobytes()

    def cannot_hold(
        self, transactions: Transactions, _layout: Layout, labels: Sequence[str]
    ) -> str | None:
        if not labels:
            return "a one-hot table needs at least one item"
        if 2 * len(labels) * len(transactions) > LIMIT_BYTES:
            return f"a one-hot table of {len(transactions):,} x {len(labels):,} cells is too large"
        return None


def _read_plain(reading: Reading) -> Draft | None:
    """Return the draft of a one-hot text of bare 0 and 1, or None if it has anything else.

    Such a body is a rectangle of bytes, so that it need not be split into cells.
    """
    data, delimiter, file = reading.data, reading.delimiter, reading.source.name
    end = data.find(b"\n") + 1
    head, body = data[:end], data[end:]
    if not end or not body or head.count(b'"') % 2 or b"\r" in head:
        return None
    fields = split_fields(head, delimiter=delimiter, name=file)
    width = int(fields.width_of_row[0])
    if not body.endswith(b"\n"):
        body += b"\n"
    if width == 0 or len(body) % (2 * width):
        return None
    cells = np.frombuffer(body, dtype=np.uint8).reshape(-1, 2 * width)
    flags, gaps = cells[:, 0::2] ^ ord("0"), cells[:, 1::2]
    if (flags > 1).any() or (gaps[:, -1] != ord("\n")).any() or (gaps[:, :-1] != ord(delimiter)).any():
        return None
    names = fields.row(0)
    check_names(names, file, 1)
    rows, codes = np.nonzero(flags)
    return Draft(
        file=file,
        layout=reading.layout("onehot"),
        values=names,
        row_of_entry=rows.astype(np.int64),
        code_of_entry=codes.astype(np.int32),
        n_rows=len(cells),
        line_of_row=np.arange(2, len(cells) + 2, dtype=np.int64),
        notices=reading.notices,
    )


def draft_of_onehot(
    columns: Columns, asked: OfItems, layout: Layout, notices: tuple[str, ...] = ()
) -> Draft:
    """Return the draft of a one-hot table; the items are the names of its columns."""
    record_of_row, id_column = None, asked["id_column"]
    if id_column is not None:
        record_of_row, told = merged_by_id(columns, id_column, asked["id_policy"])
        columns, notices = columns.without([id_column]), (*notices, *told)
    rows, codes = [], []
    problems: list[Problem] = []
    for code, (name, column) in enumerate(columns.by_name.items()):
        meaning = np.array(
            [1 if value in YES else 0 if value in NO else -1 for value in [*column.values, ""]],
            dtype=np.int8,
        )[column.code_of_row]
        there = np.flatnonzero(meaning == 1)
        rows.append(there)
        codes.append(np.full(len(there), code, dtype=np.int32))
        if len(problems) < MAX_PROBLEMS:
            what = f"a cell of column {shorten(name)} that is neither 0 nor 1."
            remedy = "Write 0 or 1 (or true, false)."
            problems += columns.problems_at("bad-cell", what, remedy, np.flatnonzero(meaning < 0))
    return columns.draft(
        layout,
        columns.names,
        np.concatenate(rows) if rows else np.zeros(0, dtype=np.int64),
        np.concatenate(codes) if codes else np.zeros(0, dtype=np.int32),
        record_of_row=record_of_row,
        notices=notices,
        problems=tuple(by_line(problems)),
    )


class Table(Format):
    """A row a record, a set in a cell. It is read by `setveil.read_records`."""

    key = "table"
    is_read = False

    def blocks(self, transactions: Transactions, layout: Layout) -> Iterator[bytes]:
        mark = layout.delimiter
        yield (mark.join(quoted(column.name, mark) for column in layout.columns) + "\n").encode()
        by_column = cells_of_table(transactions, layout)
        separators = [column.separator or "" for column in layout.columns]
        lines: list[str] = []
        for row in sorted(zip(*by_column.values(), strict=True)):
            cells = [separator.join(cell) for separator, cell in zip(separators, row, strict=True)]
            # A lone blank field would be a blank line.
            lines.append(
                '""'
                if cells == [""]
                else mark.join(quoted(cell, mark) if cell else "" for cell in cells)
            )
        if lines:
            yield ("\n".join(lines) + "\n").encode()

    def cannot_hold(
        self, transactions: Transactions, layout: Layout, labels: Sequence[str]
    ) -> str | None:
        by_name = {column.name: column for column in layout.item_columns}
        for label in labels:
            name, mark, value = label.partition("=")
            column = by_name.get(name)
            if column is None or not mark or not value:
                return f"the label {shorten(label)} belongs to no column of the table"
            if column.separator is not None and column.separator in value:
                return (
                    f"the label {shorten(label)} holds the separator {column.separator!r} of its column"
                )
        for column, cells in cells_of_table(transactions, layout).items():
            if column.separator is None:
                if any(len(cell) > 1 for cell in cells):
                    return f"the column {shorten(column.name)} takes one value a record, no more"
            elif len(column.separator) > 1 and any(
                cell and tuple(column.separator.join(cell).split(column.separator)) != cell
                for cell in cells
            ):
                return (
                    f"the separator {column.separator!r} runs into the labels of {shorten(column.name)}"
                )
        return None


def cells_of_table(
    transactions: Transactions, layout: Layout
) -> dict[LayoutColumn, list[tuple[str, ...]]]:
    """Return, for each column of a table, the values of each record's cell, sorted."""
    place_of_name = {column.name: place for place, column in enumerate(layout.item_columns)}
    place_of_item: list[int] = []
    value_of_item: list[str] = []
    for label in transactions.vocabulary.labels:
        name, _, value = label.partition("=")
        place_of_item.append(place_of_name.get(name, -1))
        value_of_item.append(value)
    # Ids follow the labels, so the values of one column come sorted.
    columns: list[list[tuple[str, ...]]] = [[] for _ in layout.item_columns]
    bounds, items = transactions.indptr.tolist(), transactions.items.tolist()
    for start, end in pairwise(bounds):
        cells: list[list[str]] = [[] for _ in columns]
        for item in items[start:end]:
            if place_of_item[item] >= 0:
                cells[place_of_item[item]].append(value_of_item[item])
        for column, cell in zip(columns, cells, strict=True):
            column.append(tuple(cell))
    cells_of_column = dict(zip(layout.item_columns, columns, strict=True))
    raw = iter(zip(*(transactions.unprotected or ()), strict=True))
    return {
        column: cells_of_column[column]
        if column in cells_of_column
        else [(cell,) for cell in next(raw)]
        for column in layout.columns
    }
