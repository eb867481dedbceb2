"""Minimal rare itemsets: what a release must not contain.

An itemset is rare where at least one record but fewer than `k` hold it; it is minimal where each
of its proper subsets is held by `k` records or more. A release is k^m-anonymous exactly when it
has no minimal rare itemset of up to `m` items. The search goes depth first over itemsets in order
of rising support, size by size, with the projected rows of each prefix; the loops are in
`rare_loops`.

There may be tens of millions of sets, which are put in lexicographic order with little memory beside
them. Where a set and its support fit into one number, the sets are packed into numbers, which lie
together by the upper bits of their smallest item. Each part of what was found is let go as soon as it
is packed. Then the numbers are sorted piece by piece, in threads.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..base import Ask, Counts, Ids, Stop, Words, in_threads, jit, new_stop, plain
from ..rows import recode_rows
from .projected import item_supports, split_by_cost, whole_data
from .rare_loops import (
    Found,
    Known,
    Sought,
    fill_table,
    rare_deep,
    rare_dense,
    rare_pairs,
    rows_as_masks,
)
from .together import counted_rare_pairs, has_pair, pair_count

Search: TypeAlias = Callable[[int, Ids], Found]
"""Finds sets with some first items, up to a number for each."""
Asking: TypeAlias = tuple[Ask | None, Stop]

# A bit for each pair of items; where this would be more, the search does without it.
_MOST_BIT_BYTES = 1 << 28
# Up to so many items rows are bit masks of a few words, and most prefixes end after a few rows.
_MOST_DENSE_ITEMS = 256
_TASKS_PER_THREAD = 24
# Below this a second thread costs more than it saves; each more item makes about 8 of 1.
_LEAST_COST_FOR_THREADS = 1e8
_NO_CAP = np.iinfo(np.int64).max


def _search_size(
    search: Search,
    cost_by_item: npt.NDArray[np.float64],
    size: int,
    limit: int,
    threads: int,
    asking: Asking,
) -> tuple[list[Part], bool]:
    """Run `search` over all first items; with a limit, take some sets from each of them.

    Each first item yields up to `cap` sets, a number that grows for those that have more until
    the limit is met, so what comes out depends on the data alone. What was found is left in parts:
    there may be too much of it to hold it twice.
    """
    firsts = np.flatnonzero(cost_by_item > 0).astype(np.int32)
    cap = _NO_CAP if limit <= 0 else max(4, 2 * limit // max(1, firsts.size))
    parts: list[Part] = []
    while True:
        cost = (cost_by_item[firsts].sum() + firsts.size) * 8.0**size
        is_heavy = threads > 1 and cost >= _LEAST_COST_FOR_THREADS
        tasks = split_by_cost(cost_by_item, firsts, threads * _TASKS_PER_THREAD if is_heavy else 1)
        found = in_threads(partial(search, cap), tasks, threads, *asking)
        capped = np.concatenate([task[f[2]] for task, f in zip(tasks, found, strict=True)])
        enough = 0 < limit <= _total(parts) + sum(len(f[0]) for f in found)
        if limit <= 0 or enough or capped.size == 0:
            parts += [(sets, support) for sets, support, _ in found]
            break
        is_complete = np.ones(cost_by_item.size, np.bool_)
        is_complete[capped] = False
        while found:
            sets, support, is_capped = found.pop()
            if is_capped.any():
                kept = is_complete[sets[:, 0]]
                sets, support = sets[kept], support[kept]
            parts.append((sets, support))
        firsts, cap = np.sort(capped).astype(np.int32), 8 * cap
    return (_in_turn(parts, limit) if enough and _total(parts) > limit else parts), enough


def _total(parts: list[Part]) -> int:
    return sum(len(sets) for sets, _ in parts)


def _in_turn(parts: list[Part], limit: int) -> list[Part]:
    """Return `limit` of the sets, taken from all first items in turn."""
    sets = np.concatenate([part for part, _ in parts])
    support = np.concatenate([held for _, held in parts])
    order = np.lexsort(sets.T[::-1])
    first = sets[order, 0]
    turn = np.arange(first.size) - np.searchsorted(first, first)
    chosen = order[np.lexsort((first, turn))[:limit]]
    return [(sets[chosen], support[chosen])]


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


def _with_smaller(known: Ids, parts: list[Part]) -> Ids:
    """Return the known sets and those of `parts`, padded with -1."""
    wide = np.full((len(known) + _total(parts), known.shape[1]), -1, np.int32)
    wide[: len(known)] = known
    row = len(known)
    for sets, _ in parts:
        wide[row : row + len(sets), : sets.shape[1]] = sets
        row += len(sets)
    return wide


def find_rare(
    indptr: Counts,
    items: Ids,
    weight_by_row: Counts,
    n_items: int,
    k: int,
    m: int,
    limit: int = 0,
    threads: int = 1,
    ask: Ask | None = None,
    counted: tuple[Ids, Ids] | None = None,
) -> tuple[Ids, Counts]:
    """Find the minimal itemsets of up to `m` items in fewer than `k` records, but at least one.

    Rows stand for 1 record or more each; items are below `n_items`. With a `limit` above 0 it stops
    when a size yields as many sets in all, small sets first, and takes them in turn from all first
    items: all sets returned are minimal even so. `threads` make no difference to the result. `ask` is
    called now and then; what it raises ends the search. `counted` are the counts of all pairs of nodes,
    where they are known, and the node of each item. Sets come by size, then lexicographically, one
    a row, items ascending, padded with -1, with their supports.
    """
    if ask is not None:
        ask()
    stop = new_stop()
    indptr, items = plain(indptr, np.int64), plain(items, np.int32)
    weight_by_row = plain(weight_by_row, np.int64)
    support_by_item = item_supports(indptr, items, weight_by_row, n_items)
    singles = np.flatnonzero((support_by_item > 0) & (support_by_item < k)).astype(np.int32)
    met = 0 < limit <= singles.size
    if met:
        singles = singles[:limit]
    item_of_rank = np.flatnonzero(support_by_item >= k).astype(np.int32)
    if met or m < 2 or item_of_rank.size < 2:
        sets = np.full((singles.size, m), -1, np.int32)
        sets[:, 0] = singles
        return sets, support_by_item[singles]

    item_of_rank = item_of_rank[np.argsort(support_by_item[item_of_rank], kind="stable")]
    rank_of_item = np.full(n_items, -1, np.int32)
    rank_of_item[item_of_rank] = np.arange(item_of_rank.size, dtype=np.int32)
    support_by_rank = support_by_item[item_of_rank]
    n_ranks = item_of_rank.size
    indptr, items = recode_rows(indptr, items, rank_of_item)
    whole, cost = whole_data(indptr, items, weight_by_row, n_ranks)
    bit_width = n_ranks + 7 >> 3
    bit_rows = n_ranks if n_ranks * bit_width <= _MOST_BIT_BYTES else 0
    bits = np.zeros((bit_rows, bit_width), np.uint8)
    is_dense = n_ranks <= _MOST_DENSE_ITEMS and m > 2
    masks = _longest_first(indptr, items, weight_by_row, n_ranks) if is_dense else None
    sets_known = np.empty((0, m), np.int32)
    found: list[list[Part]] = []
    for size in range(2, min(m, n_ranks) + 1):
        remaining = limit - singles.size - sum(map(_total, found)) if limit > 0 else 0
        known = Known(bits, sets_known, _hash_table(sets_known))

        def search(cap: int, firsts: Ids, size: int = size, known: Known = known) -> Found:
            if size == 2 and counted is not None:
                node_of_rank = counted[1][item_of_rank]
                return counted_rare_pairs(firsts, counted[0], node_of_rank, k, cap, bits, stop)
            if size == 2:
                return rare_pairs(firsts, whole, k, cap, bits, stop)
            if masks is not None:
                return rare_dense(firsts, *masks, Sought(k, size, cap), known, stop)
            return rare_deep(firsts, whole, support_by_rank, Sought(k, size, cap), known, stop)

        parts, met = _search_size(search, cost, size, remaining, threads, (ask, stop))
        found.append(parts)
        if met:
            break
        if size < m and (size > 2 or not bit_rows or is_dense):
            sets_known = _with_smaller(sets_known, parts)
    # Not filled before they are written, so that their memory is taken as that of `found` is let go.
    sets = np.empty((singles.size + sum(map(_total, found)), m), np.int32)
    support = np.empty(len(sets), np.int64)
    sets[: singles.size] = -1
    sets[: singles.size, 0], support[: singles.size] = singles, support_by_item[singles]
    low = singles.size
    for parts in found:
        high = low + _total(parts)
        write_in_order(parts, item_of_rank, k, sets[low:high], support[low:high], threads, ask)
        low = high
    return sets, support


def find_rare_pairs(
    pairs: Ids, nodes: Ids, k: int, m: int, limit: int = 0, threads: int = 1, ask: Ask | None = None
) -> tuple[Ids, Counts]:
    """Find what `find_rare` finds for `m` of 1 or 2, where all pairs of these nodes are counted."""
    if ask is not None:
        ask()
    support = np.array([pair_count(pairs, node, node) for node in nodes.tolist()], dtype=np.int64)
    singles = np.flatnonzero((support > 0) & (support < k))
    common = np.flatnonzero(support >= k)
    node_of_rank = nodes[common[np.argsort(support[common], kind="stable")]].astype(np.int32)
    met = 0 < limit <= singles.size
    singles = singles[: limit or None]
    parts: list[Part] = []
    if m > 1 and not met:
        stop, no_bits = new_stop(), np.zeros((0, 0), np.uint8)

        def search(cap: int, firsts: Ids) -> Found:
            return counted_rare_pairs(firsts, pairs, node_of_rank, k, cap, no_bits, stop)

        cost = has_pair(pairs, node_of_rank).astype(np.float64)
        remaining = limit - singles.size if limit > 0 else 0
        parts, _ = _search_size(search, cost, 2, remaining, threads, (ask, stop))
    sets = np.full((singles.size + _total(parts), m), -1, np.int32)
    held = np.empty(len(sets), np.int64)
    sets[: singles.size, 0], held[: singles.size] = nodes[singles], support[singles]
    if parts:
        rest = slice(singles.size, None)
        write_in_order(parts, node_of_rank, k, sets[rest], held[rest], threads, ask)
    return sets, held


Part = tuple[Ids, Counts]
"""Some sets of one size, one a row, as ranks, and their supports."""

# Pieces of this size are sorted in the cache; smaller ones only cost calls.
_LEAST_SORTED = 1 << 16
_PIECES_PER_THREAD = 24
_MOST_BITS = 63
_MOST_GROUP_BITS = 16


@jit
def _count_smallest(sets: Ids, item_of_rank: Ids, shift: int, count_by_group: Counts) -> None:
    """Count the sets by the upper bits of their smallest item."""
    for row in range(sets.shape[0]):
        smallest = item_of_rank[sets[row, 0]]
        for i in range(1, sets.shape[1]):
            smallest = min(smallest, item_of_rank[sets[row, i]])
        count_by_group[smallest >> shift] += 1


@jit
def _sort_items(sets: Ids, row: int, item_of_rank: Ids, items: Ids) -> None:
    """Write the items of one set, ascending."""
    for i in range(sets.shape[1]):
        item = item_of_rank[sets[row, i]]
        j = i - 1
        while j >= 0 and items[j] > item:
            items[j + 1] = items[j]
            j -= 1
        items[j + 1] = item


@jit
def _pack(
    sets: Ids,
    support: Counts,
    item_of_rank: Ids,
    item_bits: int,
    low_bits: int,
    shift: int,
    place_by_group: Counts,
    keys: Counts,
) -> None:
    """Write each set and its support as one number, at the next place of its group."""
    items = np.empty(sets.shape[1], np.int32)
    for row in range(support.size):
        _sort_items(sets, row, item_of_rank, items)
        key = np.int64(0)
        for i in range(items.size):
            key = key << item_bits | items[i]
        group = items[0] >> shift
        place = place_by_group[group]
        place_by_group[group] += 1
        keys[place] = key << low_bits | support[row]


@jit
def _unpack(
    keys: Counts, width: int, item_bits: int, low_bits: int, sets: Ids, support: Counts
) -> None:
    """Write packed sets to the rows of `sets`, which may be wider."""
    for row in range(keys.size):
        key = keys[row]
        support[row] = key & ((1 << low_bits) - 1)
        key >>= low_bits
        for i in range(width - 1, -1, -1):
            sets[row, i] = key & ((1 << item_bits) - 1)
            key >>= item_bits
        for i in range(width, sets.shape[1]):
            sets[row, i] = -1


@jit
def _sort_all_items(sets: Ids, item_of_rank: Ids) -> None:
    """Turn the ranks of each set into its items, ascending."""
    items = np.empty(sets.shape[1], np.int32)
    for row in range(sets.shape[0]):
        _sort_items(sets, row, item_of_rank, items)
        for i in range(items.size):
            sets[row, i] = items[i]


def write_in_order(
    parts: list[Part],
    item_of_rank: Ids,
    k: int,
    sets: Ids,
    support: Counts,
    threads: int,
    ask: Ask | None,
) -> None:
    """Write sets of one size in lexicographic order of their items, and their supports, all below `k`.

    Sets have two items or more; `parts` is emptied. What is wider than the sets is padded with -1.
    """
    if not len(sets):
        return
    width = parts[0][0].shape[1]
    item_bits = max(1, int(item_of_rank.max(initial=0)).bit_length())
    low_bits = int(k - 1).bit_length()
    if item_bits * width + low_bits > _MOST_BITS:
        _write_by_columns(parts, item_of_rank, sets, support)
        return
    shift = max(0, item_bits - _MOST_GROUP_BITS)
    count_by_group = np.zeros(1 << (item_bits - shift), np.int64)
    for ranks, _ in parts:
        _count_smallest(ranks, item_of_rank, shift, count_by_group)
    end_by_group = np.cumsum(count_by_group)
    keys = np.empty(len(sets), np.int64)
    place_by_group = end_by_group - count_by_group
    while parts:
        if ask is not None:
            ask()
        _pack(*parts.pop(), item_of_rank, item_bits, low_bits, shift, place_by_group, keys)
    step = max(_LEAST_SORTED, keys.size // (_PIECES_PER_THREAD * max(1, threads)))
    # A piece ends where a group does.
    wanted = np.minimum(np.arange(step, keys.size + step, step), keys.size)
    ends = np.unique(end_by_group[np.searchsorted(end_by_group, wanted)])
    starts = np.concatenate([[0], ends[:-1]])

    def finish(piece: tuple[int, int]) -> None:
        low, high = piece
        keys[low:high].sort()
        _unpack(keys[low:high], width, item_bits, low_bits, sets[low:high], support[low:high])

    in_threads(finish, list(zip(starts.tolist(), ends.tolist(), strict=True)), threads, ask)


def _write_by_columns(parts: list[Part], item_of_rank: Ids, sets: Ids, support: Counts) -> None:
    """Do it where a set does not fit into one number."""
    items = np.concatenate([ranks for ranks, _ in parts])
    held = np.concatenate([supports for _, supports in parts])
    parts.clear()
    _sort_all_items(items, item_of_rank)
    order = np.lexsort(items.T[::-1])
    sets[:, : items.shape[1]] = items[order]
    sets[:, items.shape[1] :] = -1
    support[:] = held[order]
