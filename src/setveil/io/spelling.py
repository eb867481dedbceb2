"""Labels that look alike but are not, or that are not what they look like.

Two spellings of one text would be counted as two items, and a rare spelling would be generalized or
give its owner away. So collisions are errors, oddities are notices (errors if strict), and nothing is
changed unless a normal form is asked for.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

from ..errors import DataError, Problem
from ..model.numbers import counted
from ..model.transactions import Transactions, cleaned
from .source import MAX_PROBLEMS, shorten

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
FORMS: tuple[Form, ...] = ("NFC", "NFD", "NFKC", "NFKD")
_FORMULA = re.compile(r"[=@\t\r]|[+-](?![0-9.,]*\Z)")
_FLOAT = re.compile(r"[0-9]+\.0+\Z")
_SHOWN = 3

LineOf = Callable[[int], int | None]
"""The line where the value with this number is seen first."""


@dataclass(frozen=True)
class Spelling:
    """The labels to use, by the number of the value, with what was found."""

    labels: list[str]
    problems: list[Problem]
    notices: list[str]


def check_spelling(
    values: Sequence[str],
    line_of_value: LineOf,
    *,
    file: str | None,
    normalize: str | None = None,
    strict: bool = False,
    prefixes: Sequence[str] | None = None,
) -> Spelling:
    """Compare all values with each other; return them normalized, with problems and notices.

    `prefixes` are the parts of the values that name a column and are left as they are.
    """
    labels, starts = list(values), prefixes or [""] * len(values)
    notices: list[str] = []
    if normalize is not None:
        labels = [
            start + unicodedata.normalize(cast(Form, normalize), value[len(start) :])
            for start, value in zip(starts, values, strict=True)
        ]
        changed = sum(label != value for label, value in zip(labels, values, strict=True))
        if changed:
            notices.append(f"{changed:,} labels were brought to the normal form {normalize}.")
    bare = [label[len(start) :] for label, start in zip(labels, starts, strict=True)]
    problems: list[Problem] = []
    first_of_cleaned: dict[str, int] = {}
    odd: list[int] = []
    for value, label in enumerate(labels):
        seen = starts[value] + cleaned(bare[value])
        if seen != label and (label.isascii() or seen != unicodedata.normalize("NFC", label)):
            odd.append(value)
        twin = first_of_cleaned.setdefault(seen, value)
        if labels[twin] != label:
            problems.append(_twins(labels, twin, value, line_of_value, file))
    if odd and strict:
        problems += [_odd(labels[value], line_of_value(value), file) for value in odd]
    elif odd:
        notices.append(
            f"{counted(len(odd), 'label')} with blanks at an end or invisible characters, kept as they "
            f"are: {_some([labels[value] for value in odd])}."
        )
    notices += _notices_of_case(labels)
    formulas = sorted({label for label in bare if is_formula(label)})
    if formulas:
        notices.append(
            f"{counted(len(formulas), 'label')} that a spreadsheet would run as a formula: "
            f"{_some(formulas)}. Import the release as text, or use --csv-safe."
        )
    floats = sorted({label for label in labels if _FLOAT.match(label)})
    if floats:
        notices.append(
            f"{counted(len(floats), 'label')} that look like ids turned into decimal numbers: "
            f"{_some(floats)}."
        )
    return Spelling(labels, problems, notices)


def is_formula(label: str) -> bool:
    """Tell whether a spreadsheet would run this text as a formula.

    >>> is_formula("=cmd()"), is_formula("-5"), is_formula("milk")
    (True, False, False)
    """
    return _FORMULA.match(label) is not None


def _twins(
    labels: Sequence[str], first: int, second: int, line_of_value: LineOf, file: str | None
) -> Problem:
    a, b = labels[first], labels[second]
    line_a, line_b = line_of_value(first), line_of_value(second)
    lines = "" if line_a is None else f" (lines {line_a} and {line_b})"
    forms = unicodedata.normalize("NFC", a) == unicodedata.normalize("NFC", b)
    what = f"{a[:40]!a} and {b[:40]!a} are two spellings of the same text{lines}."
    remedy = "Use --normalize NFC." if forms else "Make them one label, or two that can be told apart."
    return Problem("two-spellings", what, remedy, file, line_b)


def _odd(label: str, line: int | None, file: str | None) -> Problem:
    what = f"{label[:40]!a} has blanks at an end or invisible characters."
    return Problem("odd-label", what, "Clean it, or read without --strict.", file, line)


def _notices_of_case(labels: Sequence[str]) -> list[str]:
    first_of_folded: dict[str, str] = {}
    pairs: set[str] = set()
    for label in labels:
        twin = first_of_folded.setdefault(label.casefold(), label)
        if twin != label:
            pairs.add(f"{shorten(twin)} and {shorten(label)}")
    return _told_of_case("labels", sorted(pairs))


def _told_of_case(what: str, pairs: Sequence[str]) -> list[str]:
    if not pairs:
        return []
    shown = ", ".join(pairs[:_SHOWN]) + (", …" if len(pairs) > _SHOWN else "")
    return [f"{what} that differ only in case are kept apart: {shown}."]


def check_spelling_of_pair(
    first: Transactions, second: Transactions, *, table: bool = False
) -> list[str]:
    """Raise `DataError` where two data sets write one text in two ways; return what else is to tell.

    Each may be in order by itself, and every record that holds such a text would look like a
    difference. With `table` labels are ``column=value``, and only values are compared.
    """

    def prefix_of(label: str) -> str:
        return label[: label.index("=") + 1] if table else ""  # a column's name holds no '='

    def seen(label: str) -> str:
        prefix = prefix_of(label)
        return prefix + cleaned(label[len(prefix) :])

    here, there = (set(data.vocabulary.labels) for data in (first, second))
    # What both have was compared with all labels of either when they were read.
    only_here, only_there = sorted(here - there), sorted(there - here)
    twin_of_seen = {seen(label): label for label in only_here}
    problems = [
        _two_spellings(first, twin, second, label, prefix_of(label))
        for label in only_there
        if (twin := twin_of_seen.get(seen(label))) is not None
    ]
    if problems:
        raise DataError(sorted(problems, key=lambda problem: problem.line or 0)[:MAX_PROBLEMS])
    twin_of_folded = {label.casefold(): label for label in only_here}
    pairs = [
        f"{shorten(twin)} and {shorten(label)}"
        for label in only_there
        if (twin := twin_of_folded.get(label.casefold())) is not None
    ]
    return _told_of_case("labels of the two data sets", pairs)


def _two_spellings(
    first: Transactions, one: str, second: Transactions, other: str, prefix: str
) -> Problem:
    """Return the problem that one file with both labels would have, with both places."""
    found = check_spelling((one, other), lambda _: None, file=second.source, prefixes=(prefix, prefix))
    (problem,) = found.problems
    line = first.first_line_of(one)
    place = f"{first.source or 'the first data set'}{'' if line is None else f', line {line}'}"
    what = f"{problem.what.removesuffix('.')} (the first in {place})."
    return replace(problem, what=what, line=second.first_line_of(other))


def _some(labels: Sequence[str]) -> str:
    shown = ", ".join(ascii(label[:40]) for label in labels[:_SHOWN])
    return shown + (", …" if len(labels) > _SHOWN else "")
