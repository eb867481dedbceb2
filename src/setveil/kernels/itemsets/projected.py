"""Projected rows: what the depth-first searches for itemsets go down through.

Items are ranks here: rank 0 is the rarest of those that are searched. Rows hold ranks ascending, so
what follows an item in its row are the possible extensions of a prefix that ends with it. Each prefix
that is gone on with has a *level*: its rows, reduced to the items that may extend it, which are
numbered anew, 0, 1, .. in the order of their ranks. A step counts what follows the occurrences of one
item of a level (`count_after`), and a search that goes on puts the next level on the stack (`descend`).
Level -1 stands for the whole data: the same steps build level 0 from it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..base import Counts, Ids, Reals, grown, grown_lines, inlined, jit

END, WEIGHT, ORIGIN = 0, 1, 2
"""Columns of `Projected.rows`."""
POSITION, ROW = 0, 1
"""Columns of `Projected.places`."""
FIRST_ENTRY, FIRST_ROW, FIRST_ITEM, UPCOMING = 0, 1, 2, 3
"""Columns of `Levels.at`."""
MOST = 2**31
"""Records, and the items in them, are fewer: numbers of 32 bits fit into the cache twice as often."""


class Projected(NamedTuple):
    """Rows, and where each item stands in them."""

    entry: Ids
    """The items of the rows, row after row, ascending in each."""
    rows: Ids
    """By row: where it ends in `entry`, its records, and the row of the data that it is the rest of."""
    places: Ids
    """By occurrence of an item that may be gone on with: where it is in `entry`, and its row."""
    start: Counts
    """Item i has the places ``start[i] : start[i + 1]``; in a level, i counts from `FIRST_ITEM`, and
    two more for each level before."""


class Levels(NamedTuple):
    """The levels of the open prefixes, one behind the other; all of them end where the next begins.

    Level d has the entries, rows and items from ``at[d]`` on; `UPCOMING` is its item that is next.
    """

    data: Projected
    rank: Ids
    """The rank of each item of each level."""
    support: Counts
    """How many records hold the prefix and this item."""
    at: Counts
    tail: int
    """A place is listed if at least so many items are after it; rows without such are left out."""


class TooLarge(Exception):
    """The data have `MOST` records or more, or as many items in them."""


class Tally(NamedTuple):
    """Work space. Between steps `counts` is 0 and `local_of` -1 for every item."""

    counts: Counts
    touched: Ids
    local_of: Ids


@jit
def item_supports(indptr: Counts, items: Ids, weight_by_row: Counts, n_items: int) -> Counts:
    """Return the weighted number of rows that hold each item."""
    support = np.zeros(n_items, np.int64)
    for row in range(indptr.size - 1):
        for position in range(indptr[row], indptr[row + 1]):
            support[items[position]] += weight_by_row[row]
    return support


@jit
def list_places(indptr: Counts, items: Ids, n_items: int, tail: int) -> tuple[Ids, Counts, Reals]:
    """List where each item stands with at least `tail` others after it in its row, as in `Projected`.

    The third is how dear the search from each item may be: the pairs of items after it in its rows.
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
    places = np.empty((start[n_items + 1], 2), np.int32)
    for row in range(indptr.size - 1):
        for position in range(indptr[row], indptr[row + 1] - tail):
            place = start[items[position] + 1]
            start[items[position] + 1] += 1
            places[place, POSITION] = position
            places[place, ROW] = row
    return places, start[: n_items + 1].copy(), cost


def whole_data(
    indptr: Counts, items: Ids, weight_by_row: Counts, n_items: int, tail: int = 1
) -> tuple[Projected, Reals]:
    """Return rows as the searches take them, and the cost of each item; see `list_places`."""
    if max(items.size, int(weight_by_row.sum())) >= MOST:
        raise TooLarge
    places, start, cost = list_places(indptr, items, n_items, tail)
    rows = np.stack([indptr[1:], weight_by_row, np.arange(indptr.size - 1)], axis=1).astype(np.int32)
    return Projected(items, rows, places, start), cost


def split_by_cost(cost_by_item: Reals, firsts: Ids, n_tasks: int) -> list[Ids]:
    """Split first items, the dearest in front, into about `n_tasks` tasks of about equal cost."""
    firsts = firsts[np.argsort(-cost_by_item[firsts], kind="stable")]
    if n_tasks <= 1:
        return [firsts]
    share = np.cumsum(cost_by_item[firsts] + 1.0)
    task_of = (share * n_tasks / share[-1]).astype(np.int64)
    return np.split(firsts, np.flatnonzero(np.diff(task_of)) + 1)


@jit
def new_levels(most: int, tail: int) -> Levels:
    """Return a stack for up to `most` levels, with none on it."""
    entry, rows = np.empty(1024, np.int32), np.empty((1024, 3), np.int32)
    places, start = np.empty((1024, 2), np.int32), np.empty(1024, np.int64)
    at = np.zeros((most + 1, 4), np.int64)
    rank, count = np.empty(1024, np.int32), np.empty(1024, np.int64)
    return Levels(Projected(entry, rows, places, start), rank, count, at, tail)


@jit
def new_tally(n_items: int) -> Tally:
    """Return work space for so many items."""
    local_of = np.full(n_items, -1, np.int32)
    return Tally(np.zeros(n_items, np.int64), np.empty(n_items, np.int32), local_of)


@inlined
def next_place(levels: Levels, level: int) -> int:
    """Return the place of the next item of a level, -1 where none is left."""
    place = levels.at[level, UPCOMING]
    if place == levels.at[level + 1, FIRST_ITEM]:
        return -1
    levels.at[level, UPCOMING] += 1
    return int(place)


@inlined
def rank_of(ranks: Ids, base: int, item: int) -> int:
    """Return the rank of an item of the level whose items begin at `base`; -1 is the whole data."""
    return int(ranks[base + item] if base >= 0 else item)


@inlined
def count_after(source: Projected, low: int, high: int, tally: Tally) -> tuple[int, int]:
    """Count what follows the occurrences; return how many items were met, and how many entries."""
    entry, rows, places, _ = source
    count, touched, _ = tally
    n_touched, scanned = 0, 0
    for o in range(low, high):
        row = places[o, ROW]
        begin, end = np.int64(places[o, POSITION]) + 1, np.int64(rows[row, END])
        weight = rows[row, WEIGHT]
        scanned += int(end - begin)
        for position in range(begin, end):
            item = entry[position]
            if count[item] == 0:
                touched[n_touched] = item
                n_touched += 1
            count[item] += weight
    return n_touched, scanned


@jit
def with_room(levels: Levels, below: int, entries: int, rows: int, items: int) -> Levels:
    """Return the stack with room for one level more, of so many entries, rows and items."""
    data, at = levels.data, levels.at
    at_entry, at_row, at_item = at[below, FIRST_ENTRY], at[below, FIRST_ROW], at[below, FIRST_ITEM]
    at_start = at_item + 2 * below
    return Levels(
        Projected(
            grown(data.entry, at_entry, at_entry + entries),
            grown_lines(data.rows, at_row, at_row + rows),
            grown_lines(data.places, at_entry, at_entry + entries),
            grown(data.start, at_start, at_start + items + 2),
        ),
        grown(levels.rank, at_item, at_item + items),
        grown(levels.support, at_item, at_item + items),
        at,
        levels.tail,
    )


@inlined
def descend(
    levels: Levels, source: Projected, level: int, low: int, high: int, tally: Tally, kept: int
) -> None:
    """Put the next level on the stack, of the rows at the places ``low .. high - 1`` of `source`.

    There must be room. Its items are ``tally.touched[:kept]``, ascending, whose counts are cleared.
    """
    (entry, rows, places, start), rank, support, at, tail = levels
    count, touched, local_of = tally
    below = level + 1
    base, above = at[below, FIRST_ITEM], int(at[level, FIRST_ITEM]) if level >= 0 else -1
    head = base + 2 * below
    start[head], start[head + 1] = 0, 0
    for t in range(kept):
        item = touched[t]
        local_of[item] = t
        rank[base + t] = rank_of(rank, above, item)
        support[base + t] = count[item]
        count[item] = 0
        start[head + t + 2] = 0
    # Its rows; how often each item occurs is in `start`, two later.
    filled, last = at[below, FIRST_ENTRY], at[below, FIRST_ROW]
    for o in range(low, high):
        row, begin = source.places[o, ROW], filled
        for position in range(
            np.int64(source.places[o, POSITION]) + 1, np.int64(source.rows[row, END])
        ):
            local = local_of[source.entry[position]]
            if local >= 0:
                entry[filled] = local
                filled += 1
        if filled - begin <= tail:
            filled = begin
            continue
        for position in range(begin, filled - tail):
            start[head + entry[position] + 2] += 1
        rows[last, END] = filled
        rows[last, WEIGHT] = source.rows[row, WEIGHT]
        rows[last, ORIGIN] = source.rows[row, ORIGIN]
        last += 1
    # The places of each item; afterwards `start` is what it shall be.
    position = at[below, FIRST_ENTRY]
    start[head], start[head + 1] = position, position
    for t in range(kept):
        local_of[touched[t]] = -1
        start[head + t + 2] += start[head + t + 1]
    for row in range(at[below, FIRST_ROW], last):
        while position < rows[row, END] - tail:
            here = head + entry[position] + 1
            places[start[here], POSITION] = position
            places[start[here], ROW] = row
            start[here] += 1
            position += 1
        position += tail
    at[below, UPCOMING] = base
    at[below + 1, FIRST_ENTRY], at[below + 1, FIRST_ROW] = filled, last
    at[below + 1, FIRST_ITEM] = base + kept
