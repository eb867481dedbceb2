"""How much memory the process holds, as the system tells: Linux only, None elsewhere.

`measure_peak` asks the kernel to forget the peak, and reads the new one afterwards. So a piece of work
is measured inside a running process, exactly and without slowing it down. What the process keeps from
before and uses again does not count: `measure_peak` first gives back what it can.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_FORGET_PEAK = "5"


@dataclass
class Peak:
    """The most memory that a block held beyond what was there before it, in bytes; None if unknown."""

    added: int | None = None


@contextlib.contextmanager
def measure_peak() -> Iterator[Peak]:
    """Measure the memory of a block; the number is there when it ends, also by an error.

    >>> with measure_peak() as peak:
    ...     _ = bytes(1000)
    >>> peak.added is None or peak.added >= 0
    True
    """
    peak = Peak()
    _give_back()
    before = _forget_peak()
    try:
        yield peak
    finally:
        after = _kilobytes("VmHWM")
        if before is not None and after is not None:
            peak.added = max(after - before, 0) * 1024


def _give_back() -> None:
    """Return freed memory to the system, so that it counts again when it is taken."""
    gc.collect()
    if sys.platform.startswith("linux"):
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)


def _forget_peak() -> int | None:
    """Let the peak start from now; return the memory held, None where the system cannot do this."""
    try:
        _CLEAR.write_text(_FORGET_PEAK)
    except OSError:
        return None
    peak, now = _kilobytes("VmHWM"), _kilobytes("VmRSS")
    return now if peak is not None and now is not None and peak <= now * 1.01 + 1024 else None


def _kilobytes(name: str) -> int | None:
    try:
        lines = _STATUS.read_text().split("\n")
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.startswith(f"{name}:")), None)
