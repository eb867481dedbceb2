"""Values as plain data, as ``--json`` prints them: a dataclass by its fields, in order."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from typing import Any


class Plain:
    """A dataclass whose plain form is its fields; fractions become floats, tuples lists."""

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for ``--json``."""
        described: Any = self
        return {field.name: plain(getattr(self, field.name)) for field in fields(described)}


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it.

    >>> plain((Fraction(1, 2), None, "a"))
    [0.5, None, 'a']
    """
    if hasattr(value, "as_dict"):
        return value.as_dict()
    if isinstance(value, Fraction):
        return float(value)
    return [plain(part) for part in value] if isinstance(value, tuple) else value
