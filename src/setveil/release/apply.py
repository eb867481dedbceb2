"""Data + recoding -> published records: the single implementation.

The result is canonical: labels sorted in a record, records sorted by their labels, so that nothing of
the input's order is left. A label stands once in a record however many of its items were there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..distinct import distinct, number_distinct
from ..hierarchy.tree import Hierarchy
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
    return labelled_nodes(recoding.hierarchy, rows, published_nodes(recoding, rows))


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


def left_empty(nodes: Ids, rows: Rows) -> NDArray[np.int64]:
    """Return the places of the records of which nothing is published, given `published_nodes`."""
    kept_before = np.concatenate(([0], np.cumsum(nodes >= 0)))
    return np.flatnonzero(np.diff(kept_before[rows.indptr]) == 0)


def canonical_order(transactions: Transactions) -> NDArray[np.int64]:
    """Return the order of the records by their labels, as tuples; ids are in label order.

    Records with the same labels are ordered by their unprotected cells, where there are some.
    """
    # Big-endian bytes compare as the tuples of ids do, a prefix before its extensions.
    content = transactions.items.astype(">u4").tobytes()
    bounds = (4 * transactions.indptr).tolist()
    order = _by_first_items(transactions, lambda record: content[bounds[record] : bounds[record + 1]])
    cells = transactions.unprotected
    if cells is not None:
        order.sort(key=lambda record: (content[bounds[record] : bounds[record + 1]], cells[record]))
    return np.array(order, dtype=np.int64)


def _by_first_items(transactions: Transactions, content_of: Callable[[int], bytes]) -> list[int]:
    """Return the records in order: by as many first items as fit in one number, then by all of them."""
    starts, lengths = transactions.indptr[:-1], transactions.length_by_record
    bits = max(1, len(transactions.vocabulary).bit_length())
    packed = 63 // bits
    key = np.zeros(len(transactions), dtype=np.int64)
    for place in range(packed):
        key <<= bits
        longer = np.flatnonzero(lengths > place)
        # An item counts one more than its id: a record comes before those that go on.
        key[longer] |= transactions.items[starts[longer] + place].astype(np.int64) + 1
    order = np.argsort(key, kind="stable")
    records: list[int] = order.tolist()
    if not records:
        return records
    in_order = key[order]
    first = np.flatnonzero(np.append(True, in_order[1:] != in_order[:-1]))
    ends = np.append(first[1:], len(order))
    longest = np.maximum.reduceat(lengths[order], first)
    for run in np.flatnonzero((ends - first > 1) & (longest > packed)).tolist():
        low, high = int(first[run]), int(ends[run])
        records[low:high] = sorted(records[low:high], key=content_of)
    return records
