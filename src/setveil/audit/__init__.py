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

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .check import audit_folder, audit_published, read_release
    from .patterns import ReadPair, audit_pair
    from .published import Published
    from .verdict import BucketFinding, PairFinding, Verdict

_HOME = {
    "BucketFinding": "verdict",
    "PairFinding": "verdict",
    "Published": "published",
    "ReadPair": "patterns",
    "Verdict": "verdict",
    "audit_folder": "check",
    "audit_pair": "patterns",
    "audit_published": "check",
    "read_release": "check",
}

__all__ = [
    "BucketFinding",
    "PairFinding",
    "Published",
    "ReadPair",
    "Verdict",
    "audit_folder",
    "audit_pair",
    "audit_published",
    "read_release",
]


def __getattr__(name: str) -> Any:
    """Load what is asked for; the package itself needs no library, so that nothing fails unseen."""
    if name not in _HOME:
        raise AttributeError(f"module 'setveil.audit' has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)
