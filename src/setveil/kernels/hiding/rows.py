"""Rows that are like a pattern, rows that hold it, and values raised: the steps of hiding patterns.

With `parent` of -1 everywhere nodes count as they stand; with the parents of the hierarchy a row also
holds everything above its nodes.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from ..base import Counts, Flags, Ids, jit

Shape: TypeAlias = tuple[Ids, Ids, Ids]
"""First leaf, end of the leaves, and depth of each node."""


@jit
def is_below(node: int, above: int, shape: Shape) -> bool:
    """Tell whether `node` is strictly below `above`, by their intervals of leaves: in O(1)."""
    first, end, depth = shape
    return bool(depth[node] > depth[above] and first[above] <= first[node] and end[node] <= end[above])


@jit
def common_ancestor(one: int, other: int, parent: Ids, shape: Shape) -> int:
    """Return the lowest node that is at or above both; -1 where they are of different trees."""
    here = one
    while here >= 0 and here != other and not is_below(other, here, shape):
        here = parent[here]
    return here


@jit
def match_slots(
    indptr: Counts, items: Ids, pattern: Ids, parent: Ids, shape: Shape, values: Ids, targets: Ids
) -> None:
    """Find in each row one value for each value of a pattern, and what both have in common.

    A row's value serves one slot only. Equal values come first, then those below, then the nearest.
    `values` and `targets` are filled with -1 where a slot finds nothing.
    """
    used = np.zeros(64, np.bool_)
    depth = shape[2]
    for row in range(indptr.size - 1):
        start, length = indptr[row], indptr[row + 1] - indptr[row]
        if length > used.size:
            used = np.zeros(2 * length, np.bool_)
        used[:length] = False
        values[row] = -1
        targets[row] = -1
        for turn in range(3):
            for slot in range(pattern.size):
                if values[row, slot] >= 0:
                    continue
                best, best_target = -1, -1
                for place in range(length):
                    node = items[start + place]
                    if used[place] or (turn == 0 and node != pattern[slot]):
                        continue
                    if turn == 1 and not is_below(node, pattern[slot], shape):
                        continue
                    target = common_ancestor(pattern[slot], node, parent, shape)
                    if target >= 0 and (best < 0 or depth[target] > depth[best_target]):
                        best, best_target = place, target
                if best >= 0:
                    values[row, slot] = items[start + best]
                    targets[row, slot] = best_target
                    used[best] = True


@jit
def find_holders(indptr: Counts, items: Ids, pattern: Ids, parent: Ids, holds: Flags) -> None:
    """Tell which rows hold all of a pattern's nodes."""
    wanted = np.zeros(parent.size, np.int64)
    seen = np.full(parent.size, -1, np.int64)
    for slot in range(pattern.size):
        wanted[pattern[slot]] = 1
    for row in range(indptr.size - 1):
        found = 0
        for place in range(indptr[row], indptr[row + 1]):
            node = items[place]
            while node >= 0 and seen[node] != row:
                seen[node] = row
                found += wanted[node]
                node = parent[node]
        holds[row] = found == pattern.size


@jit
def raise_entries(
    indptr: Counts,
    node_by_entry: Ids,
    is_moved: Flags,
    targets: Ids,
    values: Ids,
    row_of_values: Counts,
    shape: Shape,
) -> int:
    """Raise what lies below a target in the rows that move, in place; return how often.

    Where `values` has rows, only the values in it are raised, each to the target of its slot: row r has
    those of ``values[row_of_values[r]]``.
    """
    changed = 0
    narrow = values.shape[0] > 0
    for row in range(indptr.size - 1):
        if not is_moved[row]:
            continue
        for place in range(indptr[row], indptr[row + 1]):
            for slot in range(targets.size):
                node = node_by_entry[place]
                if narrow and node != values[row_of_values[row], slot]:
                    continue
                if is_below(node, targets[slot], shape):
                    node_by_entry[place] = targets[slot]
                    changed += 1
                    if narrow:
                        break
    return changed
