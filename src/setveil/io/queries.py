"""COUNT queries in a file: one a line, its labels as CSV fields.

``beer,nappies`` asks in how many records both are; a label may also be a category. A saved workload can
be edited and read again. Which labels there are is not known here: a query keeps its line, so that
whoever binds it to a hierarchy can name it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..errors import DataError, Problem
from .csv_text import quoted, split_fields
from .files import write_text_file
from .source import read_source
from .text import MAX_PROBLEMS, plain_text


@dataclass(frozen=True)
class QueryFile:
    """Queries as sets of labels, each with its line in the file."""

    name: str
    queries: tuple[tuple[str, ...], ...]
    line_of_query: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.queries)


def read_queries(path: str | os.PathLike[str]) -> QueryFile:
    """Return the queries of a UTF-8 CSV file with commas, or of standard input for ``-``.

    Blank lines are skipped. A label that stands twice in a line counts once.
    """
    source = read_source(path)
    data, _ = plain_text(source)
    fields = split_fields(data, delimiter=",", name=source.name)
    queries: list[tuple[str, ...]] = []
    lines: list[int] = []
    problems: list[Problem] = []
    for row in range(fields.n_rows):
        labels, line = fields.row(row), int(fields.line_of_row[row])
        if "" in labels and len(problems) < MAX_PROBLEMS:
            problems.append(
                Problem(
                    "empty-label",
                    "an empty label (two commas in a row, or one at an end).",
                    "Remove it; a query is labels with commas between them.",
                    source.name,
                    line,
                )
            )
        if labels:
            queries.append(tuple(dict.fromkeys(labels)))
            lines.append(line)
    if problems:
        raise DataError(problems)
    if not queries:
        raise DataError(
            "the file holds no queries.",
            "Give one a line, such as beer,nappies.",
            code="no-queries",
            file=source.name,
        )
    return QueryFile(source.name, tuple(queries), tuple(lines))


def write_queries(
    queries: Iterable[Sequence[str]], path: str | os.PathLike[str], *, force: bool = False
) -> None:
    """Write queries that `read_queries` reads, for their owner only.

    Random queries are drawn from the original records, so the file is as private as those.

    Parameters
    ----------
    queries
        Each a set of labels.
    path
        The file to write.
    force
        Replace a file that is there.
    """
    lines = (",".join(quoted(label, ",") for label in query) + "\n" for query in queries)
    write_text_file(path, "".join(lines), mode=0o600, force=force)
