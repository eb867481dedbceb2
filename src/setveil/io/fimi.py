"""FIMI files: one transaction a line, tokens between runs of blanks.

A token is any text without ASCII white space. Comments and the -1/-2 separators of SPMF are refused,
because taken as items they would be in nearly every record.
"""

from __future__ import annotations

import numpy as np

from ..errors import Problem, UsageError
from ..model.layout import Layout
from .draft import Draft
from .source import Source
from .text import MAX_PROBLEMS, lone_returns
from .tokens import number_pieces

BLANKS = b" \t\n\v\f\r"
COMMENT_MARKS = ("#", "%", "@")
SPMF_MARKS = ("-1", "-2")

_IS_BLANK = np.zeros(256, dtype=np.bool_)
_IS_BLANK[list(BLANKS)] = True


def read_fimi(
    data: bytes, source: Source, *, comment: str | None = None, notices: tuple[str, ...] = ()
) -> Draft:
    """Return the draft of a checked UTF-8 text in the FIMI format."""
    name = source.name
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
            problems += [_comment(name, row + 1) for row in rows.tolist()]
    if skipped:
        kept = np.ones(len(line_ends), dtype=np.bool_)
        kept[[line - 1 for line in skipped]] = False
        row_of_entry = (np.cumsum(kept) - 1)[row_of_entry]
        line_of_row = line_of_row[kept]
        notices = (*notices, f"{len(skipped):,} comment lines were left out.")
    if any(mark in pieces.values for mark in SPMF_MARKS):
        codes = [pieces.values.index(mark) for mark in SPMF_MARKS if mark in pieces.values]
        entry = int(np.argmax(np.isin(pieces.code_of_piece, codes)))
        problems.append(_spmf(name, int(line_of_row[row_of_entry[entry]])))
    return Draft(
        file=name,
        layout=Layout("fimi", delimiter=" ", gzip=source.gzip),
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


def _comment(name: str, line: int) -> Problem:
    return Problem(
        "comment-line",
        "looks like a comment.",
        "Remove it, or name the mark (--comment '#').",
        name,
        line,
    )


def _spmf(name: str, line: int) -> Problem:
    return Problem(
        "spmf-separator",
        "-1 or -2 as an item: this looks like SPMF's sequence format, where they end itemsets.",
        "Remove them so that each line holds the items of one record.",
        name,
        line,
    )
