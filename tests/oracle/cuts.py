"""All cuts of a small forest, and the best one, by trying them all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product

from setveil.hierarchy.tree import Hierarchy
from setveil.model.costs import Cost
from setveil.search.count_tree import counted_nodes

Row = frozenset[int]
Cut = frozenset[int]


def all_cuts(hierarchy: Hierarchy) -> Iterator[Cut]:
    """Every antichain that covers all leaves."""
    for parts in product(*(list(_cuts_under(hierarchy, root)) for root in hierarchy.roots)):
        yield frozenset().union(*parts)


def _cuts_under(hierarchy: Hierarchy, node: int) -> Iterator[Cut]:
    yield frozenset({node})
    if hierarchy.children[node]:
        below = [list(_cuts_under(hierarchy, child)) for child in hierarchy.children[node]]
        for parts in product(*below):
            yield frozenset().union(*parts)


def published(hierarchy: Hierarchy, rows: Sequence[Row], cut: Cut) -> list[Row]:
    """The rows as the cut publishes them; leaves it does not cover are left out."""
    return [
        frozenset(node for leaf in row for node in (leaf, *hierarchy.ancestors(leaf)) if node in cut)
        for row in rows
    ]


def expand(hierarchy: Hierarchy, leaves: Iterable[int]) -> Row:
    """The leaves of a record and the counted nodes above them (Algorithm 1, line 2)."""
    counted = counted_nodes(hierarchy)
    return frozenset(
        node for leaf in leaves for node in (leaf, *hierarchy.ancestors(leaf)) if counted[node]
    )


def reduce(expanded: Iterable[int], in_force_by_node: Sequence[bool]) -> Row:
    """The nodes of an expanded record that are in force (Algorithm 4, line 5)."""
    return frozenset(node for node in expanded if in_force_by_node[node])


def rare_sets(rows: Sequence[Row], k: int, sizes: Sequence[int]) -> set[Row]:
    """The sets of these sizes that are in some row and in fewer than k."""
    items = sorted(frozenset().union(*rows)) if rows else []
    found = set()
    for size in sizes:
        for chosen in combinations(items, size):
            support = sum(row.issuperset(chosen) for row in rows)
            if 0 < support < k:
                found.add(frozenset(chosen))
    return found


def is_km_anonymous(rows: Sequence[Row], k: int, m: int) -> bool:
    return not rare_sets(rows, k, range(1, m + 1))


def cut_cost(hierarchy: Hierarchy, rows: Sequence[Row], cut: Cut, cost: Cost) -> int:
    """The integer cost, occurrence by occurrence."""
    return sum(
        int(cost.unit_by_node[node]) * int(cost.importance_by_leaf[leaf])
        for row in rows
        for leaf in row
        for node in (leaf, *hierarchy.ancestors(leaf))
        if node in cut
    )


def least_cost(hierarchy: Hierarchy, rows: Sequence[Row], k: int, m: int, cost: Cost) -> int | None:
    """The cost of the best k^m-anonymous cut; None where there is none."""
    return min(
        (
            cut_cost(hierarchy, rows, cut, cost)
            for cut in all_cuts(hierarchy)
            if is_km_anonymous(published(hierarchy, rows, cut), k, m)
        ),
        default=None,
    )


def unrelated(hierarchy: Hierarchy, nodes: Sequence[int]) -> bool:
    """Whether no node of these is another's ancestor, or twice here."""
    return all(
        u != v and u not in hierarchy.ancestors(v) and v not in hierarchy.ancestors(u)
        for u, v in combinations(nodes, 2)
    )


def rare_at_or_above(
    hierarchy: Hierarchy, rows: Sequence[Row], cut: Cut, k: int, size: int
) -> set[Row]:
    """All rare sets of `size` unrelated nodes, each at or above a node of the cut."""
    usable = sorted({node for low in cut for node in (low, *hierarchy.ancestors(low))})
    expanded = [
        frozenset(node for leaf in row for node in (leaf, *hierarchy.ancestors(leaf))) for row in rows
    ]
    return {
        frozenset(chosen)
        for chosen in combinations(usable, size)
        if unrelated(hierarchy, chosen) and 0 < sum(row.issuperset(chosen) for row in expanded) < k
    }


def repairs(hierarchy: Hierarchy, rows: Sequence[Row], rare: Sequence[int], k: int) -> set[Row]:
    """All results of raising nodes of a rare set, merged, that are in k rows or more."""
    expanded = [
        frozenset(node for leaf in row for node in (leaf, *hierarchy.ancestors(leaf))) for row in rows
    ]
    found = set()
    for raised in product(*((node, *hierarchy.ancestors(node)) for node in rare)):
        highest = frozenset(
            node for node in raised if not set(hierarchy.ancestors(node)).intersection(raised)
        )
        if sum(row >= highest for row in expanded) >= k:
            found.add(highest)
    return found
