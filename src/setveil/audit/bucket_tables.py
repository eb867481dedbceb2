"""Tables in buckets: what is published, what its rules mean, and how its folder is read.

One table has a row for each person: quasi-identifying cells and the number of a bucket. The other says
how often each sensitive value is in a bucket. Both must stand in canonical order: rows by bucket and
cells, buckets by what they hold. So neither an order nor a bucket's number can carry a message.

A rule has conditions, each a column and a label. A row meets one if its cell is the label, or has the
label above it in the published hierarchy of the column. A label that the column does not know may be an
interval of numbers, where all cells of the column are numbers. Any other label is met by no row.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError, UsageError
from ..model.guarantees import BucketGuarantee
from .certificate import JOINED, QUASI, RULES, SENSITIVE, need
from .promises import load, traits_of
from .published import HIERARCHY, REMEDY, Codes, Numbers, read_hierarchy, refuse, rows_below, shortened

if TYPE_CHECKING:
    from .check import Folder
    from .counting import Effort
    from .verdict import BucketFinding

Flags = NDArray[np.bool_]
Conditions = tuple[tuple[str, str], ...]
Rule = tuple[Conditions, str]
"""Conditions, pairs of column and label, that together rule a sensitive value out."""
Paths = Mapping[str, Mapping[str, Sequence[str]]]
"""For a column, the path of each cell from itself to its root; columns without hierarchy may lack."""

Row = tuple[str, ...]
Numbered = tuple[Row, int]
"""A row of a table, and its line."""
Count = tuple[int, str, int]
"""How often a bucket has a value: bucket, value, count."""

NUMBER = r"[+-]?(?:\d{1,100}(?:\.\d{0,100})?|\.\d{1,100})"
PLAIN_NUMBER = re.compile(NUMBER, re.ASCII)
BRACKETED = re.compile(
    rf"(?P<left>[\[(]) *(?P<low>{NUMBER}) *[,;] *(?P<high>{NUMBER}) *(?P<right>[\])])", re.A
)
DASHED = re.compile(r"(?P<low>\d{1,18})-(?P<high>\d{1,18})", re.ASCII)


@dataclass(frozen=True, eq=False)
class Column:
    """A published column: its distinct labels, and the one of each row by number.

    >>> Column.of("sex", ["F", "M", "F"]).code_by_row
    array([0, 1, 0], dtype=int32)
    """

    name: str
    labels: tuple[str, ...]
    code_by_row: Codes

    @classmethod
    def of(cls, name: str, cells: Sequence[str]) -> Column:
        """Return the column of these cells."""
        code: dict[str, int] = {}
        codes = np.fromiter((code.setdefault(cell, len(code)) for cell in cells), np.int32, len(cells))
        return cls(name, tuple(code), codes)


@dataclass(frozen=True, eq=False)
class PublishedBuckets:
    """The two tables, checked to fit each other.

    The bucket of each row counts from 0 on without gaps; in files and messages buckets count from 1.
    `sensitive` has bucket, value and count; each bucket and value once.

    >>> PublishedBuckets.of({"sex": ["F", "M"]}, [0, 0], [(0, "flu", 1), (0, "gout", 1)])
    PublishedBuckets(2 rows, 1 buckets)
    """

    columns: tuple[Column, ...]
    bucket_by_row: Numbers
    sensitive: tuple[Count, ...]

    @classmethod
    def of(
        cls,
        cells_by_column: dict[str, Sequence[str]],
        bucket_by_row: Sequence[int],
        sensitive: Sequence[Count],
    ) -> PublishedBuckets:
        """Return the tables of cells as texts."""
        columns = tuple(Column.of(name, cells) for name, cells in cells_by_column.items())
        return cls(columns, np.array(bucket_by_row, dtype=np.int64), tuple(sensitive))

    def __post_init__(self) -> None:
        for column in self.columns:
            if len(column.code_by_row) != len(self.bucket_by_row):
                raise _refuse(
                    f"the column {shortened(column.name)} has {len(column.code_by_row):,} cells for "
                    f"{len(self.bucket_by_row):,} rows."
                )
        sizes = self.size_by_bucket
        if (sizes == 0).any():
            raise _refuse(f"bucket {int(np.flatnonzero(sizes == 0)[0]) + 1} has no rows.")
        held = [0] * len(sizes)
        seen: set[tuple[int, str]] = set()
        for bucket, value, count in self.sensitive:
            if not 0 <= bucket < len(sizes):
                raise _refuse(f"the sensitive table names bucket {bucket + 1}, which has no rows.")
            if count < 1:
                raise _refuse(f"the sensitive table has a count of {count} in bucket {bucket + 1}.")
            if (bucket, value) in seen:
                raise _refuse(f"the value {shortened(value)} is counted twice in bucket {bucket + 1}.")
            seen.add((bucket, value))
            held[bucket] += count
        for bucket, (size, count) in enumerate(zip(sizes.tolist(), held, strict=True)):
            if size != count:
                raise _refuse(
                    f"bucket {bucket + 1} has {size:,} rows in one table and {count:,} in the other."
                )

    def __repr__(self) -> str:
        return (
            f"PublishedBuckets({len(self.bucket_by_row):,} rows, {len(self.size_by_bucket):,} buckets)"
        )

    @cached_property
    def size_by_bucket(self) -> Numbers:
        """How many rows each bucket has."""
        if len(self.bucket_by_row) and self.bucket_by_row.min() < 0:
            raise _refuse("a bucket has a negative number.")
        return np.bincount(self.bucket_by_row).astype(np.int64)


def _refuse(what: str) -> DataError:
    return DataError(what, REMEDY, code="published-buckets")


def rows_meeting(columns: Sequence[Column], n_rows: int, conditions: Conditions, paths: Paths) -> Flags:
    """Return which rows meet all conditions; those about columns that are not published are refused."""
    by_name = {column.name: column for column in columns}
    met = np.ones(n_rows, dtype=np.bool_)
    for name, label in conditions:
        if name not in by_name:
            raise DataError(
                f"a rule names the column {shortened(name)}, which is not published.",
                "Publish the rules that belong to this table.",
                code="published-rules",
            )
        met &= _rows_with(by_name[name], label, paths.get(name, {}))
    return met


def _rows_with(column: Column, label: str, paths: Mapping[str, Sequence[str]]) -> Flags:
    """Return which rows meet the condition that a column is `label`."""
    steps = [frozenset((own, *paths.get(own, ()))) for own in column.labels]
    met = [label in above for above in steps]
    found = np.array(met if any(met) else _labels_inside(column.labels, label), dtype=np.bool_)
    return np.asarray(found[column.code_by_row])


def _labels_inside(labels: Sequence[str], interval: str) -> list[bool]:
    """Tell which labels are numbers in an interval; none where it is no interval of numbers."""
    match = BRACKETED.fullmatch(interval) or DASHED.fullmatch(interval)
    if match is None or not all(PLAIN_NUMBER.fullmatch(label) for label in labels):
        return [False] * len(labels)
    ends = match.groupdict()
    low, high = Decimal(ends["low"]), Decimal(ends["high"])
    if low > high:
        return [False] * len(labels)
    open_left, open_right = ends.get("left") == "(", ends.get("right") == ")"
    return [
        low <= number <= high
        and not (open_left and number == low)
        and not (open_right and number == high)
        for number in map(Decimal, labels)
    ]


def ruled_out(
    columns: Sequence[Column], n_rows: int, values: Sequence[str], rules: Sequence[Rule], paths: Paths
) -> tuple[Numbers, Flags]:
    """Return the kind of each row, and which values (columns) each kind (lines) cannot have.

    Rows of one kind cannot have the same values. Rules about values that are not published are
    passed over; rules about columns that are not are refused.
    """
    kind_by_row = np.zeros(n_rows, dtype=np.int64)
    by_value: dict[str, Flags] = {}
    for conditions, value in rules:
        met = rows_meeting(columns, n_rows, conditions, paths)
        by_value[value] = by_value.get(value, np.zeros(n_rows, dtype=np.bool_)) | met
    published = [value for value in values if value in by_value]
    for value in published:
        _, kind_by_row = np.unique(2 * kind_by_row + by_value[value], return_inverse=True)
    _, one_of_kind = np.unique(kind_by_row, return_index=True)
    cannot = np.zeros((len(one_of_kind), len(values)), dtype=np.bool_)
    for value in published:
        cannot[:, values.index(value)] = by_value[value][one_of_kind]
    return kind_by_row.astype(np.int64), cannot


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
    only_its_own: ClassVar[str] = (
        "a table in buckets is judged by its own promise, and has no other reading."
    )

    def judge(self, effort: Effort, *_: object) -> BucketFinding:
        """Return whether its own promise is kept; it has no witnesses, and one thread counts."""
        if effort.witnesses:
            raise UsageError(
                "the audit of a table in buckets shows no witnesses.",
                "Leave them out.",
                code="option-does-not-fit",
            )
        finding: BucketFinding = load(traits_of(self.guarantee).counter)(
            self.tables, self.guarantee, rules=self.rules, paths=self.paths, complete=self.complete
        )
        return finding

    @property
    def complete(self) -> tuple[str | None, ...]:
        """From which chance on no rule is missing that holds, by the number of conditions."""
        return tuple(self.certificate.get("rules", {}).get("complete", ()))


def read_buckets(folder: Folder) -> ReadBuckets:
    """Return the tables, rules and hierarchies; `DataError` where a file is not as it must be."""
    certificate, data = folder.certificate, folder.certificate["data"]
    columns: list[str] = data["columns"]
    secret = data["sensitive"]["column"]
    if data["file"] == JOINED:
        rows, secrets = _read_joined(folder.text(JOINED), data)
    else:
        rows = _read_table(folder.text(QUASI), [*columns, data["bucket"]], QUASI)
        header = [data["bucket"], secret, data["sensitive"]["count"]]
        secrets = _read_counts(_read_table(folder.text(SENSITIVE), header, SENSITIVE))
    buckets = _numbers([row[-1] for row, _ in rows], data["file"], rows)
    cells = [row[:-1] for row, _ in rows]
    # The tables are compared first, so that no count is larger than its bucket below.
    tables = PublishedBuckets.of(
        {name: [row[place] for row in cells] for place, name in enumerate(columns)}, buckets, secrets
    )
    _check_order(cells, buckets, secrets, data["file"])
    need(data["records"] == len(rows) and isinstance(data["records"], int), "data.records is wrong")
    paths = _paths(folder.text(HIERARCHY), columns, cells)
    rules: tuple[Rule, ...] = ()
    if "rules" in certificate:
        need(certificate["verdict"]["mode"] == "exact", "verdict.mode must be exact")
        rules = read_rules(folder.text(RULES), columns, secret)
    _check_rules(rules, tables, paths)
    steps = (step for by_value in paths.values() for path in by_value.values() for step in path)
    labels = {*columns, secret, *steps, *(value for _, value, _ in secrets)}
    labels |= {label for conditions, value in rules for label in (value, *dict(conditions).values())}
    guarantee: Any = folder.guarantee
    return ReadBuckets(tables, guarantee, rules, paths, labels, certificate)


def read_rules(text: str, columns: Sequence[str], sensitive: str) -> tuple[Rule, ...]:
    """Return the published rules: a table like the data, in which an empty cell is no condition.

    Conditions are about the quasi-identifying `columns`; the last one has the values ruled out.
    """
    rows = list(rows_below([*columns, sensitive], text, RULES))
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


def _read_table(text: str, header: Sequence[str], file: str) -> list[Numbered]:
    """Return the rows below the header, each with its line."""
    rows = []
    for row, line in rows_below(header, text, file):
        if "" in row:
            raise refuse("a cell is empty.", file, line, code="empty-label")
        rows.append((tuple(row), line))
    if not rows:
        raise refuse("the file holds no records.", file, code="no-records")
    return rows


def _read_joined(text: str, data: Mapping[str, Any]) -> tuple[list[Numbered], list[Count]]:
    header = [*data["columns"], data["bucket"], data["sensitive"]["column"]]
    rows = _read_table(text, header, JOINED)
    numbers = _numbers([row[-2] for row, _ in rows], JOINED, rows)
    counted: list[Count] = []
    for bucket, inside in groupby(zip(numbers, rows, strict=True), key=lambda pair: pair[0]):
        values = [row[-1] for _, (row, _) in inside]
        if values != sorted(values):
            raise refuse("a bucket's values are not sorted.", JOINED, code="row-order")
        counted += [(bucket, value, len(list(same))) for value, same in groupby(values)]
    return [(row[:-1], line) for row, line in rows], counted


def _read_counts(rows: list[Numbered]) -> list[Count]:
    buckets = _numbers([row[0] for row, _ in rows], SENSITIVE, rows)
    found: list[Count] = []
    for bucket, (row, line) in zip(buckets, rows, strict=True):
        if not _is_plain(row[2]):
            raise refuse("a count is not a plain number above 0.", SENSITIVE, line, code="count")
        found.append((bucket, row[1], int(row[2])))
    for (before, after), (_, line) in zip(pairwise(found), rows[1:], strict=True):
        if before[:2] >= after[:2]:
            raise refuse("the rows are not in canonical order.", SENSITIVE, line, code="row-order")
    return found


def _numbers(texts: Sequence[str], file: str, rows: Sequence[Numbered]) -> list[int]:
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
    cells: Sequence[Row], buckets: Sequence[int], secrets: Sequence[Count], file: str
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


def _paths(text: str, columns: Sequence[str], cells: Sequence[Row]) -> Paths:
    """Return the path of each value of each column; `DataError` where values and paths differ."""
    hierarchy = read_hierarchy(text)
    paths: dict[str, dict[str, tuple[str, ...]]] = {}
    left = set(hierarchy.path_of_label)
    fault = ""
    for place, name in enumerate(columns):
        prefix = f"{name}="
        paths[name] = {}
        for value in sorted({row[place] for row in cells}):
            label = prefix + value
            path = hierarchy.path_of_label.get(label, ())
            if not path:
                fault = fault or f"the published value {shortened(label)} has no row."
            if not all(step.startswith(prefix) for step in path):
                fault = fault or f"the path of {shortened(label)} leaves its column."
            left.discard(label)
            paths[name][value] = tuple(step.removeprefix(prefix) for step in path)
    if hierarchy.nested:
        fault = fault or f"the value {shortened(hierarchy.nested[0])} stands above another one."
    if left:
        fault = fault or f"{shortened(min(left))} has a row but is not published."
    if fault:
        raise refuse(fault, HIERARCHY, code="published-hierarchy")
    return paths


def _check_rules(rules: Sequence[Rule], tables: PublishedBuckets, paths: Paths) -> None:
    """Refuse a rule that rules nothing out: it could hold any text."""
    values = {value for _, value, _ in tables.sensitive}
    for conditions, value in rules:
        met = rows_meeting(tables.columns, len(tables.bucket_by_row), conditions, paths)
        if value not in values or not met.any():
            what = f"the rule that ends in {shortened(value)} rules nothing out."
            raise refuse(what, RULES, code="published-rules")
