"""Slow, obvious twins of what mining loses: ML2, dML2 and the survival of itemsets, set by set."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations

from setveil.hierarchy.tree import Hierarchy
from tests.oracle.losses import Case, Row, estimated_count, true_count

Sets = frozenset[Row]


def ceiling(share: Fraction, n: int) -> int:
    """The smallest count of at least 1 that is that share of n or more."""
    return next(count for count in range(1, n + 2) if count >= share * n)


def support(rows: Iterable[Row], chosen: Row) -> int:
    return sum(row >= chosen for row in rows)


def frequent(rows: list[Row], least: int) -> Sets:
    """Every nonempty set of labels that at least so many rows hold."""
    labels = sorted(frozenset().union(*rows))
    return frozenset(
        frozenset(chosen)
        for size in range(1, len(labels) + 1)
        for chosen in combinations(labels, size)
        if support(rows, frozenset(chosen)) >= least
    )


def at_level(hierarchy: Hierarchy, label: str, level: int) -> str | None:
    """What a label is at a level: its ancestor, itself, or nothing if it lies above."""
    from_root = hierarchy.path(label)[::-1]
    deepest = hierarchy.height - level
    if len(from_root) > deepest:
        return from_root[deepest]
    return label if hierarchy.node_of_label[label] < hierarchy.n_leaves else None


def rows_at_level(hierarchy: Hierarchy, rows: list[Row], level: int) -> list[Row]:
    shown = [{at_level(hierarchy, label, level) for label in row} for row in rows]
    return [frozenset(label for label in row if label is not None) for row in shown]


def level_difference(case: Case, chosen: Row, level: int, least: int) -> int:
    """How many levels higher the set, or what it becomes there, is first frequent as published."""
    height = case.hierarchy.height
    for higher in range(level, height + 1):
        lifted = frozenset(at_level(case.hierarchy, label, higher) for label in chosen)
        if support(rows_at_level(case.hierarchy, case.published, higher), lifted) >= least:
            return higher - level
    return height - level + 1


def ml2(case: Case, share: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """ML2 by Eq. 1, dML2 by Eq. 2, and dML2 over those sets that are not found at their level."""
    least = ceiling(share, len(case.rows))
    before = after = 0
    differences: list[int] = []
    for level in range(case.hierarchy.height + 1):
        sets = frequent(rows_at_level(case.hierarchy, case.rows, level), least)
        before += len(sets)
        after += len(frequent(rows_at_level(case.hierarchy, case.published, level), least))
        differences += [level_difference(case, chosen, level, least) for chosen in sets]
    if not before:
        return Fraction(0), Fraction(0), Fraction(0)
    lost = [difference for difference in differences if difference]
    return (
        1 - Fraction(after, before),
        Fraction(sum(differences), before),
        Fraction(sum(lost), len(lost)) if lost else Fraction(0),
    )


def mean(values: list[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values) if values else Fraction(0)


def survival(case: Case, share: Fraction) -> dict[str, Fraction]:
    """What is left of frequent itemsets at the level of the items and of the published labels."""
    least = ceiling(share, len(case.rows))
    original, published = frequent(case.rows, least), frequent(case.published, least)
    # The original, seen through all labels that are published somewhere.
    shown = frozenset().union(*case.published)
    seen = [
        frozenset(label for item in row for label in case.hierarchy.path(item) if label in shown)
        for row in case.rows
    ]
    apart = [
        chosen
        for chosen in frequent(seen, least)
        if not any(one in case.hierarchy.path(other)[1:] for one in chosen for other in chosen)
    ]
    return {
        "itemset_recall": share_of(original & published, original),
        "itemset_precision": share_of(original & published, published),
        "label_recall": share_of(published, apart),
        "label_support_error": mean(
            [
                Fraction(
                    abs(support(case.published, chosen) - true_count(case, sorted(chosen))),
                    true_count(case, sorted(chosen)),
                )
                for chosen in published
            ]
        ),
        "item_support_error": mean(
            [
                abs(estimated_count(case, sorted(chosen)) - support(case.rows, chosen))
                / support(case.rows, chosen)
                for chosen in original
            ]
        ),
    }


def share_of(part: Iterable[Row], whole: Iterable[Row]) -> Fraction:
    """How many of the whole are in the part; 1 of nothing."""
    part, whole = set(part), set(whole)
    return Fraction(len(part & whole), len(whole)) if whole else Fraction(1)
