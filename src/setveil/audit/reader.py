"""Reads a release folder as a stranger would: four files, nothing more, not a byte unexplained.

Each file is read once, and the same bytes are hashed and parsed. What could carry a message besides
the data is refused: other files, other keys, other orders, other spellings, bytes left over. Two
things cannot be checked so: which of many valid compressed forms a gzip or Parquet file uses, and the
sentences of certificate and report (`page` says what is checked of the latter).
"""

from __future__ import annotations

import hashlib
import os
import stat
import zlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import DataError, FileSystemError, ResourceLimit
from ..model.guarantees import Coherence, Guarantee, LmDiversity
from .bucket_reader import (
    ReadBuckets,
    bucket_files,
    check_bucket_certificate,
    is_of_buckets,
    read_buckets,
)
from .certificate import NAME as CERTIFICATE
from .certificate import check_counts, check_sets, read_certificate
from .formats import LARGEST_BYTES, read_data
from .hierarchy import NAME as HIERARCHY
from .hierarchy import PublishedHierarchy, check_against, check_apart, read_hierarchy
from .page import LARGEST as LARGEST_REPORT
from .page import NAME as REPORT
from .page import check_report
from .pair_reader import ReadPair, check_pair_certificate, is_of_pair, pair_files, read_pair
from .published import Published, shortened
from .spelling import refuse
from .words import check_words

LARGEST_CERTIFICATE = 64 * 2**20


@dataclass(frozen=True, eq=False)
class ReadRelease:
    """A release folder whose every byte has been checked; only the counting is left."""

    published: Published
    certificate: dict[str, Any]
    guarantee: Guarantee
    hierarchy: PublishedHierarchy

    @property
    def uncovered(self) -> tuple[str, ...]:
        """The columns that are published as they are, so that the promise says nothing about them."""
        columns = self.certificate["data"].get("columns", ())
        return tuple(column["name"] for column in columns if column["kind"] == "unprotected")


def read_release(path: str | os.PathLike[str]) -> ReadRelease | ReadBuckets | ReadPair:
    """Read a release folder and check all but the guarantee itself.

    Parameters
    ----------
    path
        The folder.

    Raises
    ------
    DataError
        If anything in the folder is not as a release must be.
    FileSystemError
        If the folder or a file cannot be read.
    """
    folder = Path(path)
    names = _names_in(folder)
    if CERTIFICATE not in names:
        raise DataError(
            f"the folder has no {CERTIFICATE}.", "Give the folder of a release.", code="no-release"
        )
    certificate = read_certificate(_read_file(folder, CERTIFICATE, largest=LARGEST_CERTIFICATE))
    if is_of_buckets(certificate):
        return _read_buckets(folder, certificate, names)
    if is_of_pair(certificate):
        return _read_pair(folder, certificate, names)
    guarantee = check_sets(certificate)
    check_words(certificate)
    data_name = certificate["data"]["file"]
    _check_names(
        names, {CERTIFICATE, HIERARCHY, data_name} | ({REPORT} if "report" in certificate else set())
    )
    hierarchy_bytes = _read_file(folder, HIERARCHY, largest=LARGEST_BYTES)
    _need_hash(hierarchy_bytes, certificate["hierarchy"]["sha256"], HIERARCHY)
    data_bytes = _read_file(folder, data_name, largest=LARGEST_BYTES)
    _need_hash(data_bytes, certificate["data"]["sha256"], data_name)
    if data_name.endswith(".gz"):
        data_bytes = unpack(data_bytes, data_name)
    published = read_data(data_bytes, certificate["data"], data_name)
    hierarchy = read_hierarchy(hierarchy_bytes)
    check_against(
        hierarchy,
        published.labels,
        local=certificate["recoding"] == "local",
        forest=certificate["data"]["format"] == "table"
        or isinstance(guarantee, LmDiversity | Coherence)
        or (certificate["data"]["format"] == "jsonl" and hierarchy.is_of_columns),
    )
    check_counts(certificate, guarantee, published.records)
    check_apart(hierarchy, named_labels(guarantee))
    for label in sorted(named_labels(guarantee) - set(published.labels)):
        raise refuse(
            f"the sensitive label {shortened(label)} does not occur.",
            CERTIFICATE,
            code="certificate-guarantee",
        )
    if "report" in certificate:
        columns = (column["name"] for column in certificate["data"].get("columns", ()))
        _check_page(folder, certificate, {*hierarchy.labels, *columns})
    return ReadRelease(published, certificate, guarantee, hierarchy)


def _read_buckets(folder: Path, certificate: dict[str, Any], names: set[str]) -> ReadBuckets:
    """Read the folder of a table in buckets."""
    guarantee = check_bucket_certificate(certificate)
    check_words(certificate)
    content_of = _contents(folder, bucket_files(certificate), names)
    found = read_buckets(certificate, guarantee, content_of)
    _check_page(folder, certificate, found.labels)
    return found


def _read_pair(folder: Path, certificate: dict[str, Any], names: set[str]) -> ReadPair:
    """Read the folder of two data sets."""
    guarantee = check_pair_certificate(certificate)
    check_words(certificate)
    content_of = _contents(folder, pair_files(certificate), names)
    found = read_pair(certificate, guarantee, content_of)
    _check_page(folder, certificate, found.labels)
    return found


def _contents(folder: Path, hash_of_file: Mapping[str, str], names: set[str]) -> Callable[[str], bytes]:
    """Return what gives the bytes of a file, its hash checked; no other files may be there."""
    _check_names(names, {CERTIFICATE, REPORT, *hash_of_file})

    def content_of(name: str) -> bytes:
        content = _read_file(folder, name, largest=LARGEST_BYTES)
        _need_hash(content, hash_of_file[name], name)
        return unpack(content, name) if name.endswith(".gz") else content

    return content_of


def _check_names(names: set[str], expected: set[str]) -> None:
    for name in sorted(names - expected):
        raise refuse(
            f"the folder holds {shortened(name)}, which is no part of a release.",
            CERTIFICATE,
            code="spare-file",
        )
    for name in sorted(expected - names):
        raise DataError(f"the folder lacks {name}.", "Publish it again.", code="missing-file")


def _check_page(folder: Path, certificate: dict[str, Any], labels: Collection[str]) -> None:
    page = _read_file(folder, REPORT, largest=LARGEST_REPORT)
    _need_hash(page, certificate["report"]["sha256"], REPORT)
    check_report(page, certificate, labels)


def named_labels(guarantee: Guarantee) -> frozenset[str]:
    """Return the sensitive or private labels that a guarantee names."""
    if isinstance(guarantee, Coherence):
        return guarantee.private
    return guarantee.sensitive if isinstance(guarantee, LmDiversity) else frozenset()


def unpack(content: bytes, file: str, *, largest: int = LARGEST_BYTES) -> bytes:
    """Return what a gzip file of one plain member holds.

    Parameters
    ----------
    content
        The compressed bytes.
    file
        The name to use in messages.
    largest
        The most bytes that may come out.
    """
    # Method deflate, no flags (so no name, comment or extra field), no time, a usual level and system.
    plain_head = content[:8] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00"
    if not plain_head or content[8:9] not in (b"\0", b"\2", b"\4") or content[9:10] not in b"\3\xff":
        raise refuse("the gzip head is not the plain one.", file, code="gzip-head")
    inflater = zlib.decompressobj(wbits=31)
    try:
        unpacked = inflater.decompress(content, largest + 1)
    except zlib.error:
        raise refuse("the gzip data are damaged.", file, code="gzip") from None
    if len(unpacked) > largest:
        raise ResourceLimit(
            f"the file unpacks to more than {largest:,} bytes.", code="too-large", file=file
        )
    if not inflater.eof:
        raise refuse("the gzip data end early.", file, code="gzip")
    if inflater.unused_data:
        raise refuse("bytes follow the first gzip member.", file, code="gzip-tail")
    return unpacked


def _names_in(folder: Path) -> set[str]:
    try:
        with os.scandir(folder) as entries:
            return {entry.name for entry in entries}
    except OSError as error:
        raise FileSystemError(
            f"the folder cannot be read ({error.strerror}).",
            "Give the folder of a release.",
            file=str(folder),
        ) from None


def _read_file(folder: Path, name: str, *, largest: int) -> bytes:
    try:
        if not stat.S_ISREG(os.lstat(folder / name).st_mode):
            raise refuse("not a regular file.", name, code="not-regular")
        # Not following a link, and not waiting for a pipe, should one be put there meanwhile.
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        descriptor = os.open(folder / name, flags | getattr(os, "O_BINARY", 0))
        with open(descriptor, "rb") as opened:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise refuse("not a regular file.", name, code="not-regular")
            # No more room than the file needs, which its size tells; one more, to see it grow.
            size = os.fstat(descriptor).st_size
            content = opened.read(min(size, largest) + 1)
    except OSError as error:
        raise FileSystemError(f"cannot be read ({error.strerror}).", file=name) from None
    if len(content) > largest:
        raise ResourceLimit(f"the file has more than {largest:,} bytes.", code="too-large", file=name)
    if len(content) > size:
        raise refuse("it grew while it was read.", name, code="changed")
    return content


def _need_hash(content: bytes, expected: str, file: str) -> None:
    if hashlib.sha256(content).hexdigest() != expected:
        raise refuse("the SHA-256 differs from the certificate's.", file, code="changed")
