"""What a published label costs: NCP, LM and costs weighted by the user, in integers.

Publishing an occurrence of a leaf as node u costs ``importance[leaf] * unit[u] / scale``: nothing at
the leaf, 1 at the root of its tree (and 1 if suppressed). With |u| leaves of the domain under u and
|I| in its tree:

- NCP (Terrovitis et al.): unit = |u| / |I|, and 0 where |u| = 1;
- LM (Liu and Wang): unit = (|u| - 1) / (|I| - 1).

With weights the cost has a name of its own, "weighted ncp" or "weighted lm", for it is another loss.
The loss of a release is the mean over all original occurrences. The domain is the leaves that occur in
the data, for the hierarchy is restricted to them, or all that it had before (`Hierarchy.domain`).
Everything is an integer until the last division; proofs compare integers.

`ValueDistance` is how far a value is from a more general one: VD and TD of M. W.-K. Cheng, *Hiding
emerging pattern with local recoding generalization*, definitions 6.1 to 6.3. A step up to a node costs
its level times the leaves under it, over the height of its tree; leaves of a balanced tree are at level
0, the root at level h. The paper prints the sum from i = p; what it works out (Example 6.2) begins at
p + 1, with the first step, and so does this.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from ..errors import ResourceLimit, UsageError
from ..hierarchy.tree import Hierarchy

Integers = NDArray[np.int64]

COST_NAMES = ("ncp", "lm")
WEIGHTED = "weighted "
LARGEST_SUM = 2**62
"""Sums of costs stay below this, well inside int64."""


@dataclass(frozen=True, eq=False)
class Cost:
    """An additive cost on one hierarchy: see the module's text."""

    name: str
    unit_by_node: Integers
    importance_by_leaf: Integers
    scale: int

    def weighted_counts(self, count_by_leaf: Integers) -> Integers:
        return count_by_leaf * self.importance_by_leaf

    def check_size(self, count_by_leaf: Integers) -> None:
        """Raise `ResourceLimit` where sums of costs would leave the range of exact integers."""
        largest = self.scale * sum(
            count * importance
            for count, importance in zip(
                count_by_leaf.tolist(), self.importance_by_leaf.tolist(), strict=True
            )
        )
        if largest >= LARGEST_SUM:
            raise ResourceLimit(
                "the costs of these data with these weights are too large to be added exactly.",
                "Use coarser weights, or columns with fewer values.",
                code="costs-too-large",
            )

    def whole_by_node(self, hierarchy: Hierarchy, count_by_leaf: Integers) -> Integers:
        """Return the integer cost of losing all leaves under each node."""
        return self._under(hierarchy, count_by_leaf) * self.scale

    def weight_by_node(self, hierarchy: Hierarchy, count_by_leaf: Integers) -> Integers:
        """Return the integer cost of publishing all leaves under each node as that node."""
        return self._under(hierarchy, count_by_leaf) * self.unit_by_node

    def _under(self, hierarchy: Hierarchy, count_by_leaf: Integers) -> Integers:
        running = np.zeros(hierarchy.n_leaves + 1, dtype=np.int64)
        np.cumsum(self.weighted_counts(count_by_leaf), out=running[1:])
        return running[hierarchy.end_leaf] - running[hierarchy.first_leaf]

    def whole(self, count_by_leaf: Integers) -> int:
        """Return the integer cost of losing everything."""
        return self.scale * int(self.weighted_counts(count_by_leaf).sum())

    def share(self, cost: int, count_by_leaf: Integers) -> Fraction:
        whole = self.whole(count_by_leaf)
        return Fraction(cost, whole) if whole else Fraction(0)


def make_cost(
    name: str, hierarchy: Hierarchy, *, weights: Mapping[str, Fraction | int] | None = None
) -> Cost:
    """Return the cost `name` on `hierarchy`, optionally with a weight >= 0 for some items.

    >>> toy = Hierarchy.from_parents({"a": "A", "b": "A", "c": "T", "A": "T", "T": None})
    >>> make_cost("ncp", toy).unit_by_node.tolist(), make_cost("ncp", toy).scale
    ([0, 0, 0, 2, 3], 3)
    """
    if name not in COST_NAMES:
        raise UsageError(f"unknown cost {name[:40]!r}.", f"Known: {', '.join(COST_NAMES)}.")
    own = hierarchy.domain_count
    tree = own[hierarchy.root]
    if name == "lm":
        own, tree = own - 1, np.maximum(tree - 1, 1)
    # Trees of different sizes get one denominator, so that integers stay comparable.
    scale = math.lcm(*(int(size) for size in np.unique(tree))) if len(tree) else 1
    if scale >= LARGEST_SUM // (int(own.max(initial=0)) + 1):
        raise ResourceLimit(
            "the columns' numbers of values have no common denominator of a usable size.",
            "Keep fewer columns.",
            code="costs-too-large",
        )
    unit = own * np.array([scale // int(size) for size in tree], dtype=np.int64)
    unit[hierarchy.domain_count == 1] = 0
    if weights:
        return Cost(f"{WEIGHTED}{name}", unit, _importance(hierarchy, weights), scale)
    return Cost(name, unit, np.ones(hierarchy.n_leaves, dtype=np.int64), scale)


def cost_title(name: str) -> str:
    """Return the name of a cost as people read it.

    >>> cost_title("ncp"), cost_title("weighted lm")
    ('NCP', 'weighted LM')
    """
    plain = name.removeprefix(WEIGHTED)
    return f"{name.removesuffix(plain)}{plain.upper()}"


def _importance(hierarchy: Hierarchy, weights: Mapping[str, Fraction | int]) -> Integers:
    """Return the weights as integers with one denominator; items not named weigh 1."""
    exact = {label: Fraction(weight) for label, weight in weights.items()}
    for label, weight in exact.items():
        if weight < 0:
            raise UsageError(f"the weight of {label[:40]!r} is negative.", "Give a weight >= 0.")
    denominator = math.lcm(1, *(weight.denominator for weight in exact.values()))
    if denominator > 10**6 or any(weight > 10**6 for weight in exact.values()):
        raise UsageError("the weights are too fine or too large.", "Use up to six digits.")
    importance = np.full(hierarchy.n_leaves, denominator, dtype=np.int64)
    for label, weight in exact.items():
        node = hierarchy.node_of_label.get(label)
        if node is not None and node < hierarchy.n_leaves:
            importance[node] = int(weight * denominator)
    return importance


MOST_FORMS = 4096
"""How many more general forms of one itemset are looked at."""


class ValueDistance:
    """Distances along the paths of one hierarchy, exact.

    >>> education = Hierarchy.from_parents(
    ...     {"BA": "Deg", "MSE": "Deg", "PhD": "Deg", "HS": "All", "Deg": "All", "All": None}
    ... )
    >>> node = education.node_of_label
    >>> ValueDistance(education).between(node["MSE"], node["Deg"])
    Fraction(3, 2)
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy = hierarchy

    @cached_property
    def to_root(self) -> tuple[Fraction, ...]:
        """The distance of each node from the root above it."""
        tree = self.hierarchy
        height_of_root = np.zeros(len(tree), dtype=np.int64)
        np.maximum.at(height_of_root, tree.root, tree.depth)
        found = [Fraction(0)] * len(tree)
        # Parents have higher numbers than their children.
        for node in range(len(tree) - 1, -1, -1):
            above = int(tree.parent[node])
            if above >= 0:
                height = int(height_of_root[tree.root[node]])
                level = height - int(tree.depth[above])
                found[node] = found[above] + Fraction(level * int(tree.leaf_count[above]), height)
        return tuple(found)

    def between(self, node: int, above: int) -> Fraction:
        """Return the distance from a node to one at or above it."""
        return self.to_root[node] - self.to_root[above]

    def forms(
        self, itemset: tuple[int, ...], most: int = MOST_FORMS
    ) -> list[tuple[Fraction, tuple[int, ...]]]:
        """Return the itemset and everything more general, each with its distance, the nearest first.

        A form names one node at or above each item, in their order, so it may name one twice. Where
        there are more than `most`, ancestors next to the roots are left out first, then the roots of
        single items; the form that names all roots is always there.
        """
        chains = [[item, *self.hierarchy.ancestors(item)] for item in itemset]
        roots = tuple(chain[-1] for chain in chains)
        while prod(len(chain) for chain in chains) > most:
            longest = max(range(len(chains)), key=lambda place: len(chains[place]))
            del chains[longest][-2 if len(chains[longest]) > 2 else -1]
        found = [
            (sum((self.between(*step) for step in zip(itemset, form, strict=True)), Fraction(0)), form)
            for form in dict.fromkeys((*product(*chains), roots))
        ]
        return sorted(found)
