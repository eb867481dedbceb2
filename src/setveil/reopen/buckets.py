"""A table in buckets read back: what anybody learns from its folder, and what its holder knows.

The public part is read by the reader of the audit, which refuses whatever is not as it must be. The
private twin adds the value of each row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DataError
from ..hierarchy.tree import Hierarchy
from ..io.folder.ownership import BUCKETS
from ..io.folder.twin import Twin, read_twin
from ..model.guarantees import BucketGuarantee
from ..model.microdata import Microdata
from ..model.rules import Completeness, NegativeRule
from ..progress import Watch
from ..release.buckets import Bucketing, BucketRelease
from .account import Account, StrPath

if TYPE_CHECKING:
    from ..audit.bucket_reader import ReadBuckets


@dataclass(frozen=True, eq=False)
class PublicBuckets:
    """What anybody knows of a table in buckets.

    `data` has the rows in published order, and each bucket's values in sorted order beside them: whose
    value is whose is not known. What depends on the buckets alone can be computed from it all the same.
    """

    data: Microdata
    bucketing: Bucketing
    guarantee: BucketGuarantee
    certificate: Mapping[str, Any]
    rules: tuple[NegativeRule, ...]
    complete: Completeness


def read_public_buckets(path: StrPath) -> PublicBuckets:
    """Return what the public folder of a table in buckets tells, after checking every byte of it.

    Parameters
    ----------
    path
        The public folder.

    Raises
    ------
    FileSystemError
        If the folder or a file is not there or cannot be read.
    DataError
        If anything in the folder is not as it must be, or it holds no table in buckets.
    """
    from ..audit import read_release
    from ..audit.bucket_reader import ReadBuckets

    read = read_release(path)
    if not isinstance(read, ReadBuckets):
        raise DataError(
            "holds records as sets, not a table in buckets.",
            "Give the folder of a table, as `setveil anonymize --quasi` made it.",
            code="no-buckets",
            file=str(path),
        )
    tables = read.tables
    values = [value for _, value, count in tables.sensitive for _ in range(count)]
    return PublicBuckets(
        _table(read, values),
        Bucketing(tables.bucket_by_row.astype(np.int32)),
        read.guarantee,
        read.certificate,
        tuple(NegativeRule(conditions, value) for conditions, value in read.rules),
        Completeness.of_told(read.complete),
    )


def _table(read: ReadBuckets, values: list[str]) -> Microdata:
    """Return the published rows with these values, under the published hierarchies."""
    columns = {
        column.name: (column.labels, column.code_by_row.astype(np.int32))
        for column in read.tables.columns
    }
    number: dict[str, int] = {}
    codes = [number.setdefault(value, len(number)) for value in values]
    sensitive = read.certificate["data"]["sensitive"]["column"]
    trees = {name: Hierarchy.from_paths(paths.values()) for name, paths in read.paths.items()}
    return Microdata.from_codes(
        {**columns, sensitive: (tuple(number), np.array(codes, dtype=np.int32))},
        sensitive,
        quasi=tuple(columns),
        hierarchies=trees,
    )


def read_bucket_release(path: StrPath, *, watch: Watch | None = None) -> BucketRelease:
    """Return the table in buckets in a folder, with all that its private twin knows.

    Parameters and errors are those of `setveil.read_release`.
    """
    watch = watch or Watch()
    watch.tick("reading the release", None)
    public = read_public_buckets(path)
    watch.tick("reading its private twin", None)
    return with_values(public, read_twin(path))


def with_values(public: PublicBuckets, twin: Twin) -> BucketRelease:
    """Return the release that folder and twin describe, after comparing what they say."""
    data = public.data
    bucket = public.bucketing.bucket_by_tuple.tolist()
    told = twin.buckets.get("value_of_row")
    if not isinstance(told, list) or not all(isinstance(value, str) for value in told):
        raise twin.refusal(BUCKETS, "does not hold the value of each row as a list of texts")
    held = Counter(
        zip(bucket, (data.values[value] for value in data.value_by_tuple.tolist()), strict=True)
    )
    if len(told) != len(bucket) or Counter(zip(bucket, told, strict=True)) != held:
        raise twin.refusal(BUCKETS, "gives other values to the buckets than the release shows")
    if twin.buckets.get("column") != data.sensitive:
        raise twin.refusal(BUCKETS, "names another sensitive column than the certificate")
    account = Account(twin, public.certificate)
    account.compare(records=len(data), buckets=public.bucketing.n_buckets)
    number = {value: place for place, value in enumerate(data.values)}
    return BucketRelease(
        data=Microdata(
            data.quasi, data.sensitive, data.values, np.array([number[v] for v in told], dtype=np.int32)
        ),
        bucketing=public.bucketing,
        rules=public.rules,
        complete=public.complete,
        left_out=_left_out_of(twin, width=len(data.quasi) + 1),
        **account.header("buckets"),
    )


def _left_out_of(twin: Twin, *, width: int) -> tuple[tuple[str, ...], ...] | None:
    """Return the rows that are not published, if any may have been left out."""
    told = twin.buckets.get("left_out")
    if told is None:
        return None
    if not isinstance(told, list) or not all(
        isinstance(row, list) and len(row) == width and all(isinstance(cell, str) for cell in row)
        for row in told
    ):
        raise twin.refusal(BUCKETS, "does not hold the rows that were left out as lists of texts")
    return tuple(tuple(row) for row in told)
