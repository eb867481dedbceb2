"""Records that hold a rare set of nodes, as the leaves by which they hold it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._jit import jit

Ids = NDArray[np.int32]
Counts = NDArray[np.int64]


@jit
def _leaf_under(
    indptr: Counts, leaves: Ids, row: int, first: int, end: int, count_by_leaf: Counts
) -> int:
    """Return the most frequent leaf of a row in an interval, -1 if there is none."""
    low, high = indptr[row], indptr[row + 1]
    while low < high:
        middle = (low + high) >> 1
        if leaves[middle] < first:
            low = middle + 1
        else:
            high = middle
    best = -1
    while low < indptr[row + 1] and leaves[low] < end:
        leaf = leaves[low]
        if best < 0 or count_by_leaf[leaf] > count_by_leaf[best]:
            best = leaf
        low += 1
    return int(best)


@jit
def witness_leaves(
    sets: Ids,
    per_set: int,
    list_indptr: Counts,
    rows_of_node: Ids,
    indptr: Counts,
    leaves: Ids,
    first_leaf: Ids,
    end_leaf: Ids,
    count_by_leaf: Counts,
) -> tuple[Ids, Counts]:
    """Return up to `per_set` witnesses of each set, and the set each belongs to.

    A witness holds, in the order of the set's nodes, the most frequent leaf by which a record holds
    each; padded with -1.
    """
    n_sets, width = sets.shape
    found = np.full((n_sets * per_set, width), -1, np.int32)
    set_of = np.empty(n_sets * per_set, np.int64)
    n_found = 0
    for number in range(n_sets):
        size = 0
        shortest = 0
        while size < width and sets[number, size] >= 0:
            node, best = sets[number, size], sets[number, shortest]
            if list_indptr[node + 1] - list_indptr[node] < list_indptr[best + 1] - list_indptr[best]:
                shortest = size
            size += 1
        base = sets[number, shortest]
        taken = 0
        for place in range(list_indptr[base], list_indptr[base + 1]):
            row = rows_of_node[place]
            holds = True
            for at in range(size):
                node = sets[number, at]
                leaf = _leaf_under(indptr, leaves, row, first_leaf[node], end_leaf[node], count_by_leaf)
                if leaf < 0:
                    holds = False
                    break
                found[n_found, at] = leaf
            if holds:
                set_of[n_found] = number
                n_found += 1
                taken += 1
                if taken == per_set:
                    break
        if n_found < found.shape[0]:
            for at in range(width):
                found[n_found, at] = -1
    return found[:n_found], set_of[:n_found]
