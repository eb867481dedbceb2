"""All pairs of nodes, counted once: in how many records both are, at every level of the hierarchy.

A record holds a node where it holds a leaf under it. One pass over the rows, each expanded by its
ancestors, counts every pair; then supports of one or two nodes, and the rare pairs of any recoding, are
looked up. The counts are a triangle: nodes u >= v stand at ``u * (u + 1) // 2 + v``, so a node with
itself tells its support. It is exact, and as large as nodes are many: `count_pairs` keeps to a budget.
"""

from __future__ import annotations

import numpy as np

from ..base import Counts, Ids, Stop, grown, grown_lines, in_threads, jit, plain, sort_slice
from .rare_loops import Bits, Found

MOST_BYTES = 1 << 28
"""What the triangles of all threads may take together."""
NOT_COUNTED: Ids = np.empty(0, dtype=np.int32)
_LEAST_ROWS_PER_THREAD = 20_000
_FEW_CELLS, _CELLS_PER_PAIR = 1 << 20, 3
"""A triangle much larger than the pairs that records hold takes longer to fill than they to search."""


def count_pairs(
    indptr: Counts,
    items: Ids,
    weight_by_row: Counts,
    parent: Ids,
    threads: int = 1,
    most_bytes: int = MOST_BYTES,
) -> Ids:
    """Return the triangle of counts; `NOT_COUNTED` where it would not fit into `most_bytes`.

    The items of a row may be leaves or inner nodes; a parent's id is above its children's.
    """
    indptr, items = plain(indptr, np.int64), plain(items, np.int32)
    weight_by_row, parent = plain(weight_by_row, np.int64), plain(parent, np.int32)
    cells = len(parent) * (len(parent) + 1) // 2
    # Pairs grow with the square of a row's length: each part has its share of them.
    work = np.cumsum(np.diff(indptr) ** 2 + 1)
    n_rows = len(weight_by_row)
    too_sparse = cells > max(_FEW_CELLS, _CELLS_PER_PAIR * int(work[-1] if n_rows else 0))
    if too_sparse or 4 * cells > most_bytes or int(weight_by_row.sum()) >= 2**31:
        return NOT_COUNTED
    parts = max(1, min(threads, most_bytes // max(4 * cells, 1), n_rows // _LEAST_ROWS_PER_THREAD))
    bounds = np.searchsorted(work, work[-1] * np.arange(1, parts) / parts) if n_rows else []
    ranges = list(zip([0, *bounds], [*bounds, n_rows], strict=True))

    def counted(rows: tuple[int, int]) -> Ids:
        triangle = np.zeros(cells, dtype=np.int32)
        _add_rows(int(rows[0]), int(rows[1]), indptr, items, weight_by_row, parent, triangle)
        return triangle

    first, *others = in_threads(counted, ranges, parts)
    for other in others:
        first += other
    return first


@jit
def _add_rows(
    low: int, high: int, indptr: Counts, items: Ids, weight_by_row: Counts, parent: Ids, pairs: Ids
) -> None:
    """Add the pairs of the rows from `low` up to `high`."""
    seen_in = np.full(parent.size, -1, np.int64)
    nodes = np.empty(parent.size, np.int32)
    for row in range(low, high):
        size = 0
        for position in range(indptr[row], indptr[row + 1]):
            seen_in[items[position]] = row
            nodes[size] = items[position]
            size += 1
        given, lowest = size, parent.size
        for place in range(given):
            node = parent[nodes[place]]
            while node >= 0 and seen_in[node] != row:
                seen_in[node] = row
                nodes[size] = node
                size += 1
                lowest = min(lowest, node)
                node = parent[node]
        # Leaves come before all other nodes, so that mostly only the ancestors are out of order.
        sort_slice(nodes, given if given and nodes[given - 1] < lowest else 0, size)
        weight = np.int32(weight_by_row[row])
        for i in range(size):
            above = np.int64(nodes[i])
            line = above * (above + 1) // 2
            for j in range(i + 1):
                pairs[line + nodes[j]] += weight


@jit
def pair_count(pairs: Ids, one: int, other: int) -> int:
    """Return in how many records two nodes are."""
    high, low = np.int64(max(one, other)), np.int64(min(one, other))
    return int(pairs[high * (high + 1) // 2 + low])


@jit
def has_pair(pairs: Ids, node_of_rank: Ids) -> Counts:
    """Tell of each rank, as 0 or 1, whether some record holds it and a higher one."""
    found = np.zeros(node_of_rank.size, np.int64)
    for rank in range(node_of_rank.size):
        for other in range(node_of_rank.size - 1, rank, -1):
            if pair_count(pairs, node_of_rank[rank], node_of_rank[other]) > 0:
                found[rank] = 1
                break
    return found


@jit
def counted_rare_pairs(
    firsts: Ids, pairs: Ids, node_of_rank: Ids, k: int, cap: int, frequent_bits: Bits, stop: Stop
) -> Found:
    """Find the rare pairs as `rare_pairs` does, by looking them up."""
    sets, supports = np.empty((1024, 2), np.int32), np.empty(1024, np.int64)
    capped = np.zeros(firsts.size, np.bool_)
    keep_bits = frequent_bits.shape[0] > 0
    found = 0
    for which in range(firsts.size):
        if stop[0]:
            break
        first, before = firsts[which], found
        for item in range(first + 1, node_of_rank.size):
            count = pair_count(pairs, node_of_rank[first], node_of_rank[item])
            if count >= k:
                if keep_bits:
                    frequent_bits[first, item >> 3] |= np.uint8(1 << (item & 7))
            elif count > 0:
                if found - before == cap:
                    capped[which] = True
                    if not keep_bits:
                        break
                else:
                    if found == supports.size:
                        sets = grown_lines(sets, found, found + 1)
                        supports = grown(supports, found, found + 1)
                    sets[found, 0], sets[found, 1] = first, item
                    supports[found] = count
                    found += 1
    return sets[:found], supports[:found], capped
