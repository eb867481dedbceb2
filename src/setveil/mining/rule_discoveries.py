"""Which of many rules to believe: the control of false discoveries.

An expectation of 0.9 says that chance alone shows no such value in one case of ten. Among the many
pairs of a condition and a value that makes rules of nothing, among thousands of conjunctions hundreds.
So rules go through the procedure of Benjamini and Hochberg: of m tests, those with the r smallest
p-values are believed, r being the largest number whose r-th p-value is at most r / m times the rate.

The p-value of a rule is the probability of seeing the value so rarely among so many tuples: 1 -
expectation where it is not seen at all, else the lower tail of the binomial distribution. All pairs
that reach the expectation were tested and count in m, each length by itself, so that allowing longer
rules does not cost a shorter one. Only rules that do not follow from a stronger one count in r: else
one true rule would carry in hundreds of its special cases, and chance with them. Those stand or fall
with it.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

CONTROLS = ("all", "longer", "none")
"""Whether all rules, those of two and more conditions, or none must pass."""


def log_p_value(share: float, count: Fraction, count_with: Fraction) -> float:
    """Return the logarithm of the probability that so few of so many tuples have a value.

    >>> round(math.exp(log_p_value(0.5, Fraction(3), Fraction(1))), 6)
    0.5
    """
    if share >= 1:
        return 0.0
    if count_with == 0:
        return float(count) * math.log1p(-share)
    trials, seen = math.floor(count), math.ceil(count_with)
    if seen >= trials * share:
        return 0.0
    # From the last term down each is at most `shrinks` times the one before: a few dozen are enough.
    last = (
        math.lgamma(trials + 1)
        - math.lgamma(seen + 1)
        - math.lgamma(trials - seen + 1)
        + seen * math.log(share)
        + (trials - seen) * math.log1p(-share)
    )
    total, term = 0.0, 1.0
    for hits in range(seen, -1, -1):
        total += term
        term *= hits * (1 - share) / ((trials - hits + 1) * share)
        if term < total * 1e-17:
            break
    return min(0.0, last + math.log(total))


def believed(log_p: NDArray[np.float64], tests: int, rate: Fraction) -> float:
    """Return the largest logarithm of a p-value to believe, minus infinity for none.

    >>> believed(np.log(np.array([0.01, 0.02, 0.5])), 6, Fraction(1, 10)) == math.log(0.02)
    True
    """
    ordered = np.sort(log_p)
    ranks = np.arange(1, len(ordered) + 1)
    passing = np.flatnonzero(ordered <= math.log(rate) + np.log(ranks) - math.log(max(tests, 1)))
    return float(ordered[passing[-1]]) if len(passing) else -math.inf
