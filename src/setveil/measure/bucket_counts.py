"""Counts that a reader of buckets reconstructs: each tuple has the values of its bucket in equal parts.

Of the tuples that meet a condition on quasi-identifying columns, those in bucket b count for a value
with its share in b. Sums of such shares have the bucket sizes below the line, and are kept as whole
numbers over one common denominator.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from ..distinct import count_distinct
from ..errors import UsageError
from ..model.microdata import Microdata
from ..release.bucketing import Bucketing

Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]
Exact = Fraction | int | str
"""A number that is what it says; a text such as "0.01" is taken exactly."""


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """What buckets tell about how many tuples have which value.

    Entries are the values of buckets, those of one bucket size and one value next to each other.

    >>> data = Microdata.from_columns({"sex": list("FMM"), "ill": ["flu", "flu", "gout"]}, "ill")
    >>> two = Reconstruction.of(data, Bucketing(np.array([0, 1, 1], dtype=np.int32)))
    >>> two.counts(np.array([False, False, True]))
    (Fraction(1, 2), Fraction(1, 2))
    """

    bucket_by_tuple: NDArray[np.int32]
    n_buckets: int
    n_values: int
    denominator: int
    bucket_by_entry: Counts
    count_by_entry: Counts
    start_by_part: Counts
    """A part is a bucket size and a value; where its entries begin."""
    value_by_part: tuple[int, ...]
    factor_by_part: tuple[int, ...]
    """The common denominator divided by the bucket size."""

    @classmethod
    def of(cls, data: Microdata, bucketing: Bucketing) -> Reconstruction:
        """Return what these buckets tell."""
        n_values = len(data.values)
        sizes = np.bincount(bucketing.bucket_by_tuple, minlength=bucketing.n_buckets)
        joined = bucketing.bucket_by_tuple.astype(np.int64) * n_values + data.value_by_tuple
        held, count = count_distinct(joined)
        bucket, value = np.divmod(held, n_values)
        order = np.lexsort((value, sizes[bucket]))
        part = sizes[bucket][order] * n_values + value[order]
        parts, start = np.unique(part, return_index=True)
        denominator = lcm(*np.unique(sizes).tolist()) if len(sizes) else 1
        return cls(
            bucketing.bucket_by_tuple,
            bucketing.n_buckets,
            n_values,
            denominator,
            bucket[order].astype(np.int64),
            count[order].astype(np.int64),
            start.astype(np.int64),
            tuple((parts % n_values).tolist()),
            tuple(denominator // size for size in (parts // n_values).tolist()),
        )

    def numerators(self, meets: Flags) -> list[int]:
        """Return for each value how many of the tuples that meet a condition have it, as told.

        The numbers are those of `counts` times `denominator`.
        """
        told = [0] * self.n_values
        if not self.value_by_part:
            return told
        meeting = np.bincount(self.bucket_by_tuple[meets], minlength=self.n_buckets)
        weighted = meeting[self.bucket_by_entry] * self.count_by_entry
        sums = np.add.reduceat(weighted, self.start_by_part).tolist()
        for value, factor, total in zip(self.value_by_part, self.factor_by_part, sums, strict=True):
            told[value] += factor * int(total)
        return told

    def counts(self, meets: Flags) -> tuple[Fraction, ...]:
        """Return for each value how many of the tuples that meet a condition have it, as told."""
        return tuple(Fraction(number, self.denominator) for number in self.numerators(meets))

    def count(self, meets: Flags, values: Iterable[int]) -> Fraction:
        """Return how many of the tuples that meet a condition have one of these values, as told."""
        told = self.numerators(meets)
        return Fraction(sum(told[value] for value in set(values)), self.denominator)


def exact_number(name: str, value: object) -> Fraction:
    """Return a number exactly; floats are refused, for the nearest one to 0.1 is not 0.1.

    >>> exact_number("min_support", "0.01")
    Fraction(1, 100)
    """
    if isinstance(value, Fraction | int | str) and not isinstance(value, bool):
        try:
            return Fraction(value)
        except (ValueError, ZeroDivisionError):
            pass
    raise UsageError(
        f"{name} must be an exact number (got {str(value)[:40]!r}).",
        "Give a fraction or a text, for example '0.01'.",
    )
