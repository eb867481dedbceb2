"""Small files that the user brings or takes away: labels of ids, weights, lines, queries, itemsets."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..errors import DataError, Problem
from .csv_text import Fields, quoted, split_fields
from .folder.staging import write_text_file
from .source import MAX_BYTES, MAX_PROBLEMS, plain_text, read_source, shorten

StrPath = str | os.PathLike[str]
HEADS = frozenset({"id", "code", "item", "item_id", "itemid", "key", "number"})
"""Names of a first column of labels that are no id."""
ITEMSET_HEADER = "support,share,items,itemset"


def read_labels(labels: StrPath | Mapping[str, str], *, max_bytes: int = MAX_BYTES) -> dict[str, str]:
    """Return the label of each id: a mapping as it is, or the first two columns of a CSV file.

    The delimiter is ``;`` if the first line has one, else ``,``. A first line whose first cell is
    named like an id is a header.
    """
    if isinstance(labels, Mapping):
        return dict(labels)
    source = read_source(labels, max_bytes=max_bytes)
    data, _ = plain_text(source)
    delimiter = ";" if b";" in data.split(b"\n", 1)[0] else ","
    rows = _rows(split_fields(data, delimiter=delimiter, name=source.name))
    if rows and rows[0][1] and rows[0][1][0].casefold() in HEADS:
        rows = rows[1:]
    if not rows:
        raise DataError(
            "contains no labels.", "Give lines of id and label.", code="no-records", file=source.name
        )
    label_of_id: dict[str, str] = {}
    problems: list[Problem] = []
    for line, row in rows:
        fault = None
        if len(row) < 2:
            fault = ("ragged-row", "expected an id and a label.", "Name both, with ';' or ',' between.")
        elif not row[0] or not row[1]:
            fault = ("empty-label", "an empty id or label.", "Fill it in, or remove the line.")
        elif label_of_id.setdefault(row[0], row[1]) != row[1]:
            fault = ("two-labels", f"a second label for the id {shorten(row[0])}.", "Keep one.")
        if fault is not None and len(problems) < MAX_PROBLEMS:
            problems.append(Problem(*fault, source.name, line))
    if problems:
        raise DataError(problems)
    return label_of_id


def read_lines(path: str) -> list[str]:
    """Return the lines of a UTF-8 file, without their ends; blank lines are skipped."""
    data, _ = plain_text(read_source(path))
    return [line.removesuffix("\r") for line in data.decode().split("\n") if line.strip()]


def read_weights(path: str) -> dict[str, Fraction]:
    """Return the weight of each item from ``item,weight`` lines, with or without a header."""
    weights: dict[str, Fraction] = {}
    source = read_source(path)
    rows = _rows(split_fields(plain_text(source)[0], delimiter=",", name=source.name))
    if rows and [cell.lower() for cell in rows[0][1][1:]] == ["weight"]:
        rows = rows[1:]
    for line, row in rows:
        if not row:
            continue
        fault = None
        if len(row) != 2 or not row[0] or not re.fullmatch(r"[0-9]+(\.[0-9]+)?", row[1]):
            what = "a line of weights is an item and a number, such as milk,2.5."
            fault = Problem("bad-weight", what, "Correct the line.", path, line)
        elif row[0] in weights:
            fault = Problem("two-weights", "an item has two weights.", "Keep one.", path, line)
        if fault is not None:
            raise DataError([fault])
        weights[row[0]] = Fraction(row[1])
    if not weights:
        raise DataError("the file holds no weights.", "Give item,weight lines.", file=path)
    return weights


@dataclass(frozen=True)
class QueryFile:
    """COUNT queries as sets of labels, each with its line in the file.

    ``beer,nappies`` asks in how many records both are; a label may also be a category. Which labels
    there are is not known here, so that whoever binds a query to a hierarchy can name its line.

    >>> import setveil as sv
    >>> from pathlib import Path
    >>> _ = Path("queries.csv").write_text("ale\\nale,milk\\n")
    >>> len(read_queries("queries.csv").queries)
    2
    """

    name: str
    queries: tuple[tuple[str, ...], ...]
    line_of_query: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.queries)


def read_queries(path: StrPath) -> QueryFile:
    """Return the queries of a UTF-8 CSV file with commas, or of standard input for ``-``.

    Blank lines are skipped. A label that stands twice in a line counts once.
    """
    source = read_source(path)
    data, _ = plain_text(source)
    fields = split_fields(data, delimiter=",", name=source.name)
    rows = _rows(fields)
    problems = fields.problems_at(
        "empty-label",
        "an empty label (two commas in a row, or one at an end).",
        "Remove it; a query is labels with commas between them.",
        np.array([place for place, (_, row) in enumerate(rows) if "" in row], dtype=np.int64),
    )
    if problems:
        raise DataError(problems)
    filled = [(line, tuple(dict.fromkeys(row))) for line, row in rows if row]
    if not filled:
        what, remedy = "the file holds no queries.", "Give one a line, such as beer,nappies."
        raise DataError(what, remedy, code="no-queries", file=source.name)
    lines, queries = zip(*filled, strict=True)
    return QueryFile(source.name, queries, lines)


def write_queries(queries: Iterable[Sequence[str]], path: StrPath, *, force: bool = False) -> None:
    """Write queries that `read_queries` reads, for their owner only.

    Random queries are drawn from the original records, so the file is as private as those."""
    lines = (",".join(quoted(label, ",") for label in query) + "\n" for query in queries)
    write_text_file(path, "".join(lines), mode=0o600, force=force)


def itemsets_as_csv(sets: Iterable[tuple[tuple[str, ...], int]], n_records: int) -> str:
    """Return a line for each set and its support; its labels are in one cell, itself a line of CSV.

    >>> print(itemsets_as_csv([(("ale",), 3), (("ale", "bun"), 2)], 4), end="")
    support,share,items,itemset
    3,0.75,1,ale
    2,0.5,2,"ale,bun"
    """
    lines = [ITEMSET_HEADER]
    for labels, support in sets:
        cell = ",".join(quoted(label, ",") for label in labels)
        lines.append(f"{support},{support / n_records:.9g},{len(labels)},{quoted(cell, ',')}")
    return "\n".join(lines) + "\n"


def _rows(fields: Fields) -> list[tuple[int, list[str]]]:
    """Return the line and the cells of each row."""
    return list(zip(fields.line_of_row.tolist(), map(fields.row, range(fields.n_rows)), strict=True))
