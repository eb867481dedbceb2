"""How few records match what somebody knows of a record: counted for all rows, or for drawn ones.

Items are ranks: 0 is the item that the fewest records hold, and rows hold ranks ascending. A set is
rare where fewer than `k` records hold it. Two ways lead to the same answers. `count_rare_subsets` and
`mark_rare_rows` go through all itemsets of a size, each once, which is the cheaper way to treat all
rows (`match_loops`). `search_rare` goes through the subsets of single rows, which is the cheaper way to
treat a few. Both count their steps and give up at a limit, so that what comes out depends on the data
alone.

Numbers are drawn by splitmix64 from a seed, a place and a step, in integers only: the same draws on
every machine and with every version of every library.
"""

from __future__ import annotations

from math import comb

import numpy as np
import numpy.typing as npt

from ..base import Counts, Flags, Ids, Words, in_parts, jit, plain, row_holds
from ..itemsets.projected import list_places
from ..supports import Index
from .match_loops import Data, count_rare_sized, mark_rare_sized

States = npt.NDArray[np.int8]

SAFE, AT_RISK, UNKNOWN = 0, 1, 2
_TRIES = 64


@jit
def _holds(item: int, row: int, indptr: Counts, items: Ids, bitmaps: Words, slot_of_item: Ids) -> bool:
    slot = slot_of_item[item]
    if slot >= 0:
        return bool(bitmaps[slot, row >> 6] >> np.uint64(row & 63) & np.uint64(1) != 0)
    return row_holds(indptr, items, row, item)


@jit
def count_signed(
    known: Ids, data: Data, index: Index, enough: int, low_draw: int, high_draw: int, support: Counts
) -> None:
    """Count the records that fit what is known, up to `enough`; -1 in `known` says nothing."""
    indptr, items, weight_by_row, _ = data
    list_indptr, list_rows, bitmaps, slot_of_item, _, _ = index
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
    index: Index,
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
    list_indptr, list_rows, bitmaps, slot_of_item, _, _ = index
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
    index: Index,
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
    list_indptr, list_rows, bitmaps, slot_of_item, _, _ = index
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
    index: Index,
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
            found, steps = search_row(start, end, size, data, index, k, left, held, n_held, chosen)
            left = max(1, left - steps)
            state[place, size - 1] = found
            if found == AT_RISK:
                for step in range(size):
                    evidence[place, step] = items[chosen[step]]
                for later in range(size, most):
                    state[place, later] = AT_RISK
                break


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
def draw_records(data: Data, n_draws: int, seed: int) -> Ids:
    """Draw records with replacement, each with the same chance; return the rows that stand for them.

    There must be a row. The same seed gives the same rows.
    """
    weight_end_by_row = np.cumsum(data.weight_by_row)
    row_of_draw = np.empty(n_draws, np.int32)
    for draw in range(n_draws):
        chosen = _drawn(seed, draw, 0, weight_end_by_row[-1])
        row_of_draw[draw] = _position_above(weight_end_by_row, chosen)
    return row_of_draw


@jit
def draw_known(row_of_draw: Ids, data: Data, most: int, seed: int) -> Ids:
    """Draw up to `most` items of each row without replacement; the first j of them are a random j.

    A row with fewer gives all it has, padded with -1.
    """
    known = np.full((row_of_draw.size, most), -1, np.int32)
    for draw in range(row_of_draw.size):
        row = row_of_draw[draw]
        left = data.items[data.indptr[row] : data.indptr[row + 1]].copy()
        for step in range(min(left.size, most)):
            chosen = step + _drawn(seed, draw, step + 1, left.size - step)
            known[draw, step] = left[chosen]
            left[chosen] = left[step]
    return known


@jit
def draw_signed(row_of_draw: Ids, data: Data, most: int, seed: int) -> Ids:
    """Draw up to `most` things about each row: items in it, and ``-2 - item`` for items not in it.

    Each thing is one or the other with the same chance, unless one kind is used up. Present items have
    the same chance each, absent ones a chance by how many records hold them. Draws that meet what is
    known already are repeated; after many of them the next free item is taken.
    """
    indptr, items, _, support_by_item = data
    known = np.full((row_of_draw.size, most), -1, np.int32)
    support_end_by_item = np.cumsum(support_by_item)
    n_items = support_end_by_item.size
    is_taken = np.zeros(n_items, np.bool_)
    for draw in range(row_of_draw.size):
        row = row_of_draw[draw]
        left = items[indptr[row] : indptr[row + 1]].copy()
        n_present, n_absent, number = 0, 0, 1
        for step in range(most):
            some_present, some_absent = n_present < left.size, n_absent < n_items - left.size
            if not some_present and not some_absent:
                break
            number += 1
            is_present = some_present and (not some_absent or _drawn(seed, draw, number, 2) == 0)
            if is_present:
                number += 1
                chosen = n_present + _drawn(seed, draw, number, left.size - n_present)
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
    return known


def count_rare_subsets(data: Data, k: int, sizes: range, steps_left: int) -> list[tuple[Counts, int]]:
    """Count the subsets of each of some sizes of each row that fewer than `k` records hold.

    Sizes are 1 or more, in steps of 1, and of the longest row no more sets of the largest size than fit
    in a number. All are counted at once; what comes out is as if one were counted after the other. A
    size that would take more than a `SHARE` of the steps that those before it leave is given up, and
    with it all larger ones. Returned are, for each size counted, the rare subsets of each row, and the
    steps.
    """
    if not sizes:
        return []
    longest = int(np.diff(data.indptr).max(initial=0))
    choose = np.array(
        [[comb(n, t) for t in range(sizes[-1])] for n in range(longest + 1)], dtype=np.int64
    ).reshape(longest + 1, sizes[-1])
    places, start, _ = list_places(data.indptr, data.items, data.support_by_item.size, 1)
    steps_by_size = np.zeros(len(sizes), np.int64)
    rare_by_row = np.zeros((len(sizes), len(data.weight_by_row)), np.int64)
    counted = count_rare_sized(
        data, places, start, choose, k, sizes[0], steps_left, steps_by_size, rare_by_row
    )
    return [(rare_by_row[s], int(steps_by_size[s])) for s in range(counted)]


def mark_rare_rows(
    data: Data, k: int, size: int, is_open: Flags, most_steps: int
) -> tuple[Flags, int | None]:
    """Return which open rows hold no rare set of `size` items, as far as found out, and the steps.

    No open row may hold a rare set of fewer items. After `most_steps` it is given up: the steps are
    None, and some rows still open may hold a rare set.
    """
    places, start, _ = list_places(data.indptr, data.items, data.support_by_item.size, 1)
    is_open = is_open.copy()
    steps = mark_rare_sized(data, places, start, k, size, most_steps, is_open)
    return is_open, None if steps < 0 else steps


def search_rare(
    rows: Ids,
    data: Data,
    index: Index,
    k: int,
    most: int,
    most_steps: int,
    from_size: int = 1,
    threads: int = 1,
) -> tuple[npt.NDArray[np.int8], Ids]:
    """Look in each of some rows for rare sets, size by size from `from_size`, until one is found.

    No row given may hold a rare set of fewer items than that; rows may repeat, and each may take
    `most_steps` in all. Returned is the state of each row and size up to `most`, `AT_RISK` where a rare
    set of this size is in the row, `SAFE` where none is, `UNKNOWN` where that took too many steps, and
    for each row a smallest rare set that was found, padded with -1. A row with fewer items is known
    whole.
    """
    rows = plain(rows, np.int32)
    state = np.zeros((len(rows), most), np.int8)
    evidence = np.full((len(rows), most), -1, np.int32)
    in_parts(
        lambda low, high: search_rows(
            rows, data, index, k, from_size, most_steps, low, high, state, evidence
        ),
        len(rows),
        threads,
    )
    return state, evidence


def supports_of_rows(
    rows: Ids, data: Data, index: Index, enough: int = 0, most_steps: int = 0, threads: int = 1
) -> Counts:
    """Count the records that hold all items of each of some rows.

    Above 0, counting may stop at `enough` or above it, and -1 stands for a row that would take more
    than `most_steps`.
    """
    rows = plain(rows, np.int32)
    support = np.zeros(len(rows), np.int64)
    in_parts(
        lambda low, high: count_holders(rows, data, index, enough, most_steps, low, high, support),
        len(rows),
        threads,
    )
    return support


def supports_signed(known: Ids, data: Data, index: Index, enough: int = 0, threads: int = 1) -> Counts:
    """Count the records that fit things known: items that are there, others that are not.

    A line of `known` is a case: an item, or ``-2 - item`` for one that is absent; -1 says nothing.
    Above 0, counting may stop at `enough` or above it.
    """
    known = plain(known, np.int32)
    support = np.zeros(len(known), np.int64)
    in_parts(
        lambda low, high: count_signed(known, data, index, enough, low, high, support),
        len(known),
        threads,
    )
    return support
