"""The compiled loops of the rare-itemset finder; `rare` is their front.

The levels are those of `projected`, with the items that extend a prefix to a set that is neither rare
nor of the same support as a subset: minimal rare sets have no such subset.

For few items rows are bit masks and counters bit planes (`rare_dense`). Most sets of few items are far
from rare, so the work is to see that quickly. The rows of a prefix are scanned longest first, and every
possible next item is counted at once, one bit of all counters in a word; the counters start at
``2**planes - k``, so that the carry out of the last plane says "k reached". When all have reached it
nothing here is rare and the scan stops, mostly after few rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..base import Counts, Ids, Stop, Words, grown, grown_lines, inlined, jit, lowest_bit, sort_slice
from .projected import (
    FIRST_ITEM,
    Projected,
    Tally,
    count_after,
    descend,
    new_levels,
    new_tally,
    next_place,
    with_room,
)

Bits = npt.NDArray[np.uint8]
Found = tuple[Ids, Counts, npt.NDArray[np.bool_]]
"""Sets as ranks, their supports, and for each first item whether it has more than were wanted."""


class Sought(NamedTuple):
    """Sets of `size` items in fewer than `k` records, up to `cap` of them for each first item."""

    k: int
    size: int
    cap: int


class Known(NamedTuple):
    """All smaller minimal rare sets."""

    frequent_bits: Bits
    """Bit c of row a is set for each pair of ranks a < c that is not rare; without rows, nothing."""
    sets: Ids
    """The sets, padded with -1; pairs only where they are not in the bits."""
    table: Ids
    """An open hash table of the numbers of `sets`."""


@jit
def rare_pairs(
    firsts: Ids, whole: Projected, k: int, cap: int, frequent_bits: Bits, stop: Stop
) -> Found:
    """Find the rare pairs whose lower rank is in `firsts`, up to `cap` for each of them.

    Where `frequent_bits` has rows the pairs that are not rare are noted there; a row belongs to one
    first item, so threads do not meet in it.
    """
    tally = new_tally(whole.start.size - 1)
    count, touched = tally.counts, tally.touched
    sets, supports = np.empty((1024, 2), np.int32), np.empty(1024, np.int64)
    capped = np.zeros(firsts.size, np.bool_)
    keep_bits = frequent_bits.shape[0] > 0
    found = 0
    for which in range(firsts.size):
        if stop[0]:
            break
        first = firsts[which]
        n_touched, _ = count_after(whole, whole.start[first], whole.start[first + 1], tally)
        before = found
        sort_slice(touched, 0, n_touched)
        for t in range(n_touched):
            item = touched[t]
            if count[item] >= k:
                if keep_bits:
                    frequent_bits[first, item >> 3] |= np.uint8(1 << (item & 7))
            elif found - before == cap:
                capped[which] = True
            else:
                if found == supports.size:
                    sets = grown_lines(sets, found, found + 1)
                    supports = grown(supports, found, found + 1)
                sets[found, 0], sets[found, 1] = first, item
                supports[found] = count[item]
                found += 1
            count[item] = 0
    return sets[:found], supports[:found], capped


@jit
def _tag(probe: Ids, size: int) -> np.int64:
    tag = np.int64(size)
    for i in range(size):
        tag = (tag ^ np.int64(probe[i])) * np.int64(-7046029254386353131)
        tag ^= (tag >> np.int64(32)) & np.int64(0xFFFFFFFF)
    return tag


@jit
def fill_table(sets: Ids, table: Ids) -> None:
    """Enter the rows of `sets` (padded with -1) into an open hash table of row numbers."""
    mask = table.size - 1
    for row in range(sets.shape[0]):
        size = 0
        while size < sets.shape[1] and sets[row, size] >= 0:
            size += 1
        slot = _tag(sets[row], size) & mask
        while table[slot] >= 0:
            slot = (slot + 1) & mask
        table[slot] = row


@jit
def _is_known(probe: Ids, size: int, sets: Ids, table: Ids) -> bool:
    mask = table.size - 1
    slot = _tag(probe, size) & mask
    while table[slot] >= 0:
        row = table[slot]
        same = size == sets.shape[1] or sets[row, size] < 0
        for i in range(size):
            if not same or sets[row, i] != probe[i]:
                same = False
                break
        if same:
            return True
        slot = (slot + 1) & mask
    return False


@jit
def has_known_subset(prefix: Ids, length: int, probe: Ids, sets: Ids, table: Ids) -> bool:
    """Is a smaller rare set inside ``prefix[:length]``, the last two items of which are new?

    The set without either of these two is known not to be rare, so a rare subset has both.
    """
    for mask in range((1 << (length - 2)) - 1):
        size = 0
        for i in range(length - 2):
            if mask >> i & 1:
                probe[size] = prefix[i]
                size += 1
        probe[size] = prefix[length - 2]
        probe[size + 1] = prefix[length - 1]
        if _is_known(probe, size + 2, sets, table):
            return True
    return False


@inlined
def _keep_open(
    support_above: Counts, base: int, tally: Tally, n_touched: int, k: int, support_of_prefix: int
) -> int:
    """Put the items first with which the prefix may have minimal rare sets; return how many there are.

    ``support_above[base + item]`` is the support without the prefix's last item, for a `base` of 0 or
    more. The counts of the others are cleared.
    """
    count, touched, _ = tally
    kept = 0
    for t in range(n_touched):
        item = touched[t]
        held = count[item]
        if held < k or held == support_of_prefix or (base >= 0 and held == support_above[base + item]):
            count[item] = 0
        else:
            touched[kept] = item
            kept += 1
    return kept


@jit
def rare_deep(
    firsts: Ids, whole: Projected, support_by_item: Counts, sought: Sought, known: Known, stop: Stop
) -> Found:
    """Find the minimal rare sets of 3 items or more with a first in `firsts`."""
    k, goal, cap = sought
    levels = new_levels(goal - 1, 1)
    at = levels.at
    tally = new_tally(support_by_item.size)
    count, touched = tally.counts, tally.touched
    prefix = np.empty(goal, np.int32)
    probe = np.empty(goal, np.int32)
    sets, supports = np.empty((1024, goal), np.int32), np.empty(1024, np.int64)
    capped = np.zeros(firsts.size, np.bool_)
    bits, known_sets, table = known
    has_bits, has_known = bits.shape[0] > 0, known_sets.shape[0] > 0
    found = 0
    for which in range(firsts.size):
        first = firsts[which]
        prefix[0] = first
        before = found
        level = -1
        while not stop[0]:
            if level >= 0:
                place = next_place(levels, level)
                if place < 0:
                    level -= 1
                    if level < 0:
                        break
                    continue
                prefix[level + 1] = levels.rank[place]
                support_of_prefix = levels.support[place]
                source = levels.data
                low, high = source.start[place + 2 * level], source.start[place + 2 * level + 1]
            else:
                support_of_prefix = support_by_item[first]
                low, high = whole.start[first], whole.start[first + 1]
                source = whole
            n_touched, scanned = count_after(source, low, high, tally)
            if level < goal - 3:
                base = int(at[level, FIRST_ITEM]) if level >= 0 else -1
                kept = _keep_open(levels.support, base, tally, n_touched, k, support_of_prefix)
                if kept >= goal - 2 - level:
                    sort_slice(touched, 0, kept)
                    levels = with_room(levels, level + 1, scanned, high - low, kept)
                    descend(levels, source, level, low, high, tally, kept)
                    level += 1
                    continue
                for t in range(kept):
                    count[touched[t]] = 0
                if level < 0:
                    break
                continue
            ranks, base = levels.rank, at[level, FIRST_ITEM]
            for t in range(n_touched):
                item = touched[t]
                support = count[item]
                count[item] = 0
                if support >= k:
                    continue
                rank = ranks[base + item]
                if has_bits and not (bits[prefix[level + 1], rank >> 3] >> np.uint8(rank & 7) & 1):
                    continue
                prefix[goal - 1] = rank
                if has_known and has_known_subset(prefix, goal, probe, known_sets, table):
                    continue
                if found - before == cap:
                    capped[which] = True
                    continue
                if found == supports.size:
                    sets = grown_lines(sets, found, found + 1)
                    supports = grown(supports, found, found + 1)
                for i in range(goal):
                    sets[found, i] = prefix[i]
                supports[found] = support
                found += 1
            if capped[which]:
                break
    return sets[:found], supports[:found], capped


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
