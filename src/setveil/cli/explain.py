"""``setveil explain``: to come."""

from __future__ import annotations

from ..errors import UsageError

EXAMPLE = ""


def explain() -> None:
    """To come."""
    raise UsageError("not there yet.")
