"""What a release publishes, as the audit reads it: strict text, rows as sets of labels, the hierarchy.

A release that could be written in two ways could carry a message in the choice. So each content has
one spelling and every other is refused: lines end in LF, fields are quoted where they must be and
nowhere else, and nothing may be left over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError, HierarchyError
from ._jit import jit, sort_between

Numbers = NDArray[np.int64]
Codes = NDArray[np.int32]

HIERARCHY = "hierarchy.csv"
REMEDY = "A release is written in one way only; publish it again instead of editing it."
LONGEST_SHOWN = 40


def shortened(label: str) -> str:
    """Return a label fit for a message: quoted and cut."""
    return ascii(label if len(label) <= LONGEST_SHOWN else label[: LONGEST_SHOWN - 1] + "…")


def refuse(
    what: str, file: str, line: int | None = None, *, code: str, remedy: str = REMEDY
) -> DataError:
    """Return the error for a file that is not what a release may hold."""
    return DataError(what, remedy, code=code, file=file, line=line)


def decode(content: bytes, file: str) -> str:
    """Return the text of strict UTF-8 without byte order mark, NUL, or missing last line end."""
    try:
        text = content.decode("utf-8", errors="strict")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise refuse("the bytes are not UTF-8.", file, line, code="not-utf8") from None
    if text.startswith("\ufeff"):
        raise refuse("the file starts with a byte order mark.", file, 1, code="byte-order-mark")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise refuse("the file holds a NUL character.", file, line, code="nul")
    if "\ufeff" in text:
        line = text.count("\n", 0, text.index("\ufeff")) + 1
        what = "the file holds a byte order mark (U+FEFF) inside."
        raise refuse(what, file, line, code="byte-order-mark")
    if text and not text.endswith("\n"):
        line = text.count("\n") + 1
        raise refuse("the last line has no line end.", file, line, code="no-line-end")
    return text


def label_fault(label: str) -> str | None:
    """Return why no release may hold a label, or None; for labels that did not come as text."""
    if not label:
        return "a label is empty."
    if "\0" in label:
        return "a label holds a NUL character."
    return "a label holds a byte order mark (U+FEFF)." if "\ufeff" in label else None


def lines_of(text: str) -> list[str]:
    """Return the lines, split at LF only."""
    return text.split("\n")[:-1]


def _needs_quotes(field: str, delimiter: str, *, lone: bool) -> bool:
    if not field:
        return lone
    return (
        delimiter in field
        or '"' in field
        or "\r" in field
        or "\n" in field
        or field[0] in " \t"
        or field[-1] in " \t"
    )


def parse_csv(text: str, delimiter: str, file: str) -> tuple[list[list[str]], list[int]]:
    """Return the fields of each row and the line on which each row starts."""
    if '"' not in text:
        rows = [line.split(delimiter) for line in lines_of(text)]
        # Without a quote in the file only blanks at the edge of a field and CR can need one.
        suspicious = "\r" in text or " " in text or "\t" in text or "\n\n" in text or text[:1] == "\n"
        for number, row in enumerate(rows if suspicious else (), 1):
            for field in row:
                if _needs_quotes(field, delimiter, lone=len(row) == 1):
                    raise refuse("a field needs quotes.", file, number, code="quoting")
        return rows, list(range(1, len(rows) + 1))
    return _parse_quoted(text, delimiter, file)


def rows_below(
    header: Sequence[str], text: str, file: str, *, delimiter: str = ","
) -> Iterator[tuple[list[str], int]]:
    """Yield the rows of a table below its header, a cell for each column, each with its line."""
    rows, lines = parse_csv(text, delimiter, file)
    if not rows or rows[0] != list(header):
        raise refuse("the header does not name the columns.", file, 1, code="header")
    for row, line in zip(rows[1:], lines[1:], strict=True):
        if len(row) != len(header):
            what = f"{len(row)} cells where {len(header)} belong."
            raise refuse(what, file, line, code="ragged-row")
        yield row, line


def _parse_quoted(text: str, delimiter: str, file: str) -> tuple[list[list[str]], list[int]]:
    rows: list[list[str]] = []
    numbers: list[int] = []
    position, line = 0, 1
    while position < len(text):
        row: list[str] = []
        quoted: list[bool] = []
        start = line
        while True:
            if text[position] == '"':
                pieces = []
                position += 1
                while True:
                    close = text.find('"', position)
                    if close < 0:
                        raise refuse("a quote is never closed.", file, line, code="unclosed-quote")
                    pieces.append(text[position:close])
                    position = close + 1
                    if text[position : position + 1] != '"':
                        break
                    pieces.append('"')
                    position += 1
                field = "".join(pieces)
                line += field.count("\n")
            else:
                end_of_line = text.index("\n", position)
                end = text.find(delimiter, position, end_of_line)
                end = end_of_line if end < 0 else end
                field = text[position:end]
                position = end
                quoted.append(False)
            if len(quoted) == len(row):
                quoted.append(True)
            row.append(field)
            following = text[position]
            position += 1
            if following == "\n":
                break
            if following != delimiter:
                raise refuse("text follows a closing quote.", file, line, code="after-quote")
        for field, has_quotes in zip(row, quoted, strict=True):
            if _needs_quotes(field, delimiter, lone=len(row) == 1) != has_quotes:
                what = f"the field {shortened(field)} is quoted without need, or not quoted in need."
                raise refuse(what, file, start, code="quoting")
        rows.append(row)
        numbers.append(start)
        line += 1
    return rows, numbers


class Merged(NamedTuple):
    """The distinct rows of published data, each with the number of records that equal it."""

    indptr: Numbers
    items: Codes
    weight_by_row: Numbers

    @property
    def records(self) -> int:
        """How many records there are, empty ones included."""
        return int(self.weight_by_row.sum())


@dataclass(frozen=True, eq=False)
class Published:
    """Published rows: row r holds the codes ``items[indptr[r]:indptr[r + 1]]``, sorted and unique.

    A code is a position in `labels`. Empty rows are rows. A row that repeats a label is refused: a
    bag tells more than a set.

    >>> Published.from_rows([["b", "a"], [], ["a"]])
    Published(3 records, 2 labels)
    """

    indptr: Numbers
    items: Codes
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
        """Build from the labels of each record, in any order; a repeated label is refused."""
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
        final_of_seen[[code_seen[label] for label in labels]] = np.arange(len(labels))
        indptr = bounds_of(lengths)
        items = final_of_seen[np.array(codes, np.int64)]
        sort_rows(indptr, items)
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
        indptr = bounds_of(lengths)
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


def bounds_of(lengths: Sequence[int] | Numbers) -> Numbers:
    """Return where rows of such lengths begin, and where the last ends."""
    bounds = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(np.asarray(lengths, np.int64), out=bounds[1:])
    return bounds


def _check_rows(indptr: Numbers, items: Codes) -> None:
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
def sort_rows(indptr: Numbers, items: Codes) -> None:
    """Sort each row in place."""
    for row in range(len(indptr) - 1):
        for position in range(indptr[row] + 1, indptr[row + 1]):
            if items[position] < items[position - 1]:
                sort_between(items, indptr[row], indptr[row + 1])
                break


@jit
def _distinct(indptr: Numbers, items: Codes) -> tuple[Numbers, Numbers]:
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


@dataclass(frozen=True)
class PublishedHierarchy:
    """For each published label its path, from itself to its root."""

    path_of_label: dict[str, tuple[str, ...]]

    @property
    def roots(self) -> frozenset[str]:
        """The labels without a parent."""
        return frozenset(path[-1] for path in self.path_of_label.values())

    @property
    def labels(self) -> frozenset[str]:
        """All labels it tells: the published ones and those above them."""
        return frozenset(label for path in self.path_of_label.values() for label in path)

    @property
    def nested(self) -> tuple[str, ...]:
        """The published labels that are ancestors of other published labels, sorted."""
        above = {label for path in self.path_of_label.values() for label in path[1:]}
        return tuple(sorted(above & set(self.path_of_label)))

    @property
    def is_of_columns(self) -> bool:
        """Whether each tree is that of a table's column: all its labels start with ``column=``."""
        column_of_root: dict[str, str] = {}
        for path in self.path_of_label.values():
            columns = {label.partition("=")[0] for label in path if "=" in label}
            if len(columns) != 1 or not all("=" in label for label in path):
                return False
            column_of_root[path[-1]] = columns.pop()
        return len(set(column_of_root.values())) == len(column_of_root)

    def leaves_under(self) -> dict[str, tuple[str, ...]]:
        """Return the leaves that each published label covers, as far as the release tells.

        The leaves themselves are not published, so each label stands for one leaf that only it and
        its ancestors cover. That is the careful reading: a label above others may cover leaves that
        no other label does.
        """
        covered: dict[str, list[str]] = {label: [] for label in self.path_of_label}
        for label, path in self.path_of_label.items():
            for above in path:
                if above in covered:
                    covered[above].append(label)
        return {label: tuple(sorted(leaves)) for label, leaves in covered.items()}


def read_hierarchy(text: str) -> PublishedHierarchy:
    """Return the hierarchy, or raise `HierarchyError` or `DataError` naming the line."""
    rows, numbers = parse_csv(text, ";", HIERARCHY)
    path_of_label: dict[str, tuple[str, ...]] = {}
    parent_of: dict[str, tuple[str | None, int]] = {}
    previous = ""
    unpadded = not rows
    for row, number in zip(rows, numbers, strict=True):
        if len(row) != len(rows[0]):
            raise _wrong(f"{len(row)} cells, but the first row has {len(rows[0])}.", number)
        if "" in row:
            raise _wrong("a cell is empty.", number)
        if row[0] <= previous:
            raise _wrong("the rows are not sorted by their first label, each once.", number)
        previous = row[0]
        length = len(row)
        while length > 1 and row[length - 1] == row[length - 2]:
            length -= 1
        unpadded = unpadded or length == len(row)
        path = tuple(row[:length])
        if len(set(path)) != length:
            raise _wrong(f"a label comes twice on the path of {shortened(row[0])}.", number)
        parents: tuple[str | None, ...] = (*path[1:], None)
        for label, parent in zip(path, parents, strict=True):
            known, line = parent_of.setdefault(label, (parent, number))
            if known != parent:
                raise _wrong(f"{shortened(label)} has another parent here than on line {line}.", number)
        path_of_label[row[0]] = path
    if not unpadded:
        raise _wrong("every row is padded, so the last column is not needed.", 1)
    return PublishedHierarchy(path_of_label)


def check_against(
    hierarchy: PublishedHierarchy, labels: tuple[str, ...], *, local: bool, forest: bool
) -> None:
    """Raise `HierarchyError` unless the hierarchy fits the labels that occur in the data.

    Where recoding is `local` a label and its ancestor may both be published, in a `forest` there may be
    several roots. Labels that are all roots are always allowed.
    """
    known = set(hierarchy.path_of_label)
    missing = sorted(set(labels) - known)
    if missing:
        raise _wrong(f"the published label {shortened(missing[0])} has no row.")
    spare = sorted(known - set(labels))
    if spare:
        raise _wrong(f"{shortened(spare[0])} has a row but is not published.")
    if hierarchy.nested and not local:
        named = f"{shortened(hierarchy.nested[0])} is published and above another published label"
        raise _wrong(f"{named}, which a global recoding cannot give.")
    flat = all(len(path) == 1 for path in hierarchy.path_of_label.values())
    if len(hierarchy.roots) > 1 and not forest and not flat:
        raise _wrong(f"there are {len(hierarchy.roots)} roots.")


def check_apart(hierarchy: PublishedHierarchy, labels: frozenset[str]) -> None:
    """Raise `HierarchyError` unless each of these labels is a tree of its own.

    A sensitive label below a published one would be told by that one too, and one above others would
    be told by them; the counting sees neither. Labels that are not published are passed over.
    """
    for label in sorted(labels & set(hierarchy.path_of_label)):
        if len(hierarchy.path_of_label[label]) > 1:
            above = shortened(hierarchy.path_of_label[label][1])
            raise _wrong(f"the sensitive label {shortened(label)} is below {above}.")
    for path in hierarchy.path_of_label.values():
        for label in sorted(labels & set(path[1:])):
            raise _wrong(f"the sensitive label {shortened(label)} is above {shortened(path[0])}.")


def _wrong(what: str, line: int | None = None) -> HierarchyError:
    return HierarchyError(what, REMEDY, code="published-hierarchy", file=HIERARCHY, line=line)
