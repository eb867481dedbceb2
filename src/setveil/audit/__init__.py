"""Is the promise kept? An independent recount of published data, from the written bytes alone.

The judge shares no code with the judged. It has its own reader, hierarchy parser and counter, and
imports nothing of the package but the errors and the guarantees, so ``python -m setveil.audit``
works where the methods do not.

- `audit_folder`: read a release folder, check every byte of it, count.
- `audit_published`: count rows that are already in memory.
- `audit_pair`: the same for two data sets in which no pattern may be left.
- `read_release`: the reading and checking alone.
- `Verdict`: the answer, with the evidence by size; `BucketFinding` is that about a table in buckets,
  `PairFinding` that about two data sets.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .check import audit_folder, audit_published
    from .hierarchy import PublishedHierarchy
    from .patterns import audit_pair
    from .published import Published
    from .reader import ReadPair, ReadRelease, read_release
    from .verdict import BucketFinding, PairFinding, PatternWitness, SizeFinding, Verdict, Witness

__all__ = [
    "BucketFinding",
    "PairFinding",
    "PatternWitness",
    "Published",
    "PublishedHierarchy",
    "ReadPair",
    "ReadRelease",
    "SizeFinding",
    "Verdict",
    "Witness",
    "audit_folder",
    "audit_pair",
    "audit_published",
    "read_release",
]

_HOME = {
    "BucketFinding": "verdict",
    "PairFinding": "verdict",
    "PatternWitness": "verdict",
    "Published": "published",
    "PublishedHierarchy": "hierarchy",
    "ReadPair": "reader",
    "ReadRelease": "reader",
    "SizeFinding": "verdict",
    "Verdict": "verdict",
    "Witness": "verdict",
    "audit_folder": "check",
    "audit_pair": "patterns",
    "audit_published": "check",
    "read_release": "reader",
}


def __getattr__(name: str) -> Any:
    """Load what is asked for; the package itself needs no library, so that nothing fails unseen."""
    if name not in _HOME:
        raise AttributeError(f"module 'setveil.audit' has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
