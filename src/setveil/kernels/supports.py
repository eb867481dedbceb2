"""Supports of many sets of hierarchy nodes, the lifting of rare ones, and records that hold them.

A row supports a node where it holds a leaf under it, and a set where it supports every node of
it. For each node there is the list of its rows, and for most nodes a bitmap too, with one more
bit for each word that is not 0. Two sparse nodes meet in few words, so the intersection of a
whole set costs little more than its result.

Where only published nodes are known supports are estimated (`estimate_supports`). A row of published
nodes, none above another, holds a node v for certain where one of them is v or below it. Where one, u,
is above v it holds v with the share of u's leaves that are v's. The nodes of a set count as
independent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .base import (
    Counts,
    Ids,
    Words,
    in_parts,
    jit,
    lowest_bit,
    plain,
    row_holds,
    sort_slice,
)
from .itemsets.together import NOT_COUNTED, pair_count

_MOST_BITMAP_BYTES = 1 << 29


def node_lists(indptr: Counts, items: Ids, parent: Ids) -> tuple[Counts, Ids]:
    """List the rows of each node, ancestors included: where those of each begin, and all, ascending.

    Items of rows may be leaves or inner nodes. A parent is -1 for a root; its id is above its
    children's.
    """
    indptr, items = plain(indptr, np.int64), plain(items, np.int32)
    parent = plain(parent, np.int32)
    list_indptr = np.empty(parent.size + 1, np.int64)
    list_rows(indptr, items, parent, list_indptr, np.empty(0, np.int32))
    rows = np.empty(list_indptr[-1], np.int32)
    if rows.size:
        list_rows(indptr, items, parent, list_indptr, rows)
    return list_indptr, rows


class Index(NamedTuple):
    """The rows of each node, as lists and mostly as bitmaps, and the records that a row stands for."""

    list_indptr: Counts
    rows: Ids
    """The rows of node u are ``rows[list_indptr[u] : list_indptr[u + 1]]``, ascending."""
    bitmaps: Words
    """One bitmap a line: a bit for each row, then a bit for each word before that is not 0."""
    slot_of_node: Ids
    """The line of `bitmaps` that belongs to each node, -1 for none."""
    weight_by_row: Counts
    pairs: Ids
    """The counts of all pairs, see `itemsets.together`; empty where they were not counted."""


def index_nodes(
    indptr: Counts,
    items: Ids,
    parent: Ids,
    weight_by_row: Counts,
    most_bytes: int = _MOST_BITMAP_BYTES,
    pairs: Ids = NOT_COUNTED,
) -> Index:
    """Return the index of rows, with `most_bytes` of bitmaps of the nodes with the longest lists.

    Items of rows may be leaves or inner nodes; `parent` is as in `node_lists`.
    """
    list_indptr, rows = node_lists(indptr, items, parent)
    n_rows = len(weight_by_row)
    n_words = -(-n_rows // 64)
    width = n_words + -(-n_words // 64)
    length_by_node = np.diff(list_indptr)
    # A short list is searched in a few steps; a bitmap would mostly hold zeros.
    wanted = np.flatnonzero(length_by_node > max(8, n_rows >> 14))
    longest_first = wanted[np.argsort(-length_by_node[wanted], kind="stable")]
    nodes = longest_first[: max(0, most_bytes) // (8 * max(1, width))].astype(np.int32)
    bitmaps = np.zeros((nodes.size, width), np.uint64)
    fill_bitmaps(list_indptr, rows, nodes, n_words, bitmaps)
    slot_of_node = np.full(length_by_node.size, -1, np.int32)
    slot_of_node[nodes] = np.arange(nodes.size, dtype=np.int32)
    return Index(list_indptr, rows, bitmaps, slot_of_node, plain(weight_by_row, np.int64), pairs)


def without_rows(pairs: Ids, weight_by_row: Counts) -> Index:
    """Return the index for sets of one or two nodes, of which all pairs are counted."""
    none = np.empty(0, np.int32)
    bitmaps = np.empty((0, 0), np.uint64)
    return Index(np.empty(0, np.int64), none, bitmaps, none, plain(weight_by_row, np.int64), pairs)


def count_supports(sets: Ids, index: Index, enough: int = 0, threads: int = 1) -> Counts:
    """Count the records that support each set of nodes.

    Sets are padded at their end with -1; all support the empty one.

    Counting a set may stop at `enough`, where that is above 0, or above it: then it is only known that
    its support reaches it.
    """
    sets = plain(sets, np.int32)
    support = np.empty(len(sets), np.int64)
    in_parts(lambda low, high: count_part(low, high, sets, index, enough, support), len(sets), threads)
    return support


def lift_sets(sets: Ids, parent: Ids, index: Index, k: int, threads: int = 1) -> tuple[Ids, Counts]:
    """Raise the nodes of each set rarer than `k` to their parents, in turn, while it stays so.

    Sets are padded with -1; no node of a set is above another of it, and one that a raised node meets
    or covers leaves it. Sets that are not rare are returned as they are, of the others none can be
    raised any further; nodes ascend. The supports are exact where below `k`. `threads` make no
    difference.
    """
    sets = plain(sets, np.int32)
    parent = plain(parent, np.int32)
    lifted = np.empty_like(sets)
    support = np.empty(len(sets), np.int64)
    in_parts(
        lambda low, high: lift_part(low, high, sets, parent, index, k, lifted, support),
        len(sets),
        threads,
    )
    return lifted, support


@jit
def list_rows(indptr: Counts, items: Ids, parent: Ids, list_indptr: Counts, rows: Ids) -> None:
    """Count the rows of each node where `rows` is empty, else write them."""
    writing = rows.size > 0
    seen_in = np.full(parent.size, -1, np.int64)
    place = list_indptr[:-1].copy() if writing else np.zeros(parent.size, np.int64)
    for row in range(indptr.size - 1):
        for position in range(indptr[row], indptr[row + 1]):
            node = items[position]
            while node >= 0 and seen_in[node] != row:
                seen_in[node] = row
                if writing:
                    rows[place[node]] = row
                place[node] += 1
                node = parent[node]
    if not writing:
        list_indptr[0] = 0
        for node in range(parent.size):
            list_indptr[node + 1] = list_indptr[node] + place[node]


@jit
def fill_bitmaps(list_indptr: Counts, rows: Ids, nodes: Ids, n_words: int, bitmaps: Words) -> None:
    """Set the bits of the rows of each node, and of the words that hold them."""
    one = np.uint64(1)
    for slot in range(nodes.size):
        for place in range(list_indptr[nodes[slot]], list_indptr[nodes[slot] + 1]):
            word = rows[place] >> 6
            bitmaps[slot, word] |= one << np.uint64(rows[place] & 63)
            bitmaps[slot, n_words + (word >> 6)] |= one << np.uint64(word & 63)


@jit
def support_of(nodes: Ids, size: int, index: Index, enough: int, slots: Ids) -> int:
    """Return the support of ``nodes[:size]``, or a lower bound that reaches `enough` > 0.

    `slots` is room for `size` numbers.
    """
    list_indptr, rows, bitmaps, slot_of_node, weight_by_row, pairs = index
    total: int = 0
    if size == 0:
        for row in range(weight_by_row.size):
            total += weight_by_row[row]
        return total
    if size <= 2 and pairs.size:
        return pair_count(pairs, nodes[0], nodes[size - 1])
    shortest = 0
    for i in range(size):
        slots[i] = slot_of_node[nodes[i]]
        length = list_indptr[nodes[i] + 1] - list_indptr[nodes[i]]
        if length < list_indptr[nodes[shortest] + 1] - list_indptr[nodes[shortest]]:
            shortest = i
    base = nodes[shortest]
    n_words = (weight_by_row.size + 63) >> 6
    all_bitmaps = True
    for i in range(size):
        if slots[i] < 0:
            all_bitmaps = False
    if not all_bitmaps or list_indptr[base + 1] - list_indptr[base] < n_words >> 6:
        for place in range(list_indptr[base], list_indptr[base + 1]):
            row = rows[place]
            inside = True
            for i in range(size):
                if i == shortest:
                    continue
                if slots[i] >= 0:
                    word = bitmaps[slots[i], row >> 6]
                    inside = word >> np.uint64(row & 63) & np.uint64(1) != 0
                else:
                    inside = row_holds(list_indptr, rows, nodes[i], row)
                if not inside:
                    break
            if inside:
                total += weight_by_row[row]
                if 0 < enough <= total:
                    return total
        return total
    for summary in range(bitmaps.shape[1] - n_words):
        some = bitmaps[slots[0], n_words + summary]
        for i in range(1, size):
            some &= bitmaps[slots[i], n_words + summary]
        while some:
            at = (summary << 6) + lowest_bit(some)
            some &= some - np.uint64(1)
            word = bitmaps[slots[0], at]
            for i in range(1, size):
                word &= bitmaps[slots[i], at]
            while word:
                total += weight_by_row[(at << 6) + lowest_bit(word)]
                word &= word - np.uint64(1)
                if 0 < enough <= total:
                    return total
    return total


@jit
def count_part(low: int, high: int, sets: Ids, index: Index, enough: int, support: Counts) -> None:
    """Count the supports of the sets from `low` up to `high`."""
    slots = np.empty(sets.shape[1], np.int32)
    for s in range(low, high):
        size = 0
        while size < sets.shape[1] and sets[s, size] >= 0:
            size += 1
        support[s] = support_of(sets[s], size, index, enough, slots)


@jit
def _is_under(node: int, above: int, parent: Ids) -> bool:
    # ids rise along the way up, so the walk can stop early
    while 0 <= node < above:
        node = parent[node]
    return bool(node == above)


@jit
def lift_part(
    low: int, high: int, sets: Ids, parent: Ids, index: Index, k: int, lifted: Ids, support: Counts
) -> None:
    """Lift the sets from `low` up to `high`."""
    width = sets.shape[1]
    slots = np.empty(width, np.int32)
    nodes = np.empty(width, np.int32)
    trial = np.empty(width, np.int32)
    stuck = np.zeros(width, np.bool_)
    for s in range(low, high):
        size = 0
        while size < width and sets[s, size] >= 0:
            nodes[size] = sets[s, size]
            stuck[size] = False
            size += 1
        best = support_of(nodes, size, index, k, slots)
        # Supports only grow on the way up: a node that cannot be raised now never can.
        left = size if best < k else 0
        at = 0
        while left > 0:
            if at >= size:
                at = 0
            if stuck[at]:
                at += 1
                continue
            raised = parent[nodes[at]]
            count = k
            if raised >= 0:
                trial_size = 0
                for i in range(size):
                    if i == at:
                        trial[trial_size] = raised
                        trial_size += 1
                    elif not _is_under(nodes[i], raised, parent):
                        trial[trial_size] = nodes[i]
                        trial_size += 1
                count = support_of(trial, trial_size, index, k, slots)
            if count >= k:
                stuck[at] = True
                left -= 1
                at += 1
                continue
            best = count
            kept = 0
            place = at
            for i in range(size):
                if i == at:
                    place = kept
                elif _is_under(nodes[i], raised, parent):
                    if not stuck[i]:
                        left -= 1
                    continue
                nodes[kept] = nodes[i]
                stuck[kept] = stuck[i]
                kept += 1
            size = kept
            nodes[place] = raised
            at = place + 1
        for i in range(width):
            lifted[s, i] = nodes[i] if i < size else -1
        sort_slice(lifted[s], 0, size)
        support[s] = best


@jit
def _leaf_under(
    indptr: Counts, leaves: Ids, row: int, first: int, end: int, count_by_leaf: Counts
) -> int:
    """Return the most frequent leaf of a row in an interval, -1 if there is none."""
    low, high = indptr[row], indptr[row + 1]
    while low < high:
        middle = (low + high) >> 1
        if leaves[middle] < first:
            low = middle + 1
        else:
            high = middle
    best = -1
    while low < indptr[row + 1] and leaves[low] < end:
        leaf = leaves[low]
        if best < 0 or count_by_leaf[leaf] > count_by_leaf[best]:
            best = leaf
        low += 1
    return int(best)


@jit
def witness_leaves(
    sets: Ids,
    per_set: int,
    index: Index,
    indptr: Counts,
    leaves: Ids,
    first_leaf: Ids,
    end_leaf: Ids,
    count_by_leaf: Counts,
) -> tuple[Ids, Counts]:
    """Return up to `per_set` witnesses of each set, and the set each belongs to.

    A witness holds, in the order of the set's nodes, the most frequent leaf by which a record holds
    each; padded with -1.
    """
    list_indptr, rows_of_node = index.list_indptr, index.rows
    n_sets, width = sets.shape
    found = np.full((n_sets * per_set, width), -1, np.int32)
    set_of = np.empty(n_sets * per_set, np.int64)
    n_found = 0
    for number in range(n_sets):
        size = 0
        shortest = 0
        while size < width and sets[number, size] >= 0:
            node, best = sets[number, size], sets[number, shortest]
            if list_indptr[node + 1] - list_indptr[node] < list_indptr[best + 1] - list_indptr[best]:
                shortest = size
            size += 1
        base = sets[number, shortest]
        taken = 0
        for place in range(list_indptr[base], list_indptr[base + 1]):
            row = rows_of_node[place]
            holds = True
            for at in range(size):
                node = sets[number, at]
                leaf = _leaf_under(indptr, leaves, row, first_leaf[node], end_leaf[node], count_by_leaf)
                if leaf < 0:
                    holds = False
                    break
                found[n_found, at] = leaf
            if holds:
                set_of[n_found] = number
                n_found += 1
                taken += 1
                if taken == per_set:
                    break
        if n_found < found.shape[0]:
            for at in range(width):
                found[n_found, at] = -1
    return found[:n_found], set_of[:n_found]


@jit
def _visit(
    row: int,
    share: float,
    stage: int,
    is_first: bool,
    stage_of_row: Counts,
    probability_by_row: npt.NDArray[np.float64],
) -> float:
    """Take one more node of the set into a row's probability; return it, 0 where the row is out."""
    if is_first:
        probability_by_row[row] = share
    elif stage_of_row[row] == stage - 1:
        probability_by_row[row] *= share
    else:
        return 0.0
    stage_of_row[row] = stage
    return float(probability_by_row[row])


@jit
def _estimate_part(
    low: int,
    high: int,
    sets: Ids,
    under_indptr: Counts,
    under_rows: Ids,
    own_indptr: Counts,
    own_rows: Ids,
    parent: Ids,
    leaf_count: Counts,
    weight_by_row: Counts,
    estimate: npt.NDArray[np.float64],
) -> None:
    probability_by_row = np.zeros(weight_by_row.size, np.float64)
    # A row is still in where its stage is that of the node before: no clearing between sets.
    stage_of_row = np.zeros(weight_by_row.size, np.int64)
    stage = 0
    for s in range(low, high):
        total = 0.0
        size = 0
        while size < sets.shape[1] and sets[s, size] >= 0:
            size += 1
        if size == 0:
            for row in range(weight_by_row.size):
                total += weight_by_row[row]
        for i in range(size):
            stage += 1
            total = 0.0
            node = sets[s, i]
            for place in range(under_indptr[node], under_indptr[node + 1]):
                row = under_rows[place]
                total += weight_by_row[row] * _visit(
                    row, 1.0, stage, i == 0, stage_of_row, probability_by_row
                )
            above = parent[node]
            while above >= 0:
                share = leaf_count[node] / leaf_count[above]
                for place in range(own_indptr[above], own_indptr[above + 1]):
                    row = own_rows[place]
                    total += weight_by_row[row] * _visit(
                        row, share, stage, i == 0, stage_of_row, probability_by_row
                    )
                above = parent[above]
        estimate[s] = total


def estimate_supports(
    sets: Ids,
    indptr: Counts,
    nodes: Ids,
    weight_by_row: Counts,
    parent: Ids,
    leaf_count: Counts,
    threads: int = 1,
) -> npt.NDArray[np.float64]:
    """Estimate how many records hold each set of nodes.

    Sets are padded at their end with -1; all hold the empty one. No node of a published row is above
    another of it. A parent is -1 for a root; its id is above its children's. `threads` make no
    difference.
    """
    sets, parent = plain(sets, np.int32), plain(parent, np.int32)
    under = node_lists(indptr, nodes, parent)
    own = node_lists(indptr, nodes, np.full(parent.size, -1, np.int32))
    weights, leaves = plain(weight_by_row, np.int64), plain(leaf_count, np.int64)
    estimate = np.empty(len(sets), np.float64)
    in_parts(
        lambda low, high: _estimate_part(
            low, high, sets, *under, *own, parent, leaves, weights, estimate
        ),
        len(sets),
        threads,
    )
    return estimate
