"""LM, the loss metric (Liu and Wang's use of Iyengar's).

An occurrence published as a node over n of the |I| leaves of its tree loses (n - 1) / (|I| - 1). The
value is the mean over all original occurrences. |I| counts the leaves that occur,
or all of the hierarchy where the release was made so (`Hierarchy.domain`).
"""

from __future__ import annotations

from fractions import Fraction

from .before_after import BeforeAfter
from .scores import Measure
from .unit_cost import mean_unit_cost


def _compute(pair: BeforeAfter) -> Fraction:
    return mean_unit_cost("lm", pair)


LM = Measure(
    "lm",
    "LM, loss metric",
    "lower",
    (0, 1),
    _compute,
    "which share of the other items the published label of an item also covers, on average",
)
