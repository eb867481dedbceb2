"""Two spellings of one text, one in each of two data sets.

A single file's labels are compared with each other when it is read. Of two files each may be in order
and yet write the same text differently: every record that holds it would then look like a difference.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..errors import DataError, Problem
from ..model.transactions import Transactions
from ..model.vocabulary import cleaned
from .spelling import check_spelling
from .text import MAX_PROBLEMS, shorten

SHOWN = 3


def check_spelling_of_pair(
    first: Transactions, second: Transactions, *, table: bool = False
) -> tuple[str, ...]:
    """Raise `DataError` where the two write one text in two ways; return what else there is to tell.

    With `table` labels are ``column=value``, and only values are compared.
    """
    here, there = (set(data.vocabulary.labels) for data in (first, second))
    # What both have was compared with all labels of either when they were read.
    only_here, only_there = sorted(here - there), sorted(there - here)
    twin_of_seen = {_seen(label, _prefix(label, table)): label for label in only_here}
    problems = []
    for label in only_there:
        prefix = _prefix(label, table)
        twin = twin_of_seen.get(_seen(label, prefix))
        if twin is not None:
            problems.append(_two_spellings(first, twin, second, label, prefix))
    if problems:
        problems.sort(key=lambda problem: problem.line or 0)
        raise DataError(problems[:MAX_PROBLEMS])
    return _told_of_case(only_here, only_there)


def _prefix(label: str, table: bool) -> str:
    """Return what of a label names its column; such a name holds no '='."""
    return label[: label.index("=") + 1] if table else ""


def _seen(label: str, prefix: str) -> str:
    return prefix + cleaned(label[len(prefix) :])


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


def _told_of_case(only_here: Iterable[str], only_there: Iterable[str]) -> tuple[str, ...]:
    twin_of_folded = {label.casefold(): label for label in only_here}
    pairs = [
        f"{shorten(twin)} and {shorten(label)}"
        for label in only_there
        if (twin := twin_of_folded.get(label.casefold())) is not None
    ]
    if not pairs:
        return ()
    shown = ", ".join(pairs[:SHOWN]) + (", …" if len(pairs) > SHOWN else "")
    return (f"labels of the two data sets that differ only in case are kept apart: {shown}.",)
