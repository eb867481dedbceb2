"""Counting queries on buckets (Li and Li, 2008, section VI-D): how far the answers are off.

A query counts tuples with certain values in some quasi-identifying columns and a certain sensitive
value, each one of a random set. The answer from buckets adds up shares (`bucket_counts`); its error is
relative to the true count.

Differences from the paper
--------------------------
The relative error of a true count of 0 has no meaning, so such queries are drawn again, and how many
draws were needed is told. Sets of values are not empty for the same reason. The paper does not say how
many sensitive values a query has; here they are drawn as those of the columns are.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import fsum
from random import Random

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from ..model.guarantees import whole_number
from ..model.microdata import Microdata
from ..progress import Watch
from ..release.bucketing import Bucketing
from .bucket_counts import Exact, Reconstruction, exact_number

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

    Parameters
    ----------
    data
        The original table.
    columns
        How many quasi-identifying columns a query is about (dim).
    selectivity
        The largest share of a column's values that a query has (sel); how many it has is drawn evenly
        from 1 to that. Above 0, at most 1.
    random
        Where chance comes from. It hides nothing, so a constant seed is right.
    count
        How many queries are wanted.
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
