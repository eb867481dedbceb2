"""A release folder and its private twin, read back.

Of the public folder only the certificate and the data file are looked at, as anybody could who was
handed it. This is no audit: what is checked is that the bytes are those the certificate speaks of and
that they can be read. Whether the promise is kept is for `setveil.audit` to say.

The twin holds the holder's account, the recoding and the hierarchy: files that may be missing, damaged,
or belong to another release. It is checked that they can be read and that the account speaks of the
certificate that lies beside it; what they say is judged by `setveil.reopen`.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ...errors import DataError, FileSystemError, ResourceLimit, UsageError
from ...model.guarantees import GUARANTEES, guarantee_from_dict
from ...model.layout import Layout
from ...model.transactions import Transactions
from ..formats import FORMATS, data_file_name
from ..options import OfAnyFile
from ..records import read_records
from ..source import read_source
from ..transactions import read_transactions
from .disk import shown, telling
from .ownership import AUDIT, BUCKETS, CERTIFICATE, HIERARCHY, RECODING, SHAPES, private_twin

_LARGEST_CERTIFICATE = 64 << 20
_KINDS = ("set", "kept", "unprotected")
_ASK_FOR_ONE = "Give the folder of a release, as `setveil anonymize -o` or `publish` made it."

LARGEST = 2 << 30
REMEDY = "Take the release and its private folder from a backup, or anonymize again."


def read_published(path: str | os.PathLike[str]) -> tuple[Transactions, dict[str, Any]]:
    """Return the published records of a release folder, and its certificate.

    Raises `FileSystemError` where a file cannot be read, and `DataError` where the folder is no release
    or its data are not those that the certificate names."""
    folder = Path(path)
    certificate = read_certificate(folder)
    data: Mapping[str, Any] = certificate["data"]
    file = folder / data["file"]
    if not file.is_file():
        raise FileSystemError(
            "the release lacks its data file.", "Publish it again.", code="missing", file=shown(file)
        )
    with telling(file, "read"), open(file, "rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    if digest != data["sha256"]:
        what = "the data are not those of the certificate: their SHA-256 differs."
        remedy = "Ask for the release again; `setveil audit` tells more."
        raise DataError(what, remedy, code="changed", file=shown(file))
    records = _records(file, data)
    return replace(records, notices=()), certificate


def read_certificate(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the certificate of a release folder, with guarantee and data checked for their form."""
    folder = Path(path)
    file, certificate = folder / CERTIFICATE, read_any_certificate(folder)
    guarantee, data = certificate.get("guarantee"), certificate.get("data")
    if not isinstance(guarantee, dict) or not isinstance(data, dict):
        raise _refusal(file, "names no guarantee or no data")
    try:
        guarantee_from_dict(guarantee)
    except UsageError as error:
        asked = GUARANTEES.get(str(guarantee.get("model")))
        shape = next((one for one in SHAPES if asked is not None and one.kind == asked.kind), None)
        if shape is not None:
            what, wanted, code = shape.refusal
            remedy = f"Give the folder of {wanted}."
            raise DataError(what, remedy, code=code, file=shown(folder)) from None
        raise _refusal(file, f"names no guarantee: {error.problems[0].what.rstrip('.')}") from None
    _check_data(file, data)
    return certificate


def read_any_certificate(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the certificate of a release folder of any kind; what it says is not looked at."""
    folder = Path(path)
    file = folder / CERTIFICATE
    if not folder.is_dir():
        there = os.path.lexists(folder)
        raise FileSystemError(
            "is no folder." if there else "there is no such folder.",
            _ASK_FOR_ONE,
            code="not-a-folder" if there else "missing",
            file=shown(folder),
        )
    if not os.path.lexists(file):
        raise DataError(
            f"is no release: it holds no {CERTIFICATE}.",
            _ASK_FOR_ONE,
            code="no-release",
            file=shown(folder),
        )
    content = read_source(file, max_bytes=_LARGEST_CERTIFICATE).data
    try:
        certificate = json.loads(content)
    except (ValueError, RecursionError):
        raise _refusal(file, "is not JSON") from None
    if not isinstance(certificate, dict):
        raise _refusal(file, "is not an object")
    return certificate


def _check_data(file: Path, data: Mapping[str, Any]) -> None:
    """Refuse a description that names another file than a release has, or columns that are none."""
    form = data.get("format")
    if not isinstance(form, str) or form not in FORMATS:
        raise _refusal(file, "names an unknown format")
    if data.get("file") not in {data_file_name(Layout(form, gzip=packed)) for packed in (False, True)}:
        raise _refusal(file, "names a data file that no release has")
    if not isinstance(data.get("sha256"), str):
        raise _refusal(file, "does not tell the SHA-256 of the data")
    if FORMATS[form].is_csv and not isinstance(data.get("delimiter"), str):
        raise _refusal(file, "does not tell the delimiter of the data")
    if form != "table":
        return
    columns = data.get("columns")
    if not isinstance(columns, list) or not all(
        isinstance(column, dict)
        and isinstance(column.get("name"), str)
        and column.get("kind") in _KINDS
        and (column["kind"] != "set" or isinstance(column.get("separator"), str))
        for column in columns
    ):
        raise _refusal(file, "does not tell the columns of the data")


def _records(file: Path, data: Mapping[str, Any]) -> Transactions:
    """Read the data file in the format that the certificate names."""
    form: str = data["format"]
    if form == "table":
        columns: list[dict[str, str]] = data["columns"]
        named = {kind: [c["name"] for c in columns if c["kind"] == kind] for kind in _KINDS}
        return read_records(
            file,
            set_columns={c["name"]: c["separator"] for c in columns if c["kind"] == "set"},
            keep=named["kept"],
            keep_unprotected=named["unprotected"],
            delimiter=data["delimiter"],
            repeats="error",
            as_is=True,  # it was looked at when it was made
            missing_cells="suppress",  # a blank cell is a value that the release leaves out
        ).as_transactions()
    asked: OfAnyFile = {"layout": form, "delimiter": data.get("delimiter"), "repeats": "error"}
    if form == "long":
        asked |= {"id_column": "record", "item_column": "item"}
    return read_transactions(file, **asked)


def _refusal(file: Path, what: str) -> DataError:
    what, remedy = f"the certificate {what}.", "Ask for the release again; `setveil audit` tells more."
    return DataError(what, remedy, code="bad-certificate", file=shown(file))


@dataclass(frozen=True)
class Twin:
    """What the private files of a release say, not yet judged, each file read when it is asked for.

    `folder` is for messages. A table in buckets has `buckets`, any other release the other two.
    """

    folder: Path
    audit: dict[str, Any]

    @cached_property
    def recoding(self) -> dict[str, Any]:
        """How the original values became the published ones."""
        return _object(self.folder / RECODING)

    @cached_property
    def buckets(self) -> dict[str, Any]:
        """Whose value is whose."""
        return _object(self.folder / BUCKETS)

    @cached_property
    def paths(self) -> list[tuple[str, ...]]:
        """The path of each item of the whole hierarchy up to its root."""
        return _read_paths(self.folder / HIERARCHY)

    def refusal(self, name: str, what: str) -> DataError:
        """Return the error for a file of this folder that says what cannot be."""
        return _damaged(self.folder / name, what)


def read_twin(path: str | os.PathLike[str]) -> Twin:
    """Return the private twin of the release at `path`, which lies beside it.

    Raises `FileSystemError` where its account cannot be read, and `DataError` where that is damaged or
    of another release.
    """
    release = Path(os.path.abspath(path))  # noqa: PTH100 - links stay: the twin lies beside the name
    folder = private_twin(release)
    if not folder.is_dir():
        raise FileSystemError(
            "the private folder of the release is not there; it alone tells how the release was made, "
            "so nothing that needs the recoding can be done without it.",
            "Put it beside the release, under the name of the release with .private behind it.",
            code="no-private-folder",
            file=shown(folder),
        )
    audit = _object(folder / AUDIT)
    certificate = _content(release / CERTIFICATE)
    if audit.get("certificate_sha256") != hashlib.sha256(certificate).hexdigest():
        what = "it belongs to another release: its account names another certificate."
        remedy = "Put the private folder that was made together with the release beside it."
        raise DataError(what, remedy, code="other-release", file=shown(folder))
    return Twin(folder, audit)


def _damaged(file: Path, what: str) -> DataError:
    """Return the error for a private file that says what cannot be."""
    return DataError(f"{what}.", REMEDY, code="damaged-private-file", file=shown(file))


def _content(file: Path) -> bytes:
    if not file.is_file():
        missing = not os.path.lexists(file)
        raise FileSystemError(
            "the file is missing." if missing else "is not a regular file.",
            REMEDY,
            code="missing" if missing else "not-a-file",
            file=shown(file),
        )
    with telling(file, "read"), open(file, "rb") as opened:
        # No more room than the file needs; one more, to see it grow.
        size = os.fstat(opened.fileno()).st_size
        content = opened.read(min(size, LARGEST) + 1)
    if len(content) > LARGEST:
        raise ResourceLimit(f"holds more than {LARGEST:,} bytes.", code="too-large", file=shown(file))
    if len(content) > size:
        raise _damaged(file, "it grew while it was read")
    return content


def _object(file: Path) -> dict[str, Any]:
    """Return the JSON object in a private file."""
    try:
        document = json.loads(
            _content(file), object_pairs_hook=_without_repeats, parse_constant=_no_constant
        )
    except (ValueError, RecursionError):
        raise _damaged(file, "is not JSON as it was written") from None
    if not isinstance(document, dict):
        raise _damaged(file, "is not a JSON object")
    return document


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("a key is there twice")
    return dict(pairs)


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _read_paths(file: Path) -> list[tuple[str, ...]]:
    """Return the path of each item up to its root, padded by repeating the root."""
    try:
        text = _content(file).decode("utf-8")
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=";", strict=True)
        paths = [tuple(row) for row in rows]
    except (UnicodeDecodeError, csv.Error):
        raise _damaged(file, "is not CSV in UTF-8 as it was written") from None
    if not paths or len({len(path) for path in paths}) != 1 or any("" in path for path in paths):
        raise _damaged(file, "does not hold one path of labels a line")
    return paths
