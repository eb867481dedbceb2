"""The file of labels: which text stands for which id (``--labels items.csv``)."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ..errors import DataError, Problem
from .csv_text import split_fields
from .source import MAX_BYTES, read_source
from .text import MAX_PROBLEMS, plain_text, shorten

HEADS = frozenset({"id", "code", "item", "item_id", "itemid", "key", "number"})


def read_labels(
    labels: str | os.PathLike[str] | Mapping[str, str],
    *,
    encoding: str = "utf-8",
    delimiter: str | None = None,
    max_bytes: int = MAX_BYTES,
) -> dict[str, str]:
    """Return the label of each id: a mapping as it is, or the first two columns of a CSV file.

    The delimiter is ``;`` if the first line has one, else ``,``. A first line whose first cell is
    named like an id is a header.
    """
    if isinstance(labels, Mapping):
        return dict(labels)
    source = read_source(labels, max_bytes=max_bytes)
    data, _ = plain_text(source, encoding=encoding)
    if delimiter is None:
        delimiter = ";" if b";" in data.split(b"\n", 1)[0] else ","
    fields = split_fields(data, delimiter=delimiter, name=source.name)
    rows = [(int(fields.line_of_row[row]), fields.row(row)) for row in range(fields.n_rows)]
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
