"""The engine of one machine: arrays in memory, compiled kernels, threads.

Identical records are merged with weights when the engine is made. A question about a recoding
generalizes the merged records, merges again (which shrinks fast) and searches those. A question about
sets of nodes intersects the nodes' row lists and bitmaps, built at the first such question.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from ..hierarchy.tree import Hierarchy
from ..kernels.itemsets.rare import find_rare
from ..kernels.rows import expand_rows, merge_rows, recode_rows
from ..kernels.supports import Index, count_supports, index_nodes, lift_sets, witness_leaves
from ..model.guarantees import Coherence, Guarantee, KAnonymity, KmAnonymity, LmDiversity
from ..model.transactions import Rows, Transactions, bind
from ..release.apply import published_rows
from ..release.recoding import Recoding
from .base import Ask, NodeSets, Violations, named, numbered
from .diverse import undiverse_sets, with_breaches
from .signed import rare_signed

Ids = NDArray[np.int32]
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Merged:
    """Distinct rows of nodes and how many records each stands for."""

    indptr: Counts
    nodes: Ids
    weight_by_row: Counts

    @classmethod
    def of(cls, indptr: Counts, nodes: Ids, weight_by_row: Counts) -> Merged:
        """Return these rows with identical ones merged."""
        merged_indptr, merged_nodes, weights, _ = merge_rows(indptr, nodes, weight_by_row)
        return cls(merged_indptr, merged_nodes, weights)

    def recoded(self, node_of_leaf: Ids) -> Merged:
        """Return the rows after a global recoding, merged again."""
        indptr, nodes = recode_rows(self.indptr, self.nodes, node_of_leaf)
        return Merged.of(indptr, nodes, self.weight_by_row)


class LocalEngine:
    """Answers about records held in memory."""

    def __init__(self, hierarchy: Hierarchy, rows: Rows, *, threads: int | None = None) -> None:
        self.hierarchy = hierarchy
        self.threads = threads or len(os.sched_getaffinity(0))
        self._rows = rows
        self._merged = Merged.of(rows.indptr, rows.leaves, np.ones(len(rows), dtype=np.int64))

    @classmethod
    def of(
        cls, transactions: Transactions, hierarchy: Hierarchy, *, threads: int | None = None
    ) -> LocalEngine:
        """Return the engine of these records on the part of the hierarchy they use."""
        restricted, rows = bind(transactions, hierarchy)
        return cls(restricted, rows, threads=threads)

    @property
    def n_records(self) -> int:
        """How many records there are, empty ones included."""
        return len(self._rows)

    def item_counts(self) -> Counts:
        """Return in how many records each leaf is."""
        return np.bincount(self._rows.leaves, minlength=self.hierarchy.n_leaves).astype(np.int64)

    def violations(
        self,
        recoding: Recoding,
        guarantee: Guarantee,
        *,
        limit: int | None = None,
        ask: Ask | None = None,
    ) -> Violations:
        """Return the minimal patterns that a global recoding would publish against `guarantee`.

        Lists of rare sets and of moles can be long; while they are searched `ask` is called.
        """
        if isinstance(guarantee, KAnonymity):
            raise UsageError("this engine answers about itemsets, not whole records.")
        published = self._merged.recoded(recoding.node_of_leaf())
        data = (published.indptr, published.nodes, published.weight_by_row)
        if isinstance(guarantee, LmDiversity):
            nodes = self.hierarchy.node_of_label
            sensitive = [nodes[label] for label in sorted(guarantee.sensitive) if label in nodes]
            return undiverse_sets(*data, guarantee, sensitive, limit)
        if isinstance(guarantee, Coherence):
            return self._moles(published, guarantee, limit, ask)
        if guarantee.negative:
            return rare_signed(*data, guarantee, limit)
        sets, support = self._rare(published, guarantee, limit, ask)
        return Violations(sets, support, limit is None or len(sets) < limit)

    def _moles(
        self, published: Merged, guarantee: Coherence, limit: int | None, ask: Ask | None
    ) -> Violations:
        """Return the minimal moles: public sets that are rare or give a private item away."""
        names = self.hierarchy.node_of_label
        private = [names[label] for label in sorted(guarantee.private) if label in names]
        shown = np.arange(len(self.hierarchy), dtype=np.int32)
        shown[private] = -1
        public = Merged.of(
            *recode_rows(published.indptr, published.nodes, shown), published.weight_by_row
        )
        rare = self._rare(public, KmAnonymity(guarantee.k, guarantee.p), None, ask)
        data = (published.indptr, published.nodes, published.weight_by_row)
        sets, support = with_breaches(*data, guarantee, private, rare, ask)
        return Violations(sets[:limit], support[:limit], limit is None or len(sets) <= limit)

    def _rare(
        self, published: Merged, guarantee: KmAnonymity, limit: int | None, ask: Ask | None
    ) -> tuple[NodeSets, Counts]:
        used, code = numbered(published.nodes)
        longest = int(np.diff(published.indptr).max(initial=0))
        sets, support = find_rare(
            published.indptr,
            code,
            published.weight_by_row,
            len(used),
            guarantee.k,
            max(1, min(guarantee.m, longest)),
            limit or 0,
            self.threads,
            ask,
        )
        return named(sets, used), support

    @cached_property
    def _index(self) -> Index:
        """Row lists of every node, and bitmaps of the long ones."""
        merged = self._merged
        parent = self.hierarchy.parent
        return index_nodes(merged.indptr, merged.nodes, parent, merged.weight_by_row)

    def supports(self, sets: NodeSets, *, enough: int | None = None) -> Counts:
        """Return in how many records each set of nodes is, at any level of the hierarchy."""
        return count_supports(sets, self._index, enough or 0, self.threads)

    def lift(self, sets: NodeSets, k: int) -> tuple[NodeSets, Counts]:
        """Raise each rare set as ``search.lifting.lift`` does, near the data."""
        return lift_sets(sets, self.hierarchy.parent, self._index, k, self.threads)

    def threats(self, nodes: Ids, k: int, m: int, limit: int, ask: Ask | None = None) -> NodeSets:
        """Return the minimal rare sets of these nodes, as ``search.threats`` wants them."""
        parent = self.hierarchy.parent
        is_asked = np.zeros(len(parent), dtype=np.bool_)
        is_asked[nodes] = True
        # The nearest asked node at or above each node; parents come after their children.
        nearest = np.full(len(parent), -1, dtype=np.int32)
        for node in range(len(parent) - 1, -1, -1):
            above = parent[node]
            nearest[node] = node if is_asked[node] else nearest[above] if above >= 0 else -1
        above_asked = np.where(parent >= 0, nearest[parent], -1).astype(np.int32)
        lowest = self._merged.recoded(nearest[: self.hierarchy.n_leaves])
        longest = int(np.diff(lowest.indptr).max(initial=0))
        # A row that holds a node holds all above it, so no set with a node and its ancestor is
        # minimal: without the lower or the upper one it has the same records.
        indptr, expanded = expand_rows(lowest.indptr, lowest.nodes, above_asked)
        used, code = numbered(expanded)
        size = max(1, min(m, longest))
        data = (indptr, code, lowest.weight_by_row, len(used))
        return named(find_rare(*data, k, size, limit, self.threads, ask)[0], used)

    def witnesses(self, sets: NodeSets, per_set: int) -> tuple[NodeSets, Counts]:
        """Return the leaves by which some records hold each set, near the data."""
        hierarchy, merged = self.hierarchy, self._merged
        return witness_leaves(
            sets,
            per_set,
            self._index,
            merged.indptr,
            merged.nodes,
            hierarchy.first_leaf,
            hierarchy.end_leaf,
            self.item_counts(),
        )

    def publish(self, recoding: Recoding) -> Transactions:
        """Return the published records in canonical order."""
        return published_rows(recoding, self._rows)

    def rows(self) -> Rows:
        """Return the records themselves, as leaves."""
        return self._rows
