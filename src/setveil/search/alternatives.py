"""Other cuts than the one that was published, and what would be wrong with them.

A release keeps its promise. Publish one label finer, all else unchanged, and it may not: the patterns
that would break it are the reason why the label is published as it is. `split_down` and `raised_to`
make such a cut, `breaches` asks an engine what it would break, `strongest` how much of the promise it
would still keep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from ..engines.base import Engine, padded
from ..hierarchy.tree import Hierarchy
from ..model.guarantees import Guarantee
from ..release.recoding import Recoding

Cut = frozenset[int]


@dataclass(frozen=True)
class Breach:
    """A pattern against the promise: nodes present, nodes absent, and how many records fit.

    Where the pattern points at a sensitive or private item too surely, `secret` is its node and
    `with_secret` counts the fitting records that hold it.
    """

    present: tuple[int, ...]
    absent: tuple[int, ...]
    support: int
    secret: int | None = None
    with_secret: int = 0

    @property
    def nodes(self) -> tuple[int, ...]:
        """All nodes that take part; without any one of them there is no breach."""
        secret = () if self.secret is None else (self.secret,)
        return (*self.present, *self.absent, *secret)


def node_above(hierarchy: Hierarchy, cut: Cut, node: int) -> int | None:
    """Return the node of a cut at or above `node`; None where there is none."""
    return next((upper for upper in (node, *hierarchy.ancestors(node)) if upper in cut), None)


def nodes_below(hierarchy: Hierarchy, cut: Cut, node: int) -> list[int]:
    """Return the nodes of a cut strictly below `node`, in the order of their leaves."""
    nodes = np.array(sorted(cut), dtype=np.int32)
    start = hierarchy.first_leaf[nodes]
    inside = (start >= hierarchy.first_leaf[node]) & (start < hierarchy.end_leaf[node])
    below = inside & (hierarchy.depth[nodes] > hierarchy.depth[node])
    return [int(lower) for lower in nodes[below][np.argsort(start[below], kind="stable")]]


def split_down(hierarchy: Hierarchy, cut: Cut, upper: int, node: int) -> Cut:
    """Return the cut with `upper` split as far as `node` needs; what hangs off the way stays whole.

    >>> toy = Hierarchy.from_parents({"a": "A", "b": "A", "c": "T", "A": "T", "T": None})
    >>> [toy.labels[n] for n in sorted(split_down(toy, frozenset({4}), 4, 0))]
    ['a', 'b', 'c']
    """
    parts = set(cut) - {upper}
    here = node
    while here != upper:
        above = int(hierarchy.parent[here])
        parts |= set(hierarchy.children[above]) - {here}
        here = above
    return frozenset(parts | {node})


def raised_to(hierarchy: Hierarchy, cut: Cut, node: int) -> Cut:
    """Return the cut with `node` published in place of whatever is published under it."""
    return cut.difference(nodes_below(hierarchy, cut, node)) | {node}


def breaches(
    engine: Engine, cut: Cut, guarantee: Guarantee, *, limit: int | None = None
) -> tuple[list[Breach], bool]:
    """Return what publishing `cut` would break, smaller patterns first, and whether this is all."""
    recoding = Recoding.from_cut(engine.hierarchy, sorted(cut))
    found = engine.violations(recoding, guarantee, limit=limit)
    absent = found.absent.tolist() if found.absent is not None else [[]] * len(found)
    patterns = [
        Breach(_nodes(line), _nodes(without), support)
        for line, without, support in zip(
            found.sets.tolist(), absent, found.support.tolist(), strict=True
        )
    ]
    if guarantee.secret_labels:
        patterns = _with_secrets(engine, cut, guarantee, patterns)
    patterns.sort(key=lambda breach: (len(breach.nodes), breach.support))
    return patterns, found.complete


def _nodes(line: list[int]) -> tuple[int, ...]:
    return tuple(node for node in line if node >= 0)


def _with_secrets(
    engine: Engine, cut: Cut, guarantee: Guarantee, patterns: list[Breach]
) -> list[Breach]:
    """Tell of each pattern which items it gives away; a rare one stays as it is."""
    number = engine.hierarchy.node_of_label
    named = guarantee.secret_labels
    secrets = sorted(cut.intersection(number[label] for label in named if label in number))
    told: list[Breach] = []
    for secret in secrets:
        together = engine.supports(padded([[*breach.present, secret] for breach in patterns]))
        told += [
            replace(breach, secret=secret, with_secret=count)
            for breach, count in zip(patterns, together.tolist(), strict=True)
            if count > guarantee.share * breach.support
        ]
    return told + [breach for breach in patterns if breach.support < guarantee.crowd]


def strongest(engine: Engine, cut: Cut, guarantee: Guarantee) -> tuple[int | None, int | None]:
    """Return the largest k (or l) and the largest m (or p) that a cut which breaks more would keep.

    Each with the other as it is; None where not even the weakest promise is kept.
    """
    known = guarantee.known_at_most
    if known is None:
        return None, None
    recoding = Recoding.from_cut(engine.hierarchy, sorted(cut))

    def keeps(weaker: Callable[[int], Guarantee]) -> Callable[[int], bool]:
        return lambda number: not len(engine.violations(recoding, weaker(number), limit=1))

    return (
        _largest(2, guarantee.least_support - 1, keeps(guarantee.with_strength)),
        _largest(1, known - 1, keeps(guarantee.with_knowledge)),
    )


def _largest(low: int, high: int, keeps: Callable[[int], bool]) -> int | None:
    """Return the largest number from low to high that is kept, where every lower one is too."""
    best = None
    while low <= high:
        middle = (low + high) // 2
        if keeps(middle):
            best, low = middle, middle + 1
        else:
            high = middle - 1
    return best


def records_with(engine: Engine, nodes: Iterable[int]) -> list[int]:
    """Return in how many records each node is."""
    return [int(count) for count in engine.supports(np.array([[node] for node in nodes], np.int32))]
