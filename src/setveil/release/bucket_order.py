"""The canonical numbers of buckets: by what is published of them, so that numbers tell nothing more.

A method forms its buckets in some order, rare values first perhaps. Whoever saw that order would learn
from it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..distinct import number_distinct
from ..model.microdata import Microdata
from .bucketing import Bucketing


def in_canonical_order(data: Microdata, bucketing: Bucketing) -> Bucketing:
    """Return the same buckets, numbered in the order of their rows and then of their values.

    >>> data = Microdata.from_columns({"sex": ["M", "F", "F", "M"], "ill": ["a", "b", "c", "d"]}, "ill")
    >>> late = Bucketing(np.array([1, 1, 0, 0], dtype=np.int32))
    >>> in_canonical_order(data, late).bucket_by_tuple
    array([0, 0, 1, 1], dtype=int32)
    """
    bucket = bucketing.bucket_by_tuple
    start = np.concatenate(([0], np.cumsum(np.bincount(bucket, minlength=bucketing.n_buckets))))
    # Big-endian numbers of one width compare as bytes just as they do as numbers.
    rows = rank_rows(data)
    by_row = rows[np.lexsort((rows, bucket))].astype(">i4")
    values = data.value_by_tuple
    by_value = values[np.lexsort((values, bucket))].astype(">i4")
    keys = [
        (by_row[low:high].tobytes(), by_value[low:high].tobytes())
        for low, high in zip(start[:-1].tolist(), start[1:].tolist(), strict=True)
    ]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    number = np.empty(len(keys), dtype=np.int32)
    number[order] = np.arange(len(keys), dtype=np.int32)
    return Bucketing(number[bucket])


def rank_rows(data: Microdata) -> NDArray[np.int64]:
    """Return the rank of each tuple's quasi-identifying part; equal parts have equal ranks."""
    rank = np.zeros(len(data), dtype=np.int64)
    for attribute in data.quasi:
        labels = attribute.hierarchy.label_rank
        joined = rank * len(labels) + labels[attribute.leaf_by_tuple]
        rank = number_distinct(joined)[1]
    return rank
