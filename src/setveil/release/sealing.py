"""Keyed hashes of original records: they show later that a file was the input, and tell others nothing.

There are two. `digest_as_read` is over the records as they were read, in their order, with unprotected
cells: it confirms the very input. `digest_of_records` is over the same records in canonical order
without those cells: it confirms them also where rows were shuffled or came in another format, which is
all that a recoding needs, since its records are counted in canonical order.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..distinct import number_distinct, sort_within
from ..hierarchy.tree import Hierarchy
from ..model.transactions import Rows, Transactions
from ..model.vocabulary import Vocabulary
from .apply import canonical_order


def digest_as_read(transactions: Transactions, key: bytes) -> str:
    """Return the keyed hash of the records as they are, in hex digits.

    The labels as a JSON array, then indptr (int64) and items (int32), little-endian, then any
    unprotected cells as a JSON array of arrays.
    """
    digest = hmac.new(key, digestmod=hashlib.sha256)
    digest.update(json.dumps(list(transactions.vocabulary.labels), ensure_ascii=False).encode())
    digest.update(transactions.indptr.astype("<i8").tobytes())
    digest.update(transactions.items.astype("<i4").tobytes())
    if transactions.unprotected is not None:
        digest.update(json.dumps(transactions.unprotected, ensure_ascii=False).encode())
    return digest.hexdigest()


def digest_of_records(transactions: Transactions, key: bytes) -> str:
    """Return the keyed hash of the records alone, whatever their order, in hex digits."""
    used, items = number_distinct(transactions.items)
    labels = tuple(transactions.vocabulary.labels[item] for item in used.tolist())
    plain = Transactions(Vocabulary(labels), transactions.indptr, items.astype(np.int32))
    return digest_as_read(plain.take(canonical_order(plain)), key)


def digest_of_rows(rows: Rows, hierarchy: Hierarchy, key: bytes) -> str:
    """Return `digest_of_records` of records that are leaves, in canonical order already.

    Every leaf occurs: the hierarchy is restricted to those that do.
    """
    return digest_as_read(as_labels(rows, hierarchy), key)


def as_labels(rows: Rows, hierarchy: Hierarchy) -> Transactions:
    """Return records that are leaves of a hierarchy as records of labels, in the same order."""
    return labelled(rows.indptr, rows.leaves, hierarchy.labels[: hierarchy.n_leaves])


def labelled(
    indptr: NDArray[np.int64], nodes: NDArray[np.int32], labels: Sequence[str]
) -> Transactions:
    """Return records that are nodes, ``labels[n]`` that of node n, as records of labels."""
    order = sorted(range(len(labels)), key=labels.__getitem__)
    item_of_node = np.empty(len(labels), dtype=np.int64)
    item_of_node[order] = np.arange(len(labels))
    items = sort_within(indptr, item_of_node[nodes], len(labels))
    vocabulary = Vocabulary(tuple(labels[node] for node in order))
    return Transactions(vocabulary, indptr, items)
