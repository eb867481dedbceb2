"""Searches for rare patterns of present and absent items, and for sets that give a sensitive item away.

Rare patterns, depth first: present items first, in rising order, then absent ones. An absent item is
followed further only if it takes away enough rows: where t more absent items must leave fewer than k of
W records, some one of them takes at least (W - (k - 1)) / t, and that one can come first. So few are
followed.

Telling sets, for one sensitive item: every set of at most m other items that occurs with it is visited,
depth first in rising order, with its rows among those that hold the sensitive item and among all.
Diversity is not monotone, so nothing is pruned but sets that never occur with the sensitive item. Where
only minimal sets in enough records are wanted, rare sets and sets already found are not gone on from
either.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..base import Counts, Ids, Stop, jit
from .rare_loops import grown


@jit
def row_holds(indptr: Counts, items: Ids, row: int, item: int) -> bool:
    """Tell whether a row holds an item, by bisection."""
    low, high = indptr[row], indptr[row + 1]
    while low < high:
        middle = (low + high) >> 1
        if items[middle] < item:
            low = middle + 1
        else:
            high = middle
    return bool(low < indptr[row + 1] and items[low] == item)


@jit
def find_rare_signed(
    indptr: Counts, items: Ids, weight_by_row: Counts, n_items: int, k: int, m: int, most: int
) -> tuple[Ids, Counts]:
    """Return patterns of at most `m` literals in 1 .. k - 1 records, and their supports.

    A literal is an item, or ``-2 - item`` for an absent one; -1 pads. All minimal patterns are among
    them, some more than once, unless `most` was reached.
    """
    n_rows = indptr.size - 1
    found = np.empty((1024, m), np.int32)
    support = np.empty(1024, np.int64)
    n_found = 0
    # One frame a depth: its rows lie on a common stack, and so do its candidates.
    rows = np.empty(max(n_rows * (m + 1), 1), np.int32)
    row_end = np.zeros(m + 2, np.int64)
    candidates = np.empty(max(2 * n_items * (m + 1), 1), np.int32)
    candidate_end = np.zeros(m + 2, np.int64)
    weight = np.zeros(m + 1, np.int64)
    literals = np.full(m + 1, -1, np.int32)
    count = np.zeros(n_items, np.int64)
    touched = np.empty(n_items, np.int32)
    for row in range(n_rows):
        rows[row] = row
        weight[0] += weight_by_row[row]
    row_end[1] = n_rows
    depth = 0
    opening = True
    while depth >= 0:
        if opening:
            start, end = row_end[depth], row_end[depth + 1]
            n_touched = 0
            for place in range(start, end):
                row = rows[place]
                for at in range(indptr[row], indptr[row + 1]):
                    item = items[at]
                    if count[item] == 0:
                        touched[n_touched] = item
                        n_touched += 1
                    count[item] += weight_by_row[row]
            last = literals[depth - 1] if depth > 0 else np.int32(-1)
            only_absent = last < -1
            left = m - depth
            top = candidate_end[depth]
            for place in range(n_touched):
                item = touched[place]
                inside = count[item]
                outside = weight[depth] - inside
                count[item] = 0
                for sign in range(2):
                    if sign == 0 and (only_absent or item <= last):
                        continue
                    held = inside if sign == 0 else outside
                    literal = item if sign == 0 else np.int32(-2 - item)
                    if 0 < held < k:
                        if n_found == support.size:
                            found, support = grown(found, support)
                        for step in range(depth):
                            found[n_found, step] = literals[step]
                        found[n_found, depth] = literal
                        for step in range(depth + 1, m):
                            found[n_found, step] = -1
                        support[n_found] = held
                        n_found += 1
                        if 0 < most <= n_found:
                            return found[:n_found], support[:n_found]
                    elif left > 1 and k <= held < weight[depth]:
                        if sign == 1 and inside * left < weight[depth] - (k - 1):
                            continue
                        candidates[top] = literal
                        top += 1
            candidate_end[depth + 1] = top
            opening = False
        if candidate_end[depth + 1] == candidate_end[depth]:
            depth -= 1
            continue
        candidate_end[depth + 1] -= 1
        literal = candidates[candidate_end[depth + 1]]
        item = int(literal if literal >= 0 else -2 - literal)
        place = row_end[depth + 1]
        total = np.int64(0)
        for at in range(row_end[depth], row_end[depth + 1]):
            if row_holds(indptr, items, rows[at], item) == (literal >= 0):
                rows[place] = rows[at]
                place += 1
                total += weight_by_row[rows[at]]
        literals[depth] = literal
        depth += 1
        weight[depth] = total
        row_end[depth + 1] = place
        candidate_end[depth + 1] = candidate_end[depth]
        opening = True
    return found[:n_found], support[:n_found]


@jit
def find_undiverse(
    indptr: Counts,
    items: Ids,
    weight_by_row: Counts,
    is_sensitive: NDArray[np.bool_],
    secret: int,
    times: int,
    part: int,
    least: int,
    m: int,
    most: int,
    stop: Stop,
) -> tuple[Ids, Counts]:
    """Return sets c with ``times * support(c + secret) > part * support(c)``, and support(c).

    With `least` above 0 only sets in at least so many records, and none above a smaller one of its
    own path; that still leaves some that are not minimal. `most` above 0 ends the search there, and
    so does `stop` when it is set.
    """
    n_rows, n_items = indptr.size - 1, is_sensitive.size
    found = np.empty((1024, m), np.int32)
    support = np.empty(1024, np.int64)
    n_found = 0
    rows = np.empty(max(n_rows * (m + 1), 1), np.int32)
    row_end = np.zeros(m + 2, np.int64)
    holds_secret = np.zeros(n_rows, np.bool_)
    candidates = np.empty(max(n_items * (m + 1), 1), np.int32)
    candidate_end = np.zeros(m + 2, np.int64)
    chosen = np.full(m + 1, -1, np.int32)
    with_secret = np.zeros(n_items, np.int64)
    in_all = np.zeros(n_items, np.int64)
    touched = np.empty(n_items, np.int32)
    for row in range(n_rows):
        rows[row] = row
        holds_secret[row] = row_holds(indptr, items, row, secret)
    row_end[1] = n_rows
    depth = 0
    opening = True
    while depth >= 0 and not stop[0]:
        if opening:
            last = chosen[depth - 1] if depth > 0 else np.int32(-1)
            n_touched = 0
            for place in range(row_end[depth], row_end[depth + 1]):
                row = rows[place]
                for at in range(indptr[row], indptr[row + 1]):
                    item = items[at]
                    if item <= last or is_sensitive[item]:
                        continue
                    if in_all[item] == 0:
                        touched[n_touched] = item
                        n_touched += 1
                    in_all[item] += weight_by_row[row]
                    if holds_secret[row]:
                        with_secret[item] += weight_by_row[row]
            top = candidate_end[depth]
            for place in range(n_touched):
                item = touched[place]
                gives_away = times * with_secret[item] > part * in_all[item]
                if gives_away and in_all[item] >= least:
                    if n_found == support.size:
                        found, support = grown(found, support)
                    for step in range(depth):
                        found[n_found, step] = chosen[step]
                    found[n_found, depth] = item
                    for step in range(depth + 1, m):
                        found[n_found, step] = -1
                    support[n_found] = in_all[item]
                    n_found += 1
                    if 0 < most <= n_found:
                        return found[:n_found], support[:n_found]
                ends = least > 0 and (gives_away or in_all[item] < least)
                if depth + 1 < m and with_secret[item] > 0 and not ends:
                    candidates[top] = item
                    top += 1
                in_all[item] = 0
                with_secret[item] = 0
            candidate_end[depth + 1] = top
            opening = False
        if candidate_end[depth + 1] == candidate_end[depth]:
            depth -= 1
            continue
        candidate_end[depth + 1] -= 1
        item = candidates[candidate_end[depth + 1]]
        place = row_end[depth + 1]
        for at in range(row_end[depth], row_end[depth + 1]):
            if row_holds(indptr, items, rows[at], item):
                rows[place] = rows[at]
                place += 1
        chosen[depth] = item
        depth += 1
        row_end[depth + 1] = place
        candidate_end[depth + 1] = candidate_end[depth]
        opening = True
    return found[:n_found], support[:n_found]
