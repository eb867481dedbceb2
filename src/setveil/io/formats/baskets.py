"""Basket lines: one record a line, its items as CSV fields.

Read as baskets, a table without `--set` or a log without `--id` would be published with the ids of
persons as items. So where the format was guessed, columns that mean different things are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from ...distinct import distinct
from ...errors import DataError
from ...model.layout import Layout
from ...model.transactions import Transactions
from ..column_look import FEW_ROWS, NEARLY_ALL
from ..columns import Draft
from ..csv_text import Fields, quoted
from ..sniff import DELIMITERS
from .base import Format, Reading, joined_lines

LEAST_LINES = 20
"""Shorter files are too short to tell a table by."""
LEAST_REPEATING_SHARE = 0.1
"""Items are in a basket once; cells of a row may well be equal."""
_NAME = re.compile(r"[^\W\d][\w .\-/()#]{0,39}")


def read(reading: Reading) -> Draft:
    """Return the draft of basket lines; a header, if there is one, is left out."""
    fields, file = reading.fields(), reading.source.name
    if reading.header and fields.n_rows:
        fields = fields.without_first_row()
    if reading.guessed:
        _refuse_table(fields, file=file, header=reading.header, counts=reading.counts)
    row_of_entry = np.repeat(np.arange(fields.n_rows, dtype=np.int64), fields.width_of_row)
    empty = fields.code_of_field == (fields.values.index("") if "" in fields.values else -1)
    problems = fields.problems_at(
        "empty-item",
        "an empty item (two delimiters in a row, or one at an end).",
        "Remove it, or name the right delimiter (--delimiter).",
        np.unique(row_of_entry[empty]),
    )
    told = (*_told_of_lone_items(fields, reading.delimiter), *_told_of_ids(fields))
    return Draft(
        file=file,
        layout=reading.layout("baskets"),
        values=fields.values,
        row_of_entry=row_of_entry[~empty],
        code_of_entry=fields.code_of_field[~empty],
        n_rows=fields.n_rows,
        line_of_row=fields.line_of_row,
        blank_rows=not problems,
        notices=(*reading.notices, *told),
        problems=tuple(problems),
    )


def _refuse_table(fields: Fields, *, file: str, header: bool, counts: bool) -> None:
    """Raise `DataError` where lines of one width have columns of their own."""
    widths = fields.width_of_row
    widths = widths[widths > 0]
    if len(widths) < LEAST_LINES or widths[0] < 2 or (widths != widths[0]).any():
        return
    width = int(widths[0])
    table = fields.code_of_field.reshape(-1, width)
    named = not header and _first_row_is_names(fields, table)
    reason = _difference(fields, table[1:] if named else table, counts=counts)
    if reason is None and not named:
        return
    if named:
        names = "the first line looks like names of columns"
        reason = names if reason is None else f"{reason}, and {names}"
    raise DataError(
        f"every line has {width} fields and {reason}: this looks like a table or a log, not baskets.",
        "Give --id and --item (one item a line), --set COLUMN (a table with a set), or "
        "--layout baskets if each line really is a set of items. A table with one secret column is for "
        "`setveil anonymize --quasi COLUMNS --sensitive COLUMN`.",
        code="looks-like-a-table",
        file=file,
    )


def _difference(fields: Fields, table: np.ndarray, *, counts: bool) -> str | None:
    """Return in what the columns differ from places in a basket, or None."""
    seen = np.zeros(len(fields.values), dtype=np.int64)
    for column in table.T:
        seen[distinct(column)] += 1
    if "" in fields.values:
        seen[fields.values.index("")] = 0
    if seen.max(initial=0) < 2:
        return "no value occurs in two columns"
    ordered = np.sort(table, axis=1)
    repeating = int((ordered[:, 1:] == ordered[:, :-1]).any(axis=1).sum())
    if not counts and repeating >= LEAST_REPEATING_SHARE * len(table):
        return f"{repeating:,} of {len(table):,} lines hold a value twice"
    return None


def _first_row_is_names(fields: Fields, table: np.ndarray) -> bool:
    """Tell whether the first row is made of words that occur nowhere else."""
    names = [fields.values[code].strip() for code in table[0].tolist()]
    if len(set(names)) < len(names) or not all(_NAME.fullmatch(name) for name in names):
        return False
    return not np.isin(table[0], table[1:]).any()


def _told_of_lone_items(fields: Fields, delimiter: str) -> tuple[str, ...]:
    """Tell where no row has two items but another delimiter would part most of them."""
    if not fields.n_rows or int(fields.width_of_row.max()) > 1:
        return ()
    rows_of_value = np.bincount(fields.code_of_field, minlength=len(fields.values)).tolist()
    for mark in DELIMITERS:
        parted = sum(
            n_rows for n_rows, value in zip(rows_of_value, fields.values, strict=True) if mark in value
        )
        if mark != delimiter and 2 * parted > fields.n_rows:
            return (f"every record holds one item; did you mean --delimiter {mark!r}?",)
    return ()


def _told_of_ids(fields: Fields) -> tuple[str, ...]:
    """Tell where the first item of nearly every row is nowhere else, as the others are not."""
    widths = fields.width_of_row
    starts = (np.cumsum(widths) - widths)[widths > 0]
    count_of_value = np.bincount(fields.code_of_field, minlength=len(fields.values))
    lone = count_of_value[fields.code_of_field] == 1
    lone_first = int(lone[starts].sum())
    lone_behind, behind = int(lone.sum()) - lone_first, len(lone) - len(starts)
    part, of = NEARLY_ALL
    if len(starts) <= FEW_ROWS or lone_first * of <= len(starts) * part or 2 * lone_behind >= behind:
        return ()
    return (
        "the first item of nearly every record occurs nowhere else, as a name or an id does: leave it "
        "out of the file if it is one.",
    )


def blocks(transactions: Transactions, layout: Layout) -> Iterator[bytes]:
    """Return a line a record."""
    fields = [quoted(label, layout.delimiter) for label in transactions.vocabulary.labels]
    return joined_lines(transactions, fields, layout.delimiter)


FORMAT = Format(
    "baskets",
    blocks,
    read=read,
    options=frozenset({"delimiter", "header", "counts"}),
    holds_empty=False,
)
