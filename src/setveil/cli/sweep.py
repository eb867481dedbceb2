"""``setveil sweep``: to come."""

from __future__ import annotations

from ..errors import UsageError

EXAMPLE = ""


def sweep() -> None:
    """To come."""
    raise UsageError("not there yet.")
