"""Is a release of any use? One definition for sets, buckets and pairs.

A record tells something where one of its labels lies below a root, or is an item. A release is useless
where fewer than half of the records that held something tell anything: the others are empty, left out,
or stand at the root. In a table in buckets a record tells something where its bucket is a part of the
table; that one bucket holds all says nothing of anybody, unless there are too few records for two.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..hierarchy.tree import Hierarchy
from ..model.transactions import Transactions

Bools = NDArray[np.bool_]


def is_useless(telling: int, held: int) -> bool:
    """Tell whether fewer than half of the records that held something tell anything.

    >>> is_useless(2, 4), is_useless(2, 5), is_useless(0, 0)
    (False, True, False)
    """
    return 2 * telling < held


def tops(tree: Hierarchy) -> Bools:
    """Tell of each node whether it is a root with something below it."""
    above = np.arange(len(tree)) >= tree.n_leaves
    return np.asarray(above & (np.asarray(tree.parent) < 0), dtype=np.bool_)


def records_with(indptr: NDArray[np.int64], flags: Bools) -> int:
    """Return how many records have an entry whose flag is set.

    >>> records_with(np.array([0, 2, 2, 3]), np.array([False, True, False]))
    1
    """
    before = np.concatenate([[0], np.cumsum(flags)])[indptr]
    return int(np.count_nonzero(np.diff(before)))


def telling_records(published: Transactions, tree: Hierarchy) -> int:
    """Return how many published records have a label that is no root with something below it."""
    at_top = {tree.labels[node] for node in np.flatnonzero(tops(tree)).tolist()}
    tells = np.array([label not in at_top for label in published.vocabulary.labels], dtype=np.bool_)
    flags = tells[published.items] if len(tells) else np.zeros(0, dtype=np.bool_)
    return records_with(published.indptr, flags)
