"""How useful a table in buckets still is: rules seen in it, and answers to queries, in one call.

Both are measures of Li and Li (2008), sections VI-C and VI-D (`bucket_queries`). A rule says that
whoever meets conditions on quasi-identifying columns has a sensitive value. It is interesting if enough
tuples fit it, and if its conviction, P(X) P(not Y) / P(X and not Y), is large enough. Both tables are
mined: the original one, and the counts reconstructed from buckets, in which X and Y alone are as they
were. All comparisons are of whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import fsum
from random import Random

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from ..model.microdata import Microdata
from ..model.numbers import whole_number
from ..plain import Plain
from ..progress import Watch
from ..release.buckets import Bucketing
from .bucket_queries import (
    Exact,
    QueryErrors,
    Reconstruction,
    draw_queries,
    exact_number,
    measure_queries,
)

Flags = NDArray[np.bool_]
Conditions = tuple[tuple[int, int], ...]
"""Pairs of an attribute's place and a node of its hierarchy."""


@dataclass(frozen=True)
class RuleErrors(Plain):
    """How far rules in buckets are from those in the original table; 1 is 100 percent.

    Attributes
    ----------
    original, found
        How many interesting rules the original table has, and how many the buckets tell of.
    false_positive
        Rules that only the buckets tell of, by the number of original ones (sigma+).
    false_negative
        Original rules that the buckets do not tell of, by their number (sigma-).
    confidence
        The mean relative error of the confidence of the original rules (rho).

    The last three are None where the original table has no interesting rule.
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
        """Return the thresholds, checked."""
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
        """Tell whether a rule is interesting.

        `both`, how many tuples fit the rule, is counted in parts of `denominator`. `given` meet its
        conditions, `value` have its value, and there are `n`.
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


MIN_SUPPORT, MIN_CONVICTION, SELECTIVITY = "0.01", "1.01", "0.3"
QUERIES, DIMENSIONS = 1000, 3


@dataclass(frozen=True)
class BucketScores:
    """How far a table in buckets is from the original one; 1 is 100 percent.

    Attributes
    ----------
    rules
        Errors of association rules.
    queries
        The error of counting queries.
    dimensions, selectivity
        How many columns a query was about, and which share of their values it named at most.
    """

    rules: RuleErrors
    queries: QueryErrors
    dimensions: int
    selectivity: str

    def as_dict(self) -> dict[str, object]:
        """Return plain values."""
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
        """Return name, value and meaning of each measure."""
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

    Parameters
    ----------
    data, bucketing
        The original table, and which tuples share a bucket.
    min_support, min_conviction, max_conditions
        When a rule is interesting, and how many columns it has conditions on at most.
    queries
        How many random counting queries are asked; they are the same every time.
    dimensions, selectivity
        How many quasi-identifying columns a query is about (dim), 3 or as many as there are by
        default, and the largest share of a column's values that it names (sel).
    watch
        Progress and cancelling.
    """
    if dimensions is None:
        dimensions = min(DIMENSIONS, len(data.quasi))
    drawn = draw_queries(
        data, columns=dimensions, selectivity=selectivity, random=Random(0), count=queries
    )
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
