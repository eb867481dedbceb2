"""k^m-anonymity: a few items known of a record do not tell it apart."""

from __future__ import annotations

from dataclasses import dataclass

from ..numbers import whole_number
from .base import Promise, check_flag, check_k


@dataclass(frozen=True)
class KmAnonymity(Promise):
    """Every set of at most `m` published items is in 0 or at least `k` records.

    With `negative`, the same holds for every combination of at most `m` items known to be present or
    known to be absent.

    >>> KmAnonymity(k=5, m=2)
    KmAnonymity(k=5, m=2, negative=False)
    """

    k: int
    m: int
    negative: bool = False
    model = "km"
    knowledge = "m"

    def __post_init__(self) -> None:
        check_k(self.k)
        whole_number("m", self.m, least=1)
        check_flag("negative", self.negative)

    @property
    def signed(self) -> bool:
        """Tell whether an attacker may also know what is not in a record."""
        return self.negative

    @property
    def monotone(self) -> bool:
        """Tell whether raising a label can only mend; where it is absent, more records may differ."""
        return not self.negative

    def __str__(self) -> str:
        signed = " with negative knowledge" if self.negative else ""
        return f"{self.k}^{self.m}-anonymity{signed}"
