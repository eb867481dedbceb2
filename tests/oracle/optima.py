"""The least cost there is, by trying every cut or every antichain."""

from __future__ import annotations

from setveil.hierarchy.tree import Hierarchy
from setveil.model.costs import Cost
from setveil.model.guarantees import KmAnonymity
from setveil.release.recoding import Recoding

from .worlds import World, all_antichains, all_cuts, generalize, is_km

Published = dict[str, str]
"""The published label of each original one; suppressed labels are missing."""


def as_published(recoding: Recoding) -> Published:
    """Return what a recoding publishes."""
    labels = recoding.hierarchy.labels
    nodes = recoding.node_of_leaf().tolist()
    return {labels[leaf]: labels[node] for leaf, node in enumerate(nodes) if node >= 0}


def cost_of(published: Published, tree: Hierarchy, cost: Cost, world: World) -> int:
    """Return the cost, occurrence by occurrence."""
    node = tree.node_of_label
    return sum(
        int(cost.importance_by_leaf[node[label]])
        * (int(cost.unit_by_node[node[published[label]]]) if label in published else cost.scale)
        for row in world.rows
        for label in set(row)
    )


def is_valid(published: Published, world: World, promise: KmAnonymity) -> bool:
    """Tell whether what is published keeps the promise."""
    rows = generalize(world.rows, published)
    return is_km(rows, promise.k, promise.m, negative=promise.negative)


def least_cost(
    world: World, tree: Hierarchy, cost: Cost, promise: KmAnonymity, *, suppressing: bool
) -> int | None:
    """Return the least cost of all that keeps the promise; None where nothing does."""
    every = all_antichains(tree) if suppressing else all_cuts(tree)
    costs = [cost_of(one, tree, cost, world) for one in every if is_valid(one, world, promise)]
    return min(costs, default=None)
