"""Negative rules by brute force: every conjunction, every value, counted with fractions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import ceil, comb, floor, prod

Tree = Mapping[str, str | None]
Row = Mapping[str, str]
Rule = tuple[tuple[tuple[str, str], ...], str]
Counted = dict[Rule, tuple[Fraction, Fraction]]


def above(tree: Tree, label: str) -> list[str]:
    """The label and all labels above it, nearest first."""
    found, here = [label], tree[label]
    while here is not None:
        found.append(here)
        here = tree[here]
    return found


def under(tree: Tree, label: str, used: Sequence[str]) -> set[str]:
    return {leaf for leaf in used if label in above(tree, leaf)}


def narrow(tree: Tree, used: Sequence[str]) -> list[str]:
    """The labels that stand for somebody and not for everybody."""
    kept = {label for leaf in used for label in above(tree, leaf)}
    return sorted(label for label in kept if len(under(tree, label, used)) < len(set(used)))


def at_level(tree: Tree, leaf: str, depth: int) -> str:
    path = above(tree, leaf)[::-1]
    return path[min(depth, len(path) - 1)]


def membership(tree: Tree, label: str, used: Sequence[str], value: str) -> Fraction:
    """How far a number belongs to a category, in hundredths rounded down."""
    inside = {int(leaf) for leaf in under(tree, label, used)}
    numbers = sorted(int(leaf) for leaf in set(used))
    low, high, x = min(inside), max(inside), int(value)
    if [number for number in numbers if low <= number <= high] != sorted(inside):
        return Fraction(int(x in inside))
    if low <= x <= high:
        return Fraction(1)
    side = [number for number in numbers if (number < low) == (x < low) and number not in inside]
    beside = max(side) if x < low else min(side)
    depth = len(above(tree, label)) - 1
    there = [int(leaf) for leaf in under(tree, at_level(tree, str(beside), depth), used)]
    middle, edge = Fraction(min(there) + max(there), 2), low if x < low else high
    if len(inside) == 1 and len(there) == 1:
        # Single numbers: down to the second next, or twice as far as the last one.
        further = [number for number in side if number != beside]
        second = (max(further) if x < low else min(further)) if further else 2 * beside - edge
        middle = Fraction(second)
    if (middle - edge) * (x - edge) <= 0:
        return Fraction(0)
    share = 1 - Fraction(x - edge) / (middle - edge)
    return max(Fraction(floor(100 * share), 100), Fraction(0))


def memberships(
    trees: Mapping[str, Tree], rows: Sequence[Row], fuzzy: Sequence[str]
) -> dict[str, dict[str, dict[str, Fraction]]]:
    """How far each leaf belongs to each label that may be a condition, by attribute."""
    found: dict[str, dict[str, dict[str, Fraction]]] = {}
    for name, tree in trees.items():
        used = sorted({row[name] for row in rows})
        found[name] = {}
        for label in narrow(tree, used):
            if name in fuzzy:
                belongs = {leaf: membership(tree, label, used, leaf) for leaf in used}
            else:
                belongs = {leaf: Fraction(int(label in above(tree, leaf))) for leaf in used}
            if not all(share >= Fraction(1, 2) for share in belongs.values()):
                found[name][label] = belongs
    return found


def conjunctions(names: Sequence[str], labels: Mapping[str, Sequence[str]], longest: int) -> Iterator:
    for size in range(1, longest + 1):
        for chosen in combinations(names, size):
            for picked in product(*(labels[name] for name in chosen)):
                yield tuple(zip(chosen, picked, strict=True))


def all_rules(
    trees: Mapping[str, Tree],
    rows: Sequence[Row],
    values: Sequence[str],
    *,
    min_expectation: Fraction,
    min_confidence: Fraction = Fraction(1),
    longest: int = 1,
    fuzzy: Sequence[str] = (),
    minimum: bool = False,
) -> tuple[Counted, list[int]]:
    """Every rule with its support and its support with the value; tests by length.

    The powers of the expectation are compared exactly; supports are in hundredths of hundredths.
    """
    belongs = memberships(trees, rows, fuzzy)
    found: Counted = {}
    tests = [0] * longest
    join = min if minimum else prod
    for conditions in conjunctions(list(trees), {n: list(b) for n, b in belongs.items()}, longest):
        support = [
            join([belongs[name][label][row[name]] for name, label in conditions]) for row in rows
        ]
        count = Fraction(sum(support))
        for value in sorted(set(values)):
            absent = 1 - Fraction(values.count(value), len(values))
            if absent**count.numerator > (1 - min_expectation) ** count.denominator:
                continue
            tests[len(conditions) - 1] += count > 0
            with_value = Fraction(sum(s for s, v in zip(support, values, strict=True) if v == value))
            if count and with_value <= (1 - min_confidence) * count:
                found[conditions, value] = (count, with_value)
    return found, tests


def implied(
    rule: Rule,
    others: set[Rule],
    trees: Mapping[str, Tree],
    bound: Mapping[str, Mapping[str, set[str]]],
) -> bool:
    """Whether another rule about the same value has conditions at or above some of this one's."""
    conditions = dict(rule[0])
    return any(
        other != rule
        and other[1] == rule[1]
        and all(
            name in conditions
            and label in above(trees[name], conditions[name])
            and bound[name][label] >= bound[name][conditions[name]]
            for name, label in other[0]
        )
        for other in others
    )


def tail(share: Fraction, count: Fraction, with_value: Fraction) -> float:
    """The probability that of so many tuples at most so few have a value of this share."""
    if not with_value:
        return float(1 - share) ** float(count)
    n = floor(count)
    few = range(ceil(with_value) + 1)
    return float(sum(comb(n, c) * share**c * (1 - share) ** (n - c) for c in few))
