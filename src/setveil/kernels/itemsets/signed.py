"""Searches for rare patterns of present and absent items, and for sets that give a sensitive item away.

Both go depth first over prefixes, with the rows of each. Rare patterns: present items first, in rising
order, then absent ones. An absent item is followed further only if it takes away enough rows: where t
more absent items must leave fewer than k of W records, some one of them takes at least (W - (k - 1)) /
t, and that one can come first. So few are followed.

Telling sets, for one sensitive item: every set of at most m other items that occurs with it is visited
in rising order, with its rows among those that hold the sensitive item and among all. Diversity is not
monotone, so nothing is pruned but sets that never occur with the sensitive item. Where only minimal
sets in enough records are wanted, rare sets and sets already found are not gone on from either.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..base import Counts, Flags, Ids, Stop, grown, grown_lines, jit, row_holds

ROWS, CANDIDATES, WEIGHT = 0, 1, 2
"""Columns of `Frames.at`."""


class Frames(NamedTuple):
    """The open prefixes, one a depth: their rows and what may extend them lie on two stacks."""

    rows: Ids
    candidates: Ids
    literals: Ids
    """The prefix; an absent item is ``-2 - item``."""
    at: Counts
    """By depth: where its rows and its candidates begin, and the records its rows stand for."""


@jit
def _first_frame(weight_by_row: Counts, n_candidates: int, m: int) -> Frames:
    """Return frames for prefixes of up to `m` of so many candidates; the first has all rows."""
    n_rows = weight_by_row.size
    frames = Frames(
        np.empty(max(n_rows * (m + 1), 1), np.int32),
        np.empty(max(n_candidates * (m + 1), 1), np.int32),
        np.full(m + 1, -1, np.int32),
        np.zeros((m + 2, 3), np.int64),
    )
    for row in range(n_rows):
        frames.rows[row] = row
    frames.at[1, ROWS] = n_rows
    frames.at[0, WEIGHT] = weight_by_row.sum()
    return frames


@jit
def _next_frame(frames: Frames, depth: int, indptr: Counts, items: Ids, weight_by_row: Counts) -> int:
    """Go on with the last candidate, where there is one, else back; return the depth then."""
    rows, candidates, literals, at = frames
    if at[depth + 1, CANDIDATES] == at[depth, CANDIDATES]:
        return depth - 1
    at[depth + 1, CANDIDATES] -= 1
    literal = candidates[at[depth + 1, CANDIDATES]]
    item = int(literal if literal >= 0 else -2 - literal)
    end = at[depth + 1, ROWS]
    total = np.int64(0)
    for place in range(at[depth, ROWS], at[depth + 1, ROWS]):
        if row_holds(indptr, items, rows[place], item) == (literal >= 0):
            rows[end] = rows[place]
            end += 1
            total += weight_by_row[rows[place]]
    literals[depth] = literal
    at[depth + 1, WEIGHT] = total
    at[depth + 2, ROWS] = end
    at[depth + 2, CANDIDATES] = at[depth + 1, CANDIDATES]
    return depth + 1


@jit
def _write(found: Ids, line: int, literals: Ids, depth: int, literal: int) -> None:
    """Write a prefix with one literal more, padded with -1."""
    for step in range(found.shape[1]):
        found[line, step] = literals[step] if step < depth else -1
    found[line, depth] = literal


@jit
def find_rare_signed(
    indptr: Counts, items: Ids, weight_by_row: Counts, n_items: int, k: int, m: int, most: int
) -> tuple[Ids, Counts]:
    """Return patterns of at most `m` literals in 1 .. k - 1 records, and their supports.

    A literal is an item, or ``-2 - item`` for an absent one; -1 pads. All minimal patterns are among
    them, some more than once, unless `most` was reached.
    """
    found, support = np.empty((1024, m), np.int32), np.empty(1024, np.int64)
    n_found = 0
    frames = _first_frame(weight_by_row, 2 * n_items, m)
    rows, candidates, literals, at = frames
    count = np.zeros(n_items, np.int64)
    touched = np.empty(n_items, np.int32)
    depth, opened = 0, -1
    while depth >= 0:
        if depth > opened:
            n_touched = 0
            for place in range(at[depth, ROWS], at[depth + 1, ROWS]):
                row = rows[place]
                for position in range(indptr[row], indptr[row + 1]):
                    item = items[position]
                    if count[item] == 0:
                        touched[n_touched] = item
                        n_touched += 1
                    count[item] += weight_by_row[row]
            last = literals[depth - 1] if depth > 0 else np.int32(-1)
            only_absent = last < -1
            left, weight = m - depth, at[depth, WEIGHT]
            top = at[depth, CANDIDATES]
            for place in range(n_touched):
                item = touched[place]
                inside = count[item]
                count[item] = 0
                for sign in range(2):
                    if sign == 0 and (only_absent or item <= last):
                        continue
                    held = inside if sign == 0 else weight - inside
                    literal = int(item if sign == 0 else -2 - item)
                    if 0 < held < k:
                        if n_found == support.size:
                            found = grown_lines(found, n_found, n_found + 1)
                            support = grown(support, n_found, n_found + 1)
                        _write(found, n_found, literals, depth, literal)
                        support[n_found] = held
                        n_found += 1
                        if 0 < most <= n_found:
                            return found[:n_found], support[:n_found]
                    elif left > 1 and k <= held < weight:
                        if sign == 1 and inside * left < weight - (k - 1):
                            continue
                        candidates[top] = literal
                        top += 1
            at[depth + 1, CANDIDATES] = top
        opened = depth
        depth = _next_frame(frames, depth, indptr, items, weight_by_row)
    return found[:n_found], support[:n_found]


class Telling(NamedTuple):
    """Sets c with ``times * support(c + secret) > part * support(c)``, of at most `m` items.

    With `least` above 0 only sets in at least so many records, and none above a smaller one of its own
    path; that still leaves some that are not minimal. `most` above 0 ends the search there.
    """

    secret: int
    times: int
    part: int
    least: int
    m: int
    most: int


@jit
def find_undiverse(
    indptr: Counts, items: Ids, weight_by_row: Counts, is_sensitive: Flags, wanted: Telling, stop: Stop
) -> tuple[Ids, Counts]:
    """Return the sets that are wanted, and their supports; it also ends when `stop` is set."""
    secret, times, part, least, m, most = wanted
    n_rows, n_items = weight_by_row.size, is_sensitive.size
    found, support = np.empty((1024, m), np.int32), np.empty(1024, np.int64)
    n_found = 0
    frames = _first_frame(weight_by_row, n_items, m)
    rows, candidates, chosen, at = frames
    holds_secret = np.zeros(n_rows, np.bool_)
    for row in range(n_rows):
        holds_secret[row] = row_holds(indptr, items, row, secret)
    with_secret = np.zeros(n_items, np.int64)
    in_all = np.zeros(n_items, np.int64)
    touched = np.empty(n_items, np.int32)
    depth, opened = 0, -1
    while depth >= 0 and not stop[0]:
        if depth > opened:
            last = chosen[depth - 1] if depth > 0 else np.int32(-1)
            n_touched = 0
            for place in range(at[depth, ROWS], at[depth + 1, ROWS]):
                row = rows[place]
                for position in range(indptr[row], indptr[row + 1]):
                    item = items[position]
                    if item <= last or is_sensitive[item]:
                        continue
                    if in_all[item] == 0:
                        touched[n_touched] = item
                        n_touched += 1
                    in_all[item] += weight_by_row[row]
                    if holds_secret[row]:
                        with_secret[item] += weight_by_row[row]
            top = at[depth, CANDIDATES]
            for place in range(n_touched):
                item = touched[place]
                gives_away = times * with_secret[item] > part * in_all[item]
                if gives_away and in_all[item] >= least:
                    if n_found == support.size:
                        found = grown_lines(found, n_found, n_found + 1)
                        support = grown(support, n_found, n_found + 1)
                    _write(found, n_found, chosen, depth, item)
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
            at[depth + 1, CANDIDATES] = top
        opened = depth
        depth = _next_frame(frames, depth, indptr, items, weight_by_row)
    return found[:n_found], support[:n_found]
