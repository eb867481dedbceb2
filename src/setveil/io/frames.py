"""Frames in and out: pandas, polars, DuckDB, pyarrow, or anything with the Arrow C stream.

None of these libraries is imported here; an object only has to offer ``__arrow_c_stream__``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Unpack

import pyarrow as pa

from ..arguments import checked
from ..errors import UsageError
from ..model.layout import Layout
from ..model.transactions import Transactions
from .arrow import draft_of_table, list_array
from .formats.table import cells_of_table
from .options import ID_POLICIES, OfCells, OfItems, check_choice
from .records import TableOptions, build_records
from .table import open_frame
from .transactions import Policy, finish


class Options(OfItems, OfCells, total=False):
    """How a frame is read."""


@checked()
def from_frame(
    frame: object,
    *,
    column: str | None = None,
    onehot: bool | None = None,
    set_columns: Mapping[str, str | None] | Sequence[str] | None = None,
    empty_rows: str = "keep",
    **reading: Unpack[Options],
) -> Transactions:
    """Return the records of a frame as sets of items.

    Parameters
    ----------
    frame
        Any object with ``__arrow_c_stream__``: a table, or a single column of lists.
    column
        The column of lists; found by itself where there is one only.
    id_column, item_column, count_column
        The columns of a long table; rows of one id are one record.
    onehot
        Whether the columns are items with cells of true and false (or 1 and 0).
    set_columns, keep, sensitive, missing_cells, keep_unprotected, as_is
        A table with set-valued columns, as in `read_records`: a column of lists, or of texts with a
        separator inside.

    The other options are those of `read_transactions`.
    """
    check_choice("id_policy", reading["id_policy"], ID_POLICIES)
    policy = Policy.of_items(empty_rows, reading)
    item_column, count_column = reading["item_column"], reading["count_column"]
    if set_columns is not None:
        if column or item_column or count_column or onehot or reading["counts"]:
            raise UsageError(
                "set_columns goes with keep, sensitive and id_column only.", "Leave out the rest."
            )
        separators = set_columns if isinstance(set_columns, Mapping) else dict.fromkeys(set_columns)
        options = TableOptions.of(separators, reading, reading)
        return build_records(open_frame(frame), options, policy).as_transactions()
    if reading["keep"] or reading["keep_unprotected"] or reading["sensitive"] is not None:
        raise UsageError(
            "keep, keep_unprotected and sensitive need set_columns.", "Name the set-valued columns."
        )
    draft = draft_of_table(
        open_frame(frame),
        layout=Layout("jsonl"),
        column=column,
        id_column=reading["id_column"],
        item_column=item_column,
        count_column=count_column,
        onehot=onehot,
        id_policy=reading["id_policy"],
    )
    return finish(draft, policy)


@checked()
def to_arrow(transactions: Transactions) -> pa.Table:
    """Return transactions as a table: a column ``items`` of lists, or the columns of their table."""
    layout = transactions.layout
    if layout is not None and layout.format == "table":
        arrays: dict[str, pa.Array] = {}
        for column, cells in cells_of_table(transactions, layout).items():
            if column.separator is None:
                arrays[column.name] = pa.array(
                    [cell[0] if cell else None for cell in cells], pa.string()
                )
            else:
                arrays[column.name] = pa.array([list(cell) for cell in cells], pa.list_(pa.string()))
        return pa.table(arrays)
    return pa.table({"items": list_array(transactions)})
