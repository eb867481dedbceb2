"""No emerging pattern: of two data sets neither is told by a set of values far more frequent in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from ...errors import UsageError
from ..numbers import exact_growth, exact_support, whole_number
from .base import Promise, check_flag


@dataclass(frozen=True)
class HiddenPatterns(Promise):
    """No set of published values is `growth` times as frequent in one of two data sets as in the other.

    Frequencies are shares of the records. Sets count that are in `min_support` of the records where
    they are more frequent: a share, or with a whole number a count of records. Both numbers may be
    given as the command line takes them, and are kept exact: "50%", 0.5 and "1/2" are one share. Values
    count as they stand. With `every_level` a published value also counts for every value above it.

    >>> HiddenPatterns(5)
    HiddenPatterns(growth=Fraction(5, 1), min_support=Fraction(1, 10), every_level=False)
    >>> HiddenPatterns(3, "50%") == HiddenPatterns(3, 0.5) == HiddenPatterns(3, Fraction(1, 2))
    True
    """

    growth: Fraction
    min_support: Fraction | int = Fraction(1, 10)
    every_level: bool = False
    model = "patterns"
    kind, strength = "pairs", "growth"

    def __post_init__(self) -> None:
        object.__setattr__(self, "growth", exact_growth(self.growth))
        object.__setattr__(self, "min_support", exact_support(self.min_support))
        if isinstance(self.min_support, Fraction):
            if self.min_support.denominator > 10**9:
                raise UsageError(
                    f"min_support={str(self.min_support)[:40]} is finer than a billionth.",
                    "Give a share with fewer digits, or a whole number of records.",
                )
        else:
            whole_number("min_support", self.min_support, least=1)
        check_flag("every_level", self.every_level)

    @property
    def least_support(self) -> int:
        """Raise: nothing is promised about single people, so no number of records is few."""
        raise TypeError("a promise about patterns of two data sets knows no number of people")

    @classmethod
    def from_dict(cls, plain: Mapping[str, object]) -> Self:
        """Return the promise that `as_dict` described: a share as text, a count as a number."""
        growth, support = plain.get("growth"), plain.get("min_support")
        if isinstance(support, str):
            if not re.fullmatch(r"[0-9]{1,9}(/[1-9][0-9]{0,9})?", support):
                raise UsageError("min_support must be a share such as 1/10, or a whole number.")
            support = Fraction(support)
        elif isinstance(support, bool) or not isinstance(support, int):
            raise UsageError("min_support must be a share such as 1/10, or a whole number.")
        if not isinstance(growth, str):
            raise UsageError("growth must be a text such as '5' or '15/4'.")
        return super().from_dict({**plain, "min_support": support})

    def __str__(self) -> str:
        counted = " at every level" if self.every_level else ""
        return f"no pattern of growth {self.growth} or more{counted}"
