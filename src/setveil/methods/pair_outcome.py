"""What a method for two data sets returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..release.recoding import PairRecoding


@dataclass(frozen=True, eq=False)
class PairOutcome:
    """The recoding, what there is to tell of the way to it, and whether the method could finish.

    Where it could not, the recoding keeps the promise all the same, at a larger loss.
    """

    recoding: PairRecoding
    figures: Mapping[str, int | float | str] = field(default_factory=dict)
    complete: bool = True
