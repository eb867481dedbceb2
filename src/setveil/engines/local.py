"""The engine of one machine: arrays in memory, compiled kernels, threads.

Identical records are merged with weights when the engine is made. A question about a recoding
generalizes the merged records, merges again (which shrinks fast) and searches those. A question about
sets of nodes intersects the nodes' row lists and bitmaps, built at the first such question.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations

import numpy as np

from ..distinct import distinct
from ..errors import UsageError
from ..hierarchy.tree import Counts, Hierarchy, Ids
from ..kernels.base import in_threads, new_stop
from ..kernels.itemsets.rare import find_rare, find_rare_pairs
from ..kernels.itemsets.signed import Telling, find_rare_signed, find_undiverse
from ..kernels.itemsets.together import count_pairs
from ..kernels.rows import expand_rows, merge_rows, recode_rows
from ..kernels.supports import (
    Index,
    count_supports,
    index_nodes,
    lift_sets,
    without_rows,
    witness_leaves,
)
from ..model.guarantees import Guarantee
from ..model.transactions import Rows, Transactions, bind
from ..release.recoding import Recoding, published_rows
from .base import Ask, NodeSets, Violations, padded, within_32_bits

Pattern = tuple[int, ...]
"""Nodes, or numbers of nodes, ascending; one that is known to be absent is ``-2 - node``."""
Portion = tuple[NodeSets, Counts]
"""What a kernel found: a pattern a line, padded with -1, and in how many records each is."""

_NAMED_AT_ONCE = 1 << 20
_LINES_BETWEEN_LOOKS = 20_000


@dataclass(frozen=True, eq=False)
class Merged:
    """Rows of nodes, mostly distinct ones, and how many records each stands for."""

    indptr: Counts
    nodes: Ids
    weight_by_row: Counts

    @classmethod
    def of(cls, indptr: Counts, nodes: Ids, weight_by_row: Counts) -> Merged:
        """Return these rows with identical ones merged."""
        return cls(*merge_rows(indptr, nodes, weight_by_row)[:3])

    def recoded(self, node_of_leaf: Ids) -> Merged:
        """Return the rows after a global recoding, merged again."""
        return Merged.of(*recode_rows(self.indptr, self.nodes, node_of_leaf), self.weight_by_row)

    @property
    def longest(self) -> int:
        """How many nodes a row has at most."""
        return int(np.diff(self.indptr).max(initial=0))

    @cached_property
    def used(self) -> Counts:
        """The nodes that occur. Kernels take each node's place among them.

        Their tables are as wide as their ids reach; the nodes of a cut are few.
        """
        return np.flatnonzero(np.bincount(self.nodes)) if len(self.nodes) else np.empty(0, np.int64)

    @cached_property
    def numbered(self) -> tuple[Counts, Ids, Counts]:
        """The rows as kernels take them."""
        number_of_node = np.zeros(int(self.used[-1]) + 1 if len(self.used) else 1, dtype=np.int32)
        number_of_node[self.used] = np.arange(len(self.used), dtype=np.int32)
        return self.indptr, number_of_node[self.nodes], self.weight_by_row

    def named(self, sets: NodeSets) -> NodeSets:
        """Write the nodes in place of their numbers, and return the sets."""
        # The last entry, at -1, names the padding.
        node_of_number = np.append(self.used, -1).astype(np.int32)
        for start in range(0, len(sets), _NAMED_AT_ONCE):
            part = sets[start : start + _NAMED_AT_ONCE]
            part[...] = node_of_number[part]
        return sets


class LocalEngine:
    """Answers about records held in memory what `Engine` and `NearData` ask."""

    def __init__(self, hierarchy: Hierarchy, rows: Rows, *, threads: int | None = None) -> None:
        self.hierarchy = hierarchy
        self.threads = threads or len(os.sched_getaffinity(0))
        self._rows = rows
        self._merged = Merged.of(rows.indptr, rows.leaves, np.ones(len(rows), dtype=np.int64))

    @classmethod
    def of(
        cls, transactions: Transactions, hierarchy: Hierarchy, *, threads: int | None = None
    ) -> LocalEngine:
        """Return the engine of these records on the part of the hierarchy they use."""
        restricted, rows = bind(transactions, hierarchy)
        return cls(restricted, rows, threads=threads)

    @property
    def n_records(self) -> int:
        return len(self._rows)

    def item_counts(self) -> Counts:
        return np.bincount(self._rows.leaves, minlength=self.hierarchy.n_leaves).astype(np.int64)

    def violations(
        self,
        recoding: Recoding,
        guarantee: Guarantee,
        *,
        limit: int | None = None,
        ask: Ask | None = None,
    ) -> Violations:
        """Return the minimal patterns that a global recoding would publish against `guarantee`.

        Whom it hides in a crowd and what it keeps secret says what to look for. Lists of rare sets and
        of moles can be long; while they are searched `ask` is called. The others are asked for in
        portions, which are short.
        """
        known, k = guarantee.known_at_most, guarantee.crowd
        if known is None:
            raise UsageError("this engine answers about itemsets, not whole records.")
        is_rare = guarantee.secrets is None and not guarantee.signed
        if is_rare and len(self.pairs) and (known <= 2 or limit):
            # Smaller sets come first: where pairs are enough, no record is looked at.
            nodes = recoding.node_of_leaf()
            sets, support = self._rare_pairs(distinct(nodes[nodes >= 0]), k, known, limit or 0, ask)
            if known <= 2 or len(sets) == limit:
                return Violations(sets, support, limit is None or len(sets) < limit)
        published = self._merged.recoded(recoding.node_of_leaf())
        if guarantee.signed:
            return _rare_signed(published, k, known, limit)
        if is_rare:
            sets, support = self._rare(published, k, known, limit or 0, ask)
            return Violations(sets, support, limit is None or len(sets) < limit)
        number = self.hierarchy.node_of_label
        secrets = [number[label] for label in sorted(guarantee.secret_labels) if label in number]
        if k == 1:
            return _telling(published, secrets, guarantee.share, known, limit)
        shown = np.arange(len(self.hierarchy), dtype=np.int32)
        shown[secrets] = -1
        rare = self._rare(published.recoded(shown), k, known, 0, ask)
        sets, support = _moles(published, secrets, guarantee.share, k, known, rare, ask)
        return Violations(sets[:limit], support[:limit], limit is None or len(sets) <= limit)

    def _rare(self, rows: Merged, k: int, m: int, limit: int, ask: Ask | None) -> Portion:
        """Return the minimal sets of up to `m` nodes that fewer than `k` records hold, if any does."""
        size = max(1, min(m, rows.longest))
        counted = (self.pairs, rows.used.astype(np.int32)) if len(self.pairs) else None
        with within_32_bits():
            sets, support = find_rare(
                *rows.numbered, len(rows.used), k, size, limit, self.threads, ask, counted
            )
        return rows.named(sets), support

    def _rare_pairs(self, nodes: Ids, k: int, m: int, limit: int, ask: Ask | None) -> Portion:
        """Do the same for one or two of these nodes, of which all pairs are counted."""
        return find_rare_pairs(self.pairs, nodes, k, min(m, 2), limit, self.threads, ask)

    @cached_property
    def pairs(self) -> Ids:
        """In how many records each two nodes are; empty where there is no room to count that."""
        merged, parent = self._merged, self.hierarchy.parent
        return count_pairs(merged.indptr, merged.nodes, merged.weight_by_row, parent, self.threads)

    @cached_property
    def _index(self) -> Index:
        """Row lists of every node, and bitmaps of the long ones."""
        merged, parent = self._merged, self.hierarchy.parent
        return index_nodes(merged.indptr, merged.nodes, parent, merged.weight_by_row, pairs=self.pairs)

    def _index_for(self, sets: NodeSets) -> Index:
        """Return what answers about these sets; of pairs that are counted no row is listed."""
        by_counts = sets.shape[1] <= 2 and len(self.pairs)
        return without_rows(self.pairs, self._merged.weight_by_row) if by_counts else self._index

    def supports(self, sets: NodeSets, *, enough: int | None = None) -> Counts:
        return count_supports(sets, self._index_for(sets), enough or 0, self.threads)

    def lift(self, sets: NodeSets, k: int) -> Portion:
        return lift_sets(sets, self.hierarchy.parent, self._index_for(sets), k, self.threads)

    def threats(self, nodes: Ids, k: int, m: int, limit: int, ask: Ask | None = None) -> NodeSets:
        if m <= 2 and len(self.pairs):
            return self._rare_pairs(np.sort(nodes), k, m, limit, ask)[0]
        parent = self.hierarchy.parent
        is_asked = np.zeros(len(parent), dtype=np.bool_)
        is_asked[nodes] = True
        # The nearest asked node at or above each node; parents come after their children.
        nearest = np.full(len(parent), -1, dtype=np.int32)
        for node in range(len(parent) - 1, -1, -1):
            above = parent[node]
            nearest[node] = node if is_asked[node] else nearest[above] if above >= 0 else -1
        above_asked = np.where(parent >= 0, nearest[parent], -1).astype(np.int32)
        lowest = self._merged.recoded(nearest[: self.hierarchy.n_leaves])
        # A row that holds a node holds all above it, so no set with a node and its ancestor is
        # minimal: without the lower or the upper one it has the same records.
        expanded = expand_rows(lowest.indptr, lowest.nodes, above_asked)
        return self._rare(
            Merged(*expanded, lowest.weight_by_row), k, min(m, lowest.longest), limit, ask
        )[0]

    def witnesses(self, sets: NodeSets, per_set: int) -> tuple[NodeSets, Counts]:
        hierarchy, merged = self.hierarchy, self._merged
        return witness_leaves(
            sets,
            per_set,
            self._index,
            merged.indptr,
            merged.nodes,
            hierarchy.first_leaf,
            hierarchy.end_leaf,
            self.item_counts(),
        )

    def publish(self, recoding: Recoding) -> Transactions:
        return published_rows(recoding, self._rows)

    def rows(self) -> Rows:
        return self._rows


def _rare_signed(rows: Merged, k: int, m: int, limit: int | None) -> Violations:
    """Return the minimal patterns of nodes present or absent that too few records match."""

    def search(size: int, most: int) -> Iterable[Portion]:
        yield find_rare_signed(*rows.numbered, len(rows.used), k, size, most)

    return _smaller_first(rows, search, m, limit, signed=True)


def _telling(
    rows: Merged, secrets: Sequence[int], share: Fraction, m: int, limit: int | None
) -> Violations:
    """Return the sets that point to a secret too surely: all, not only minimal ones.

    Diversity is not monotone: a set can fail although its subsets do not, and the other way round.
    """
    is_secret = np.isin(rows.used, np.asarray(secrets, dtype=np.int64))

    def search(size: int, most: int) -> Iterable[Portion]:
        for secret in np.flatnonzero(is_secret).tolist():
            wanted = Telling(secret, share.denominator, share.numerator, 0, size, most)
            yield find_undiverse(*rows.numbered, is_secret, wanted, new_stop())

    return _smaller_first(rows, search, m, limit, signed=False)


def _smaller_first(
    rows: Merged,
    search: Callable[[int, int], Iterable[Portion]],
    m: int,
    limit: int | None,
    *,
    signed: bool,
) -> Violations:
    """Return what is found size by size, of signed patterns the minimal ones, smaller ones first.

    With a `limit`, larger sizes are searched only while fewer patterns than that were found.
    """
    known: dict[Pattern, int] = {}
    complete = True
    most = 0 if limit is None else 4 * limit + 64
    for size in range(1, m + 1):
        for found, support in search(size, most):
            complete = complete and not 0 < most <= len(found)
            for pattern, records in _patterns(found, support):
                if not signed or (len(pattern) == size and not _has_part(pattern, known)):
                    known[pattern] = records
        if limit is not None and len(known) >= limit:
            complete = complete and size == m
            break
    patterns = sorted(known, key=lambda pattern: (len(pattern), pattern))[:limit]
    node = rows.used.tolist()
    absent = [[node[-2 - x] for x in pattern if x < 0] for pattern in patterns] if signed else None
    return Violations(
        padded([[node[x] for x in pattern if x >= 0] for pattern in patterns]),
        np.array([known[pattern] for pattern in patterns], dtype=np.int64),
        complete and len(patterns) == len(known),
        None if absent is None else padded(absent),
    )


def _patterns(sets: NodeSets, support: Counts) -> Iterator[tuple[Pattern, int]]:
    for line, records in zip(sets.tolist(), support.tolist(), strict=True):
        yield tuple(sorted(literal for literal in line if literal != -1)), records


def _has_part(pattern: Pattern, known: dict[Pattern, int]) -> bool:
    """Tell whether a smaller part of a pattern is known."""
    parts = (part for size in range(1, len(pattern)) for part in combinations(pattern, size))
    return any(part in known for part in parts)


def _moles(
    rows: Merged,
    secrets: Sequence[int],
    share: Fraction,
    k: int,
    p: int,
    rare: Portion,
    ask: Ask | None,
) -> Portion:
    """Return the minimal moles: sets that are rare, given, and those that give a secret away.

    A rare set with a part that gives something away is not minimal, and neither is a set found here
    with such a part.
    """
    is_secret = np.isin(rows.used, np.asarray(secrets, dtype=np.int64))
    longest = int(np.diff(rows.indptr).max(initial=1))
    stop = new_stop()

    def given_away(secret: int) -> Portion:
        wanted = Telling(secret, share.denominator, share.numerator, k, min(p, longest), 0)
        return find_undiverse(*rows.numbered, is_secret, wanted, stop)

    found: dict[Pattern, int] = {}
    asked = np.flatnonzero(is_secret & (share < 1)).tolist()
    for sets, support in in_threads(given_away, asked, 1, ask, stop):
        found.update(_patterns(rows.named(sets), support))
    if not found:
        return rare
    found.update(_patterns(*rare))
    minimal: list[Pattern] = []
    for place, pattern in enumerate(sorted(found, key=lambda pattern: (len(pattern), pattern))):
        if ask is not None and place % _LINES_BETWEEN_LOOKS == 0:
            ask()
        if not _has_part(pattern, found):
            minimal.append(pattern)
    return padded(minimal), np.array([found[pattern] for pattern in minimal], dtype=np.int64)
