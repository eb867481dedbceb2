"""Why a row of a table stands in its bucket: whose values it shares, and which of them it may have.

The question is a row or rows, by what they show or by their place in the published table. The answer is
counted from the bucket alone: a value is possible for a person if the published rules allow it and the
others of the bucket can then share the other values (`release.possible`). Where it is not, a rule
forbids it, or every way that gives it to this person leaves somebody else with none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from ..model.guarantees import BucketGuarantee
from ..model.layout import NO_VALUE
from ..model.microdata import Microdata
from ..model.numbers import counted
from ..model.rules import NegativeRule, leaves_meeting, tuples_meeting
from ..plain import Plain
from ..progress import Watch
from ..release.buckets import BucketRelease, BucketTables
from ..release.possible import SharedBucket, classify
from . import Answer, Question

NOBODY_ELSE = "every way that gives it to this person leaves somebody else with none"


@dataclass(frozen=True)
class SharedValue(Plain):
    """A value of a bucket: in how many of its records it is, and whether a person of it may have it.

    `ruled_out_by` are the rules that forbid it; where it is not possible and none does, no way to hand
    out the values of the bucket gives it to this person. An empty cell (`NO_VALUE`) is no value.
    """

    value: str
    records: int
    possible: bool
    ruled_out_by: tuple[str, ...] = ()

    def __str__(self) -> str:
        name = f"{self.value}: {counted(self.records, 'record')}"
        if self.value == NO_VALUE:
            return f"{name}; counts as no value"
        if self.possible:
            return f"{name}; possible"
        if not self.ruled_out_by:
            return f"{name}; not possible: {NOBODY_ELSE}"
        more = len(self.ruled_out_by) - 1
        others = f" (and {counted(more, 'more rule')})" if more else ""
        return f"{name}; not possible: {self.ruled_out_by[0]}{others}"


@dataclass(frozen=True)
class Neighbours(Plain):
    """A row of the published table, and the bucket that it shares.

    `row` counts from 1, `shown` is what the table shows of it, `value` what it hides. `possible` is how
    many values this person may have. Of the bucket's records `with_value` have a sensitive value, and
    `most_frequent` is in `most_records` of them.
    """

    row: int
    shown: Mapping[str, str]
    value: str
    bucket: int
    size: int
    values: tuple[SharedValue, ...]
    possible: int
    with_value: int
    most_frequent: str | None
    most_records: int

    def lines(self, guarantee: BucketGuarantee) -> Iterator[str]:
        shown = ", ".join(f"{name}={cell}" for name, cell in self.shown.items())
        yield f"row {self.row:,}, {shown}: in bucket {self.bucket:,} of {counted(self.size, 'record')}"
        yield f"  its own value, which the release hides: {self.value}"
        yield from (f"  {value}" for value in self.values)
        others = sum(not each.possible and each.value != NO_VALUE for each in self.values)
        left = f"  {counted(self.possible, 'value is', 'values are')} possible for this person"
        yield left + (f", {others:,} less than without rules" if others else "")
        if not guarantee.takes_rules and self.most_frequent is not None:
            yield f"  {self.share(guarantee.l)}"

    def share(self, l: int) -> str:  # noqa: E741
        """Return how frequent the most frequent value is, against one in l."""
        spare = self.with_value - l * self.most_records
        told = (
            f"{self.most_frequent}, the most frequent, is in {self.most_records:,} of "
            f"{counted(self.with_value, 'record')}; at most 1 in {l} may have a value: "
        )
        if spare == 0:
            return told + "the bucket cannot do without one of the others"
        return told + f"the bucket could do without {spare:,} of the others"


@dataclass(frozen=True)
class RowExplanation(Answer):
    """Why rows of a table stand in their buckets.

    `asked` is the question in words, `rows_total` how many published rows fit it, of which `rows` are
    the first. `left_out` is how many records that fit it are not published.
    """

    asked: str
    guarantee: BucketGuarantee
    rules: int
    rows: tuple[Neighbours, ...]
    rows_total: int
    left_out: int
    conclusion: str

    def head(self) -> str:
        if not self.rows_total:
            return f"No published row has {self.asked}."
        return f"{counted(self.rows_total, 'published row has', 'published rows have')} {self.asked}."

    def details(self) -> Iterator[str]:
        for row in self.rows:
            yield from row.lines(self.guarantee)
        if self.rows_total > len(self.rows):
            yield f"... and {counted(self.rows_total - len(self.rows), 'more row')}"
        if self.left_out:
            yield f"{counted(self.left_out, 'record')} with it left out of the release"


def explain_rows(
    release: BucketRelease, questions: Sequence[Question], *, top: int, watch: Watch
) -> tuple[RowExplanation, ...]:
    """Return why the rows asked about stand in their buckets, each question by itself."""
    asked = [_asked(release, question) for question in questions]
    return tuple(_explained(release, one, top, watch) for one in asked)


@dataclass(frozen=True, eq=False)
class _Asked:
    """A question in words, the places of the rows that fit it, and how many left out do."""

    words: str
    places: NDArray[np.int64]
    left_out: int = 0


def _asked(release: BucketRelease, question: Question) -> _Asked:
    """Return the rows that a question is about; `UsageError` where there can be none."""
    tables = release.tables
    if isinstance(question, str):
        question = question.strip()
        if re.fullmatch("[1-9][0-9]{0,17}", question):
            question = int(question)
    if isinstance(question, int):
        number = len(tables.bucket_of_row)
        if not 1 <= question <= number:
            raise UsageError(
                f"there is no row {question:,}: the published table has {number:,}.",
                f"Give 1 to {number:,}, or what the row shows: column=value.",
                code="no-such-row",
            )
        return _Asked(f"the number {question:,}", np.array([question - 1]))
    names = [attribute.name for attribute in release.data.quasi]
    cells = _cells(question, names) if isinstance(question, str) else dict(question)
    words = " and ".join(f"{name}={cell}" for name, cell in cells.items())
    found = np.ones(len(tables.bucket_of_row), dtype=np.bool_)
    left_out = list(release.left_out or ())
    for name, cell in cells.items():
        if name not in names:
            raise UsageError(
                f"{name[:40]!r} is no quasi-identifying column of the release.",
                f"Columns: {', '.join(other[:40] for other in names)}.",
                code="unknown-column",
            )
        place = names.index(name)
        attribute = release.data.quasi[place]
        meets = leaves_meeting(attribute, cell)
        nodes = attribute.hierarchy.node_of_label
        if not meets.any() and all(row[place] != cell for row in release.left_out or ()):
            raise UsageError(
                f"{cell[:40]!r} is neither a value of {name[:40]!r} in the release nor a category "
                "above one.",
                "Spell it as in the published table.",
                code="unknown-label",
            )
        found &= meets[tables.leaves[:, place]]
        left_out = [
            row
            for row in left_out
            if row[place] == cell or (row[place] in nodes and meets[nodes[row[place]]])
        ]
    return _Asked(words, np.flatnonzero(found), len(left_out))


def _cells(text: str, names: Sequence[str]) -> dict[str, str]:
    """Return what a text such as ``age=34,sex=M`` says of each column; values may hold commas.

    >>> _cells("age=34, job=cook, chef", ["age", "job"])
    {'age': '34', 'job': 'cook, chef'}
    """
    longest = sorted(names, key=len, reverse=True)
    starts = list(re.finditer(rf"(?:^|,\s*)({'|'.join(map(re.escape, longest))})=", text))
    if not starts or starts[0].start():
        raise UsageError(
            f"{text[:40]!r} names no row of a table.",
            f"Give what the row shows, such as {names[0][:40]}=VALUE, or its number in the published "
            f"table. Columns: {', '.join(name[:40] for name in names)}.",
            code="no-such-row",
        )
    ends = [*(start.start() for start in starts[1:]), len(text)]
    cells: dict[str, str] = {}
    for start, end in zip(starts, ends, strict=True):
        if start[1] in cells:
            raise UsageError(f"the column {start[1][:40]!r} is named twice.", "Name it once.")
        cells[start[1]] = text[start.end() : end]
    return cells


def _explained(release: BucketRelease, asked: _Asked, top: int, watch: Watch) -> RowExplanation:
    rows = []
    for number, place in enumerate(asked.places[:top].tolist()):
        watch.tick("explain: who shares a bucket", number / top)
        rows.append(_neighbours(release, place))
    guarantee = release.guarantee
    if not rows:
        conclusion = "it is in no bucket, so nothing is told of it."
        if not asked.left_out:
            conclusion = "there is no such person in the release."
    else:
        fewest = min(row.possible for row in rows)
        known = "whoever sees the release"
        if release.rules:
            many = f"{len(release.rules):,} published rules"
            known = f"whoever knows the {many if release.rules[1:] else 'published rule'}"
        shown = "each of these rows" if len(rows) > 1 else "this row"
        conclusion = (
            f"to {known}, {shown} may have {counted(fewest, 'value')} "
            f"{'or more' if len(rows) > 1 else 'of its bucket'}; at least {guarantee.l} "
            "are promised."
        )
    return RowExplanation(
        asked.words,
        guarantee,
        len(release.rules),
        tuple(rows),
        len(asked.places),
        asked.left_out,
        conclusion,
    )


def _neighbours(release: BucketRelease, place: int) -> Neighbours:
    """Return a row of the published table with those who share its bucket."""
    tables = release.tables
    members = np.flatnonzero(tables.bucket_of_row == tables.bucket_of_row[place])
    bucket = _rows(tables, members)
    own = int(np.searchsorted(members, place))
    shared = SharedBucket.of(classify(bucket, release.rules), np.arange(len(members), dtype=np.int32))
    valid = shared.valid_where({})
    may = np.zeros(len(shared.values), dtype=np.bool_) if valid is None else valid[own]
    person = bucket.subset(np.arange(len(members)) == own)
    values = [
        SharedValue(
            bucket.values[value],
            int(number),
            bool(possible),
            () if allowed else _rules_against(person, release.rules, bucket.values[value]),
        )
        for value, number, possible, allowed in zip(
            shared.values.tolist(), shared.spare, may, shared.allowed[shared.line[own]], strict=True
        )
    ]
    values.sort(key=lambda each: (-each.records, each.value))
    real = [each for each in values if each.value != NO_VALUE]
    return Neighbours(
        place + 1,
        {
            attribute.name: attribute.hierarchy.labels[leaf]
            for attribute, leaf in zip(bucket.quasi, tables.leaves[place].tolist(), strict=True)
        },
        bucket.values[int(bucket.value_by_tuple[own])],
        int(tables.bucket_of_row[place]) + 1,
        len(members),
        tuple(values),
        sum(each.possible for each in real),
        sum(each.records for each in real),
        real[0].value if real else None,
        real[0].records if real else 0,
    )


def _rows(tables: BucketTables, places: NDArray[np.int64]) -> Microdata:
    """Return these rows of the published table, with the values that it hides."""
    quasi = tuple(
        replace(attribute, leaf_by_tuple=tables.leaves[places, column])
        for column, attribute in enumerate(tables.data.quasi)
    )
    return replace(tables.data, quasi=quasi, value_by_tuple=tables.value_of_row[places])


def _rules_against(person: Microdata, rules: Sequence[NegativeRule], value: str) -> tuple[str, ...]:
    """Return the rules that forbid somebody a value."""
    against = (rule for rule in sorted(rules) if rule.value == value)
    return tuple(str(rule) for rule in against if tuples_meeting(person, rule).all())
