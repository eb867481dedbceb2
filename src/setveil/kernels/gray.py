"""Loops over sparse bit vectors in Gray order."""

from __future__ import annotations

import numpy as np

from ._calls import Counts, Ids, plain
from ._jit import jit


@jit
def _alternate(indptr: Counts, items: Ids, n_bits: int, out_indptr: Counts, out_keys: Ids) -> None:
    filled = 0
    for row in range(indptr.size - 1):
        length = indptr[row + 1] - indptr[row]
        for j in range(length + 1):
            # Bits from the most significant one; 0 stands for "no further bit".
            place = items[indptr[row + 1] - 1 - j] + 1 if j < length else 0
            out_keys[filled] = place if j % 2 == 0 else n_bits - place
            filled += 1
        out_indptr[row + 1] = filled


def alternating_rows(indptr: Counts, items: Ids, n_bits: int) -> tuple[Counts, Ids]:
    """Return rows whose lexicographic order is the Gray order of the rows given.

    A row is the set of its one-bits, ascending. Of two Gray codes the first place where they differ
    decides: the one with the bit set is the larger if the number of ones before is even, and the
    smaller if it is odd. So the descending bits, every second one mirrored, compare as the codes do.
    """
    indptr, items = plain(indptr, np.int64), plain(items, np.int32)
    out_indptr = np.zeros(indptr.size, np.int64)
    out_keys = np.empty(items.size + indptr.size - 1, np.int32)
    _alternate(indptr, items, n_bits, out_indptr, out_keys)
    return out_indptr, out_keys


@jit
def _distances(indptr: Counts, items: Ids, order: Counts, low: int, high: int) -> Counts:
    result = np.empty(high - low, np.int64)
    for place in range(low, high):
        one, other = order[place], order[place + 1]
        i, j = indptr[one], indptr[other]
        differ = 0
        while i < indptr[one + 1] and j < indptr[other + 1]:
            if items[i] == items[j]:
                i += 1
                j += 1
            else:
                differ += 1
                if items[i] < items[j]:
                    i += 1
                else:
                    j += 1
        result[place - low] = differ + indptr[one + 1] - i + indptr[other + 1] - j
    return result


def hamming_distances(indptr: Counts, items: Ids, order: Counts, low: int, high: int) -> Counts:
    """Return in how many items the rows at places p and p + 1 of `order` differ, low <= p < high."""
    return _distances(
        plain(indptr, np.int64), plain(items, np.int32), plain(order, np.int64), low, high
    )
