"""The private twin of a table in buckets, read back: the holder's account, and the value of each row.

What is checked here is that the files can be read and that the account speaks of the certificate that
lies beside it; what they say is judged by `setveil.reopen_table`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from .ownership import BUCKETS, told_recoding
from .private_twin import Twin, read_account, read_object


@dataclass(frozen=True)
class BucketTwin(Twin):
    """What the private files of a table in buckets say."""

    buckets: dict[str, Any]


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
    return told_recoding(path) == "buckets"
