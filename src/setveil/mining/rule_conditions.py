"""The conditions that a rule may make: every node of every attribute that not everybody meets.

Numbered through all attributes, with what each leaf contributes to each condition, and which conditions
are more general than which. Nodes that too few tuples meet for any rule are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..hierarchy.tree import Hierarchy
from ..model.microdata import Microdata, QuasiAttribute
from .rule_membership import Belonging, fuzzy_belonging

Ids = NDArray[np.int32]
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Conditions:
    """Conditions by number; those of an attribute lie side by side, in the order of its nodes.

    `coverers` from ``coverer_start[c]`` on are the conditions at or above c that bind everybody whom c
    binds, c among them. The entries are those of `kernels.rule_counts.Coded`.
    """

    attribute: Ids
    label: tuple[str, ...]
    depth: Ids
    coverer_start: Counts
    coverers: Ids
    leaf_start: Counts
    entry_start: Counts
    condition_of_entry: Ids
    membership_of_entry: Counts

    def __len__(self) -> int:
        return len(self.label)

    def leaves_of(self, condition: int) -> Counts:
        """Return the leaves that meet a condition, be it in part, numbered through all attributes."""
        return (
            np.searchsorted(
                self.entry_start, np.flatnonzero(self.condition_of_entry == condition), side="right"
            ).astype(np.int64)
            - 1
        )


@dataclass(frozen=True, eq=False)
class _Part:
    """The conditions of one attribute: nodes, their labels, and (leaf, place, membership) entries."""

    nodes: list[int]
    labels: list[str]
    leaf: NDArray[np.int64]
    place: NDArray[np.int64]
    membership: Counts
    coverers: list[list[int]]


def conditions_of(
    data: Microdata, least: Sequence[int], *, fuzzy: Sequence[bool], full: int = 1
) -> Conditions:
    """Return the conditions whose support is at least `least` of their attribute.

    Parameters
    ----------
    data
        The tuples.
    least
        By attribute, the smallest support that any rule needs, in the unit of its memberships.
    fuzzy
        By attribute, whether its categories are fuzzy sets of numbers.
    full
        The membership of whoever meets a crisp condition.
    """
    parts = [
        _fuzzy_part(attribute, least[place]) if fuzzy[place] else _part(attribute, least[place], full)
        for place, attribute in enumerate(data.quasi)
    ]
    sizes = [len(part.nodes) for part in parts]
    start = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    n_leaves = [attribute.hierarchy.n_leaves for attribute in data.quasi]
    leaf_start = np.concatenate(([0], np.cumsum(n_leaves))).astype(np.int64)
    leaf = np.concatenate([part.leaf + leaf_start[a] for a, part in enumerate(parts)])
    condition = np.concatenate([part.place + start[a] for a, part in enumerate(parts)])
    membership = np.concatenate([part.membership for part in parts])
    order = np.lexsort((condition, leaf))
    entry_start = np.zeros(int(leaf_start[-1]) + 1, dtype=np.int64)
    np.cumsum(np.bincount(leaf, minlength=int(leaf_start[-1])), out=entry_start[1:])
    covering = [
        [int(start[a]) + c for c in each] for a, part in enumerate(parts) for each in part.coverers
    ]
    coverer_start = np.zeros(len(covering) + 1, dtype=np.int64)
    np.cumsum([len(each) for each in covering], out=coverer_start[1:])
    return Conditions(
        np.repeat(np.arange(len(parts)), sizes).astype(np.int32),
        tuple(label for part in parts for label in part.labels),
        np.array(
            [
                data.quasi[a].hierarchy.depth[node]
                for a, part in enumerate(parts)
                for node in part.nodes
            ],
            dtype=np.int32,
        ),
        coverer_start,
        np.array([c for each in covering for c in each], dtype=np.int32),
        leaf_start[:-1],
        entry_start,
        condition[order].astype(np.int32),
        membership[order],
    )


def _part(attribute: QuasiAttribute, least: int, full: int) -> _Part:
    tree = attribute.hierarchy
    count_by_leaf = np.bincount(attribute.leaf_by_tuple, minlength=tree.n_leaves)
    upto = np.concatenate(([0], np.cumsum(count_by_leaf)))
    support = (upto[tree.end_leaf] - upto[tree.first_leaf]) * full
    nodes = [node for node in _narrow(tree) if support[node] >= least]
    place_of_node = {node: place for place, node in enumerate(nodes)}
    leaves = [np.arange(tree.first_leaf[node], tree.end_leaf[node]) for node in nodes]
    lengths = [len(each) for each in leaves]
    return _Part(
        nodes,
        [tree.labels[node] for node in nodes],
        np.concatenate([np.empty(0, np.int64), *leaves]).astype(np.int64),
        np.repeat(np.arange(len(nodes)), lengths).astype(np.int64),
        np.full(sum(lengths), full, dtype=np.int64),
        [
            [place_of_node[above] for above in (node, *tree.ancestors(node)) if above in place_of_node]
            for node in nodes
        ],
    )


def _fuzzy_part(attribute: QuasiAttribute, least: int) -> _Part:
    tree = attribute.hierarchy
    count_by_leaf = np.bincount(attribute.leaf_by_tuple, minlength=tree.n_leaves)
    belonging = fuzzy_belonging(attribute)
    nodes = [
        node
        for node in _narrow(tree)
        if int((count_by_leaf[belonging[node].leaves] * belonging[node].hundredths).sum()) >= least
        and len(belonging[node].bound) < tree.n_leaves
    ]
    place_of_node = {node: place for place, node in enumerate(nodes)}
    bound = {node: frozenset(belonging[node].bound.tolist()) for node in nodes}
    return _Part(
        nodes,
        [belonging[node].label for node in nodes],
        _joined([belonging[node] for node in nodes], "leaves"),
        np.repeat(np.arange(len(nodes)), [len(belonging[node].leaves) for node in nodes]).astype(
            np.int64
        ),
        _joined([belonging[node] for node in nodes], "hundredths"),
        [
            [
                place_of_node[above]
                for above in (node, *tree.ancestors(node))
                if above in place_of_node and bound[above] >= bound[node]
            ]
            for node in nodes
        ],
    )


def _joined(each: list[Belonging], name: str) -> Counts:
    return np.concatenate([np.empty(0, np.int64), *(getattr(one, name) for one in each)]).astype(
        np.int64
    )


def _narrow(tree: Hierarchy) -> list[int]:
    """Return the nodes that do not stand for everybody."""
    return np.flatnonzero(tree.leaf_count < tree.n_leaves).tolist()
