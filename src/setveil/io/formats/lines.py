"""Formats of one record a line: its items as CSV fields, or as tokens between blanks (FIMI).

Read as baskets, a table without `--set` or a log without `--id` would be published with the ids of
persons as items. So where the format was guessed, columns that mean different things are refused. In a
FIMI file a token is any text without ASCII white space. Comments and the -1/-2 separators of SPMF are
refused, because taken as items they would be in nearly every record.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from ...distinct import distinct
from ...errors import DataError, Problem, UsageError
from ...model.layout import Layout
from ...model.transactions import Transactions
from ..column_look import FEW_ROWS, NEARLY_ALL
from ..columns import Draft
from ..csv_text import DELIMITERS, Fields, Head, number_pieces, quoted
from ..source import MAX_PROBLEMS, lone_returns, shorten
from .base import Format, Reading, joined_lines

LEAST_LINES = 20
"""Shorter files are too short to tell a table by."""
LEAST_REPEATING_SHARE = 0.1
"""Items are in a basket once; cells of a row may well be equal."""
_NAME = re.compile(r"[^\W\d][\w .\-/()#]{0,39}")
BLANKS = b" \t\n\v\f\r"
COMMENT_MARKS = ("#", "%", "@")
SPMF_MARKS = ("-1", "-2")

_IS_BLANK = np.zeros(256, dtype=np.bool_)
_IS_BLANK[list(BLANKS)] = True


class Baskets(Format):
    """Basket lines: the items of a record with a delimiter between them."""

    key = "baskets"
    options = frozenset({"delimiter", "header", "counts"})
    holds_empty = False

    def read(self, reading: Reading) -> Draft:
        fields, file = reading.fields(), reading.source.name
        if reading.header and fields.n_rows:
            fields = fields.without_first_row()
        if reading.asked["layout"] is None:
            _refuse_table(fields, file=file, header=reading.header, counts=reading.asked["counts"])
        row_of_entry = np.repeat(np.arange(fields.n_rows, dtype=np.int64), fields.width_of_row)
        empty = fields.code_of_field == (fields.values.index("") if "" in fields.values else -1)
        problems = fields.problems_at(
            "empty-item",
            "an empty item (two delimiters in a row, or one at an end).",
            "Remove it, or name the right delimiter (--delimiter).",
            np.unique(row_of_entry[empty]),
        )
        told = (*_told_of_lone_items(fields, reading.delimiter), *_told_of_ids(fields))
        return Draft(
            file=file,
            layout=reading.layout("baskets"),
            values=fields.values,
            row_of_entry=row_of_entry[~empty],
            code_of_entry=fields.code_of_field[~empty],
            n_rows=fields.n_rows,
            line_of_row=fields.line_of_row,
            blank_rows=not problems,
            notices=(*reading.notices, *told),
            problems=tuple(problems),
        )

    def blocks(self, transactions: Transactions, layout: Layout) -> Iterator[bytes]:
        fields = [quoted(label, layout.delimiter) for label in transactions.vocabulary.labels]
        return joined_lines(transactions, fields, layout.delimiter)


def _refuse_table(fields: Fields, *, file: str, header: bool, counts: bool) -> None:
    """Raise `DataError` where lines of one width have columns of their own."""
    widths = fields.width_of_row
    widths = widths[widths > 0]
    if len(widths) < LEAST_LINES or widths[0] < 2 or (widths != widths[0]).any():
        return
    width = int(widths[0])
    table = fields.code_of_field.reshape(-1, width)
    named = not header and _first_row_is_names(fields, table)
    reason = _difference(fields, table[1:] if named else table, counts=counts)
    if reason is None and not named:
        return
    if named:
        names = "the first line looks like names of columns"
        reason = names if reason is None else f"{reason}, and {names}"
    raise DataError(
        f"every line has {width} fields and {reason}: this looks like a table or a log, not baskets.",
        "Give --id and --item (one item a line), --set COLUMN (a table with a set), or "
        "--layout baskets if each line really is a set of items. A table with one secret column is for "
        "`setveil anonymize --quasi COLUMNS --sensitive COLUMN`.",
        code="looks-like-a-table",
        file=file,
    )


def _difference(fields: Fields, table: np.ndarray, *, counts: bool) -> str | None:
    """Return in what the columns differ from places in a basket, or None."""
    seen = np.zeros(len(fields.values), dtype=np.int64)
    for column in table.T:
        seen[distinct(column)] += 1
    if "" in fields.values:
        seen[fields.values.index("")] = 0
    if seen.max(initial=0) < 2:
        return "no value occurs in two columns"
    ordered = np.sort(table, axis=1)
    repeating = int((ordered[:, 1:] == ordered[:, :-1]).any(axis=1).sum())
    if not counts and repeating >= LEAST_REPEATING_SHARE * len(table):
        return f"{repeating:,} of {len(table):,} lines hold a value twice"
    return None


def _first_row_is_names(fields: Fields, table: np.ndarray) -> bool:
    """Tell whether the first row is made of words that occur nowhere else."""
    names = [fields.values[code].strip() for code in table[0].tolist()]
    if len(set(names)) < len(names) or not all(_NAME.fullmatch(name) for name in names):
        return False
    return not np.isin(table[0], table[1:]).any()


def _told_of_lone_items(fields: Fields, delimiter: str) -> tuple[str, ...]:
    """Tell where no row has two items but another delimiter would part most of them."""
    if not fields.n_rows or int(fields.width_of_row.max()) > 1:
        return ()
    rows_of_value = np.bincount(fields.code_of_field, minlength=len(fields.values)).tolist()
    for mark in DELIMITERS:
        parted = sum(
            n_rows for n_rows, value in zip(rows_of_value, fields.values, strict=True) if mark in value
        )
        if mark != delimiter and 2 * parted > fields.n_rows:
            return (f"every record holds one item; did you mean --delimiter {mark!r}?",)
    return ()


def _told_of_ids(fields: Fields) -> tuple[str, ...]:
    """Tell where the first item of nearly every row is nowhere else, as the others are not."""
    widths = fields.width_of_row
    starts = (np.cumsum(widths) - widths)[widths > 0]
    count_of_value = np.bincount(fields.code_of_field, minlength=len(fields.values))
    lone = count_of_value[fields.code_of_field] == 1
    lone_first = int(lone[starts].sum())
    lone_behind, behind = int(lone.sum()) - lone_first, len(lone) - len(starts)
    part, of = NEARLY_ALL
    if len(starts) <= FEW_ROWS or lone_first * of <= len(starts) * part or 2 * lone_behind >= behind:
        return ()
    return (
        "the first item of nearly every record occurs nowhere else, as a name or an id does: leave it "
        "out of the file if it is one.",
    )


class Fimi(Format):
    """Tokens between runs of blanks, as the repository of FIMI has them."""

    key = "fimi"
    suffix = ".dat"
    options = frozenset({"counts", "comment"})
    holds_empty = False

    def looks(self, head: Head) -> bool:
        if head.asked["delimiter"] is not None:
            return False
        parted = head.found is None and any(len(line.split()) > 1 for line in head.text.split("\n"))
        return head.suffix in (".dat", ".fimi") or (parted and head.suffix not in (".csv", ".tsv"))

    def read(self, reading: Reading) -> Draft:
        data, name, notices, comment = (
            reading.data,
            reading.source.name,
            reading.notices,
            reading.asked["comment"],
        )
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
            marked = np.array(
                [value.startswith(COMMENT_MARKS) for value in pieces.values], dtype=np.bool_
            )
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
            what = (
                "-1 or -2 as an item: this looks like SPMF's sequence format, where they end itemsets."
            )
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

    def blocks(self, transactions: Transactions, _layout: Layout) -> Iterator[bytes]:
        return joined_lines(transactions, transactions.vocabulary.labels, " ")

    def cannot_hold(
        self, _transactions: Transactions, _layout: Layout, labels: Sequence[str]
    ) -> str | None:
        blanks = BLANKS.decode()
        for label in labels:
            if any(mark in label for mark in blanks):
                return f"FIMI parts items by blanks, and the label {shorten(label)} holds one"
            if label.startswith(COMMENT_MARKS) or label in SPMF_MARKS:
                return (
                    f"readers of FIMI take {shorten(label)} for a mark of the format, not for an item"
                )
        return None


def _without_comments(data: bytes, comment: str) -> tuple[bytes, set[int]]:
    """Blank out lines that begin with the mark, keeping the count of lines."""
    mark = comment.encode()
    if not mark or any(byte in BLANKS for byte in mark):
        raise UsageError("the comment mark is empty or blank.", "Give one such as '#'.")
    lines = data.split(b"\n")
    skipped = {number for number, line in enumerate(lines, start=1) if line.lstrip().startswith(mark)}
    return b"\n".join(b"" if n in skipped else line for n, line in enumerate(lines, start=1)), skipped
