"""One-hot tables: a column for each item, a row for each record, cells that say yes or no."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...errors import Problem
from ...model.layout import Layout
from ...model.transactions import Transactions
from ..columns import Columns, Draft, by_line, check_names, merged_by_id
from ..csv_text import quoted, split_fields
from ..sniff import Head
from ..text import MAX_PROBLEMS, shorten
from .base import Format, Reading

BLOCK_BYTES = 16 << 20
LIMIT_BYTES = 4 << 30
YES = frozenset({"1", "true", "True", "TRUE"})
NO = frozenset({"0", "false", "False", "FALSE"})


def looks(head: Head) -> bool:
    """Tell whether all cells below a header, those of an id aside, say yes or no."""
    rows = head.rows
    if head.header is False or len(rows) < 2 or len(rows[0]) < 2:
        return False
    if any(len(row) != len(rows[0]) for row in rows):
        return False
    flags = YES | NO
    places = [place for place, name in enumerate(rows[0]) if name != head.id_column]
    if any(rows[0][place] in flags for place in places):
        return False
    return all(row[place] in flags for row in rows[1:] for place in places)


def read(reading: Reading) -> Draft:
    """Return the draft of a one-hot CSV table."""
    plain = _read_plain(reading) if reading.header and reading.id_column is None else None
    return plain or draft_of_onehot(
        reading.columns(),
        layout=reading.layout("onehot"),
        id_column=reading.id_column,
        id_policy=reading.id_policy,
        notices=reading.notices,
    )


def _read_plain(reading: Reading) -> Draft | None:
    """Return the draft of a one-hot text of bare 0 and 1, or None if it has anything else.

    Such a body is a rectangle of bytes, so that it need not be split into cells.
    """
    data, delimiter, file = reading.data, reading.delimiter, reading.source.name
    end = data.find(b"\n") + 1
    head, body = data[:end], data[end:]
    if not end or not body or head.count(b'"') % 2 or b"\r" in head:
        return None
    fields = split_fields(head, delimiter=delimiter, name=file)
    width = int(fields.width_of_row[0])
    if not body.endswith(b"\n"):
        body += b"\n"
    if width == 0 or len(body) % (2 * width):
        return None
    cells = np.frombuffer(body, dtype=np.uint8).reshape(-1, 2 * width)
    flags, gaps = cells[:, 0::2] ^ ord("0"), cells[:, 1::2]
    if (flags > 1).any() or (gaps[:, -1] != ord("\n")).any() or (gaps[:, :-1] != ord(delimiter)).any():
        return None
    names = fields.row(0)
    check_names(names, file, 1)
    rows, codes = np.nonzero(flags)
    return Draft(
        file=file,
        layout=reading.layout("onehot"),
        values=names,
        row_of_entry=rows.astype(np.int64),
        code_of_entry=codes.astype(np.int32),
        n_rows=len(cells),
        line_of_row=np.arange(2, len(cells) + 2, dtype=np.int64),
        notices=reading.notices,
    )


def draft_of_onehot(
    columns: Columns,
    *,
    layout: Layout,
    id_column: str | None,
    id_policy: str,
    notices: tuple[str, ...] = (),
) -> Draft:
    """Return the draft of a one-hot table; the items are the names of its columns."""
    record_of_row = None
    if id_column is not None:
        record_of_row, told = merged_by_id(columns, id_column, id_policy)
        columns, notices = columns.without([id_column]), (*notices, *told)
    rows, codes = [], []
    problems: list[Problem] = []
    for code, (name, column) in enumerate(columns.by_name.items()):
        meaning = np.array(
            [1 if value in YES else 0 if value in NO else -1 for value in [*column.values, ""]],
            dtype=np.int8,
        )[column.code_of_row]
        there = np.flatnonzero(meaning == 1)
        rows.append(there)
        codes.append(np.full(len(there), code, dtype=np.int32))
        if len(problems) < MAX_PROBLEMS:
            what = f"a cell of column {shorten(name)} that is neither 0 nor 1."
            remedy = "Write 0 or 1 (or true, false)."
            problems += columns.problems_at("bad-cell", what, remedy, np.flatnonzero(meaning < 0))
    return Draft(
        file=columns.file,
        layout=layout,
        values=columns.names,
        row_of_entry=np.concatenate(rows) if rows else np.zeros(0, dtype=np.int64),
        code_of_entry=np.concatenate(codes) if codes else np.zeros(0, dtype=np.int32),
        n_rows=columns.n_rows,
        line_of_row=columns.line_of_row,
        record_of_row=record_of_row,
        notices=notices,
        problems=tuple(by_line(problems)),
    )


def blocks(transactions: Transactions, layout: Layout) -> Iterator[bytes]:
    """Yield a header of the labels in use, and a line of 0 and 1 a record."""
    mark = layout.delimiter
    used = np.flatnonzero(transactions.count_by_item)
    labels = [transactions.vocabulary.labels[item] for item in used.tolist()]
    yield (mark.join(quoted(label, mark) for label in labels) + "\n").encode()
    column_of_item = np.zeros(len(transactions.vocabulary), dtype=np.int64)
    column_of_item[used] = np.arange(len(used))
    step = max(1, BLOCK_BYTES // (2 * len(used)))
    for start in range(0, len(transactions), step):
        bounds = transactions.indptr[start : start + step + 1]
        rows = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        block = np.full((len(bounds) - 1, 2 * len(used)), ord(mark), dtype=np.uint8)
        block[:, 0::2] = ord("0")
        block[:, -1] = ord("\n")
        block[rows, 2 * column_of_item[transactions.items[bounds[0] : bounds[-1]]]] = ord("1")
        yield block.tobytes()


def cannot_hold(transactions: Transactions, _layout: Layout, labels: Sequence[str]) -> str | None:
    """Return why these rows do not fit, or None."""
    if not labels:
        return "a one-hot table needs at least one item"
    if 2 * len(labels) * len(transactions) > LIMIT_BYTES:
        return f"a one-hot table of {len(transactions):,} x {len(labels):,} cells is too large"
    return None


FORMAT = Format(
    "onehot",
    blocks,
    read=read,
    options=frozenset({"delimiter", "header", "id_column", "id_policy"}),
    looks=looks,
    cannot_hold=cannot_hold,
)
