"""The rare-itemset finder's loops for few items: rows as bit masks, counters as bit planes.

Most sets of few items are far from rare, so the work is to see that quickly. The rows of a prefix are
scanned longest first, and every possible next item is counted at once, one bit of all counters in a
word; the counters start at ``2**planes - k``, so that the carry out of the last plane says "k
reached". When all have reached it nothing here is rare and the scan stops, mostly after few rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..base import Counts, Ids, Stop, Words, grown, grown_lines, inlined, jit, lowest_bit
from .rare_loops import Found, Known, Sought, has_known_subset


class MaskLevels(NamedTuple):
    """The rows of each open prefix of d + 1 items, and the items that may follow, level d a line.

    Those are the items with which the prefix is not rare.
    """

    masks: Words
    weights: Counts
    n_rows: Counts
    follow: Words
    left: Words
    """Which of `follow` are still to be gone on with."""


class Counters(NamedTuple):
    """Work space of one scan, by item: what is counted, the counters, and which have reached k."""

    wanted: Words
    planes: Words
    reached: Words
    narrowed: Words


@jit
def rows_as_masks(indptr: Counts, items: Ids, order: Counts, masks: Words) -> None:
    """Write the rows, in the given order, as bit masks of their items."""
    for place in range(order.size):
        row = order[place]
        for position in range(indptr[row], indptr[row + 1]):
            masks[place, items[position] >> 6] |= np.uint64(1) << np.uint64(items[position] & 63)


@inlined
def _add(mask: Words, weight: int, k: int, planes: Words, reached: Words) -> None:
    """Count `weight` more for every bit of `mask`; bits that reach `k` are set in `reached`."""
    for word in range(mask.size):
        for _ in range(min(weight, k)):
            carry = mask[word] & ~reached[word]
            if not carry:
                break
            if weight >= k:
                reached[word] |= carry
                break
            for plane in range(planes.shape[0]):
                both = planes[plane, word] & carry
                planes[plane, word] ^= carry
                carry = both
            reached[word] |= carry


@inlined
def _scan(masks: Words, weights: Counts, n_rows: int, item: int, k: int, counters: Counters) -> bool:
    """Count the wanted items in the rows that hold `item`; tell if all reached `k` early."""
    wanted, planes, reached, narrowed = counters
    width = wanted.size
    start = (1 << planes.shape[0]) - k
    for word in range(width):
        reached[word] = np.uint64(0)
        for plane in range(planes.shape[0]):
            planes[plane, word] = ~np.uint64(0) if start >> plane & 1 else np.uint64(0)
    item_word, item_bit = item >> 6, np.uint64(1) << np.uint64(item & 63)
    for row in range(n_rows):
        if not masks[row, item_word] & item_bit:
            continue
        for word in range(width):
            narrowed[word] = masks[row, word] & wanted[word]
        _add(narrowed, weights[row], k, planes, reached)
        done = True
        for word in range(width):
            if wanted[word] & ~reached[word]:
                done = False
                break
        if done:
            return True
    return False


@inlined
def _count_of(item: int, k: int, planes: Words) -> int:
    count: int = k - (1 << planes.shape[0])
    for plane in range(planes.shape[0]):
        count += int(planes[plane, item >> 6] >> np.uint64(item & 63) & np.uint64(1)) << plane
    return count


@inlined
def _above(item: int, mask: Words, out: Words) -> None:
    """Write the bits of `mask` after `item`."""
    word_of_item = item >> 6
    for word in range(mask.size):
        if word < word_of_item or (word == word_of_item and item & 63 == 63):
            out[word] = np.uint64(0)
        elif word == word_of_item:
            out[word] = mask[word] & (~np.uint64(0) << np.uint64((item & 63) + 1))
        else:
            out[word] = mask[word]


@inlined
def _next_item(mask: Words) -> int:
    """Remove the lowest bit of `mask` and return it, -1 if there is none."""
    for word in range(mask.size):
        if mask[word]:
            item = (word << 6) + lowest_bit(mask[word])
            mask[word] &= mask[word] - np.uint64(1)
            return item
    return -1


@inlined
def _is_empty(mask: Words) -> bool:
    some = np.uint64(0)
    for word in range(mask.size):
        some |= mask[word]
    return bool(some == 0)


@inlined
def _fill_level(
    levels: MaskLevels, below: int, masks: Words, weights: Counts, n_rows: int, item: int
) -> None:
    """Write the rows that hold `item` and two items or more that may follow, into a level."""
    follow = levels.follow[below]
    kept = np.int64(0)
    item_word, item_bit = item >> 6, np.uint64(1) << np.uint64(item & 63)
    for row in range(n_rows):
        if not masks[row, item_word] & item_bit:
            continue
        # A row with fewer than two items that may follow holds no larger set of interest.
        more = 0
        for word in range(follow.size):
            left = masks[row, word] & follow[word]
            levels.masks[below, kept, word] = left
            if left:
                more += 1 if left & (left - np.uint64(1)) == 0 else 2
        if more >= 2:
            levels.weights[below, kept] = weights[row]
            kept += 1
    levels.n_rows[below] = kept


@jit
def rare_dense(
    firsts: Ids, masks: Words, weights: Counts, sought: Sought, known: Known, stop: Stop
) -> Found:
    """Find the minimal rare sets of 3 items or more with a first in `firsts`; all known are in sets.

    The last two items are not given a level: for each but the last the rows above are scanned.
    """
    k, goal = sought.k, sought.size
    n_rows, width = masks.shape
    n_planes = 1
    while 1 << n_planes < k:
        n_planes += 1
    levels = MaskLevels(
        np.empty((goal - 2, n_rows, width), np.uint64),
        np.empty((goal - 2, n_rows), np.int64),
        np.zeros(goal - 2, np.int64),
        np.zeros((goal - 2, width), np.uint64),
        np.zeros((goal - 2, width), np.uint64),
    )
    counters = Counters(
        np.zeros(width, np.uint64),
        np.zeros((n_planes, width), np.uint64),
        np.zeros(width, np.uint64),
        np.zeros(width, np.uint64),
    )
    wanted, reached = counters.wanted, counters.reached
    has_known = known.sets.shape[0] > 0
    all_bits = np.full(width, ~np.uint64(0), np.uint64)
    prefix = np.empty(goal, np.int32)
    probe = np.empty(goal, np.int32)
    sets, supports = np.empty((1024, goal), np.int32), np.empty(1024, np.int64)
    capped = np.zeros(firsts.size, np.bool_)
    found = 0
    for which in range(firsts.size):
        before = found
        level = -1
        while not stop[0]:
            if level >= 0:
                item = _next_item(levels.left[level])
                if item < 0:
                    level -= 1
                    if level < 0:
                        break
                    continue
                above_masks, above_weights = levels.masks[level], levels.weights[level]
                n_above = levels.n_rows[level]
                _above(item, levels.follow[level], wanted)
            else:
                item = int(firsts[which])
                above_masks, above_weights, n_above = masks, weights, n_rows
                _above(item, all_bits, wanted)
            prefix[level + 1] = item
            if _is_empty(wanted):
                if level < 0:
                    break
                continue
            all_reached = _scan(above_masks, above_weights, n_above, item, k, counters)
            if level < goal - 3:
                level += 1
                for word in range(width):
                    levels.follow[level, word] = wanted[word] & reached[word]
                    levels.left[level, word] = levels.follow[level, word]
                _fill_level(levels, level, above_masks, above_weights, n_above, item)
                continue
            if all_reached:
                continue
            for word in range(width):
                wanted[word] &= ~reached[word]
            while True:
                last = _next_item(wanted)
                if last < 0:
                    break
                count = _count_of(last, k, counters.planes)
                if count == 0:
                    continue
                prefix[goal - 1] = last
                if has_known and has_known_subset(prefix, goal, probe, known.sets, known.table):
                    continue
                if found - before == sought.cap:
                    capped[which] = True
                    break
                if found == supports.size:
                    sets = grown_lines(sets, found, found + 1)
                    supports = grown(supports, found, found + 1)
                for i in range(goal):
                    sets[found, i] = prefix[i]
                supports[found] = count
                found += 1
            if capped[which]:
                break
    return sets[:found], supports[:found], capped
