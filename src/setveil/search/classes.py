"""Classes of interchangeable tuples: the same sensitive value, and the same values ruled out.

To whoever knows the rules, and nothing else, tuples of a class are alike. Methods therefore choose
among classes, of which there are few, and only at the end a random tuple of a class.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..distinct import first_places, number_distinct
from ..model.microdata import Microdata
from ..model.rules import NegativeRule, impossible_values

Ids = NDArray[np.int32]
Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]

DIGITS = 62
"""How many yes-or-no columns fit into one whole number."""


@dataclass(frozen=True, eq=False)
class TupleClasses:
    """Classes in the order of value and set; sets in the order of their members.

    Attributes
    ----------
    class_by_tuple
        The class of each tuple.
    value_by_class, set_by_class
        The sensitive value of a class, and the number of its set of impossible values.
    impossible_by_set
        Which values (columns) each set (lines) holds.
    no_value
        The number of the value that stands for none; -1 where there is no such.
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
        """How many tuples are in each class."""
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
