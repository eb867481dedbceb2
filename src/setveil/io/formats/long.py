"""The long layout: one row for each (record, item), with an id that says which rows belong together."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from ...errors import DataError, UsageError
from ...model.layout import Layout
from ...model.transactions import Transactions
from ..arrays import Places, arrow_integers, arrow_text, arrow_texts
from ..columns import Columns, Draft, records_of_ids, told_of_unused
from ..csv_text import quoted
from ..sniff import ID_NAMES, ITEM_NAMES, Head
from .base import ROWS_PER_BLOCK, Format, Reading, arrow_lines

_COUNT = re.compile(r"0*[1-9][0-9]{0,8}\Z")


def looks(head: Head) -> bool:
    """Tell whether both columns are named, or two columns have the names of an id and an item."""
    if head.id_column is not None and head.item_column is not None:
        return True
    rows = head.rows
    if head.header is False or len(rows) < 2 or any(len(row) != 2 for row in rows):
        return False
    first, second = (cell.strip().casefold().replace(" ", "_") for cell in rows[0])
    return first in ID_NAMES and second in ITEM_NAMES


def read(reading: Reading) -> Draft:
    """Return the draft of a long CSV table."""
    return draft_of_long(
        reading.columns(),
        layout=reading.layout("long"),
        id_column=reading.id_column,
        item_column=reading.item_column,
        count_column=reading.count_column,
        notices=reading.notices,
    )


def draft_of_long(
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


def blocks(transactions: Transactions, layout: Layout) -> Iterator[bytes]:
    """Yield a header, and a line an item with the number of its record."""
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


FORMAT = Format(
    "long",
    blocks,
    read=read,
    options=frozenset({"delimiter", "header", "id_column", "item_column", "count_column", "counts"}),
    looks=looks,
    holds_empty=False,
)
