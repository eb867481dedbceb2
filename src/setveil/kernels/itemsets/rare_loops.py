"""The compiled loops of the rare-itemset finder; `rare` is their front.

Items are ranks here: rank 0 is the rarest of the items that are not rare themselves. Rows hold
ranks ascending, so what follows an item in its row are the possible extensions of a prefix that
ends with it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..base import Counts, Ids, Stop, jit, sort_slice

Bits = npt.NDArray[np.uint8]
Found = tuple[Ids, Counts, npt.NDArray[np.bool_]]


@jit
def item_supports(indptr: Counts, items: Ids, weight_by_row: Counts, n_items: int) -> Counts:
    """Return the weighted number of rows that hold each item."""
    support = np.zeros(n_items, np.int64)
    for row in range(indptr.size - 1):
        for position in range(indptr[row], indptr[row + 1]):
            support[items[position]] += weight_by_row[row]
    return support


@jit
def occurrences(
    indptr: Counts, items: Ids, n_items: int, depth: int
) -> tuple[Counts, Ids, Ids, npt.NDArray[np.float64]]:
    """List where each item stands with something after it, and how dear its subtree may be.

    Returns
    -------
    start_by_item, position, row
        The occurrences of item i are at ``start_by_item[i]:start_by_item[i + 1]``.
    cost_by_item
        The number of extensions by up to `depth` items (at most two) over its occurrences.
    """
    start = np.zeros(n_items + 1, np.int64)
    cost = np.zeros(n_items, np.float64)
    for row in range(indptr.size - 1):
        for position in range(indptr[row], indptr[row + 1] - 1):
            start[items[position] + 1] += 1
            after = float(indptr[row + 1] - 1 - position)
            cost[items[position]] += after if depth < 2 else after * (after + 1) / 2
    free = np.empty(n_items, np.int64)
    for item in range(n_items):
        free[item] = start[item]
        start[item + 1] += start[item]
    position_of = np.empty(start[n_items], np.int32)
    row_of = np.empty(start[n_items], np.int32)
    for row in range(indptr.size - 1):
        for position in range(indptr[row], indptr[row + 1] - 1):
            place = free[items[position]]
            free[items[position]] += 1
            position_of[place] = position
            row_of[place] = row
    return start, position_of, row_of, cost


@jit
def rare_pairs(
    firsts: Ids,
    indptr: Counts,
    items: Ids,
    weight_by_row: Counts,
    start_by_item: Counts,
    position_of: Ids,
    row_of: Ids,
    k: int,
    cap: int,
    frequent_bits: Bits,
    stop: Stop,
) -> Found:
    """Find the rare pairs whose lower rank is in `firsts`, up to `cap` for each of them.

    Where `frequent_bits` has rows, bit c of row a is set for each pair that is not rare; a row
    belongs to one first item, so threads do not meet in it.
    """
    n_items = start_by_item.size - 1
    count = np.zeros(n_items, np.int64)
    touched = np.empty(n_items, np.int32)
    sets = np.empty((1024, 2), np.int32)
    support = np.empty(1024, np.int64)
    capped = np.zeros(firsts.size, np.bool_)
    keep_bits = frequent_bits.shape[0] > 0
    found = 0
    for which in range(firsts.size):
        if stop[0]:
            break
        first = firsts[which]
        n_touched = 0
        for o in range(start_by_item[first], start_by_item[first + 1]):
            weight = weight_by_row[row_of[o]]
            for position in range(position_of[o] + 1, indptr[row_of[o] + 1]):
                item = items[position]
                if count[item] == 0:
                    touched[n_touched] = item
                    n_touched += 1
                count[item] += weight
        before = found
        sort_slice(touched, 0, n_touched)
        for t in range(n_touched):
            item = touched[t]
            if count[item] >= k:
                if keep_bits:
                    frequent_bits[first, item >> 3] |= np.uint8(1 << (item & 7))
            elif found - before == cap:
                capped[which] = True
            else:
                if found == support.size:
                    sets, support = grown(sets, support)
                sets[found, 0] = first
                sets[found, 1] = item
                support[found] = count[item]
                found += 1
            count[item] = 0
    return sets[:found], support[:found], capped


@jit
def grown(sets: Ids, support: Counts) -> tuple[Ids, Counts]:
    """Return room for twice as many sets, with those that there are."""
    # Plain loops compile in a fraction of the time that slices take.
    more_sets = np.empty((2 * support.size, sets.shape[1]), np.int32)
    more_support = np.empty(2 * support.size, np.int64)
    for row in range(support.size):
        more_support[row] = support[row]
        for i in range(sets.shape[1]):
            more_sets[row, i] = sets[row, i]
    return more_sets, more_support


@jit
def _tag(probe: Ids, size: int) -> np.int64:
    tag = np.int64(size)
    for i in range(size):
        tag = (tag ^ np.int64(probe[i])) * np.int64(-7046029254386353131)
        tag ^= (tag >> np.int64(32)) & np.int64(0xFFFFFFFF)
    return tag


@jit
def fill_table(known: Ids, table: Ids) -> None:
    """Enter the rows of `known` (padded with -1) into an open hash table of row numbers."""
    mask = table.size - 1
    for row in range(known.shape[0]):
        size = 0
        while size < known.shape[1] and known[row, size] >= 0:
            size += 1
        slot = _tag(known[row], size) & mask
        while table[slot] >= 0:
            slot = (slot + 1) & mask
        table[slot] = row


@jit
def _is_known(probe: Ids, size: int, known: Ids, table: Ids) -> bool:
    mask = table.size - 1
    slot = _tag(probe, size) & mask
    while table[slot] >= 0:
        row = table[slot]
        same = size == known.shape[1] or known[row, size] < 0
        for i in range(size):
            if not same or known[row, i] != probe[i]:
                same = False
                break
        if same:
            return True
        slot = (slot + 1) & mask
    return False


@jit
def has_known_subset(prefix: Ids, length: int, probe: Ids, known: Ids, table: Ids) -> bool:
    """Is a smaller rare set inside ``prefix[:length]``, the last two items of which are new?

    The set without either of these two is known not to be rare, so a rare subset has both.
    """
    for mask in range((1 << (length - 2)) - 1):
        size = 0
        for i in range(length - 2):
            if mask >> i & 1:
                probe[size] = prefix[i]
                size += 1
        probe[size] = prefix[length - 2]
        probe[size + 1] = prefix[length - 1]
        if _is_known(probe, size + 2, known, table):
            return True
    return False


@jit
def rare_deep(
    firsts: Ids,
    indptr: Counts,
    items: Ids,
    weight_by_row: Counts,
    start_by_item: Counts,
    position_of: Ids,
    row_of: Ids,
    support_by_item: Counts,
    k: int,
    goal: int,
    cap: int,
    frequent_bits: Bits,
    known: Ids,
    table: Ids,
    stop: Stop,
) -> Found:
    """Find the minimal rare sets of exactly `goal` items (3 or more) with a first in `firsts`.

    Level d holds the rows that contain a prefix of d items, reduced to the items that extend it
    to a set that is neither rare nor of the same support as a subset (minimal rare sets have no
    such subset), numbered 0, 1, .. in that level. Up to `cap` sets are given for each first item.
    `known` and `table` hold all smaller minimal rare sets (pairs are in `frequent_bits`, if any).
    """
    n_items = start_by_item.size - 1
    levels = goal - 2
    widest = 0
    for which in range(firsts.size):
        nnz = 0
        for o in range(start_by_item[firsts[which]], start_by_item[firsts[which] + 1]):
            nnz += indptr[row_of[o] + 1] - 1 - position_of[o]
        widest = max(widest, nnz)
    lv_items = np.empty((levels, widest), np.int32)
    lv_position = np.empty((levels, widest), np.int32)
    lv_row = np.empty((levels, widest), np.int32)
    lv_row_end = np.empty((levels, widest // 2 + 1), np.int32)
    lv_weight = np.empty((levels, widest // 2 + 1), np.int64)
    lv_start = np.empty((levels, n_items + 2), np.int32)
    lv_rank = np.empty((levels, n_items), np.int32)
    lv_count = np.empty((levels, n_items), np.int64)
    lv_width = np.zeros(levels, np.int32)
    cursor = np.zeros(levels, np.int32)
    prefix = np.empty(goal, np.int32)
    probe = np.empty(goal, np.int32)
    count = np.zeros(n_items, np.int64)
    touched = np.empty(n_items, np.int32)
    local_of = np.full(n_items, -1, np.int32)
    sets = np.empty((1024, goal), np.int32)
    support = np.empty(1024, np.int64)
    capped = np.zeros(firsts.size, np.bool_)
    has_bits = frequent_bits.shape[0] > 0
    has_known = known.shape[0] > 0
    found = 0
    for which in range(firsts.size):
        first = firsts[which]
        prefix[0] = first
        before = found
        # level -1 stands for the whole data: the same steps build level 0 from it
        level = -1
        while not stop[0]:
            if level >= 0:
                local = cursor[level]
                if local + 1 >= lv_width[level]:
                    level -= 1
                    if level < 0:
                        break
                    continue
                cursor[level] += 1
                prefix[level + 1] = lv_rank[level, local]
                prefix_count = lv_count[level, local]
                src_items, src_position, src_row = lv_items[level], lv_position[level], lv_row[level]
                src_end, src_weight = lv_row_end[level], lv_weight[level]
                low, high = np.int64(lv_start[level, local]), np.int64(lv_start[level, local + 1])
            else:
                prefix_count = support_by_item[first]
                src_items, src_position, src_row = items, position_of, row_of
                src_end, src_weight = lv_row_end[0], weight_by_row
                low, high = start_by_item[first], start_by_item[first + 1]
            n_touched = 0
            for o in range(low, high):
                row = src_row[o]
                weight = src_weight[row]
                end = np.int64(src_end[row]) if level >= 0 else indptr[row + 1]
                for position in range(np.int64(src_position[o]) + 1, end):
                    item = src_items[position]
                    if count[item] == 0:
                        touched[n_touched] = item
                        n_touched += 1
                    count[item] += weight
            if level == levels - 1:
                for t in range(n_touched):
                    item = touched[t]
                    item_count = count[item]
                    count[item] = 0
                    if item_count >= k:
                        continue
                    rank = lv_rank[level, item]
                    if has_bits and not (
                        frequent_bits[prefix[level + 1], rank >> 3] >> np.uint8(rank & 7) & 1
                    ):
                        continue
                    prefix[goal - 1] = rank
                    if has_known and has_known_subset(prefix, goal, probe, known, table):
                        continue
                    if found - before == cap:
                        capped[which] = True
                        continue
                    if found == support.size:
                        sets, support = grown(sets, support)
                    for i in range(goal):
                        sets[found, i] = prefix[i]
                    support[found] = item_count
                    found += 1
                if capped[which]:
                    break
                continue
            kept = 0
            for t in range(n_touched):
                item = touched[t]
                item_count = count[item]
                if (
                    item_count < k
                    or item_count == prefix_count
                    or (level >= 0 and item_count == lv_count[level, item])
                ):
                    count[item] = 0
                else:
                    touched[kept] = item
                    kept += 1
            below = level + 1
            enough = kept >= goal - 1 - below
            if enough:
                sort_slice(touched, 0, kept)
                for t in range(kept + 2):
                    lv_start[below, t] = 0
            for t in range(kept):
                item = touched[t]
                if enough:
                    local_of[item] = t
                    lv_rank[below, t] = lv_rank[level, item] if level >= 0 else item
                    lv_count[below, t] = count[item]
                count[item] = 0
            if enough:
                filled = 0
                rows = 0
                for o in range(low, high):
                    row = src_row[o]
                    begin = filled
                    end = np.int64(src_end[row]) if level >= 0 else indptr[row + 1]
                    for position in range(np.int64(src_position[o]) + 1, end):
                        local_item = local_of[src_items[position]]
                        if local_item >= 0:
                            lv_items[below, filled] = local_item
                            filled += 1
                    if filled - begin < 2:
                        filled = begin
                        continue
                    for position in range(begin, filled - 1):
                        lv_start[below, lv_items[below, position] + 2] += 1
                    lv_row_end[below, rows] = filled
                    lv_weight[below, rows] = src_weight[row]
                    rows += 1
                for t in range(kept):
                    local_of[touched[t]] = -1
                    lv_start[below, t + 2] += lv_start[below, t + 1]
                position = 0
                for row in range(rows):
                    while position < lv_row_end[below, row] - 1:
                        place = lv_start[below, lv_items[below, position] + 1]
                        lv_start[below, lv_items[below, position] + 1] += 1
                        lv_position[below, place] = position
                        lv_row[below, place] = row
                        position += 1
                    position += 1
                lv_width[below] = kept
                cursor[below] = 0
                level = below
            elif level < 0:
                break
    return sets[:found], support[:found], capped
