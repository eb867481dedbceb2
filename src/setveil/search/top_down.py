"""Cuts from the roots downwards, each with what must be suppressed on it (Liu and Wang, section 3).

`Taxonomy` is the part of a hierarchy that a search works on: the nodes at and above some cut, unary
chains drawn together to their lowest node, which says most and costs no more. `CutSearch` holds a cut,
its suppression scenario and its cost, and works out what replacing a node by its children would cost.

The suppression scenario of a cut is the paper's walk down the enumeration tree. Nodes are tried in
falling suppression cost, the smaller label first where that is equal; one is kept unless it completes a
threat with those kept before. A node refused once can never be kept further down, so the first valid
child of each tree node is found by one pass.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..engines.base import NodeSets
from ..hierarchy.tree import Hierarchy
from ..kernels.itemsets.top_down import by_last_member, later_bits, take_step, try_steps
from ..model.costs import Cost

Ids = NDArray[np.int32]
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Taxonomy:
    """Nodes, ascending, the roots among them, and the children of each node (none at the bottom)."""

    hierarchy: Hierarchy
    nodes: Ids
    roots: tuple[int, ...]
    children: tuple[tuple[int, ...], ...]

    @classmethod
    def above(cls, hierarchy: Hierarchy, bottom: Ids) -> Taxonomy:
        """Return the nodes at or above `bottom`, an antichain, without the upper ends of chains."""
        is_bottom = np.zeros(len(hierarchy), dtype=np.bool_)
        is_bottom[bottom] = True
        inside = is_bottom.copy()
        for node, above in enumerate(hierarchy.parent.tolist()):
            if above >= 0 and inside[node]:
                inside[above] = True
        children: list[tuple[int, ...]] = [()] * len(hierarchy)
        lowest = np.arange(len(hierarchy))
        for node in np.flatnonzero(inside & ~is_bottom).tolist():
            below = [child for child in hierarchy.children[node] if inside[child]]
            if len(below) == 1:
                lowest[node] = lowest[below[0]]
            else:
                children[node] = tuple(int(lowest[child]) for child in below)
        nodes = np.flatnonzero(inside & (lowest == np.arange(len(hierarchy)))).astype(np.int32)
        roots = tuple(int(lowest[root]) for root in hierarchy.roots if inside[root])
        return cls(hierarchy, nodes, roots, tuple(children))


class CutSearch:
    """A cut of a taxonomy with its suppression scenario; it begins at the roots.

    Parameters
    ----------
    taxonomy
        Where cuts may lie.
    threats
        The minimal threats of all its cuts.
    cost
        What a published node costs; a suppressed occurrence costs the whole scale.
    count_by_leaf
        In how many records each leaf is.
    """

    def __init__(
        self, taxonomy: Taxonomy, threats: NodeSets, cost: Cost, count_by_leaf: Counts
    ) -> None:
        hierarchy = taxonomy.hierarchy
        self._taxonomy = taxonomy
        running = np.concatenate(([0], np.cumsum(cost.weighted_counts(count_by_leaf))))
        below = running[hierarchy.end_leaf] - running[hierarchy.first_leaf]
        if_kept = cost.weight_by_node(hierarchy, count_by_leaf)
        if_gone = below * cost.scale
        nodes = taxonomy.nodes
        extra = if_gone[nodes] - if_kept[nodes]
        self._node_of_rank = nodes[np.lexsort((hierarchy.label_rank[nodes], -extra))]
        self._rank_of_node = np.full(len(hierarchy), -1, dtype=np.int32)
        self._rank_of_node[self._node_of_rank] = np.arange(len(nodes), dtype=np.int32)
        self._label_rank = hierarchy.label_rank[self._node_of_rank]
        below_rank = [self._ranks(taxonomy.children[node]) for node in self._node_of_rank.tolist()]
        self._child_start = np.concatenate(([0], np.cumsum([len(part) for part in below_rank])))
        self._children = np.concatenate([*below_rank, np.empty(0, dtype=np.int32)])
        self._data = (
            *self._by_last_member(threats),
            if_kept[self._node_of_rank],
            if_gone[self._node_of_rank],
        )
        n_words = max(1, len(nodes) + 63 >> 6)
        self._in_cut = np.zeros(n_words, dtype=np.uint64)
        self._kept = np.zeros(len(nodes), dtype=np.bool_)
        self._witness = np.full(len(nodes), -1, dtype=np.int64)
        self.cost = 0
        self._cut: set[int] = set()
        self._replace(-1, self._ranks(taxonomy.roots))

    def _ranks(self, nodes: tuple[int, ...] | Ids) -> Ids:
        return self._rank_of_node[np.asarray(nodes, dtype=np.int64)]

    def _by_last_member(self, threats: NodeSets) -> tuple[Counts, Ids, NDArray[np.uint64]]:
        """Return the threats by the member tried last, their other members, and who meets whom."""
        n_ranks = len(self._node_of_rank)
        sets = np.ascontiguousarray(threats, dtype=np.int32)
        start, others = by_last_member(sets, self._rank_of_node, n_ranks)
        return start, others, later_bits(start, others, max(1, n_ranks + 63 >> 6))

    @property
    def _state(self) -> tuple[NDArray[np.uint64], NDArray[np.bool_], Counts]:
        return self._in_cut, self._kept, self._witness

    def _replace(self, removed: int, added: Ids) -> None:
        self.cost += int(take_step(removed, added, True, *self._data, *self._state))
        self._cut = (self._cut - {removed}) | set(added.tolist())

    @property
    def cut(self) -> Ids:
        """The nodes of the cut, kept or suppressed, ascending."""
        return np.sort(self._node_of_rank[sorted(self._cut)])

    @property
    def kept(self) -> Ids:
        """The nodes of the cut that are published, ascending."""
        return np.sort(self._node_of_rank[self._kept])

    @property
    def suppressed(self) -> Ids:
        """The suppression scenario: the nodes of the cut that are not published, ascending."""
        return np.setdiff1d(self.cut, self.kept)

    def __contains__(self, node: int) -> bool:
        """Whether the node is in the cut."""
        return int(self._rank_of_node[node]) in self._cut

    def steps(self) -> list[tuple[int, int]]:
        """Return each node of the cut that has children, by label, and what replacing it adds."""
        inner = [rank for rank in self._cut if self._child_start[rank + 1] > self._child_start[rank]]
        inner.sort(key=lambda rank: int(self._label_rank[rank]))
        candidates = np.array(inner, dtype=np.int32)
        added = try_steps(candidates, self._child_start, self._children, *self._data, *self._state)
        nodes = self._node_of_rank[candidates] if inner else candidates
        return list(zip(nodes.tolist(), added.tolist(), strict=True))

    def descend(self, node: int) -> None:
        """Replace a node of the cut by its children."""
        rank = int(self._rank_of_node[node])
        if rank not in self._cut:
            raise ValueError("the node is not in the cut")
        self._replace(rank, self._ranks(self._taxonomy.children[node]))
