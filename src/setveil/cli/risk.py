"""``setveil risk``: to come."""

from __future__ import annotations

from ..errors import UsageError

EXAMPLE = ""


def risk() -> None:
    """To come."""
    raise UsageError("not there yet.")
