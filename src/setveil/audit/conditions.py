"""What published rules mean: which rows meet a condition, and so which values they cannot have.

A condition names a column and a label. A row meets it if its cell is the label, or has the label above
it in the published hierarchy of the column. A label that the column does not know may be an interval of
numbers, where all cells of the column are numbers. Any other label is met by no row.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from .published import shortened

Flags = NDArray[np.bool_]
Conditions = tuple[tuple[str, str], ...]
Rule = tuple[Conditions, str]
"""Conditions, pairs of column and label, that together rule a sensitive value out."""
Paths = Mapping[str, Mapping[str, Sequence[str]]]
"""For a column, the path of each cell from itself to its root; columns without hierarchy may lack."""

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
    code_by_row: NDArray[np.int32]

    @classmethod
    def of(cls, name: str, cells: Sequence[str]) -> Column:
        """Return the column of these cells."""
        code: dict[str, int] = {}
        codes = np.fromiter((code.setdefault(cell, len(code)) for cell in cells), np.int32, len(cells))
        return cls(name, tuple(code), codes)


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
    known = any(label in above for above in steps)
    if known:
        met = [label in above for above in steps]
    else:
        met = _labels_inside(column.labels, label)
    found: Flags = np.array(met, dtype=np.bool_)[column.code_by_row]
    return found


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
    columns: Sequence[Column],
    n_rows: int,
    values: Sequence[str],
    rules: Sequence[Rule],
    paths: Paths,
) -> tuple[NDArray[np.int64], Flags]:
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
    for number, value in enumerate(values):
        if value in by_value:
            cannot[:, number] = by_value[value][one_of_kind]
    return kind_by_row.astype(np.int64), cannot
