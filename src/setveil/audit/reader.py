"""Reads a release folder as a stranger would: known files, nothing more, not a byte unexplained.

Each file is read once, and the same bytes are hashed and parsed. What could carry a message besides
the data is refused: other files, other keys, other orders, other spellings, bytes left over. Two
things cannot be checked so: which of many valid compressed forms a gzip or Parquet file uses, and the
sentences of certificate and report (`words` says what is checked of them).

Here are records as sets, in one data set or in two; `bucket_reader` reads a table in buckets.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import DataError, FileSystemError, ResourceLimit
from ..model.guarantees import AnyGuarantee, Guarantee, HiddenPatterns
from .certificate import HIERARCHY, REPORT, check_counts, hash_of_file, need, read_certificate
from .certificate import NAME as CERTIFICATE
from .formats import LARGEST_BYTES, read_data, unpack
from .hierarchy import PublishedHierarchy, check_against, check_apart, read_hierarchy
from .published import Published, shortened
from .spelling import refuse
from .words.page import LARGEST as LARGEST_REPORT
from .words.page import check_report
from .words.sentences import check_words

if TYPE_CHECKING:
    from .bucket_reader import ReadBuckets

LARGEST_CERTIFICATE = 64 * 2**20
Contents = Callable[[str], bytes]
"""Gives the bytes of a file, unpacked; its hash has been checked."""


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

    @property
    def labels(self) -> set[str]:
        """Everything that the report may name: labels and columns."""
        columns = self.certificate["data"].get("columns", ())
        return {*self.hierarchy.labels, *(column["name"] for column in columns)}


@dataclass(frozen=True, eq=False)
class ReadPair:
    """A folder of two data sets whose every byte has been checked; only the counting is left."""

    sides: tuple[Published, Published]
    guarantee: HiddenPatterns
    hierarchy: PublishedHierarchy
    labels: set[str]
    """Everything that the report may name: labels, values, categories, columns, classes."""
    certificate: Mapping[str, Any]


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
    content = _read_file(folder, CERTIFICATE, largest=LARGEST_CERTIFICATE)
    certificate, guarantee = read_certificate(content)
    check_words(certificate)
    hashes = hash_of_file(certificate)
    if "report" in certificate:
        hashes[REPORT] = certificate["report"]["sha256"]
    _check_names(names, {CERTIFICATE, *hashes})

    def content_of(name: str) -> bytes:
        content = _read_file(folder, name, largest=LARGEST_REPORT if name == REPORT else LARGEST_BYTES)
        if hashlib.sha256(content).hexdigest() != hashes[name]:
            raise refuse("the SHA-256 differs from the certificate's.", name, code="changed")
        return unpack(content, name) if name.endswith(".gz") else content

    found = _reading_of(certificate["recoding"])(certificate, guarantee, content_of)
    if "report" in certificate:
        check_report(content_of(REPORT), certificate, found.labels)
    return found


def _reading_of(recoding: str) -> Callable[..., ReadRelease | ReadBuckets | ReadPair]:
    """Return what reads the files of such a release; for sets nothing of buckets is loaded."""
    if recoding == "buckets":
        from .bucket_reader import read_buckets

        return read_buckets
    return _read_pair if recoding == "pair" else _read_sets


def _read_sets(certificate: dict[str, Any], guarantee: Guarantee, content_of: Contents) -> ReadRelease:
    data, named = certificate["data"], named_labels(guarantee)
    hierarchy_bytes = content_of(HIERARCHY)
    published = read_data(content_of(data["file"]), data, data["file"])
    hierarchy = read_hierarchy(hierarchy_bytes)
    check_against(
        hierarchy,
        published.labels,
        local=certificate["recoding"] == "local",
        forest=data["format"] == "table"
        or not {"sensitive", "private"}.isdisjoint(certificate["guarantee"])
        or (data["format"] == "jsonl" and hierarchy.is_of_columns),
    )
    check_counts(certificate, published.records)
    check_apart(hierarchy, named)
    for label in sorted(named - set(published.labels)):
        what = f"the sensitive label {shortened(label)} does not occur."
        raise refuse(what, CERTIFICATE, code="certificate-guarantee")
    return ReadRelease(published, certificate, guarantee, hierarchy)


def _read_pair(
    certificate: dict[str, Any], guarantee: HiddenPatterns, content_of: Contents
) -> ReadPair:
    data = certificate["data"]
    columns: Sequence[str] = data.get("columns", ())
    # Every cell is a value that is kept; an empty one is a value that the record does not have.
    kept = {**data, "columns": [{"name": name, "kind": "kept"} for name in columns]}
    column_of_label: dict[str, str] = {}
    sides = []
    for part in data["parts"]:
        file = part["file"]
        sides.append(read_data(content_of(file), kept, file, column_of_label))
        records = sides[-1].records
        need(records == part["records"], f"data.parts: the number of records of {file} is wrong")
    hierarchy = read_hierarchy(content_of(HIERARCHY))
    published = tuple(sorted({*sides[0].labels, *sides[1].labels}))
    check_against(hierarchy, published, local=True, forest=bool(columns))
    _check_roots(hierarchy, column_of_label)
    labels = {*hierarchy.labels, *columns}
    for label, column in column_of_label.items():
        labels |= {step.removeprefix(f"{column}=") for step in hierarchy.path_of_label[label]}
    if "classes" in data:
        labels |= {data["classes"]["column"], *data["classes"]["values"]}
    return ReadPair((sides[0], sides[1]), guarantee, hierarchy, labels, certificate)


def _check_roots(hierarchy: PublishedHierarchy, column_of_label: Mapping[str, str]) -> None:
    """Refuse more than one root: of a column, or of all labels where there are no columns."""
    root_of_column: dict[str, str] = {}
    for label, path in hierarchy.path_of_label.items():
        column = column_of_label.get(label, "")
        if not all(step.startswith(f"{column}=" if column else "") for step in path):
            what = f"the path of {shortened(label)} leaves its column."
            raise refuse(what, HIERARCHY, code="published-hierarchy")
        if root_of_column.setdefault(column, path[-1]) != path[-1]:
            where = f"of the column {shortened(column)}" if column else "of the hierarchy"
            raise refuse(f"there are several roots {where}.", HIERARCHY, code="published-hierarchy")


def named_labels(guarantee: AnyGuarantee) -> frozenset[str]:
    """Return the sensitive or private labels that a guarantee names."""
    plain: dict[str, Any] = guarantee.as_dict()
    return frozenset((*plain.get("sensitive", ()), *plain.get("private", ())))


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


def _check_names(names: set[str], expected: set[str]) -> None:
    for name in sorted(names - expected):
        what = f"the folder holds {shortened(name)}, which is no part of a release."
        raise refuse(what, CERTIFICATE, code="spare-file")
    for name in sorted(expected - names):
        raise DataError(f"the folder lacks {name}.", "Publish it again.", code="missing-file")


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
