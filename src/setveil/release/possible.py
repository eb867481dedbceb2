"""Which values are possible for whom in buckets, for whoever knows the rules.

Classes of interchangeable tuples have the same sensitive value and the same values ruled out. To
whoever knows the rules, and nothing else, tuples of a class are alike. A value is possible for a tuple
if the rules allow it and the other tuples of its bucket can share the other values among them
(Definition 1 of Li and Li, 2008); `kernels.buckets.assignments` finds that out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..distinct import count_distinct, first_places, number_distinct
from ..kernels.base import plain
from ..kernels.buckets.assignments import (
    count_valid,
    fill_assignment,
    find_components,
    find_valid,
    list_valid,
)
from ..model.microdata import Microdata
from ..model.rules import NegativeRule, impossible_values
from .buckets import Bucketing

Ids = NDArray[np.int32]
Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]

DIGITS = 62
"""How many yes-or-no columns fit into one whole number."""


@dataclass(frozen=True, eq=False)
class TupleClasses:
    """Classes in the order of value and set; sets in the order of their members.

    A class has a sensitive value and the number of a set of impossible values; `impossible_by_set`
    tells which values (columns) each set (lines) holds. `no_value` is the number of the value that
    stands for none, -1 where there is no such.
    """

    class_by_tuple: Ids
    value_by_class: Ids
    set_by_class: Ids
    impossible_by_set: Flags
    no_value: int = -1

    def __len__(self) -> int:
        return len(self.value_by_class)

    @cached_property
    def count_by_class(self) -> Counts:
        return np.bincount(self.class_by_tuple, minlength=len(self)).astype(np.int64)

    @cached_property
    def is_denied(self) -> Flags:
        """Whether the rules rule out a class's own value: known facts that the data contradict."""
        denied: Flags = self.impossible_by_set[self.set_by_class, self.value_by_class]
        return denied


def classify(data: Microdata, rules: Iterable[NegativeRule]) -> TupleClasses:
    """Return the classes of the tuples of `data` under `rules`."""
    impossible = impossible_values(data, tuple(rules))
    set_by_tuple, first = number_lines(impossible)
    joined = data.value_by_tuple.astype(np.int64) * max(1, len(first)) + set_by_tuple
    found, class_by_tuple = number_distinct(joined)
    return TupleClasses(
        class_by_tuple.astype(np.int32),
        (found // max(1, len(first))).astype(np.int32),
        (found % max(1, len(first))).astype(np.int32),
        impossible[first],
        data.no_value,
    )


def number_lines(flags: Flags) -> tuple[Counts, Counts]:
    """Return a number for each line, the same for equal lines, and one line of each number."""
    number = np.zeros(len(flags), dtype=np.int64)
    first = np.zeros(min(1, len(flags)), dtype=np.int64)
    told = np.flatnonzero(flags.any(axis=0) & ~flags.all(axis=0)) if len(flags) else np.empty(0, int)
    for low in range(0, len(told), DIGITS):
        digits = np.zeros(len(flags), dtype=np.int64)
        for column in told[low : low + DIGITS]:
            digits = 2 * digits + flags[:, column]
        digits = number_distinct(digits)[1]
        joined = number * (int(digits.max()) + 1) + digits
        values, number = number_distinct(joined)
        first = first_places(number, len(values))
    return number, first


def valid_pairs(held: NDArray[np.int64], allowed: Flags) -> Flags | None:
    """Return which pairs of set (line) and value (column) of one bucket occur in some assignment.

    `held` tells how many tuples with the impossible values of a line have the value of a column,
    `allowed` whether such tuples may have it. None where no assignment exists at all.

    >>> women_and_men = np.array([[1, 0, 0], [0, 1, 1]])  # ovarian cancer, flu, heart disease
    >>> valid_pairs(women_and_men, np.array([[True, True, True], [False, True, True]]))
    array([[ True, False, False],
           [False,  True,  True]])
    """
    exists, valid = find_valid(plain(held, np.int64), plain(allowed, np.bool_))
    return valid if exists else None


def possible_counts(classes: TupleClasses, bucketing: Bucketing) -> Ids:
    """Return how many values are possible for each tuple; 0 where its bucket has no assignment.

    What stands for no value counts as none.
    """
    if not len(bucketing):
        return np.empty(0, dtype=np.int32)
    joined = bucketing.bucket_by_tuple.astype(np.int64) * len(classes) + classes.class_by_tuple
    found, place_by_tuple = number_distinct(joined)
    counts = np.bincount(place_by_tuple)
    bucket, member = found // len(classes), found % len(classes)
    start = np.searchsorted(bucket, np.arange(bucketing.n_buckets + 1))
    possible: Ids = count_valid(
        plain(start, np.int64),
        plain(classes.set_by_class[member], np.int32),
        plain(classes.value_by_class[member], np.int32),
        plain(counts, np.int64),
        plain(classes.impossible_by_set, np.bool_),
        classes.no_value,
    )
    return possible[place_by_tuple]


def possible_values(classes: TupleClasses, bucketing: Bucketing) -> tuple[Ids, Ids]:
    """Return all pairs of a tuple and a value that is possible for it, bucket after bucket.

    What stands for no value is among them.
    """
    n_sets, n_values = classes.impossible_by_set.shape
    set_by_tuple = classes.set_by_class[classes.class_by_tuple]
    joined = bucketing.bucket_by_tuple.astype(np.int64) * n_sets + set_by_tuple
    lines, line_by_tuple = number_distinct(joined)
    held, counts = count_distinct(
        line_by_tuple * n_values + classes.value_by_class[classes.class_by_tuple]
    )
    start, values = list_valid(
        plain(np.searchsorted(lines // n_sets, np.arange(bucketing.n_buckets + 1)), np.int64),
        plain(lines % n_sets, np.int32),
        plain(np.searchsorted(held // n_values, np.arange(len(lines) + 1)), np.int64),
        plain(held % n_values, np.int32),
        plain(counts, np.int64),
        plain(classes.impossible_by_set, np.bool_),
    )
    order = np.argsort(line_by_tuple, kind="stable")
    width = np.diff(start)[line_by_tuple[order]]
    first = np.cumsum(width) - width
    place = np.arange(width.sum()) + np.repeat(start[line_by_tuple[order]] - first, width)
    return np.repeat(order, width).astype(np.int32), values[place]


@dataclass(frozen=True, eq=False)
class SharedBucket:
    """The people of one bucket and the values that they share, whoever has which.

    `members` are tuples; those with the same impossible values have the same `line`. `values` are the
    columns, each for as many people as `spare` tells, and `need` is how many people a line has.
    """

    members: Ids
    line: Counts
    values: Ids
    need: Counts
    spare: Counts
    allowed: Flags

    @classmethod
    def of(cls, classes: TupleClasses, members: Ids) -> SharedBucket:
        which = classes.class_by_tuple[members]
        sets, line = number_distinct(classes.set_by_class[which])
        values, column = number_distinct(classes.value_by_class[which])
        return cls(
            members,
            line,
            values,
            np.bincount(line).astype(np.int64),
            np.bincount(column).astype(np.int64),
            np.ascontiguousarray(~classes.impossible_by_set[np.ix_(sets, values)]),
        )

    def column_of(self, value: int) -> int:
        """Return the column of a value, -1 where nobody has it."""
        column = int(np.searchsorted(self.values, value))
        return column if column < len(self.values) and self.values[column] == value else -1

    def valid_where(self, has: Mapping[int, int]) -> Flags | None:
        """Return which members (lines) can have which values (columns); None where that cannot be.

        `has` tells of the place of a member the column of the value that it has.
        """
        need, spare = self.need.copy(), self.spare.copy()
        for place, column in has.items():
            if not self.allowed[self.line[place], column] or not spare[column]:
                return None
            need[self.line[place]] -= 1
            spare[column] -= 1
        flow = np.zeros(self.allowed.shape, dtype=np.int64)
        if not fill_assignment(flow, need, spare, self.allowed):
            return None
        component = find_components(flow, self.allowed)
        by_line, by_column = component[: len(flow), None], component[len(flow) :]
        valid: Flags = (self.allowed & ((flow > 0) | (by_line == by_column)))[self.line]
        for place, column in has.items():
            valid[place] = False
            valid[place, column] = True
        return valid


def possible_together(data: Microdata, rules: Sequence[NegativeRule]) -> Ids:
    """Return how many values are possible for each tuple where all share one bucket.

    Tuples without a value are left aside for the others, whom they hide from nobody.
    """
    counts = _together(classify(data, rules))
    if not data.has_value.all():
        alone = _together(classify(data.subset(data.has_value), rules))
        counts[data.has_value] = np.minimum(counts[data.has_value], alone)
    return counts


def _together(classes: TupleClasses) -> Ids:
    n_tuples = len(classes.class_by_tuple)
    return possible_counts(classes, Bucketing(np.zeros(n_tuples, dtype=np.int32)))
