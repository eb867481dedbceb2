"""Raise rare sets of nodes as far as they stay rare: the higher the nodes, the stronger the clause.

An engine that can do it near its data has a `lift` of its own. For the others every set asks about one
of its nodes at a time, and the questions of all sets go to the engine in one batch, so that a lift
costs about ``m * height`` batches however many sets there are.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..engines.base import Engine, NodeSets


@runtime_checkable
class Lifting(Protocol):
    """An engine that lifts by itself."""

    def lift(self, sets: NodeSets, k: int) -> tuple[NodeSets, NDArray[np.int64]]:
        """Return what `lift` returns."""
        ...


def lift(engine: Engine, sets: NodeSets, k: int) -> tuple[NodeSets, NDArray[np.int64]]:
    """Return the sets raised until no single node can go up with support below `k`, and supports.

    The nodes take turns. A node that comes to cover another takes its place: the set shrinks.
    """
    if isinstance(engine, Lifting):
        return engine.lift(sets, k)
    return lift_by_batches(engine, sets, k)


def lift_by_batches(engine: Engine, sets: NodeSets, k: int) -> tuple[NodeSets, NDArray[np.int64]]:
    """Lift with `supports` alone."""
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
            counted = engine.supports(packed(trial), enough=k)
            rare = counted < k
            lifted[sets_asked[rare]] = trial[rare]
            support[sets_asked[rare]] = counted[rare]
            stuck[sets_asked[~rare], at[asks][~rare]] = True
        stuck |= lifted < 0
        place[active] = (at + 1) % width
        active = active[~stuck[active].all(axis=1)]
    return packed(lifted), support


def packed(sets: NodeSets) -> NodeSets:
    """Return the sets with their nodes rising and the padding at the end."""
    rising = np.sort(np.where(sets < 0, np.iinfo(np.int32).max, sets), axis=1)
    rising[rising == np.iinfo(np.int32).max] = -1
    return rising
