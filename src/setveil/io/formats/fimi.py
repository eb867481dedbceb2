"""FIMI files: one transaction a line, tokens between runs of blanks.

A token is any text without ASCII white space. Comments and the -1/-2 separators of SPMF are refused,
because taken as items they would be in nearly every record.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...errors import Problem, UsageError
from ...model.layout import Layout
from ...model.transactions import Transactions
from ..arrays import number_pieces
from ..columns import Draft
from ..sniff import Head
from ..text import MAX_PROBLEMS, lone_returns, shorten
from .base import Format, Reading, joined_lines

BLANKS = b" \t\n\v\f\r"
COMMENT_MARKS = ("#", "%", "@")
SPMF_MARKS = ("-1", "-2")

_IS_BLANK = np.zeros(256, dtype=np.bool_)
_IS_BLANK[list(BLANKS)] = True


def looks(head: Head) -> bool:
    """Tell FIMI by its suffix, or by blanks where there is no delimiter and no suffix of CSV."""
    if head.given is not None:
        return False
    parted = head.found is None and any(len(line.split()) > 1 for line in head.text.split("\n"))
    return head.suffix in (".dat", ".fimi") or (parted and head.suffix not in (".csv", ".tsv"))


def read(reading: Reading) -> Draft:
    """Return the draft of a text of tokens."""
    data, name, notices, comment = reading.data, reading.source.name, reading.notices, reading.comment
    problems = lone_returns(data, name)
    skipped: set[int] = set()
    if comment is not None:
        data, skipped = _without_comments(data, comment)
    if data and not data.endswith(b"\n"):
        data += b"\n"
    byte = np.frombuffer(data, dtype=np.uint8)
    is_blank = _IS_BLANK[byte]
    edge = np.flatnonzero(np.diff(is_blank, prepend=True))
    starts, ends = edge[0::2], edge[1::2]
    pieces = number_pieces(byte[~is_blank], ends - starts)
    line_ends = np.flatnonzero(byte == 0x0A)
    row_of_entry = np.searchsorted(line_ends, starts)
    first_of_line = np.ones(len(starts), dtype=np.bool_)
    first_of_line[1:] = row_of_entry[1:] != row_of_entry[:-1]
    line_of_row = np.arange(1, len(line_ends) + 1, dtype=np.int64)
    if comment is None:
        marked = np.array([value.startswith(COMMENT_MARKS) for value in pieces.values], dtype=np.bool_)
        if marked.any():
            rows = row_of_entry[first_of_line & marked[pieces.code_of_piece]][:MAX_PROBLEMS]
            remedy = "Remove it, or name the mark (--comment '#')."
            problems += [
                Problem("comment-line", "looks like a comment.", remedy, name, row + 1)
                for row in rows.tolist()
            ]
    if skipped:
        kept = np.ones(len(line_ends), dtype=np.bool_)
        kept[[line - 1 for line in skipped]] = False
        row_of_entry = (np.cumsum(kept) - 1)[row_of_entry]
        line_of_row = line_of_row[kept]
        notices = (*notices, f"{len(skipped):,} comment lines were left out.")
    if any(mark in pieces.values for mark in SPMF_MARKS):
        codes = [pieces.values.index(mark) for mark in SPMF_MARKS if mark in pieces.values]
        entry = int(np.argmax(np.isin(pieces.code_of_piece, codes)))
        what = "-1 or -2 as an item: this looks like SPMF's sequence format, where they end itemsets."
        remedy = "Remove them so that each line holds the items of one record."
        line = int(line_of_row[row_of_entry[entry]])
        problems.append(Problem("spmf-separator", what, remedy, name, line))
    return Draft(
        file=name,
        layout=Layout("fimi", delimiter=" ", gzip=reading.source.gzip),
        values=pieces.values,
        row_of_entry=row_of_entry.astype(np.int64),
        code_of_entry=pieces.code_of_piece,
        n_rows=len(line_of_row),
        line_of_row=line_of_row,
        blank_rows=True,
        notices=notices,
        problems=tuple(problems),
    )


def _without_comments(data: bytes, comment: str) -> tuple[bytes, set[int]]:
    """Blank out lines that begin with the mark, keeping the count of lines."""
    mark = comment.encode()
    if not mark or any(byte in BLANKS for byte in mark):
        raise UsageError("the comment mark is empty or blank.", "Give one such as '#'.")
    lines = data.split(b"\n")
    skipped = {number for number, line in enumerate(lines, start=1) if line.lstrip().startswith(mark)}
    return b"\n".join(b"" if n in skipped else line for n, line in enumerate(lines, start=1)), skipped


def blocks(transactions: Transactions, _layout: Layout) -> Iterator[bytes]:
    """Return a line a record."""
    return joined_lines(transactions, transactions.vocabulary.labels, " ")


def cannot_hold(_transactions: Transactions, _layout: Layout, labels: Sequence[str]) -> str | None:
    """Return which label is no token, or None."""
    blanks = BLANKS.decode()
    for label in labels:
        if any(mark in label for mark in blanks):
            return f"FIMI parts items by blanks, and the label {shorten(label)} holds one"
        if label.startswith(COMMENT_MARKS) or label in SPMF_MARKS:
            return f"readers of FIMI take {shorten(label)} for a mark of the format, not for an item"
    return None


FORMAT = Format(
    "fimi",
    blocks,
    suffix=".dat",
    read=read,
    options=frozenset({"counts", "comment"}),
    looks=looks,
    cannot_hold=cannot_hold,
    holds_empty=False,
)
