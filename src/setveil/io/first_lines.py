"""On which line of a data file a label is first seen, for messages about the few that are wrong.

Readers keep no line of every item; this looks again for some labels only. What a layout or an option
hides (one-hot columns, ids that were mapped to labels) is not found, and the message does without.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Collection, Iterator

from ..model.layout import Layout
from .source import read_source
from .text import plain_text

_CSV_FORMATS = ("baskets", "long")


def first_lines(
    path: str | os.PathLike[str],
    layout: Layout | None,
    labels: Collection[str],
    *,
    encoding: str = "utf-8",
) -> dict[str, int]:
    """Return the first line of each of these labels that is found as a cell of its own."""
    wanted = set(labels)
    found: dict[str, int] = {}
    if not wanted or layout is None or layout.format not in (*_CSV_FORMATS, "fimi", "jsonl"):
        return found
    data, _ = plain_text(read_source(path), encoding=encoding)
    for line, cells in _cells(data.decode("utf-8"), layout):
        for label in wanted.intersection(cells):
            found[label] = line
            wanted.discard(label)
        if not wanted:
            break
    return found


def _cells(text: str, layout: Layout) -> Iterator[tuple[int, list[str]]]:
    if layout.format in _CSV_FORMATS:
        reader = csv.reader(io.StringIO(text, newline="\n"), delimiter=layout.delimiter)
        line = 1
        for cells in reader:
            yield line, cells
            line = reader.line_num + 1
        return
    for line, row in enumerate(text.split("\n"), start=1):
        if layout.format == "fimi":
            yield line, row.replace("\t", " ").rstrip("\r").split(" ")
        elif row.strip():
            yield line, list(_strings(json.loads(row)))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        yield from (entry for entry in value if isinstance(entry, str))
    elif isinstance(value, dict):
        for below in value.values():
            yield from _strings(below) if not isinstance(below, dict) else ()
