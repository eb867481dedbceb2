"""Query-workload error: how wrong counts become that are estimated from the published records.

A query is a set of labels, items or categories. It asks in how many records all of them are; a category
is in a record that holds an item below it. A label above another one of the same query adds nothing and
is left out. Queries are given or drawn at random, seeded with a constant: the same records give the
same queries. A query gets a size from 1 to q, all alike, and as many items, without repeats:

- drawn from "records": from one record, all records with items alike. If it has fewer, the query has
  fewer. Some record holds every query, so its true count is above 0.
- drawn from "items": from all items, all alike. Many such queries have a true count of 0, which is what
  the sanity bound of the relative error is for.

Half of the items, by the flip of a coin, are then raised to a category above them, all below the root
alike. Two that meet become one.

Whoever has the release alone must estimate the counts: the items below a published label are taken as
evenly spread.

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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines.base import padded
from ..errors import DataError, Problem, UsageError
from ..hierarchy.tree import Hierarchy
from ..io.lists import QueryFile
from ..kernels.supports import count_supports, estimate_supports, index_nodes
from ..model.numbers import counted
from ..release.recoding import BeforeAfter
from .scores import Measure

SEED = 20_250_101
QUERIES = 1000
QUERY_SIZE = 3
MOST_QUERIES = 1_000_000
LARGEST_QUERY = 100
SOURCES = ("records", "items")
SANITY = Fraction(1, 1000)
BANDS = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, math.inf)
"""Upper ends of the bands of the histogram; the first one holds the errors of exactly 0."""
ROUNDING = 1e-9
"""Estimates are sums of floats: an error up to this is none."""


@dataclass(frozen=True, eq=False)
class Workload:
    """Queries as sets of nodes, one a row of `sets`, padded at its end with -1."""

    hierarchy: Hierarchy
    sets: NDArray[np.int32]
    about: str

    def __len__(self) -> int:
        return len(self.sets)

    def labels(self, query: int) -> tuple[str, ...]:
        nodes = self.sets[query].tolist()
        return tuple(sorted(self.hierarchy.labels[node] for node in nodes if node >= 0))

    def queries(self) -> list[tuple[str, ...]]:
        return [self.labels(query) for query in range(len(self))]


def workload_of(queries: Iterable[Sequence[str]] | QueryFile, hierarchy: Hierarchy) -> Workload:
    """Return the workload of these queries; all labels that the data lack are told at once.

    >>> toy = Hierarchy.from_parents({"ale": "drink", "milk": "drink", "drink": None})
    >>> workload_of([["milk"], ["ale", "drink"]], toy).queries()
    [('milk',), ('ale',)]
    """
    file = queries if isinstance(queries, QueryFile) else None
    given: Any = queries if file is None else file.queries
    asked = list(given) if isinstance(given, Iterable) and not isinstance(given, bytes) else [given]
    found: list[list[int]] = []
    problems: list[Problem] = []
    for place, query in enumerate(asked):
        where = (None, None) if file is None else (file.name, file.line_of_query[place])
        if isinstance(query, str):
            raise UsageError("a query is a text, not a set of labels.", "Give [['beer', 'milk'], ...].")
        if not isinstance(query, Iterable) or not all(isinstance(label, str) for label in query):
            raise UsageError(
                f"a query is a set of labels (got {type(query).__name__[:40]}).",
                "Give [['beer', 'milk'], ...].",
                code="wrong-type",
            )
        labels = set(query)
        nodes = {hierarchy.node_of_label[label] for label in labels if label in hierarchy.node_of_label}
        for label in sorted(labels - set(hierarchy.node_of_label)):
            what = f"the label {str(label)[:40]!r} is neither an item of the data nor a category above"
            problems.append(
                Problem("unknown-label", f"{what} one.", "Correct it or remove the query.", *where)
            )
        if not labels:
            problems.append(Problem("empty-query", "a query without labels.", "Name some.", *where))
        found.append(_lowest(hierarchy, nodes))
    if problems:
        raise DataError(problems)
    if not found:
        raise UsageError("there are no queries.", "Give one or more.", code="no-queries")
    told = counted(len(found), "query", "queries")
    return Workload(hierarchy, padded(found), told if file is None else f"{told} of {file.name}")


def random_workload(
    pair: BeforeAfter,
    count: int = QUERIES,
    *,
    size: int = QUERY_SIZE,
    drawn_from: str = "records",
    seed: int = SEED,
) -> Workload:
    """Return random queries about these records; see the module's text for how they are drawn.

    `size` is the most labels of a query, `drawn_from` "records" or "items". The records lie in
    canonical order, so that the draw does not depend on the input's order.
    """
    _check("the number of random queries", count, MOST_QUERIES, QUERIES)
    _check("the query size", size, LARGEST_QUERY, QUERY_SIZE)
    if drawn_from not in SOURCES:
        raise UsageError(
            f"queries cannot be drawn from {str(drawn_from)[:40]!r}.", f"Known: {', '.join(SOURCES)}."
        )
    random, hierarchy = Random(seed), pair.hierarchy
    filled = np.flatnonzero(np.diff(pair.rows.indptr)).tolist()
    if not filled:
        raise UsageError("no record holds an item, so there is nothing to ask.", code="no-queries")
    found = []
    for _ in range(count):
        wanted = 1 + random.randrange(size)
        if drawn_from == "records":
            record = filled[random.randrange(len(filled))]
            start, end = pair.rows.indptr[record : record + 2].tolist()
            leaves = pair.rows.leaves[start:end].tolist()
        else:
            leaves = range(hierarchy.n_leaves)
        drawn = random.sample(leaves, min(wanted, len(leaves)))
        found.append(_lowest(hierarchy, {_raised(hierarchy, leaf, random) for leaf in drawn}))
    told = f"{count:,} random queries of up to {size} labels, drawn from {drawn_from}"
    return Workload(hierarchy, padded(found), told)


def asked_workload(
    pair: BeforeAfter,
    queries: Iterable[Sequence[str]] | QueryFile | None = None,
    *,
    random_queries: int | None = None,
    query_size: int | None = None,
    drawn_from: str | None = None,
) -> Workload | None:
    """Return the workload that is asked for, by queries or by their number; None where none is."""
    if random_queries is not None:
        if queries is not None:
            raise UsageError("queries are given and random ones asked for.", "Leave one of them out.")
        how = {"size": query_size, "drawn_from": drawn_from}
        given: dict[str, Any] = {name: value for name, value in how.items() if value is not None}
        return random_workload(pair, random_queries, **given)
    if query_size is not None or drawn_from is not None:
        raise UsageError(
            "the size of queries and what they are drawn from are for random ones.",
            "Say how many (--random-queries N), or leave them out.",
        )
    return None if queries is None else workload_of(queries, pair.hierarchy)


def _raised(hierarchy: Hierarchy, leaf: int, random: Random) -> int:
    """Return the leaf or, by a coin, a category above it; a root would ask for every record."""
    stays = random.random() < 0.5
    above = [node for node in hierarchy.ancestors(leaf) if hierarchy.parent[node] >= 0]
    return leaf if stays or not above else above[random.randrange(len(above))]


def _lowest(hierarchy: Hierarchy, nodes: set[int]) -> list[int]:
    """Return the nodes without those that are above another of them."""
    return sorted(
        node
        for node in nodes
        if not any(other != node and hierarchy.covers(node, other) for other in nodes)
    )


def _check(name: str, number: object, most: int, example: int) -> None:
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= most:
        raise UsageError(
            f"{name} must be a whole number from 1 to {most:,} (got {str(number)[:40]!r}).",
            f"Give for example {example}.",
        )


def checked_share(name: str, share: object) -> Fraction:
    """Return a share of the records, above 0 and up to 1, as it is written; `UsageError` for others.

    >>> checked_share("the bound", 0.001)
    Fraction(1, 1000)
    """
    known = isinstance(share, Fraction | int | float) and not isinstance(share, bool)
    if not known or not 0 < share <= 1:  # type: ignore[operator]
        raise UsageError(
            f"{name} must be a share of the records, above 0 and up to 1 (got {str(share)[:40]!r}).",
            "Give for example 0.001.",
        )
    return Fraction(str(share))


@dataclass(frozen=True, eq=False)
class QueryErrors:
    """True and estimated counts; `least` is the sanity bound as a number of records."""

    workload: Workload
    true_by_query: NDArray[np.int64]
    estimate_by_query: NDArray[np.float64]
    least: Fraction

    @cached_property
    def error_by_query(self) -> NDArray[np.float64]:
        apart = np.abs(self.estimate_by_query - self.true_by_query)
        errors: NDArray[np.float64] = apart / np.maximum(self.true_by_query, float(self.least))
        return errors

    @cached_property
    def _ascending(self) -> NDArray[np.float64]:
        return np.sort(self.error_by_query)

    @property
    def are(self) -> float:
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
    """Return how wrong queries, by default random ones, are answered; `sanity` is a share above 0."""
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
    index = index_nodes(indptr, nodes, tree.parent, weights, 1 << 26)
    true = count_supports(workload.sets, index, threads=threads)
    return QueryErrors(workload, true, estimate, bound * len(pair.rows))


MEASURES = (
    Measure(
        "are",
        "ARE, average relative error of counts",
        lambda pair: query_errors(pair).are,
        "how far a count estimated from the release is from the true one, relative to it, on average",
        range=(0, None),
    ),
)
