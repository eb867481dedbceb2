"""Cuts of a hierarchy: whether one can hold, how many there are, and how a search raises one.

A cut publishes every leaf as one node at or above it. A node is *in force* while no node above it is
published: it is then published itself, or could still be. Searches only ever raise a cut, so a node
that has once gone out of force stays out.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines.base import Engine
from ..errors import Infeasible
from ..hierarchy.tree import Counts, Hierarchy, Ids
from ..model.costs import Cost
from ..model.guarantees import KmAnonymity
from ..progress import Watch
from ..release.recoding import Recoding

Nodes = tuple[int, ...]
Supports = Callable[[Sequence[Nodes]], Sequence[int]]
"""Answers in how many records each set of nodes is; only "below k or not" has to be right."""


def check_enough_records(engine: Engine, k: int) -> None:
    """Raise `Infeasible` where there are fewer records than must look alike."""
    if engine.n_records < k:
        raise Infeasible(f"k={k} exceeds the number of records ({engine.n_records}).", "Lower k.")


def check_roots(engine: Engine, guarantee: KmAnonymity, watch: Watch) -> None:
    """Raise `Infeasible` where even publishing only the roots breaks the positive guarantee.

    Supports never shrink on the way up, so what the roots break every cut breaks; and where the roots
    hold, any rare set can be repaired by raising its nodes to their roots.
    """
    watch.tick("checking the roots")
    hierarchy = engine.hierarchy
    check_enough_records(engine, guarantee.k)
    positive = KmAnonymity(guarantee.k, min(guarantee.m, max(len(hierarchy.roots), 1)))
    broken = engine.violations(Recoding.from_cut(hierarchy, hierarchy.roots), positive, limit=1)
    if len(broken):
        size = int((broken.sets[0] >= 0).sum())
        what = "a root" if size == 1 else f"a combination of {size} roots"
        raise Infeasible(
            f"{what} of the hierarchy is in fewer than k={guarantee.k} records, "
            "so no generalization can protect them.",
            "Lower k or m, join the trees under one root, or use a method that suppresses.",
        )


def node_supports(engine: Engine) -> Counts:
    """Return in how many records each node of the hierarchy is."""
    return engine.supports(np.arange(len(engine.hierarchy), dtype=np.int32)[:, None])


class WorkingCut:
    """A cut that a search raises step by step, and what each step would cost.

    It begins with each leaf as itself if nothing else is given. A leaf of -1 is left out: it is not
    published, costs nothing here, and no node above it may be published either.
    """

    def __init__(
        self,
        hierarchy: Hierarchy,
        cost: Cost,
        count_by_leaf: Counts,
        node_of_leaf: Ids | None = None,
    ) -> None:
        self.hierarchy = hierarchy
        if node_of_leaf is None:
            node_of_leaf = np.arange(hierarchy.n_leaves, dtype=np.int32)
        self.node_of_leaf: Ids = node_of_leaf.astype(np.int32)
        self._first: list[int] = hierarchy.first_leaf.tolist()
        self._end: list[int] = hierarchy.end_leaf.tolist()
        self._depth: list[int] = hierarchy.depth.tolist()
        self._parent: list[int] = hierarchy.parent.tolist()
        self._label_rank: list[int] = hierarchy.label_rank.tolist()
        self._weight_by_node: list[int] = cost.weight_by_node(hierarchy, count_by_leaf).tolist()
        kept = self.node_of_leaf >= 0
        self._loss_by_leaf = np.where(
            kept, cost.weighted_counts(count_by_leaf) * cost.unit_by_node[self.node_of_leaf], 0
        )
        self._unit_by_node = cost.unit_by_node
        self._weighted = cost.weighted_counts(count_by_leaf)
        self._cut_depth_of_leaf: list[int] = np.where(
            kept, hierarchy.depth[self.node_of_leaf], len(hierarchy)
        ).tolist()
        left_out = np.concatenate(([0], np.cumsum(~kept)))
        self.allowed_by_node: NDArray[np.bool_] = (
            left_out[hierarchy.end_leaf] == left_out[hierarchy.first_leaf]
        )
        """Whether a node covers no leaf that is left out."""
        self._allowed: list[bool] = self.allowed_by_node.tolist()

    @property
    def nodes(self) -> Ids:
        """The published nodes, ascending."""
        return np.unique(self.node_of_leaf[self.node_of_leaf >= 0])

    @property
    def cost(self) -> int:
        return int(self._loss_by_leaf.sum())

    def in_force(self, node: int) -> bool:
        """Tell whether no node above `node` is published."""
        return self._depth[node] <= self._cut_depth_of_leaf[self._first[node]]

    def in_force_by_node(self) -> NDArray[np.bool_]:
        """Return `in_force` of every node; nodes over leaves left out are never in force."""
        cut_depth = np.array(self._cut_depth_of_leaf, dtype=np.int64)
        inside = self.hierarchy.depth <= cut_depth[self.hierarchy.first_leaf]
        return np.logical_and(inside, self.allowed_by_node)

    def added_cost(self, node: int) -> int:
        """Return what publishing `node` in place of the cut's nodes under it would add."""
        below = self._loss_by_leaf[self._first[node] : self._end[node]]
        return self._weight_by_node[node] - int(below.sum())

    def raise_to(self, node: int) -> None:
        """Publish `node` in place of the cut's nodes under it."""
        start, end = self._first[node], self._end[node]
        self.node_of_leaf[start:end] = node
        self._loss_by_leaf[start:end] = self._weighted[start:end] * self._unit_by_node[node]
        self._cut_depth_of_leaf[start:end] = [self._depth[node]] * (end - start)

    def raises(self, nodes: Nodes) -> Iterator[Nodes]:
        """Yield the sets with one node raised to its parent; what the parent covers goes."""
        for node in nodes:
            above = self._parent[node]
            if above >= 0 and self._allowed[above]:
                start, end = self._first[above], self._end[above]
                others = [other for other in nodes if not start <= self._first[other] < end]
                yield tuple(sorted([*others, above]))

    def covers_all(self, upper: Nodes, lower: Nodes) -> bool:
        """Tell whether each node of `lower` is at or below a node of `upper`."""
        return all(any(self.hierarchy.covers(u, v) for u in upper) for v in lower)

    def labels_key(self, nodes: Iterable[int]) -> Nodes:
        """Return the places of the nodes' labels among all labels, ascending; it breaks ties."""
        return tuple(sorted(self._label_rank[node] for node in nodes))


def cheapest_repair(cut: WorkingCut, rare: Nodes, k: int, supports: Supports) -> Nodes | None:
    """Return the cheapest way of raising nodes of a rare set so that it is in k records.

    Each node may go to itself or any ancestor; nodes that meet or are covered merge. Only nodes that
    really rise are published: a node of `rare` above the cut that stays where it is forces nothing.
    Of the minimal ways (none of them above another that also serves) the one is taken after which the
    whole cut costs least, the first by labels where several cost the same. None where no way serves.

    Costs never fall and supports never shrink on the way up, so a best-first walk over single steps
    meets the cheapest ways first and need not go on above one that serves.
    """
    unmoved = frozenset(rare)
    start = tuple(sorted(rare))
    known: dict[Nodes, bool] = {start: False}
    queue: list[tuple[int, Nodes, Nodes]] = [(0, cut.labels_key(start), start)]
    serving: list[Nodes] = []
    least = math.inf
    while queue and queue[0][0] <= least:
        spent, _, nodes = heapq.heappop(queue)
        if known[nodes]:
            least = spent
            serving.append(nodes)
            continue
        fresh = [higher for higher in dict.fromkeys(cut.raises(nodes)) if higher not in known]
        if not fresh:
            continue
        for higher, support in zip(fresh, supports(fresh), strict=True):
            known[higher] = support >= k
            added = sum(cut.added_cost(node) for node in higher if node not in unmoved)
            heapq.heappush(queue, (added, cut.labels_key(higher), higher))
    minimal = [
        nodes
        for nodes in serving
        if not any(other != nodes and cut.covers_all(nodes, other) for other in serving)
    ]
    return min(minimal, key=cut.labels_key) if minimal else None


def publish_repair(cut: WorkingCut, rare: Nodes, repair: Nodes) -> Nodes:
    """Merge a repair into the cut and return the nodes that rose."""
    risen = tuple(node for node in repair if node not in rare)
    for node in risen:
        cut.raise_to(node)
    return risen


def falling_support_rank(hierarchy: Hierarchy, support_by_node: Counts) -> Ids:
    """Return the place of each node in the order of falling support, then label."""
    order = np.lexsort((hierarchy.label_rank, -support_by_node))
    rank = np.empty(len(hierarchy), dtype=np.int32)
    rank[order] = np.arange(len(hierarchy), dtype=np.int32)
    return rank


def set_keys(sets: Ids, n_nodes: int) -> NDArray[Any]:
    """Return one number a set, a line of `sets`, in the order of the lines.

    They are Python's own integers where 63 bits are too few.
    """
    width = sets.shape[1]
    dtype = np.int64 if n_nodes**width < 2**63 else np.object_
    keys: NDArray[Any] = np.zeros(len(sets), dtype=dtype)
    for column in range(width):
        keys = keys * n_nodes + sets[:, column].astype(dtype)
    return keys


def count_cuts(hierarchy: Hierarchy) -> int:
    """Return the exact number of cuts.

    A leaf has one; an inner node has itself or any combination of its children's cuts; the trees of a
    forest combine freely.

    >>> count_cuts(Hierarchy.from_parents({"a": "A", "b": "A", "c": "T", "A": "T", "T": None}))
    3
    """
    below = [1] * len(hierarchy)
    for node, above in enumerate(hierarchy.parent.tolist()):
        # Children come before parents, so `below` of an inner node is complete when it is read.
        if node >= hierarchy.n_leaves:
            below[node] += 1
        if above >= 0:
            below[above] *= below[node]
    return math.prod(below[root] for root in hierarchy.roots)


def next_cuts(hierarchy: Hierarchy, cut: frozenset[int]) -> Iterator[frozenset[int]]:
    """Yield the cuts with all children of one node replaced by it, in label order of that node."""
    parents = {int(hierarchy.parent[node]) for node in cut} - {-1}
    for above in sorted(parents, key=lambda node: hierarchy.labels[node]):
        children = hierarchy.children[above]
        if cut.issuperset(children):
            yield cut.difference(children) | {above}
