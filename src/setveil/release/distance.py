"""How far a value is from a more general one: VD and TD of M. W.-K. Cheng, *Hiding emerging pattern
with local recoding generalization*, definitions 6.1 to 6.3.

A step up to a node costs its level times the leaves under it, over the height of its tree; leaves of a
balanced tree are at level 0, the root at level h. The paper prints the sum from i = p; what it works
out (Example 6.2) begins at p + 1, with the first step, and so does this.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod

import numpy as np

from ..hierarchy.tree import Hierarchy

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
