"""Buckets: which tuples share one, the two tables that are published, and the release of such a table.

Inside a bucket nobody can tell whose value is whose. A method forms its buckets in some order, rare
values first perhaps; whoever saw that order would learn from it. So rows and buckets are ordered by
what is published, never by the input, and buckets are numbered in that order: the numbers tell nothing,
and the same bucketing gives the same tables whatever the order of the tuples.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..distinct import count_distinct, number_distinct
from ..model.guarantees import BucketGuarantee
from ..model.microdata import Microdata
from ..model.rules import NOT_KNOWN, Completeness, NegativeRule
from .header import Header, Seal, is_useless

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True, eq=False)
class Bucketing:
    """The bucket of each tuple, numbered from 0 without gaps; the numbers mean nothing."""

    bucket_by_tuple: NDArray[np.int32]

    @property
    def n_buckets(self) -> int:
        return int(self.bucket_by_tuple.max(initial=-1)) + 1

    def __len__(self) -> int:
        return len(self.bucket_by_tuple)


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


LEAST_FOR_TWO = 4
"""A table with fewer than this many times l records may well need all of them for one bucket."""


@dataclass(frozen=True, eq=False)
class BucketRelease(Header):
    """The result of anonymizing a table with a sensitive column; ``print`` it for a summary.

    `rules` is the background knowledge that the promise reckons with; it is published with the tables,
    and so is `complete`, from where on no rule that holds is left out.
    `seeded` marks a run whose randomness was given from outside: it must not be published. `left_out`
    are the cells of tuples that are not published, the sensitive one last; None where all are.

    >>> import setveil as sv
    >>> people = {"sex": ["F", "M", "F", "M"], "ill": ["flu", "cold", "cold", "flu"]}
    >>> table = sv.Microdata.from_columns(people, sensitive="ill")
    >>> release = sv.anonymize(table, sv.LDiversity(l=2))
    >>> release
    BucketRelease(2-diversity of buckets, anatomy, 4 records, 2 buckets)
    >>> release.to_arrow().column_names
    ['sex', 'bucket', 'ill']
    """

    guarantee: BucketGuarantee = field(kw_only=True)
    data: Microdata
    bucketing: Bucketing
    rules: tuple[NegativeRule, ...] = ()
    complete: Completeness = NOT_KNOWN
    seeded: bool = False
    left_out: tuple[tuple[str, ...], ...] | None = None

    @property
    def records(self) -> int:
        return len(self.data)

    @property
    def useless(self) -> str | None:
        alone = self.bucketing.n_buckets == 1 and self.records >= LEAST_FOR_TWO * self.guarantee.l
        telling = 0 if alone else self.records
        if not is_useless(telling, self.records):
            return None
        way = "--grouping compact, " if self.options.get("grouping") == "printed" else ""
        return (
            f"all {self.records:,} records share one bucket: nothing is told but how often each value "
            f"occurs. What may help: {way}fewer rules (a larger --min-exp), values grouped so that "
            "none is most people's, or a smaller l."
        )

    @cached_property
    def tables(self) -> BucketTables:
        return publish_buckets(self.data, self.bucketing)

    def frame(self) -> pyarrow.Table:
        """Return one table: the quasi-identifying cells, the bucket, and what its people have.

        The last column holds for every row all sensitive values of its bucket, a list of structs
        ``value`` and ``count``: nothing stands beside a row as if it were its own, there is no second
        table to join, and exploding that column gives each value that a row may have.
        """
        import pyarrow

        tables, data = self.tables, self.data
        columns = {
            attribute.name: pyarrow.array(attribute.hierarchy.labels).take(pyarrow.array(leaves))
            for attribute, leaves in zip(data.quasi, tables.leaves.T, strict=True)
        }
        # Buckets are in order in both tables, and each has a value.
        start = np.searchsorted(tables.bucket_of_count, np.arange(self.bucketing.n_buckets + 1))
        held = pyarrow.StructArray.from_arrays(
            [
                pyarrow.array(data.values).take(pyarrow.array(tables.value_of_count)),
                pyarrow.array(tables.counts),
            ],
            ["value", "count"],
        )
        by_bucket = pyarrow.ListArray.from_arrays(pyarrow.array(start, pyarrow.int32()), held)
        columns[bucket_name(data)] = pyarrow.array(tables.bucket_of_row + 1)
        columns[data.sensitive] = by_bucket.take(pyarrow.array(tables.bucket_of_row))
        return pyarrow.table(columns)

    def lines(self) -> list[tuple[str, str]]:
        sizes = np.bincount(self.bucketing.bucket_by_tuple)
        least, most = int(sizes.min()), int(sizes.max())
        lines = [
            ("promise", str(self.guarantee)),
            ("method", self._chosen + (", seeded: not for release" if self.seeded else "")),
            (
                "records",
                f"{self.records:,}, every value published as it is"
                + (f"; {len(self.left_out):,} left out" if self.left_out else ""),
            ),
            ("hidden", f"whose {self.data.sensitive} is whose inside a bucket"),
            (
                "buckets",
                f"{len(sizes):,}, of {least:,}"
                + (f" to {most:,}" if most > least else "")
                + " records"
                + (f", {self.records / len(sizes):.3g} in the mean" if most > least else ""),
            ),
        ]
        if self.guarantee.takes_rules:
            told = f"{len(self.rules):,} reckoned with" if self.rules else "none found or given"
            lines.append(("rules", told))
        lines.append(("time", f"{self.seconds:.2f} s"))
        return lines + [("note", notice) for notice in self.notices]

    def __repr__(self) -> str:
        return (
            f"BucketRelease({self.guarantee}, {self.method}, {self.records:,} records, "
            f"{self.bucketing.n_buckets:,} buckets)"
        )

    def account(self) -> dict[str, object]:
        return {"records": self.records, "buckets": self.bucketing.n_buckets}

    def hidden(self) -> dict[str, object]:
        """Return the value of every row of the first table, and the rows that were left out."""
        document: dict[str, object] = {
            "column": self.data.sensitive,
            "value_of_row": [self.data.values[value] for value in self.tables.value_of_row.tolist()],
        }
        if self.left_out is not None:
            document["left_out"] = [list(row) for row in self.left_out]
        return document


def seal_of_table(data: Microdata) -> Seal:
    """Return a keyed hash of the tuples of a table, as they were read."""
    names = [*(attribute.name for attribute in data.quasi), data.sensitive]
    texts = [
        list(attribute.hierarchy.labels[: attribute.hierarchy.n_leaves]) for attribute in data.quasi
    ]
    return Seal.over(
        (
            json.dumps([names, *texts, list(data.values)], ensure_ascii=False).encode(),
            data.leaves.astype("<i4").tobytes(),
            data.value_by_tuple.astype("<i4").tobytes(),
        )
    )
