"""An engine that answers by brute force in plain Python: it tests the seam, and methods on it.

Slow and obvious on purpose, and without `rows`: a method that runs here touches no rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from setveil.engines.base import Ask, NodeSets, Violations, padded
from setveil.errors import UsageError
from setveil.hierarchy.tree import Hierarchy
from setveil.model.guarantees import Coherence, Guarantee, KAnonymity, KmAnonymity, LmDiversity
from setveil.model.transactions import Rows, Transactions
from setveil.release.recoding import Recoding, published_rows

Signed = tuple[tuple[int, ...], tuple[int, ...]]


class LoopbackEngine:
    """Answers an engine's questions from Python sets."""

    def __init__(self, hierarchy: Hierarchy, rows: Rows) -> None:
        self.hierarchy = hierarchy
        self._rows = rows
        self._sets = [
            frozenset(rows.leaves[rows.indptr[r] : rows.indptr[r + 1]].tolist())
            for r in range(len(rows))
        ]
        self._with_ancestors = [
            frozenset(node for leaf in row for node in (leaf, *hierarchy.ancestors(leaf)))
            for row in self._sets
        ]

    @property
    def n_records(self) -> int:
        """How many records there are, empty ones included."""
        return len(self._sets)

    def item_counts(self) -> NDArray[np.int64]:
        """Return in how many records each leaf is."""
        return np.bincount(self._rows.leaves, minlength=self.hierarchy.n_leaves).astype(np.int64)

    def supports(self, sets: NodeSets, *, enough: int | None = None) -> NDArray[np.int64]:
        """Return in how many records each set of nodes is; `enough` is not used."""
        del enough
        wanted = [frozenset(int(node) for node in line if node >= 0) for line in sets]
        return np.array(
            [sum(nodes <= row for row in self._with_ancestors) for nodes in wanted], dtype=np.int64
        )

    def violations(
        self,
        recoding: Recoding,
        guarantee: Guarantee,
        *,
        limit: int | None = None,
        ask: Ask | None = None,
    ) -> Violations:
        """Return the minimal patterns against `guarantee`, smaller ones first."""
        if ask is not None:
            ask()
        node_of_leaf = recoding.node_of_leaf()
        published = [
            frozenset(int(node_of_leaf[leaf]) for leaf in row if node_of_leaf[leaf] >= 0)
            for row in self._sets
        ]
        found: list[tuple[Signed, int]] = []
        for pattern, support in self._broken(published, guarantee):
            smaller = [known for known, _ in found if _within(known, pattern)]
            if not smaller or isinstance(guarantee, LmDiversity):
                found.append((pattern, support))
        complete = limit is None or len(found) <= limit
        found = found[:limit]
        negative = isinstance(guarantee, KmAnonymity) and guarantee.negative
        return Violations(
            padded([present for (present, _), _ in found]),
            np.array([support for _, support in found], dtype=np.int64),
            complete,
            padded([absent for (_, absent), _ in found]) if negative else None,
        )

    def _broken(
        self, published: list[frozenset[int]], guarantee: Guarantee
    ) -> Iterator[tuple[Signed, int]]:
        nodes = sorted({node for row in published for node in row})
        if isinstance(guarantee, KAnonymity):
            raise UsageError("this engine answers about itemsets, not whole records.")
        if isinstance(guarantee, LmDiversity):
            sensitive = {self.hierarchy.node_of_label.get(label) for label in guarantee.sensitive}
            quasi = [node for node in nodes if node not in sensitive]
            for size in range(1, guarantee.m + 1):
                for known in combinations(quasi, size):
                    rows = [row for row in published if row.issuperset(known)]
                    worst = max((sum(s in row for row in rows) for s in sensitive), default=0)
                    if guarantee.l * worst > len(rows):
                        yield (known, ()), len(rows)
            return
        if isinstance(guarantee, Coherence):
            private = {self.hierarchy.node_of_label.get(label) for label in guarantee.private}
            public = [node for node in nodes if node not in private]
            for size in range(1, guarantee.p + 1):
                for known in combinations(public, size):
                    rows = [row for row in published if row.issuperset(known)]
                    worst = max((sum(s in row for row in rows) for s in private), default=0)
                    if 0 < len(rows) < guarantee.k or worst > guarantee.share * len(rows):
                        yield (known, ()), len(rows)
            return
        for size in range(1, guarantee.m + 1):
            for n_absent in range(size + 1 if guarantee.negative else 1):
                for present in combinations(nodes, size - n_absent):
                    for absent in combinations(set(nodes) - set(present), n_absent):
                        support = sum(
                            row.issuperset(present) and row.isdisjoint(absent) for row in published
                        )
                        if 0 < support < guarantee.k:
                            yield (present, tuple(sorted(absent))), support

    def publish(self, recoding: Recoding) -> Transactions:
        """Return the published records in canonical order."""
        return published_rows(recoding, self._rows)

    def rows(self) -> Rows:
        """Refuse: this engine stands for one that holds no rows."""
        raise UsageError("this engine holds no rows.", "Use a method that needs none.")


def _within(smaller: Signed, larger: Signed) -> bool:
    return set(smaller[0]) <= set(larger[0]) and set(smaller[1]) <= set(larger[1])
