"""The conditions that a rule may make: every node of every attribute that not everybody meets.

Numbered through all attributes, with what each leaf contributes to each condition, and which conditions
are more general than which. Nodes that too few tuples meet for any rule are left out.

A number belongs to a category of numbers wholly, in part, or not at all (`fuzzy_belonging`). Li & Li
(section IV-B) take the categories of a numeric attribute as fuzzy sets, so that values close by support
a rule in part, but give no shape. Here it is a trapezoid: 1 from the smallest to the largest value of
the category, falling to 0 at the middle of the neighbouring category of its level. Between single
numbers, the paper's own case (the ages beside 21), there is no middle: it falls to 0 at the number
after the neighbour, and as far beyond it where there is none. So 20 and 22 belong to 21 by one half,
and a neighbour that is far away by less. A category that is no interval of the numbers that occur stays
crisp. Membership is counted in whole hundredths, rounded down, so that sums are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..hierarchy.intervals import parse_number
from ..hierarchy.tree import Hierarchy
from ..model.microdata import Microdata, QuasiAttribute

Ids = NDArray[np.int32]
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Conditions:
    """Conditions by number; those of an attribute lie side by side, in the order of its nodes.

    `coverers` from ``coverer_start[c]`` on are the conditions at or above c that bind everybody whom c
    binds, c among them. The entries are those of `kernels.rules.Coded`.
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
    """Return the conditions whose support, in parts of a tuple, is `least` of their attribute.

    `fuzzy` tells of each attribute whether its categories are fuzzy sets of numbers; `full` is the
    membership of whoever meets a crisp condition.
    """
    parts = [
        _part(attribute, least[place], full, is_fuzzy=fuzzy[place])
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


def _part(attribute: QuasiAttribute, least: int, full: int, *, is_fuzzy: bool) -> _Part:
    tree = attribute.hierarchy
    count_by_leaf = np.bincount(attribute.leaf_by_tuple, minlength=tree.n_leaves)
    full = HUNDREDTHS if is_fuzzy else full
    belonging = (
        fuzzy_belonging(attribute) if is_fuzzy else [_whole(tree, n, full) for n in range(len(tree))]
    )
    # Who belongs to a condition by at least one half is bound.
    bound = [frozenset(one.leaves[2 * one.hundredths >= full].tolist()) for one in belonging]
    nodes = [
        node
        for node in np.flatnonzero(tree.leaf_count < tree.n_leaves).tolist()  # not for everybody
        if int((count_by_leaf[belonging[node].leaves] * belonging[node].hundredths).sum()) >= least
        and len(bound[node]) < tree.n_leaves
    ]
    place_of_node = {node: place for place, node in enumerate(nodes)}
    chosen = [belonging[node] for node in nodes]
    return _Part(
        nodes,
        [one.label for one in chosen],
        _joined(chosen, "leaves"),
        np.repeat(np.arange(len(nodes)), [len(one.leaves) for one in chosen]).astype(np.int64),
        _joined(chosen, "hundredths"),
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


HUNDREDTHS = 100
HALF = 50
MEMBERSHIPS = ("product", "minimum")
"""How the memberships of several conditions are joined."""


@dataclass(frozen=True, eq=False)
class Belonging:
    """The leaves that belong to a node, with their hundredths; `label` says who is bound by a rule.

    Bound are the leaves that belong to the node by at least one half. `label` is the node's own, or an
    interval where more leaves are bound than lie under the node.
    """

    leaves: NDArray[np.int32]
    hundredths: NDArray[np.int64]
    label: str

    @property
    def bound(self) -> NDArray[np.int32]:
        """The leaves that a rule about the node binds."""
        return self.leaves[self.hundredths >= HALF]


def _whole(tree: Hierarchy, node: int, full: int) -> Belonging:
    """Return how leaves belong to a node wholly, or not at all."""
    below = np.arange(tree.first_leaf[node], tree.end_leaf[node], dtype=np.int32)
    return Belonging(below, np.full(len(below), full, dtype=np.int64), tree.labels[node])


def fuzzy_belonging(attribute: QuasiAttribute) -> list[Belonging]:
    """Return how the leaves of a numeric attribute belong to each of its nodes."""
    tree = attribute.hierarchy
    numbers = [_number(label) for label in tree.labels[: tree.n_leaves]]
    by_number = sorted(range(tree.n_leaves), key=lambda leaf: (numbers[leaf], leaf))
    rank = np.empty(tree.n_leaves, dtype=np.int64)
    rank[by_number] = np.arange(tree.n_leaves)
    ends = [
        (int(rank[tree.first_leaf[node] : tree.end_leaf[node]].min()),
         int(rank[tree.first_leaf[node] : tree.end_leaf[node]].max()))
        for node in range(len(tree))
    ]  # fmt: skip
    return [_belonging(tree, node, ends, by_number, numbers) for node in range(len(tree))]


def _belonging(
    tree: Hierarchy,
    node: int,
    ends: list[tuple[int, int]],
    by_number: list[int],
    numbers: list[Decimal],
) -> Belonging:
    below = np.arange(tree.first_leaf[node], tree.end_leaf[node], dtype=np.int32)
    first, last = ends[node]
    if last - first + 1 != len(below):
        return _whole(tree, node, HUNDREDTHS)
    parts = {by_number[place]: HUNDREDTHS for place in range(first, last + 1)}
    for edge, step in ((first, -1), (last, 1)):
        beside = edge + step
        if not 0 <= beside < len(by_number):
            continue
        low, high = ends[_at_level(tree, by_number[beside], int(tree.depth[node]))]
        middle = Fraction(numbers[by_number[low]] + numbers[by_number[high]]) / 2
        inner = Fraction(numbers[by_number[edge]])
        if first == last and low == high:
            after = beside + step
            middle += (
                Fraction(numbers[by_number[after]]) - middle
                if 0 <= after < len(by_number)
                else middle - inner
            )
        reach = (middle - inner) * step
        while reach > 0 and 0 <= beside < len(by_number):
            away = (Fraction(numbers[by_number[beside]]) - inner) * step
            hundredths = int(HUNDREDTHS * (1 - away / reach))
            if hundredths <= 0:
                break
            parts[by_number[beside]] = hundredths
            beside += step
    leaves = np.array(sorted(parts), dtype=np.int32)
    hundredths_by_leaf = np.array([parts[leaf] for leaf in leaves.tolist()], dtype=np.int64)
    bound = leaves[hundredths_by_leaf >= HALF]
    label = tree.labels[node]
    if len(bound) != len(below):
        label = _interval(tree, sorted(bound.tolist(), key=lambda leaf: (numbers[leaf], leaf)))
    return Belonging(leaves, hundredths_by_leaf, label)


def _at_level(tree: Hierarchy, leaf: int, depth: int) -> int:
    """Return the node above a leaf at a depth, or the leaf itself where it is not as deep."""
    node = leaf
    while tree.depth[node] > depth:
        node = int(tree.parent[node])
    return node


def _interval(tree: Hierarchy, bound: list[int]) -> str:
    """Return an interval of numbers that holds these leaves, spelled as no label of the tree is."""
    blank = " "
    while True:
        label = f"[{tree.labels[bound[0]]},{blank}{tree.labels[bound[-1]]}]"
        if label not in tree.node_of_label:
            return label
        blank += " "


def _number(label: str) -> Decimal:
    number = parse_number(label)
    assert number is not None
    return number
