"""Frequent itemsets: what a data miner finds.

An itemset is frequent where at least so many records hold it. All of them, the closed or the maximal
ones are searched depth first, in threads over their first items; the loops are in `frequent_loops` and
`closed_loops`. The searches write steps, one a set, which are unfolded here and put in order.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import accumulate, count

import numpy as np

from ..base import Counts, Ids, in_threads, jit, plain, sort_slice
from ..rows import _break_ties, merge_rows, recode_rows
from .closed_loops import search_closed
from .frequent_loops import Forest, Steps, Wanted, search_all
from .projected import item_supports, split_by_cost, whole_data

_NO_PLACES = np.empty(0, np.int32)
_TASKS_PER_THREAD = 12
# Below this a second task costs more than it saves.
_LEAST_COST_FOR_TASKS = 1e5


@jit
def tree_places(parent: Ids) -> tuple[Ids, Ids]:
    """Return an interval for each node: that of a node lies within that of each ancestor.

    A parent is -1 for a root; its id is above its children's.
    """
    n_nodes = parent.size
    size = np.ones(n_nodes, np.int32)
    for node in range(n_nodes):
        if parent[node] >= 0:
            size[parent[node]] += size[node]
    first = np.empty(n_nodes, np.int32)
    end = np.empty(n_nodes, np.int32)
    # The next free place below each node, and among the roots.
    free = np.empty(n_nodes, np.int32)
    free_root = 0
    for node in range(n_nodes - 1, -1, -1):
        if parent[node] < 0:
            first[node] = free_root
            free_root += size[node]
        else:
            first[node] = free[parent[node]]
            free[parent[node]] += size[node]
        end[node] = first[node] + size[node]
        free[node] = first[node] + 1
    return first, end


@jit
def _unfold(parent: Ids, item: Ids, support: Counts, item_of_rank: Ids) -> tuple[Counts, Ids, Counts]:
    """Return the sets that steps stand for, those with a support, items ascending."""
    size = np.empty(item.size, np.int32)
    n_sets, total = 0, 0
    for step in range(item.size):
        size[step] = 1 if parent[step] < 0 else size[parent[step]] + 1
        if support[step] > 0:
            n_sets += 1
            total += size[step]
    out_indptr = np.zeros(n_sets + 1, np.int64)
    out_items = np.empty(total, np.int32)
    out_support = np.empty(n_sets, np.int64)
    row, filled = 0, 0
    for step in range(item.size):
        if support[step] > 0:
            here, begin = np.int64(step), filled
            while here >= 0:
                out_items[filled] = item_of_rank[item[here]]
                filled += 1
                here = np.int64(parent[here])
            sort_slice(out_items, begin, filled)
            out_support[row] = support[step]
            row += 1
            out_indptr[row] = filled
    return out_indptr, out_items, out_support


@jit
def _lowest(indptr: Counts, items: Ids, parent: Ids, most_items: int) -> tuple[Counts, Ids, Counts]:
    """Return the sets without the ancestors of their members; which of them have up to `most_items`."""
    out_indptr = np.zeros(indptr.size, np.int64)
    out_items = np.empty(items.size, np.int32)
    chosen = np.empty(indptr.size, np.int64)
    above_in = np.full(parent.size, -1, np.int64)
    filled, n_chosen = 0, 0
    for row in range(indptr.size - 1):
        for position in range(indptr[row], indptr[row + 1]):
            node = parent[items[position]]
            while node >= 0 and above_in[node] != row:
                above_in[node] = row
                node = parent[node]
        begin = filled
        for position in range(indptr[row], indptr[row + 1]):
            if above_in[items[position]] != row:
                out_items[filled] = items[position]
                filled += 1
        if filled - begin <= most_items:
            chosen[n_chosen] = row
            n_chosen += 1
            out_indptr[n_chosen] = filled
        else:
            filled = begin
    return out_indptr[: n_chosen + 1], out_items[:filled], chosen[:n_chosen]


@jit
def _order_keys(indptr: Counts, codes: Ids, bits: int, per_key: int) -> Counts:
    """Pack the size and the first items of each set into a number that sorts as the sets do."""
    keys = np.empty(indptr.size - 1, np.int64)
    for row in range(keys.size):
        key = np.int64(indptr[row + 1] - indptr[row])
        for position in range(indptr[row], indptr[row] + per_key):
            key <<= bits
            if position < indptr[row + 1]:
                key |= np.int64(codes[position])
        keys[row] = key
    return keys


@jit
def _take(indptr: Counts, items: Ids, order: Counts, out_indptr: Counts, out_items: Ids) -> None:
    filled = 0
    for i in range(order.size):
        for position in range(indptr[order[i]], indptr[order[i] + 1]):
            out_items[filled] = items[position]
            filled += 1
        out_indptr[i + 1] = filled


def _in_order(indptr: Counts, items: Ids, support: Counts) -> tuple[Counts, Ids, Counts]:
    """Return the sets by size, then in lexicographic order."""
    # Only items that occur are numbered: more of them then fit into a key, and fewer sets tie.
    is_used = np.zeros(int(items.max(initial=0)) + 1, np.bool_)
    is_used[items] = True
    code_of_item = (np.cumsum(is_used) - 1).astype(np.int32)
    bits = max(1, int(code_of_item[-1]).bit_length())
    size_bits = int(np.diff(indptr).max(initial=0)).bit_length()
    keys = _order_keys(indptr, code_of_item[items], bits, (63 - size_bits) // bits)
    order = np.argsort(keys).astype(np.int64)
    _break_ties(indptr, items, np.arange(keys.size, dtype=np.int64), keys, order)
    out_indptr, out_items = np.zeros_like(indptr), np.empty_like(items)
    _take(indptr, items, order, out_indptr, out_items)
    return out_indptr, out_items, support[order]


def _joined(found: list[Steps]) -> Steps:
    """Return the steps of all tasks as one list; parents are moved along."""
    bounds = accumulate((len(steps.parent) for steps in found), initial=0)
    parents = [
        np.where(steps.parent >= 0, steps.parent + before, -1).astype(np.int32)
        for steps, before in zip(found, bounds, strict=False)
    ]
    items, supports = ([steps[part] for steps in found] for part in (1, 2))
    return Steps(np.concatenate(parents), np.concatenate(items), np.concatenate(supports))


def find_frequent(
    indptr: Counts,
    items: Ids,
    weight_by_row: Counts,
    n_items: int,
    least: int,
    *,
    kind: str = "all",
    most_items: int = 0,
    parent: Ids | None = None,
    most_sets: int = 2**30,
    threads: int = 1,
    tick: Callable[[float], None] | None = None,
) -> tuple[Counts, Ids, Counts] | None:
    """Find the itemsets that `least` records hold; None where they are more than `most_sets`.

    Rows stand for 1 record or more each. `kind` is "all"; "closed", without the sets that a superset of
    the same support stands for; or "maximal", without those that a frequent superset stands for. Above
    0, only sets with up to `most_items` are returned. With `parent`, items are nodes of a forest, and
    the rows hold all ancestors of their items. No set then has a node and its ancestor, and in place of
    a superset also counts a set with a node for its ancestor. `tick` is called before each part of the
    work with the share begun, from any of the threads; what it raises ends the search. Sets come by
    size, then lexicographically, items ascending, as rows with their supports; `threads` make no
    difference.
    """
    indptr, items = plain(indptr, np.int64), plain(items, np.int32)
    weight_by_row = plain(weight_by_row, np.int64)
    support_by_item = item_supports(indptr, items, weight_by_row, n_items)
    item_of_rank = np.flatnonzero(support_by_item >= least).astype(np.int32)
    if not item_of_rank.size:
        return np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.int64)
    item_of_rank = item_of_rank[np.argsort(support_by_item[item_of_rank], kind="stable")]
    rank_of_item = np.full(n_items, -1, np.int32)
    rank_of_item[item_of_rank] = np.arange(item_of_rank.size, dtype=np.int32)
    indptr, ranks, weight_by_row, _ = merge_rows(
        *recode_rows(indptr, items, rank_of_item), weight_by_row
    )
    is_all = kind == "all"
    # A closed set needs all its rows to the end: what they share beyond the prefix belongs to it.
    tail = 1 if is_all else 0
    whole, cost = whole_data(indptr, ranks, weight_by_row, item_of_rank.size, tail)
    support_by_rank = support_by_item[item_of_rank]
    longest = int(np.diff(indptr).max())
    most_sets = min(most_sets, 2**30)
    is_bounded = most_items > 0 and (is_all or parent is None)
    wanted = Wanted(least, most_items if is_bounded else longest, longest, most_sets)
    forest = Forest(_NO_PLACES, _NO_PLACES)
    if parent is not None and is_all:
        first, end = tree_places(plain(parent, np.int32))
        forest = Forest(first[item_of_rank], end[item_of_rank])
    is_heavy = cost.sum() + cost.size >= _LEAST_COST_FOR_TASKS
    every = np.arange(cost.size, dtype=np.int32)
    tasks = split_by_cost(cost, every, threads * _TASKS_PER_THREAD if is_heavy else 1)
    found_by_task = np.zeros(len(tasks), np.int64)
    begun, lock = count(), threading.Lock()

    def search(number: int) -> Steps:
        if tick is not None:
            with lock:
                tick(next(begun) / len(tasks))
        about = (tasks[number], whole, support_by_rank, wanted)
        if is_all:
            return search_all(*about, forest, found_by_task, number)
        return search_closed(*about, kind == "maximal", found_by_task, number)

    found = in_threads(search, range(len(tasks)), threads)
    if found_by_task.sum() > most_sets or sum(len(steps.parent) for steps in found) >= 2**31:
        return None
    sets = _unfold(*_joined(found), item_of_rank)
    del found
    if parent is not None and not is_all:
        lowest_indptr, lowest_items, chosen = _lowest(
            sets[0], sets[1], plain(parent, np.int32), most_items or longest
        )
        sets = (lowest_indptr.copy(), lowest_items.copy(), sets[2][chosen])
    return _in_order(*sets)
