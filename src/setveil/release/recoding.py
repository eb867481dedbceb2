"""A recoding answers which node each occurrence of an item is published as.

A recoding is an antichain of nodes a group of records: a leaf is published as the node of the
antichain at or above it, and suppressed where there is none. A global recoding has one group. The
leaves under a node are an interval, so the antichain of a group, sorted by first leaf, is searched by
bisection.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..hierarchy.tree import Hierarchy
from ..model.transactions import Rows

Ids = NDArray[np.int32]
SUPPRESSED = -1


class AnyRecoding(Protocol):
    """What all recodings answer, for the records of one part."""

    @property
    def hierarchy(self) -> Hierarchy:
        """The hierarchy that they name nodes of."""

    def nodes_of(self, rows: Rows) -> Ids:
        """Return the node each occurrence is published as, -1 where suppressed, in the rows' order."""


@dataclass(frozen=True, eq=False)
class Recoding:
    """Antichains of nodes, one a group of records.

    `nodes[bounds[g]:bounds[g + 1]]` is the antichain of group g, sorted by first leaf;
    `group_of_record` is None for a global recoding.
    """

    hierarchy: Hierarchy
    nodes: Ids
    bounds: NDArray[np.int64]
    group_of_record: Ids | None = None

    @classmethod
    def from_cut(cls, hierarchy: Hierarchy, nodes: Sequence[int] | Ids) -> Recoding:
        """Return the global recoding that publishes exactly these nodes (an antichain)."""
        cut = sorted_antichain(hierarchy, nodes)
        return cls(hierarchy, cut, np.array([0, len(cut)], dtype=np.int64))

    @classmethod
    def from_node_of_leaf(cls, hierarchy: Hierarchy, node_of_leaf: Ids) -> Recoding:
        """Return the global recoding that publishes each leaf as the given node (-1: suppressed)."""
        return cls.from_cut(hierarchy, np.unique(node_of_leaf[node_of_leaf >= 0]))

    @classmethod
    def identity(cls, hierarchy: Hierarchy) -> Recoding:
        """Return the recoding that changes nothing."""
        return cls.from_cut(hierarchy, np.arange(hierarchy.n_leaves, dtype=np.int32))

    @classmethod
    def by_group(
        cls, hierarchy: Hierarchy, cuts: Sequence[Sequence[int] | Ids], group_of_record: Ids
    ) -> Recoding:
        """Return the local recoding in which the records of group g use ``cuts[g]``."""
        sorted_cuts = [sorted_antichain(hierarchy, cut) for cut in cuts]
        bounds = np.zeros(len(cuts) + 1, dtype=np.int64)
        np.cumsum([len(cut) for cut in sorted_cuts], out=bounds[1:])
        nodes = np.concatenate(sorted_cuts) if sorted_cuts else np.empty(0, dtype=np.int32)
        return cls(hierarchy, nodes.astype(np.int32), bounds, group_of_record)

    @property
    def is_global(self) -> bool:
        """Whether one antichain serves all records."""
        return self.group_of_record is None

    @property
    def n_groups(self) -> int:
        """How many antichains there are."""
        return len(self.bounds) - 1

    def cut(self, group: int = 0) -> Ids:
        """Return the antichain of a group."""
        return self.nodes[self.bounds[group] : self.bounds[group + 1]]

    def node_of_leaf(self, group: int = 0) -> Ids:
        """Return the published node of every leaf in a group; -1 where suppressed."""
        published = np.full(self.hierarchy.n_leaves, SUPPRESSED, dtype=np.int32)
        cut = self.cut(group)
        first, end = self.hierarchy.first_leaf, self.hierarchy.end_leaf
        for node in cut.tolist():
            published[first[node] : end[node]] = node
        return published

    def nodes_of(self, rows: Rows) -> Ids:
        """Return the node each occurrence is published as, -1 where suppressed, in the rows' order."""
        if self.group_of_record is None:
            return self.node_of_leaf()[rows.leaves]
        # One sorted key array serves all groups: an occurrence finds the last node that starts at or
        # before its leaf, and takes it if it is of its own group and reaches far enough.
        width = self.hierarchy.n_leaves
        group_of_node = np.repeat(np.arange(self.n_groups), np.diff(self.bounds))
        key_by_place = group_of_node * width + self.hierarchy.first_leaf[self.nodes]
        group_of_entry = np.repeat(self.group_of_record, np.diff(rows.indptr)).astype(np.int64)
        place = np.searchsorted(key_by_place, group_of_entry * width + rows.leaves, side="right") - 1
        candidate = self.nodes[np.maximum(place, 0)]
        covered = (
            (place >= 0)
            & (group_of_node[np.maximum(place, 0)] == group_of_entry)
            & (rows.leaves < self.hierarchy.end_leaf[candidate])
        )
        return np.where(covered, candidate, SUPPRESSED).astype(np.int32)


def sorted_antichain(hierarchy: Hierarchy, nodes: Sequence[int] | Ids) -> Ids:
    """Return the nodes sorted by first leaf; ValueError where one covers another."""
    cut = np.asarray(nodes, dtype=np.int32)
    cut = cut[np.argsort(hierarchy.first_leaf[cut], kind="stable")]
    if len(cut) > 1 and (hierarchy.end_leaf[cut[:-1]] > hierarchy.first_leaf[cut[1:]]).any():
        raise ValueError("a recoding's nodes must not cover one another")
    return cut


@dataclass(frozen=True, eq=False)
class EntryRecoding:
    """The published node of each occurrence, told one by one, in the order of the rows' leaves."""

    hierarchy: Hierarchy
    nodes: Ids

    def nodes_of(self, rows: Rows) -> Ids:
        """Return the node each occurrence is published as, of the rows that it was made for."""
        if len(self.nodes) != len(rows.leaves):
            raise ValueError("these are not the records that the recoding is of")
        return self.nodes


@dataclass(frozen=True, eq=False)
class PairRecoding:
    """A recoding of two data sets: for either the published node of each entry (`EntryRecoding`).

    A published row is the set of the nodes of its entries. In tables no node of a row is above another
    one; in sets one may be, where a value was raised and others below the same category were not.
    """

    node_by_entry: tuple[Ids, Ids]
