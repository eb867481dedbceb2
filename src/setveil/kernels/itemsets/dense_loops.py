"""The rare-itemset finder's loops for few items: rows as bit masks, counters as bit planes.

Most sets of few items are far from rare, so the work is to see that quickly. The rows of a prefix are
scanned longest first, and every possible next item is counted at once, one bit of all counters in a
word; the counters start at ``2**planes - k``, so that the carry out of the last plane says "k
reached". When all have reached it nothing here is rare and the scan stops, mostly after few rows.
"""

from __future__ import annotations

import numpy as np

from ..base import Counts, Ids, Stop, Words, jit, lowest_bit
from .rare_loops import Found, grown, has_known_subset


@jit
def rows_as_masks(indptr: Counts, items: Ids, order: Counts, masks: Words) -> None:
    """Write the rows, in the given order, as bit masks of their items."""
    for place in range(order.size):
        row = order[place]
        for position in range(indptr[row], indptr[row + 1]):
            masks[place, items[position] >> 6] |= np.uint64(1) << np.uint64(items[position] & 63)


@jit
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


@jit
def _scan(
    masks: Words,
    weights: Counts,
    n_rows: int,
    item: int,
    wanted: Words,
    k: int,
    planes: Words,
    reached: Words,
    narrowed: Words,
) -> bool:
    """Count the wanted items in the rows that hold `item`; tell if all reached `k` early."""
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


@jit
def _count_of(item: int, k: int, planes: Words) -> int:
    count: int = k - (1 << planes.shape[0])
    for plane in range(planes.shape[0]):
        count += int(planes[plane, item >> 6] >> np.uint64(item & 63) & np.uint64(1)) << plane
    return count


@jit
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


@jit
def _next_item(mask: Words) -> int:
    """Remove the lowest bit of `mask` and return it, -1 if there is none."""
    for word in range(mask.size):
        if mask[word]:
            item = (word << 6) + lowest_bit(mask[word])
            mask[word] &= mask[word] - np.uint64(1)
            return item
    return -1


@jit
def rare_dense(
    firsts: Ids,
    masks: Words,
    weight_by_row: Counts,
    k: int,
    goal: int,
    cap: int,
    known: Ids,
    table: Ids,
    stop: Stop,
) -> Found:
    """Find the minimal rare sets of exactly `goal` items (3 or more) with a first in `firsts`.

    Level d holds the rows of a prefix of d + 1 items, and the items that may follow: those with which
    the prefix is not rare. The last two items are not given a level: for each but the last the rows
    above are scanned. `known` and `table` hold all smaller minimal rare sets, pairs too.
    """
    n_rows, width = masks.shape
    levels = goal - 2
    n_planes = 1
    while 1 << n_planes < k:
        n_planes += 1
    lv_masks = np.empty((levels, n_rows, width), np.uint64)
    lv_weights = np.empty((levels, n_rows), np.int64)
    lv_rows = np.zeros(levels, np.int64)
    lv_follow = np.zeros((levels, width), np.uint64)
    lv_left = np.zeros((levels, width), np.uint64)
    planes = np.zeros((n_planes, width), np.uint64)
    reached = np.zeros(width, np.uint64)
    narrowed = np.zeros(width, np.uint64)
    wanted = np.zeros(width, np.uint64)
    all_bits = np.full(width, ~np.uint64(0), np.uint64)
    prefix = np.empty(goal, np.int32)
    probe = np.empty(goal, np.int32)
    sets = np.empty((1024, goal), np.int32)
    support = np.empty(1024, np.int64)
    capped = np.zeros(firsts.size, np.bool_)
    found = 0
    for which in range(firsts.size):
        before = found
        level = -1
        while not stop[0]:
            if level >= 0:
                item = _next_item(lv_left[level])
                if item < 0:
                    level -= 1
                    if level < 0:
                        break
                    continue
                above_masks, above_weights, n_above = lv_masks[level], lv_weights[level], lv_rows[level]
                _above(item, lv_follow[level], wanted)
            else:
                item = int(firsts[which])
                above_masks, above_weights, n_above = masks, weight_by_row, n_rows
                _above(item, all_bits, wanted)
            prefix[level + 1] = item
            some = False
            for word in range(width):
                if wanted[word]:
                    some = True
            if not some:
                if level < 0:
                    break
                continue
            all_reached = _scan(
                above_masks, above_weights, n_above, item, wanted, k, planes, reached, narrowed
            )
            if level == levels - 1:
                if all_reached:
                    continue
                for word in range(width):
                    wanted[word] &= ~reached[word]
                while True:
                    last = _next_item(wanted)
                    if last < 0:
                        break
                    count = _count_of(last, k, planes)
                    if count == 0:
                        continue
                    prefix[goal - 1] = last
                    if known.shape[0] and has_known_subset(prefix, goal, probe, known, table):
                        continue
                    if found - before == cap:
                        capped[which] = True
                        break
                    if found == support.size:
                        sets, support = grown(sets, support)
                    for i in range(goal):
                        sets[found, i] = prefix[i]
                    support[found] = count
                    found += 1
                if capped[which]:
                    break
                continue
            below = level + 1
            kept = np.int64(0)
            item_word, item_bit = item >> 6, np.uint64(1) << np.uint64(item & 63)
            for word in range(width):
                lv_follow[below, word] = wanted[word] & reached[word]
                lv_left[below, word] = lv_follow[below, word]
            for row in range(n_above):
                if not above_masks[row, item_word] & item_bit:
                    continue
                # A row with fewer than two items that may follow holds no larger set of interest.
                more = 0
                for word in range(width):
                    left = above_masks[row, word] & lv_follow[below, word]
                    lv_masks[below, kept, word] = left
                    if left:
                        more += 1 if left & (left - np.uint64(1)) == 0 else 2
                if more >= 2:
                    lv_weights[below, kept] = above_weights[row]
                    kept += 1
            lv_rows[below] = kept
            level = below
    return sets[:found], support[:found], capped
