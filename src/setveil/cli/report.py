"""``setveil report``: to come."""

from __future__ import annotations

from ..errors import UsageError

EXAMPLE = ""


def report() -> None:
    """To come."""
    raise UsageError("not there yet.")
