"""What every valid choice must obey, as clauses over "the leaves here are published at p or above".

Let z_p = 1 for an inner node p when that is so, and z_a = 1 for a leaf that is published at all. A
clause is a disjunction: some z of `plus` is 1, or some z of `minus` is 0. A rare set of nodes gives the
clause of its parents: a valid cut generalizes at least one of them strictly (docs/methods/optimal.md
has the proof). A root has no parent, so a rare set of roots gives the empty clause, which nothing
satisfies.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..hierarchy.tree import Hierarchy

NodeSets = NDArray[np.int32]


@dataclass(frozen=True, order=True)
class Clause:
    """Some node of `plus` is generalized, or some node of `minus` is not."""

    plus: tuple[int, ...]
    minus: tuple[int, ...] = ()


def lowest(hierarchy: Hierarchy, nodes: Iterable[int]) -> tuple[int, ...]:
    """Return the nodes without those above another: z of an ancestor implies z of the lower node."""
    distinct = sorted(set(nodes))
    return tuple(
        node
        for node in distinct
        if not any(other != node and hierarchy.covers(node, other) for other in distinct)
    )


def lowest_parents(hierarchy: Hierarchy, sets: NodeSets) -> NodeSets:
    """Return, line by line, what `lowest` leaves of the parents of a set's nodes, padded with -1."""
    plus = np.where(sets >= 0, hierarchy.parent[sets], -1).astype(np.int32)
    first, end = hierarchy.first_leaf, hierarchy.end_leaf
    for one in range(plus.shape[1]):
        for other in range(plus.shape[1]):
            if one == other:
                continue
            upper, lower = plus[:, one], plus[:, other]
            covered = (first[upper] <= first[lower]) & (end[lower] <= end[upper])
            # Ids rise along the way up, so they tell the ends of a unary chain apart.
            above = covered & ((upper > lower) | ((upper == lower) & (one > other)))
            plus[(upper >= 0) & (lower >= 0) & above, one] = -1
    return -np.sort(-plus, axis=1)


def clauses_of_witnesses(
    hierarchy: Hierarchy, lifted: NodeSets, held: NodeSets
) -> tuple[NodeSets, NodeSets]:
    """Return lines of `plus` and `minus` for rare sets, each with the leaves that hold it.

    For each node of a lifted set one of the leaves under it: that leaf is suppressed, or published
    above the node.
    """
    minus = np.full(lifted.shape, -1, dtype=np.int32)
    first, end = hierarchy.first_leaf, hierarchy.end_leaf
    for place in range(lifted.shape[1]):
        node = lifted[:, place]
        for column in range(held.shape[1]):
            leaf = held[:, column]
            fits = (node >= 0) & (leaf >= 0) & (minus[:, place] < 0)
            fits &= (first[node] <= leaf) & (leaf < end[node])
            minus[fits, place] = leaf[fits]
    return lowest_parents(hierarchy, lifted), minus


def as_clauses(plus: NodeSets, minus: NodeSets | None = None) -> list[Clause]:
    """Return lines of `plus`, and of `minus`, as clauses."""
    positive = [tuple(sorted(node for node in line if node >= 0)) for line in plus.tolist()]
    if minus is None:
        return [Clause(nodes) for nodes in positive]
    negative = [tuple(sorted(node for node in line if node >= 0)) for line in minus.tolist()]
    return [Clause(*pair) for pair in zip(positive, negative, strict=True)]


def clause_of_signed(
    hierarchy: Hierarchy, present: Sequence[int], absent: Sequence[int], tops: Sequence[int]
) -> Clause:
    """Return the clause of a rare pattern with absent nodes.

    `tops` holds, for each absent node, the highest ancestor that the witness lacks. A cut keeps the
    pattern only if it is at or below every present node and between each absent node and its top.
    """
    parents = [int(hierarchy.parent[node]) for node in (*present, *tops)]
    minus = tuple(sorted({node for node in absent if node >= hierarchy.n_leaves}))
    return Clause(lowest(hierarchy, (parent for parent in parents if parent >= 0)), minus)


def clause_of_exact(hierarchy: Hierarchy, nodes: Sequence[int]) -> Clause:
    """Return the clause that forbids publishing exactly these nodes together."""
    present = [int(node) for node in nodes if node >= 0]
    parents = [int(hierarchy.parent[node]) for node in present]
    minus = tuple(sorted({node for node in present if node >= hierarchy.n_leaves}))
    return Clause(lowest(hierarchy, (parent for parent in parents if parent >= 0)), minus)
