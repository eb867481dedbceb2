"""Which labels to leave out so that no rare set is left: a greedy hitting set.

Leaving a label out changes no other support, so all that matters is that every rare set loses one of
its labels. The label that hits the most rare sets for its loss goes first; at the end, labels that are
not needed after all come back, the dearest first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..engines.base import NodeSets

Ids = NDArray[np.int32]


def greedy_hitting_set(sets: NodeSets, loss_by_node: NDArray[np.int64]) -> Ids:
    """Return nodes that hit every set, at a small total loss; ties go to the smaller node."""
    if not len(sets):
        return np.empty(0, dtype=np.int32)
    n_nodes = len(loss_by_node)
    price = loss_by_node.astype(np.float64) + 0.5
    place, column = np.nonzero(sets >= 0)
    member = sets[place, column]
    order = np.argsort(member, kind="stable")
    sets_by_node = place[order]
    bounds = np.searchsorted(member[order], np.arange(n_nodes + 1))
    hits = np.bincount(member, minlength=n_nodes).astype(np.float64)
    alive = np.ones(len(sets), dtype=bool)
    left = len(sets)
    taken: list[int] = []
    while left:
        node = int(np.argmax(hits / price))
        taken.append(node)
        own = sets_by_node[bounds[node] : bounds[node + 1]]
        own = own[alive[own]]
        alive[own] = False
        left -= len(own)
        lines = sets[own]
        hits -= np.bincount(lines[lines >= 0], minlength=n_nodes)
    return _without_needless(sets, np.array(taken, dtype=np.int32), loss_by_node)


def _without_needless(sets: NodeSets, taken: Ids, loss_by_node: NDArray[np.int64]) -> Ids:
    is_taken = np.zeros(len(loss_by_node), dtype=bool)
    is_taken[taken] = True
    hit_count = np.where(sets >= 0, is_taken[sets], False).sum(axis=1)
    for node in sorted(taken.tolist(), key=lambda node: (-int(loss_by_node[node]), node)):
        own = (sets == node).any(axis=1)
        if (hit_count[own] > 1).all():
            hit_count[own] -= 1
            is_taken[node] = False
    return np.flatnonzero(is_taken).astype(np.int32)
