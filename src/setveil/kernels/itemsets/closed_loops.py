"""The compiled search for closed and for maximal frequent itemsets; `frequent` is its front.

A set is closed where no item can be added without losing a record, and maximal where none can be added
without falling below the threshold. Each closed set is reached once, by the way Uno and others give
(LCM, 2004): a closed set is extended by an item of higher rank than the last extension, and everything
that all its records share joins it. If a shared item of lower rank is new, the set belongs to another
branch, and so does all that follows. The levels are those of `projected`, with every row that holds the
prefix: the shared items of lower rank are looked up in the whole rows.
"""

from __future__ import annotations

import numpy as np

from ..base import Counts, Flags, Ids, inlined, jit, sort_slice
from .frequent_loops import Steps, Wanted, more_steps, new_steps, only, too_many, write_step
from .projected import (
    END,
    FIRST_ITEM,
    ORIGIN,
    ROW,
    WEIGHT,
    Projected,
    Tally,
    count_after,
    descend,
    new_levels,
    new_tally,
    next_place,
    rank_of,
    with_room,
)

_SETS_PER_LOOK = 1 << 12


SIZE, STEP, FOUND, CLOSED = 0, 1, 2, 3
"""What is kept of each open prefix: its size, its step, and how many steps and sets came before it."""


@inlined
def _shares_lower(
    rows: Ids,
    places: Ids,
    low: int,
    high: int,
    entry: Ids,
    whole_rows: Ids,
    rank: int,
    is_member: Flags,
    shared: Ids,
) -> bool:
    """Tell whether all the rows have an item below `rank` in common that is not in the set.

    Rows at the places ``low .. high - 1`` are meant, whole: `entry` and `whole_rows` are the data's.
    """
    n_shared = 0
    for o in range(low, high):
        row = rows[places[o, ROW], ORIGIN]
        position = np.int64(whole_rows[row - 1, END] if row > 0 else 0)
        end = np.int64(whole_rows[row, END])
        if o == low:
            while position < end and entry[position] < rank:
                if not is_member[entry[position]]:
                    shared[n_shared] = entry[position]
                    n_shared += 1
                position += 1
        else:
            kept = 0
            for s in range(n_shared):
                while position < end and entry[position] < shared[s]:
                    position += 1
                if position < end and entry[position] == shared[s]:
                    shared[kept] = shared[s]
                    kept += 1
            n_shared = kept
        if n_shared == 0:
            return False
    return n_shared > 0


@inlined
def _can_grow_lower(
    rows: Ids,
    places: Ids,
    low: int,
    high: int,
    entry: Ids,
    whole_rows: Ids,
    rank: int,
    is_member: Flags,
    least: int,
    count: Counts,
    touched: Ids,
) -> bool:
    """Tell whether an item below `rank` can join the set and leave it frequent."""
    n_touched = 0
    grows = False
    for o in range(low, high):
        row = rows[places[o, ROW], ORIGIN]
        position = np.int64(whole_rows[row - 1, END] if row > 0 else 0)
        while position < whole_rows[row, END] and entry[position] < rank:
            item = entry[position]
            if not is_member[item]:
                if count[item] == 0:
                    touched[n_touched] = item
                    n_touched += 1
                count[item] += whole_rows[row, WEIGHT]
                grows = grows or count[item] >= least
            position += 1
        if grows:
            break
    for t in range(n_touched):
        count[touched[t]] = 0
    return grows


@inlined
def _join_shared(
    ranks: Ids,
    base: int,
    members: Ids,
    size: int,
    tally: Tally,
    n_touched: int,
    support: int,
    least: int,
) -> tuple[int, int]:
    """Let the items that all records share join the set; return its size, and how many may extend it.

    Those are put first; the counts of all others are cleared.
    """
    count, touched, _ = tally
    kept = 0
    for t in range(n_touched):
        item = touched[t]
        if least <= count[item] < support:
            touched[kept] = item
            kept += 1
            continue
        if count[item] == support:
            members[size] = rank_of(ranks, base, item)
            size += 1
        count[item] = 0
    return size, kept


@inlined
def _leave(is_member: Flags, ranks: Ids, before: int, size: int) -> None:
    """Take the members from the place `before` on out of the set."""
    for i in range(before, size):
        is_member[ranks[i]] = False


@jit
def search_closed(
    firsts: Ids,
    whole: Projected,
    support_by_item: Counts,
    wanted: Wanted,
    only_maximal: bool,
    found_by_task: Counts,
    task: int,
) -> Steps:
    """Find the closed or the maximal frequent sets whose first extension is in `firsts`."""
    n_items, least = support_by_item.size, wanted.least
    levels = new_levels(wanted.longest + 1, 0)
    at = levels.at
    kept_at = np.zeros((wanted.longest + 2, 4), np.int64)
    tally = new_tally(n_items)
    count, touched, _ = tally
    shared = np.empty(n_items, np.int32)
    ranks, is_member = np.empty(wanted.longest + 1, np.int32), np.zeros(n_items, np.bool_)
    whole_entry, whole_rows = whole.entry, whole.rows
    steps = new_steps()
    found, closed = 0, 0
    next_look = _SETS_PER_LOOK
    for first in firsts:
        level = -1
        while True:
            if closed >= next_look:
                if too_many(found_by_task, task, closed, wanted.most_sets) or found > 2**30:
                    found_by_task[task] = max(closed, wanted.most_sets + 1)
                    return only(steps, found)
                next_look = closed + _SETS_PER_LOOK
            before = kept_at[level, SIZE] if level >= 0 else 0
            if level >= 0:
                place = next_place(levels, level)
                if place < 0:
                    if closed == kept_at[level, CLOSED]:
                        found = kept_at[level, FOUND]
                    level -= 1
                    # Members beyond those of the level are forgotten.
                    _leave(is_member, ranks, kept_at[level, SIZE] if level >= 0 else 0, before)
                    if level < 0:
                        break
                    continue
                rank, support = int(levels.rank[place]), levels.support[place]
                step = kept_at[level, STEP]
                source = levels.data
                low, high = source.start[place + 2 * level], source.start[place + 2 * level + 1]
            else:
                rank, support, step = int(first), support_by_item[first], np.int64(-1)
                low, high = whole.start[first], whole.start[first + 1]
                source = whole
            if _shares_lower(
                source.rows, source.places, low, high, whole_entry, whole_rows, rank, is_member, shared
            ):
                if level < 0:
                    break
                continue
            found_before, closed_before = found, closed
            n_touched, scanned = count_after(source, low, high, tally)
            if found + n_touched + 1 > steps.item.size:
                steps = more_steps(steps, found, found + n_touched + 1)
            ranks[before] = rank
            base = int(at[level, FIRST_ITEM]) if level >= 0 else -1
            size, kept = _join_shared(
                levels.rank, base, ranks, before + 1, tally, n_touched, support, least
            )
            for i in range(before, size):
                is_member[ranks[i]] = True
                write_step(steps, found, step, ranks[i], 0)
                step = found
                found += 1
            fits = size <= wanted.most_items
            is_wanted = fits and not (only_maximal and kept > 0)
            if is_wanted and only_maximal:
                is_wanted = not _can_grow_lower(
                    source.rows, source.places, low, high, whole_entry, whole_rows, rank, is_member,
                    least, count, shared,
                )  # fmt: skip
            if is_wanted:
                steps.support[step] = support
                closed += 1
            if fits and kept > 0:
                sort_slice(touched, 0, kept)
                levels = with_room(levels, level + 1, scanned, high - low, kept)
                descend(levels, source, level, low, high, tally, kept)
                level += 1
                kept_at[level, SIZE], kept_at[level, STEP] = size, step
                kept_at[level, FOUND], kept_at[level, CLOSED] = found_before, closed_before
                continue
            for t in range(kept):
                count[touched[t]] = 0
            _leave(is_member, ranks, before, size)
            if closed == closed_before:
                found = found_before
            if level < 0:
                break
    found_by_task[task] = closed
    return only(steps, found)
