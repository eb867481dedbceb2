"""Basket lines: one record a line, its items as CSV fields."""

from __future__ import annotations

import numpy as np

from ..errors import Problem
from ..model.layout import Layout
from .column_look import FEW_ROWS, NEARLY_ALL
from .csv_text import Fields
from .draft import Draft
from .sniff import DELIMITERS
from .source import Source
from .text import MAX_PROBLEMS


def read_baskets(
    fields: Fields, source: Source, *, delimiter: str, header: bool, notices: tuple[str, ...] = ()
) -> Draft:
    """Return the draft of basket lines; a header, if there is one, is left out."""
    if header and fields.n_rows:
        fields = fields.without_first_row()
    row_of_entry = np.repeat(np.arange(fields.n_rows, dtype=np.int64), fields.width_of_row)
    problems: tuple[Problem, ...] = ()
    values = fields.values
    if "" in values:
        rows = row_of_entry[fields.code_of_field == values.index("")]
        problems = tuple(
            Problem(
                "empty-item",
                "an empty item (two delimiters in a row, or one at an end).",
                "Remove it, or name the right delimiter (--delimiter).",
                source.name,
                int(fields.line_of_row[row]),
            )
            for row in np.unique(rows)[:MAX_PROBLEMS].tolist()
        )
    notices = (*notices, *_told_of_lone_items(fields, delimiter), *_told_of_ids(fields))
    kept = np.array([value != "" for value in values], dtype=np.bool_)[fields.code_of_field]
    return Draft(
        file=source.name,
        layout=Layout("baskets", delimiter=delimiter, gzip=source.gzip),
        values=values,
        row_of_entry=row_of_entry[kept],
        code_of_entry=fields.code_of_field[kept],
        n_rows=fields.n_rows,
        line_of_row=fields.line_of_row,
        blank_rows=not problems,
        notices=notices,
        problems=problems,
    )


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
