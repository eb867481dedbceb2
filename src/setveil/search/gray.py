"""Gray order of records, and chunks of it (Terrovitis et al. 2011, section 4.5, Algorithm 6).

A record is a bit vector over the leaves, the last leaf being the most significant bit. Read as a Gray
code it has a rank, and sorting by that rank brings records together that differ in few items. The
ranks have as many bits as there are leaves and are never made: `gray_order` sorts sparse rows.

`chunk_bounds` cuts the order into chunks of about equal numbers of itemsets of at most m items, and
moves each border a little to where neighbours differ most.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..kernels.rows import alternating_rows, hamming_distances, merge_rows
from ..model.transactions import Rows
from .budget import combinations_by_length

Counts = NDArray[np.int64]


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


def combinations_by_record(rows: Rows, m: int) -> NDArray[np.float64]:
    """Return how many sets of 1 .. m items each record holds, worked out once a length.

    >>> combinations_by_record(Rows(np.array([0, 3, 3]), np.array([0, 1, 2])), 2).tolist()
    [6.0, 0.0]
    """
    return combinations_by_length(np.diff(rows.indptr), m)


def chunk_bounds(
    rows: Rows, order: Counts, weight_by_record: NDArray[np.float64], parts: int, f: int, least: int
) -> Counts:
    """Return where chunks of the order begin and end, at most `parts` of them.

    Parameters
    ----------
    rows, order
        The records, and those to be cut in their order.
    weight_by_record
        What is to be about equal in all chunks.
    parts
        How many chunks are wanted.
    f
        A border moves at most so many records from the place of equal weight, to where two successive
        records differ in most items; of equals the nearest place is taken, then the earlier one.
    least
        Every chunk holds at least so many records that are not empty; there are fewer chunks where
        the data do not suffice.
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
