"""A keyword of a method: its type and what it may be, one value for the API, the CLI and jobs.

The registry lists them method by method; here is what every one of them knows of itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .errors import UsageError

OptionValue = int | float | str | bool


@dataclass(frozen=True)
class Option:
    """A keyword of a method: its name, type, default, meaning, and what it may be."""

    name: str
    type: type[int] | type[float] | type[str] | type[bool]
    default: OptionValue | None
    help: str
    allowed: tuple[str, ...] = ()
    least: int | None = None
    goes_with: tuple[str, OptionValue] | None = None
    """Another option and the value that it must have for this one to mean anything."""
    names_method: bool = False
    """Whether its value is the key of another method, which must give the guarantee too."""

    share: str = ""
    """Of a share of the records what it may be, "below 1" or "up to 1"; it is held to it exactly."""

    @property
    def flag(self) -> str:
        """The option's name on the command line."""
        return "--" + self.name.replace("_", "-")

    def checked(self, value: object) -> OptionValue:
        """Return `value` if it fits; UsageError that says what is allowed if not."""
        fits = isinstance(value, self.type) and not (self.type is not bool and isinstance(value, bool))
        if self.type is float and isinstance(value, int) and not isinstance(value, bool):
            fits, value = True, float(value)
        if not fits:
            raise UsageError(
                f"{self.name} must be {_KIND[self.type]} (got {str(value)[:40]!r}).", code="bad-option"
            )
        if self.allowed and value not in self.allowed:
            raise UsageError(
                f"{self.name}={str(value)[:40]!r} is not known.",
                f"Allowed: {', '.join(self.allowed)}.",
                code="bad-option",
            )
        if self.least is not None and isinstance(value, int | float) and not value >= self.least:
            raise UsageError(
                f"{self.name}={value} is too small.",
                f"Give {self.name} >= {self.least}.",
                code="bad-option",
            )
        assert isinstance(value, int | float | str | bool)
        return value


_KIND: Mapping[type, str] = {
    int: "a whole number",
    float: "a number",
    str: "a text",
    bool: "true or false",
}
