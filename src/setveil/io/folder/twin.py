"""The private twin of a release, read back: the holder's account, the recoding and the hierarchy.

These are files: they may be missing, damaged, or belong to another release. What is checked here is
that they can be read and that the account speaks of the certificate that lies beside it; what they say
is judged by `setveil.reopen`.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ...errors import DataError, FileSystemError, ResourceLimit
from .disk import shown, telling
from .leftovers import private_twin
from .ownership import AUDIT, BUCKETS, CERTIFICATE, HIERARCHY, RECODING

LARGEST = 2 << 30
REMEDY = "Take the release and its private folder from a backup, or anonymize again."


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
    certificate = _read(release / CERTIFICATE)
    if audit.get("certificate_sha256") != hashlib.sha256(certificate).hexdigest():
        what = "it belongs to another release: its account names another certificate."
        remedy = "Put the private folder that was made together with the release beside it."
        raise DataError(what, remedy, code="other-release", file=shown(folder))
    return Twin(folder, audit)


def _damaged(file: Path, what: str) -> DataError:
    """Return the error for a private file that says what cannot be."""
    return DataError(f"{what}.", REMEDY, code="damaged-private-file", file=shown(file))


def _read(file: Path) -> bytes:
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
            _read(file), object_pairs_hook=_without_repeats, parse_constant=_no_constant
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
        text = _read(file).decode("utf-8")
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=";", strict=True)
        paths = [tuple(row) for row in rows]
    except (UnicodeDecodeError, csv.Error):
        raise _damaged(file, "is not CSV in UTF-8 as it was written") from None
    if not paths or len({len(path) for path in paths}) != 1 or any("" in path for path in paths):
        raise _damaged(file, "does not hold one path of labels a line")
    return paths
