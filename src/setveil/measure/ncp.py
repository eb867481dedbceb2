"""NCP, the normalized certainty penalty (Terrovitis et al.).

An occurrence published as a node over n of the |I| leaves of its tree loses n / |I|, nothing where n
is 1. The value is the mean over all original occurrences. |I| counts the leaves that occur,
or all of the hierarchy where the release was made so (`Hierarchy.domain`).
"""

from __future__ import annotations

from fractions import Fraction

from .before_after import BeforeAfter
from .scores import Measure
from .unit_cost import mean_unit_cost


def _compute(pair: BeforeAfter) -> Fraction:
    return mean_unit_cost("ncp", pair)


NCP = Measure(
    "ncp",
    "NCP, normalized certainty penalty",
    "lower",
    (0, 1),
    _compute,
    "how much of the tree an item became indistinguishable from, on average",
)
