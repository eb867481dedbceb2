"""Do the columns of a table hold what they are said to hold?

A cell ``401;428;250`` taken for one value is published as the whole list it is, and most such lists
are one person's alone. A sensitive column in which most people have a value of their own protects
nobody, and a column with a value of its own for every row names people. All of it is told from counts,
with the same numbers for sets, buckets and pairs. The first two are refused, unless `as_is` says that
they are meant; the last is told where records are to be published.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import DataError, Problem
from .columns import FRAME, ID_NAMES, Column, Columns
from .source import shorten

MARKS = ";|, "
"""What stands between the values of a list; the first of those that fit equally well is taken."""
FEW_ROWS = 20
"""Up to so many rows, different values tell nothing."""
LEAST_LISTS = 4
"""Fewer cells with several values are no column of lists."""
NEARLY_ALL = (9, 10)
"""Nine of ten, compared as whole numbers."""

_MORE_ID_NAMES = frozenset({"name", "surname", "email", "e_mail", "phone", "ssn", "mrn", "case_no"})
_MEASURE = re.compile(
    r"[<>=~≤≥+-]?\s?\d+([.,]\d+)?(\s?[-–/:x]\s?[+-]?\d+([.,]\d+)?)*(\s?[^\d\s,;|]{1,12})?"
)
"""A number with its unit, or a range of numbers: the comma in it is a decimal one."""
_THOUSANDS = re.compile(r"[+-]?\d{1,3}([, ]\d{3})+([.,]\d+)?")
_CODE = re.compile(r"[^\W\d]{0,4}\d[\w.]{0,9}")


@dataclass(frozen=True)
class Roles:
    """What the columns of a table are said to be, and whether that is beyond doubt.

    `single` are columns of one value a cell, `sensitive` is the one that nobody shall learn, `sets`
    tells the separator of each set-valued column of texts. `others` are columns that could be named
    besides. `missing` are texts that stand for no value, `split_by` is the column that makes two data
    sets of a table.
    """

    single: tuple[str, ...]
    sensitive: str | None = None
    sets: Mapping[str, str] | None = None
    others: tuple[str, ...] = ()
    missing: frozenset[str] = frozenset()
    split_by: str | None = None
    as_is: bool = False

    @property
    def telling(self) -> tuple[str, ...]:
        """Other columns that may tell who somebody is without naming him."""
        return tuple(name for name in self.others if not _names_people(name))[:3]


def look_at_columns(columns: Columns, roles: Roles) -> tuple[str, ...]:
    """Return what is to tell of the columns; `DataError` where one is not what it is said to be.

    With `as_is` what would be refused is told instead."""
    tallies = {
        name: Tally.of(column, roles.missing)
        for name, column in columns.by_name.items()
        if name in (*roles.single, roles.sensitive, *(roles.sets or ()))
    }
    mark_of_list: dict[str, str] = {}
    told: dict[str, str] = {}
    for name, tally in tallies.items():
        separator = (roles.sets or {}).get(name)
        found = tally.lists() if separator is None else tally.missed_separator(separator)
        if found is None:
            continue
        mark, cells = found
        mark_of_list[name] = mark
        told[name] = (
            _told_of_lists(name, mark, cells, tally)
            if separator is None
            else _told_of_separator(name, mark, cells, tally, separator)
        )
    remedy = _remedy_of_lists(columns, roles, mark_of_list) if told else ""
    problems = [Problem("looks-like-lists", what, remedy, columns.file) for what in told.values()]
    sensitive = roles.sensitive
    if sensitive in tallies and sensitive not in told and sensitive not in (roles.sets or {}):
        tally = tallies[sensitive]
        if tally.mostly_alone:
            remedy = _remedy_of_lone_values(columns, roles)
            what = _told_of_lone_values(sensitive, tally)
            problems.append(Problem("mostly-unique", what, remedy, columns.file))
    if problems and not roles.as_is:
        raise DataError(problems)
    told_of = [f"taken as it is: {problem.what}" for problem in problems]
    if sensitive in tallies and not problems and sensitive not in (roles.sets or {}):
        told_of += tallies[sensitive].suspicion(sensitive)
    return tuple(told_of)


@dataclass(frozen=True)
class Tally:
    """How often each value of a column occurs; cells without one do not count."""

    count_of_value: Mapping[str, int]

    @classmethod
    def of(cls, column: Column, missing: frozenset[str]) -> Tally:
        """Count the values of a column.

        >>> Tally.of(Column(["a", "", "b"], np.array([0, 0, 1, -1], dtype=np.int32)), frozenset())
        Tally(count_of_value={'a': 2})
        """
        codes = column.code_of_row
        counts = np.bincount(codes[codes >= 0], minlength=len(column.values))
        used = np.flatnonzero(counts)
        pairs = [(column.values[code], int(counts[code])) for code in used.tolist()]
        return cls({value: count for value, count in pairs if value and value not in missing})

    @property
    def cells(self) -> int:
        """How many cells have a value."""
        return sum(self.count_of_value.values())

    @property
    def alone(self) -> int:
        """How many cells have a value that no other cell has."""
        return sum(count == 1 for count in self.count_of_value.values())

    @property
    def mostly_alone(self) -> bool:
        """Whether more than half of the cells have a value that no other cell has."""
        return self.cells > FEW_ROWS and 2 * self.alone > self.cells

    def lists(self) -> tuple[str, int] | None:
        """Return the mark between the values of cells that are lists, and how many cells hold it.

        A quarter of the cells must hold the mark. What tells a list from an address, a name or a date
        are its parts: those of a list stand now first, now behind another one, and there are now more,
        now fewer of them, while those of an address have their places. So of all parts a third must be
        such as stand in both places, or three quarters where nine of ten cells have equally many and
        not all are numbers, as in points. Codes alone are a list wherever they stand, if cells have
        three different numbers of them.

        >>> lists = {"401;428;250": 2, "250;401": 3, "428": 1, "401": 1}
        >>> Tally(lists).lists()
        (';', 5)
        >>> Tally({"Street 3; flat 2": 9, "Street 5; flat 1": 3, "Street 5": 2}).lists() is None
        True
        """
        for mark in MARKS:
            holding = [value for value in self.count_of_value if mark in value]
            cells = self._count(holding)
            if cells < LEAST_LISTS or 4 * cells < self.cells:
                continue
            codes = self._are_codes(holding, mark)
            if mark == " " and not codes:  # words are parted by blanks too
                continue
            if mark in ", " and self._are_numbers(holding, mark):
                continue
            if self._vary(mark, codes=codes):
                return mark, cells
        return None

    def _vary(self, mark: str, *, codes: bool) -> bool:
        """Tell whether the parts of cells vary in number and place as those of lists do."""
        part, of = NEARLY_ALL
        first: Counter[str] = Counter()
        behind: Counter[str] = Counter()
        cells_of_length: Counter[int] = Counter()
        for value, count in self.count_of_value.items():
            parts = _parts(value, mark)
            cells_of_length[len(parts)] += count
            for place, one in enumerate(dict.fromkeys(parts)):
                (behind if place else first)[one] += count
        varied = max(cells_of_length.values()) * of < self.cells * part
        total = first.total() + behind.total()
        in_both = sum(first[one] + behind[one] for one in first.keys() & behind.keys())
        if mark == " ":
            return varied and 3 * in_both >= total
        if varied and (3 * in_both >= total or (codes and len(cells_of_length) > 2)):
            return True
        points = all(one.isdecimal() for one in first.keys() | behind.keys())
        return not points and 4 * in_both >= 3 * total

    def suspicion(self, name: str) -> list[str]:
        """Return what to tell where many values hold a mark, and it cannot be said whether it parts."""
        values = self.count_of_value
        for mark in "|;,":
            holding = [value for value in values if mark in value]
            if len(values) < 4 or 4 * len(holding) < len(values) or self._are_numbers(holding, mark):
                continue
            return [
                f"{len(holding):,} of {len(values):,} values of {shorten(name)} hold {mark!r}. If "
                "these are lists, each counts as one value; l^m-diversity (--set) protects their parts."
            ]
        return []

    def missed_separator(self, separator: str) -> tuple[str, int] | None:
        """Return a better separator for cells that are sets, and how many of them hold it.

        >>> Tally({"ale;milk": 2, "bun": 1}).missed_separator(" ")
        (';', 2)
        >>> Tally({"ale; milk": 2, "bun": 1}).missed_separator(" ")
        (';', 2)
        >>> Tally({"ale milk": 2, "bun": 1}).missed_separator(" ") is None
        True
        """
        split = [value for value in self.count_of_value if len(_parts(value, separator)) > 1]
        if split and separator != " ":
            return None
        for mark in MARKS:
            if mark == separator:
                continue
            if split:  # by blanks: do they only follow the mark that counts?
                ending = [v for v in split if all(p.endswith(mark) for p in v.split(" ")[:-1])]
                cells = self._count(ending)
                if mark.strip() and 2 * cells >= self._count(split):
                    return mark, self._count(v for v in self.count_of_value if mark in v)
            elif mark in ";|":
                cells = self._count(v for v in self.count_of_value if len(_parts(v, mark)) > 1)
                if cells and 4 * cells >= self.cells:
                    return mark, cells
        found = self.lists()
        return None if found is None or found[0] == separator else found

    def _count(self, values: Iterable[str]) -> int:
        return sum(self.count_of_value[value] for value in values)

    def _are_codes(self, values: Sequence[str], mark: str) -> bool:
        """Tell whether the parts of nearly all cells are codes."""
        part, of = NEARLY_ALL
        coded = self._count(v for v in values if all(map(_CODE.fullmatch, _parts(v, mark))))
        return coded * of >= self._count(values) * part

    def _are_numbers(self, values: Sequence[str], mark: str) -> bool:
        """Tell whether the mark is a decimal comma, or parts thousands."""
        part, of = NEARLY_ALL
        cells = self._count(values)
        parts_of_cell = [_parts(value, mark) for value in self.count_of_value]
        widths = {len(one) for parts in parts_of_cell for one in parts}
        if len(widths) == 1 and min(widths) > 2 and len({len(parts) for parts in parts_of_cell}) > 1:
            return False  # codes of one length, such as 401,428 and 250
        return any(
            self._count(v for v in values if form.fullmatch(v.strip())) * of >= cells * part
            for form in (_MEASURE, _THOUSANDS)
        )


def _parts(value: str, mark: str) -> list[str]:
    """Return what a mark parts, without blanks around it and empty parts."""
    return [part for piece in value.split(mark) if (part := piece.strip())]


def follows_blank(count_of_cell: Iterable[tuple[str, int]], separator: str) -> bool:
    """Tell whether a separator is followed by a blank at least every other time it occurs.

    >>> follows_blank([("a; b", 1), ("a;b; c", 1)], ";")
    True
    """
    if not separator.strip():
        return False
    total = spaced = 0
    for cell, count in count_of_cell:
        total += cell.count(separator) * count
        spaced += cell.count(separator + " ") * count
    return spaced > 0 and 2 * spaced >= total


def _told_of_lists(name: str, mark: str, cells: int, tally: Tally) -> str:
    lone = sum(count for value, count in tally.count_of_value.items() if count == 1 and mark in value)
    alone = f", {lone:,} of them a list that no other cell holds" if lone else ""
    return (
        f"{cells:,} of {tally.cells:,} cells of column {shorten(name)} hold several values with "
        f"{mark!r} between them{alone}. Here a cell is one value, so a whole list would count as one."
    )


def _told_of_separator(name: str, mark: str, cells: int, tally: Tally, separator: str) -> str:
    return (
        f"{cells:,} of {tally.cells:,} cells of column {shorten(name)} hold {mark!r} between their "
        f"values, and they would be split at {separator!r}: lists would be taken for single items."
    )


def _told_of_lone_values(name: str, tally: Tally) -> str:
    return (
        f"{tally.alone:,} of {tally.cells:,} cells of the sensitive column {shorten(name)} hold a "
        "value that no other cell holds: such a value tells whose it is, and that the values of people "
        "differ protects nobody where nearly all do."
    )


def told_of_identifiers(
    values_of_column: Mapping[str, int], records: int, *, remedy: str
) -> tuple[str, ...]:
    """Return a notice for each column to be published that can name people.

    `values_of_column` tells how many different values a column has, `remedy` how one is left out.

    >>> told_of_identifiers({"zip": 30, "patient_id": 40}, 100, remedy="leave it out")
    ("column 'patient_id' looks like an identifier: it has 40 values in 100 records; leave it out.",)
    """
    told = []
    part, of = NEARLY_ALL
    for name, values in values_of_column.items():
        if records > FEW_ROWS and values * of > records * part:
            told.append(
                f"nearly every record has a value of its own in column {shorten(name)}, which can "
                f"identify people: {remedy}."
            )
        elif records > FEW_ROWS and 4 * values > records and _names_people(name):
            told.append(
                f"column {shorten(name)} looks like an identifier: it has {values:,} values in "
                f"{records:,} records; {remedy}."
            )
    return tuple(told)


def _names_people(name: str) -> bool:
    plain = re.sub(r"[\W_]+", "_", name.casefold()).strip("_")
    return plain in ID_NAMES | _MORE_ID_NAMES or plain.endswith(("_id", "_name"))


def _remedy_of_lists(columns: Columns, roles: Roles, mark_of_list: Mapping[str, str]) -> str:
    """Return the two commands that would be right, with the names of the file and its columns."""
    one = {name: f"main_{name}" for name in mark_of_list}
    meant = "If a cell really is one value: --as-is (as_is=True in Python)."
    if roles.sensitive is None and roles.sets is None:  # two data sets, compared cell by cell
        kept = [one.get(name, name) for name in roles.single]
        rest = [name for name in roles.single if name not in one]
        leaving = f"Leave it out: `{_pair_command(columns, roles, rest)}`. " if rest else ""
        return (
            f"{leaving}Or, with one value a cell in a column of its own: "
            f"`{_pair_command(columns, roles, kept)}`. {meant}"
        )
    sets = {**(roles.sets or {}), **mark_of_list}
    keep = [name for name in roles.single if name not in sets]
    sensitive = roles.sensitive
    target = sensitive or next(iter(mark_of_list))
    quasi = [one.get(name, name) for name in (*roles.single, *(roles.sets or {})) if name != target]
    quasi = quasi or list(roles.telling) or ["COLUMNS"]
    as_sets = _sets_command(columns.file, sets, keep, sensitive)
    as_one = _buckets_command(columns.file, quasi, one.get(target, target))
    return (
        f"For sets of values: `{as_sets}`. For one value a person, in a column of its own: `{as_one}`. "
        f"{meant}"
    )


def _remedy_of_lone_values(columns: Columns, roles: Roles) -> str:
    quasi = roles.single or roles.telling or ("COLUMNS",)
    group = f"{roles.sensitive}_group"
    if roles.sets is not None:
        command = _sets_command(columns.file, roles.sets, list(roles.single), group)
    else:
        command = _buckets_command(columns.file, list(quasi), group)
    return (
        f"Group its values (ranges, main groups) in a column of its own: `{command}`. "
        "If it is meant so: --as-is (as_is=True in Python)."
    )


def _sets_command(
    file: str | None, sets: Mapping[str, str], keep: Sequence[str], sensitive: str | None
) -> str:
    kept = [name for name in keep if name != sensitive]
    if file == FRAME:
        more = [f"keep={kept}"] if kept else []
        more += [f"sensitive={sensitive!r}"] if sensitive else []
        return f"setveil.from_frame({', '.join(['frame', f'set_columns={dict(sets)}', *more])})"
    words = [word for name, mark in sets.items() for word in ("--set", name, "--set-separator", mark)]
    words += ["--keep", ",".join(kept)] if kept else []
    words += (
        ["--sensitive-column", sensitive, "--l", "3", "-m", "2"]
        if sensitive
        else ["-k", "5", "-m", "2"]
    )
    return _command(file, words)


def _buckets_command(file: str | None, quasi: Sequence[str], sensitive: str) -> str:
    if file == FRAME:
        call = "setveil.io.microdata.microdata_from_frame"
        return f"{call}(frame, quasi={list(quasi)}, sensitive={sensitive!r})"
    return _command(file, ["--quasi", ",".join(quasi), "--sensitive", sensitive, "--l", "3"])


def _pair_command(columns: Columns, roles: Roles, names: Sequence[str]) -> str:
    if columns.file == FRAME:
        return f"setveil.read_pattern_pair(..., attributes={list(names)})"
    split = ["--class-column", roles.split_by] if roles.split_by else ["--against", "OTHER", "--table"]
    return _command(columns.file, [*split, "--attributes", ",".join(names), "--growth", "5"])


def _command(file: str | None, words: Sequence[str]) -> str:
    name = "-" if file == "stdin" else file or "DATA"
    command = shlex.join(["setveil", "anonymize", name, *words, "-o", "release"])
    return command if command.isprintable() else ascii(command)[1:-1]
