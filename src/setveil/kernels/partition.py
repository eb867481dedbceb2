"""Top-down splitting of records into parts that publish one set each.

A part is a slice of `order`; all its records hold the same set of current nodes. A split touches only
the occurrences of its part. The steps are in `_partition_steps`.
"""

from __future__ import annotations

import numpy as np

from ._calls import Counts, Ids
from ._jit import jit
from ._partition_steps import (
    add_gains,
    best_node,
    find_spans,
    group_by_key,
    next_nodes,
    push_parts,
    set_leftover_aside,
    specialize,
)

__all__ = ["next_nodes", "split_parts"]


@jit
def split_parts(
    indptr: Counts,
    leaves: Ids,
    now: Ids,
    deeper: Ids,
    order: Counts,
    stack: Counts,
    height: int,
    done: Counts,
    n_done: int,
    k: int,
    importance_by_leaf: Counts,
    unit_by_node: Counts,
    label_rank: Ids,
    child_start: Counts,
    children: Ids,
    first_leaf: Ids,
    budget: int,
) -> tuple[int, int]:
    """Split the parts on the stack until it is empty or about `budget` occurrences were visited.

    ``stack[:height]`` and ``done[:n_done]`` hold parts as (low, high) in `order`; `now`, `deeper`,
    `order`, `stack` and `done` are changed in place.

    Returns
    -------
    height, n_done
        How many parts are left to do, and how many are final.
    """
    n_rows = indptr.size - 1
    start = np.empty(n_rows, np.int64)
    end = np.empty(n_rows, np.int64)
    saved = np.empty(n_rows, np.int64)
    group_of_row = np.empty(n_rows, np.int32)
    first_of_group = np.empty(n_rows, np.int64)
    size_of_group = np.empty(n_rows, np.int64)
    slots = 16
    while slots < 2 * n_rows:
        slots *= 2
    table = np.full(slots, -1, np.int32)
    gain = np.zeros(unit_by_node.size, np.int64)
    part_of_gain = np.full(unit_by_node.size, -1, np.int64)
    failed = np.full(unit_by_node.size, -1, np.int64)
    probed = np.full(unit_by_node.size, -1, np.int64)
    part = probe = 0
    while height > 0 and budget > 0:
        height -= 1
        part += 1
        low, high = stack[height, 0], stack[height, 1]
        rows = order[low:high].copy()
        first = rows[0]
        budget -= add_gains(
            rows,
            indptr[:-1],
            indptr[1:],
            leaves,
            now,
            deeper,
            importance_by_leaf,
            unit_by_node,
            part,
            part_of_gain,
            gain,
        )
        while True:
            # A node's gain over the whole part bounds what a split on it saves, the leftover's
            # share taken off: so the nodes are tried by falling gain until none can be better.
            chosen, tried_last, most = -1, -1, np.int64(-1)
            groups = left = 0
            probe += 1
            while True:
                node = best_node(
                    now,
                    deeper,
                    indptr[first],
                    indptr[first + 1],
                    gain,
                    label_rank,
                    part,
                    failed,
                    probe,
                    probed,
                )
                if node < 0 or gain[node] <= most:
                    if chosen < 0 or chosen == tried_last:
                        break
                    node = chosen
                probed[node] = probe
                tried_last = node
                budget -= rows.size
                find_spans(
                    rows,
                    indptr,
                    leaves,
                    now,
                    deeper,
                    node,
                    importance_by_leaf,
                    unit_by_node,
                    start,
                    end,
                    saved,
                )
                groups = group_by_key(
                    rows, deeper, start, end, table, group_of_row, first_of_group, size_of_group
                )
                left = set_leftover_aside(rows, k, groups, saved, group_of_row, size_of_group)
                if node == chosen:
                    break
                if left < 0 or left == rows.size:
                    failed[node] = part
                    if left == rows.size:
                        # No key has k records, here or in any part of this part: never ask again.
                        specialize(
                            rows,
                            start,
                            end,
                            group_of_row,
                            leaves,
                            now,
                            deeper,
                            child_start,
                            children,
                            first_leaf,
                        )
                    continue
                real = np.int64(0)
                for row in rows:
                    if group_of_row[row] >= 0:
                        real += saved[row]
                if real > most:
                    chosen, most = node, real
            if chosen < 0:
                done[n_done, 0], done[n_done, 1] = low, high
                n_done += 1
                break
            specialize(
                rows, start, end, group_of_row, leaves, now, deeper, child_start, children, first_leaf
            )
            if groups > 1:
                height = push_parts(
                    rows,
                    low,
                    left,
                    groups,
                    group_of_row,
                    size_of_group,
                    first_of_group,
                    order,
                    stack,
                    height,
                )
                break
            # The same records, one node deeper: go on with what is known of them.
            add_gains(
                rows,
                start,
                end,
                leaves,
                now,
                deeper,
                importance_by_leaf,
                unit_by_node,
                part,
                part_of_gain,
                gain,
            )
    return height, n_done
