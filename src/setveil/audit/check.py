"""The audit's two questions: do these rows keep this promise, and does this folder keep its own?

A release folder is read as a stranger would: known files, nothing more, not a byte unexplained. Each
file is read once, and the same bytes are hashed and parsed. What could carry a message besides the
data is refused: other files, other keys, other orders, other spellings, bytes left over. Two things
cannot be checked so: which of many valid compressed forms a gzip or Parquet file uses, and the
sentences of certificate and report (`words` says what is checked of them).

Records as sets are read here, tables in buckets in `bucket_tables`, two data sets in `patterns`.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ..errors import DataError, FileSystemError, ResourceLimit, UsageError
from ..model.guarantees import AnyGuarantee, Guarantee
from .certificate import NAME as CERTIFICATE
from .certificate import REPORT, check_counts, hash_of_file, read_certificate
from .counting import WORK_LIMIT, Effort
from .formats import LARGEST_BYTES, read_parquet, read_rows, unpack
from .promises import load, traits_of
from .published import (
    HIERARCHY,
    Published,
    PublishedHierarchy,
    check_against,
    check_apart,
    decode,
    read_hierarchy,
    refuse,
    shortened,
)
from .verdict import BucketFinding, PairFinding, Verdict
from .words import LARGEST as LARGEST_REPORT
from .words import check_report, check_words

if TYPE_CHECKING:
    from .bucket_tables import ReadBuckets
    from .patterns import ReadPair

MODES = ("exact", "cover")
LARGEST_CERTIFICATE = 64 * 2**20


def audit_published(
    published: Published,
    guarantee: Guarantee,
    *,
    mode: str = "exact",
    leaves_under: Mapping[str, Collection[str]] | None = None,
    witnesses: int = 0,
    threads: int | None = None,
    work_limit: int = WORK_LIMIT,
) -> Verdict:
    """Return whether published rows keep a promise.

    Mode "exact" counts published labels. Mode "cover" counts leaves, a label covering all leaves under
    it, which `leaves_under` tells; a label that it does not name is a leaf itself. Cover is for
    k^m-anonymity without negative knowledge. So many `witnesses` are returned, which may point at
    single persons. After `work_limit` steps the audit gives up with `ResourceLimit`.

    >>> from setveil.model.guarantees import KmAnonymity
    >>> rows = Published.from_rows([["a"], ["b", "c"], ["b", "c"]])
    >>> audit_published(rows, KmAnonymity(k=2, m=2)).holds
    False
    """
    _check_mode(mode)
    effort = Effort.of(witnesses, threads, work_limit)
    return _judge(published, guarantee, effort, None if mode == "exact" else leaves_under or {})


def _judge(
    published: Published,
    guarantee: Guarantee,
    effort: Effort,
    leaves_under: Mapping[str, Collection[str]] | None,
) -> Verdict:
    """Count what is published, or the leaves that it covers where these are given."""
    traits, given = traits_of(guarantee), {}
    if leaves_under is not None:
        if not traits.has_cover or guarantee.as_dict().get("negative"):
            raise UsageError(
                "cover is a reading of k^m-anonymity without negative knowledge.", "Use mode exact."
            )
        given = {"leaves_under": leaves_under}
    verdict: Verdict = load(traits.counter)(published, guarantee, effort, **given)
    return verdict


def audit_folder(
    path: str | os.PathLike[str],
    guarantee: Guarantee | None = None,
    *,
    mode: str = "exact",
    witnesses: int = 0,
    threads: int | None = None,
    work_limit: int = WORK_LIMIT,
) -> Verdict | BucketFinding | PairFinding:
    """Read a release folder, check everything in it, and count.

    The promise is the one that the folder makes, unless another is given. The rest is as in
    `audit_published`; for cover the leaves are those the published hierarchy tells.
    """
    _check_mode(mode)
    release = read_release(path)
    if release.only_its_own and (guarantee is not None or mode != "exact"):
        raise UsageError(release.only_its_own, "Leave the guarantee and the mode out.")
    return release.judge(Effort.of(witnesses, threads, work_limit), guarantee, mode)


def _check_mode(mode: str) -> None:
    if mode not in MODES:
        raise UsageError(f"unknown mode {mode[:40]!r}.", "Known: exact, cover.")


@dataclass(frozen=True, eq=False)
class ReadRelease:
    """A release folder whose every byte has been checked; only the counting is left."""

    published: Published
    certificate: dict[str, Any]
    guarantee: Guarantee
    hierarchy: PublishedHierarchy
    only_its_own: ClassVar[str] = ""

    @property
    def labels(self) -> set[str]:
        """Everything that the report may name: labels and columns."""
        columns = self.certificate["data"].get("columns", ())
        return {*self.hierarchy.labels, *(column["name"] for column in columns)}

    @property
    def uncovered(self) -> tuple[str, ...]:
        """The columns that are published as they are, so that the promise says nothing about them."""
        columns = self.certificate["data"].get("columns", ())
        return tuple(column["name"] for column in columns if column["kind"] == "unprotected")

    def judge(self, effort: Effort, guarantee: Guarantee | None, mode: str) -> Verdict:
        """Return whether the promise is kept, its own or another one."""
        if guarantee is not None:
            check_apart(self.hierarchy, named_labels(guarantee))
        leaves_under = self.hierarchy.leaves_under() if mode == "cover" else None
        verdict = _judge(self.published, guarantee or self.guarantee, effort, leaves_under)
        return verdict.leaving_out(self.uncovered)


class Folder:
    """The files of a release folder, all named in its certificate; each is read when asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with os.scandir(path) as entries:
                names = {entry.name for entry in entries}
        except OSError as error:
            raise FileSystemError(
                f"the folder cannot be read ({error.strerror}).",
                "Give the folder of a release.",
                file=str(path),
            ) from None
        if CERTIFICATE not in names:
            raise DataError(
                f"the folder has no {CERTIFICATE}.", "Give the folder of a release.", code="no-release"
            )
        content = _read_file(path, CERTIFICATE, largest=LARGEST_CERTIFICATE)
        self.certificate, self.guarantee = read_certificate(content)
        check_words(self.certificate)
        self.hashes = hash_of_file(self.certificate)
        expected = {CERTIFICATE, *self.hashes}
        for name in sorted(names - expected):
            what = f"the folder holds {shortened(name)}, which is no part of a release."
            raise refuse(what, CERTIFICATE, code="spare-file")
        for name in sorted(expected - names):
            raise DataError(f"the folder lacks {name}.", "Publish it again.", code="missing-file")

    def content(self, name: str) -> bytes:
        """Return the bytes of a file, unpacked, whose hash has been checked."""
        largest = LARGEST_REPORT if name == REPORT else LARGEST_BYTES
        content = _read_file(self.path, name, largest=largest)
        if hashlib.sha256(content).hexdigest() != self.hashes[name]:
            raise refuse("the SHA-256 differs from the certificate's.", name, code="changed")
        return unpack(content, name) if name.endswith(".gz") else content

    def text(self, name: str) -> str:
        """Return the text of a file."""
        return decode(self.content(name), name)

    def rows(
        self, name: str, data: Mapping[str, Any], column_of_label: dict[str, str] | None = None
    ) -> Published:
        """Return the published rows of a data file."""
        return read_data(self.content(name), data, name, column_of_label)


def read_release(path: str | os.PathLike[str]) -> ReadRelease | ReadBuckets | ReadPair:
    """Read a release folder and check all but the guarantee itself.

    Raises `DataError` if anything in it is not as a release must be, and `FileSystemError` if the
    folder or a file cannot be read.
    """
    folder = Folder(Path(path))
    found: ReadRelease | ReadBuckets | ReadPair = load(traits_of(folder.guarantee).reader)(folder)
    if REPORT in folder.hashes:
        check_report(folder.content(REPORT), folder.certificate, found.labels)
    return found


def read_sets(folder: Folder) -> ReadRelease:
    """Return records as sets, and the hierarchy above them."""
    guarantee: Any = folder.guarantee
    certificate, data = folder.certificate, folder.certificate["data"]
    text_of_hierarchy = folder.text(HIERARCHY)
    published = folder.rows(data["file"], data)
    hierarchy = read_hierarchy(text_of_hierarchy)
    check_against(
        hierarchy,
        published.labels,
        local=certificate["recoding"] == "local",
        forest=data["format"] == "table"
        or not {"sensitive", "private"}.isdisjoint(certificate["guarantee"])
        or (data["format"] == "jsonl" and hierarchy.is_of_columns),
    )
    check_counts(certificate, published.records)
    named = named_labels(guarantee)
    check_apart(hierarchy, named)
    for label in sorted(named - set(published.labels)):
        what = f"the sensitive label {shortened(label)} does not occur."
        raise refuse(what, CERTIFICATE, code="certificate-guarantee")
    return ReadRelease(published, certificate, guarantee, hierarchy)


def read_data(
    content: bytes, data: Mapping[str, Any], file: str, column_of_label: dict[str, str] | None = None
) -> Published:
    """Return the published rows of a data file, or raise `DataError` naming the line.

    `data` is that part of the certificate. `column_of_label` takes in the column of each label of a
    table, of which no label may have two.
    """
    if data["format"] == "parquet":
        return read_parquet(content, file, largest=LARGEST_BYTES)
    written = content if data["format"] == "onehot" else decode(content, file)
    columns = {} if column_of_label is None else column_of_label
    return Published.from_rows(read_rows(written, data, file, columns))


def named_labels(guarantee: AnyGuarantee) -> frozenset[str]:
    """Return the sensitive or private labels that a guarantee names."""
    plain: dict[str, Any] = guarantee.as_dict()
    return frozenset((*plain.get("sensitive", ()), *plain.get("private", ())))


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
