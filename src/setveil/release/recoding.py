"""Recodings, the single implementation of data + recoding -> published records, and what those answer.

A recoding is an antichain of nodes a group of records: a leaf is published as the node of the
antichain at or above it, and suppressed where there is none. A global recoding has one group. The
leaves under a node are an interval, so the antichain of a group, sorted by first leaf, is searched by
bisection.

What is published is canonical: labels sorted in a record, records sorted by their labels, so that
nothing of the input's order is left. A label stands once in a record however many of its items were
there. `BeforeAfter` keeps the order of the original rows, so that a measure can compare record by
record; nothing of that order is ever published.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray

from ..distinct import distinct, number_distinct
from ..hierarchy.tree import Hierarchy
from ..model.layout import Layout
from ..model.transactions import Rows, Transactions, Vocabulary, canonical_order
from .header import records_with

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
        return self.group_of_record is None

    @property
    def n_groups(self) -> int:
        return len(self.bounds) - 1

    def cut(self, group: int = 0) -> Ids:
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


Merged = tuple[NDArray[np.int64], Ids, NDArray[np.int64]]
"""Different rows in compressed form, and how many records each stands for."""


@dataclass(frozen=True, eq=False)
class BeforeAfter:
    """Records as leaves of a hierarchy, and the recoding that publishes them."""

    recoding: AnyRecoding
    rows: Rows

    @property
    def hierarchy(self) -> Hierarchy:
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


class Part(Protocol):
    """One part of published sets, wherever it lies: in memory, or in files that an engine wrote.

    Publishing, claims and what pages say of the whole ask this and never assume arrays. Who has to see
    the records themselves (measures, risks, tables of a page) says so with `in_memory`.
    """

    def __len__(self) -> int: ...

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that occur, sorted."""

    @property
    def has_open_cells(self) -> bool:
        """Whether there are cells that no promise covers beside the sets."""

    def records_by_label(self) -> Mapping[str, int]:
        """Return in how many records each label is."""

    def count_with(self, labels: Collection[str]) -> int:
        """Return how many records hold one of these labels, or more."""

    def fault_in(self, layout: Layout) -> str | None:
        """Return why a file of this layout cannot hold the records; None where it can."""

    def formula_in(self, layout: Layout) -> str | None:
        """Return which cell of such a file a spreadsheet would run; None where there is none."""

    def write(self, layout: Layout, file: BinaryIO) -> None:
        """Write the records, in canonical order."""

    def in_memory(self) -> Transactions:
        """Return the records themselves, all of them at once."""


@dataclass(frozen=True, eq=False)
class InMemory:
    """A `Part` whose records are at hand."""

    records: Transactions

    def __len__(self) -> int:
        return len(self.records)

    @property
    def labels(self) -> tuple[str, ...]:
        return self.records.vocabulary.labels

    @property
    def has_open_cells(self) -> bool:
        return self.records.unprotected is not None

    def records_by_label(self) -> Mapping[str, int]:
        return dict(zip(self.labels, self.records.count_by_item.tolist(), strict=True))

    def count_with(self, labels: Collection[str]) -> int:
        asked = np.array([label in labels for label in self.labels] or [False], dtype=np.bool_)
        return records_with(self.records.indptr, asked[self.records.items])

    def fault_in(self, layout: Layout) -> str | None:
        from ..io.formats import cannot_hold

        return cannot_hold(self.records, layout)

    def formula_in(self, layout: Layout) -> str | None:
        from ..io.formats import formulas_in

        return formulas_in(self.records, layout)

    def write(self, layout: Layout, file: BinaryIO) -> None:
        from ..io.formats import format_of

        format_of(layout).write(self.records, layout, file)

    def in_memory(self) -> Transactions:
        return self.records
