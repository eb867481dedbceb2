"""Where the loss is: for every item and every category what its occurrences lost.

A loss is a sum over occurrences, so it can be told apart by the item that occurred, and added up along
the tree: what the children of a category lost is what the category lost, and what the roots lost is the
loss of the release. All sums are integers until they are read.

The table names items that the release does not show, with their counts. It is for the data holder.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..hierarchy.tree import Hierarchy
from ..model.costs import COST_NAMES, Cost, make_cost
from ..release.recoding import BeforeAfter

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Branch:
    """An item or a category, and what became of the occurrences at or below it.

    `losses` are parts of the losses of the release, by name: they add up to them. `shares` are the same
    as shares of what was lost in all. `own_losses` are means over the branch's own occurrences: 0 where
    it lost nothing, 1 where it lost everything.
    """

    label: str
    path: tuple[str, ...]
    is_item: bool
    occurrences: int
    unchanged: int
    suppressed: int
    losses: Mapping[str, Fraction]
    shares: Mapping[str, Fraction]
    own_losses: Mapping[str, Fraction]

    def as_dict(self) -> dict[str, Any]:
        return {
            "label": self.label,
            "path": list(self.path),
            "is_item": self.is_item,
            "occurrences": self.occurrences,
            "unchanged": self.unchanged,
            "suppressed": self.suppressed,
            **{
                name: {
                    "loss": float(self.losses[name]),
                    "share_of_loss": float(self.shares[name]),
                    "own_loss": float(self.own_losses[name]),
                }
                for name in self.losses
            },
        }


@dataclass(frozen=True, eq=False)
class BranchLosses:
    """What the occurrences at or below every node lost: ``cost / (scale * occurrences)``, by name."""

    hierarchy: Hierarchy
    occurrences_by_node: Integers
    unchanged_by_node: Integers
    suppressed_by_node: Integers
    cost_by_node: Mapping[str, Integers]
    scale: Mapping[str, int]

    def __len__(self) -> int:
        return len(self.hierarchy)

    def __iter__(self) -> Iterator[Branch]:
        return (self.branch(node) for node in range(len(self)))

    @property
    def occurrences(self) -> int:
        return int(self.occurrences_by_node[list(self.hierarchy.roots)].sum())

    def total(self, name: str = "ncp") -> Fraction:
        """Return the loss of the release, which is that of all roots together."""
        return _ratio(self._whole(name), self.scale[name] * self.occurrences)

    def _whole(self, name: str) -> int:
        return int(self.cost_by_node[name][list(self.hierarchy.roots)].sum())

    def branch(self, node: int) -> Branch:
        label = self.hierarchy.labels[node]
        own = int(self.occurrences_by_node[node])
        cost = {name: int(costs[node]) for name, costs in self.cost_by_node.items()}
        return Branch(
            label=label,
            path=self.hierarchy.path(label),
            is_item=node < self.hierarchy.n_leaves,
            occurrences=own,
            unchanged=int(self.unchanged_by_node[node]),
            suppressed=int(self.suppressed_by_node[node]),
            losses={n: _ratio(cost[n], self.scale[n] * self.occurrences) for n in cost},
            shares={n: _ratio(cost[n], self._whole(n)) for n in cost},
            own_losses={n: _ratio(cost[n], self.scale[n] * own) for n in cost},
        )

    def level(self, depth: int | None = None) -> tuple[int, ...]:
        """Return the nodes at a depth, with the items that end above it: together they hold all.

        Without a depth it is the first one below which the data part: the columns of a table, or the
        main categories of a tree.
        """
        if depth is None:
            depths = range(self.hierarchy.height + 1)
            return next((found for d in depths if len(found := self.level(d)) > 1), self.level(0))
        own, n_leaves = self.hierarchy.depth, self.hierarchy.n_leaves
        places = np.arange(len(own))
        return tuple(np.flatnonzero((own == depth) | ((own < depth) & (places < n_leaves))).tolist())

    def worst_branches(
        self, most: int = 10, *, depth: int | None = None, name: str = "ncp"
    ) -> tuple[Branch, ...]:
        """Return the nodes of a level that lost most, those that lost nothing left out."""
        return self._worst(self.level(depth), most, name)

    def worst_items(self, most: int = 10, *, name: str = "ncp") -> tuple[Branch, ...]:
        """Return the items whose occurrences lost most, those that lost nothing left out."""
        return self._worst(range(self.hierarchy.n_leaves), most, name)

    def _worst(self, nodes: tuple[int, ...] | range, most: int, name: str) -> tuple[Branch, ...]:
        cost, labels = self.cost_by_node[name].tolist(), self.hierarchy.labels
        losing = sorted((node for node in nodes if cost[node]), key=lambda n: (-cost[n], labels[n]))
        return tuple(self.branch(node) for node in losing[:most])


def branch_losses(pair: BeforeAfter) -> BranchLosses:
    """Return what every item and every category lost.

    >>> from ..model.transactions import Transactions, bind
    >>> from ..release.recoding import Recoding
    >>> parents = {"ale": "drink", "milk": "drink", "bun": "ALL", "drink": "ALL", "ALL": None}
    >>> baskets = Transactions.from_rows([["ale", "bun"], ["milk", "bun"], ["bun"]])
    >>> tree, rows = bind(baskets, Hierarchy.from_parents(parents))
    >>> cut = [tree.node_of_label[label] for label in ("drink", "bun")]
    >>> found = branch_losses(BeforeAfter(Recoding.from_cut(tree, cut), rows))
    >>> [(branch.label, str(branch.losses["ncp"])) for branch in found.worst_branches()]
    [('drink', '4/15')]
    >>> found.total("ncp")
    Fraction(4, 15)
    """
    hierarchy, leaves, nodes = pair.hierarchy, pair.rows.leaves, pair.node_of_occurrence
    costs = {name: make_cost(name, hierarchy) for name in COST_NAMES}
    return BranchLosses(
        hierarchy,
        _added_up(hierarchy, pair.count_by_leaf),
        _added_up(hierarchy, _counted(leaves[nodes == leaves], hierarchy)),
        _added_up(hierarchy, _counted(leaves[nodes < 0], hierarchy)),
        {name: _added_up(hierarchy, _cost_by_leaf(pair, cost)) for name, cost in costs.items()},
        {name: cost.scale for name, cost in costs.items()},
    )


def _counted(leaves: NDArray[np.int32], hierarchy: Hierarchy) -> Integers:
    return np.bincount(leaves, minlength=hierarchy.n_leaves).astype(np.int64)


def _cost_by_leaf(pair: BeforeAfter, cost: Cost) -> Integers:
    """Return the summed cost of the occurrences of each leaf; a suppressed one costs the scale."""
    cost.check_size(pair.count_by_leaf)
    nodes = pair.node_of_occurrence
    unit_by_occurrence = np.where(nodes >= 0, cost.unit_by_node[nodes], cost.scale)
    summed = np.zeros(pair.hierarchy.n_leaves, dtype=np.int64)
    np.add.at(summed, pair.rows.leaves, unit_by_occurrence)
    return summed


def _added_up(hierarchy: Hierarchy, by_leaf: Integers) -> Integers:
    running = np.zeros(hierarchy.n_leaves + 1, dtype=np.int64)
    np.cumsum(by_leaf, out=running[1:])
    return running[hierarchy.end_leaf] - running[hierarchy.first_leaf]


def _ratio(part: int, whole: int) -> Fraction:
    return Fraction(part, whole) if whole else Fraction(0)
