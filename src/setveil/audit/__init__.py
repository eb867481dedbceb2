"""Is the promise kept? An independent recount of published data, from the written bytes alone.

The judge shares no code with the judged. It has its own reader, hierarchy parser and counter, and
imports nothing of the package but the errors and the guarantees, so ``python -m setveil.audit``
works where the methods do not.

- `audit_folder`: read a release folder, check every byte of it, count.
- `audit_published`: count rows that are already in memory.
- `read_release`: the reading and checking alone.
- `Verdict`: the answer, with the evidence by size.
"""

from __future__ import annotations

from .check import audit_folder, audit_published
from .hierarchy import PublishedHierarchy
from .published import Published
from .reader import ReadRelease, read_release
from .verdict import SizeFinding, Verdict, Witness

__all__ = [
    "Published",
    "PublishedHierarchy",
    "ReadRelease",
    "SizeFinding",
    "Verdict",
    "Witness",
    "audit_folder",
    "audit_published",
    "read_release",
]
