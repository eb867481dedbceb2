"""Data + recoding -> published records: the single implementation.

The result is canonical: labels sorted in a record, records sorted by their labels, so that nothing of
the input's order is left. A label stands once in a record however many of its items were there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..model.transactions import Rows, Transactions
from ..model.vocabulary import Vocabulary
from .recoding import SUPPRESSED, Recoding

Ids = NDArray[np.int32]


def published_nodes(recoding: Recoding, rows: Rows) -> Ids:
    """Return the node each occurrence is published as, -1 where suppressed, in the rows' order."""
    hierarchy = recoding.hierarchy
    if recoding.group_of_record is None:
        return recoding.node_of_leaf()[rows.leaves]
    # One sorted key array serves all groups: an occurrence finds the last node that starts at or
    # before its leaf, and takes it if it is of its own group and reaches far enough.
    width = hierarchy.n_leaves
    group_of_node = np.repeat(np.arange(recoding.n_groups), np.diff(recoding.bounds))
    key_by_place = group_of_node * width + hierarchy.first_leaf[recoding.nodes]
    group_of_entry = np.repeat(recoding.group_of_record, np.diff(rows.indptr)).astype(np.int64)
    place = np.searchsorted(key_by_place, group_of_entry * width + rows.leaves, side="right") - 1
    candidate = recoding.nodes[np.maximum(place, 0)]
    covered = (
        (place >= 0)
        & (group_of_node[np.maximum(place, 0)] == group_of_entry)
        & (rows.leaves < hierarchy.end_leaf[candidate])
    )
    return np.where(covered, candidate, SUPPRESSED).astype(np.int32)


def published_rows(recoding: Recoding, rows: Rows) -> Transactions:
    """Return the published records in canonical order; records left empty stay, first."""
    published = published_by_record(recoding, rows)
    return published.take(canonical_order(published))


def published_by_record(recoding: Recoding, rows: Rows) -> Transactions:
    """Return the published records in the order of the rows, which must not be published."""
    hierarchy = recoding.hierarchy
    nodes = published_nodes(recoding, rows)
    record = np.repeat(np.arange(len(rows), dtype=np.int64), np.diff(rows.indptr))
    kept = nodes >= 0
    width = max(len(hierarchy), 1)
    keys = np.unique(record[kept] * width + hierarchy.label_rank[nodes[kept]])
    used, item = np.unique(keys % width, return_inverse=True)
    node_of_rank = np.argsort(hierarchy.label_rank)
    labels = tuple(hierarchy.labels[node] for node in node_of_rank[used].tolist())
    lengths = np.bincount(keys // width, minlength=len(rows))
    indptr = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum(lengths, out=indptr[1:])
    return Transactions(Vocabulary(labels), indptr, item.astype(np.int32))


def left_empty(nodes: Ids, rows: Rows) -> NDArray[np.int64]:
    """Return the places of the records of which nothing is published, given `published_nodes`."""
    kept_before = np.concatenate(([0], np.cumsum(nodes >= 0)))
    return np.flatnonzero(np.diff(kept_before[rows.indptr]) == 0)


def canonical_order(transactions: Transactions) -> NDArray[np.int64]:
    """Return the order of the records by their labels, as tuples; ids are in label order.

    Records with the same labels are ordered by their unprotected cells, where there are some.
    """
    # Big-endian bytes compare as the tuples of ids do, a prefix before its extensions.
    packed = transactions.items.astype(">u4").tobytes()
    bounds = (transactions.indptr * 4).tolist()
    keys = [packed[bounds[r] : bounds[r + 1]] for r in range(len(transactions))]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    cells = transactions.unprotected
    if cells is not None:
        order.sort(key=lambda record: (keys[record], cells[record]))
    return np.array(order, dtype=np.int64)
