"""Counts that a reader of buckets reconstructs, and how wrong counting queries become by them.

A reader of buckets reconstructs counts: each tuple has the values of its bucket in equal parts. Of the
tuples that meet a condition on quasi-identifying columns, those in bucket b count for a value with its
share in b. Sums of such shares have the bucket sizes below the line, and are kept as whole numbers over
one common denominator. Answers to counting queries (Li and Li, 2008, section VI-D) add up such shares;
their error is relative to the true count. A query counts tuples with certain values in some
quasi-identifying columns and a certain sensitive value, each one of a random set.

Differences from the paper
--------------------------
The relative error of a true count of 0 has no meaning, so such queries are drawn again, and how many
draws were needed is told. Sets of values are not empty for the same reason. The paper does not say how
many sensitive values a query has; here they are drawn as those of the columns are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import fsum, lcm
from random import Random

import numpy as np
from numpy.typing import NDArray

from ..distinct import count_distinct
from ..errors import UsageError
from ..model.microdata import Microdata
from ..model.numbers import whole_number
from ..progress import Watch
from ..release.buckets import Bucketing

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


DRAWS_PER_QUERY = 1000
"""How often a query is drawn, on average, before there are too few that any tuple fits."""


@dataclass(frozen=True)
class CountQuery:
    """Sets of leaves by the place of their attribute, a set of sensitive values, and the true count."""

    leaves: tuple[tuple[int, frozenset[int]], ...]
    values: frozenset[int]
    true: int

    def meets(self, data: Microdata) -> NDArray[np.bool_]:
        """Return which tuples fit the quasi-identifying part."""
        found = np.ones(len(data), dtype=np.bool_)
        for place, leaves in self.leaves:
            attribute = data.quasi[place]
            wanted = np.zeros(attribute.hierarchy.n_leaves, dtype=np.bool_)
            wanted[list(leaves)] = True
            found &= wanted[attribute.leaf_by_tuple]
        return found


@dataclass(frozen=True)
class Queries:
    """Random queries that some tuple fits; `drawn` is how many were drawn for them."""

    queries: tuple[CountQuery, ...]
    drawn: int

    def __len__(self) -> int:
        return len(self.queries)


@dataclass(frozen=True)
class QueryErrors:
    """The mean relative error of answers from buckets; 1 is 100 percent.

    `queries` were asked, of `drawn`: the others count nothing in the original table. `mean` is None
    where there was no query to ask.
    """

    queries: int
    drawn: int
    mean: float | None


def draw_queries(
    data: Microdata,
    *,
    columns: int,
    selectivity: Exact,
    random: Random,
    count: int = 1000,
) -> Queries:
    """Return random queries that some tuple of `data` fits.

    A query is about `columns` quasi-identifying columns (dim); `selectivity` (sel), above 0 and at most
    1, is the largest share of a column's values that it names, and how many it names is drawn evenly
    from 1 to that. Chance hides nothing here, so a constant seed is right.
    """
    whole_number("columns", columns, least=1)
    whole_number("count", count, least=1)
    if columns > len(data.quasi):
        raise UsageError(
            f"a query about {columns} columns is asked for, and there are {len(data.quasi)}.",
            f"Give at most {len(data.quasi)}.",
        )
    share = exact_number("selectivity", selectivity)
    if not 0 < share <= 1:
        raise UsageError(f"selectivity={share} is out of range.", "Allowed: 0 < selectivity <= 1.")
    found: list[CountQuery] = []
    drawn = 0
    while len(found) < count and drawn < DRAWS_PER_QUERY * count and len(data):
        drawn += 1
        places = sorted(random.sample(range(len(data.quasi)), columns))
        leaves = tuple(
            (place, _some(random, data.quasi[place].hierarchy.n_leaves, share)) for place in places
        )
        values = _some(random, len(data.values), share)
        meets = CountQuery(leaves, values, 0).meets(data)
        true = int(np.isin(data.value_by_tuple[meets], list(values)).sum())
        if true:
            found.append(CountQuery(leaves, values, true))
    return Queries(tuple(found), drawn)


def _some(random: Random, size: int, share: Fraction) -> frozenset[int]:
    """Return a random set of 1 to share * size of the numbers below `size`."""
    return frozenset(random.sample(range(size), random.randint(1, max(1, int(share * size)))))


def measure_queries(
    data: Microdata, bucketing: Bucketing, queries: Queries, *, watch: Watch | None = None
) -> QueryErrors:
    """Return the mean relative error of the answers that buckets give."""
    watch = watch or Watch()
    told = Reconstruction.of(data, bucketing)
    errors: list[float] = []
    for place, query in enumerate(queries.queries):
        watch.tick("queries on buckets", place / len(queries))
        answer = told.count(query.meets(data), query.values)
        errors.append(float(abs(answer - query.true) / query.true))
    return QueryErrors(len(queries), queries.drawn, fsum(errors) / len(errors) if errors else None)
