"""How useful a table in buckets still is: rules seen in it, and answers to queries, in one call.

Both are measures of Li and Li (2008), sections VI-C and VI-D. A reader of buckets reconstructs counts:
each tuple has the values of its bucket in equal parts. Of the tuples that meet a condition on
quasi-identifying columns, those in bucket b count for a value with its share in b. Sums of such shares
have the bucket sizes below the line, and are kept as whole numbers over one common denominator.

A rule says that whoever meets conditions on quasi-identifying columns has a sensitive value. It is
interesting if enough tuples fit it, and if its conviction, P(X) P(not Y) / P(X and not Y), is large
enough. Both tables are mined: the original one, and the counts reconstructed from buckets, in which X
and Y alone are as they were. All comparisons are of whole numbers.

A query counts tuples with certain values in some quasi-identifying columns and a certain sensitive
value, each one of a random set. Answers add up shares of buckets; their error is relative to the true
count.

Differences from the paper
--------------------------
The relative error of a true count of 0 has no meaning, so such queries are drawn again, and how many
draws were needed is told. Sets of values are not empty for the same reason. The paper does not say how
many sensitive values a query has; here they are drawn as those of the columns are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import fsum, lcm
from random import Random

import numpy as np
from numpy.typing import NDArray

from ..distinct import count_distinct
from ..errors import UsageError
from ..model.microdata import Microdata
from ..model.numbers import whole_number
from ..plain import Plain
from ..progress import Watch
from ..release.buckets import Bucketing
from .scores import Figures

Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]
Exact = Fraction | int | str
"""A number that is what it says; a text such as "0.01" is taken exactly."""
DRAWS_PER_QUERY = 1000
"""How often a query is drawn, on average, before there are too few that any tuple fits."""
Conditions = tuple[tuple[int, int], ...]
"""Pairs of an attribute's place and a node of its hierarchy."""
MIN_SUPPORT, MIN_CONVICTION, SELECTIVITY = "0.01", "1.01", "0.3"
QUERIES, DIMENSIONS = 1000, 3


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
        """Return what `counts` does, times `denominator`."""
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
        return tuple(Fraction(number, self.denominator) for number in self.numerators(meets))

    def count(self, meets: Flags, values: Iterable[int]) -> Fraction:
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


@dataclass(frozen=True)
class CountQuery:
    """Sets of leaves by the place of their column, a set of sensitive values, and the true count."""

    leaves: tuple[tuple[int, frozenset[int]], ...]
    values: frozenset[int]
    true: int

    def meets(self, data: Microdata) -> NDArray[np.bool_]:
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


def same_queries(
    data: Microdata,
    *,
    columns: int | None = None,
    selectivity: Exact = SELECTIVITY,
    count: int = QUERIES,
) -> Queries:
    """Return random queries that are the same every time; on 3 columns or all there are, by default."""
    columns = min(DIMENSIONS, len(data.quasi)) if columns is None else columns
    return draw_queries(data, columns=columns, selectivity=selectivity, random=Random(0), count=count)


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


@dataclass(frozen=True)
class RuleErrors(Plain):
    """How far rules in buckets are from those in the original table; 1 is 100 percent.

    `original` and `found` are how many interesting rules the original table has, and how many the
    buckets tell of. By the number of original ones: `false_positive` are those that only the buckets
    tell of (sigma+), `false_negative` those that the buckets do not tell of (sigma-); `confidence` is
    the mean relative error of theirs (rho). These are None where there is no original one.
    """

    original: int
    found: int
    false_positive: Fraction | None
    false_negative: Fraction | None
    confidence: float | None


@dataclass(frozen=True)
class Interest:
    """When a rule is interesting."""

    min_support: Fraction
    """The least share of tuples that fit the rule."""
    min_conviction: Fraction

    @classmethod
    def of(cls, min_support: Exact, min_conviction: Exact) -> Interest:
        interest = cls(
            exact_number("min_support", min_support), exact_number("min_conviction", min_conviction)
        )
        if not 0 < interest.min_support <= 1 or interest.min_conviction <= 0:
            raise UsageError(
                f"thresholds out of range (support {interest.min_support}, conviction "
                f"{interest.min_conviction}).",
                "Allowed: 0 < min_support <= 1, min_conviction > 0.",
            )
        return interest

    def of_rule(self, both: int, given: int, value: int, n: int, denominator: int = 1) -> bool:
        """Tell whether a rule is interesting that `both` tuples fit, counted in parts of `denominator`.

        `given` meet its conditions, `value` have its value, and there are `n`.
        """
        enough = both >= self.min_support * n * denominator
        against = given * denominator - both
        return enough and given * (n - value) * denominator >= self.min_conviction * n * against


def frequent_conditions(
    data: Microdata, least: Fraction, longest: int
) -> Iterator[tuple[Conditions, Flags]]:
    """Yield the conditions on up to `longest` columns that at least `least` tuples meet, and who does.

    A condition is a value or a category below the root; of categories with the same values only the
    lowest counts.
    """
    level: list[tuple[Conditions, Flags]] = []
    for place, attribute in enumerate(data.quasi):
        tree = attribute.hierarchy
        spans: set[tuple[int, int]] = set()
        for node in range(len(tree)):
            span = (int(tree.first_leaf[node]), int(tree.end_leaf[node]))
            if tree.parent[node] < 0 or span in spans:
                continue
            spans.add(span)
            meets = (attribute.leaf_by_tuple >= span[0]) & (attribute.leaf_by_tuple < span[1])
            if int(meets.sum()) >= least:
                level.append((((place, node),), meets))
    yield from level
    for _ in range(longest - 1):
        longer = []
        for (one, meets), (other, also) in combinations(level, 2):
            # Two sets that differ in their last condition only; columns rise.
            if one[:-1] != other[:-1] or one[-1][0] >= other[-1][0]:
                continue
            both = meets & also
            if int(both.sum()) >= least:
                longer.append(((*one, other[-1]), both))
        yield from longer
        level = longer


def measure_rules(
    data: Microdata,
    bucketing: Bucketing,
    *,
    min_support: Exact,
    min_conviction: Exact,
    max_conditions: int = 2,
    watch: Watch | None = None,
) -> RuleErrors:
    """Compare the interesting rules of a table with those that its buckets tell of."""
    interest = Interest.of(min_support, min_conviction)
    whole_number("max_conditions", max_conditions, least=1)
    watch = watch or Watch()
    told = Reconstruction.of(data, bucketing)
    n, count_by_value = len(data), data.count_by_value.tolist()
    original = found = only_found = only_original = 0
    errors: list[float] = []
    for _, meets in frequent_conditions(data, interest.min_support * n, max_conditions):
        watch.tick("rules in buckets")
        given = int(meets.sum())
        true = np.bincount(data.value_by_tuple[meets], minlength=len(data.values)).tolist()
        for value, number in enumerate(told.numerators(meets)):
            held = count_by_value[value]
            before = interest.of_rule(true[value], given, held, n)
            after = interest.of_rule(number, given, held, n, told.denominator)
            original += before
            found += after
            only_found += after and not before
            only_original += before and not after
            if before:
                # The confidences have the same count of X below the line.
                gap = abs(number - true[value] * told.denominator)
                errors.append(float(Fraction(gap, true[value] * told.denominator)))
    return RuleErrors(
        original,
        found,
        Fraction(only_found, original) if original else None,
        Fraction(only_original, original) if original else None,
        fsum(errors) / len(errors) if errors else None,
    )


@dataclass(frozen=True)
class BucketScores(Figures):
    """How far a table in buckets is from the original one; 1 is 100 percent.

    >>> import setveil as sv
    >>> people = {"sex": ["F", "M", "F", "M"], "ill": ["flu", "cold", "cold", "flu"]}
    >>> table = sv.Microdata.from_columns(people, sensitive="ill")
    >>> release = sv.anonymize(table, sv.LDiversity(l=2))
    >>> scores = measure_buckets(table, release.bucketing, queries=10)
    >>> scores.queries.queries
    10
    """

    rules: RuleErrors
    queries: QueryErrors
    dimensions: int
    selectivity: str

    def as_dict(self) -> dict[str, object]:
        return {
            "rules": self.rules.as_dict(),
            "queries": {
                "asked": self.queries.queries,
                "drawn": self.queries.drawn,
                "mean_error": self.queries.mean,
                "dimensions": self.dimensions,
                "selectivity": self.selectivity,
            },
        }

    def lines(self) -> list[tuple[str, str, str]]:
        rules, queries = self.rules, self.queries
        return [
            (
                "confidence error",
                _percent(rules.confidence),
                f"of {rules.original:,} interesting rules, mean relative error of the confidence",
            ),
            (
                "false rules (sigma+)",
                _percent(None if rules.false_positive is None else float(rules.false_positive)),
                "rules that only the buckets tell of, by the number of original ones",
            ),
            (
                "missed rules (sigma-)",
                _percent(None if rules.false_negative is None else float(rules.false_negative)),
                "original rules that the buckets do not tell of",
            ),
            (
                "query error",
                _percent(queries.mean),
                f"mean relative error of {queries.queries:,} counting queries on {self.dimensions} "
                f"column{'s' * (self.dimensions > 1)} (selectivity {self.selectivity})",
            ),
        ]


def _percent(value: float | None) -> str:
    return "none" if value is None else f"{value:.1%}"


def measure_buckets(
    data: Microdata,
    bucketing: Bucketing,
    *,
    min_support: Exact = MIN_SUPPORT,
    min_conviction: Exact = MIN_CONVICTION,
    max_conditions: int = 2,
    queries: int = QUERIES,
    dimensions: int | None = None,
    selectivity: Exact = SELECTIVITY,
    watch: Watch | None = None,
) -> BucketScores:
    """Return how far a table in buckets is from the original one.

    A rule is interesting by `min_support` and `min_conviction`, and has conditions on up to
    `max_conditions` columns. The random counting queries are the same every time; one is about
    `dimensions` quasi-identifying columns (dim), 3 or as many as there are by default, and names at
    most the share `selectivity` of a column's values (sel).
    """
    if dimensions is None:
        dimensions = min(DIMENSIONS, len(data.quasi))
    drawn = same_queries(data, columns=dimensions, selectivity=selectivity, count=queries)
    rules = measure_rules(
        data,
        bucketing,
        min_support=min_support,
        min_conviction=min_conviction,
        max_conditions=max_conditions,
        watch=watch,
    )
    errors = measure_queries(data, bucketing, drawn, watch=watch)
    return BucketScores(rules, errors, dimensions, str(selectivity))
