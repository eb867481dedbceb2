"""The compiled search for closed and for maximal frequent itemsets; `frequent` is its front.

A set is closed where no item can be added without losing a record, and maximal where none can be added
without falling below the threshold. Each closed set is reached once, by the way Uno and others give
(LCM, 2004): a closed set is extended by an item of higher rank than the last extension, and everything
that all its records share joins it. If a shared item of lower rank is new, the set belongs to another
branch, and so does all that follows. Levels are as in `frequent_loops`, with every row that holds the
prefix: the shared items of lower rank are looked up in the whole rows.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..base import Counts, Ids, jit, sort_slice
from .frequent_loops import Steps, count_after, grown, project, too_many

Flags = npt.NDArray[np.bool_]
_SETS_PER_LOOK = 1 << 12


@jit
def _shares_lower(
    low: int,
    high: int,
    row_of: Ids,
    origin_of_row: Ids,
    rank: int,
    is_member: Flags,
    items: Ids,
    end_of_row: Counts,
    shared: Ids,
) -> bool:
    """Tell whether all the rows have an item below `rank` in common that is not in the set."""
    n_shared = 0
    for o in range(low, high):
        row = origin_of_row[row_of[o]]
        begin = end_of_row[row - 1] if row > 0 else 0
        position, end = np.int64(begin), end_of_row[row]
        if o == low:
            while position < end and items[position] < rank:
                if not is_member[items[position]]:
                    shared[n_shared] = items[position]
                    n_shared += 1
                position += 1
        else:
            kept = 0
            for s in range(n_shared):
                while position < end and items[position] < shared[s]:
                    position += 1
                if position < end and items[position] == shared[s]:
                    shared[kept] = shared[s]
                    kept += 1
            n_shared = kept
        if n_shared == 0:
            return False
    return n_shared > 0


@jit
def _can_grow_lower(
    low: int,
    high: int,
    row_of: Ids,
    origin_of_row: Ids,
    rank: int,
    is_member: Flags,
    items: Ids,
    end_of_row: Counts,
    weight_by_row: Counts,
    least: int,
    count: Counts,
    touched: Ids,
) -> bool:
    """Tell whether an item below `rank` that is not in the set can join it and leave it frequent."""
    n_touched = 0
    grows = False
    for o in range(low, high):
        row = origin_of_row[row_of[o]]
        position = np.int64(end_of_row[row - 1] if row > 0 else 0)
        while position < end_of_row[row] and items[position] < rank:
            item = items[position]
            if not is_member[item]:
                if count[item] == 0:
                    touched[n_touched] = item
                    n_touched += 1
                count[item] += weight_by_row[row]
                grows = grows or count[item] >= least
            position += 1
        if grows:
            break
    for t in range(n_touched):
        count[touched[t]] = 0
    return grows


@jit
def search_closed(
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
    only_maximal: bool,
    found_by_task: Counts,
    task: int,
    most_sets: int,
) -> Steps:
    """Find the closed or the maximal frequent sets whose first extension is in `firsts`.

    Returns
    -------
    parent, item, support
        The steps; a support of 0 marks a step that is only on the way to a set.
    """
    n_items = start_by_item.size - 1
    lv_entry, lv_position = np.empty(1024, np.int32), np.empty(1024, np.int32)
    lv_row, lv_end = np.empty(1024, np.int32), np.empty(1024, np.int64)
    lv_weight, lv_start = np.empty(1024, np.int64), np.empty(1024, np.int64)
    lv_rank, lv_count = np.empty(1024, np.int32), np.empty(1024, np.int64)
    lv_origin = np.empty(1024, np.int32)
    own_origin = np.arange(end_of_row.size).astype(np.int32)
    at_entry, at_row = np.zeros(longest + 2, np.int64), np.zeros(longest + 2, np.int64)
    at_item, cursor = np.zeros(longest + 2, np.int64), np.zeros(longest + 2, np.int64)
    step_at, size_at = np.zeros(longest + 2, np.int64), np.zeros(longest + 2, np.int64)
    # How many steps and sets there were before the prefix: steps that lead to no set are forgotten.
    found_at, closed_at = np.zeros(longest + 2, np.int64), np.zeros(longest + 2, np.int64)

    count = np.zeros(n_items, np.int64)
    touched = np.empty(n_items, np.int32)
    shared = np.empty(n_items, np.int32)
    local_of = np.full(n_items, -1, np.int32)
    is_member = np.zeros(n_items, np.bool_)
    members = np.empty(longest + 1, np.int32)
    out_parent, out_item = np.empty(4096, np.int32), np.empty(4096, np.int32)
    out_support = np.empty(4096, np.int64)
    found, closed = 0, 0
    next_look = _SETS_PER_LOOK
    for which in range(firsts.size):
        level = -1
        while True:
            if closed >= next_look:
                if too_many(found_by_task, task, closed, most_sets) or found > 2**30:
                    found_by_task[task] = max(closed, most_sets + 1)
                    return out_parent[:found], out_item[:found], out_support[:found]
                next_look = closed + _SETS_PER_LOOK
            # The set that is extended: its members beyond those of the level are forgotten.
            size = size_at[level] if level >= 0 else 0
            if level >= 0:
                place = at_item[level] + cursor[level]
                if place == at_item[level + 1]:
                    if closed == closed_at[level]:
                        found = found_at[level]
                    level -= 1
                    above = size_at[level] if level >= 0 else 0
                    for i in range(above, size):
                        is_member[members[i]] = False
                    if level < 0:
                        break
                    continue
                cursor[level] += 1
                rank, support, step = lv_rank[place], lv_count[place], step_at[level]
                low, high = lv_start[place + 2 * level], lv_start[place + 2 * level + 1]
                source = (lv_entry, lv_position, lv_row, lv_end, lv_weight)
                origin = lv_origin
            else:
                rank = firsts[which]
                support, step = support_by_item[rank], np.int64(-1)
                low, high = start_by_item[rank], start_by_item[rank + 1]
                source = (items, position_of, row_of, end_of_row, weight_by_row)
                origin = own_origin
            before, found_before, closed_before = size, found, closed
            if not _shares_lower(
                low, high, source[2], origin, rank, is_member, items, end_of_row, shared
            ):
                n_touched, scanned = count_after(low, high, *source, count, touched)
                room = found + n_touched + 1
                out_parent = grown(out_parent, found, room)
                out_item = grown(out_item, found, room)
                out_support = grown(out_support, found, room)
                members[size] = rank
                size += 1
                kept = 0
                for t in range(n_touched):
                    item = touched[t]
                    if count[item] < support and count[item] >= least:
                        touched[kept] = item
                        kept += 1
                    else:
                        if count[item] == support:
                            members[size] = lv_rank[at_item[level] + item] if level >= 0 else item
                            size += 1
                        count[item] = 0
                for i in range(before, size):
                    is_member[members[i]] = True
                    out_parent[found], out_item[found], out_support[found] = step, members[i], 0
                    step = found
                    found += 1
                fits = size <= most_items
                if fits and not (
                    only_maximal
                    and (
                        kept > 0
                        or _can_grow_lower(
                            low,
                            high,
                            source[2],
                            origin,
                            rank,
                            is_member,
                            items,
                            end_of_row,
                            weight_by_row,
                            least,
                            count,
                            shared,
                        )
                    )
                ):
                    out_support[step] = support
                    closed += 1
                if fits and kept > 0:
                    sort_slice(touched, 0, kept)
                    below = level + 1
                    entries, rows, base = at_entry[below], at_row[below], at_item[below]
                    lv_entry = grown(lv_entry, entries, entries + scanned)
                    lv_position = grown(lv_position, entries, entries + scanned)
                    lv_row = grown(lv_row, entries, entries + scanned)
                    lv_end = grown(lv_end, rows, rows + high - low)
                    lv_weight = grown(lv_weight, rows, rows + high - low)
                    lv_origin = grown(lv_origin, rows, rows + high - low)
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
                        origin,
                        local_of,
                        kept,
                        0,
                        entries,
                        rows,
                        base + 2 * below,
                        lv_entry,
                        lv_position,
                        lv_row,
                        lv_end,
                        lv_weight,
                        lv_origin,
                        lv_start,
                    )
                    for t in range(kept):
                        local_of[touched[t]] = -1
                    at_item[below + 1] = base + kept
                    cursor[below], step_at[below], size_at[below] = 0, step, size
                    found_at[below], closed_at[below] = found_before, closed_before
                    level = below
                    continue
                for t in range(kept):
                    count[touched[t]] = 0
                for i in range(before, size):
                    is_member[members[i]] = False
                if closed == closed_before:
                    found = found_before
            if level < 0:
                break
    found_by_task[task] = closed
    return out_parent[:found], out_item[:found], out_support[:found]
