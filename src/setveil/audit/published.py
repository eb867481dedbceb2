"""What the audit sees: published rows as sets of labels, and nothing about where they came from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from ._jit import jit

LONGEST_SHOWN = 40


def shortened(label: str) -> str:
    """Return a label fit for a message: quoted and cut."""
    return ascii(label if len(label) <= LONGEST_SHOWN else label[: LONGEST_SHOWN - 1] + "…")


@dataclass(frozen=True)
class Merged:
    """The distinct rows of published data, each with the number of records that equal it."""

    indptr: NDArray[np.int64]
    items: NDArray[np.int32]
    weight_by_row: NDArray[np.int64]

    def row(self, number: int) -> NDArray[np.int32]:
        """Return the codes of one distinct row."""
        return self.items[self.indptr[number] : self.indptr[number + 1]]


@dataclass(frozen=True, eq=False)
class Published:
    """Published rows: row r holds the codes ``items[indptr[r]:indptr[r + 1]]``, sorted and unique.

    A code is a position in `labels`. Empty rows are rows. A row that repeats a label is refused: a
    bag tells more than a set.

    >>> Published.from_rows([["b", "a"], [], ["a"]])
    Published(3 records, 2 labels)
    """

    indptr: NDArray[np.int64]
    items: NDArray[np.int32]
    labels: tuple[str, ...]

    def __post_init__(self) -> None:
        indptr = _read_only(self.indptr, np.int64)
        items = _read_only(self.items, np.int32)
        object.__setattr__(self, "indptr", indptr)
        object.__setattr__(self, "items", items)
        object.__setattr__(self, "labels", tuple(self.labels))
        if indptr.ndim != 1 or items.ndim != 1 or not len(indptr):
            raise DataError("published rows need two flat arrays.", code="rows-shape")
        if indptr[0] != 0 or indptr[-1] != len(items) or np.any(np.diff(indptr) < 0):
            raise DataError("indptr does not delimit the rows.", code="rows-shape")
        if len(items) and (items.min() < 0 or items.max() >= len(self.labels)):
            raise DataError("a code has no label.", code="unknown-code")
        if len(set(self.labels)) != len(self.labels):
            raise DataError("two codes have the same label.", code="repeated-label")
        if any(not isinstance(label, str) or not label for label in self.labels):
            raise DataError("a label is not a non-empty string.", code="empty-label")
        _check_rows(indptr, items)

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[str]]) -> Published:
        """Build from lists of labels, in any order; a repeated label is refused.

        Parameters
        ----------
        rows
            One sequence of labels for each record.
        """
        code_seen: dict[str, int] = {}
        codes: list[int] = []
        lengths: list[int] = []
        for number, row in enumerate(rows, 1):
            if len(set(row)) != len(row):
                repeated = next(label for label in row if list(row).count(label) > 1)
                raise DataError(
                    f"row {number} repeats the label {shortened(repeated)}.",
                    "A row is a set: publish each label once.",
                    code="repeated-label",
                )
            codes.extend([code_seen.setdefault(label, len(code_seen)) for label in row])
            lengths.append(len(row))
        labels = tuple(sorted(code_seen))
        final_of_seen = np.empty(len(labels), np.int32)
        for code, label in enumerate(labels):
            final_of_seen[code_seen[label]] = code
        indptr = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(np.array(lengths, np.int64), out=indptr[1:])
        items = final_of_seen[np.array(codes, np.int64)] if codes else np.empty(0, np.int32)
        _sort_rows(indptr, items)
        return cls(indptr, items, labels)

    @property
    def records(self) -> int:
        """How many records there are, empty ones included."""
        return len(self.indptr) - 1

    @property
    def longest(self) -> int:
        """The number of labels in the longest row."""
        return int(np.diff(self.indptr).max(initial=0))

    @cached_property
    def merged(self) -> Merged:
        """The distinct rows with their weights."""
        first_rows, weight_by_row = _distinct(self.indptr, self.items)
        lengths = np.diff(self.indptr)[first_rows]
        indptr = np.zeros(len(first_rows) + 1, np.int64)
        np.cumsum(lengths, out=indptr[1:])
        inside = np.arange(indptr[-1]) - np.repeat(indptr[:-1], lengths)
        items = self.items[np.repeat(self.indptr[first_rows], lengths) + inside]
        return Merged(indptr, items, weight_by_row)

    def __repr__(self) -> str:
        return f"Published({self.records} records, {len(self.labels)} labels)"


def _read_only(values: Any, dtype: type) -> NDArray[Any]:
    array: NDArray[Any] = np.ascontiguousarray(values, dtype=dtype)
    if array is values or array.base is not None:
        array = array.copy()
    array.setflags(write=False)
    return array


def _check_rows(indptr: NDArray[np.int64], items: NDArray[np.int32]) -> None:
    rising = np.diff(items.astype(np.int64)) > 0
    starts = indptr[1:-1]
    starts = starts[(starts > 0) & (starts < len(items))]
    rising[starts - 1] = True
    if rising.all():
        return
    position = int(np.argmin(rising))
    row = int(np.searchsorted(indptr, position, side="right"))
    raise DataError(
        f"row {row} is not sorted or repeats a label.",
        "A row is a set: give each code once, in rising order.",
        code="repeated-label",
    )


@jit
def _sort_rows(indptr: NDArray[np.int64], items: NDArray[np.int32]) -> None:
    for row in range(len(indptr) - 1):
        for position in range(indptr[row] + 1, indptr[row + 1]):
            if items[position] < items[position - 1]:
                items[indptr[row] : indptr[row + 1]].sort()
                break


@jit
def _distinct(
    indptr: NDArray[np.int64], items: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first row of each kind and how often it occurs; hashing only finds candidates."""
    rows = len(indptr) - 1
    slots = 16
    while slots < 2 * rows:
        slots *= 2
    kind_of_slot = np.full(slots, -1, np.int64)
    first_rows = np.empty(rows, np.int64)
    weights = np.zeros(rows, np.int64)
    kinds = 0
    for row in range(rows):
        begin, end = indptr[row], indptr[row + 1]
        mixed = np.uint64(1469598103934665603)
        for position in range(begin, end):
            mixed = (mixed ^ np.uint64(items[position] + 1)) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(29)
        slot = np.int64(mixed & np.uint64(slots - 1))
        while True:
            kind = kind_of_slot[slot]
            if kind < 0:
                kind_of_slot[slot] = kinds
                first_rows[kinds] = row
                weights[kinds] = 1
                kinds += 1
                break
            other = indptr[first_rows[kind]]
            same = indptr[first_rows[kind] + 1] - other == end - begin
            offset = 0
            while same and offset < end - begin:
                same = items[other + offset] == items[begin + offset]
                offset += 1
            if same:
                weights[kind] += 1
                break
            slot = (slot + 1) & (slots - 1)
    return first_rows[:kinds].copy(), weights[:kinds].copy()
