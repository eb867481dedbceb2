"""Where the real data for tests lie; tests that need them skip where they are absent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def shared_data(name: str) -> Path:
    """Return the path of a real data file, or skip the test with the reason."""
    root = Path(__file__).resolve().parents[1]
    folder = Path(os.environ.get("SETVEIL_DATA", root.parent / "shared" / "data"))
    path = folder / name
    if not path.exists():
        pytest.skip(f"{name} is not here: real data are looked for in {folder} (or SETVEIL_DATA)")
    return path
