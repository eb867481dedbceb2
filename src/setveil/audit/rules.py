"""The published rules: a table like the data, a rule a line; an empty cell is no condition."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .conditions import Rule
from .spelling import decode, parse_csv, refuse

NAME = "rules.csv"


def read_rules(content: bytes, columns: Sequence[str], sensitive: str) -> tuple[Rule, ...]:
    """Return the rules, or raise `DataError` naming the line.

    Parameters
    ----------
    content
        The bytes of ``rules.csv``.
    columns
        The quasi-identifying columns, which conditions are about.
    sensitive
        The column whose values are ruled out, the last one.
    """
    rows, lines = parse_csv(decode(content, NAME), ",", NAME)
    if not rows or rows[0] != [*columns, sensitive]:
        raise refuse("the header does not name the columns.", NAME, 1, code="header")
    for row, line in zip(rows[1:], lines[1:], strict=True):
        if len(row) != len(rows[0]):
            what = f"{len(row)} cells where {len(rows[0])} belong."
            raise refuse(what, NAME, line, code="ragged-row")
        if not row[-1] or not any(row[:-1]):
            raise refuse("a rule without a condition or a value.", NAME, line, code="published-rules")
    for (before, after), line in zip(pairwise(rows[1:]), lines[2:], strict=True):
        if before >= after:
            raise refuse("the rules are not sorted, each once.", NAME, line, code="row-order")
    return tuple(
        (tuple((name, cell) for name, cell in zip(columns, row[:-1], strict=True) if cell), row[-1])
        for row in rows[1:]
    )
