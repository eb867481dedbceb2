"""Frequent itemsets by trying every set: all, closed and maximal, with and without a forest."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from tests.oracle.itemsets import Row, support, with_ancestors

Found = dict[tuple[int, ...], int]


def frequent(
    rows: Sequence[Row],
    weights: Sequence[int],
    least: int,
    *,
    most_items: int | None = None,
    parent: Sequence[int] | None = None,
) -> Found:
    """All frequent sets with their supports; with a forest, of nodes none of which is above another."""
    if parent is not None:
        rows = [with_ancestors(row, parent) for row in rows]
    items = sorted(frozenset().union(*rows))
    longest = len(items) if most_items is None else most_items
    found = {}
    for size in range(1, longest + 1):
        for itemset in combinations(items, size):
            if parent is not None and any(
                one in with_ancestors([other], parent)
                for one in itemset
                for other in itemset
                if one != other
            ):
                continue
            held = support(rows, weights, itemset)
            if held >= least:
                found[itemset] = held
    return found


def says_more(one: Sequence[int], other: Sequence[int], parent: Sequence[int] | None) -> bool:
    """Tell whether `one`, not the same, implies `other`: it has each node of it, or one below."""
    implied = frozenset(one) if parent is None else with_ancestors(one, parent)
    return implied.issuperset(other) and set(one) != set(other)


def closed(found: Found, parent: Sequence[int] | None = None) -> Found:
    """The sets that no set of the same support says more than."""
    return {
        x: held
        for x, held in found.items()
        if not any(more == held and says_more(y, x, parent) for y, more in found.items())
    }


def maximal(found: Found, parent: Sequence[int] | None = None) -> Found:
    """The sets that no frequent set says more than."""
    return {x: held for x, held in found.items() if not any(says_more(y, x, parent) for y in found)}


def of_kind(found: Found, kind: str, parent: Sequence[int] | None = None) -> Found:
    return {"all": lambda f, _: f, "closed": closed, "maximal": maximal}[kind](found, parent)


def in_order(found: Found) -> list[tuple[tuple[int, ...], int]]:
    """The sets by size, then in lexicographic order."""
    return sorted(found.items(), key=lambda pair: (len(pair[0]), pair[0]))
