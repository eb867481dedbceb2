"""What mining negative rules finds: each rule with its evidence, and the set of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from html import escape

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
