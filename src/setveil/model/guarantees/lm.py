"""l^m-diversity: a few items known of a record do not tell its sensitive ones."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ...errors import UsageError
from ..numbers import whole_number
from .base import Promise, label_set


@dataclass(frozen=True)
class LmDiversity(Promise):
    """Whoever knows at most `m` other items of a record links it to no sensitive item above 1/`l`.

    For every set c of 1..m items that are not sensitive and every sensitive item s:
    ``l * support(c + s) <= support(c)``. The most frequent sensitive *itemset* is always attained by a
    single item, so items are enough.
    """

    l: int  # noqa: E741 - the papers' name
    m: int
    sensitive: frozenset[str]
    model = "lm"
    strength, knowledge, secrets = "l", "m", "sensitive"

    def __post_init__(self) -> None:
        whole_number("l", self.l, least=2)
        whole_number("m", self.m, least=1)
        object.__setattr__(self, "sensitive", label_set("sensitive", self.sensitive))
        if not self.sensitive:
            raise UsageError("l^m-diversity needs sensitive items.", "Name at least one.")

    @property
    def crowd(self) -> int:
        """Return 1: a record may be the only one that fits what is known."""
        return 1

    @property
    def share(self) -> Fraction:
        """Return 1/`l`, the largest share that a sensitive item may have."""
        return Fraction(1, self.l)

    def __str__(self) -> str:
        return f"{self.l}^{self.m}-diversity of {len(self.sensitive)} sensitive items"
