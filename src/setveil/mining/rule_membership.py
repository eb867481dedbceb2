"""How far a number belongs to a category of numbers: wholly, in part, or not at all.

Li & Li (section IV-B) take the categories of a numeric attribute as fuzzy sets, so that values close
by support a rule in part, but give no shape. Here it is a trapezoid: 1 from the smallest to the
largest value of the category, falling to 0 at the middle of the neighbouring category of its level.
Between single numbers, the paper's own case (the ages beside 21), there is no middle: it falls to 0 at
the number after the neighbour, and as far beyond it where there is none. So 20 and 22 belong to 21 by
one half, and a neighbour that is far away by less. A category that is no interval of the numbers that
occur stays crisp. Membership is counted in whole hundredths, rounded down, so that sums are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..hierarchy.intervals import parse_number
from ..hierarchy.tree import Hierarchy
from ..model.microdata import QuasiAttribute

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
        whole = np.full(len(below), HUNDREDTHS, dtype=np.int64)
        return Belonging(below, whole, tree.labels[node])
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
