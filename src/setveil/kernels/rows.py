"""Rows of set-valued data in compressed form: recoded, merged, expanded by ancestors, in Gray order.

A row is a slice ``items[indptr[r]:indptr[r + 1]]`` of ids, ascending and without repeats.
"""

from __future__ import annotations

import numpy as np

from .base import Counts, Ids, jit, plain, sort_slice


@jit
def _recode(indptr: Counts, items: Ids, node_of_leaf: Ids, out_indptr: Counts, out_nodes: Ids) -> int:
    filled = 0
    out_indptr[0] = 0
    for row in range(indptr.size - 1):
        start = filled
        for position in range(indptr[row], indptr[row + 1]):
            node = node_of_leaf[items[position]]
            if node >= 0:
                out_nodes[filled] = node
                filled += 1
        sort_slice(out_nodes, start, filled)
        kept = start
        for position in range(start, filled):
            if kept == start or out_nodes[position] != out_nodes[kept - 1]:
                out_nodes[kept] = out_nodes[position]
                kept += 1
        filled = kept
        out_indptr[row + 1] = filled
    return filled


def recode_rows(indptr: Counts, items: Ids, node_of_leaf: Ids) -> tuple[Counts, Ids]:
    """Map every item of every row, and make each row ascending and free of repeats again.

    -1 as the node of an item drops it. There are as many rows as before; some may be empty.
    """
    out_indptr = np.empty(len(indptr), np.int64)
    out_nodes = np.empty(len(items), np.int32)
    filled = _recode(
        plain(indptr, np.int64),
        plain(items, np.int32),
        plain(node_of_leaf, np.int32),
        out_indptr,
        out_nodes,
    )
    return out_indptr, out_nodes[:filled].copy()


@jit
def _same_row(indptr: Counts, items: Ids, one: int, other: int) -> bool:
    start, other_start = indptr[one], indptr[other]
    length = indptr[one + 1] - start
    if indptr[other + 1] - other_start != length:
        return False
    same = 0
    while same < length and items[start + same] == items[other_start + same]:
        same += 1
    return bool(same == length)


@jit
def _group_equal(indptr: Counts, items: Ids, group_of_row: Counts, first_row: Counts) -> int:
    """Number equal rows alike; `first_row` gets one row of each group. Return their number."""
    n_rows = indptr.size - 1
    size = 16
    while size < 2 * n_rows:
        size *= 2
    mask = size - 1
    table = np.full(size, -1, np.int32)
    tag_of_group = np.empty(n_rows, np.int64)
    groups = 0
    for row in range(n_rows):
        tag = np.int64(indptr[row + 1] - indptr[row])
        for position in range(indptr[row], indptr[row + 1]):
            tag = (tag ^ np.int64(items[position])) * np.int64(-7046029254386353131)
            tag ^= (tag >> np.int64(32)) & np.int64(0xFFFFFFFF)
        slot = tag & mask
        while True:
            group = table[slot]
            if group < 0:
                table[slot] = groups
                tag_of_group[groups] = tag
                first_row[groups] = row
                group_of_row[row] = groups
                groups += 1
                break
            if tag_of_group[group] == tag and _same_row(indptr, items, first_row[group], row):
                group_of_row[row] = group
                break
            slot = (slot + 1) & mask
    return groups


@jit
def _prefix_keys(indptr: Counts, items: Ids, rows: Counts, bits: int, per_key: int) -> Counts:
    """Pack the first items of each row into one number that sorts as the rows do."""
    keys = np.zeros(rows.size, np.int64)
    for i in range(rows.size):
        start = indptr[rows[i]]
        length = indptr[rows[i] + 1] - start
        key = np.int64(0)
        for j in range(per_key):
            key <<= bits
            if j < length:
                key |= np.int64(items[start + j]) + 1
        keys[i] = key
    return keys


@jit
def _row_less(indptr: Counts, items: Ids, one: int, other: int) -> bool:
    start, other_start = indptr[one], indptr[other]
    length, other_length = indptr[one + 1] - start, indptr[other + 1] - other_start
    for i in range(min(length, other_length)):
        if items[start + i] != items[other_start + i]:
            return bool(items[start + i] < items[other_start + i])
    return bool(length < other_length)


@jit
def _break_ties(indptr: Counts, items: Ids, rows: Counts, keys: Counts, order: Counts) -> None:
    """Sort each run of equal keys in `order` by the whole rows (bottom-up merge sort)."""
    spare = np.empty(order.size, np.int64)
    low = 0
    while low < order.size:
        high = low + 1
        while high < order.size and keys[order[high]] == keys[order[low]]:
            high += 1
        width = 1
        while width < high - low:
            begin = low
            while begin < high:
                middle, end = min(begin + width, high), min(begin + 2 * width, high)
                left, right = begin, middle
                for i in range(begin, end):
                    if left < middle and (
                        right >= end
                        or not _row_less(indptr, items, rows[order[right]], rows[order[left]])
                    ):
                        spare[i] = order[left]
                        left += 1
                    else:
                        spare[i] = order[right]
                        right += 1
                begin = end
            for i in range(low, high):
                order[i] = spare[i]
            width *= 2
        low = high


@jit
def _gather(
    indptr: Counts,
    items: Ids,
    weight_by_row: Counts,
    rows: Counts,
    order: Counts,
    group_of_row: Counts,
    out_indptr: Counts,
    out_weight: Counts,
) -> Ids:
    """Write the groups in their order; `group_of_row` becomes the place in that order."""
    total = 0
    for row in rows:
        total += indptr[row + 1] - indptr[row]
    out_items = np.empty(total, np.int32)
    place = np.empty(order.size, np.int64)
    filled = 0
    out_indptr[0] = 0
    for i in range(order.size):
        place[order[i]] = i
        row = rows[order[i]]
        for position in range(indptr[row], indptr[row + 1]):
            out_items[filled] = items[position]
            filled += 1
        out_indptr[i + 1] = filled
    for row in range(group_of_row.size):
        merged = place[group_of_row[row]]
        group_of_row[row] = merged
        out_weight[merged] += weight_by_row[row]
    return out_items


def merge_rows(indptr: Counts, items: Ids, weight_by_row: Counts) -> tuple[Counts, Ids, Counts, Counts]:
    """Merge identical rows and add up their weights.

    The merged rows come in lexicographic order, so the result does not depend on the order of the rows
    given. The fourth array is, for each row given, the merged row that it became.
    """
    indptr, items = plain(indptr, np.int64), plain(items, np.int32)
    n_rows = indptr.size - 1
    merged_of_row = np.empty(n_rows, np.int64)
    first_row = np.empty(n_rows, np.int64)
    groups = _group_equal(indptr, items, merged_of_row, first_row)
    rows = first_row[:groups].copy()
    bits = max(1, (int(items.max(initial=0)) + 1).bit_length())
    keys = _prefix_keys(indptr, items, rows, bits, 63 // bits)
    order = np.argsort(keys).astype(np.int64)
    _break_ties(indptr, items, rows, keys, order)
    out_indptr = np.empty(groups + 1, np.int64)
    out_weight = np.zeros(groups, np.int64)
    weight_by_row = plain(weight_by_row, np.int64)
    out_items = _gather(
        indptr, items, weight_by_row, rows, order, merged_of_row, out_indptr, out_weight
    )
    return out_indptr, out_items, out_weight, merged_of_row


@jit
def _expand(indptr: Counts, items: Ids, parent: Ids, out_indptr: Counts, out_nodes: Ids) -> None:
    """Count the nodes of each row where `out_nodes` is empty, else write them."""
    writing = out_nodes.size > 0
    seen_in = np.full(parent.size, -1, np.int64)
    filled = 0
    out_indptr[0] = 0
    for row in range(indptr.size - 1):
        start = filled
        for position in range(indptr[row], indptr[row + 1]):
            node = items[position]
            while node >= 0 and seen_in[node] != row:
                seen_in[node] = row
                if writing:
                    out_nodes[filled] = node
                filled += 1
                node = parent[node]
        if writing:
            sort_slice(out_nodes, start, filled)
        out_indptr[row + 1] = filled


def expand_rows(indptr: Counts, items: Ids, parent: Ids) -> tuple[Counts, Ids]:
    """Add to each row all ancestors of its items; rows stay ascending and free of repeats.

    A parent is -1 for a root; its id is above its children's.
    """
    indptr, items, parent = (plain(indptr, np.int64), plain(items, np.int32), plain(parent, np.int32))
    out_indptr = np.empty(indptr.size, np.int64)
    _expand(indptr, items, parent, out_indptr, np.empty(0, np.int32))
    nodes = np.empty(out_indptr[-1], np.int32)
    if nodes.size:
        _expand(indptr, items, parent, out_indptr, nodes)
    return out_indptr, nodes


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
