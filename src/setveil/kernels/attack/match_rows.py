"""The compiled loops of `matches` that look at single rows: who fits what is known, what is rare."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..base import Counts, Ids, Words, jit, row_holds
from .match_loops import Data

States = npt.NDArray[np.int8]

SAFE, AT_RISK, UNKNOWN = 0, 1, 2


class Lists(NamedTuple):
    """The rows of each item, as lists and for some as bitmaps; see `kernels.supports`."""

    list_indptr: Counts
    rows: Ids
    bitmaps: Words
    slot_of_item: Ids


@jit
def _holds(item: int, row: int, indptr: Counts, items: Ids, bitmaps: Words, slot_of_item: Ids) -> bool:
    slot = slot_of_item[item]
    if slot >= 0:
        return bool(bitmaps[slot, row >> 6] >> np.uint64(row & 63) & np.uint64(1) != 0)
    return row_holds(indptr, items, row, item)


@jit
def count_signed(
    known: Ids,
    data: Data,
    lists: Lists,
    enough: int,
    low_draw: int,
    high_draw: int,
    support: Counts,
) -> None:
    """Count the records that fit what is known, up to `enough`; -1 in `known` says nothing."""
    indptr, items, weight_by_row, _ = data
    list_indptr, list_rows, bitmaps, slot_of_item = lists
    for draw in range(low_draw, high_draw):
        shortest = -1
        for step in range(known.shape[1]):
            item = known[draw, step]
            if item >= 0 and (
                shortest < 0
                or list_indptr[item + 1] - list_indptr[item]
                < list_indptr[shortest + 1] - list_indptr[shortest]
            ):
                shortest = item
        low = list_indptr[shortest] if shortest >= 0 else 0
        high = list_indptr[shortest + 1] if shortest >= 0 else weight_by_row.size
        total = 0
        for at in range(low, high):
            row = list_rows[at] if shortest >= 0 else at
            fits = True
            for step in range(known.shape[1]):
                thing = known[draw, step]
                if thing == -1:
                    continue
                if thing == shortest:
                    continue
                item = thing if thing >= 0 else -2 - thing
                if _holds(item, row, indptr, items, bitmaps, slot_of_item) != (thing >= 0):
                    fits = False
                    break
            if fits:
                total += weight_by_row[row]
                if 0 < enough <= total:
                    break
        support[draw] = total


@jit
def count_holders(
    rows: Ids,
    data: Data,
    lists: Lists,
    enough: int,
    most_steps: int,
    low_row: int,
    high_row: int,
    support: Counts,
) -> None:
    """Count the records that hold all items of each of the rows, up to `enough`; -1 where it gave up.

    Items are ranks, so a row's first item has the shortest list.
    """
    indptr, items, weight_by_row, _ = data
    list_indptr, list_rows, bitmaps, slot_of_item = lists
    for place in range(low_row, high_row):
        start, end = indptr[rows[place]], indptr[rows[place] + 1]
        total = 0
        low = list_indptr[items[start]] if end > start else 0
        high = list_indptr[items[start] + 1] if end > start else weight_by_row.size
        steps = 0
        for at in range(low, high):
            row = list_rows[at] if end > start else at
            steps += 1
            if indptr[row + 1] - indptr[row] < end - start:
                continue
            fits = True
            for position in range(start + 1, end):
                steps += 1
                if not _holds(items[position], row, indptr, items, bitmaps, slot_of_item):
                    fits = False
                    break
            if fits:
                total += weight_by_row[row]
                if 0 < enough <= total:
                    break
            if 0 < most_steps < steps:
                total = -1
                break
        support[place] = total


@jit
def search_row(
    start: int,
    end: int,
    size: int,
    data: Data,
    lists: Lists,
    k: int,
    most_steps: int,
    held: Ids,
    n_held: Counts,
    chosen: Counts,
) -> tuple[int, int]:
    """Look for a rare set of `size` among the items at ``start:end``, the rarest ones first.

    `chosen` are the places of the items chosen so far; ``held[d, :n_held[d]]`` are the rows that hold
    the first d + 1 of them, for d above 0. Returns the state and the steps.
    """
    indptr, items, weight_by_row, support_by_item = data
    list_indptr, list_rows, bitmaps, slot_of_item = lists
    steps = 0
    depth = 0
    chosen[0] = start - 1
    while depth >= 0:
        chosen[depth] += 1
        if chosen[depth] > end - (size - depth):
            depth -= 1
            continue
        item = items[chosen[depth]]
        is_last = depth == size - 1
        total = 0
        if depth == 0:
            total = support_by_item[item]
            steps += 1
        else:
            first = items[chosen[0]]
            low = list_indptr[first] if depth == 1 else 0
            high = list_indptr[first + 1] if depth == 1 else n_held[depth - 1]
            filled = 0
            for at in range(low, high):
                steps += 1
                row = list_rows[at] if depth == 1 else held[depth - 1, at]
                if _holds(item, row, indptr, items, bitmaps, slot_of_item):
                    total += weight_by_row[row]
                    if not is_last:
                        held[depth, filled] = row
                        filled += 1
                    elif total >= k:
                        break
            n_held[depth] = filled
        if total < k:
            # Where this is a prefix, whatever completes it is rare too.
            for later in range(depth + 1, size):
                chosen[later] = chosen[later - 1] + 1
            return AT_RISK, steps
        if steps > most_steps:
            return UNKNOWN, steps
        if not is_last:
            depth += 1
            chosen[depth] = chosen[depth - 1]
    return SAFE, steps


@jit
def search_rows(
    rows: Ids,
    data: Data,
    lists: Lists,
    k: int,
    from_size: int,
    most_steps: int,
    low_row: int,
    high_row: int,
    state: States,
    evidence: Ids,
) -> None:
    """For each row and size from `from_size` tell whether some set of that size in the row is rare.

    `evidence` gets a smallest rare set that was found. A row with fewer items is known whole.
    """
    indptr, items = data.indptr, data.items
    most = state.shape[1]
    held = np.empty((most, data.weight_by_row.size), np.int32)
    n_held = np.zeros(most, np.int64)
    chosen = np.zeros(most, np.int64)
    for place in range(low_row, high_row):
        start, end = indptr[rows[place]], indptr[rows[place] + 1]
        left = most_steps
        for size in range(from_size, most + 1):
            if size > end - start:
                state[place, size - 1] = state[place, size - 2] if size > 1 else SAFE
                continue
            found, steps = search_row(start, end, size, data, lists, k, left, held, n_held, chosen)
            left = max(1, left - steps)
            state[place, size - 1] = found
            if found == AT_RISK:
                for step in range(size):
                    evidence[place, step] = items[chosen[step]]
                for later in range(size, most):
                    state[place, later] = AT_RISK
                break
