"""Minimal privacy threats of all cuts at once: what no release may publish together.

A threat is an antichain of at most m nodes, at any levels of the hierarchy, that at least one record
holds and fewer than k; it is minimal where no smaller part of it is one. Those made of a cut's nodes
are exactly what is rare in the data generalized to that cut, so one list serves every cut of a search.

An engine that can list them near its data has `threats` of its own. For the others they are found level
by level with `supports` alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..engines.base import Ask, Engine, NodeSets, padded
from ..errors import ResourceLimit
from ..hierarchy.tree import Hierarchy

Ids = NDArray[np.int32]
Nodes = tuple[int, ...]

_ASKED_AT_ONCE = 100_000


@runtime_checkable
class Mining(Protocol):
    """An engine that lists threats by itself."""

    def threats(self, nodes: Ids, k: int, m: int, limit: int, ask: Ask | None = None) -> NodeSets:
        """Return what `threats_of_all_cuts` returns; where it is `limit` or more, some of them."""
        ...


def threats_of_all_cuts(
    engine: Engine, nodes: Ids, k: int, m: int, *, most: int, ask: Ask | None = None
) -> NodeSets:
    """Return the minimal sets of at most `m` of these nodes that 1 to `k` - 1 records hold.

    Parameters
    ----------
    engine
        The data.
    nodes
        The nodes of the taxonomy searched; others do not occur.
    k, m
        Below how many records a set is a threat, and how many nodes it has at most.
    most
        `ResourceLimit` where there are more threats than this.
    ask
        Called now and then; what it raises ends the search.
    """
    if isinstance(engine, Mining):
        found = engine.threats(nodes, k, m, most + 1, ask)
    else:
        found = threats_by_levels(engine, nodes, k, m, ask)
    if len(found) > most:
        raise ResourceLimit(
            f"there are more than {most:,} minimal privacy threats of up to {m} labels.",
            "Use mhghs, which holds those of a reduced hierarchy only, or lower m.",
            code="too-many-threats",
        )
    return found


def threats_by_levels(engine: Engine, nodes: Ids, k: int, m: int, ask: Ask | None = None) -> NodeSets:
    """Find the threats level by level: a set is asked about where all its parts are frequent."""
    hierarchy = engine.hierarchy
    found: list[Nodes] = []
    frequent: list[Nodes] = []
    candidates: Iterator[Nodes] | list[Nodes] = [(node,) for node in sorted(nodes.tolist())]
    for size in range(1, m + 1):
        asked = list(candidates)
        if not asked:
            break
        supports = _supports(engine, asked, k, ask)
        found += [line for line, held in zip(asked, supports, strict=True) if 0 < held < k]
        frequent = [line for line, held in zip(asked, supports, strict=True) if held >= k]
        candidates = _joined(hierarchy, frequent, size)
    return padded(found, m)


def _supports(engine: Engine, sets: list[Nodes], k: int, ask: Ask | None) -> list[int]:
    answers: list[int] = []
    for start in range(0, len(sets), _ASKED_AT_ONCE):
        if ask is not None:
            ask()
        part = padded(sets[start : start + _ASKED_AT_ONCE])
        answers += engine.supports(part, enough=k).tolist()
    return answers


def _joined(hierarchy: Hierarchy, frequent: list[Nodes], size: int) -> Iterator[Nodes]:
    """Yield the antichains of one more node all of whose parts of `size` nodes are frequent."""
    known = set(frequent)
    by_start: dict[Nodes, list[int]] = {}
    for line in frequent:
        by_start.setdefault(line[:-1], []).append(line[-1])
    for start, ends in by_start.items():
        for one, other in combinations(ends, 2):
            if hierarchy.covers(one, other) or hierarchy.covers(other, one):
                continue
            line = (*start, one, other)
            if all(part in known for part in combinations(line, size)):
                yield line
