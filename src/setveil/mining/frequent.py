"""Frequent itemsets, exactly: the search for all, the closed or the maximal ones.

The work is done by `kernels.frequent`. With a hierarchy the search goes across its levels (Srikant and
Agrawal's generalized itemsets): a record holds an item and everything above it, and no set has a node
and its ancestor, since that says nothing more. A set that names a node says more than one that names
its ancestor, so closed and maximal sets are then those that no set says more than.
"""

from __future__ import annotations

import os

from ..errors import ResourceLimit, UsageError
from ..kernels.frequent import find_frequent
from ..kernels.rows import expand_rows
from ..progress import Watch
from .itemsets import Counts, Ids, Itemsets

KINDS = ("all", "closed", "maximal")
MOST_SETS = 20_000_000
"""Above this the search is given up: with their items so many sets fill some gigabytes."""


def frequent_itemsets(
    indptr: Counts,
    items: Ids,
    weight_by_row: Counts,
    n_items: int,
    least: int,
    *,
    kind: str = "all",
    most_items: int | None = None,
    parent: Ids | None = None,
    most_sets: int = MOST_SETS,
    threads: int | None = None,
    watch: Watch | None = None,
) -> Itemsets:
    """Return the itemsets that at least `least` records hold.

    Parameters
    ----------
    indptr, items
        The rows: row r holds ``items[indptr[r]:indptr[r + 1]]``, ascending.
    weight_by_row
        The number of records that each row stands for, all above 0.
    n_items
        One more than the largest item.
    least
        The least support, a number of records; see `least_count` for a share of them.
    kind
        "all"; "closed", without the sets that a larger one of the same support stands for; "maximal",
        without those that any larger frequent one stands for.
    most_items
        The most items of a set. It chooses among what `kind` names and makes nothing closed or maximal.
    parent
        The parent of each node, -1 for a root, of the hierarchy whose leaves the items are, ids of
        parents above those of children. Sets of nodes at all levels are then returned.
    most_sets
        `ResourceLimit` where there are more sets than this.
    threads
        How many threads search; all by default. The result does not depend on it.
    watch
        Told how far the search is.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([0, 2, 4, 5]), np.array([0, 1, 0, 1, 1], np.int32), np.array([1, 1, 1])
    >>> frequent_itemsets(*rows, 2, 2).as_dict()
    {(0,): 2, (1,): 3, (0, 1): 2}
    >>> frequent_itemsets(*rows, 2, 2, kind="closed").as_dict()
    {(1,): 3, (0, 1): 2}
    """
    if kind not in KINDS:
        raise UsageError(f"unknown kind of itemsets {kind[:40]!r}.", f"Known: {', '.join(KINDS)}.")
    if least < 1:
        raise UsageError(f"the least support must be 1 record or more (got {least}).")
    if most_items is not None and most_items < 1:
        raise UsageError(f"a set must be allowed 1 item or more (got {most_items}).")
    watch = watch or Watch()

    def tick(share: float) -> None:
        watch.tick("mining", share)
        watch.check_deadline()

    tick(0.0)
    if parent is not None:
        indptr, items = expand_rows(indptr, items, parent)
        n_items = len(parent)
    found = find_frequent(
        indptr,
        items,
        weight_by_row,
        n_items,
        least,
        kind=kind,
        most_items=most_items or 0,
        parent=parent,
        most_sets=most_sets,
        threads=threads or len(os.sched_getaffinity(0)),
        tick=tick,
    )
    if found is None:
        raise ResourceLimit(
            f"there are more than {most_sets:,} itemsets that at least {least:,} of the records hold.",
            "Raise the least support (--min-support), allow fewer items (--most-items), or ask for "
            "closed or maximal sets (--kind).",
            code="too-many-itemsets",
        )
    return Itemsets(*found)
