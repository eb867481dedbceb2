"""The levels of a hierarchy, from the leaves up, as mining at several levels sees them.

Level 0 is that of the leaves and level h, the height, that of the roots. At level i an item stands for
its ancestor at depth h - i. Where its own depth is smaller it stays as it is: a short branch counts as
one whose leaf is repeated down to the lowest level (Terrovitis et al. 2011, section 3.3; Han and Fu).
Every tree of a forest is counted from its own root.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..hierarchy.tree import Hierarchy

Ids = NDArray[np.int32]


def node_at_level(hierarchy: Hierarchy, level: int) -> Ids:
    """Return what each node is at a level: itself, its ancestor there, or -1 if it lies above it.

    >>> toy = Hierarchy.from_parents({"a1": "A", "a2": "A", "b": "ALL", "A": "ALL", "ALL": None})
    >>> [toy.labels[node] if node >= 0 else "-" for node in node_at_level(toy, 1)]
    ['A', 'A', 'b', 'A', '-']
    """
    deepest = hierarchy.height - level
    depth, parent = hierarchy.depth, hierarchy.parent
    at_level = np.arange(len(hierarchy), dtype=np.int32)
    is_below = depth > deepest
    while is_below.any():
        at_level[is_below] = parent[at_level[is_below]]
        is_below = depth[at_level] > deepest
    is_inner = np.arange(len(hierarchy)) >= hierarchy.n_leaves
    at_level[is_inner & (depth < deepest)] = -1
    return at_level
