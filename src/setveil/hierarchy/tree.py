"""The taxonomy as arrays: which label generalizes which.

Nodes are numbered so that loops stay simple: the leaves come first, 0 .. n_leaves - 1, in the order
of a walk whose children are sorted by label, so that the leaves under any node are an interval; then
the inner nodes, children before parents. A leaf's number is also the item's id in data bound to this
hierarchy. Several trees are allowed (a forest): tables have one tree a column, and a sensitive item
is a tree of its own that cannot be generalized.

Unary chains are kept, for their labels; they cover the same leaves.

A loss is a share of a domain. It is the leaves of the hierarchy at hand, those "used" by the data; or
all leaves of a larger one that it is a part of, of which only their number below each node is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..arguments import checked
from ..errors import HierarchyError
from ..plain import Summary

Ids = NDArray[np.int32]
Counts = NDArray[np.int64]

SHOWN_TOPS = 5
DOMAINS = ("used", "hierarchy")
"""Which leaves a loss counts: those that occur in the data, or all of the hierarchy."""


@dataclass(frozen=True, eq=False)
class Hierarchy(Summary):
    """A tree or forest over labels.

    `size_by_node`, where it is given, is how many leaves of a larger hierarchy are under each node.

    >>> toy = Hierarchy.from_parents({"a1": "A", "a2": "A", "b": "ALL", "A": "ALL", "ALL": None})
    >>> toy
    Hierarchy(3 leaves, 2 categories, height 2)
    >>> toy.path("a1")
    ('a1', 'A', 'ALL')
    """

    labels: tuple[str, ...]
    parent: Ids
    n_leaves: int
    private: bool = False
    size_by_node: Counts | None = None

    @classmethod
    @checked()
    def from_parents(
        cls, parent_of_label: Mapping[str, str | None], *, private: bool = False
    ) -> Hierarchy:
        """Return the hierarchy in which each label has the given parent (None for a root)."""
        children: dict[str, list[str]] = {}
        roots: list[str] = []
        for label, above in parent_of_label.items():
            if above is None:
                roots.append(label)
            elif above not in parent_of_label:
                raise HierarchyError(f"the parent {above[:40]!r} is not itself declared.")
            else:
                children.setdefault(above, []).append(label)
        leaves: list[str] = []
        inner: list[str] = []
        stack = [(root, False) for root in sorted(roots, reverse=True)]
        while stack:
            label, done = stack.pop()
            below = children.get(label)
            if below is None:
                leaves.append(label)
            elif done:
                inner.append(label)
            else:
                stack.append((label, True))
                stack += [(child, False) for child in sorted(below, reverse=True)]
        labels = tuple(leaves + inner)
        if len(labels) != len(parent_of_label):
            raise HierarchyError("the hierarchy has a cycle.", "Break it; `hierarchy check` shows it.")
        number = {label: node for node, label in enumerate(labels)}
        parent = np.full(len(labels), -1, dtype=np.int32)
        for node, label in enumerate(labels):
            above = parent_of_label[label]
            if above is not None:
                parent[node] = number[above]
        return cls(labels, parent, len(leaves), private)

    @classmethod
    @checked()
    def from_paths(cls, paths: Iterable[Sequence[str]], *, private: bool = False) -> Hierarchy:
        """Return the hierarchy of leaf-to-root paths; consecutive repeats are padding."""
        parent_of_label: dict[str, str | None] = {}
        for path in paths:
            if not path:
                raise HierarchyError("a path without labels.", "Give for example ('milk', 'food').")
            steps = [step for place, step in enumerate(path) if place == 0 or step != path[place - 1]]
            for child, above in zip(steps, [*steps[1:], None], strict=True):
                known = parent_of_label.setdefault(child, above)
                if known != above:
                    raise HierarchyError(f"{child[:40]!r} has two parents.", "Keep one of them.")
        return cls.from_parents(parent_of_label, private=private)

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return (
            f"Hierarchy({self.n_leaves:,} leaves, {len(self) - self.n_leaves:,} categories, "
            f"height {self.height})"
        )

    def lines(self) -> list[tuple[str, str]]:
        tops = ", ".join(self.labels[root] for root in self.roots[:SHOWN_TOPS])
        lines = [
            ("leaves", f"{self.n_leaves:,}"),
            ("categories", f"{len(self) - self.n_leaves:,}"),
            ("height", f"{self.height}"),
            ("at the top", tops + (", ..." if self.roots[SHOWN_TOPS:] else "")),
        ]
        return lines + [("note", "learned from data: it tells of them")] * self.private

    @cached_property
    def node_of_label(self) -> dict[str, int]:
        """The node of each label."""
        return {label: node for node, label in enumerate(self.labels)}

    @cached_property
    def _intervals(self) -> tuple[Ids, Ids]:
        first = np.full(len(self), self.n_leaves, dtype=np.int32)
        end = np.zeros(len(self), dtype=np.int32)
        first[: self.n_leaves] = np.arange(self.n_leaves)
        end[: self.n_leaves] = np.arange(1, self.n_leaves + 1)
        for node, above in enumerate(self.parent.tolist()):
            if above >= 0:
                first[above] = min(first[above], first[node])
                end[above] = max(end[above], end[node])
        return first, end

    @property
    def first_leaf(self) -> Ids:
        """The first leaf under each node."""
        return self._intervals[0]

    @property
    def end_leaf(self) -> Ids:
        """One past the last leaf under each node."""
        return self._intervals[1]

    @cached_property
    def leaf_count(self) -> NDArray[np.int64]:
        """How many leaves are under each node; 1 for a leaf and for a unary chain above one."""
        return (self.end_leaf - self.first_leaf).astype(np.int64)

    @property
    def domain(self) -> str:
        """Which of `DOMAINS` a loss counts."""
        return "used" if self.size_by_node is None else "hierarchy"

    @property
    def domain_count(self) -> Counts:
        """How many leaves of the domain are under each node: what a loss counts."""
        return self.leaf_count if self.size_by_node is None else self.size_by_node

    def as_domain(self) -> Hierarchy:
        """Return the same hierarchy; parts of it will count all its leaves, used or not.

        >>> toy = Hierarchy.from_parents({"a": "T", "b": "T", "c": "T", "T": None})
        >>> toy.restricted_to("ab").domain_count.tolist()
        [1, 1, 2]
        >>> toy.as_domain().restricted_to("ab").domain_count.tolist()
        [1, 1, 3]
        """
        return replace(self, size_by_node=self.domain_count)

    @cached_property
    def depth(self) -> Ids:
        """Steps from the root to each node."""
        depth = np.zeros(len(self), dtype=np.int32)
        for node in range(len(self) - 1, -1, -1):
            above = self.parent[node]
            if above >= 0:
                depth[node] = depth[above] + 1
        return depth

    @cached_property
    def root(self) -> Ids:
        """The root above each node (itself for a root)."""
        root = np.arange(len(self), dtype=np.int32)
        for node in range(len(self) - 1, -1, -1):
            above = self.parent[node]
            if above >= 0:
                root[node] = root[above]
        return root

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The children of each node, in label order."""
        below: list[list[int]] = [[] for _ in range(len(self))]
        for node, above in enumerate(self.parent.tolist()):
            if above >= 0:
                below[above].append(node)
        return tuple(tuple(sorted(nodes, key=lambda node: self.labels[node])) for nodes in below)

    @cached_property
    def label_rank(self) -> Ids:
        """The place of each node's label among all labels, by code point; breaks ties."""
        order = sorted(range(len(self)), key=lambda node: self.labels[node])
        rank = np.empty(len(self), dtype=np.int32)
        rank[order] = np.arange(len(self), dtype=np.int32)
        return rank

    @property
    def roots(self) -> tuple[int, ...]:
        """The nodes without a parent."""
        return tuple(int(node) for node in np.flatnonzero(self.parent < 0))

    @property
    def height(self) -> int:
        """The longest way from a root to a leaf, in steps."""
        return int(self.depth.max()) if len(self) else 0

    def covers(self, upper: int, lower: int) -> bool:
        """Tell whether `upper` is `lower` or above it, in O(1)."""
        return bool(
            self.first_leaf[upper] <= self.first_leaf[lower]
            and self.end_leaf[lower] <= self.end_leaf[upper]
            and self.depth[upper] <= self.depth[lower]
        )

    def ancestors(self, node: int) -> list[int]:
        """Return the nodes above `node`, nearest first."""
        above: list[int] = []
        here = int(self.parent[node])
        while here >= 0:
            above.append(here)
            here = int(self.parent[here])
        return above

    def path(self, label: str) -> tuple[str, ...]:
        """Return the labels from `label` up to its root."""
        node = self.node_of_label[label]
        return tuple(self.labels[step] for step in (node, *self.ancestors(node)))

    def parents_by_label(self) -> dict[str, str | None]:
        """Return the mapping that `from_parents` takes."""
        return {
            label: None if above < 0 else self.labels[above]
            for label, above in zip(self.labels, self.parent.tolist(), strict=True)
        }

    def restricted_to(self, leaves: Iterable[str]) -> Hierarchy:
        """Return the part at and above these labels; a larger domain stays the domain."""
        kept: dict[str, str | None] = {}
        for label in leaves:
            here: str | None = label
            while here is not None and here not in kept:
                above = int(self.parent[self.node_of_label[here]])
                kept[here] = None if above < 0 else self.labels[above]
                here = kept[here]
        part = Hierarchy.from_parents(kept, private=self.private)
        if self.size_by_node is None:
            return part
        node_of_part = [self.node_of_label[label] for label in part.labels]
        return replace(part, size_by_node=self.size_by_node[node_of_part])
