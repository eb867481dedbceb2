"""What both groupings of Injector take and give: classes as arrays, and groups spelled out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...kernels.base import plain
from ...kernels.buckets.injector import Classes
from ...release.possible import TupleClasses

Ids = NDArray[np.int32]

STRIDE = 50_000_000
"""Steps between two looks at the clock: about a tenth of a second."""


class Grouped(NamedTuple):
    """Groups as the bucket and the class of each tuple, in any order, and figures of how they came."""

    bucket: Ids
    member: Ids
    figures: Mapping[str, int]

    @property
    def n_buckets(self) -> int:
        """How many groups there are."""
        return int(self.bucket.max(initial=-1)) + 1


def as_arrays(classes: TupleClasses) -> Classes:
    """Return the classes as the kernels take them."""
    cannot = classes.impossible_by_set
    kinds, values = np.nonzero(cannot)
    ruled = np.flatnonzero(cannot.any(axis=0))
    column_of_value = np.full(cannot.shape[1], -1, dtype=np.int32)
    column_of_value[ruled] = np.arange(len(ruled), dtype=np.int32)
    return Classes(
        plain(classes.value_by_class, np.int32),
        plain(classes.set_by_class, np.int32),
        plain(cannot, np.bool_),
        plain(np.searchsorted(kinds, np.arange(len(cannot) + 1)), np.int64),
        plain(values, np.int32),
        column_of_value,
    )


def most_buckets(classes: TupleClasses, l: int) -> int:  # noqa: E741
    """Return a number of buckets that cannot be exceeded: each has `l` tuples and `l` values."""
    count = np.bincount(classes.value_by_class, weights=classes.count_by_class).astype(np.int64)
    low, high = 1, max(1, int(count.sum()) // l)
    while low < high:
        middle = (low + high + 1) // 2
        if int(np.minimum(count, middle).sum()) >= middle * l:
            low = middle
        else:
            high = middle - 1
    return low
