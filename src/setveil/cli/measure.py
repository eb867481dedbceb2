"""``setveil measure``: to come."""

from __future__ import annotations

from ..errors import UsageError

EXAMPLE = ""


def measure() -> None:
    """To come."""
    raise UsageError("not there yet.")
