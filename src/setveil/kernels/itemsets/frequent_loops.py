"""The compiled search for all frequent itemsets; `frequent` is its front.

Items are ranks here: rank 0 is the rarest of the frequent items. Rows hold ranks ascending, so what
follows an item in its row are the possible extensions of a prefix that ends with it. The search goes
depth first; each prefix has a level that holds its rows, reduced to the items that extend it to a
frequent set and numbered anew. A set is written as one step: the step of the set without its last
item, that item, and the support. Steps take the same room however long the sets are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..base import Counts, Ids, jit, sort_slice

Steps = tuple[Ids, Ids, Counts]

# With so few possible extensions all their subsets are counted at once, in a table.
_TABLE_ITEMS = 10
# How many sets a task finds between two looks at what the others have found.
_SETS_PER_LOOK = 1 << 14


@jit
def grown(values: npt.NDArray[Any], used: int, needed: int) -> npt.NDArray[Any]:
    """Return `values`, or where they are fewer than `needed` a larger copy of the first `used`."""
    if needed <= values.size:
        return values
    larger = np.empty(max(needed, 2 * values.size), values.dtype)
    for i in range(used):
        larger[i] = values[i]
    return larger


@jit
def list_occurrences(
    indptr: Counts, items: Ids, n_items: int, tail: int
) -> tuple[Counts, Ids, Ids, npt.NDArray[np.float64]]:
    """List where each item stands with at least `tail` others after it in its row.

    Returns
    -------
    start_by_item, position, row
        The occurrences of item i are at ``start_by_item[i]:start_by_item[i + 1]``.
    cost_by_item
        How dear the search from each item may be: the pairs after it in its rows.
    """
    start = np.zeros(n_items + 2, np.int64)
    cost = np.zeros(n_items, np.float64)
    for row in range(indptr.size - 1):
        for position in range(indptr[row], indptr[row + 1] - tail):
            start[items[position] + 2] += 1
            after = float(indptr[row + 1] - 1 - position)
            cost[items[position]] += after * (after + 1) / 2
    for item in range(n_items):
        start[item + 2] += start[item + 1]
    position_of = np.empty(start[n_items + 1], np.int32)
    row_of = np.empty(start[n_items + 1], np.int32)
    for row in range(indptr.size - 1):
        for position in range(indptr[row], indptr[row + 1] - tail):
            place = items[position] + 1
            position_of[start[place]] = position
            row_of[start[place]] = row
            start[place] += 1
    return start[: n_items + 1].copy(), position_of, row_of, cost


@jit
def too_many(found_by_task: Counts, task: int, found: int, most_sets: int) -> bool:
    """Note how many sets a task has found; tell whether all together found too many."""
    found_by_task[task] = found
    total = 0
    for i in range(found_by_task.size):
        total += found_by_task[i]
    return bool(total > most_sets)


@jit
def count_after(
    low: int,
    high: int,
    entry: Ids,
    position_of: Ids,
    row_of: Ids,
    end_of_row: Counts,
    weight_of_row: Counts,
    count: Counts,
    touched: Ids,
) -> tuple[int, int]:
    """Count what follows the occurrences; return how many items were met, and how many entries."""
    n_touched = 0
    scanned = 0
    for o in range(low, high):
        row = row_of[o]
        weight = weight_of_row[row]
        begin, end = np.int64(position_of[o]) + 1, end_of_row[row]
        scanned += end - begin
        for position in range(begin, end):
            item = entry[position]
            if count[item] == 0:
                touched[n_touched] = item
                n_touched += 1
            count[item] += weight
    return n_touched, scanned


@jit
def _count_subsets(
    low: int,
    high: int,
    entry: Ids,
    position_of: Ids,
    row_of: Ids,
    end_of_row: Counts,
    weight_of_row: Counts,
    local_of: Ids,
    kept: int,
    table: Counts,
) -> None:
    """Fill `table` with the support of each subset of the `kept` items, as a bit mask."""
    for mask in range(1 << kept):
        table[mask] = 0
    for o in range(low, high):
        row = row_of[o]
        mask = 0
        for position in range(np.int64(position_of[o]) + 1, end_of_row[row]):
            bit = local_of[entry[position]]
            if bit >= 0:
                mask |= 1 << bit
        table[mask] += weight_of_row[row]
    # The rows of a set are its own and those of its supersets: add these, a bit at a time.
    half = 1
    while half < 1 << kept:
        for block in range(0, 1 << kept, 2 * half):
            for mask in range(block, block + half):
                table[mask] += table[mask + half]
        half *= 2


@jit
def project(
    low: int,
    high: int,
    src_entry: Ids,
    src_position: Ids,
    src_row: Ids,
    src_end: Counts,
    src_weight: Counts,
    src_origin: Ids,
    local_of: Ids,
    kept: int,
    tail: int,
    entries: int,
    rows: int,
    head: int,
    entry: Ids,
    position_of: Ids,
    row_of: Ids,
    end_of_row: Counts,
    weight_of_row: Counts,
    origin_of_row: Ids,
    start: Counts,
) -> tuple[int, int]:
    """Write the rows of a prefix from `entries` and `rows` on; return where they end.

    The occurrences of item i are listed at ``start[head + i]:start[head + i + 1]``, those only
    that have at least `tail` items after them. Rows without such an occurrence are left out. Where
    `origin_of_row` is empty it is not kept.
    """
    for t in range(kept + 2):
        start[head + t] = 0
    filled, last = entries, rows
    for o in range(low, high):
        row = src_row[o]
        begin = filled
        for position in range(np.int64(src_position[o]) + 1, src_end[row]):
            local = local_of[src_entry[position]]
            if local >= 0:
                entry[filled] = local
                filled += 1
        if filled - begin <= tail:
            filled = begin
            continue
        for position in range(begin, filled - tail):
            start[head + entry[position] + 2] += 1
        end_of_row[last] = filled
        weight_of_row[last] = src_weight[row]
        if origin_of_row.size > 0:
            origin_of_row[last] = src_origin[row]
        last += 1
    start[head] = entries
    start[head + 1] = entries
    for t in range(kept):
        start[head + t + 2] += start[head + t + 1]
    position = entries
    for row in range(rows, last):
        while position < end_of_row[row] - tail:
            place = head + entry[position] + 1
            position_of[start[place]] = position
            row_of[start[place]] = row
            start[place] += 1
            position += 1
        position += tail
    return filled, last


@jit
def search_all(
    firsts: Ids,
    items: Ids,
    end_of_row: Counts,
    weight_by_row: Counts,
    start_by_item: Counts,
    position_of: Ids,
    row_of: Ids,
    support_by_item: Counts,
    longest: int,
    least: int,
    most_items: int,
    first_place: Ids,
    end_place: Ids,
    found_by_task: Counts,
    task: int,
    most_sets: int,
) -> Steps:
    """Find the frequent sets whose lowest rank is in `firsts`.

    Where `first_place` is not empty, it and `end_place` are the intervals of nodes in a tree, and
    sets with a node and its ancestor are left out. The search ends early where all tasks together
    have found more than `most_sets`.

    Returns
    -------
    parent, item, support
        The steps; a parent of -1 means that the item stands alone.
    """
    n_items = start_by_item.size - 1
    has_tree = first_place.size > 0
    # The rows of each level lie in these arrays, level after level.
    lv_entry, lv_position = np.empty(1024, np.int32), np.empty(1024, np.int32)
    lv_row, lv_end = np.empty(1024, np.int32), np.empty(1024, np.int64)
    lv_weight, lv_start = np.empty(1024, np.int64), np.empty(1024, np.int64)
    lv_rank, lv_count = np.empty(1024, np.int32), np.empty(1024, np.int64)
    no_origin = np.empty(0, np.int32)
    # Where the part of each level begins, which of its items is next, and the step of its prefix.
    at_entry, at_row = np.zeros(longest + 2, np.int64), np.zeros(longest + 2, np.int64)
    at_item, cursor = np.zeros(longest + 2, np.int64), np.zeros(longest + 2, np.int64)
    step_at = np.zeros(longest + 2, np.int64)

    count = np.zeros(n_items, np.int64)
    touched = np.empty(n_items, np.int32)
    local_of = np.full(n_items, -1, np.int32)
    rank_of = np.empty(_TABLE_ITEMS, np.int32)
    barred = np.zeros(_TABLE_ITEMS, np.int64)
    table = np.empty(1 << _TABLE_ITEMS, np.int64)
    step_of = np.empty(1 << _TABLE_ITEMS, np.int64)
    out_parent, out_item = np.empty(4096, np.int32), np.empty(4096, np.int32)
    out_support = np.empty(4096, np.int64)
    found = 0
    next_look = _SETS_PER_LOOK
    for which in range(firsts.size):
        # level -1 stands for the whole data: the same steps build level 0 from it
        level = -1
        while True:
            if found >= next_look:
                if too_many(found_by_task, task, found, most_sets):
                    return out_parent[:found], out_item[:found], out_support[:found]
                next_look = found + _SETS_PER_LOOK
            if level >= 0:
                place = at_item[level] + cursor[level]
                if place == at_item[level + 1]:
                    level -= 1
                    if level < 0:
                        break
                    continue
                cursor[level] += 1
                rank, support, above = lv_rank[place], lv_count[place], step_at[level]
                low, high = lv_start[place + 2 * level], lv_start[place + 2 * level + 1]
                source = (lv_entry, lv_position, lv_row, lv_end, lv_weight)
            else:
                rank = firsts[which]
                support, above = support_by_item[rank], np.int64(-1)
                low, high = start_by_item[rank], start_by_item[rank + 1]
                source = (items, position_of, row_of, end_of_row, weight_by_row)
            size = level + 2
            n_touched, scanned = 0, 0
            if size < most_items:
                n_touched, scanned = count_after(low, high, *source, count, touched)
            kept = 0
            for t in range(n_touched):
                item = touched[t]
                is_kept = count[item] >= least
                if is_kept and has_tree:
                    other = lv_rank[at_item[level] + item] if level >= 0 else item
                    is_kept = not (
                        first_place[rank] <= first_place[other] < end_place[rank]
                        or first_place[other] <= first_place[rank] < end_place[other]
                    )
                if is_kept:
                    touched[kept] = item
                    kept += 1
                else:
                    count[item] = 0
            sort_slice(touched, 0, kept)

            room = found + kept + 1 + (1 << min(kept, _TABLE_ITEMS))
            out_parent = grown(out_parent, found, room)
            out_item = grown(out_item, found, room)
            out_support = grown(out_support, found, room)
            me = found
            out_parent[me], out_item[me], out_support[me] = above, rank, support
            found += 1
            if kept < 2 or size + 1 == most_items:
                for t in range(kept):
                    item = touched[t]
                    out_parent[found], out_support[found] = me, count[item]
                    out_item[found] = lv_rank[at_item[level] + item] if level >= 0 else item
                    found += 1
                    count[item] = 0
                if level < 0:
                    break
                continue
            if kept <= _TABLE_ITEMS and size + kept <= most_items:
                for t in range(kept):
                    item = touched[t]
                    local_of[item] = t
                    count[item] = 0
                    rank_of[t] = lv_rank[at_item[level] + item] if level >= 0 else item
                    barred[t] = 0
                    if has_tree:
                        place = first_place[rank_of[t]]
                        for u in range(t):
                            other = first_place[rank_of[u]]
                            if (
                                other <= place < end_place[rank_of[u]]
                                or place <= other < end_place[rank_of[t]]
                            ):
                                barred[t] |= 1 << u
                _count_subsets(low, high, *source, local_of, kept, table)
                step_of[0] = me
                for t in range(kept):
                    local_of[touched[t]] = -1
                    for mask in range(1 << t):
                        own = mask | 1 << t
                        step_of[own] = -1
                        if table[own] >= least and step_of[mask] >= 0 and not mask & barred[t]:
                            out_parent[found], out_item[found] = step_of[mask], rank_of[t]
                            out_support[found] = table[own]
                            step_of[own] = found
                            found += 1
                if level < 0:
                    break
                continue

            below = level + 1
            entries, rows, base = at_entry[below], at_row[below], at_item[below]
            lv_entry = grown(lv_entry, entries, entries + scanned)
            lv_position = grown(lv_position, entries, entries + scanned)
            lv_row = grown(lv_row, entries, entries + scanned)
            lv_end = grown(lv_end, rows, rows + high - low)
            lv_weight = grown(lv_weight, rows, rows + high - low)
            lv_start = grown(lv_start, base + 2 * below, base + 2 * below + kept + 2)
            lv_rank = grown(lv_rank, base, base + kept)
            lv_count = grown(lv_count, base, base + kept)
            for t in range(kept):
                item = touched[t]
                local_of[item] = t
                lv_rank[base + t] = lv_rank[at_item[level] + item] if level >= 0 else item
                lv_count[base + t] = count[item]
                count[item] = 0
            at_entry[below + 1], at_row[below + 1] = project(
                low,
                high,
                *source,
                no_origin,
                local_of,
                kept,
                1,
                entries,
                rows,
                base + 2 * below,
                lv_entry,
                lv_position,
                lv_row,
                lv_end,
                lv_weight,
                no_origin,
                lv_start,
            )
            for t in range(kept):
                local_of[touched[t]] = -1
            at_item[below + 1] = base + kept
            cursor[below], step_at[below] = 0, me
            level = below
    found_by_task[task] = found
    return out_parent[:found], out_item[:found], out_support[:found]
