"""Top-down splitting of records into parts that publish one set each.

A part is a slice of `order`; all its records hold the same set of current nodes. A split touches only
the occurrences of its part.

Every occurrence (one item of one record) has a node it is published as now and the node below, which
it would be published as next, -1 where it can go no deeper. The occurrences of a record under one
node are a run, for rows are sorted and the leaves under a node are an interval: `start` and `end`
hold that run for each row of the part at hand.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .base import Counts, Ids, jit


class Cells(NamedTuple):
    """Occurrences, one for each item of each row, and where each row begins among them."""

    indptr: Counts
    leaves: Ids
    now: Ids
    """The node that each is published as."""
    deeper: Ids
    """The node below it towards the leaf, -1 where it can go no deeper."""


class Tree(NamedTuple):
    """The children of node u are ``children[child_start[u] : child_start[u + 1]]``, by first leaf."""

    child_start: Counts
    children: Ids
    first_leaf: Ids


class Worth(NamedTuple):
    """What an occurrence costs: the importance of its leaf times the unit of its node."""

    importance_by_leaf: Counts
    unit_by_node: Counts
    label_rank: Ids
    """By node; of equally good nodes the first is taken."""


class Spans(NamedTuple):
    """By row of the part at hand: the run of occurrences under one node, and what it would save."""

    start: Counts
    end: Counts
    saved: Counts


class Groups(NamedTuple):
    """The rows of the part at hand by their sets of next nodes; the leftover is number -1."""

    table: Ids
    """A hash table of groups, -1 between two uses."""
    of_row: Ids
    first: Counts
    size: Counts


class Gains(NamedTuple):
    """By node: what specializing it would save in one part, which part, and where it was tried."""

    gain: Counts
    part: Counts
    failed: Counts
    """The part in which a split on it failed."""
    probed: Counts
    """The probe that tried it last."""


@jit
def next_nodes(now: Ids, leaves: Ids, tree: Tree) -> Ids:
    """Return the node below each occurrence's node towards its leaf, -1 at the leaf itself.

    A chain of only children is passed in one step: it covers the same leaves, so stopping in it gains
    nothing.
    """
    result = np.empty(now.size, np.int32)
    for i in range(now.size):
        result[i] = _node_below(now[i], leaves[i], tree)
    return result


@jit
def _node_below(node: int, leaf: int, tree: Tree) -> int:
    child_start, children, first_leaf = tree
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
def _group_by_key(rows: Counts, deeper: Ids, spans: Spans, groups: Groups) -> int:
    """Number the rows of a part by their sets of next nodes, in order of appearance."""
    start, end, _ = spans
    table, group_of_row, first_of_group, size_of_group = groups
    mask = 16
    while mask < 2 * rows.size:
        mask *= 2
    mask -= 1
    used = np.empty(rows.size, np.int64)
    n_groups = 0
    for row in rows:
        tag = np.int64(0)
        before = -1
        for i in range(start[row], end[row]):
            if deeper[i] != before:
                before = deeper[i]
                tag = (tag ^ np.int64(before)) * np.int64(-7046029254386353131)
                tag ^= (tag >> np.int64(32)) & np.int64(0xFFFFFFFF)
        slot = tag & mask
        while True:
            group = table[slot]
            if group < 0:
                table[slot] = n_groups
                used[n_groups] = slot
                first_of_group[n_groups] = row
                size_of_group[n_groups] = 1
                group_of_row[row] = n_groups
                n_groups += 1
                break
            if _same_key(deeper, start, end, first_of_group[group], row):
                size_of_group[group] += 1
                group_of_row[row] = group
                break
            slot = (slot + 1) & mask
    for group in range(n_groups):
        table[used[group]] = -1
    return n_groups


@jit
def _fill_leftover(
    rows: Counts, k: int, n_groups: int, left: int, saved: Counts, groups: Groups
) -> bool:
    """Move records from groups above k into the leftover until it holds k; tell if it does.

    The record that loses least by staying goes first; of equals the one of the smallest group, and
    then the first.
    """
    group_of_row, size_of_group = groups.of_row, groups.size
    spare = 0
    for group in range(n_groups):
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
def _add_gains(
    rows: Counts, start: Counts, end: Counts, cells: Cells, worth: Worth, part: int, gains: Gains
) -> int:
    """Add what specializing would save in these spans to each node's gain; return their length."""
    _, leaves, now, deeper = cells
    importance_by_leaf, unit_by_node, _ = worth
    gain, part_of_gain, _, _ = gains
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
def _best_node(
    cells: Cells, low: int, high: int, rank: Ids, part: int, probe: int, gains: Gains
) -> int:
    """Return the untried node of largest gain, the first label of equals; -1 where none is left."""
    _, _, now, deeper = cells
    gain, _, failed, probed = gains
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
def _find_spans(rows: Counts, cells: Cells, node: int, worth: Worth, spans: Spans) -> None:
    """Find where each row holds `node` (one run, for rows are sorted) and what it would save."""
    indptr, leaves, now, deeper = cells
    importance_by_leaf, unit_by_node, _ = worth
    start, end, saved = spans
    for row in rows:
        i = indptr[row]
        while now[i] != node:
            i += 1
        start[row] = i
        saving = np.int64(0)
        while i < indptr[row + 1] and now[i] == node:
            saving += importance_by_leaf[leaves[i]] * (unit_by_node[node] - unit_by_node[deeper[i]])
            i += 1
        end[row] = i
        saved[row] = saving


@jit
def _set_leftover_aside(rows: Counts, k: int, n_groups: int, saved: Counts, groups: Groups) -> int:
    """Put the groups of less than k into the leftover, number -1, and fill it up to k.

    Return the size of the leftover, or -1 where it cannot be filled and the split must not be made.
    """
    group_of_row, size_of_group = groups.of_row, groups.size
    left = 0
    for group in range(n_groups):
        if size_of_group[group] < k:
            left += size_of_group[group]
    if left == 0:
        return 0
    for row in rows:
        if size_of_group[group_of_row[row]] < k:
            group_of_row[row] = -1
    for group in range(n_groups):
        if size_of_group[group] < k:
            size_of_group[group] = 0
    if left < k:
        if not _fill_leftover(rows, k, n_groups, left, saved, groups):
            return -1
        left = k
    return left


@jit
def _specialize(rows: Counts, spans: Spans, group_of_row: Ids, cells: Cells, tree: Tree) -> None:
    """Take the spans of the groups one node deeper; the leftover's stay where they are for good.

    All groups of the leftover were under k, and are in each of its subsets: no split on this node
    can succeed there.
    """
    start, end, _ = spans
    _, leaves, now, deeper = cells
    for row in rows:
        stays = group_of_row[row] < 0
        for i in range(start[row], end[row]):
            if stays:
                deeper[i] = -1
            else:
                now[i] = deeper[i]
                deeper[i] = _node_below(now[i], leaves[i], tree)


@jit
def _push_parts(
    rows: Counts,
    low: int,
    left: int,
    n_groups: int,
    groups: Groups,
    order: Counts,
    stack: Counts,
    height: int,
) -> int:
    """Sort the rows by group, the leftover first, and put every group on the stack."""
    group_of_row, place_of_group, size_of_group = groups.of_row, groups.first, groups.size
    place = low + left
    if left > 0:
        stack[height, 0], stack[height, 1] = low, place
        height += 1
    for group in range(n_groups):
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


@jit
def _best_split(
    rows: Counts,
    cells: Cells,
    k: int,
    worth: Worth,
    tree: Tree,
    part: int,
    probe: int,
    spans: Spans,
    groups: Groups,
    gains: Gains,
) -> tuple[bool, int, int, int]:
    """Split a part on the node that saves most; return if one could, its groups, leftover, and work.

    A node's gain over the whole part bounds what a split on it saves, the leftover's share taken off:
    so the nodes are tried by falling gain until none can be better.
    """
    low, high = cells.indptr[rows[0]], cells.indptr[rows[0] + 1]
    chosen, tried_last, most = -1, -1, np.int64(-1)
    n_groups = left = work = 0
    while True:
        node = _best_node(cells, low, high, worth.label_rank, part, probe, gains)
        if node < 0 or gains.gain[node] <= most:
            if chosen < 0 or chosen == tried_last:
                break
            node = chosen
        gains.probed[node] = probe
        tried_last = node
        work += rows.size
        _find_spans(rows, cells, node, worth, spans)
        n_groups = _group_by_key(rows, cells.deeper, spans, groups)
        left = _set_leftover_aside(rows, k, n_groups, spans.saved, groups)
        if node == chosen:
            break
        if left < 0 or left == rows.size:
            gains.failed[node] = part
            if left == rows.size:
                # No key has k records, here or in any part of this part: never ask again.
                _specialize(rows, spans, groups.of_row, cells, tree)
            continue
        real = np.int64(0)
        for row in rows:
            if groups.of_row[row] >= 0:
                real += spans.saved[row]
        if real > most:
            chosen, most = node, real
    return chosen >= 0, n_groups, left, work


@jit
def split_parts(
    cells: Cells,
    order: Counts,
    stack: Counts,
    height: int,
    done: Counts,
    n_done: int,
    k: int,
    worth: Worth,
    tree: Tree,
    budget: int,
) -> tuple[int, int]:
    """Split the parts on the stack until it is empty or about `budget` occurrences were visited.

    ``stack[:height]`` and ``done[:n_done]``, parts left to do and final ones, hold parts as (low, high)
    in `order`; they, `order` and the nodes of `cells` are changed in place. The new `height` and
    `n_done` are returned.
    """
    n_rows, n_nodes = cells.indptr.size - 1, worth.unit_by_node.size
    row_ends = cells.indptr[1:]
    spans = Spans(np.empty(n_rows, np.int64), np.empty(n_rows, np.int64), np.empty(n_rows, np.int64))
    slots = 16
    while slots < 2 * n_rows:
        slots *= 2
    groups = Groups(
        np.full(slots, -1, np.int32),
        np.empty(n_rows, np.int32),
        np.empty(n_rows, np.int64),
        np.empty(n_rows, np.int64),
    )
    gains = Gains(
        np.zeros(n_nodes, np.int64),
        np.full(n_nodes, -1, np.int64),
        np.full(n_nodes, -1, np.int64),
        np.full(n_nodes, -1, np.int64),
    )
    part = probe = 0
    while height > 0 and budget > 0:
        height -= 1
        part += 1
        low, high = stack[height, 0], stack[height, 1]
        rows = order[low:high].copy()
        budget -= _add_gains(rows, cells.indptr, row_ends, cells, worth, part, gains)
        while True:
            probe += 1
            can_split, n_groups, left, work = _best_split(
                rows, cells, k, worth, tree, part, probe, spans, groups, gains
            )
            budget -= work
            if not can_split:
                done[n_done, 0], done[n_done, 1] = low, high
                n_done += 1
                break
            _specialize(rows, spans, groups.of_row, cells, tree)
            if n_groups > 1:
                height = _push_parts(rows, low, left, n_groups, groups, order, stack, height)
                break
            # The same records, one node deeper: go on with what is known of them.
            _add_gains(rows, spans.start, spans.end, cells, worth, part, gains)
    return height, n_done
