"""The compiled loops of `matches` that draw records, and what somebody may know of them.

Numbers are drawn by splitmix64 from a seed, a place and a step, in integers only: the same draws on
every machine and with every version of every library.
"""

from __future__ import annotations

import numpy as np

from ..base import Counts, Ids, jit, row_holds

_TRIES = 64


@jit
def _drawn(seed: int, place: int, step: int, below: int) -> int:
    """Return a whole number from 0 up to `below`."""
    state = np.uint64(seed) + np.uint64(place) * np.uint64(0xD1B54A32D192ED03)
    state += np.uint64(step + 1) * np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    state ^= state >> np.uint64(31)
    # The upper 32 bits times `below`, which counts records or occurrences and is below 2^32.
    return np.int64(((state >> np.uint64(32)) * np.uint64(below)) >> np.uint64(32))  # type: ignore[return-value]


@jit
def _position_above(ends: Counts, value: int) -> int:
    """Return the first place whose number is above `value`; numbers ascend."""
    low, high = 0, ends.size
    while low < high:
        middle = (low + high) >> 1
        if ends[middle] <= value:
            low = middle + 1
        else:
            high = middle
    return low


@jit
def draw_rows(seed: int, weight_end_by_row: Counts, row_of_draw: Ids) -> None:
    """Draw records, each with the same chance; `weight_end_by_row` are running sums of weights."""
    total = weight_end_by_row[-1]
    for draw in range(row_of_draw.size):
        chosen = _drawn(seed, draw, 0, total)
        row_of_draw[draw] = _position_above(weight_end_by_row, chosen)


@jit
def draw_present(seed: int, row_of_draw: Ids, indptr: Counts, items: Ids, known: Ids) -> None:
    """Draw items of each row, without repeats, in an order that is any with the same chance."""
    longest = 0
    for row in row_of_draw:
        longest = max(longest, indptr[row + 1] - indptr[row])
    left = np.empty(longest, np.int32)
    for draw in range(row_of_draw.size):
        start, end = indptr[row_of_draw[draw]], indptr[row_of_draw[draw] + 1]
        length = end - start
        left[:length] = items[start:end]
        for step in range(min(length, known.shape[1])):
            chosen = step + _drawn(seed, draw, step + 1, length - step)
            known[draw, step] = left[chosen]
            left[chosen] = left[step]


@jit
def draw_signed(
    seed: int, row_of_draw: Ids, indptr: Counts, items: Ids, support_end_by_item: Counts, known: Ids
) -> None:
    """Draw things known of each row: an item in it, or ``-2 - item`` for one that is not.

    Each thing is one or the other with the same chance, unless one kind is used up. Present items have
    the same chance each, absent ones a chance by how many records hold them. Draws that meet what is
    known already are repeated; after many of them the next free item is taken.
    """
    n_items = support_end_by_item.size
    longest = 0
    for row in row_of_draw:
        longest = max(longest, indptr[row + 1] - indptr[row])
    left = np.empty(longest, np.int32)
    is_taken = np.zeros(n_items, np.bool_)
    for draw in range(row_of_draw.size):
        row = row_of_draw[draw]
        start, length = indptr[row], indptr[row + 1] - indptr[row]
        left[:length] = items[start : start + length]
        n_present, n_absent, number = 0, 0, 1
        for step in range(known.shape[1]):
            some_present, some_absent = n_present < length, n_absent < n_items - length
            if not some_present and not some_absent:
                break
            number += 1
            is_present = some_present and (not some_absent or _drawn(seed, draw, number, 2) == 0)
            if is_present:
                number += 1
                chosen = n_present + _drawn(seed, draw, number, length - n_present)
                known[draw, step] = left[chosen]
                left[chosen] = left[n_present]
                n_present += 1
                continue
            item = 0
            for _ in range(_TRIES):
                number += 1
                value = _drawn(seed, draw, number, support_end_by_item[-1])
                item = _position_above(support_end_by_item, value)
                if not is_taken[item] and not row_holds(indptr, items, row, item):
                    break
            while is_taken[item] or row_holds(indptr, items, row, item):
                item = (item + 1) % n_items
            is_taken[item] = True
            known[draw, step] = -2 - item
            n_absent += 1
        for step in range(known.shape[1]):
            if known[draw, step] < -1:
                is_taken[-2 - known[draw, step]] = False
