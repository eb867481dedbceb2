"""Negative rules: who fits certain conditions does not have a certain sensitive value.

Rules are written in labels, so that files, methods and the audit read them alike. A condition names an
attribute and a value or category of its hierarchy, or an interval of numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_DOWN, Context, Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError, Problem, UsageError
from ..hierarchy.intervals import parse_interval, parse_number
from .microdata import Microdata, QuasiAttribute

DIGITS = 4
"""To how many digits readers are told from where on rules are complete."""


@dataclass(frozen=True, order=True)
class NegativeRule:
    """Whoever meets all `conditions`, pairs of attribute and label, does not have `value`.

    >>> print(NegativeRule((("sex", "M"),), "ovarian cancer"))
    sex=M => not ovarian cancer
    """

    conditions: tuple[tuple[str, str], ...]
    value: str

    def __str__(self) -> str:
        met = " and ".join(f"{attribute}={label}" for attribute, label in self.conditions)
        return f"{met} => not {self.value}"


@dataclass(frozen=True)
class Completeness:
    """From where on the rules that hold are all told.

    `chance_by_length` has, for rules of one condition, of two and so on, a chance to see no exception:
    every rule without exception for which it is no larger is told, or follows from one that is. None
    where nothing of the kind is known. `fuzzy` and `membership` say how the rules were mined.
    """

    chance_by_length: tuple[Fraction | None, ...] = ()
    fuzzy: bool = False
    membership: str = "product"

    def told(self) -> list[str | None]:
        """Return what readers may know of it, rounded down; nothing of fuzzy rules.

        >>> Completeness((Fraction(2, 3000), None)).told()
        ['0.0006666', None]
        """
        if self.fuzzy:
            return []
        down = Context(prec=DIGITS, rounding=ROUND_DOWN)
        return [
            None
            if chance is None
            else f"{down.divide(Decimal(chance.numerator), Decimal(chance.denominator)):f}"
            for chance in self.chance_by_length
        ]

    @classmethod
    def of_told(cls, told: Iterable[str | None]) -> Completeness:
        return cls(tuple(None if chance is None else Fraction(chance) for chance in told))


NOT_KNOWN = Completeness()
"""Nothing is known of which rules are missing."""


def leaves_meeting(attribute: QuasiAttribute, label: str) -> NDArray[np.bool_]:
    """Return which leaves of an attribute meet a condition: those under the label, or in the interval.

    A label that does not occur is met by nobody, unless it reads as an interval of a numeric attribute.
    """
    tree = attribute.hierarchy
    met = np.zeros(tree.n_leaves, dtype=np.bool_)
    node = tree.node_of_label.get(label)
    if node is not None:
        met[tree.first_leaf[node] : tree.end_leaf[node]] = True
        return met
    interval = parse_interval(label)
    if interval is None or interval.broken or not attribute.is_numeric:
        return met
    for leaf in range(tree.n_leaves):
        number = parse_number(tree.labels[leaf])
        met[leaf] = number is not None and interval.holds(number)
    return met


def tuples_meeting(data: Microdata, rule: NegativeRule) -> NDArray[np.bool_]:
    """Return which tuples meet all conditions of a rule."""
    by_name = {attribute.name: attribute for attribute in data.quasi}
    met = np.ones(len(data), dtype=np.bool_)
    for name, label in rule.conditions:
        if name not in by_name:
            raise UsageError(
                f"a rule names the column {name[:40]!r}, which is not quasi-identifying.",
                f"Quasi-identifying: {', '.join(other[:40] for other in by_name)}.",
            )
        met &= leaves_meeting(by_name[name], label)[by_name[name].leaf_by_tuple]
    return met


def impossible_values(data: Microdata, rules: tuple[NegativeRule, ...]) -> NDArray[np.bool_]:
    """Return which sensitive values (columns) the rules rule out for each tuple (lines)."""
    number_of_value = {value: number for number, value in enumerate(data.values)}
    impossible = np.zeros((len(data), len(data.values)), dtype=np.bool_)
    for rule in rules:
        if rule.value in number_of_value:
            impossible[tuples_meeting(data, rule), number_of_value[rule.value]] = True
    return impossible


def check_facts(data: Microdata, facts: Iterable[NegativeRule], min_confidence: Fraction) -> None:
    """Raise `DataError` for facts that the data contradict: published, they would be false.

    `min_confidence` is the share of those who meet a fact's conditions that must not have its value.
    """
    number_of_value = {value: number for number, value in enumerate(data.values)}
    problems = []
    for fact in facts:
        met = tuples_meeting(data, fact)
        has_it = met & (data.value_by_tuple == number_of_value.get(fact.value, -1))
        people, against = int(met.sum()), int(has_it.sum())
        if against > (1 - min_confidence) * people:
            problems.append(
                Problem(
                    "facts-contradicted",
                    f"the known fact {str(fact)[:160]!r} is not true of these data: {against:,} of "
                    f"{people:,} records that meet its conditions have that value.",
                    "Are its values mixed up, or columns or codes of the data? Correct the one or the "
                    "other. To reckon with a fact that has exceptions, say for what share of people it "
                    "must hold (--min-fact-conf).",
                )
            )
    if problems:
        raise DataError(problems)


def binding_rules(data: Microdata, rules: Iterable[NegativeRule]) -> tuple[NegativeRule, ...]:
    """Return the rules that rule something out: somebody meets their conditions, and has not the value.

    The others say nothing about these data, and must not be published with them.
    """
    return tuple(rule for rule in rules if impossible_values(data, (rule,)).any())
