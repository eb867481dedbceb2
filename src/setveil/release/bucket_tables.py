"""What is published of buckets: a quasi-identifying table and a sensitive one, joined by the bucket.

Canonical: rows and buckets are ordered by what is published, never by the input, and buckets are
numbered in that order. So the numbers tell nothing, and the same bucketing gives the same tables
whatever the order of the tuples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..distinct import count_distinct
from ..model.microdata import Microdata
from .bucket_order import in_canonical_order, rank_rows
from .bucketing import Bucketing

Ids = NDArray[np.int32]
Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class BucketTables:
    """The two tables. `leaves` has a line a tuple, `bucket_of_row` its bucket, both in order.

    `bucket_of_count`, `value_of_count` and `counts` are the sensitive table: how many tuples of a
    bucket have a value. `value_of_row` is what the tables hide, the value of each row.
    """

    data: Microdata
    leaves: Ids
    bucket_of_row: Ids
    bucket_of_count: Ids
    value_of_count: Ids
    counts: Places
    value_of_row: Ids

    @property
    def quasi_header(self) -> tuple[str, ...]:
        """The names of the quasi-identifying columns, then that of the bucket."""
        return (*(attribute.name for attribute in self.data.quasi), bucket_name(self.data))

    @property
    def sensitive_header(self) -> tuple[str, ...]:
        """The names of the columns of the sensitive table."""
        return (bucket_name(self.data), self.data.sensitive, count_name(self.data))

    def quasi_rows(self) -> Iterator[tuple[str, ...]]:
        """Yield the cells of each row of the quasi-identifying table; buckets count from 1."""
        columns = [
            [attribute.hierarchy.labels[leaf] for leaf in self.leaves[:, place].tolist()]
            for place, attribute in enumerate(self.data.quasi)
        ]
        numbers = [str(bucket + 1) for bucket in self.bucket_of_row.tolist()]
        return zip(*columns, numbers, strict=True)

    def sensitive_rows(self) -> Iterator[tuple[str, str, str]]:
        """Yield bucket, value and count of each row of the sensitive table."""
        values = self.data.values
        for bucket, value, count in zip(
            self.bucket_of_count.tolist(),
            self.value_of_count.tolist(),
            self.counts.tolist(),
            strict=True,
        ):
            yield str(bucket + 1), values[value], str(count)

    def joined_rows(self) -> Iterator[tuple[str, ...]]:
        """Yield one table: each bucket's sensitive values, sorted, beside its tuples, sorted.

        Both orders depend on what is published alone, so a row's value is not its tuple's.
        """
        values = np.repeat(self.value_of_count, self.counts)
        for row, value in zip(self.quasi_rows(), values.tolist(), strict=True):
            yield (*row, self.data.values[value])


def bucket_name(data: Microdata) -> str:
    """Return a name for the column of buckets that no other column has."""
    return _free("bucket", data)


def count_name(data: Microdata) -> str:
    """Return a name for the column of counts that no other column has."""
    return _free("count", data)


def _free(name: str, data: Microdata) -> str:
    taken = {data.sensitive, *(attribute.name for attribute in data.quasi)}
    while name in taken:
        name += "_"
    return name


def publish_buckets(data: Microdata, bucketing: Bucketing) -> BucketTables:
    """Return the two tables of a bucketing, in canonical order.

    >>> from setveil.model.microdata import Microdata
    >>> table = Microdata.from_columns({"sex": ["M", "F"], "ill": ["gout", "flu"]}, "ill")
    >>> tables = publish_buckets(table, Bucketing(np.zeros(2, dtype=np.int32)))
    >>> list(tables.quasi_rows()), list(tables.sensitive_rows())
    ([('F', '1'), ('M', '1')], [('1', 'flu', '1'), ('1', 'gout', '1')])
    """
    bucket_by_tuple = in_canonical_order(data, bucketing).bucket_by_tuple
    order = np.lexsort((rank_rows(data), bucket_by_tuple))
    width = max(len(data.values), 1)
    keys, counts = count_distinct(bucket_by_tuple.astype(np.int64) * width + data.value_by_tuple)
    return BucketTables(
        data=data,
        leaves=data.leaves[order],
        bucket_of_row=bucket_by_tuple[order],
        bucket_of_count=(keys // width).astype(np.int32),
        value_of_count=(keys % width).astype(np.int32),
        counts=counts.astype(np.int64),
        value_of_row=data.value_by_tuple[order],
    )
