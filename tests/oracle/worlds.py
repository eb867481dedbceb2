"""Small random data sets with small random hierarchies of every shape, by seed; and all their cuts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations, combinations_with_replacement, product
from random import Random

from setveil.hierarchy.tree import Hierarchy
from setveil.model.transactions import Transactions

Row = frozenset[str]


@dataclass(frozen=True)
class World:
    """Rows of labels and the hierarchy over them."""

    rows: list[list[str]]
    hierarchy: Hierarchy

    @property
    def transactions(self) -> Transactions:
        return Transactions.from_rows(self.rows)


def random_hierarchy(random: Random, labels: list[str], *, roots: int = 1) -> Hierarchy:
    """Return a forest over the labels: any depth, any fan-out, unary chains among them."""
    parent: dict[str, str | None] = {}
    groups: list[list[str]] = [labels[place::roots] for place in range(roots)]
    number = 0
    for group in groups:
        level = list(group)
        while len(level) > 1 or (random.random() < 0.2 and number < 3 * len(labels)):
            random.shuffle(level)
            size = random.randint(1, min(4, len(level)))
            name = f"N{number}"
            number += 1
            for child in level[:size]:
                parent[child] = name
            level = [*level[size:], name]
        if level:
            parent[level[0]] = None
    return Hierarchy.from_parents(parent)


def random_world(
    seed: int, *, most_labels: int = 7, most_rows: int = 12, roots: int = 1, empty: bool = False
) -> World:
    """Return the world of a seed."""
    random = Random(seed)
    labels = [chr(ord("a") + place) for place in range(random.randint(max(2, roots), most_labels))]
    skew = random.random()
    rows = [
        [label for place, label in enumerate(labels) if random.random() < skew ** (place / 3 + 0.3)]
        for _ in range(random.randint(1, most_rows))
    ]
    rows = [row if row or empty else [random.choice(labels)] for row in rows]
    if not any(rows):
        rows[0] = [labels[0]]
    used = sorted({label for row in rows for label in row})
    return World(rows, random_hierarchy(random, used, roots=min(roots, len(used))))


def all_cuts(hierarchy: Hierarchy) -> Iterator[dict[str, str]]:
    """Yield every cut as a mapping from leaf label to published label."""

    def below(node: int) -> list[list[int]]:
        own = [[node]]
        children = hierarchy.children[node]
        if not children:
            return own
        return own + [list(chain(*parts)) for parts in product(*(below(child) for child in children))]

    for parts in product(*(below(root) for root in hierarchy.roots)):
        cut = {}
        for node in chain(*parts):
            for leaf in range(hierarchy.first_leaf[node], hierarchy.end_leaf[node]):
                cut[hierarchy.labels[leaf]] = hierarchy.labels[node]
        yield cut


def generalize(rows: list[list[str]], cut: dict[str, str]) -> list[Row]:
    """Return the rows as a cut publishes them; labels it does not name are left out."""
    return [frozenset(cut[label] for label in row if label in cut) for row in rows]


def is_km(rows: list[Row], k: int, m: int, *, negative: bool = False) -> bool:
    """Tell by counting whether the rows are k^m-anonymous."""
    labels = sorted({label for row in rows for label in row})
    for size in range(1, m + 1):
        for absent_size in range(size + 1 if negative else 1):
            for present in combinations(labels, size - absent_size):
                for absent in combinations([x for x in labels if x not in present], absent_size):
                    held = sum(row.issuperset(present) and row.isdisjoint(absent) for row in rows)
                    if 0 < held < k:
                        return False
    return True


def is_diverse(rows: list[Row], l: int, m: int, sensitive: set[str]) -> bool:  # noqa: E741
    """Tell by counting whether the rows are l^m-diverse."""
    labels = sorted({label for row in rows for label in row} - sensitive)
    for size in range(1, m + 1):
        for known in combinations(labels, size):
            matching = [row for row in rows if row.issuperset(known)]
            if any(l * sum(s in row for row in matching) > len(matching) for s in sensitive):
                return False
    return True


def all_antichains(hierarchy: Hierarchy) -> Iterator[dict[str, str]]:
    """Yield every antichain as a mapping from leaf label to published label; absent: suppressed."""

    def below(node: int) -> set[frozenset[int]]:
        found = {frozenset(), frozenset([node])}
        for parts in product(*(below(child) for child in hierarchy.children[node])):
            found.add(frozenset(chain(*parts)))
        return found

    for parts in product(*(below(root) for root in hierarchy.roots)):
        yield {
            hierarchy.labels[leaf]: hierarchy.labels[node]
            for node in chain(*parts)
            for leaf in range(hierarchy.first_leaf[node], hierarchy.end_leaf[node])
        }


def all_trees(labels: str) -> Iterator[Hierarchy]:
    """Yield every tree over these leaves whose categories have two children or more."""
    for nested in _nested(tuple(labels)):
        yield Hierarchy.from_parents(dict(_edges(nested, None)))


Nested = str | tuple["Nested", ...]


def _under(node: Nested) -> list[str]:
    return [node] if isinstance(node, str) else [label for child in node for label in _under(child)]


def _edges(node: Nested, above: str | None) -> Iterator[tuple[str, str | None]]:
    label = node if isinstance(node, str) else "+".join(sorted(_under(node)))
    yield label, above
    for child in () if isinstance(node, str) else node:
        yield from _edges(child, label)


def _partitions(labels: tuple[str, ...]) -> Iterator[list[tuple[str, ...]]]:
    if not labels:
        yield []
        return
    first, rest = labels[0], labels[1:]
    for size in range(len(rest) + 1):
        for beside in combinations(rest, size):
            for others in _partitions(tuple(label for label in rest if label not in beside)):
                yield [(first, *beside), *others]


def _nested(labels: tuple[str, ...]) -> Iterator[Nested]:
    if len(labels) == 1:
        yield labels[0]
        return
    for parts in _partitions(labels):
        if len(parts) > 1:
            yield from product(*(list(_nested(part)) for part in parts))


def all_databases(labels: str, n_rows: int) -> Iterator[list[list[str]]]:
    """Yield every bag of so many rows over these labels, empty rows among them."""
    rows = [list(row) for size in range(len(labels) + 1) for row in combinations(labels, size)]
    for bag in combinations_with_replacement(rows, n_rows):
        yield list(bag)
