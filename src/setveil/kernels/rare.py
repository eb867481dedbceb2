"""Minimal rare itemsets: what a release must not contain.

An itemset is rare where at least one record but fewer than `k` hold it; it is minimal where each
of its proper subsets is held by `k` records or more. A release is k^m-anonymous exactly when it
has no minimal rare itemset of up to `m` items. The search goes depth first over itemsets in order
of rising support, size by size, with the projected rows of each prefix; the loops are in
`_rare_loops`, and for few items in `_dense_loops`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ._calls import Counts, Ids, Words, in_threads, plain
from ._dense_loops import rare_dense, rows_as_masks
from ._jit import jit
from ._rare_loops import (
    Bits,
    Found,
    fill_table,
    item_supports,
    occurrences,
    rare_deep,
    rare_pairs,
)
from .rows import recode_rows

# indptr, items, weight_by_row, and the occurrences: start_by_item, position, row
Data: TypeAlias = tuple[Counts, Ids, Counts, Counts, Ids, Ids]

# A bit for each pair of items; where this would be more, the search does without it.
_MOST_BIT_BYTES = 1 << 28
# Up to so many items rows are bit masks of a few words, and most prefixes end after a few rows.
_MOST_DENSE_ITEMS = 256
_TASKS_PER_THREAD = 24
# Below this a second thread costs more than it saves; each more item makes about 8 of 1.
_LEAST_COST_FOR_THREADS = 1e8
_NO_CAP = np.iinfo(np.int64).max


@jit
def _pack(sets: Ids, support: Counts, item_of_rank: Ids, item_bits: int, low_bits: int) -> Counts:
    """Turn ranks into items, ascending in a set; pack each set and its support in a number."""
    keys = np.empty(support.size, np.int64)
    width = sets.shape[1]
    for row in range(support.size):
        for i in range(width):
            item = item_of_rank[sets[row, i]]
            j = i - 1
            while j >= 0 and sets[row, j] > item:
                sets[row, j + 1] = sets[row, j]
                j -= 1
            sets[row, j + 1] = item
        key = np.int64(0)
        if low_bits >= 0:
            for i in range(width):
                key = key << item_bits | sets[row, i]
            key = key << low_bits | support[row]
        keys[row] = key
    return keys


@jit
def _unpack(keys: Counts, sets: Ids, support: Counts, item_bits: int, low_bits: int) -> None:
    for row in range(keys.size):
        key = keys[row]
        support[row] = key & ((1 << low_bits) - 1)
        key >>= low_bits
        for i in range(sets.shape[1] - 1, -1, -1):
            sets[row, i] = key & ((1 << item_bits) - 1)
            key >>= item_bits


def _in_order(sets: Ids, support: Counts, item_of_rank: Ids, k: int) -> tuple[Ids, Counts]:
    """Return the sets of one size as ascending items, in lexicographic order."""
    item_bits = max(1, int(item_of_rank.max(initial=0)).bit_length())
    low_bits = int(k - 1).bit_length()
    sets = sets.copy()
    if item_bits * sets.shape[1] + low_bits <= 63:
        keys = _pack(sets, support, item_of_rank, item_bits, low_bits)
        keys.sort()
        support = np.empty(keys.size, np.int64)
        _unpack(keys, sets, support, item_bits, low_bits)
        return sets, support
    _pack(sets, support, item_of_rank, item_bits, -1)
    order = np.lexsort(sets.T[::-1])
    return sets[order], support[order]


def _by_cost(cost_by_item: npt.NDArray[np.float64], firsts: Ids, size: int, threads: int) -> list[Ids]:
    """Split the first items, the dearest in front, into tasks of about equal cost."""
    firsts = firsts[np.argsort(-cost_by_item[firsts], kind="stable")]
    share = np.cumsum(cost_by_item[firsts] + 1.0)
    if threads <= 1 or firsts.size < 2 or share[-1] * 8.0**size < _LEAST_COST_FOR_THREADS:
        return [firsts]
    task_of = (share * (threads * _TASKS_PER_THREAD) / share[-1]).astype(np.int64)
    return np.split(firsts, np.flatnonzero(np.diff(task_of)) + 1)


def _search_size(
    kernel: Callable[[int, Ids], Found],
    cost_by_item: npt.NDArray[np.float64],
    size: int,
    limit: int,
    threads: int,
) -> tuple[Ids, Counts, bool]:
    """Run `kernel` over all first items; with a limit, take some sets from each of them.

    Each first item yields up to `cap` sets, a number that grows for those that have more until
    the limit is met, so what comes out depends on the data alone.
    """
    firsts = np.flatnonzero(cost_by_item > 0).astype(np.int32)
    cap = _NO_CAP if limit <= 0 else max(4, 2 * limit // max(1, firsts.size))
    done_sets: list[Ids] = []
    done_support: list[Counts] = []
    while True:
        tasks = _by_cost(cost_by_item, firsts, size, threads)
        found = in_threads(partial(kernel, cap), tasks, threads)
        capped = np.concatenate([task[f[2]] for task, f in zip(tasks, found, strict=True)])
        sets = np.concatenate([*done_sets, *(f[0] for f in found)])
        support = np.concatenate([*done_support, *(f[1] for f in found)])
        if limit <= 0 or len(sets) >= limit or capped.size == 0:
            break
        complete = ~np.isin(sets[:, 0], capped)
        done_sets, done_support = [sets[complete]], [support[complete]]
        firsts, cap = np.sort(capped).astype(np.int32), 8 * cap
    met = 0 < limit <= len(sets)
    if met and len(sets) > limit:
        order = np.lexsort(sets.T[::-1])
        first = sets[order, 0]
        turn = np.arange(first.size) - np.searchsorted(first, first)
        chosen = order[np.lexsort((first, turn))[:limit]]
        sets, support = sets[chosen], support[chosen]
    return sets, support, met


def _pairs(data: Data, k: int, frequent_bits: Bits, cap: int, firsts: Ids) -> Found:
    return rare_pairs(firsts, *data, k, cap, frequent_bits)


def _deep(
    data: Data,
    support_by_rank: Counts,
    k: int,
    size: int,
    smaller: tuple[Bits, Ids, Ids],
    cap: int,
    firsts: Ids,
) -> Found:
    return rare_deep(firsts, *data, support_by_rank, k, size, cap, *smaller)


def _dense(
    masks: Words, weights: Counts, k: int, size: int, smaller: tuple[Ids, Ids], cap: int, firsts: Ids
) -> Found:
    return rare_dense(firsts, masks, weights, k, size, cap, *smaller)


def _longest_first(indptr: Counts, items: Ids, weights: Counts, n_items: int) -> tuple[Words, Counts]:
    """Return the rows with two items or more as bit masks, the longest first."""
    lengths = np.diff(indptr)
    order = np.argsort(-lengths, kind="stable")
    order = order[: int((lengths > 1).sum())]
    masks = np.zeros((order.size, n_items + 63 >> 6), np.uint64)
    rows_as_masks(indptr, items, order, masks)
    return masks, weights[order]


def _hash_table(known: Ids) -> Ids:
    size = 16
    while size < 2 * len(known):
        size *= 2
    table = np.full(size if len(known) else 0, -1, np.int32)
    if len(known):
        fill_table(known, table)
    return table


def _padded(parts: list[tuple[Ids, Counts]], m: int) -> tuple[Ids, Counts]:
    sets = np.full((sum(len(s) for s, _ in parts), m), -1, np.int32)
    row = 0
    for part, _ in parts:
        sets[row : row + len(part), : part.shape[1]] = part
        row += len(part)
    return sets, np.concatenate([support for _, support in parts])


def find_rare(
    indptr: Counts,
    items: Ids,
    weight_by_row: Counts,
    n_items: int,
    k: int,
    m: int,
    limit: int = 0,
    threads: int = 1,
) -> tuple[Ids, Counts]:
    """Find the minimal rare itemsets of up to `m` items.

    Parameters
    ----------
    indptr, items
        The rows.
    weight_by_row
        The number of records that each row stands for, all above 0.
    n_items
        One more than the largest item.
    k
        An itemset is rare where fewer records than this hold it, but at least one.
    m
        The most items in a set.
    limit
        Where above 0: stop when a size yields as many sets in all, small sets first, and take
        them in turn from all first items. All sets returned are minimal even so.
    threads
        The threads to use; the result does not depend on their number.

    Returns
    -------
    sets
        One set a row, items ascending, padded with -1; ordered by size, then lexicographically.
    support_by_set
        The number of records that hold each set.
    """
    indptr, items = plain(indptr, np.int64), plain(items, np.int32)
    weight_by_row = plain(weight_by_row, np.int64)
    support_by_item = item_supports(indptr, items, weight_by_row, n_items)
    singles = np.flatnonzero((support_by_item > 0) & (support_by_item < k)).astype(np.int32)
    met = 0 < limit <= singles.size
    if met:
        singles = singles[:limit]
    parts = [(singles.reshape(-1, 1), support_by_item[singles])]
    item_of_rank = np.flatnonzero(support_by_item >= k).astype(np.int32)
    if met or m < 2 or item_of_rank.size < 2:
        return _padded(parts, m)

    item_of_rank = item_of_rank[np.argsort(support_by_item[item_of_rank], kind="stable")]
    rank_of_item = np.full(n_items, -1, np.int32)
    rank_of_item[item_of_rank] = np.arange(item_of_rank.size, dtype=np.int32)
    support_by_rank = support_by_item[item_of_rank]
    indptr, items = recode_rows(indptr, items, rank_of_item)
    start, position, row, cost = occurrences(indptr, items, item_of_rank.size, m - 1)
    data = (indptr, items, weight_by_row, start, position, row)
    bit_width = item_of_rank.size + 7 >> 3
    bit_rows = item_of_rank.size if item_of_rank.size * bit_width <= _MOST_BIT_BYTES else 0
    frequent_bits = np.zeros((bit_rows, bit_width), np.uint8)
    is_dense = item_of_rank.size <= _MOST_DENSE_ITEMS
    rows = (
        _longest_first(indptr, items, weight_by_row, item_of_rank.size) if is_dense and m > 2 else None
    )
    known = np.empty((0, m), np.int32)
    found: list[tuple[Ids, Counts]] = []
    for size in range(2, min(m, item_of_rank.size) + 1):
        remaining = limit - sum(len(s) for s, _ in parts + found) if limit > 0 else 0
        if size == 2:
            kernel = partial(_pairs, data, k, frequent_bits)
        elif rows is not None:
            kernel = partial(_dense, *rows, k, size, (known, _hash_table(known)))
        else:
            smaller = (frequent_bits, known, _hash_table(known))
            kernel = partial(_deep, data, support_by_rank, k, size, smaller)
        sets, support, met = _search_size(kernel, cost, size, remaining, threads)
        if size < m and not met and (size > 2 or not bit_rows or rows is not None):
            more = np.full((len(sets), m), -1, np.int32)
            more[:, :size] = sets
            known = np.concatenate([known, more])
        found.append((sets, support))
        if met:
            break
    ordered = in_threads(lambda part: _in_order(*part, item_of_rank, k), found, threads)
    return _padded(parts + ordered, m)
