"""The published records of a release folder, read as anybody could who was handed the folder.

Only the certificate and the data file are looked at; the private twin is not. This is no audit: what is
checked is that the bytes are those the certificate speaks of and that they can be read. Whether the
promise is kept is for `setveil.audit` to say.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...errors import DataError, FileSystemError, UsageError
from ...model.guarantees import guarantee_from_dict
from ...model.layout import Layout
from ...model.transactions import Transactions
from ..formats import FORMATS, data_file_name
from ..records import read_records
from ..source import read_source
from ..transactions import read_transactions
from .disk import shown, telling
from .ownership import CERTIFICATE

_LARGEST_CERTIFICATE = 64 << 20
_BUCKET_MODELS = frozenset({"l", "matching"})
_KINDS = ("set", "kept", "unprotected")
_REMEDY = "Give the folder of a release, as `setveil anonymize -o` or `publish` made it."


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
    records = _read(file, data)
    return replace(records, notices=()), certificate


def read_certificate(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the certificate of a release folder, with guarantee and data checked for their form."""
    folder = Path(path)
    file = folder / CERTIFICATE
    if not folder.is_dir():
        there = os.path.lexists(folder)
        raise FileSystemError(
            "is no folder." if there else "there is no such folder.",
            _REMEDY,
            code="not-a-folder" if there else "missing",
            file=shown(folder),
        )
    if not os.path.lexists(file):
        raise DataError(
            f"is no release: it holds no {CERTIFICATE}.", _REMEDY, code="no-release", file=shown(folder)
        )
    content = read_source(file, max_bytes=_LARGEST_CERTIFICATE).data
    try:
        certificate = json.loads(content)
    except (ValueError, RecursionError):
        raise _refusal(file, "is not JSON") from None
    if not isinstance(certificate, dict):
        raise _refusal(file, "is not an object")
    guarantee, data = certificate.get("guarantee"), certificate.get("data")
    if not isinstance(guarantee, dict) or not isinstance(data, dict):
        raise _refusal(file, "names no guarantee or no data")
    try:
        guarantee_from_dict(guarantee)
    except UsageError as error:
        if guarantee.get("model") == "patterns":
            what = "holds two data sets, not one."
            remedy = "Give the folder of a release of one data set."
            raise DataError(what, remedy, code="pair", file=shown(folder)) from None
        if guarantee.get("model") in _BUCKET_MODELS:
            what = "holds a table in buckets, not records as sets."
            remedy = "Give the folder of a release of records."
            raise DataError(what, remedy, code="buckets", file=shown(folder)) from None
        raise _refusal(file, f"names no guarantee: {error.problems[0].what.rstrip('.')}") from None
    _check_data(file, data)
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
        and column.get("kind") in ("set", "kept", "unprotected")
        and (column["kind"] != "set" or isinstance(column.get("separator"), str))
        for column in columns
    ):
        raise _refusal(file, "does not tell the columns of the data")


def _read(file: Path, data: Mapping[str, Any]) -> Transactions:
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
    if form == "long":
        return read_transactions(
            file,
            layout=form,
            delimiter=data["delimiter"],
            id_column="record",
            item_column="item",
            repeats="error",
        )
    return read_transactions(file, layout=form, delimiter=data.get("delimiter"), repeats="error")


def _refusal(file: Path, what: str) -> DataError:
    what, remedy = f"the certificate {what}.", "Ask for the release again; `setveil audit` tells more."
    return DataError(what, remedy, code="bad-certificate", file=shown(file))
