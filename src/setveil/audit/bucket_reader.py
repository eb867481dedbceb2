"""Reads the folder of a table in buckets as a stranger would: known files only, not a byte unexplained.

Both parts must stand in canonical order: rows by bucket and cells, buckets by what they hold. So
neither an order nor a bucket's number can carry a message.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

from ..model.guarantees import BucketGuarantee
from .buckets import PublishedBuckets
from .certificate import HIERARCHY, JOINED, QUASI, RULES, SENSITIVE, need
from .conditions import Paths, Rule, rows_meeting
from .hierarchy import read_hierarchy
from .published import shortened
from .spelling import refuse, rows_below

Row = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class ReadBuckets:
    """A folder whose every byte has been checked; only the counting is left."""

    tables: PublishedBuckets
    guarantee: BucketGuarantee
    rules: tuple[Rule, ...]
    paths: Paths
    labels: set[str]
    """Everything that the report may name: values, categories, columns."""
    certificate: Mapping[str, Any]

    @property
    def complete(self) -> tuple[str | None, ...]:
        """From which chance on no rule is missing that holds, by the number of conditions."""
        return tuple(self.certificate.get("rules", {}).get("complete", ()))


def read_buckets(
    certificate: Mapping[str, Any], guarantee: BucketGuarantee, content_of: Callable[[str], bytes]
) -> ReadBuckets:
    """Return the tables, rules and hierarchies; `DataError` where a file is not as it must be.

    The certificate has been checked, and so have the hashes of the contents.
    """
    data = certificate["data"]
    columns: list[str] = data["columns"]
    secret = data["sensitive"]["column"]
    if data["format"] == "joined":
        rows, secrets = _read_joined(content_of(JOINED), data)
    else:
        rows = _read_table(content_of(QUASI), [*columns, data["bucket"]], QUASI)
        header = [data["bucket"], secret, data["sensitive"]["count"]]
        secrets = _read_counts(_read_table(content_of(SENSITIVE), header, SENSITIVE))
    buckets = _numbers([row[-1] for row, _ in rows], data["file"], rows)
    cells = [row[:-1] for row, _ in rows]
    # The tables are compared first, so that no count is larger than its bucket below.
    tables = PublishedBuckets.of(
        {name: [row[place] for row in cells] for place, name in enumerate(columns)}, buckets, secrets
    )
    _check_order(cells, buckets, secrets, data["file"])
    need(data["records"] == len(rows) and isinstance(data["records"], int), "data.records is wrong")
    paths = _paths(content_of(HIERARCHY), columns, cells)
    rules: tuple[Rule, ...] = ()
    if "rules" in certificate:
        need(certificate["verdict"]["mode"] == "exact", "verdict.mode must be exact")
        rules = read_rules(content_of(RULES), columns, secret)
    _check_rules(rules, tables, paths)
    steps = (step for by_value in paths.values() for path in by_value.values() for step in path)
    labels = {*columns, secret, *steps, *(value for _, value, _ in secrets)}
    labels |= {label for conditions, value in rules for label in (value, *dict(conditions).values())}
    return ReadBuckets(tables, guarantee, rules, paths, labels, certificate)


def read_rules(content: bytes, columns: Sequence[str], sensitive: str) -> tuple[Rule, ...]:
    """Return the published rules: a table like the data, in which an empty cell is no condition.

    Conditions are about the quasi-identifying `columns`; the last one has the values ruled out.
    """
    rows = list(rows_below([*columns, sensitive], content, RULES))
    for row, line in rows:
        if not row[-1] or not any(row[:-1]):
            raise refuse("a rule without a condition or a value.", RULES, line, code="published-rules")
    for (before, _), (after, line) in pairwise(rows):
        if before >= after:
            raise refuse("the rules are not sorted, each once.", RULES, line, code="row-order")
    return tuple(
        (tuple((name, cell) for name, cell in zip(columns, row[:-1], strict=True) if cell), row[-1])
        for row, _ in rows
    )


def _read_table(content: bytes, header: Sequence[str], file: str) -> list[tuple[Row, int]]:
    """Return the rows below the header, each with its line."""
    rows = []
    for row, line in rows_below(header, content, file):
        if "" in row:
            raise refuse("a cell is empty.", file, line, code="empty-label")
        rows.append((tuple(row), line))
    if not rows:
        raise refuse("the file holds no records.", file, code="no-records")
    return rows


def _read_joined(
    content: bytes, data: Mapping[str, Any]
) -> tuple[list[tuple[Row, int]], list[tuple[int, str, int]]]:
    header = [*data["columns"], data["bucket"], data["sensitive"]["column"]]
    rows = _read_table(content, header, JOINED)
    numbers = _numbers([row[-2] for row, _ in rows], JOINED, rows)
    counted: list[tuple[int, str, int]] = []
    for bucket, inside in groupby(zip(numbers, rows, strict=True), key=lambda pair: pair[0]):
        values = [row[-1] for _, (row, _) in inside]
        if values != sorted(values):
            raise refuse("a bucket's values are not sorted.", JOINED, code="row-order")
        counted += [(bucket, value, len(list(same))) for value, same in groupby(values)]
    return [(row[:-1], line) for row, line in rows], counted


def _read_counts(rows: list[tuple[Row, int]]) -> list[tuple[int, str, int]]:
    buckets = _numbers([row[0] for row, _ in rows], SENSITIVE, rows)
    found: list[tuple[int, str, int]] = []
    for bucket, (row, line) in zip(buckets, rows, strict=True):
        if not _is_plain(row[2]):
            raise refuse("a count is not a plain number above 0.", SENSITIVE, line, code="count")
        found.append((bucket, row[1], int(row[2])))
    for (before, after), (_, line) in zip(pairwise(found), rows[1:], strict=True):
        if before[:2] >= after[:2]:
            raise refuse("the rows are not in canonical order.", SENSITIVE, line, code="row-order")
    return found


def _numbers(texts: Sequence[str], file: str, rows: Sequence[tuple[Row, int]]) -> list[int]:
    """Return bucket numbers from 0: the texts must count 1, 1, 2, ... without a gap."""
    numbers: list[int] = []
    highest = 0
    for text, (_, line) in zip(texts, rows, strict=True):
        if text == str(highest + 1):
            highest += 1
        elif text != str(highest) or not highest:
            raise refuse("buckets are not numbered 1, 2, 3 in order.", file, line, code="bucket-number")
        numbers.append(highest - 1)
    return numbers


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isdigit() and not text.startswith("0") and len(text) < 16


def _check_order(
    cells: Sequence[Row],
    buckets: Sequence[int],
    secrets: Sequence[tuple[int, str, int]],
    file: str,
) -> None:
    """Refuse rows and buckets that are not in the order of what they hold."""
    rows_of: list[list[Row]] = [[] for _ in range(buckets[-1] + 1 if buckets else 0)]
    for row, bucket in zip(cells, buckets, strict=True):
        rows_of[bucket].append(row)
    values_of: list[list[str]] = [[] for _ in rows_of]
    for bucket, value, count in secrets:
        values_of[bucket] += [value] * count
    for number, rows in enumerate(rows_of, 1):
        if rows != sorted(rows):
            what = f"the rows of bucket {number} are not in canonical order."
            raise refuse(what, file, code="row-order")
    held = list(zip(rows_of, values_of, strict=True))
    for number, (before, after) in enumerate(pairwise(held), 2):
        if before > after:
            what = f"bucket {number} does not come after the one before by what it holds."
            raise refuse(what, file, code="row-order")


def _paths(content: bytes, columns: Sequence[str], cells: Sequence[Row]) -> Paths:
    """Return the path of each value of each column; `DataError` where values and paths differ."""
    hierarchy = read_hierarchy(content)
    paths: dict[str, dict[str, tuple[str, ...]]] = {}
    left = set(hierarchy.path_of_label)
    for place, name in enumerate(columns):
        prefix = f"{name}="
        paths[name] = {}
        for value in sorted({row[place] for row in cells}):
            label = prefix + value
            path = hierarchy.path_of_label.get(label)
            if path is None:
                raise refuse(
                    f"the published value {shortened(label)} has no row.",
                    HIERARCHY,
                    code="published-hierarchy",
                )
            if not all(step.startswith(prefix) for step in path):
                what = f"the path of {shortened(label)} leaves its column."
                raise refuse(what, HIERARCHY, code="published-hierarchy")
            left.discard(label)
            paths[name][value] = tuple(step.removeprefix(prefix) for step in path)
    if hierarchy.nested:
        what = f"the value {shortened(hierarchy.nested[0])} stands above another one."
        raise refuse(what, HIERARCHY, code="published-hierarchy")
    if left:
        what = f"{shortened(min(left))} has a row but is not published."
        raise refuse(what, HIERARCHY, code="published-hierarchy")
    return paths


def _check_rules(rules: Sequence[Rule], tables: PublishedBuckets, paths: Paths) -> None:
    """Refuse a rule that rules nothing out: it could hold any text."""
    values = {value for _, value, _ in tables.sensitive}
    for conditions, value in rules:
        met = rows_meeting(tables.columns, len(tables.bucket_by_row), conditions, paths)
        if value not in values or not met.any():
            what = f"the rule that ends in {shortened(value)} rules nothing out."
            raise refuse(what, RULES, code="published-rules")
