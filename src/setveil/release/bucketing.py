"""A bucketing: which tuples share a bucket; inside one, nobody can tell whose value is whose."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Bucketing:
    """The bucket of each tuple, numbered from 0 without gaps; the numbers mean nothing."""

    bucket_by_tuple: NDArray[np.int32]

    @property
    def n_buckets(self) -> int:
        """How many buckets there are."""
        return int(self.bucket_by_tuple.max(initial=-1)) + 1

    def __len__(self) -> int:
        return len(self.bucket_by_tuple)
