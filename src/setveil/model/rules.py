"""Negative rules: who fits certain conditions does not have a certain sensitive value.

Rules are written in labels, so that files, methods and the audit read them alike. A condition names an
attribute and a value or category of its hierarchy, or an interval of numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from .intervals import parse_interval, parse_number
from .microdata import Microdata, QuasiAttribute


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


def impossible_values(data: Microdata, rules: tuple[NegativeRule, ...]) -> NDArray[np.bool_]:
    """Return which sensitive values (columns) the rules rule out for each tuple (lines)."""
    by_name = {attribute.name: attribute for attribute in data.quasi}
    number_of_value = {value: number for number, value in enumerate(data.values)}
    impossible = np.zeros((len(data), len(data.values)), dtype=np.bool_)
    for rule in rules:
        if rule.value not in number_of_value:
            continue
        meets = np.ones(len(data), dtype=np.bool_)
        for name, label in rule.conditions:
            if name not in by_name:
                raise UsageError(
                    f"a rule names the column {name[:40]!r}, which is not quasi-identifying.",
                    f"Quasi-identifying: {', '.join(other[:40] for other in by_name)}.",
                )
            attribute = by_name[name]
            meets &= leaves_meeting(attribute, label)[attribute.leaf_by_tuple]
        impossible[meets, number_of_value[rule.value]] = True
    return impossible


def binding_rules(data: Microdata, rules: Iterable[NegativeRule]) -> tuple[NegativeRule, ...]:
    """Return the rules that rule something out: somebody meets their conditions, and has not the value.

    The others say nothing about these data, and must not be published with them.
    """
    return tuple(rule for rule in rules if impossible_values(data, (rule,)).any())
