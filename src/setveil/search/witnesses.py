"""Leaves by which a record holds a rare set of nodes.

An engine that can read them off its records has `witnesses` of its own. For the others they are found
by supports alone: each node in turn goes down to the child that most records hold together with the
rest, until all are leaves.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..engines.base import Engine, NodeSets, padded


@runtime_checkable
class Witnessing(Protocol):
    """An engine that finds witnesses by itself."""

    def witnesses(self, sets: NodeSets, per_set: int) -> tuple[NodeSets, NDArray[np.int64]]:
        """Return what `witnesses` returns."""
        ...


def witnesses(engine: Engine, sets: NodeSets, per_set: int) -> tuple[NodeSets, NDArray[np.int64]]:
    """Return up to `per_set` witnesses of each set, and the number of the set each belongs to.

    A witness holds, in the order of the set's nodes, a leaf under each, all in one record.
    """
    if isinstance(engine, Witnessing):
        return engine.witnesses(sets, per_set)
    lines = [_descend(engine, [node for node in line if node >= 0]) for line in sets.tolist()]
    return padded(lines, sets.shape[1]), np.arange(len(sets), dtype=np.int64)


def _descend(engine: Engine, nodes: list[int]) -> list[int]:
    hierarchy = engine.hierarchy
    leaves = list(nodes)
    for place in range(len(leaves)):
        while leaves[place] >= hierarchy.n_leaves:
            children = hierarchy.children[leaves[place]]
            trials = [[*leaves[:place], child, *leaves[place + 1 :]] for child in children]
            leaves[place] = children[int(np.argmax(engine.supports(padded(trials))))]
    return leaves
