"""The long layout: one row for each (record, item), with an id that says which rows belong together."""

from __future__ import annotations

import re

import numpy as np

from ..errors import DataError, Problem, UsageError
from ..model.layout import Layout
from .columns import Columns, records_of_ids
from .draft import Draft
from .text import MAX_PROBLEMS, shorten
from .tokens import Places

_COUNT = re.compile(r"0*[1-9][0-9]{0,8}\Z")


def read_long(
    columns: Columns,
    *,
    layout: Layout,
    id_column: str | None,
    item_column: str | None,
    count_column: str | None,
    notices: tuple[str, ...] = (),
) -> Draft:
    """Return the draft of a long table; without names, the two columns are id and item."""
    if id_column is None and item_column is None and len(columns.names) == 2:
        id_column, item_column = columns.names
    if id_column is None or item_column is None:
        raise UsageError(
            f"which of {len(columns.names)} columns hold the id and the item?",
            "Name them (--id, --item).",
            code="columns-unnamed",
            file=columns.file,
        )
    record_of_row, _ = records_of_ids(columns, id_column)
    items = columns.require(item_column)
    code = items.code_of_row
    empty = code < 0
    if "" in items.values:
        empty = empty | (code == items.values.index(""))
    problems = tuple(
        Problem("empty-item", "a row without an item.", "Remove the row, or name the item.",
                columns.file, columns.line(row))
        for row in np.flatnonzero(empty)[:MAX_PROBLEMS].tolist()
    )  # fmt: skip
    used = {id_column, item_column, count_column}
    unused = [name for name in columns.names if name not in used]
    if unused:
        shown = ", ".join(shorten(name) for name in unused[:5])
        notices = (*notices, f"columns not asked for were left out: {shown}.")
    row_of_entry = np.flatnonzero(~empty)
    return Draft(
        file=columns.file,
        layout=layout,
        values=items.values,
        row_of_entry=row_of_entry,
        code_of_entry=code[row_of_entry],
        n_rows=columns.n_rows,
        line_of_row=columns.line_of_row,
        record_of_row=record_of_row,
        count_of_entry=_counts(columns, count_column, row_of_entry),
        notices=notices,
        problems=problems,
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
        raise DataError(
            [
                Problem("bad-count", "a count that is not a whole number of at least 1.",
                        "Write digits 0-9.", columns.file, columns.line(row))
                for row in bad[:MAX_PROBLEMS].tolist()
            ]
        )  # fmt: skip
    return number_of_row[row_of_entry]
