"""Tables with set-valued columns, as CSV: a row a record, a set in a cell with a separator inside.

They are read by `setveil.read_records`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ...model.layout import Layout, LayoutColumn
from ...model.transactions import Transactions
from ..csv_text import quoted
from ..text import shorten
from .base import Format


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


def blocks(transactions: Transactions, layout: Layout) -> Iterator[bytes]:
    """Yield a header and a line a record, sorted."""
    mark = layout.delimiter
    yield (mark.join(quoted(column.name, mark) for column in layout.columns) + "\n").encode()
    by_column = cells_of_table(transactions, layout)
    separators = [column.separator or "" for column in layout.columns]
    lines: list[str] = []
    for row in sorted(zip(*by_column.values(), strict=True)):
        cells = [separator.join(cell) for separator, cell in zip(separators, row, strict=True)]
        # A lone blank field would be a blank line.
        lines.append(
            '""' if cells == [""] else mark.join(quoted(cell, mark) if cell else "" for cell in cells)
        )
    if lines:
        yield ("\n".join(lines) + "\n").encode()


def cannot_hold(transactions: Transactions, layout: Layout, labels: Sequence[str]) -> str | None:
    """Return which label or cell does not fit into its column, or None."""
    by_name = {column.name: column for column in layout.item_columns}
    for label in labels:
        name, mark, value = label.partition("=")
        column = by_name.get(name)
        if column is None or not mark or not value:
            return f"the label {shorten(label)} belongs to no column of the table"
        if column.separator is not None and column.separator in value:
            return f"the label {shorten(label)} holds the separator {column.separator!r} of its column"
    for column, cells in cells_of_table(transactions, layout).items():
        if column.separator is None:
            if any(len(cell) > 1 for cell in cells):
                return f"the column {shorten(column.name)} takes one value a record, no more"
        elif len(column.separator) > 1 and any(
            cell and tuple(column.separator.join(cell).split(column.separator)) != cell
            for cell in cells
        ):
            return f"the separator {column.separator!r} runs into the labels of {shorten(column.name)}"
    return None


FORMAT = Format("table", blocks, cannot_hold=cannot_hold)
