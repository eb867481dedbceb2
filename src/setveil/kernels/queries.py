"""How many records are expected to hold each set of nodes, where only published nodes are known.

A row of published nodes, none above another, holds a node v for certain where one of them is v or below
it. Where one, u, is above v it holds v with the share of u's leaves that are v's. The nodes of a set
count as independent.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .base import Counts, Ids, even_parts, in_threads, jit, plain
from .supports import node_lists

_TASKS_PER_THREAD = 8
_LEAST_PER_TASK = 64


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

    Parameters
    ----------
    sets
        One set a row, padded at its end with -1; the empty set is held by all.
    indptr, nodes
        The published rows; no node of a row is above another of it.
    weight_by_row
        The number of records that each row stands for.
    parent
        The parent of each node, -1 for a root; a parent's id is above its children's.
    leaf_count
        How many leaves are under each node.
    threads
        The threads to use; the result does not depend on their number.

    Returns
    -------
    estimate_by_set
        The expected supports.
    """
    sets, parent = plain(sets, np.int32), plain(parent, np.int32)
    under = node_lists(indptr, nodes, parent)
    own = node_lists(indptr, nodes, np.full(parent.size, -1, np.int32))
    weights, leaves = plain(weight_by_row, np.int64), plain(leaf_count, np.int64)
    estimate = np.empty(len(sets), np.float64)
    in_threads(
        lambda part: _estimate_part(*part, sets, *under, *own, parent, leaves, weights, estimate),
        even_parts(len(sets), threads * _TASKS_PER_THREAD, _LEAST_PER_TASK),
        threads,
    )
    return estimate
