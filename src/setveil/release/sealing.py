"""Keyed hashes of the original data: they show later that a file was the input, and nothing else.

Of records there are two. `digest_as_read` is over the records as they were read, in their order, with
unprotected cells: it confirms the very input. `digest_of_records` is over the same records in canonical
order without those cells: it confirms them also where rows were shuffled or came in another format,
which is all that a recoding needs, since its records are counted in canonical order.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from typing import TYPE_CHECKING

import numpy as np

from ..distinct import number_distinct
from ..hierarchy.tree import Hierarchy
from ..model.transactions import Rows, Transactions, as_labels, canonical_order
from ..model.vocabulary import Vocabulary
from .header import Seal

if TYPE_CHECKING:
    from ..model.microdata import Microdata
    from ..model.pattern_pair import PatternPair


def seal(transactions: Transactions) -> Seal:
    """Return a keyed hash of records as they were read, under a fresh random key."""
    key = secrets.token_bytes(32)
    return Seal(key.hex(), digest_as_read(transactions, key))


def seal_of_table(data: Microdata) -> Seal:
    """Return a keyed hash of the tuples of a table under a fresh random key."""
    key = secrets.token_bytes(32)
    digest = hmac.new(key, digestmod=hashlib.sha256)
    names = [*(attribute.name for attribute in data.quasi), data.sensitive]
    texts = [
        list(attribute.hierarchy.labels[: attribute.hierarchy.n_leaves]) for attribute in data.quasi
    ]
    digest.update(json.dumps([names, *texts, list(data.values)], ensure_ascii=False).encode())
    digest.update(data.leaves.astype("<i4").tobytes())
    digest.update(data.value_by_tuple.astype("<i4").tobytes())
    return Seal(key.hex(), digest.hexdigest())


def seal_of_pair(pair: PatternPair, key: bytes | None = None) -> Seal:
    """Return a keyed hash of the original records of both sides, whatever their order.

    Parameters
    ----------
    pair
        The data.
    key
        Another key than a fresh random one, to compare with a seal that was made under it.
    """
    key = secrets.token_bytes(32) if key is None else key
    digest = hmac.new(key, digestmod=hashlib.sha256)
    labels = sorted(pair.hierarchy.labels[: pair.hierarchy.n_leaves])
    digest.update(json.dumps([list(pair.columns), labels], ensure_ascii=False).encode())
    for unordered, order in pair.originals:
        records = unordered.take(order)
        digest.update(np.int64(len(records)).astype("<i8").tobytes())
        digest.update(records.indptr.astype("<i8").tobytes())
        digest.update(records.items.astype("<i4").tobytes())
    return Seal(key.hex(), digest.hexdigest())


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
