"""Emerging patterns: sets of items that are far more frequent in one data set than in another.

Dong and Li, *Efficient mining of emerging patterns* (1999), as M. W.-K. Cheng, *Hiding emerging pattern
with local recoding generalization*, section 3, uses them: the growth of a set from one data set to the
other is the ratio of its supports, shares of the records. A set of growth rho or more is a rho-emerging
pattern. Where the other data set does not hold it at all its growth is infinite: a jumping pattern.

Differences from the paper: patterns must be frequent where they are more frequent, by default in a
tenth of the records. The paper names no such bound, but with this one the Adult data have 8 patterns at
rho = 35, as it says, and without any 300,431. Both directions are searched, and each pattern tells
where it is more frequent; the paper's Example 3.1 names directions the other way round than its
Definition 3.1.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from ..distinct import first_places, number_distinct
from ..errors import UsageError
from ..model.guarantees import exact_growth
from ..model.transactions import Transactions
from ..progress import Watch
from .emerging_findings import EmergingPattern, EmergingPatterns
from .emerging_search import as_sides, grown_sets
from .frequent import MOST_SETS
from .itemsets import Counts, Itemsets
from .support import least_count, read_support

__all__ = ["EmergingPattern", "EmergingPatterns", "emerging_patterns", "exact_growth"]


def emerging_patterns(
    first: Transactions,
    second: Transactions,
    *,
    growth: Fraction | int | float | str,
    min_support: Fraction | int | float | str = Fraction(1, 10),
    both_ways: bool = True,
    minimal: bool = False,
    most_items: int | None = None,
    kind: str = "all",
    most_sets: int = MOST_SETS,
    names: tuple[str, str] = ("first", "second"),
    watch: Watch | None = None,
    threads: int | None = None,
) -> EmergingPatterns:
    """Return all sets of items that one data set holds `growth` times as often as the other.

    Parameters
    ----------
    first, second
        The data sets; items are the same where their labels are.
    growth
        The least ratio of the two shares of records, above 1. A float counts as it is written.
    min_support
        How many records must hold a pattern in the data set where it is more frequent: a share of its
        records, or with a whole number a count.
    both_ways
        Also those that are more frequent in the first; else only those that are so in the second.
    minimal
        Leave out patterns that contain another one that is more frequent in the same data set.
    most_items
        The most items of a pattern.
    kind
        "closed": only patterns that no larger set in the same records of their data set stands for.
    most_sets
        `ResourceLimit` where a data set has more frequent sets than this.
    names
        What to call the data sets.
    watch
        Progress and cancelling.
    threads
        How many threads work; all by default. The result does not depend on it.

    Examples
    --------
    >>> last_year = Transactions.from_rows([["ale", "bun"], ["ale"], ["bun"], ["ale", "bun"]])
    >>> this_year = Transactions.from_rows([["bun", "oat"], ["ale", "oat"], ["bun", "oat"]])
    >>> names = ("last year", "this year")
    >>> print(emerging_patterns(last_year, this_year, growth=2, min_support="50%", names=names))
    4 emerging patterns: 2 more frequent in last year (4 records), 2 more frequent in this year \
(3 records); 3 jumping.
      oat: only in this year (100.0% against 0.0%)
      bun, oat: only in this year (66.7% against 0.0%)
      ale, bun: only in last year (50.0% against 0.0%)
      ale: 2.25 times in last year (75.0% against 33.3%)
    """
    exact = exact_growth(growth)
    support = min_support if isinstance(min_support, Fraction | int) else read_support(str(min_support))
    for data, name in zip((first, second), names, strict=True):
        if not len(data):
            raise UsageError(
                f"the data set {name[:40]!r} has no records.", "Give some.", code="no-records"
            )
    if len(set(names)) < 2:
        raise UsageError("both data sets have the same name.", "Give two names.")
    sides, labels = as_sides(first, second)
    watch = watch or Watch()
    parts: list[tuple[Itemsets, Counts, int]] = []
    for side in (1, 0) if both_ways else (1,):
        up, down = sides[side], sides[1 - side]
        sets, elsewhere = grown_sets(
            up,
            down,
            len(labels),
            growth=exact,
            least=least_count(support, up.n_records),
            minimal=minimal,
            most_items=most_items,
            watch=watch,
            threads=threads or len(os.sched_getaffinity(0)),
            kind=kind,
            most_sets=most_sets,
        )
        parts.append((sets, elsewhere, side))
    options = {
        "growth": exact,
        "min_support": support,
        "both_ways": both_ways,
        "minimal": minimal,
        "most_items": most_items,
        "kind": kind,
    }
    return _in_order(parts, labels, names, (len(first), len(second)), options)


def _in_order(
    parts: list[tuple[Itemsets, Counts, int]],
    labels: tuple[str, ...],
    names: tuple[str, str],
    records: tuple[int, int],
    options: Mapping[str, object],
) -> EmergingPatterns:
    """Return the patterns of all directions as one list, the fastest growing first."""
    indptr = np.zeros(1, dtype=np.int64)
    for sets, _, _ in parts:
        indptr = np.concatenate([indptr, sets.indptr[1:] + indptr[-1]])
    joined = Itemsets(
        indptr,
        np.concatenate([sets.items for sets, _, _ in parts]),
        np.concatenate([sets.support for sets, _, _ in parts]),
    )
    elsewhere = np.concatenate([counts for _, counts, _ in parts])
    side = np.repeat(
        np.array([side for _, _, side in parts], dtype=np.int64), [len(sets) for sets, _, _ in parts]
    )
    # Patterns with the same counts on the same side are ranked once, exactly. Records are numbered by
    # 32 bits, so that one number of 64 holds both counts and the side.
    code = (side * (max(records) + 1) + joined.support) * (max(records) + 1) + elsewhere
    codes, kind = number_distinct(code)
    first = first_places(kind, len(codes))

    def key(place: int) -> tuple[bool, Fraction, Fraction]:
        where, other = int(side[place]), int(elsewhere[place])
        share = Fraction(int(joined.support[place]), records[where])
        return other > 0, -share * records[1 - where] / other if other else Fraction(0), -share

    keys = [key(place) for place in first.tolist()]
    rank_of_key = {value: rank for rank, value in enumerate(sorted(set(keys)))}
    rank = np.array([rank_of_key[value] for value in keys], dtype=np.int64)[kind]
    # Stable: equal ranks stay by direction, size and labels, as they were found.
    order = np.argsort(rank, kind="stable")
    sets = joined.take(order)
    return EmergingPatterns(labels, names, records, sets, elsewhere[order], side[order], options)
