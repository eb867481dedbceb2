"""``setveil compare``: to come."""

from __future__ import annotations

from ..errors import UsageError

EXAMPLE = ""


def compare() -> None:
    """To come."""
    raise UsageError("not there yet.")
