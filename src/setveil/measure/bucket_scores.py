"""How useful a table in buckets still is: rules seen in it, and answers to counting queries.

The measures of Li and Li (2008), sections VI-C and VI-D, in one call; see `bucket_rules` and
`bucket_queries`.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from ..model.microdata import Microdata
from ..progress import Watch
from ..release.bucketing import Bucketing
from .bucket_counts import Exact
from .bucket_queries import QueryErrors, draw_queries, measure_queries
from .bucket_rules import RuleErrors, measure_rules

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
