"""``setveil run``: to come."""

from __future__ import annotations

from ..errors import UsageError

EXAMPLE = ""


def run() -> None:
    """To come."""
    raise UsageError("not there yet.")
