"""Supports of many sets of hierarchy nodes, and the lifting of rare ones.

A row supports a node where it holds a leaf under it, and a set where it supports every node of
it. For each node there is the list of its rows, and for most nodes a bitmap too, with one more
bit for each word that is not 0. Two sparse nodes meet in few words, so the intersection of a
whole set costs little more than its result.
"""

from __future__ import annotations

import numpy as np

from ._calls import Counts, Ids, Words, even_parts, in_threads, plain
from ._support_loops import count_part, fill_bitmaps, lift_part, list_rows

_MOST_BITMAP_BYTES = 1 << 29
_TASKS_PER_THREAD = 16
_LEAST_PER_TASK = 64


def node_lists(indptr: Counts, items: Ids, parent: Ids) -> tuple[Counts, Ids]:
    """List the rows of each node, ancestors included.

    Parameters
    ----------
    indptr, items
        The rows; their items may be leaves or inner nodes.
    parent
        The parent of each node, -1 for a root; a parent's id is above its children's.

    Returns
    -------
    list_indptr, rows
        The rows of node u are ``rows[list_indptr[u]:list_indptr[u + 1]]``, ascending.
    """
    indptr, items = plain(indptr, np.int64), plain(items, np.int32)
    parent = plain(parent, np.int32)
    list_indptr = np.empty(parent.size + 1, np.int64)
    list_rows(indptr, items, parent, list_indptr, np.empty(0, np.int32))
    rows = np.empty(list_indptr[-1], np.int32)
    if rows.size:
        list_rows(indptr, items, parent, list_indptr, rows)
    return list_indptr, rows


def node_bitmaps(
    list_indptr: Counts, rows: Ids, n_rows: int, most_bytes: int = _MOST_BITMAP_BYTES
) -> tuple[Words, Ids]:
    """Make bitmaps of the nodes with the longest lists, as many as fit in `most_bytes`.

    Parameters
    ----------
    list_indptr, rows
        The rows of each node.
    n_rows
        The number of rows.
    most_bytes
        The most memory to use.

    Returns
    -------
    bitmaps
        One bitmap a row: a bit for each row of the data, then a bit for each word before.
    slot_of_node
        The row of `bitmaps` that belongs to each node, or -1.
    """
    n_words = -(-n_rows // 64)
    width = n_words + -(-n_words // 64)
    length_by_node = np.diff(list_indptr)
    # A short list is searched in a few steps; a bitmap would mostly hold zeros.
    wanted = np.flatnonzero(length_by_node > max(8, n_rows >> 14))
    longest_first = wanted[np.argsort(-length_by_node[wanted], kind="stable")]
    nodes = longest_first[: max(0, most_bytes) // (8 * max(1, width))].astype(np.int32)
    bitmaps = np.zeros((nodes.size, width), np.uint64)
    fill_bitmaps(plain(list_indptr, np.int64), plain(rows, np.int32), nodes, n_words, bitmaps)
    slot_of_node = np.full(length_by_node.size, -1, np.int32)
    slot_of_node[nodes] = np.arange(nodes.size, dtype=np.int32)
    return bitmaps, slot_of_node


def count_supports(
    sets: Ids,
    list_indptr: Counts,
    rows: Ids,
    bitmaps: Words,
    slot_of_node: Ids,
    weight_by_row: Counts,
    enough: int = 0,
    threads: int = 1,
) -> Counts:
    """Count the records that support each set of nodes.

    Parameters
    ----------
    sets
        One set a row, padded at its end with -1; the empty set is supported by all.
    list_indptr, rows
        The rows of each node, from `node_lists`.
    bitmaps, slot_of_node
        The bitmaps, from `node_bitmaps`.
    weight_by_row
        The number of records that each row stands for.
    enough
        Where above 0, counting a set may stop at this number or above it.
    threads
        The threads to use.

    Returns
    -------
    support_by_set
        The exact supports; where `enough` > 0 those that reach it are only known to do so.
    """
    sets = plain(sets, np.int32)
    data = (plain(list_indptr, np.int64), plain(rows, np.int32), plain(bitmaps, np.uint64))
    more = (plain(slot_of_node, np.int32), plain(weight_by_row, np.int64))
    support = np.empty(len(sets), np.int64)
    in_threads(
        lambda part: count_part(*part, sets, *data, *more, enough, support),
        even_parts(len(sets), threads * _TASKS_PER_THREAD, _LEAST_PER_TASK),
        threads,
    )
    return support


def lift_sets(
    sets: Ids,
    parent: Ids,
    list_indptr: Counts,
    rows: Ids,
    bitmaps: Words,
    slot_of_node: Ids,
    weight_by_row: Counts,
    k: int,
    threads: int = 1,
) -> tuple[Ids, Counts]:
    """Raise the nodes of each rare set to their parents, in turn, while it stays rare.

    A node that a raised one meets or covers leaves the set. A set of support `k` or above is
    returned as it is.

    Parameters
    ----------
    sets
        One set a row, padded at its end with -1; no node of a set is above another of it.
    parent
        The parent of each node, -1 for a root; a parent's id is above its children's.
    list_indptr, rows, bitmaps, slot_of_node, weight_by_row
        As for `count_supports`.
    k
        A set is rare where its support is below this.
    threads
        The threads to use; the result does not depend on their number.

    Returns
    -------
    lifted
        The sets, nodes ascending, padded with -1; no node of them can be raised any further.
    support_by_set
        Their supports, exact where below `k`.
    """
    sets = plain(sets, np.int32)
    data = (plain(list_indptr, np.int64), plain(rows, np.int32), plain(bitmaps, np.uint64))
    more = (plain(slot_of_node, np.int32), plain(weight_by_row, np.int64))
    parent = plain(parent, np.int32)
    lifted = np.empty_like(sets)
    support = np.empty(len(sets), np.int64)
    in_threads(
        lambda part: lift_part(*part, sets, parent, *data, *more, k, lifted, support),
        even_parts(len(sets), threads * _TASKS_PER_THREAD, _LEAST_PER_TASK),
        threads,
    )
    return lifted, support
