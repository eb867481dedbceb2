"""Basket lines: one record a line, its items as CSV fields."""

from __future__ import annotations

import numpy as np

from ..errors import Problem
from ..model.layout import Layout
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
    notices = (*notices, *_told_of_lone_items(fields, delimiter))
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
