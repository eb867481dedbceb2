"""Promises about tables in buckets, judged from the two published tables, and the rules.

One table has a row for each person: quasi-identifying cells and the number of a bucket. The other says
how often each sensitive value is in a bucket. l-diversity: no value has a share above 1/l in any
bucket. Matching l-diversity: whoever knows the published rules finds at least l values possible for
every row; see `matching`. Where it is told from where on the rules are complete, that holds as well for
whoever concludes from a rule that is missing that somebody breaks it.

`(missing)` in the sensitive table stands for no value. It is none of the l, and of the rows that have a
value, too, no value has a share above 1/l.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from ..model.guarantees import BucketGuarantee, LDiversity, MatchingDiversity
from .conditions import Column, Paths, Rule, ruled_out
from .matching import Shares, fewest_despite_gaps
from .published import shortened
from .spelling import REMEDY
from .verdict import BucketFinding

Counts = NDArray[np.int64]
NO_VALUE = "(missing)"


@dataclass(frozen=True, eq=False)
class PublishedBuckets:
    """The two tables, checked to fit each other.

    Attributes
    ----------
    columns
        The quasi-identifying columns.
    bucket_by_row
        The bucket of each row, from 0 on without gaps; in files and messages buckets count from 1.
    sensitive
        Bucket, value and count; each bucket and value once.

    >>> PublishedBuckets.of({"sex": ["F", "M"]}, [0, 0], [(0, "flu", 1), (0, "gout", 1)])
    PublishedBuckets(2 rows, 1 buckets)
    """

    columns: tuple[Column, ...]
    bucket_by_row: Counts
    sensitive: tuple[tuple[int, str, int], ...]

    @classmethod
    def of(
        cls,
        cells_by_column: dict[str, Sequence[str]],
        bucket_by_row: Sequence[int],
        sensitive: Sequence[tuple[int, str, int]],
    ) -> PublishedBuckets:
        """Return the tables of cells as texts."""
        columns = tuple(Column.of(name, cells) for name, cells in cells_by_column.items())
        return cls(columns, np.array(bucket_by_row, dtype=np.int64), tuple(sensitive))

    def __post_init__(self) -> None:
        for column in self.columns:
            if len(column.code_by_row) != len(self.bucket_by_row):
                raise _refuse(
                    f"the column {shortened(column.name)} has {len(column.code_by_row):,} cells for "
                    f"{len(self.bucket_by_row):,} rows."
                )
        sizes = self.size_by_bucket
        if (sizes == 0).any():
            raise _refuse(f"bucket {int(np.flatnonzero(sizes == 0)[0]) + 1} has no rows.")
        held = [0] * len(sizes)
        seen: set[tuple[int, str]] = set()
        for bucket, value, count in self.sensitive:
            if not 0 <= bucket < len(sizes):
                raise _refuse(f"the sensitive table names bucket {bucket + 1}, which has no rows.")
            if count < 1:
                raise _refuse(f"the sensitive table has a count of {count} in bucket {bucket + 1}.")
            if (bucket, value) in seen:
                raise _refuse(f"the value {shortened(value)} is counted twice in bucket {bucket + 1}.")
            seen.add((bucket, value))
            held[bucket] += count
        for bucket, (size, count) in enumerate(zip(sizes.tolist(), held, strict=True)):
            if size != count:
                raise _refuse(
                    f"bucket {bucket + 1} has {size:,} rows in one table and {count:,} in the other."
                )

    def __repr__(self) -> str:
        return (
            f"PublishedBuckets({len(self.bucket_by_row):,} rows, {len(self.size_by_bucket):,} buckets)"
        )

    @cached_property
    def size_by_bucket(self) -> Counts:
        """How many rows each bucket has."""
        if len(self.bucket_by_row) and self.bucket_by_row.min() < 0:
            raise _refuse("a bucket has a negative number.")
        return np.bincount(self.bucket_by_row).astype(np.int64)


def audit_buckets(
    tables: PublishedBuckets,
    guarantee: BucketGuarantee,
    *,
    rules: Sequence[Rule] = (),
    paths: Paths | None = None,
    complete: Sequence[str | None] = (),
) -> BucketFinding:
    """Judge a promise about buckets.

    Parameters
    ----------
    tables
        What is published.
    guarantee
        `LDiversity` or `MatchingDiversity`.
    rules
        The published rules, with which matching diversity reckons.
    paths
        The published hierarchies of the columns that have one.
    complete
        From which chance on no rule is missing that holds, by the number of conditions.
    """
    if isinstance(guarantee, LDiversity):
        return _audit_shares(tables, guarantee)
    chances = [None if chance is None else Fraction(chance) for chance in complete]
    return _audit_matching(tables, guarantee, rules, paths or {}, chances)


def _audit_shares(tables: PublishedBuckets, guarantee: LDiversity) -> BucketFinding:
    different = [0] * len(tables.size_by_bucket)
    broken = set()
    for bucket, value, count, of_rows in _shares(tables):
        different[bucket] += value != NO_VALUE
        if count * guarantee.l > of_rows:
            broken.add(bucket)
    return _finding(tables, guarantee, min(different, default=None), len(broken))


def _shares(tables: PublishedBuckets) -> Iterator[tuple[int, str, int, int]]:
    """Yield bucket, value and count, and the number of rows of which that is a share."""
    sizes = tables.size_by_bucket.tolist()
    valued = list(sizes)
    for bucket, value, count in tables.sensitive:
        if value == NO_VALUE:
            valued[bucket] -= count
    for bucket, value, count in tables.sensitive:
        yield bucket, value, count, sizes[bucket] if value == NO_VALUE else valued[bucket]


def _audit_matching(
    tables: PublishedBuckets,
    guarantee: MatchingDiversity,
    rules: Sequence[Rule],
    paths: Paths,
    complete: Sequence[Fraction | None],
) -> BucketFinding:
    values = sorted({value for _, value, _ in tables.sensitive})
    number = {value: place for place, value in enumerate(values)}
    kind_by_row, cannot = ruled_out(tables.columns, len(tables.bucket_by_row), values, rules, paths)
    listed = sorted((bucket, number[value], count) for bucket, value, count in tables.sensitive)
    shares = Shares.of(tables.bucket_by_row, kind_by_row, np.array(listed).reshape(-1, 3), cannot)
    no_value = number.get(NO_VALUE, -1)
    fewest = shares.count_possible(no_value)
    by_gaps = None
    if any(chance is not None for chance in complete):
        by_gaps = fewest_despite_gaps(shares, tables.columns, paths, complete, no_value)
        fewest_by_row = np.minimum(fewest, by_gaps)
    else:
        fewest_by_row = fewest
    return _finding(
        tables,
        guarantee,
        int(fewest.min()) if len(fewest) else None,
        int((fewest_by_row < guarantee.l).sum()),
        None if by_gaps is None or not len(by_gaps) else int(by_gaps.min()),
    )


def _finding(
    tables: PublishedBuckets,
    guarantee: BucketGuarantee,
    fewest: int | None,
    broken: int,
    fewest_by_gaps: int | None = None,
) -> BucketFinding:
    sizes = tables.size_by_bucket.tolist()
    largest: dict[int, int] = {}
    for _, _, count, of_rows in _shares(tables):
        # Among shares of one number of rows only the largest count matters.
        largest[of_rows] = max(largest.get(of_rows, 0), count)
    shares = [Fraction(count, size) for size, count in largest.items()]
    return BucketFinding(
        broken == 0,
        guarantee,
        len(tables.bucket_by_row),
        len(sizes),
        min(sizes, default=0),
        max(shares, default=None),
        fewest,
        broken,
        fewest_by_gaps,
    )


def _refuse(what: str) -> DataError:
    return DataError(what, REMEDY, code="published-buckets")
