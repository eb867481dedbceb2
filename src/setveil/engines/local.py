"""The engine of one machine: arrays in memory, compiled kernels, threads.

Identical records are merged with weights when the engine is made. A question about a recoding
generalizes the merged records, merges again (which shrinks fast) and searches those. A question about
sets of nodes intersects the nodes' row lists and bitmaps, built at the first such question.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from ..hierarchy.tree import Hierarchy
from ..kernels.itemsets.rare import find_rare
from ..kernels.rows import expand_rows, merge_rows, recode_rows
from ..kernels.supports import Index, count_supports, index_nodes, lift_sets, witness_leaves
from ..model.guarantees import Coherence, Guarantee, KmAnonymity, LmDiversity
from ..model.transactions import Rows, Transactions, bind
from ..release.recoding import Recoding, published_rows
from .base import Ask, NodeSets, Violations, named, numbered
from .breaches import rare_signed, undiverse_sets, with_breaches

Ids = NDArray[np.int32]
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Merged:
    """Distinct rows of nodes and how many records each stands for."""

    indptr: Counts
    nodes: Ids
    weight_by_row: Counts

    @property
    def arrays(self) -> tuple[Counts, Ids, Counts]:
        """The rows as kernels take them."""
        return self.indptr, self.nodes, self.weight_by_row

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
        questions: Mapping[str, Callable[..., Violations]] = {
            "km": self._rare_sets,
            "km-negative": self._signed,
            "lm": self._undiverse,
            "coherence": self._moles,
        }
        answer = questions.get(guarantee.key)
        if answer is None:
            raise UsageError("this engine answers about itemsets, not whole records.")
        return answer(self._merged.recoded(recoding.node_of_leaf()), guarantee, limit, ask)

    def _rare_sets(
        self, published: Merged, guarantee: KmAnonymity, limit: int | None, ask: Ask | None
    ) -> Violations:
        """Return the minimal sets that too few records hold."""
        sets, support = self._rare(published, guarantee.k, guarantee.m, limit, ask)
        return Violations(sets, support, limit is None or len(sets) < limit)

    def _signed(
        self, published: Merged, guarantee: KmAnonymity, limit: int | None, ask: Ask | None
    ) -> Violations:
        """Return the minimal patterns of present and absent labels that too few records match."""
        del ask  # asked for in portions, which are short
        return rare_signed(*published.arrays, guarantee, limit)

    def _undiverse(
        self, published: Merged, guarantee: LmDiversity, limit: int | None, ask: Ask | None
    ) -> Violations:
        """Return the sets that point to a sensitive item too surely."""
        del ask  # asked for in portions, which are short
        return undiverse_sets(*published.arrays, guarantee, self._secrets(guarantee), limit)

    def _secrets(self, guarantee: Guarantee) -> list[int]:
        """Return the nodes of the labels to be kept secret, of those that occur."""
        nodes = self.hierarchy.node_of_label
        return [nodes[label] for label in sorted(guarantee.secret_labels) if label in nodes]

    def _moles(
        self, published: Merged, guarantee: Coherence, limit: int | None, ask: Ask | None
    ) -> Violations:
        """Return the minimal moles: public sets that are rare or give a private item away."""
        private = self._secrets(guarantee)
        shown = np.arange(len(self.hierarchy), dtype=np.int32)
        shown[private] = -1
        public = Merged.of(
            *recode_rows(published.indptr, published.nodes, shown), published.weight_by_row
        )
        rare = self._rare(public, guarantee.k, guarantee.p, None, ask)
        sets, support = with_breaches(*published.arrays, guarantee, private, rare, ask)
        return Violations(sets[:limit], support[:limit], limit is None or len(sets) <= limit)

    def _rare(
        self, published: Merged, k: int, m: int, limit: int | None, ask: Ask | None
    ) -> tuple[NodeSets, Counts]:
        used, code = numbered(published.nodes)
        longest = int(np.diff(published.indptr).max(initial=0))
        sets, support = find_rare(
            published.indptr,
            code,
            published.weight_by_row,
            len(used),
            k,
            max(1, min(m, longest)),
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
