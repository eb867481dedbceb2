"""The compiled loops of `matches` that go through itemsets: how many subsets of each row are rare.

Items are ranks here, 0 the rarest, and rows hold them ascending. An itemset is reached once, along its
items in that order. A prefix stands for the rows that hold it, each with the place of its last item, so
that what follows in a row are the possible extensions. All entries of open prefixes lie on one stack.
A step is one look at an item of a row; a search that would take more steps than it may gives up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..base import Counts, Flags, Ids, grown, jit
from ..itemsets.projected import POSITION, ROW

SHARE = 4
"""One attempt may take a quarter of the steps that are left."""


class Data(NamedTuple):
    """Rows of ranks, the records of each, and how many records hold each item."""

    indptr: Counts
    items: Ids
    weight_by_row: Counts
    support_by_item: Counts


@jit
def count_rare_sized(
    data: Data,
    places: Ids,
    start_by_item: Counts,
    choose: Counts,
    k: int,
    least_size: int,
    most_steps: int,
    steps_by_size: Counts,
    rare_by_row: Counts,
) -> int:
    """Add to ``rare_by_row[s]`` each row's number of rare subsets of `least_size` + s items.

    A subset is counted at its shortest rare prefix: with it all ways to complete it are rare.
    ``choose[n, t]`` is the number of ways to take t of n. All sizes are counted on one way through the
    prefixes, and ``steps_by_size[s]`` gets the steps that this size alone would take. Of `most_steps`
    a size may take a quarter of what those before it leave. Where it would take more it is given up,
    and all larger ones with it; returns how many sizes were counted.
    """
    indptr, items, weight_by_row, support_by_item = data
    n_items = support_by_item.size
    n_sizes = steps_by_size.size
    for s in range(n_sizes):
        size = least_size + s
        for row in range(indptr.size - 1):
            end = indptr[row + 1]
            for position in range(indptr[row], end):
                if support_by_item[items[position]] < k:
                    rare_by_row[s, row] += choose[end - 1 - position, size - 1]
        steps_by_size[s] = items.size
    size = least_size + n_sizes - 1
    if size == 1:
        return n_sizes
    count = np.zeros(n_items, np.int64)
    entries = np.zeros(n_items, np.int64)
    place = np.zeros(n_items, np.int64)
    touched = np.empty(n_items, np.int32)
    rows = np.empty(1024, np.int32)
    positions = np.empty(1024, np.int32)
    # The open prefixes: where their entries begin and end, and how many items they have.
    begins = np.empty(n_items * size + 1, np.int64)
    ends = np.empty(n_items * size + 1, np.int64)
    depths = np.empty(n_items * size + 1, np.int64)
    for first in range(n_items):
        low, high = start_by_item[first], start_by_item[first + 1]
        if support_by_item[first] < k or low == high:
            continue
        rows, positions = grown(rows, 0, high - low), grown(positions, 0, high - low)
        for entry in range(high - low):
            rows[entry], positions[entry] = places[low + entry, ROW], places[low + entry, POSITION]
        begins[0], ends[0], depths[0] = 0, high - low, 1
        n_open = 1
        while n_open > 0:
            n_open -= 1
            low, top, depth = begins[n_open], ends[n_open], depths[n_open]
            if depth >= size:
                continue
            steps = 0
            n_touched = 0
            for entry in range(low, top):
                row = rows[entry]
                end = indptr[row + 1]
                steps += end - positions[entry]
                for position in range(positions[entry] + 1, end):
                    item = items[position]
                    if entries[item] == 0:
                        touched[n_touched] = item
                        n_touched += 1
                    entries[item] += 1
                    count[item] += weight_by_row[row]
            left = most_steps
            for s in range(n_sizes):
                if least_size + s > depth:
                    steps_by_size[s] += steps
                    if steps_by_size[s] > left // SHARE:
                        # Steps only grow, so that what is too much now is too much in the end.
                        n_sizes = s
                        size = least_size + n_sizes - 1
                        break
                left -= steps_by_size[s]
            if depth >= size:
                for t in range(n_touched):
                    count[touched[t]] = 0
                    entries[touched[t]] = 0
                continue
            total = 0
            n_rare = 0
            for t in range(n_touched):
                item = touched[t]
                place[item] = -1
                if count[item] < k:
                    n_rare += 1
                elif depth < size - 1:
                    place[item] = top + total
                    total += entries[item]
            if n_rare or total:
                rows, positions = grown(rows, top, top + total), grown(positions, top, top + total)
                for entry in range(low, top):
                    row = rows[entry]
                    end = indptr[row + 1]
                    for position in range(positions[entry] + 1, end):
                        item = items[position]
                        if count[item] < k:
                            for s in range(max(0, depth + 1 - least_size), n_sizes):
                                further = least_size + s - 1 - depth
                                rare_by_row[s, row] += choose[end - 1 - position, further]
                        elif place[item] >= 0 and position + 1 < end:
                            rows[place[item]] = row
                            positions[place[item]] = position
                            place[item] += 1
            filled = top
            for t in range(n_touched):
                item = touched[t]
                if place[item] > filled:
                    begins[n_open], ends[n_open], depths[n_open] = filled, place[item], depth + 1
                    n_open += 1
                if place[item] >= 0:
                    filled += entries[item]
                count[item] = 0
                entries[item] = 0
    return n_sizes


@jit
def mark_rare_sized(
    data: Data, places: Ids, start_by_item: Counts, k: int, size: int, most_steps: int, is_open: Flags
) -> int:
    """Close every open row that holds a rare set of `size` items; open rows hold no smaller one.

    Only what open rows hold is looked for, though all rows are counted. A prefix that is in as many
    records as a part of it needs no following: a rare set with it would have a rare part. Returns the
    steps, or -1 where it gave up; the rows closed until then are rightly so.
    """
    indptr, items, weight_by_row, support_by_item = data
    n_items = support_by_item.size
    steps = int(items.size)
    if size == 1:
        for row in range(indptr.size - 1):
            for position in range(indptr[row], indptr[row + 1]):
                if support_by_item[items[position]] < k:
                    is_open[row] = False
        return steps
    count = np.zeros(n_items, np.int64)
    entries = np.zeros(n_items, np.int64)
    place = np.zeros(n_items, np.int64)
    is_wanted = np.zeros(n_items, np.bool_)
    touched = np.empty(n_items, np.int32)
    rows = np.empty(1024, np.int32)
    positions = np.empty(1024, np.int32)
    begins = np.empty(n_items * size + 1, np.int64)
    ends = np.empty(n_items * size + 1, np.int64)
    depths = np.empty(n_items * size + 1, np.int64)
    supports = np.empty(n_items * size + 1, np.int64)
    for first in range(n_items):
        low, high = start_by_item[first], start_by_item[first + 1]
        if support_by_item[first] < k or low == high:
            continue
        rows, positions = grown(rows, 0, high - low), grown(positions, 0, high - low)
        for entry in range(high - low):
            rows[entry], positions[entry] = places[low + entry, ROW], places[low + entry, POSITION]
        begins[0], ends[0], depths[0], supports[0] = 0, high - low, 1, support_by_item[first]
        n_open = 1
        while n_open > 0:
            n_open -= 1
            low, top, depth = begins[n_open], ends[n_open], depths[n_open]
            support = supports[n_open]
            spare = size - depth - 1  # so many items must follow the next one
            n_touched = 0
            steps += top - low
            for entry in range(low, top):
                row = rows[entry]
                if is_open[row]:
                    steps += indptr[row + 1] - positions[entry]
                    for position in range(positions[entry] + 1, indptr[row + 1] - spare):
                        item = items[position]
                        if not is_wanted[item]:
                            is_wanted[item] = True
                            touched[n_touched] = item
                            n_touched += 1
            if n_touched == 0:
                continue
            missing = n_touched
            for entry in range(low, top):
                row = rows[entry]
                steps += indptr[row + 1] - positions[entry]
                for position in range(positions[entry] + 1, indptr[row + 1]):
                    item = items[position]
                    if is_wanted[item]:
                        entries[item] += 1
                        if count[item] < k <= count[item] + weight_by_row[row]:
                            missing -= 1
                        count[item] += weight_by_row[row]
                if spare == 0 and missing == 0:
                    break
            if steps > most_steps:
                return -1
            if spare == 0:
                if missing:
                    for entry in range(low, top):
                        row = rows[entry]
                        if is_open[row]:
                            for position in range(positions[entry] + 1, indptr[row + 1]):
                                item = items[position]
                                if is_wanted[item] and count[item] < k:
                                    is_open[row] = False
                                    break
                for t in range(n_touched):
                    item = touched[t]
                    is_wanted[item] = False
                    count[item] = 0
                    entries[item] = 0
                continue
            total = 0
            for t in range(n_touched):
                item = touched[t]
                place[item] = -1
                if count[item] < support:
                    place[item] = top + total
                    total += entries[item]
                else:
                    is_wanted[item] = False
            rows, positions = grown(rows, top, top + total), grown(positions, top, top + total)
            for entry in range(low, top):
                row = rows[entry]
                end = indptr[row + 1]
                for position in range(positions[entry] + 1, end - 1):
                    item = items[position]
                    if is_wanted[item]:
                        rows[place[item]] = row
                        positions[place[item]] = position
                        place[item] += 1
            filled = top
            for t in range(n_touched):
                item = touched[t]
                if place[item] > filled:
                    begins[n_open], ends[n_open], depths[n_open] = filled, place[item], depth + 1
                    supports[n_open] = count[item]
                    n_open += 1
                if place[item] >= 0:
                    filled += entries[item]
                is_wanted[item] = False
                count[item] = 0
                entries[item] = 0
    return steps
