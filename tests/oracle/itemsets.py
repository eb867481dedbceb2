"""Slow, obvious twins of the kernels: frozensets and itertools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations

Row = frozenset[int]


def recode(rows: Sequence[Row], node_of_leaf: Sequence[int]) -> list[Row]:
    return [frozenset(node_of_leaf[i] for i in row if node_of_leaf[i] >= 0) for row in rows]


def merge(rows: Sequence[Row], weights: Sequence[int]) -> list[tuple[tuple[int, ...], int]]:
    """The distinct rows as tuples, in lexicographic order, with their weights."""
    total: Counter[tuple[int, ...]] = Counter()
    for row, weight in zip(rows, weights, strict=True):
        total[tuple(sorted(row))] += weight
    return sorted(total.items())


def with_ancestors(nodes: Iterable[int], parent: Sequence[int]) -> Row:
    out = set()
    for start in nodes:
        node = start
        while node >= 0:
            out.add(node)
            node = parent[node]
    return frozenset(out)


def support(rows: Sequence[Row], weights: Sequence[int], itemset: Iterable[int]) -> int:
    wanted = frozenset(itemset)
    return sum(weight for row, weight in zip(rows, weights, strict=True) if wanted <= row)


def node_support(
    rows: Sequence[Row], weights: Sequence[int], nodes: Iterable[int], parent: Sequence[int]
) -> int:
    return support([with_ancestors(row, parent) for row in rows], weights, nodes)


def minimal_rare(
    rows: Sequence[Row], weights: Sequence[int], k: int, m: int
) -> list[tuple[tuple[int, ...], int]]:
    """All minimal rare itemsets with their supports, by size and then in lexicographic order."""
    items = sorted(frozenset().union(*rows))
    found: list[tuple[tuple[int, ...], int]] = []
    for size in range(1, m + 1):
        for itemset in combinations(items, size):
            count = support(rows, weights, itemset)
            if 0 < count < k and all(
                support(rows, weights, smaller) >= k
                for fewer in range(1, size)
                for smaller in combinations(itemset, fewer)
            ):
                found.append((itemset, count))
    return found


def raised(nodes: Row, node: int, parent: Sequence[int]) -> Row:
    """`nodes` with `node` replaced by its parent, less the nodes that the parent covers."""
    above = parent[node]
    return frozenset(n for n in nodes if above not in with_ancestors([n], parent)) | {above}


def lift(
    rows: Sequence[Row],
    weights: Sequence[int],
    nodes: Sequence[int],
    parent: Sequence[int],
    k: int,
) -> list[int]:
    """Raise the nodes in turn, starting with the first, until none can be raised."""
    current, at, refused = list(nodes), 0, 0
    while refused < len(current):
        at %= len(current)
        node = current[at]
        above = parent[node]
        if above >= 0:
            trial = raised(frozenset(current), node, parent)
            if node_support(rows, weights, trial, parent) < k:
                current = [above if n == node else n for n in current]
                current = [n for n in current if n in trial]
                at, refused = current.index(above) + 1, 0
                continue
        at, refused = at + 1, refused + 1
    return sorted(current)


def lift_is_maximal(
    rows: Sequence[Row], weights: Sequence[int], nodes: Row, parent: Sequence[int], k: int
) -> bool:
    """Is the set rare, and not rare any more whichever node is raised?"""
    if not 0 < node_support(rows, weights, nodes, parent) < k:
        return False
    return all(
        node_support(rows, weights, raised(nodes, node, parent), parent) >= k
        for node in nodes
        if parent[node] >= 0
    )
