"""Query-workload error: how wrong counts become that are estimated from the published records.

A COUNT query asks in how many records a set of items and categories are together (`workload`). Whoever
has the release alone must estimate: the items below a published label are taken as evenly spread.

- A query's label at or above a published label of the record is in it for certain.
- One below a published label is in it with the probability (leaves under the query's label) / (leaves
  under the published one).
- All else is not in it; what was suppressed is never found.

A label that several published labels speak for is in the record if any of them has it. The labels of a
query, and the published labels of a record, count as independent. The estimate is the sum of the
probabilities over the published records. Leaves are those that NCP counts.

The error of a query is |estimate - true| / max(true, sanity bound), the bound by default 0.1% of the
records, as usual in the literature: without it queries about almost nothing would decide the mean. ARE
is the mean. A quantile is the least error that is not exceeded by at least that share of the queries.
True counts are exact, estimates are floats. Publishing all as it was has an error of 0, nothing at all
an error of 1 for every query with a true count at or above the bound.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from ..kernels.queries import estimate_supports
from ..kernels.supports import count_supports, node_bitmaps, node_lists
from .before_after import BeforeAfter
from .scores import Measure
from .workload import Workload, checked_share, random_workload

SANITY = Fraction(1, 1000)
BANDS = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, math.inf)
"""Upper ends of the bands of the histogram; the first one holds the errors of exactly 0."""

ROUNDING = 1e-9
"""Estimates are sums of floats: an error up to this is none."""


@dataclass(frozen=True, eq=False)
class QueryErrors:
    """True and estimated counts of a workload, and how far they are apart.

    `least` is the sanity bound as a number of records. Prints as a small table.
    """

    workload: Workload
    true_by_query: NDArray[np.int64]
    estimate_by_query: NDArray[np.float64]
    least: Fraction

    @cached_property
    def error_by_query(self) -> NDArray[np.float64]:
        """The relative error of each query."""
        apart = np.abs(self.estimate_by_query - self.true_by_query)
        errors: NDArray[np.float64] = apart / np.maximum(self.true_by_query, float(self.least))
        return errors

    @cached_property
    def _ascending(self) -> NDArray[np.float64]:
        return np.sort(self.error_by_query)

    @property
    def are(self) -> float:
        """The average relative error."""
        return float(self.error_by_query.mean())

    def quantile(self, percent: int) -> float:
        """Return the least error that `percent` of the queries do not exceed."""
        place = -(-percent * len(self._ascending) // 100)
        return float(self._ascending[max(place, 1) - 1])

    @property
    def histogram(self) -> tuple[tuple[str, int], ...]:
        """How many queries have an error in each band: exact, up to 1%, ..., above 100%."""
        errors = np.where(self._ascending <= ROUNDING, 0.0, self._ascending)
        up_to = np.searchsorted(errors, BANDS, side="right")
        counts = np.diff(up_to, prepend=0).tolist()
        names = ["exact", *(f"up to {end:.0%}" for end in BANDS[1:-1]), f"above {BANDS[-2]:.0%}"]
        return tuple(zip(names, counts, strict=True))

    def worst(self, most: int = 10) -> list[dict[str, Any]]:
        """Return the queries with the largest errors, with their counts; exact ones left out."""
        order = np.argsort(-self.error_by_query, kind="stable")[:most].tolist()
        order = [query for query in order if self.error_by_query[query] > ROUNDING]
        return [
            {
                "query": list(self.workload.labels(query)),
                "true": int(self.true_by_query[query]),
                "estimate": float(self.estimate_by_query[query]),
                "error": float(self.error_by_query[query]),
            }
            for query in order
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for ``--json``."""
        return {
            "count": len(self.workload),
            "about": self.workload.about,
            "sanity_bound": float(self.least),
            "mean": self.are,
            "median": self.quantile(50),
            "percent_90": self.quantile(90),
            "percent_95": self.quantile(95),
            "largest": self.quantile(100),
            "histogram": dict(self.histogram),
        }

    def lines(self) -> list[tuple[str, str]]:
        """Return what a reader wants to know, as names and texts."""
        median, most_90, most_95, largest = (self.quantile(share) for share in (50, 90, 95, 100))
        bound = float(self.least)
        return [
            ("asked", self.workload.about),
            ("error", f"mean {self.are:.4f}, median {median:.4f}, largest {largest:.4f}"),
            ("at most", f"{most_90:.4f} for 90% of the queries, {most_95:.4f} for 95%"),
            ("queries", ", ".join(f"{count:,} {name}" for name, count in self.histogram if count)),
            *([("bound", f"true counts below {bound:g} count as {bound:g}")] if bound > 1 else []),
        ]

    def __str__(self) -> str:
        told = (f"  {name.ljust(8)} {text}" for name, text in self.lines())
        return "\n".join(["Relative error of COUNT queries", *told])


def query_errors(
    pair: BeforeAfter,
    workload: Workload | None = None,
    *,
    sanity: Fraction | float = SANITY,
    threads: int | None = None,
) -> QueryErrors:
    """Return how wrong the queries of a workload are answered from what is published.

    Parameters
    ----------
    pair
        The records before and after.
    workload
        The queries; by default a random workload.
    sanity
        The sanity bound as a share of the records, above 0.
    threads
        How many threads count; all by default.
    """
    bound = checked_share("the sanity bound", sanity)
    workload = random_workload(pair) if workload is None else workload
    if workload.hierarchy.labels != pair.hierarchy.labels:
        raise UsageError(
            "these queries are bound to another hierarchy.", "Bind them to that of the release."
        )
    threads = threads or len(os.sched_getaffinity(0))
    tree = pair.hierarchy
    indptr, nodes, weights = pair.merged_after
    estimate = estimate_supports(
        workload.sets, indptr, nodes, weights, tree.parent, tree.domain_count, threads
    )
    indptr, nodes, weights = pair.merged_before
    lists = node_lists(indptr, nodes, tree.parent)
    bitmaps = node_bitmaps(*lists, len(weights), 1 << 26)
    true = count_supports(workload.sets, *lists, *bitmaps, weights, threads=threads)
    return QueryErrors(workload, true, estimate, bound * len(pair.rows))


def _compute(pair: BeforeAfter) -> float:
    return query_errors(pair).are


ARE = Measure(
    "are",
    "ARE, average relative error of counts",
    "lower",
    (0, None),
    _compute,
    "how far a count estimated from the release is from the true one, relative to it, on average",
)
