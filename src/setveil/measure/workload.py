"""Workloads: many COUNT queries, given or drawn at random.

A query is a set of labels, items or categories. It asks in how many records all of them are; a category
is in a record that holds an item below it. A label above another one of the same query adds nothing and
is left out.

Random workloads are seeded with a constant: the same records give the same queries. A query gets a size
from 1 to q, all alike, and as many items, without repeats:

- drawn from "records": from one record, all records with items alike. If it has fewer, the query has
  fewer. Some record holds every query, so its true count is above 0.
- drawn from "items": from all items, all alike. Many such queries have a true count of 0, which is what
  the sanity bound of the relative error is for.

Half of the items, by the flip of a coin, are then raised to a category above them, all below the root
alike. Two that meet become one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError, Problem, UsageError
from ..hierarchy.tree import Hierarchy
from ..io.lists import QueryFile
from .before_after import BeforeAfter

SEED = 20_250_101
QUERIES = 1000
QUERY_SIZE = 3
MOST_QUERIES = 1_000_000
LARGEST_QUERY = 100
SOURCES = ("records", "items")


@dataclass(frozen=True, eq=False)
class Workload:
    """Queries as sets of nodes, one a row of `sets`, padded at its end with -1."""

    hierarchy: Hierarchy
    sets: NDArray[np.int32]
    about: str

    def __len__(self) -> int:
        return len(self.sets)

    def labels(self, query: int) -> tuple[str, ...]:
        """Return the labels of one query, sorted."""
        nodes = self.sets[query].tolist()
        return tuple(sorted(self.hierarchy.labels[node] for node in nodes if node >= 0))

    def queries(self) -> list[tuple[str, ...]]:
        """Return the labels of every query."""
        return [self.labels(query) for query in range(len(self))]


def workload_of(
    queries: Iterable[Sequence[str]],
    hierarchy: Hierarchy,
    *,
    file: str | None = None,
    line_of_query: Sequence[int] | None = None,
) -> Workload:
    """Return the workload of these queries; all labels that the data lack are told at once.

    Parameters
    ----------
    queries
        Each a set of labels.
    hierarchy
        The hierarchy of the release, restricted to the items that occur.
    file, line_of_query
        Where the queries stand, for errors.

    >>> toy = Hierarchy.from_parents({"ale": "drink", "milk": "drink", "drink": None})
    >>> workload_of([["milk"], ["ale", "drink"]], toy).queries()
    [('milk',), ('ale',)]
    """
    found: list[list[int]] = []
    problems: list[Problem] = []
    for place, query in enumerate(queries):
        line = None if line_of_query is None else line_of_query[place]
        if isinstance(query, str):
            raise UsageError("a query is a text, not a set of labels.", "Give [['beer', 'milk'], ...].")
        labels = set(query)
        problems += [
            _unknown(label, file, line) for label in sorted(labels - set(hierarchy.node_of_label))
        ]
        nodes = {hierarchy.node_of_label[label] for label in labels if label in hierarchy.node_of_label}
        if not labels:
            problems.append(Problem("empty-query", "a query without labels.", "Name some.", file, line))
        found.append(_lowest(hierarchy, nodes))
    if problems:
        raise DataError(problems)
    if not found:
        raise UsageError("there are no queries.", "Give one or more.", code="no-queries")
    told = f"{len(found):,} {'query' if len(found) == 1 else 'queries'}"
    return Workload(hierarchy, _padded(found), told if file is None else f"{told} of {file}")


def random_workload(
    pair: BeforeAfter,
    count: int = QUERIES,
    *,
    size: int = QUERY_SIZE,
    drawn_from: str = "records",
    seed: int = SEED,
) -> Workload:
    """Return random queries about these records; see the module's text for how they are drawn.

    Parameters
    ----------
    pair
        The records; in canonical order, so that the draw does not depend on the input's order.
    count
        How many queries.
    size
        The most labels of a query.
    drawn_from
        "records" or "items".
    seed
        Another one gives other queries.
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
    return Workload(hierarchy, _padded(found), told)


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
        return random_workload(
            pair,
            random_queries,
            size=QUERY_SIZE if query_size is None else query_size,
            drawn_from=SOURCES[0] if drawn_from is None else drawn_from,
        )
    if query_size is not None or drawn_from is not None:
        raise UsageError(
            "the size of queries and what they are drawn from are for random ones.",
            "Say how many (--random-queries N), or leave them out.",
        )
    if isinstance(queries, QueryFile):
        return workload_of(
            queries.queries, pair.hierarchy, file=queries.name, line_of_query=queries.line_of_query
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


def _padded(sets: Sequence[Sequence[int]]) -> NDArray[np.int32]:
    padded = np.full((len(sets), max(map(len, sets), default=0)), -1, dtype=np.int32)
    for place, nodes in enumerate(sets):
        padded[place, : len(nodes)] = nodes
    return padded


def _unknown(label: object, file: str | None, line: int | None) -> Problem:
    return Problem(
        "unknown-label",
        f"the label {str(label)[:40]!r} is neither an item of the data nor a category above one.",
        "Correct it or remove the query.",
        file,
        line,
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
