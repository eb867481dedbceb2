"""The private twin of a table in buckets, read back: the holder's account, and the value of each row.

What is checked here is that the files can be read and that the account speaks of the certificate that
lies beside it; what they say is judged by `setveil.reopen_table`.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import DataError
from .ownership import BUCKETS, CERTIFICATE
from .private_twin import damaged, read_account, read_object

_LARGEST_CERTIFICATE = 64 << 20


@dataclass(frozen=True)
class BucketTwin:
    """What the private files say, not yet judged; `folder` is for messages."""

    folder: Path
    audit: dict[str, Any]
    buckets: dict[str, Any]

    def refusal(self, name: str, what: str) -> DataError:
        """Return the error for a file of this folder that says what cannot be."""
        return damaged(self.folder / name, what)


def read_bucket_twin(path: str | os.PathLike[str]) -> BucketTwin:
    """Return what the private twin of the table in buckets at `path` says.

    Parameters
    ----------
    path
        The public folder of the release; its twin is ``<path>.private`` beside it.

    Raises
    ------
    FileSystemError
        If there is no twin, or a file of it cannot be read.
    DataError
        If a file is damaged, or the twin belongs to another release.
    """
    folder, audit = read_account(path)
    return BucketTwin(folder, audit, read_object(folder / BUCKETS))


def holds_buckets(path: str | os.PathLike[str]) -> bool:
    """Tell whether a folder says of itself that it is a table in buckets; False for anything else."""
    try:
        with open(Path(path) / CERTIFICATE, "rb") as file:
            certificate = json.loads(file.read(_LARGEST_CERTIFICATE))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(certificate, dict) and certificate.get("recoding") == "buckets"
