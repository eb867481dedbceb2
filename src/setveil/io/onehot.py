"""One-hot tables: a column for each item, a row for each record, cells that say yes or no."""

from __future__ import annotations

import numpy as np

from ..errors import Problem
from ..model.layout import Layout
from .columns import Columns, check_names, merged_by_id
from .csv_text import split_fields
from .draft import Draft
from .source import Source
from .text import MAX_PROBLEMS, shorten

YES = frozenset({"1", "true", "True", "TRUE"})
NO = frozenset({"0", "false", "False", "FALSE"})


def read_plain_onehot(
    data: bytes, source: Source, *, delimiter: str, notices: tuple[str, ...] = ()
) -> Draft | None:
    """Return the draft of a one-hot text of bare 0 and 1, or None if it has anything else.

    Such a body is a rectangle of bytes, so that it need not be split into cells.
    """
    end = data.find(b"\n") + 1
    head, body = data[:end], data[end:]
    if not end or not body or head.count(b'"') % 2 or b"\r" in head:
        return None
    fields = split_fields(head, delimiter=delimiter, name=source.name)
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
    check_names(names, source.name, 1)
    rows, codes = np.nonzero(flags)
    return Draft(
        file=source.name,
        layout=Layout("onehot", delimiter=delimiter, gzip=source.gzip),
        values=names,
        row_of_entry=rows.astype(np.int64),
        code_of_entry=codes.astype(np.int32),
        n_rows=len(cells),
        line_of_row=np.arange(2, len(cells) + 2, dtype=np.int64),
        notices=notices,
    )


def read_onehot(
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
            problems += [
                Problem("bad-cell", f"a cell of column {shorten(name)} that is neither 0 nor 1.",
                        "Write 0 or 1 (or true, false).", columns.file, columns.line(row))
                for row in np.flatnonzero(meaning < 0)[:MAX_PROBLEMS].tolist()
            ]  # fmt: skip
    problems.sort(key=lambda problem: problem.line or 0)
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
        problems=tuple(problems),
    )
