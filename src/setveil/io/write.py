"""Write transactions in any format: canonical, the same bytes for the same content.

The callers hand over transactions in canonical order (labels sorted in a row, rows sorted). What a
format cannot hold is said by `cannot_hold` before anything is written, and reading back what was
written gives the same rows.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, BinaryIO, TypeAlias, cast

import numpy as np

from ..errors import InternalError
from ..model.layout import Layout, LayoutColumn
from ..model.transactions import Transactions
from ..model.vocabulary import label_fault
from .arrays import FEW, arrow_integers, arrow_text, arrow_texts
from .fimi import BLANKS, COMMENT_MARKS, SPMF_MARKS
from .spelling import is_formula
from .text import shorten

if TYPE_CHECKING:
    import pyarrow as pa

Texts: TypeAlias = "list[str] | pa.Array"
ROWS_PER_BLOCK = 65_536
ONEHOT_BLOCK_BYTES = 16 << 20
ONEHOT_LIMIT_BYTES = 4 << 30
CSV_FORMATS = frozenset({"baskets", "long", "onehot", "table"})
_SUFFIX = {"fimi": ".dat", "jsonl": ".jsonl", "parquet": ".parquet"}


def data_file_name(layout: Layout) -> str:
    """Return the name of the data file in a release.

    >>> data_file_name(Layout("baskets", gzip=True)), data_file_name(Layout("fimi"))
    ('data.csv.gz', 'data.dat')
    """
    packed = layout.gzip and layout.format != "parquet"
    return f"data{_SUFFIX.get(layout.format, '.csv')}{'.gz' if packed else ''}"


def pair_file_names(layout: Layout) -> tuple[str, str]:
    """Return the names of the two data files.

    >>> pair_file_names(Layout("baskets", gzip=True)), pair_file_names(Layout("fimi"))
    (('data-1.csv.gz', 'data-2.csv.gz'), ('data-1.dat', 'data-2.dat'))
    """
    name, ending = data_file_name(layout).split(".", 1)
    return f"{name}-1.{ending}", f"{name}-2.{ending}"


def cannot_hold(transactions: Transactions, layout: Layout) -> str | None:
    """Return why the format cannot hold these rows unchanged, or None if it can.

    >>> cannot_hold(Transactions.from_rows([["whole milk"]]), Layout("fimi"))
    "FIMI parts items by blanks, and the label 'whole milk' holds one"
    """
    used = np.flatnonzero(transactions.count_by_item).tolist()
    labels = [transactions.vocabulary.labels[item] for item in used]
    for label in labels:
        fault = label_fault(label)
        if fault is not None:
            return f"no format can hold a label such as {label[:40]!a}: {fault[1]}"
    if transactions.unprotected is not None and layout.format != "table":
        return "only a table can hold columns that are published as they are"
    n_empty = int((transactions.length_by_record == 0).sum())
    if n_empty and layout.format in ("baskets", "long", "fimi"):
        return f"the format {layout.format} cannot hold an empty record, and there are some"
    if layout.format == "fimi":
        return _fimi_cannot(labels)
    if layout.format == "onehot":
        if not labels:
            return "a one-hot table needs at least one item"
        if 2 * len(labels) * len(transactions) > ONEHOT_LIMIT_BYTES:
            return f"a one-hot table of {len(transactions):,} x {len(labels):,} cells is too large"
    if layout.format == "table":
        return _table_cannot(transactions, layout, labels)
    return None


def formulas_in(transactions: Transactions, layout: Layout) -> str | None:
    """Return which cell of a CSV file a spreadsheet would run as a formula, or None if there is none.

    >>> formulas_in(Transactions.from_rows([["=cmd()"]]), Layout("baskets"))
    "a spreadsheet would run '=cmd()' as a formula"
    """
    if layout.format not in CSV_FORMATS:
        return None
    used = np.flatnonzero(transactions.count_by_item).tolist()
    cells = [transactions.vocabulary.labels[item] for item in used]
    if layout.format == "table":
        cells = [label.partition("=")[2] for label in cells]
        cells += [column.name for column in layout.columns]
        cells += sorted({cell for row in transactions.unprotected or () for cell in row})
    found = next((cell for cell in cells if is_formula(cell)), None)
    return None if found is None else f"a spreadsheet would run {shorten(found)} as a formula"


def _fimi_cannot(labels: Sequence[str]) -> str | None:
    blanks = BLANKS.decode()
    for label in labels:
        if any(mark in label for mark in blanks):
            return f"FIMI parts items by blanks, and the label {shorten(label)} holds one"
        if label.startswith(COMMENT_MARKS) or label in SPMF_MARKS:
            return f"readers of FIMI take {shorten(label)} for a mark of the format, not for an item"
    return None


def _table_cannot(transactions: Transactions, layout: Layout, labels: Sequence[str]) -> str | None:
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


def write_data(transactions: Transactions, layout: Layout, file: BinaryIO) -> None:
    """Write canonical transactions to a binary file; the same rows give the same bytes."""
    if layout.format == "parquet":
        _write_parquet(transactions, file)
        return
    if not layout.gzip:
        _write_text(transactions, layout, file)
        return
    # No name and no time in the header: they would tell of the run and change the bytes.
    with gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=6, mtime=0) as packed:
        _write_text(transactions, layout, cast(BinaryIO, packed))


def _write_text(transactions: Transactions, layout: Layout, file: BinaryIO) -> None:
    writers = {
        "baskets": _baskets,
        "long": _long,
        "onehot": _onehot,
        "fimi": _fimi,
        "jsonl": _jsonl,
        "table": _table,
    }
    if layout.format not in writers:
        raise InternalError(f"no writer for the format {layout.format}.")
    for block in writers[layout.format](transactions, layout):
        file.write(block)


def quoted(field: str, delimiter: str) -> str:
    """Return a CSV field, in quotes only where it needs them.

    >>> quoted('6" pipe', ","), quoted("milk", ","), quoted(" milk", ",")
    ('"6"" pipe"', 'milk', '" milk"')
    """
    needs = any(mark in field for mark in (delimiter, '"', "\r", "\n"))
    if needs or field[:1] in (" ", "\t") or field[-1:] in (" ", "\t"):
        return '"' + field.replace('"', '""') + '"'
    return field


def _joined(transactions: Transactions, fields: Sequence[str], separator: str) -> Iterator[Texts]:
    """Yield the rows as texts, a block at a time, their fields joined by the separator."""
    indptr = transactions.indptr
    blocks = [
        indptr[start:][: ROWS_PER_BLOCK + 1] for start in range(0, len(indptr) - 1, ROWS_PER_BLOCK)
    ]
    if len(indptr) + len(transactions.items) <= FEW:
        named = [fields[item] for item in transactions.items.tolist()]
        for bounds in blocks:
            yield [separator.join(named[low:high]) for low, high in pairwise(bounds.tolist())]
        return
    import pyarrow as pa
    import pyarrow.compute as pc

    values = arrow_texts(fields)
    for bounds in blocks:
        items = transactions.items[bounds[0] : bounds[-1]]
        lists = pa.LargeListArray.from_arrays(
            arrow_integers(bounds - bounds[0]), values.take(arrow_integers(items))
        )
        yield pc.binary_join(lists, arrow_text(separator))


def _lines(texts: Texts, end: str = "\n") -> bytes:
    """Return the texts as bytes, each ended by `end`."""
    if isinstance(texts, list):
        return (end.join(texts) + end).encode()
    import pyarrow as pa
    import pyarrow.compute as pc

    whole = pa.LargeListArray.from_arrays(arrow_integers(np.array([0, len(texts)])), texts)
    joined = pc.binary_join(whole, arrow_text(end))
    return bytes(joined[0].as_buffer()) + end.encode()


def _baskets(transactions: Transactions, layout: Layout) -> Iterator[bytes]:
    fields = [quoted(label, layout.delimiter) for label in transactions.vocabulary.labels]
    for texts in _joined(transactions, fields, layout.delimiter):
        yield _lines(texts)


def _fimi(transactions: Transactions, _layout: Layout) -> Iterator[bytes]:
    for texts in _joined(transactions, transactions.vocabulary.labels, " "):
        yield _lines(texts)


def _jsonl(transactions: Transactions, _layout: Layout) -> Iterator[bytes]:
    fields = [json.dumps(label, ensure_ascii=False) for label in transactions.vocabulary.labels]
    for texts in _joined(transactions, fields, ","):
        yield b"[" + _lines(texts, "]\n[")[:-1]


def _long(transactions: Transactions, layout: Layout) -> Iterator[bytes]:
    import pyarrow as pa
    import pyarrow.compute as pc

    mark = layout.delimiter
    yield f"record{mark}item\n".encode()
    fields = [quoted(label, mark) for label in transactions.vocabulary.labels]
    values = arrow_texts(fields)
    indptr = transactions.indptr
    for start in range(0, len(transactions), ROWS_PER_BLOCK):
        bounds = indptr[start : start + ROWS_PER_BLOCK + 1]
        numbers = np.arange(start + 1, start + len(bounds), dtype=np.int64)
        records = arrow_integers(np.repeat(numbers, np.diff(bounds))).cast(pa.large_string())
        items = values.take(arrow_integers(transactions.items[bounds[0] : bounds[-1]]))
        if len(items):
            yield _lines(pc.binary_join_element_wise(records, items, arrow_text(mark)))


def _onehot(transactions: Transactions, layout: Layout) -> Iterator[bytes]:
    used = np.flatnonzero(transactions.count_by_item)
    labels = [transactions.vocabulary.labels[item] for item in used.tolist()]
    yield (layout.delimiter.join(quoted(label, layout.delimiter) for label in labels) + "\n").encode()
    column_of_item = np.zeros(len(transactions.vocabulary), dtype=np.int64)
    column_of_item[used] = np.arange(len(used))
    step = max(1, ONEHOT_BLOCK_BYTES // (2 * len(used)))
    for start in range(0, len(transactions), step):
        bounds = transactions.indptr[start : start + step + 1]
        rows = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        block = np.full((len(bounds) - 1, 2 * len(used)), ord(layout.delimiter), dtype=np.uint8)
        block[:, 0::2] = ord("0")
        block[:, -1] = ord("\n")
        block[rows, 2 * column_of_item[transactions.items[bounds[0] : bounds[-1]]]] = ord("1")
        yield block.tobytes()


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


def _table(transactions: Transactions, layout: Layout) -> Iterator[bytes]:
    mark = layout.delimiter
    names = [quoted(column.name, mark) for column in layout.columns]
    yield (mark.join(names) + "\n").encode()
    by_column = cells_of_table(transactions, layout)
    separators = [column.separator or "" for column in layout.columns]
    lines: list[str] = []
    for row in sorted(zip(*by_column.values(), strict=True)):
        cells = [
            quoted(separator.join(cell), mark) for separator, cell in zip(separators, row, strict=True)
        ]
        # A lone blank field would be a blank line.
        lines.append('""' if cells == [""] else mark.join(cells))
    if lines:
        yield ("\n".join(lines) + "\n").encode()


def _write_parquet(transactions: Transactions, file: BinaryIO) -> None:
    """Write one column of lists, with every setting that could change the bytes pinned."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from .arrow import list_array

    rows = list_array(transactions)
    table = pa.Table.from_arrays(
        [rows], schema=pa.schema([pa.field("items", rows.type, nullable=False)])
    )
    sink = pa.BufferOutputStream()
    pq.write_table(
        table,
        sink,
        version="2.6",
        data_page_version="1.0",
        compression="snappy",
        use_dictionary=True,
        write_statistics=False,
        store_schema=False,
        row_group_size=1 << 20,
    )
    file.write(sink.getvalue())
