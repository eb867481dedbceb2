"""What is promised, as values: independent of how it is reached and of how it is checked.

Each guarantee is frozen and validated on creation, and has a file of its own. To add one: its file,
its line in `GUARANTEES`, what is said of it (`release/claims.py`) and how it is checked (`audit/`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, overload

from ...errors import UsageError
from ..numbers import LARGEST, exact_growth, exact_support, percentage, whole_number
from .base import Promise, label_set
from .buckets import LDiversity, MatchingDiversity
from .coherence import Coherence
from .k import KAnonymity
from .km import KmAnonymity
from .lm import LmDiversity
from .patterns import HiddenPatterns

Guarantee = KmAnonymity | KAnonymity | LmDiversity | Coherence
"""Promises about records as sets."""
BucketGuarantee = LDiversity | MatchingDiversity
"""Promises about tables cut into buckets."""
AnyGuarantee = Guarantee | BucketGuarantee | HiddenPatterns

GUARANTEES: Mapping[str, type[AnyGuarantee]] = {
    one.model: one
    for one in (
        *(KmAnonymity, KAnonymity, LmDiversity, Coherence),
        *(LDiversity, MatchingDiversity),
        HiddenPatterns,
    )
}
"""Every guarantee by its name in certificates."""


@overload
def guarantee_from_dict(plain: Mapping[str, object], kind: Literal["sets"] = "sets") -> Guarantee: ...
@overload
def guarantee_from_dict(plain: Mapping[str, object], kind: Literal["buckets"]) -> BucketGuarantee: ...
@overload
def guarantee_from_dict(plain: Mapping[str, object], kind: Literal["pairs"]) -> HiddenPatterns: ...
@overload
def guarantee_from_dict(plain: Mapping[str, object], kind: None) -> AnyGuarantee: ...


def guarantee_from_dict(plain: Mapping[str, object], kind: str | None = "sets") -> AnyGuarantee:
    """Return the guarantee that `as_dict` described; unknown keys are refused.

    Parameters
    ----------
    plain
        The plain form.
    kind
        What it has to be about ("sets", "buckets", "pairs"); None takes any.

    >>> guarantee_from_dict({"model": "km", "k": 5, "m": 2})
    KmAnonymity(k=5, m=2, negative=False)
    >>> guarantee_from_dict({"model": "matching", "l": 3}, "buckets")
    MatchingDiversity(l=3)
    """
    known = [name for name, one in GUARANTEES.items() if kind in (None, one.kind)]
    model = plain.get("model")
    if model not in known:
        raise UsageError(f"unknown guarantee {str(model)[:40]!r}.", f"Known: {', '.join(known)}.")
    return GUARANTEES[str(model)].from_dict(plain)


__all__ = [
    "GUARANTEES",
    "LARGEST",
    "AnyGuarantee",
    "BucketGuarantee",
    "Coherence",
    "Guarantee",
    "HiddenPatterns",
    "KAnonymity",
    "KmAnonymity",
    "LDiversity",
    "LmDiversity",
    "MatchingDiversity",
    "Promise",
    "exact_growth",
    "exact_support",
    "guarantee_from_dict",
    "label_set",
    "percentage",
    "whole_number",
]
