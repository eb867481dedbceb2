"""Rare sets of one size put in lexicographic order, with little memory beside them.

There may be tens of millions. Where a set and its support fit into one number, the sets are packed into
numbers, which lie together by the upper bits of their smallest item. Each part of what was found is let
go as soon as it is packed. Then the numbers are sorted piece by piece, in threads.
"""

from __future__ import annotations

import numpy as np

from ..base import Ask, Counts, Ids, in_threads, jit

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
    """Write sets of one size in lexicographic order of their items, and their supports.

    Parameters
    ----------
    parts
        The sets, of two items or more, as ranks. The list is emptied.
    item_of_rank
        The item of each rank.
    k
        All supports are below this.
    sets, support
        Where they go, a row a set; what is wider than the sets is padded with -1.
    threads, ask
        As in `in_threads`.
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
