"""Negative rules in and out of files: rules.csv, a table that looks like the data it is about.

The format, for people who write it and for programs that read it:

- A CSV file in UTF-8 with a header. The last column of the header is the sensitive one; the others are
  quasi-identifying columns, each named once. Two columns at least.
- Every further line is one rule. The cells are its conditions: a value of that column, a category of
  its hierarchy, or an interval of numbers such as ``[20, 30)``. An empty cell is no condition; one
  cell at least is filled. The last cell, never empty, is the value that whoever meets all conditions
  does not have.
- So a rule has at most one condition a column, and a column's name or a label may hold any character
  but NUL and U+FEFF. Nothing is trimmed.

::

    sex,age,disease
    M,,ovarian cancer
    F,"[0, 10)",prostate cancer

As written here, and so in a release, the bytes are canonical: commas; line ends LF; a field in quotes,
with inner quotes doubled, only where it holds a comma, a quote, CR or LF or has a blank or tab at an
end, an empty field never; all quasi-identifying columns of the table in its order; each rule once,
sorted by its cells from left to right by code points. No rules make a file of the header alone. A file
written by hand may have any order, CRLF, and ``;``, tab or ``|`` between fields, told by its header.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from ..errors import DataError, Problem, UsageError
from ..model.microdata import Microdata
from ..model.rules import NegativeRule, tuples_meeting
from ..model.transactions import label_fault
from .columns import check_names
from .csv_text import Fields, guess_table_delimiter, quoted, ragged_problems, split_fields
from .folder.staging import write_text_file
from .source import MAX_BYTES, MAX_PROBLEMS, plain_text, read_source, shorten

TOLD = 5
"""How many rules that do nothing are told one by one."""


def read_rules(
    path: str | os.PathLike[str],
    *,
    quasi: Sequence[str] | None = None,
    sensitive: str | None = None,
    encoding: str = "utf-8",
    max_bytes: int = MAX_BYTES,
) -> tuple[NegativeRule, ...]:
    """Return the rules of a file, each once, in its order.

    They may be about the `quasi` columns alone, and the last column must be the `sensitive` one.
    """
    source = read_source(path, max_bytes=max_bytes)
    data, _ = plain_text(source, encoding=encoding)
    fields = split_fields(data, delimiter=guess_table_delimiter(data), name=source.name)
    if fields.n_rows == 0:
        what = "holds no rules, not even a header."
        remedy = "Begin with the names of columns, the sensitive one last."
        raise DataError(what, remedy, code="no-records", file=source.name)
    names = fields.row(0)
    line = int(fields.line_of_row[0])
    check_names(names, source.name, line)
    _check_header(names, quasi, sensitive, source.name, line)
    fields = fields.without_first_row()
    problems = ragged_problems(fields, len(names)) or _problems(fields, source.name)
    if problems:
        raise DataError(problems[:MAX_PROBLEMS])
    rules: dict[NegativeRule, None] = {}
    for row in range(fields.n_rows):
        *cells, value = fields.row(row)
        conditions = tuple((n, cell) for n, cell in zip(names[:-1], cells, strict=True) if cell)
        rules.setdefault(NegativeRule(conditions, value))
    return tuple(rules)


def _check_header(
    names: Sequence[str],
    quasi: Sequence[str] | None,
    sensitive: str | None,
    file: str,
    line: int,
) -> None:
    if len(names) < 2:
        what = "rules need two columns at least: conditions, and the sensitive value last."
        remedy = "Name them in the first line, for example sex,disease."
        raise DataError(what, remedy, code="rules-header", file=file, line=line)
    if sensitive is not None and names[-1] != sensitive:
        what = f"the last column of the rules is {shorten(names[-1])}, not {shorten(sensitive)}."
        remedy = "Put the sensitive column last."
        raise UsageError(what, remedy, code="rules-header", file=file, line=line)
    for name in names[:-1]:
        if quasi is not None and name not in quasi:
            known = ", ".join(shorten(other) for other in quasi[:30])
            what = f"the rules name the column {shorten(name)}, which is not quasi-identifying."
            remedy = f"Quasi-identifying: {known}."
            raise UsageError(what, remedy, code="rules-header", file=file, line=line)


def _problems(fields: Fields, file: str) -> list[Problem]:
    """Return what is wrong with rules whose lines have the right width."""
    problems: list[Problem] = []
    for row in range(fields.n_rows):
        *cells, value = fields.row(row)
        line = int(fields.line_of_row[row])
        if not value:
            what = "a rule without a sensitive value."
            remedy = "Say in the last column what is ruled out."
            problems.append(Problem("rule-without-value", what, remedy, file, line))
        elif not any(cells):
            what = "a rule without a condition: nobody would have the value."
            problems.append(Problem("rule-without-condition", what, "Name a condition.", file, line))
    return problems


def rule_lines(
    rules: Iterable[NegativeRule], *, attributes: Sequence[str], sensitive: str
) -> Iterator[str]:
    """Yield the lines of rules.csv: the header, then each rule once, sorted.

    `attributes` are all quasi-identifying columns of the table, in its order.

    >>> rule = NegativeRule((("sex", "M"),), "ovarian cancer")
    >>> list(rule_lines([rule], attributes=["sex", "age"], sensitive="disease"))
    ['sex,age,disease\\n', 'M,,ovarian cancer\\n']
    """
    lines = {_cells(rule, attributes) for rule in rules}
    for cells in ((*attributes, sensitive), *sorted(lines)):
        yield ",".join(quoted(cell, ",") if cell else "" for cell in cells) + "\n"


def _cells(rule: NegativeRule, attributes: Sequence[str]) -> tuple[str, ...]:
    condition = dict(rule.conditions)
    if len(condition) < len(rule.conditions) or not condition or set(condition) - set(attributes):
        what = "a rule to be written needs conditions, one a column, on known columns."
        remedy = f"Known: {', '.join(shorten(name) for name in attributes[:30])}."
        raise UsageError(what, remedy, code="rule-not-writable")
    for cell in (*condition.values(), rule.value):
        fault = ("empty-label", "it is empty.") if not cell else label_fault(cell)
        if fault is not None:
            raise UsageError(f"a label of a rule cannot be written: {fault[1]}", code=fault[0])
    return (*(condition.get(name, "") for name in attributes), rule.value)


def write_rules(
    rules: Iterable[NegativeRule],
    path: str | os.PathLike[str],
    *,
    attributes: Sequence[str],
    sensitive: str,
    force: bool = False,
) -> None:
    """Write rules for the holder of the data alone (mode 0600); see `rule_lines`."""
    text = "".join(rule_lines(rules, attributes=attributes, sensitive=sensitive))
    write_text_file(path, text, mode=0o600, force=force)


def told_of_rules(rules: Iterable[NegativeRule], data: Microdata) -> tuple[str, ...]:
    """Tell of rules that rule nothing out: nobody meets a condition, or nobody has the value."""
    values = set(data.values)
    told: list[str] = []
    for rule in rules:
        reason = "nobody has that value" if rule.value not in values else ""
        if not tuples_meeting(data, rule).any():
            reason = "nobody meets its conditions"
        if reason:
            told.append(f"the rule {shorten(str(rule), 100)} does nothing: {reason}. Is it misspelt?")
    if len(told) > TOLD:
        told[TOLD:] = [f"{len(told) - TOLD:,} more rules do nothing."]
    return tuple(told)
