"""Cuts by count-trees (Terrovitis et al. 2008, Algorithms 1 and 3): supports of node sets in records.

Each record is expanded with all nodes above its items and reduced to those in force; every set of its
nodes of the wanted sizes, no node above another, is a path of the tree. Nodes are ordered by falling
support, then label. The tree is kept as an array: the paths as ranks in that order, padded with -1
and sorted, so that the array's order is the tree's preorder and the tree's nodes are the distinct
prefixes. Records that expand alike are counted together.

`cut_by_trees` builds a tree and walks it in preorder, which meets the rare sets and repairs each
(`walk`): DA once, with the sets of all sizes, and AA once a size.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..distinct import first_places, number_distinct
from ..engines.base import Engine
from ..errors import InternalError
from ..hierarchy.tree import Counts, Hierarchy, Ids
from ..model.costs import Cost
from ..model.transactions import Rows
from ..progress import Watch
from .cuts import (
    Nodes,
    Supports,
    WorkingCut,
    cheapest_repair,
    falling_support_rank,
    node_supports,
    publish_repair,
    set_keys,
)

_BUFFERED = 1 << 22
"""Paths gathered before equal ones are counted together."""
_MOST_CELLS = 1 << 26
"""Cells of the table of (set, next node) pairs that is looked at in one go."""


@dataclass(frozen=True)
class Visit:
    """One leaf of a tree as the walk met it.

    `verdict` is "fine", "rare" (repaired at once; `risen` are the nodes then published) or "skipped"
    (a node of it is out of force, so the walk turned back before it).
    """

    nodes: Nodes
    support: int
    verdict: str
    risen: Nodes = ()


Listener = Callable[[Visit], None]


def cut_by_trees(
    engine: Engine,
    k: int,
    loops: Iterable[range],
    *,
    cost: Cost,
    watch: Watch,
    listener: Listener | None = None,
) -> tuple[WorkingCut, dict[str, int | float | str]]:
    """Return the cut that trees of these sizes of sets lead to, one after the other, and figures.

    The first sizes are 1 and on, and the loops leave none out: what is smaller was made safe before.
    """
    hierarchy, rows = engine.hierarchy, engine.rows()
    support_by_node = node_supports(engine)
    rank_of_node = falling_support_rank(hierarchy, support_by_node)
    cut = WorkingCut(hierarchy, cost, engine.item_counts())
    most_nodes, repairs = 0, 0
    for sizes in loops:
        in_force = cut.in_force_by_node()
        tree = build_count_tree(hierarchy, rows, rank_of_node, in_force, sizes, watch)
        most_nodes = max(most_nodes, tree.n_nodes)
        supports = _supports_of(tree, sizes, k, support_by_node)
        repairs += walk(tree, cut, k, supports, watch, listener=listener)
    return cut, {"count_tree_nodes": most_nodes, "repairs": repairs}


def _supports_of(tree: CountTree, sizes: range, k: int, support_by_node: Counts) -> Supports:
    """Return the answers of a tree that holds the sets of some sizes."""

    def supports(sets: Sequence[Nodes]) -> list[int]:
        # Nodes that met leave a smaller set, and those were made safe in earlier loops. A single
        # node may be the root that the tree leaves out.
        return [
            int(support_by_node[nodes[0]])
            if len(nodes) == 1
            else tree.support(nodes)
            if len(nodes) in sizes
            else k
            for nodes in sets
        ]

    return supports


def walk(
    tree: CountTree,
    cut: WorkingCut,
    k: int,
    supports: Supports,
    watch: Watch,
    *,
    listener: Listener | None = None,
) -> int:
    """Repair every rare leaf of the tree, in preorder, and return how many were repaired.

    Leaves at any depth count, so that short records are covered too. Frequent leaves change nothing, so
    they are passed over unless a `listener` wants to see them all. One pass is enough: supports do not
    change, a repaired set is out of force, and what is in force at the end was in force, and looked at,
    all along.
    """
    wanted = tree.is_leaf_by_path
    if listener is None:
        wanted &= tree.support_by_path < k
    repaired = 0
    paths = np.flatnonzero(wanted)
    for done, path in enumerate(paths.tolist()):
        nodes, support = tree.nodes(path), int(tree.support_by_path[path])
        visit = Visit(nodes, support, "fine")
        if not all(cut.in_force(node) for node in nodes):
            visit = Visit(nodes, support, "skipped")
        elif support < k:
            watch.tick("repairing", done / len(paths))
            watch.check_deadline()
            repair = cheapest_repair(cut, nodes, k, supports)
            if repair is None:
                raise InternalError("a rare set has no repair although the roots are safe.")
            visit = Visit(nodes, support, "rare", publish_repair(cut, nodes, repair))
            repaired += 1
        if listener is not None:
            listener(visit)
    return repaired


def counted_nodes(hierarchy: Hierarchy) -> NDArray[np.bool_]:
    """Return which nodes the tree holds: all but the root of a single tree.

    That root is in every record and combines with no other node, as the paper says of ALL.
    """
    counted = np.ones(len(hierarchy), dtype=np.bool_)
    if len(hierarchy.roots) == 1 and hierarchy.roots[0] >= hierarchy.n_leaves:
        counted[hierarchy.roots[0]] = False
    return counted


@dataclass(frozen=True, eq=False)
class CountTree:
    """Paths in preorder with their supports.

    `path_ranks` has one line a path: the ranks of its nodes, ascending, padded with -1.
    """

    path_ranks: Ids
    support_by_path: Counts
    node_of_rank: Ids
    rank_of_node: Ids
    _keys: NDArray[Any]

    def __len__(self) -> int:
        return len(self.path_ranks)

    @property
    def n_nodes(self) -> int:
        """How many nodes the tree has, without its empty root: the distinct prefixes of its paths."""
        total = 0
        fresh = np.zeros(max(len(self) - 1, 0), dtype=np.bool_)
        for column in range(self.path_ranks.shape[1]):
            ranks = self.path_ranks[:, column]
            fresh |= ranks[1:] != ranks[:-1]
            total += int((fresh & (ranks[1:] >= 0)).sum()) + int(len(ranks) > 0 and ranks[0] >= 0)
        return total

    @property
    def is_leaf_by_path(self) -> NDArray[np.bool_]:
        """Whether each path ends in a leaf of the tree: the next path does not go on from it."""
        leaf = np.ones(len(self), dtype=np.bool_)
        here, after = self.path_ranks[:-1], self.path_ranks[1:]
        leaf[:-1] = ((here != after) & (here >= 0)).any(axis=1)
        return leaf

    def nodes(self, path: int) -> Nodes:
        """Return the nodes of a path, in the tree's order."""
        ranks = self.path_ranks[path]
        return tuple(self.node_of_rank[ranks[ranks >= 0]].tolist())

    def support(self, nodes: Iterable[int]) -> int:
        """Return the support of a set of nodes of a size that the tree holds; 0 where not found."""
        ranks = sorted(int(self.rank_of_node[node]) for node in nodes)
        width = self.path_ranks.shape[1]
        if not len(self) or len(ranks) > width:
            return 0
        line = np.full((1, width), -1, dtype=np.int32)
        line[0, : len(ranks)] = ranks
        key = _path_keys(line, len(self.node_of_rank))
        place = int(np.searchsorted(self._keys, key)[0])
        found = place < len(self) and self._keys[place] == key[0]
        return int(self.support_by_path[place]) if found else 0


def build_count_tree(
    hierarchy: Hierarchy,
    rows: Rows,
    rank_of_node: Ids,
    in_force_by_node: NDArray[np.bool_],
    sizes: range,
    watch: Watch,
) -> CountTree:
    """Return the tree of all sets of nodes in force, of the given sizes (Algorithm 1).

    Other nodes are removed from the expanded records (Algorithm 4, line 5).
    """
    node_of_rank = np.argsort(rank_of_node).astype(np.int32)
    used = in_force_by_node & counted_nodes(hierarchy)
    weight_of_row = _expanded_rows(hierarchy, rows, rank_of_node, used)
    width = max(sizes, default=0)
    starts = hierarchy.first_leaf[node_of_rank]
    ends = hierarchy.end_leaf[node_of_rank]
    kept_paths = np.empty((0, width), dtype=np.int32)
    kept_support = np.empty(0, dtype=np.int64)
    gathered: list[Ids] = []
    weights: list[Counts] = []
    waiting = 0
    for done, (row, weight) in enumerate(weight_of_row.items()):
        for paths in _antichains(np.array(row, dtype=np.int32), starts, ends, sizes):
            gathered.append(paths)
            weights.append(np.full(len(paths), weight, dtype=np.int64))
            waiting += len(paths)
            if waiting >= _BUFFERED:
                watch.tick("count-tree", done / len(weight_of_row))
                watch.check_deadline()
                kept_paths, kept_support = _merged(
                    [kept_paths, *gathered], [kept_support, *weights], len(hierarchy)
                )
                gathered, weights, waiting = [], [], 0
    kept_paths, kept_support = _merged(
        [kept_paths, *gathered], [kept_support, *weights], len(hierarchy)
    )
    keys = _path_keys(kept_paths, len(hierarchy))
    return CountTree(kept_paths, kept_support, node_of_rank, rank_of_node, keys)


def most_paths(hierarchy: Hierarchy, rows: Rows, m: int) -> int:
    """Return a number that the paths of the full tree cannot exceed, without building it.

    A set of s nodes of a record is s of its expanded nodes, and also s of its items each raised to one
    of at most `height + 1` nodes; summed over records, and never more than all sets of nodes there are.
    """
    counted = counted_nodes(hierarchy)
    steps = hierarchy.depth + 1 - int(not counted.all())
    record = np.repeat(np.arange(len(rows), dtype=np.int64), np.diff(rows.indptr))
    lengths = np.diff(rows.indptr)
    deepest = np.zeros(len(rows), dtype=np.int64)
    np.maximum.at(deepest, record, steps[rows.leaves])
    expanded = np.bincount(record, weights=steps[rows.leaves], minlength=len(rows)).astype(np.int64)
    shapes = Counter(zip(lengths.tolist(), deepest.tolist(), expanded.tolist(), strict=True))
    n_nodes = int(counted.sum())
    total = 0
    for size in range(1, min(m, int(lengths.max(initial=0))) + 1):
        in_records = sum(
            times * min(math.comb(length, size) * depth**size, math.comb(nodes, size))
            for (length, depth, nodes), times in shapes.items()
        )
        total += min(in_records, math.comb(n_nodes, size))
    return total


def _expanded_rows(
    hierarchy: Hierarchy, rows: Rows, rank_of_node: Ids, used: NDArray[np.bool_]
) -> dict[Nodes, int]:
    """Return the expanded and reduced records as ascending ranks, and how often each is there."""
    way_up: list[list[int]] = []
    for leaf in range(hierarchy.n_leaves):
        nodes = [leaf, *hierarchy.ancestors(leaf)]
        way_up.append([int(rank_of_node[node]) for node in nodes if used[node]])
    bounds, leaves = rows.indptr.tolist(), rows.leaves.tolist()
    weight_of_row: Counter[Nodes] = Counter()
    for record in range(len(rows)):
        ranks: set[int] = set()
        for leaf in leaves[bounds[record] : bounds[record + 1]]:
            ranks.update(way_up[leaf])
        weight_of_row[tuple(sorted(ranks))] += 1
    return weight_of_row


def _antichains(row: Ids, starts: Ids, ends: Ids, sizes: range) -> Iterator[Ids]:
    """Yield the sets of a row's ranks of which no node covers another, as padded lines.

    Intervals of leaves are nested or apart, so nodes are unrelated exactly where theirs are apart.
    """
    width = max(sizes, default=0)
    start, end = starts[row], ends[row]
    apart = (start[:, None] >= end[None, :]) | (end[:, None] <= start[None, :])
    later = np.triu(apart, 1)
    batches: list[Ids] = [np.arange(len(row), dtype=np.int32)[:, None]]
    for size in range(1, width + 1):
        if size in sizes:
            for places in batches:
                lines = np.full((len(places), width), -1, dtype=np.int32)
                lines[:, :size] = row[places]
                yield lines
        if size < width:
            batches = [
                longer
                for places in batches
                for longer in _one_longer(places, later, max(1, _MOST_CELLS // max(len(row), 1)))
            ]


def _one_longer(places: Ids, later: NDArray[np.bool_], at_once: int) -> Iterator[Ids]:
    for start in range(0, len(places), at_once):
        part = places[start : start + at_once]
        fits = later[part[:, 0]]
        for column in range(1, part.shape[1]):
            # Strictly later than every node so far, so each set comes once, in the tree's order.
            fits = fits & later[part[:, column]]
        which, added = np.nonzero(fits)
        if len(which):
            yield np.column_stack((part[which], added.astype(np.int32)))


def _path_keys(paths: Ids, n_nodes: int) -> NDArray[Any]:
    """Return one number a path, in the order of the paths; shorter before what goes on from it."""
    return set_keys(paths + 1, n_nodes + 1)


def _merged(paths: list[Ids], support: list[Counts], n_nodes: int) -> tuple[Ids, Counts]:
    """Return the distinct paths in order with their summed supports."""
    every, weight = np.concatenate(paths), np.concatenate(support)
    keys = _path_keys(every, n_nodes)
    values, group = number_distinct(keys)
    first = first_places(group, len(values))
    total = np.zeros(len(first), dtype=np.int64)
    np.add.at(total, group, weight)
    return every[first], total
