"""(h, k, p)-coherence: public items give neither a person nor a private item away."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from ..numbers import percentage, whole_number
from .base import Promise, check_k, label_set


@dataclass(frozen=True)
class Coherence(Promise):
    """(h, k, p)-coherence: public items known to somebody give neither a person nor a secret away.

    Every set of 1..`p` public items that occurs is in at least `k` records, and no private item is in
    more than `h` percent of those. Items that are not `private` are public. k^m-anonymity is the case
    h = 100, p = m without private items.

    >>> Coherence(h=80, k=5, p=2, private=frozenset({"flu"}))
    Coherence(h=Fraction(80, 1), k=5, p=2, private=frozenset({'flu'}))
    """

    h: Fraction
    k: int
    p: int
    private: frozenset[str] = field(default_factory=frozenset)
    model = "coherence"
    knowledge, secrets = "p", "private"

    def __post_init__(self) -> None:
        object.__setattr__(self, "h", percentage(self.h))
        check_k(self.k)
        whole_number("p", self.p, least=1)
        object.__setattr__(self, "private", label_set("private", self.private))

    @property
    def share(self) -> Fraction:
        """The largest share that a private item may have, h percent as a number from 0 to 1."""
        return self.h / 100

    def __str__(self) -> str:
        secrets = f" of {len(self.private)} private items" if self.private else ""
        return f"({self.h} %, {self.k}, {self.p})-coherence{secrets}"
