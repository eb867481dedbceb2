"""Frames in and out: pandas, polars, DuckDB, pyarrow, or anything with the Arrow C stream.

None of these libraries is imported here; an object only has to offer ``__arrow_c_stream__``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa

from ..arguments import checked
from ..errors import UsageError
from ..model.layout import Layout
from ..model.transactions import Transactions
from .arrow import draft_of_table, list_array
from .draft import ID_POLICIES, Policy, check_choice, finish
from .formats.table import cells_of_table
from .lists import read_labels
from .records import TableOptions, build_records
from .table import open_frame


@checked()
def from_frame(
    frame: object,
    *,
    column: str | None = None,
    id_column: str | None = None,
    item_column: str | None = None,
    count_column: str | None = None,
    onehot: bool | None = None,
    set_columns: Mapping[str, str | None] | Sequence[str] | None = None,
    keep: Sequence[str] = (),
    sensitive: str | None = None,
    missing_cells: str = "error",
    keep_unprotected: Sequence[str] = (),
    counts: bool = False,
    labels: str | os.PathLike[str] | Mapping[str, str] | None = None,
    empty_rows: str = "keep",
    id_policy: str = "merge",
    integers: bool = False,
    missing: Iterable[str] = (),
    normalize: str | None = None,
    strict: bool = False,
    repeats: str = "once",
    as_is: bool = False,
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
    check_choice("id_policy", id_policy, ID_POLICIES)
    policy = Policy(
        empty_rows=empty_rows,
        missing=frozenset([missing] if isinstance(missing, str) else missing),
        normalize=normalize,
        strict=strict,
        integers=integers,
        counts=counts or count_column is not None,
        label_of_id=None if labels is None else read_labels(labels),
        repeats=repeats,
    )
    if set_columns is not None:
        if column or item_column or count_column or onehot or counts:
            raise UsageError(
                "set_columns goes with keep, sensitive and id_column only.", "Leave out the rest."
            )
        separators = set_columns if isinstance(set_columns, Mapping) else dict.fromkeys(set_columns)
        options = TableOptions(
            dict(separators),
            tuple(keep),
            sensitive,
            id_column,
            id_policy,
            missing_cells,
            tuple(keep_unprotected),
            as_is,
        )
        return build_records(open_frame(frame), options, policy).as_transactions()
    if keep or keep_unprotected or sensitive is not None:
        raise UsageError(
            "keep, keep_unprotected and sensitive need set_columns.", "Name the set-valued columns."
        )
    draft = draft_of_table(
        open_frame(frame),
        layout=Layout("jsonl"),
        column=column,
        id_column=id_column,
        item_column=item_column,
        count_column=count_column,
        onehot=onehot,
        id_policy=id_policy,
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
