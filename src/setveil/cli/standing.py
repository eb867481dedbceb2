"""What a run has put into place so far, so that no message claims the contrary."""

from __future__ import annotations

import os
from pathlib import Path

_placed: list[str] = []


def start() -> None:
    """Begin a run: nothing is in place."""
    _placed.clear()


def placed(path: Path) -> None:
    """Note that a release is in place, whatever comes now."""
    _placed.append(os.fspath(path))


def sentence(*, writing: bool) -> str:
    """Return what to tell at an early end of a run; nothing where the verb writes no release."""
    if _placed:
        return f"The release is in place at {_placed[-1]}."
    return "Nothing was written." if writing else ""
