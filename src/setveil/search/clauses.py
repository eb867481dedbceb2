"""What every valid choice must obey: from what an engine finds rare to clauses, as strong as they get.

Let z_p = 1 for an inner node p when the leaves under it are published at p or above, and z_a = 1 for a
leaf that is published at all. A clause is a disjunction: some z of `plus` is 1, or some z of `minus` is
0. A rare set of nodes gives the clause of its parents: a valid cut generalizes at least one of them
strictly (docs/methods/optimal.md has the proof). A root has no parent, so a rare set of roots gives the
empty clause, which nothing satisfies.

- `lift`: the higher the nodes of a rare set, the stronger its clause, so they are raised as far as the
  set stays rare.
- `find_witnesses`: leaves by which a record holds a rare set. Where leaves may be suppressed they join
  the clause (`clauses_of_witnesses`).
- `clauses_of_signed`: a pattern (present u_i, absent v_j) held by few records forbids every cut that
  still tells it. Raising a u_i or lowering a v_j only makes the pattern easier to hold, so both are
  done while fewer than k records hold it: that widens what the clause forbids. A witness, one record t
  of the pattern, then bounds the absent side from above: with top_j the highest ancestor of v_j that t
  lacks, any cut at or below all u_i and between v_j and top_j for all j still publishes a pattern that
  t has and that at most those records have. Witnesses are found by supports alone: top_j goes up while
  some record still holds the pattern.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ..engines.base import Engine, NearData, NodeSets, Violations, padded
from ..hierarchy.tree import Counts, Hierarchy


@dataclass(frozen=True, order=True)
class Clause:
    """Some node of `plus` is generalized, or some node of `minus` is not."""

    plus: tuple[int, ...]
    minus: tuple[int, ...] = ()


def as_clauses(plus: NodeSets, minus: NodeSets | None = None) -> list[Clause]:
    """Return lines of `plus`, and of `minus`, as clauses."""
    positive = [tuple(sorted(_nodes(line))) for line in plus.tolist()]
    if minus is None:
        return [Clause(nodes) for nodes in positive]
    negative = [tuple(sorted(_nodes(line))) for line in minus.tolist()]
    return [Clause(*pair) for pair in zip(positive, negative, strict=True)]


def _nodes(line: Iterable[int]) -> list[int]:
    return [int(node) for node in line if node >= 0]


def lift(engine: Engine, sets: NodeSets, k: int) -> tuple[NodeSets, Counts]:
    """Return the sets raised until no single node can go up with support below `k`, and supports.

    The nodes take turns. A node that comes to cover another takes its place: the set shrinks.
    """
    if isinstance(engine, NearData):
        return engine.lift(sets, k)
    return lift_by_batches(engine, sets, k)


def lift_by_batches(engine: Engine, sets: NodeSets, k: int) -> tuple[NodeSets, Counts]:
    """Lift with `supports` alone.

    Every set asks about one of its nodes at a time, and the questions of all sets go to the engine in
    one batch, so that a lift costs about ``m * height`` batches however many sets there are.
    """
    hierarchy = engine.hierarchy
    parent, first, end = hierarchy.parent, hierarchy.first_leaf, hierarchy.end_leaf
    lifted = sets.copy()
    n_sets, width = lifted.shape
    support = engine.supports(lifted, enough=k)
    # Supports only grow on the way up: a node that cannot be raised now never can.
    stuck = lifted < 0
    place = np.zeros(n_sets, dtype=np.int64)
    active = np.arange(n_sets)
    while len(active):
        at = place[active]
        node = lifted[active, at]
        above = np.where((node >= 0) & ~stuck[active, at], parent[node], -1)
        stuck[active, at] |= above < 0
        asks = np.flatnonzero(above >= 0)
        if len(asks):
            upper, sets_asked = above[asks], active[asks]
            trial = lifted[sets_asked]
            trial[
                (trial >= 0)
                & (first[upper][:, None] <= first[trial])
                & (end[trial] <= end[upper][:, None])
            ] = -1
            trial[np.arange(len(asks)), at[asks]] = upper
            counted = engine.supports(_packed(trial), enough=k)
            rare = counted < k
            lifted[sets_asked[rare]] = trial[rare]
            support[sets_asked[rare]] = counted[rare]
            stuck[sets_asked[~rare], at[asks][~rare]] = True
        stuck |= lifted < 0
        place[active] = (at + 1) % width
        active = active[~stuck[active].all(axis=1)]
    return _packed(lifted), support


def _packed(sets: NodeSets) -> NodeSets:
    """Return the sets with their nodes rising and the padding at the end."""
    rising = np.sort(np.where(sets < 0, np.iinfo(np.int32).max, sets), axis=1)
    rising[rising == np.iinfo(np.int32).max] = -1
    return rising


def lowest(hierarchy: Hierarchy, nodes: Iterable[int]) -> tuple[int, ...]:
    """Return the nodes without those above another: z of an ancestor implies z of the lower node."""
    distinct = sorted(set(nodes))
    return tuple(
        node
        for node in distinct
        if not any(other != node and hierarchy.covers(node, other) for other in distinct)
    )


def lowest_parents(hierarchy: Hierarchy, sets: NodeSets) -> NodeSets:
    """Return, line by line, what `lowest` leaves of the parents of a set's nodes, padded with -1."""
    plus = np.where(sets >= 0, hierarchy.parent[sets], -1).astype(np.int32)
    first, end = hierarchy.first_leaf, hierarchy.end_leaf
    for one in range(plus.shape[1]):
        for other in range(plus.shape[1]):
            if one == other:
                continue
            upper, lower = plus[:, one], plus[:, other]
            covered = (first[upper] <= first[lower]) & (end[lower] <= end[upper])
            # Ids rise along the way up, so they tell the ends of a unary chain apart.
            above = covered & ((upper > lower) | ((upper == lower) & (one > other)))
            plus[(upper >= 0) & (lower >= 0) & above, one] = -1
    return -np.sort(-plus, axis=1)


def find_witnesses(engine: Engine, sets: NodeSets, per_set: int) -> tuple[NodeSets, Counts]:
    """Return up to `per_set` witnesses of each set, and the number of the set each belongs to.

    A witness holds, in the order of the set's nodes, a leaf under each, all in one record. By supports
    alone one is found: each node in turn goes down to the child that most records hold together with
    the rest, until all are leaves.
    """
    if isinstance(engine, NearData):
        return engine.witnesses(sets, per_set)
    hierarchy = engine.hierarchy
    lines = [_nodes(line) for line in sets.tolist()]
    for leaves in lines:
        for place in range(len(leaves)):
            while leaves[place] >= hierarchy.n_leaves:
                children = hierarchy.children[leaves[place]]
                trials = [[*leaves[:place], child, *leaves[place + 1 :]] for child in children]
                leaves[place] = children[int(np.argmax(engine.supports(padded(trials))))]
    return padded(lines, sets.shape[1]), np.arange(len(sets), dtype=np.int64)


def clauses_of_witnesses(
    hierarchy: Hierarchy, lifted: NodeSets, held: NodeSets
) -> tuple[NodeSets, NodeSets]:
    """Return lines of `plus` and `minus` for rare sets, each with the leaves that hold it.

    For each node of a lifted set one of the leaves under it: that leaf is suppressed, or published
    above the node.
    """
    minus = np.full(lifted.shape, -1, dtype=np.int32)
    first, end = hierarchy.first_leaf, hierarchy.end_leaf
    for place in range(lifted.shape[1]):
        node = lifted[:, place]
        for column in range(held.shape[1]):
            leaf = held[:, column]
            fits = (node >= 0) & (leaf >= 0) & (minus[:, place] < 0)
            fits &= (first[node] <= leaf) & (leaf < end[node])
            minus[fits, place] = leaf[fits]
    return lowest_parents(hierarchy, lifted), minus


def clause_of_exact(hierarchy: Hierarchy, nodes: Sequence[int]) -> Clause:
    """Return the clause that forbids publishing exactly these nodes together."""
    present = _nodes(nodes)
    return _forbidding(hierarchy, present, present)


def _forbidding(hierarchy: Hierarchy, upper: Iterable[int], lower: Iterable[int]) -> Clause:
    """Return the clause that some node of `upper` is passed, or some node of `lower` not reached."""
    parents = (int(hierarchy.parent[node]) for node in upper)
    minus = sorted({node for node in lower if node >= hierarchy.n_leaves})
    return Clause(lowest(hierarchy, (parent for parent in parents if parent >= 0)), tuple(minus))


def _signed_support(engine: Engine, present: list[int], absent: list[int]) -> int:
    """Return how many records hold all present and no absent nodes, by inclusion and exclusion."""
    parts = [part for size in range(len(absent) + 1) for part in combinations(absent, size)]
    counted = engine.supports(padded([[*present, *part] for part in parts])).tolist()
    return sum(-count if len(part) % 2 else count for part, count in zip(parts, counted, strict=True))


def clauses_of_signed(engine: Engine, found: Violations, k: int) -> list[Clause]:
    """Return the clauses of these violations, each widened as far as it goes."""
    assert found.absent is not None
    lines = zip(found.sets.tolist(), found.absent.tolist(), strict=True)
    clauses = (
        _clause_of_signed(engine, _nodes(present), _nodes(absent), k) for present, absent in lines
    )
    return list(dict.fromkeys(clauses))


def _clause_of_signed(engine: Engine, present: list[int], absent: list[int], k: int) -> Clause:
    hierarchy = engine.hierarchy
    tops = _raise_tops(engine, present, absent)
    raised, lowered = list(present), list(absent)
    moved = True
    while moved:
        moved = False
        for place, node in enumerate(raised):
            above = int(hierarchy.parent[node])
            if above < 0:
                continue
            trial = [*raised[:place], above, *raised[place + 1 :]]
            if _signed_support(engine, trial, lowered) < k:
                raised, moved = trial, True
        for place, node in enumerate(lowered):
            for below in hierarchy.children[node]:
                trial = [*lowered[:place], below, *lowered[place + 1 :]]
                if _signed_support(engine, raised, trial) < k:
                    lowered, moved = trial, True
                    break
    # A cut keeps the pattern only if it is at or below every present node and between each absent one
    # and its top.
    return _forbidding(hierarchy, [*raised, *tops], lowered)


def _raise_tops(engine: Engine, present: list[int], absent: list[int]) -> list[int]:
    """Return the absent nodes raised, in turn, while some record still holds the whole pattern."""
    tops = list(absent)
    for place in range(len(tops)):
        above = int(engine.hierarchy.parent[tops[place]])
        while above >= 0:
            trial = [*tops[:place], above, *tops[place + 1 :]]
            if _signed_support(engine, present, trial) == 0:
                break
            tops = trial
            above = int(engine.hierarchy.parent[above])
    return tops
