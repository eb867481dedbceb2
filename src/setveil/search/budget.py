"""What a search holds in memory, estimated before it runs, so that a budget can set the parts.

The figures are measured peaks, rounded up. A search that asks for rare itemsets (aa) needed 35 to 115
bytes an occurrence on four data sets of 150,000 to 3,350,000 occurrences, m = 2 and 3, and hardly more
for the larger m. The proven optimum needed 70 and 185 on two of them; a full count-tree, m = 2, needed
23 and 45 bytes for every set of at most m nodes in a record expanded by its ancestors. The data
themselves are not counted.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..distinct import number_distinct
from ..errors import UsageError
from ..hierarchy.tree import Hierarchy
from ..kernels.rows import expand_rows
from ..model.transactions import Rows

BYTES_PER_OCCURRENCE = 128
BYTES_PER_OCCURRENCE_OF_OPTIMAL = 512
BYTES_PER_TREE_PATH = 48
LEAST_MEMORY = 1024


def check_memory(memory: int) -> None:
    """Raise `UsageError` where a budget is no number of bytes to speak of."""
    if isinstance(memory, bool) or not isinstance(memory, int) or memory < LEAST_MEMORY:
        raise UsageError(
            f"memory={str(memory)[:40]} is no budget.", f"Give bytes, at least {LEAST_MEMORY}."
        )


def bytes_by_record(hierarchy: Hierarchy, rows: Rows, m: int, method: str) -> NDArray[np.float64]:
    """Return about how many bytes the search of a method holds for each record."""
    if method == "da":
        expanded, _ = expand_rows(rows.indptr, rows.leaves, hierarchy.parent)
        return combinations_by_length(np.diff(expanded), m) * BYTES_PER_TREE_PATH
    each = BYTES_PER_OCCURRENCE_OF_OPTIMAL if method == "optimal" else BYTES_PER_OCCURRENCE
    return np.diff(rows.indptr).astype(np.float64) * each


def combinations_by_length(lengths: NDArray[np.int64], m: int) -> NDArray[np.float64]:
    """Return how many sets of 1 .. m members a set of each length has.

    >>> combinations_by_length(np.array([3, 0]), 2).tolist()
    [6.0, 0.0]
    """
    values, place = number_distinct(lengths)
    counted = [
        sum(math.comb(length, size) for size in range(1, min(m, length) + 1))
        for length in values.tolist()
    ]
    # Beyond what a float holds, a record outweighs all others anyway.
    capped = np.array([float(min(count, 10**300)) for count in counted], dtype=np.float64)
    return np.asarray(capped[place.reshape(-1)], dtype=np.float64)


def parts_for(size: float, memory: int, workers: int) -> int:
    """Return into how many equal parts so many bytes must be cut if every worker holds one.

    >>> parts_for(64e6, 32_000_000, 2)
    4
    """
    return max(1, math.ceil(size * workers / memory))
