"""Data + recoding -> published records: the single implementation, and both side by side.

What is published is canonical: labels sorted in a record, records sorted by their labels, so that
nothing of the input's order is left. A label stands once in a record however many of its items were
there. `BeforeAfter` keeps the order of the original rows, so that a measure can compare record by
record; nothing of that order is ever published.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..distinct import distinct, number_distinct
from ..hierarchy.tree import Hierarchy
from ..model.transactions import Rows, Transactions, canonical_order
from ..model.vocabulary import Vocabulary
from .recoding import AnyRecoding

Ids = NDArray[np.int32]
Merged = tuple[NDArray[np.int64], Ids, NDArray[np.int64]]
"""Different rows in compressed form, and how many records each stands for."""


@dataclass(frozen=True, eq=False)
class BeforeAfter:
    """Records as leaves of a hierarchy, and the recoding that publishes them."""

    recoding: AnyRecoding
    rows: Rows

    @property
    def hierarchy(self) -> Hierarchy:
        """The hierarchy, restricted to the leaves that occur."""
        return self.recoding.hierarchy

    @cached_property
    def node_of_occurrence(self) -> Ids:
        """The node each occurrence is published as, -1 where suppressed, in the rows' order."""
        return self.recoding.nodes_of(self.rows)

    @cached_property
    def published(self) -> Rows:
        """The published nodes of each record, ascending, each once; a record may be left empty."""
        from ..kernels.rows import recode_rows

        places = np.arange(len(self.rows.leaves), dtype=np.int32)
        return Rows(*recode_rows(self.rows.indptr, places, self.node_of_occurrence))

    @cached_property
    def by_record(self) -> Transactions:
        """The published records in the order of the rows, which must not be published."""
        return labelled_nodes(self.hierarchy, self.rows, self.node_of_occurrence)

    @cached_property
    def left_empty(self) -> NDArray[np.int64]:
        """The places of the records of which nothing is published."""
        kept_before = np.concatenate(([0], np.cumsum(self.node_of_occurrence >= 0)))
        return np.flatnonzero(np.diff(kept_before[self.rows.indptr]) == 0)

    @cached_property
    def merged_before(self) -> Merged:
        """The different original records, as leaves, with how many there are of each."""
        return _merged(self.rows)

    @cached_property
    def merged_after(self) -> Merged:
        """The different published records, as nodes, with how many there are of each."""
        return _merged(self.published)

    @cached_property
    def found(self) -> dict[Hashable, Any]:
        """What measures have computed and others need again, by what it is."""
        return {}

    @cached_property
    def count_by_leaf(self) -> NDArray[np.int64]:
        """In how many original records each leaf is."""
        return np.bincount(self.rows.leaves, minlength=self.hierarchy.n_leaves).astype(np.int64)


def _merged(rows: Rows) -> Merged:
    from ..kernels.rows import merge_rows

    once = np.ones(len(rows), dtype=np.int64)
    return merge_rows(rows.indptr, rows.leaves, once)[:3]


def published_rows(recoding: AnyRecoding, rows: Rows) -> Transactions:
    """Return the published records in canonical order; records left empty stay, first."""
    published = BeforeAfter(recoding, rows).by_record
    return published.take(canonical_order(published))


def labelled_nodes(hierarchy: Hierarchy, rows: Rows, nodes: Ids) -> Transactions:
    """Return the records of which each occurrence is published as a node, or not at all (-1)."""
    record = np.repeat(np.arange(len(rows), dtype=np.int64), np.diff(rows.indptr))
    kept = nodes >= 0
    width = max(len(hierarchy), 1)
    keys = distinct(record[kept] * width + hierarchy.label_rank[nodes[kept]])
    record, rank = np.divmod(keys, width)
    used, item = number_distinct(rank)
    node_of_rank = np.argsort(hierarchy.label_rank)
    labels = tuple(hierarchy.labels[node] for node in node_of_rank[used].tolist())
    indptr = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum(np.bincount(record, minlength=len(rows)), out=indptr[1:])
    return Transactions(Vocabulary(labels), indptr, item.astype(np.int32))
