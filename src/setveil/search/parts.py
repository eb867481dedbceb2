"""Work cut into parts: chunks of records in Gray order, and how many parts a memory budget asks for.

**Gray order** (Terrovitis et al. 2011, section 4.5, Algorithm 6). A record is a bit vector over the
leaves, the last leaf being the most significant bit. Read as a Gray code it has a rank, and sorting by
that rank brings records together that differ in few items. The ranks have as many bits as there are
leaves and are never made: `gray_order` sorts sparse rows. `chunk_bounds` cuts the order into chunks of
about equal numbers of itemsets of at most m items, and moves each border a little to where neighbours
differ most.

**Memory** is estimated before a search runs. The figures are measured peaks, rounded up. A search that
asks for rare itemsets (aa) needed 35 to 115 bytes an occurrence on four data sets of 150,000 to
3,350,000 occurrences, m = 2 and 3, and hardly more for the larger m. The proven optimum needed 70 and
185 on two of them; a full count-tree, m = 2, needed 23 and 45 bytes for every set of at most m nodes in
a record expanded by its ancestors. The data themselves are not counted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..distinct import number_distinct
from ..errors import UsageError
from ..hierarchy.tree import Counts, Hierarchy
from ..kernels.rows import alternating_rows, expand_rows, hamming_distances, merge_rows
from ..model.transactions import Rows

Reals = NDArray[np.float64]

BYTES_PER_OCCURRENCE = 128
BYTES_PER_OCCURRENCE_OF_OPTIMAL = 512
BYTES_PER_TREE_PATH = 48
LEAST_MEMORY = 1024


def gray_rank(leaves: Sequence[int]) -> int:
    """Return the number whose Gray code has exactly these bits set; the slow, exact definition.

    >>> [gray_rank(bits) for bits in ((0, 2, 3), (1, 2), (1, 2, 3), (0, 1, 3))]
    [9, 4, 11, 13]
    """
    code = sum(1 << leaf for leaf in leaves)
    rank = 0
    while code:
        rank ^= code
        code >>= 1
    return rank


def gray_order(rows: Rows, n_leaves: int) -> Counts:
    """Return the records by ascending Gray rank; equal records keep their order.

    >>> toy = Rows(np.array([0, 3, 5, 8, 11]), np.array([0, 2, 3, 1, 2, 1, 2, 3, 0, 1, 3]))
    >>> gray_order(toy, 4).tolist()
    [1, 0, 2, 3]
    """
    keyed = alternating_rows(rows.indptr, rows.leaves, n_leaves)
    place = merge_rows(*keyed, np.ones(len(rows), dtype=np.int64))[3]
    return np.argsort(place, kind="stable").astype(np.int64)


def combinations_by_record(rows: Rows, m: int) -> Reals:
    """Return how many sets of 1 .. m items each record holds, worked out once a length.

    >>> combinations_by_record(Rows(np.array([0, 3, 3]), np.array([0, 1, 2])), 2).tolist()
    [6.0, 0.0]
    """
    lengths, place = number_distinct(np.diff(rows.indptr))
    counted = [
        sum(math.comb(length, size) for size in range(1, min(m, length) + 1))
        for length in lengths.tolist()
    ]
    # Beyond what a float holds, a record outweighs all others anyway.
    capped = np.array([float(min(count, 10**300)) for count in counted], dtype=np.float64)
    return np.asarray(capped[place.reshape(-1)], dtype=np.float64)


def chunk_bounds(
    rows: Rows, order: Counts, weight_by_record: Reals, parts: int, f: int, least: int
) -> Counts:
    """Return where chunks of the order begin and end, at most `parts` of them, of about equal weight.

    A border moves at most `f` records from the place of equal weight, to where two successive records
    differ in most items; of equals the nearest place is taken, then the earlier one. Every chunk holds
    at least `least` records that are not empty; there are fewer chunks where the data do not suffice.
    """
    n_records = len(order)
    share = weight_by_record[order]
    share = share / max(share.max(initial=0.0), 1.0)
    running = np.cumsum(share)
    filled = np.zeros(n_records + 1, dtype=np.int64)
    np.cumsum(np.diff(rows.indptr)[order] > 0, out=filled[1:])
    bounds = [0]
    for border in range(1, parts):
        target = running[-1] * border / parts if n_records else 0.0
        equal = int(np.searchsorted(running, target, side="left")) + 1
        # Between these places both sides have enough records.
        first = int(np.searchsorted(filled, filled[bounds[-1]] + least, side="left"))
        last = int(np.searchsorted(filled, filled[-1] - least, side="right")) - 1
        if first > last:
            break
        bounds.append(_best_border(rows, order, min(max(equal, first), last), f, first, last))
    bounds.append(n_records)
    return np.array(bounds, dtype=np.int64)


def _best_border(rows: Rows, order: Counts, equal: int, f: int, first: int, last: int) -> int:
    """Return the place in [equal - f, equal + f) before which neighbours differ most."""
    low, high = max(equal - f, first, 1), min(equal + max(f - 1, 0), last, len(order) - 1)
    if low > high:
        return equal
    distance = hamming_distances(rows.indptr, rows.leaves, order, low - 1, high)
    places = np.arange(low, high + 1)
    return int(places[np.lexsort((places, np.abs(places - equal), -distance))[0]])


def check_memory(memory: int) -> None:
    """Raise `UsageError` where a budget is no number of bytes to speak of."""
    if isinstance(memory, bool) or not isinstance(memory, int) or memory < LEAST_MEMORY:
        raise UsageError(
            f"memory={str(memory)[:40]} is no budget.", f"Give bytes, at least {LEAST_MEMORY}."
        )


def bytes_by_record(hierarchy: Hierarchy, rows: Rows, m: int, method: str) -> Reals:
    """Return about how many bytes the search of a method holds for each record."""
    if method == "da":
        expanded = Rows(*expand_rows(rows.indptr, rows.leaves, hierarchy.parent))
        return combinations_by_record(expanded, m) * BYTES_PER_TREE_PATH
    each = BYTES_PER_OCCURRENCE_OF_OPTIMAL if method == "optimal" else BYTES_PER_OCCURRENCE
    return np.diff(rows.indptr).astype(np.float64) * each


def parts_for(size: float, memory: int, workers: int) -> int:
    """Return into how many equal parts so many bytes must be cut if every worker holds one.

    >>> parts_for(64e6, 32_000_000, 2)
    4
    """
    return max(1, math.ceil(size * workers / memory))
