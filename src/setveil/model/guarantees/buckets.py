"""Promises about tables cut into buckets: of l values each is as likely, or each is possible."""

from __future__ import annotations

from dataclasses import dataclass

from ..numbers import whole_number
from .base import Promise


@dataclass(frozen=True)
class LDiversity(Promise):
    """Of a bucket's tuples at most one in `l` has any one sensitive value."""

    l: int  # noqa: E741 - the papers' name
    model = "l"
    kind, strength = "buckets", "l"

    def __post_init__(self) -> None:
        whole_number("l", self.l, least=2)

    def __str__(self) -> str:
        return f"{self.l}-diversity of buckets"


@dataclass(frozen=True)
class MatchingDiversity(Promise):
    """Whoever knows the published rules finds at least `l` possible sensitive values for every tuple.

    A value is possible for a tuple if the rules allow it and the other tuples of the bucket can then
    share the other values among them.
    """

    l: int  # noqa: E741 - the papers' name
    model = "matching"
    takes_rules = True
    kind, strength = "buckets", "l"

    def __post_init__(self) -> None:
        whole_number("l", self.l, least=2)

    def __str__(self) -> str:
        return f"matching {self.l}-diversity"
