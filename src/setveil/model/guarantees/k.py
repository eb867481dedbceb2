"""k-anonymity of whole records, for whoever knows all of one."""

from __future__ import annotations

from dataclasses import dataclass

from .base import Promise, check_k


@dataclass(frozen=True)
class KAnonymity(Promise):
    """Every published record, as a set, is the same as at least `k` - 1 others."""

    k: int
    model = "k"

    def __post_init__(self) -> None:
        check_k(self.k)

    def __str__(self) -> str:
        return f"{self.k}-anonymity of whole records"
