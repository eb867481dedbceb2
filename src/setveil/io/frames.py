"""Frames in and out: pandas, polars, DuckDB, pyarrow, or anything with the Arrow C stream.

None of these libraries but pyarrow is imported here; an object only has to offer
``__arrow_c_stream__``. Arrow tables, of frames or of Parquet files, become columns and drafts. Values
must be texts. Whole numbers are written with their digits, which is exact; decimal numbers, dates and
mixtures are refused, because there is more than one way to write them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..arguments import checked
from ..errors import DataError, Problem, UsageError
from ..model.layout import Layout
from ..model.transactions import Transactions
from .columns import (
    FRAME,
    ID_NAMES,
    ITEM_NAMES,
    Column,
    Draft,
    check_names,
    merged_by_id,
    told_of_unused,
)
from .csv_text import Codes, Places, arrow_integers, arrow_texts, numpy_integers
from .formats.tables import cells_of_table, draft_of_long, draft_of_onehot
from .options import ID_POLICIES, OfCells, OfItems, check_choice, refuse_unused_policy
from .records import build_records, check_roles
from .source import MAX_PROBLEMS, shorten
from .table import Table, open_frame
from .transactions import Policy, finish

_INDEX_PREFIX = "__index_level_"


@dataclass(frozen=True)
class ListColumn:
    """A column of lists as entries: distinct values, and row and value of each entry."""

    values: list[str]
    row_of_entry: Places
    code_of_entry: Codes
    null_rows: Places


def is_list(kind: pa.DataType) -> bool:
    """Tell whether a type is a list of any build."""
    checks = ("is_list", "is_large_list", "is_fixed_size_list", "is_list_view", "is_large_list_view")
    return any(getattr(pa.types, check, lambda _kind: False)(kind) for check in checks)


def named_columns(table: pa.Table, file: str | None) -> pa.Table:
    """Return the table without an index that a frame brought along; check the names."""
    kept = [name for name in table.column_names if not name.startswith(_INDEX_PREFIX)]
    check_names(kept, file)
    return table.select(kept) if len(kept) < table.num_columns else table


def arrow_table(frame: object) -> pa.Table:
    """Return any frame as an Arrow table; a single column of lists becomes the column ``items``."""
    if isinstance(frame, pa.Table):
        return frame
    if not hasattr(frame, "__arrow_c_stream__"):
        raise UsageError(
            f"a {type(frame).__name__} is not a frame.",
            "Give a pandas, polars, DuckDB or pyarrow table, or a path to a function that reads files.",
            code="not-a-frame",
        )
    try:
        return named_columns(pa.table(frame), FRAME)
    except (TypeError, pa.ArrowInvalid, ValueError):
        pass
    try:
        return pa.table({"items": pa.chunked_array(frame)})
    except (TypeError, pa.ArrowInvalid, pa.ArrowTypeError, ValueError) as error:
        what = f"the frame cannot be read as an Arrow table ({type(error).__name__})."
        remedy = "Make every column of one type."
        raise UsageError(what, remedy, code="not-a-frame") from None


def text_column(array: pa.ChunkedArray, name: str, file: str | None) -> Column:
    """Return a column of texts or whole numbers as numbered values; nothing (null) is -1."""
    flat = _texts(_whole(array), name, file).dictionary_encode()
    codes = numpy_integers(flat.indices)
    return Column(flat.dictionary.to_pylist(), codes.astype(np.int32))


def list_column(array: pa.ChunkedArray, name: str, file: str | None) -> ListColumn:
    """Return a column of lists as entries; a null inside a list is refused."""
    whole = _whole(array)
    if not pa.types.is_list(whole.type) and not pa.types.is_large_list(whole.type):
        whole = whole.cast(pa.large_list(whole.type.value_type))
    rows = numpy_integers(pc.list_parent_indices(whole))
    flat = _texts(pc.list_flatten(whole), name, file).dictionary_encode()
    codes = numpy_integers(flat.indices).astype(np.int32)
    if (codes < 0).any():
        what = f"a null inside a list of column {shorten(name)}."
        bad = np.unique(rows[codes < 0])[:MAX_PROBLEMS].tolist()
        raise DataError([Problem("null-item", what, "Remove it.", file, row + 1) for row in bad])
    null_rows = np.flatnonzero(numpy_integers(pc.is_null(whole).cast(pa.int8())))
    return ListColumn(flat.dictionary.to_pylist(), rows, codes, null_rows)


def draft_of_table(
    table: Table,
    asked: OfItems,
    layout: Layout,
    *,
    column: str | None = None,
    onehot: bool | None = None,
) -> Draft:
    """Return the draft of an Arrow table: a column of lists, or id and item, or one-hot columns."""
    id_column, item_column = asked["id_column"], asked["item_column"]
    refuse_unused_policy(asked["id_policy"], id_column)
    names, schema = table.columns.names, table.arrow.schema
    for wanted in (column, id_column, item_column, asked["count_column"]):
        if wanted is not None:
            table.columns.require(wanted)
    lists = [name for name in names if is_list(schema.field(name).type)]
    if column is None and item_column in lists:
        column = item_column
    if column is None and item_column is None and not onehot and len(lists) == 1:
        column = lists[0]
    if column is not None:
        return _draft_of_lists(table, column, asked, layout)
    if id_column is None and item_column is None and not onehot and _named_long(names):
        id_column, item_column = names
    if item_column is not None:
        asked = {**asked, "id_column": id_column, "item_column": item_column}
        used = (id_column, item_column, asked["count_column"])
        return draft_of_long(table.load(used), asked, layout)
    if onehot or (onehot is None and _all_flags(table.arrow, id_column)):
        flags = table.arrow
        for place, name in enumerate(names):
            if pa.types.is_boolean(schema.field(name).type):
                flags = flags.set_column(place, name, flags.column(name).cast(pa.string()))
        columns = replace(table, arrow=flags).load(names)
        return draft_of_onehot(columns, asked, layout)
    what = f"which of {len(names)} columns hold the items?"
    remedy = "Name the column of lists, or the columns of id and item."
    raise UsageError(what, remedy, code="columns-unnamed", file=table.columns.file)


def list_array(transactions: Transactions) -> pa.Array:
    """Return the rows as an Arrow array of lists of strings."""
    labels = arrow_texts(transactions.vocabulary.labels).cast(pa.string())
    values = labels.take(arrow_integers(transactions.items))
    element = pa.field("element", pa.string(), nullable=False)
    if int(transactions.indptr[-1]) < 2**31 - 1:
        offsets = arrow_integers(transactions.indptr.astype(np.int32))
        return pa.ListArray.from_arrays(offsets, values, type=pa.list_(element))
    return pa.LargeListArray.from_arrays(
        arrow_integers(transactions.indptr), values, type=pa.large_list(element)
    )


def _draft_of_lists(table: Table, column: str, asked: OfItems, layout: Layout) -> Draft:
    id_column = asked["id_column"]
    rows = table.load((id_column,))
    found = table.lists((column,))
    if column not in found:
        kind = table.arrow.schema.field(column).type
        what = f"column {shorten(column)} holds {kind}, not lists of strings."
        remedy = "Name a column of lists, or the columns of id and item."
        raise DataError(what, remedy, code="not-a-list", file=rows.file)
    entries = found[column]
    what = f"no list in column {shorten(column)} (null)."
    remedy = "Write an empty list if the record is empty, or remove the row."
    problems = rows.problems_at("null-list", what, remedy, entries.null_rows)
    record_of_row = None
    notices: tuple[str, ...] = ()
    if id_column is not None:
        record_of_row, notices = merged_by_id(rows, id_column, asked["id_policy"])
    unused = [name for name in rows.names if name not in (column, id_column)]
    return rows.draft(
        layout,
        entries.values,
        entries.row_of_entry,
        entries.code_of_entry,
        record_of_row=record_of_row,
        notices=(*notices, *told_of_unused(unused)),
        problems=tuple(problems),
    )


def _named_long(names: Sequence[str]) -> bool:
    return len(names) == 2 and names[0].casefold() in ID_NAMES and names[1].casefold() in ITEM_NAMES


def _all_flags(table: pa.Table, id_column: str | None) -> bool:
    """Tell whether every column is of true and false, or of the numbers 0 and 1."""
    names = [name for name in table.column_names if name != id_column]
    for name in names:
        kind = table.schema.field(name).type
        if pa.types.is_boolean(kind):
            continue
        if not pa.types.is_integer(kind):
            return False
        ends = pc.min_max(table.column(name))
        if ends["min"].as_py() not in (0, 1, None) or ends["max"].as_py() not in (0, 1, None):
            return False
    return len(names) >= 2


def _whole(array: pa.ChunkedArray) -> pa.Array:
    """Return one array; a single chunk is not copied."""
    if isinstance(array, pa.Array):
        return array
    if array.num_chunks == 1:
        return array.chunk(0)
    return pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], type=array.type)


def _texts(array: pa.Array, name: str, file: str | None) -> pa.Array:
    """Return texts and whole numbers as strings, refuse every other type."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        array = array.dictionary_decode()
        kind = array.type
    is_view = getattr(pa.types, "is_string_view", lambda _kind: False)(kind)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return array
    if is_view or pa.types.is_integer(kind) or pa.types.is_null(kind):
        return array.cast(pa.large_string())
    code, what = "unsupported-type", f"holds {kind}, not strings."
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        code = "float-items"
        what = f"holds decimal numbers ({kind}); ids with gaps often become such."
    elif pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        try:
            return array.cast(pa.large_string())
        except pa.ArrowInvalid:
            code, what = "bad-encoding", "holds bytes that are not UTF-8."
    remedy = "Turn the column into strings, the way you want them published."
    raise DataError(f"column {shorten(name)} {what}", remedy, code=code, file=file)


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

    >>> import pyarrow
    >>> list(from_frame(pyarrow.table({"items": [["ale", "milk"], ["milk"]]})).rows())
    [('ale', 'milk'), ('milk',)]
    """
    check_choice("id_policy", reading["id_policy"], ID_POLICIES)
    policy = Policy.of_items(empty_rows, reading)
    if set_columns is not None:
        items = reading["item_column"] or reading["count_column"] or reading["counts"]
        if column or onehot or items:
            raise UsageError(
                "set_columns goes with keep, sensitive and id_column only.", "Leave out the rest."
            )
        separators = set_columns if isinstance(set_columns, Mapping) else dict.fromkeys(set_columns)
        asked = check_roles(separators, reading)
        return build_records(open_frame(frame), separators, asked, policy).as_transactions()
    if reading["keep"] or reading["keep_unprotected"] or reading["sensitive"] is not None:
        raise UsageError(
            "keep, keep_unprotected and sensitive need set_columns.", "Name the set-valued columns."
        )
    draft = draft_of_table(open_frame(frame), reading, Layout("jsonl"), column=column, onehot=onehot)
    return finish(draft, policy)


@checked()
def to_arrow(transactions: Transactions) -> pa.Table:
    """Return transactions as a table: a column ``items`` of lists, or the columns of their table.

    >>> to_arrow(Transactions.from_rows([["ale", "milk"], ["milk"]])).to_pylist()
    [{'items': ['ale', 'milk']}, {'items': ['milk']}]
    """
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
