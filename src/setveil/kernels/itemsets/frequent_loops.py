"""The compiled search for all frequent itemsets; `frequent` is its front.

The levels are those of `projected`, with the items that extend a prefix to a frequent set. A set is
written as one step: the step of the set without its last item, that item, and the support. Steps take
the same room however long the sets are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..base import Counts, Ids, grown, inlined, jit, sort_slice
from .projected import (
    END,
    FIRST_ITEM,
    POSITION,
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

# With so few possible extensions all their subsets are counted at once, in a table.
_TABLE_ITEMS = 10
# How many sets a task finds between two looks at what the others have found.
_SETS_PER_LOOK = 1 << 14


class Steps(NamedTuple):
    """Steps to sets; a parent of -1 means that the item stands alone, a support of 0 no set."""

    parent: Ids
    item: Ids
    support: Counts


class Wanted(NamedTuple):
    """What is searched for: the least support, the most items of a set and of a row, the most sets."""

    least: int
    most_items: int
    longest: int
    most_sets: int


class Forest(NamedTuple):
    """An interval of places for each item: that of a node lies within that of what is above it."""

    first: Ids
    """Empty where items are no nodes."""
    end: Ids


class Subsets(NamedTuple):
    """Work space to count all subsets of a few items, each subset as a bit mask."""

    rank: Ids
    """By item."""
    barred: Counts
    """By item, as a mask: the earlier ones that are above or below it."""
    support: Counts
    step: Counts
    """By subset, -1 where it is not frequent or has a node and one above it."""


@jit
def new_steps() -> Steps:
    """Return room for some steps."""
    return Steps(np.empty(4096, np.int32), np.empty(4096, np.int32), np.empty(4096, np.int64))


@jit
def more_steps(steps: Steps, used: int, needed: int) -> Steps:
    """Return the steps with room for so many in all."""
    return Steps(
        grown(steps.parent, used, needed),
        grown(steps.item, used, needed),
        grown(steps.support, used, needed),
    )


@inlined
def write_step(steps: Steps, step: int, parent: int, item: int, support: int) -> None:
    """Write one step."""
    steps.parent[step] = parent
    steps.item[step] = item
    steps.support[step] = support


@jit
def only(steps: Steps, used: int) -> Steps:
    """Return the steps in use."""
    return Steps(steps.parent[:used], steps.item[:used], steps.support[:used])


@jit
def too_many(found_by_task: Counts, task: int, found: int, most_sets: int) -> bool:
    """Note how many sets a task has found; tell whether all together found too many."""
    found_by_task[task] = found
    total = 0
    for i in range(found_by_task.size):
        total += found_by_task[i]
    return bool(total > most_sets)


@inlined
def _are_related(first: Ids, end: Ids, one: int, other: int) -> bool:
    """Tell whether one of two nodes is at or above the other."""
    return bool(first[one] <= first[other] < end[one] or first[other] <= first[one] < end[other])


@inlined
def _keep_frequent(
    ranks: Ids, base: int, rank: int, tally: Tally, n_touched: int, least: int, forest: Forest
) -> int:
    """Put the items first that make a frequent set with `rank`, ascending; return how many they are."""
    count, touched, _ = tally
    first, end = forest
    has_forest = first.size > 0
    kept = 0
    for t in range(n_touched):
        item = touched[t]
        is_kept = count[item] >= least
        if is_kept and has_forest:
            is_kept = not _are_related(first, end, rank, rank_of(ranks, base, item))
        if is_kept:
            touched[kept] = item
            kept += 1
        else:
            count[item] = 0
    sort_slice(touched, 0, kept)
    return kept


@inlined
def _count_subsets(
    source: Projected, low: int, high: int, local_of: Ids, kept: int, support: Counts
) -> None:
    """Fill `support` for each subset of the `kept` items, as a bit mask."""
    entry, rows, places, _ = source
    for mask in range(1 << kept):
        support[mask] = 0
    for o in range(low, high):
        row = places[o, ROW]
        mask = 0
        for position in range(np.int64(places[o, POSITION]) + 1, np.int64(rows[row, END])):
            bit = local_of[entry[position]]
            if bit >= 0:
                mask |= 1 << bit
        support[mask] += rows[row, WEIGHT]
    # The rows of a set are its own and those of its supersets: add these, a bit at a time.
    half = 1
    while half < 1 << kept:
        for block in range(0, 1 << kept, 2 * half):
            for mask in range(block, block + half):
                support[mask] += support[mask + half]
        half *= 2


@inlined
def _number_few(
    ranks: Ids, base: int, tally: Tally, kept: int, forest: Forest, subsets: Subsets
) -> None:
    """Number a few items as bits and find which bar each other; their counts are cleared."""
    count, touched, local_of = tally
    few, barred, _, _ = subsets
    first, end = forest
    has_forest = first.size > 0
    for t in range(kept):
        item = touched[t]
        local_of[item] = t
        count[item] = 0
        few[t] = rank_of(ranks, base, item)
        barred[t] = 0
        if has_forest:
            for u in range(t):
                if _are_related(first, end, few[t], few[u]):
                    barred[t] |= 1 << u


@inlined
def _write_subsets(
    steps: Steps, found: int, above: int, tally: Tally, kept: int, least: int, subsets: Subsets
) -> int:
    """Write all frequent sets of a prefix and counted subsets; return how many steps there are then."""
    few, barred, support, step_of = subsets
    out_parent, out_item, out_support = steps
    _, touched, local_of = tally
    step_of[0] = above
    for t in range(kept):
        local_of[touched[t]] = -1
        for mask in range(1 << t):
            own = mask | 1 << t
            step_of[own] = -1
            if support[own] >= least and step_of[mask] >= 0 and not mask & barred[t]:
                out_parent[found], out_item[found] = step_of[mask], few[t]
                out_support[found] = support[own]
                step_of[own] = found
                found += 1
    return found


@jit
def search_all(
    firsts: Ids,
    whole: Projected,
    support_by_item: Counts,
    wanted: Wanted,
    forest: Forest,
    found_by_task: Counts,
    task: int,
) -> Steps:
    """Find the frequent sets whose lowest rank is in `firsts`, without those of related nodes.

    The search ends early where all tasks together have found more than ``wanted.most_sets``.
    """
    least, most_items = wanted.least, wanted.most_items
    levels = new_levels(wanted.longest + 1, 1)
    at = levels.at
    step_at = np.zeros(wanted.longest + 2, np.int64)
    tally = new_tally(support_by_item.size)
    count, touched, _ = tally
    subsets = Subsets(
        np.empty(_TABLE_ITEMS, np.int32),
        np.zeros(_TABLE_ITEMS, np.int64),
        np.empty(1 << _TABLE_ITEMS, np.int64),
        np.empty(1 << _TABLE_ITEMS, np.int64),
    )
    steps = new_steps()
    found = 0
    next_look = _SETS_PER_LOOK
    for first in firsts:
        level = -1
        while True:
            if found >= next_look:
                if too_many(found_by_task, task, found, wanted.most_sets):
                    return only(steps, found)
                next_look = found + _SETS_PER_LOOK
            if level >= 0:
                place = next_place(levels, level)
                if place < 0:
                    level -= 1
                    if level < 0:
                        break
                    continue
                rank, support, above = int(levels.rank[place]), levels.support[place], step_at[level]
                source = levels.data
                low, high = source.start[place + 2 * level], source.start[place + 2 * level + 1]
            else:
                rank, support, above = int(first), support_by_item[first], np.int64(-1)
                low, high = whole.start[first], whole.start[first + 1]
                source = whole
            size = level + 2
            n_touched, scanned = 0, 0
            if size < most_items:
                n_touched, scanned = count_after(source, low, high, tally)
            base = int(at[level, FIRST_ITEM]) if level >= 0 else -1
            kept = _keep_frequent(levels.rank, base, rank, tally, n_touched, least, forest)
            room = found + kept + 1 + (1 << min(kept, _TABLE_ITEMS))
            if room > steps.item.size:
                steps = more_steps(steps, found, room)
            me = found
            write_step(steps, me, above, rank, support)
            found += 1
            if kept < 2 or size + 1 == most_items:
                ranks = levels.rank
                for t in range(kept):
                    item = touched[t]
                    write_step(steps, found, me, rank_of(ranks, base, item), count[item])
                    count[item] = 0
                    found += 1
            elif kept <= _TABLE_ITEMS and size + kept <= most_items:
                _number_few(levels.rank, base, tally, kept, forest, subsets)
                _count_subsets(source, low, high, tally.local_of, kept, subsets.support)
                found = _write_subsets(steps, found, me, tally, kept, least, subsets)
            else:
                levels = with_room(levels, level + 1, scanned, high - low, kept)
                descend(levels, source, level, low, high, tally, kept)
                level += 1
                step_at[level] = me
            if level < 0:
                break
    found_by_task[task] = found
    return only(steps, found)
