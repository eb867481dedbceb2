"""The compiled loops of `supports`: row lists, bitmaps, counting and lifting."""

from __future__ import annotations

import numpy as np

from ._bits import lowest_bit
from ._calls import Counts, Ids, Words
from ._jit import jit
from ._sorting import sort_slice


@jit
def list_rows(indptr: Counts, items: Ids, parent: Ids, list_indptr: Counts, rows: Ids) -> None:
    """Count the rows of each node where `rows` is empty, else write them."""
    writing = rows.size > 0
    seen_in = np.full(parent.size, -1, np.int64)
    place = list_indptr[:-1].copy() if writing else np.zeros(parent.size, np.int64)
    for row in range(indptr.size - 1):
        for position in range(indptr[row], indptr[row + 1]):
            node = items[position]
            while node >= 0 and seen_in[node] != row:
                seen_in[node] = row
                if writing:
                    rows[place[node]] = row
                place[node] += 1
                node = parent[node]
    if not writing:
        list_indptr[0] = 0
        for node in range(parent.size):
            list_indptr[node + 1] = list_indptr[node] + place[node]


@jit
def fill_bitmaps(list_indptr: Counts, rows: Ids, nodes: Ids, n_words: int, bitmaps: Words) -> None:
    """Set the bits of the rows of each node, and of the words that hold them."""
    one = np.uint64(1)
    for slot in range(nodes.size):
        for place in range(list_indptr[nodes[slot]], list_indptr[nodes[slot] + 1]):
            word = rows[place] >> 6
            bitmaps[slot, word] |= one << np.uint64(rows[place] & 63)
            bitmaps[slot, n_words + (word >> 6)] |= one << np.uint64(word & 63)


@jit
def _has_row(list_indptr: Counts, rows: Ids, node: int, row: int) -> bool:
    low, high = list_indptr[node], list_indptr[node + 1]
    while low < high:
        middle = (low + high) >> 1
        if rows[middle] < row:
            low = middle + 1
        else:
            high = middle
    return bool(low < list_indptr[node + 1] and rows[low] == row)


@jit
def support_of(
    nodes: Ids,
    size: int,
    list_indptr: Counts,
    rows: Ids,
    bitmaps: Words,
    slot_of_node: Ids,
    weight_by_row: Counts,
    enough: int,
    slots: Ids,
) -> int:
    """Return the support of ``nodes[:size]``, or a lower bound that reaches `enough` > 0.

    `slots` is room for `size` numbers.
    """
    total: int = 0
    if size == 0:
        for row in range(weight_by_row.size):
            total += weight_by_row[row]
        return total
    shortest = 0
    for i in range(size):
        slots[i] = slot_of_node[nodes[i]]
        length = list_indptr[nodes[i] + 1] - list_indptr[nodes[i]]
        if length < list_indptr[nodes[shortest] + 1] - list_indptr[nodes[shortest]]:
            shortest = i
    base = nodes[shortest]
    n_words = (weight_by_row.size + 63) >> 6
    all_bitmaps = True
    for i in range(size):
        if slots[i] < 0:
            all_bitmaps = False
    if not all_bitmaps or list_indptr[base + 1] - list_indptr[base] < n_words >> 6:
        for place in range(list_indptr[base], list_indptr[base + 1]):
            row = rows[place]
            inside = True
            for i in range(size):
                if i == shortest:
                    continue
                if slots[i] >= 0:
                    word = bitmaps[slots[i], row >> 6]
                    inside = word >> np.uint64(row & 63) & np.uint64(1) != 0
                else:
                    inside = _has_row(list_indptr, rows, nodes[i], row)
                if not inside:
                    break
            if inside:
                total += weight_by_row[row]
                if 0 < enough <= total:
                    return total
        return total
    for summary in range(bitmaps.shape[1] - n_words):
        some = bitmaps[slots[0], n_words + summary]
        for i in range(1, size):
            some &= bitmaps[slots[i], n_words + summary]
        while some:
            at = (summary << 6) + lowest_bit(some)
            some &= some - np.uint64(1)
            word = bitmaps[slots[0], at]
            for i in range(1, size):
                word &= bitmaps[slots[i], at]
            while word:
                total += weight_by_row[(at << 6) + lowest_bit(word)]
                word &= word - np.uint64(1)
                if 0 < enough <= total:
                    return total
    return total


@jit
def count_part(
    low: int,
    high: int,
    sets: Ids,
    list_indptr: Counts,
    rows: Ids,
    bitmaps: Words,
    slot_of_node: Ids,
    weight_by_row: Counts,
    enough: int,
    support: Counts,
) -> None:
    """Count the supports of the sets from `low` up to `high`."""
    slots = np.empty(sets.shape[1], np.int32)
    for s in range(low, high):
        size = 0
        while size < sets.shape[1] and sets[s, size] >= 0:
            size += 1
        support[s] = support_of(
            sets[s], size, list_indptr, rows, bitmaps, slot_of_node, weight_by_row, enough, slots
        )


@jit
def _is_under(node: int, above: int, parent: Ids) -> bool:
    # ids rise along the way up, so the walk can stop early
    while 0 <= node < above:
        node = parent[node]
    return bool(node == above)


@jit
def lift_part(
    low: int,
    high: int,
    sets: Ids,
    parent: Ids,
    list_indptr: Counts,
    rows: Ids,
    bitmaps: Words,
    slot_of_node: Ids,
    weight_by_row: Counts,
    k: int,
    lifted: Ids,
    support: Counts,
) -> None:
    """Lift the sets from `low` up to `high`."""
    width = sets.shape[1]
    slots = np.empty(width, np.int32)
    nodes = np.empty(width, np.int32)
    trial = np.empty(width, np.int32)
    stuck = np.zeros(width, np.bool_)
    for s in range(low, high):
        size = 0
        while size < width and sets[s, size] >= 0:
            nodes[size] = sets[s, size]
            stuck[size] = False
            size += 1
        best = support_of(
            nodes, size, list_indptr, rows, bitmaps, slot_of_node, weight_by_row, k, slots
        )
        # Supports only grow on the way up: a node that cannot be raised now never can.
        left = size if best < k else 0
        at = 0
        while left > 0:
            if at >= size:
                at = 0
            if stuck[at]:
                at += 1
                continue
            raised = parent[nodes[at]]
            count = k
            if raised >= 0:
                trial_size = 0
                for i in range(size):
                    if i == at:
                        trial[trial_size] = raised
                        trial_size += 1
                    elif not _is_under(nodes[i], raised, parent):
                        trial[trial_size] = nodes[i]
                        trial_size += 1
                count = support_of(
                    trial,
                    trial_size,
                    list_indptr,
                    rows,
                    bitmaps,
                    slot_of_node,
                    weight_by_row,
                    k,
                    slots,
                )
            if count >= k:
                stuck[at] = True
                left -= 1
                at += 1
                continue
            best = count
            kept = 0
            place = at
            for i in range(size):
                if i == at:
                    place = kept
                elif _is_under(nodes[i], raised, parent):
                    if not stuck[i]:
                        left -= 1
                    continue
                nodes[kept] = nodes[i]
                stuck[kept] = stuck[i]
                kept += 1
            size = kept
            nodes[place] = raised
            at = place + 1
        for i in range(width):
            lifted[s, i] = nodes[i] if i < size else -1
        sort_slice(lifted[s], 0, size)
        support[s] = best
