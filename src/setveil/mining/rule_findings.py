"""What mining negative rules finds: each rule with its evidence, and which of many to believe.

Among c tuples a value with share q occurs at least once with probability 1 - (1 - q)^c (Li & Li,
section IV-A). That is compared with the asked expectation as whole numbers or, where these would be
too long, as logarithms with as many digits as it takes. A rounding error never decides.

Which to believe is for the control of false discoveries to say. An expectation of 0.9 says that chance
alone shows no such value in one case of ten. Among the many pairs of a condition and a value that makes
rules of nothing, among thousands of conjunctions hundreds. So rules go through the procedure of
Benjamini and Hochberg: of m tests, those with the r smallest p-values are believed, r being the largest
number whose r-th p-value is at most r / m times the rate.

The p-value of a rule is the probability of seeing the value so rarely among so many tuples: 1 -
expectation where it is not seen at all, else the lower tail of the binomial distribution. All pairs
that reach the expectation were tested and count in m, each length by itself, so that allowing longer
rules does not cost a shorter one. Only rules that do not follow from a stronger one count in r: else
one true rule would carry in hundreds of its special cases, and chance with them. Those stand or fall
with it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from html import escape

import numpy as np
from numpy.typing import NDArray

from ..model.rules import NOT_KNOWN, Completeness, NegativeRule

SHOWN = 20
"""How many rules a printed set shows."""


@dataclass(frozen=True)
class RuleFinding:
    """A rule, and what in the data speaks for it.

    `count` tuples meet the conditions (a sum of memberships where these are fuzzy); `count_with_value`
    of them have the value all the same. `expectation` is the probability that so many tuples would
    show the value at least once if the conditions did not matter. A `redundant` rule follows from a
    more general one in the same set.
    """

    rule: NegativeRule
    count: int | Fraction
    count_with_value: int | Fraction
    expectation: float
    redundant: bool = False

    @property
    def confidence(self) -> Fraction:
        """The share of those who meet the conditions and do not have the value."""
        return 1 - Fraction(self.count_with_value) / Fraction(self.count)

    def as_dict(self) -> dict[str, object]:
        """Return the finding as plain values."""
        return {
            "conditions": dict(self.rule.conditions),
            "not": self.rule.value,
            "expectation": round(self.expectation, 6),
            "confidence": float(self.confidence),
            "count": _plain(self.count),
            "count_with_value": _plain(self.count_with_value),
            "redundant": self.redundant,
        }


@dataclass(frozen=True)
class RuleSet:
    """Negative rules found in a table; ``print`` it for a summary.

    `tests` tells how many pairs of conditions and value were judged, by the number of conditions, from
    one on; `left_out` how many rules the control of false discoveries took for chance. `complete` tells
    from where on no rule is left out.
    """

    findings: tuple[RuleFinding, ...]
    attributes: tuple[str, ...]
    sensitive: str
    tuples: int
    tests: tuple[int, ...]
    left_out: int = 0
    options: Mapping[str, object] = field(default_factory=dict)
    complete: Completeness = NOT_KNOWN

    @property
    def rules(self) -> tuple[NegativeRule, ...]:
        """The rules that bind; redundant ones add nothing to them and are not among them."""
        return tuple(finding.rule for finding in self.findings if not finding.redundant)

    def __len__(self) -> int:
        return len(self.findings)

    def as_dicts(self) -> list[dict[str, object]]:
        """Return the findings as plain values, in order."""
        return [finding.as_dict() for finding in self.findings]

    def as_dict(self) -> dict[str, object]:
        """Return everything as plain values."""
        return {
            "attributes": list(self.attributes),
            "sensitive": self.sensitive,
            "tuples": self.tuples,
            "options": {name: _told(value) for name, value in self.options.items()},
            "tests": list(self.tests),
            "left_out": self.left_out,
            "complete": [
                None if chance is None else float(chance) for chance in self.complete.chance_by_length
            ],
            "rules": self.as_dicts(),
        }

    def summary(self) -> str:
        """Return one sentence about what was found."""
        needed = len(self.rules)
        rest = len(self.findings) - needed
        follow = f", and {rest:,} that follow from them" if rest else ""
        told = f"{needed:,} negative rule{'' if needed == 1 else 's'}{follow}"
        told += f", from {self.tuples:,} tuples and {sum(self.tests):,} tests"
        if self.left_out:
            told += f"; {self.left_out:,} left out as likely chance"
        return told + "."

    def warnings(self, *, facts: bool = False) -> tuple[str, ...]:
        """Return a warning where no rule was found, and so at best known facts are reckoned with."""
        if self.findings:
            return ()
        chance = f"; {self.left_out:,} that may be chance were left out" if self.left_out else ""
        known = (
            "Only the known facts are reckoned with. If people know more, give more"
            if facts
            else "What people know all the same is not reckoned with. Give known"
        )
        control = ", or take those that may be chance (--control none)" if self.left_out else ""
        return (
            f"warning: no rule was found in the data{chance}. {known} facts (--rules), or ask "
            f"for less (--min-exp){control}.",
        )

    def __str__(self) -> str:
        needed = [finding for finding in self.findings if not finding.redundant]
        lines = [self.summary()]
        lines += [
            f"  {finding.rule}  (expectation {finding.expectation:.3f}, {_shown(finding.count)} tuples)"
            for finding in needed[:SHOWN]
        ]
        if len(needed) > SHOWN:
            lines.append(f"  … and {len(needed) - SHOWN:,} more")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(str(finding.rule))}</td><td>{finding.expectation:.3f}</td>"
            f"<td>{float(finding.confidence):.3f}</td><td>{_shown(finding.count)}</td></tr>"
            for finding in [found for found in self.findings if not found.redundant][:SHOWN]
        )
        heads = "".join(f"<th>{name}</th>" for name in ("rule", "expectation", "confidence", "tuples"))
        return f"<p>{escape(self.summary())}</p><table><tr>{heads}</tr>{rows}</table>"


def _plain(count: int | Fraction) -> int | float:
    exact = Fraction(count)
    return exact.numerator if exact.denominator == 1 else float(exact)


def _shown(count: int | Fraction) -> str:
    plain = _plain(count)
    return f"{plain:,}" if isinstance(plain, int) else f"{plain:,.2f}"


def _told(value: object) -> object:
    return str(value) if isinstance(value, Fraction) else value


SHORT_BITS = 20_000
"""Powers of up to so many bits are compared as whole numbers."""
UNREACHABLE = 2**62
"""Stands for a support that no number of tuples reaches."""


def least_counts(
    count_by_value: Sequence[int], n: int, min_expectation: Fraction, unit: int = 1
) -> NDArray[np.int64]:
    """Return the smallest support, in parts of 1 / `unit`, that reaches the expectation, by value.

    >>> least_counts([2, 1, 3, 3], 9, Fraction(3, 4)).tolist()
    [6, 12, 4, 4]
    """
    missed = 1 - min_expectation
    least = []
    for count in count_by_value:
        if count >= n:
            least.append(1)
            continue
        if count == 0:
            least.append(UNREACHABLE)
            continue
        absent = Fraction(n - count, n)
        guess = unit * math.log(missed) / math.log1p(-count / n)
        here = max(1, math.ceil(guess))
        while here > 1 and power_at_most(absent, here - 1, missed, unit):
            here -= 1
        while not power_at_most(absent, here, missed, unit):
            here += 1
        least.append(min(here, UNREACHABLE))
    return np.array(least, dtype=np.int64)


def power_at_most(left: Fraction, exponent: int, right: Fraction, other: int) -> bool:
    """Tell whether ``left ** exponent <= right ** other``, exactly; both are between 0 and 1.

    >>> power_at_most(Fraction(1, 2), 200, Fraction(1, 4), 100)
    True
    >>> power_at_most(Fraction(1, 2), 199, Fraction(1, 4), 100)
    False
    """
    common = math.gcd(exponent, other)
    exponent, other = exponent // common, other // common
    if exponent * left.denominator.bit_length() + other * right.denominator.bit_length() <= SHORT_BITS:
        return bool(left**exponent <= right**other)
    # The powers differ: were they equal, the exponents being without a common divisor, right's
    # denominator would be the power of a whole number to `exponent`, and left's to `other`.
    if exponent <= right.denominator.bit_length() and other <= left.denominator.bit_length():
        return bool(left**exponent <= right**other)
    digits = 40
    while True:
        context = Context(prec=digits)
        here = context.multiply(Decimal(exponent), _logarithm(left, context))
        there = context.multiply(Decimal(other), _logarithm(right, context))
        gap = context.subtract(here, there)
        # Each logarithm is off by a few units in its last place.
        if abs(gap) > context.scaleb(max(abs(here), abs(there)), 10 - digits):
            return gap < 0
        digits *= 2


def _logarithm(share: Fraction, context: Context) -> Decimal:
    """Return the natural logarithm of a fraction below 1, with almost all digits of the context."""
    # Near 1 the quotient itself must keep more digits than its logarithm shows.
    near = Context(prec=2 * context.prec + len(str(share.denominator)))
    return near.ln(near.divide(Decimal(share.numerator), Decimal(share.denominator)))


def expectation(count_of_value: int, n: int, count: Fraction | int) -> float:
    """Return how probable it is that a value occurs among so many tuples.

    >>> round(expectation(2, 9, 6), 3)
    0.779
    """
    if count_of_value >= n:
        return 1.0
    return -math.expm1(float(count) * math.log1p(-count_of_value / n))


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
