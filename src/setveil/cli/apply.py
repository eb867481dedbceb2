"""``setveil apply``: to come."""

from __future__ import annotations

from ..errors import UsageError

EXAMPLE = ""


def apply() -> None:
    """To come."""
    raise UsageError("not there yet.")
