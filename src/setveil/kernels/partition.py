"""Top-down splitting of records into parts that publish one set each.

A part is a slice of `order`; all its records hold the same set of current nodes. A split touches only
the occurrences of its part.

Every occurrence (one item of one record) has a node it is published as now and the node below, which
it would be published as next, -1 where it can go no deeper. The occurrences of a record under one
node are a run, for rows are sorted and the leaves under a node are an interval: `start` and `end`
hold that run for each row of the part at hand.
"""

from __future__ import annotations

import numpy as np

from .base import Counts, Ids, jit


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


_MIX = -7046029254386353131


@jit
def next_nodes(now: Ids, leaves: Ids, child_start: Counts, children: Ids, first_leaf: Ids) -> Ids:
    """Return the node below each occurrence's node towards its leaf, -1 at the leaf itself.

    The children of node u are ``children[child_start[u]:child_start[u + 1]]``, by first leaf. A chain
    of only children is passed in one step: it covers the same leaves, so stopping in it gains nothing.
    """
    result = np.empty(now.size, np.int32)
    for i in range(now.size):
        result[i] = _node_below(now[i], leaves[i], child_start, children, first_leaf)
    return result


@jit
def _node_below(node: int, leaf: int, child_start: Counts, children: Ids, first_leaf: Ids) -> int:
    low, high = child_start[node], child_start[node + 1]
    if low == high:
        return -1
    while high - low > 1:
        middle = (low + high) // 2
        if first_leaf[children[middle]] <= leaf:
            low = middle
        else:
            high = middle
    below = children[low]
    while child_start[below + 1] - child_start[below] == 1:
        below = children[child_start[below]]
    return int(below)


@jit
def _same_key(deeper: Ids, start: Counts, end: Counts, one: int, other: int) -> bool:
    """Tell whether two records hold the same set of next nodes in their spans."""
    i, j = start[one], start[other]
    while i < end[one] and j < end[other]:
        node = deeper[i]
        if node != deeper[j]:
            return False
        while i < end[one] and deeper[i] == node:
            i += 1
        while j < end[other] and deeper[j] == node:
            j += 1
    return bool(i == end[one] and j == end[other])


@jit
def group_by_key(
    rows: Counts,
    deeper: Ids,
    start: Counts,
    end: Counts,
    table: Ids,
    group_of_row: Ids,
    first_of_group: Counts,
    size_of_group: Counts,
) -> int:
    """Number the rows of a part by their sets of next nodes, in order of appearance."""
    mask = 16
    while mask < 2 * rows.size:
        mask *= 2
    mask -= 1
    used = np.empty(rows.size, np.int64)
    groups = 0
    for row in rows:
        tag = np.int64(0)
        before = -1
        for i in range(start[row], end[row]):
            if deeper[i] != before:
                before = deeper[i]
                tag = (tag ^ np.int64(before)) * np.int64(_MIX)
                tag ^= (tag >> np.int64(32)) & np.int64(0xFFFFFFFF)
        slot = tag & mask
        while True:
            group = table[slot]
            if group < 0:
                table[slot] = groups
                used[groups] = slot
                first_of_group[groups] = row
                size_of_group[groups] = 1
                group_of_row[row] = groups
                groups += 1
                break
            if _same_key(deeper, start, end, first_of_group[group], row):
                size_of_group[group] += 1
                group_of_row[row] = group
                break
            slot = (slot + 1) & mask
    for group in range(groups):
        table[used[group]] = -1
    return groups


@jit
def _fill_leftover(
    rows: Counts,
    k: int,
    groups: int,
    left: int,
    saved: Counts,
    group_of_row: Ids,
    size_of_group: Counts,
) -> bool:
    """Move records from groups above k into the leftover until it holds k; tell if it does.

    The record that loses least by staying goes first; of equals the one of the smallest group, and
    then the first. The leftover is number -1.
    """
    spare = 0
    for group in range(groups):
        if size_of_group[group] > k:
            spare += size_of_group[group] - k
    if spare < k - left:
        return False
    while left < k:
        chosen = -1
        for row in rows:
            group = group_of_row[row]
            if group < 0 or size_of_group[group] <= k:
                continue
            if (
                chosen < 0
                or saved[row] < saved[chosen]
                or (
                    saved[row] == saved[chosen]
                    and size_of_group[group] < size_of_group[group_of_row[chosen]]
                )
            ):
                chosen = row
        size_of_group[group_of_row[chosen]] -= 1
        group_of_row[chosen] = -1
        left += 1
    return True


@jit
def add_gains(
    rows: Counts,
    start: Counts,
    end: Counts,
    leaves: Ids,
    now: Ids,
    deeper: Ids,
    importance_by_leaf: Counts,
    unit_by_node: Counts,
    part: int,
    part_of_gain: Counts,
    gain: Counts,
) -> int:
    """Add what specializing would save in these spans to each node's gain; return their length."""
    visited = 0
    for row in rows:
        for i in range(start[row], end[row]):
            visited += 1
            node = now[i]
            if deeper[i] < 0:
                continue
            if part_of_gain[node] != part:
                part_of_gain[node] = part
                gain[node] = 0
            gain[node] += importance_by_leaf[leaves[i]] * (unit_by_node[node] - unit_by_node[deeper[i]])
    return visited


@jit
def best_node(
    now: Ids,
    deeper: Ids,
    low: int,
    high: int,
    gain: Counts,
    rank: Ids,
    part: int,
    failed: Counts,
    probe: int,
    probed: Counts,
) -> int:
    """Return the untried node of largest gain, the first label of equals; -1 where none is left."""
    best = -1
    for i in range(low, high):
        node = now[i]
        if deeper[i] < 0 or failed[node] == part or probed[node] == probe or node == best:
            continue
        if (
            best < 0
            or gain[node] > gain[best]
            or (gain[node] == gain[best] and rank[node] < rank[best])
        ):
            best = node
    return best


@jit
def find_spans(
    rows: Counts,
    indptr: Counts,
    leaves: Ids,
    now: Ids,
    deeper: Ids,
    node: int,
    importance_by_leaf: Counts,
    unit_by_node: Counts,
    start: Counts,
    end: Counts,
    saved: Counts,
) -> None:
    """Find where each row holds `node` (one run, for rows are sorted) and what it would save."""
    for row in rows:
        i = indptr[row]
        while now[i] != node:
            i += 1
        start[row] = i
        worth = np.int64(0)
        while i < indptr[row + 1] and now[i] == node:
            worth += importance_by_leaf[leaves[i]] * (unit_by_node[node] - unit_by_node[deeper[i]])
            i += 1
        end[row] = i
        saved[row] = worth


@jit
def set_leftover_aside(
    rows: Counts, k: int, groups: int, saved: Counts, group_of_row: Ids, size_of_group: Counts
) -> int:
    """Put the groups of less than k into the leftover, number -1, and fill it up to k.

    Return the size of the leftover, or -1 where it cannot be filled and the split must not be made.
    """
    left = 0
    for group in range(groups):
        if size_of_group[group] < k:
            left += size_of_group[group]
    if left == 0:
        return 0
    for row in rows:
        if size_of_group[group_of_row[row]] < k:
            group_of_row[row] = -1
    for group in range(groups):
        if size_of_group[group] < k:
            size_of_group[group] = 0
    if left < k:
        if not _fill_leftover(rows, k, groups, left, saved, group_of_row, size_of_group):
            return -1
        left = k
    return left


@jit
def specialize(
    rows: Counts,
    start: Counts,
    end: Counts,
    group_of_row: Ids,
    leaves: Ids,
    now: Ids,
    deeper: Ids,
    child_start: Counts,
    children: Ids,
    first_leaf: Ids,
) -> None:
    """Take the spans of the groups one node deeper; the leftover's stay where they are for good.

    All groups of the leftover were under k, and are in each of its subsets: no split on this node
    can succeed there.
    """
    for row in rows:
        stays = group_of_row[row] < 0
        for i in range(start[row], end[row]):
            if stays:
                deeper[i] = -1
            else:
                now[i] = deeper[i]
                deeper[i] = _node_below(now[i], leaves[i], child_start, children, first_leaf)


@jit
def push_parts(
    rows: Counts,
    low: int,
    left: int,
    groups: int,
    group_of_row: Ids,
    size_of_group: Counts,
    place_of_group: Counts,
    order: Counts,
    stack: Counts,
    height: int,
) -> int:
    """Sort the rows by group, the leftover first, and put every group on the stack."""
    place = low + left
    if left > 0:
        stack[height, 0], stack[height, 1] = low, place
        height += 1
    for group in range(groups):
        place_of_group[group] = place
        if size_of_group[group] > 0:
            stack[height, 0], stack[height, 1] = place, place + size_of_group[group]
            height += 1
            place += size_of_group[group]
    leftover_place = low
    for row in rows:
        group = group_of_row[row]
        if group < 0:
            order[leftover_place] = row
            leftover_place += 1
        else:
            order[place_of_group[group]] = row
            place_of_group[group] += 1
    return height
