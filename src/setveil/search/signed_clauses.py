"""Clauses of rare patterns with absent nodes.

A pattern (present u_i, absent v_j) held by few records forbids every cut that still tells it. Raising a
u_i or lowering a v_j only makes the pattern easier to hold, so both are done while fewer than k records
hold it: that widens what the clause forbids. A witness, one record t of the pattern, then bounds the
absent side from above: with top_j the highest ancestor of v_j that t lacks, any cut at or below all u_i
and between v_j and top_j for all j still publishes a pattern that t has and that at most those records
have. Witnesses are found by supports alone: top_j goes up while some record still holds the pattern.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ..engines.base import Engine, Violations, padded
from .clauses import Clause, clause_of_signed


def signed_supports(engine: Engine, patterns: list[tuple[list[int], list[int]]]) -> NDArray[np.int64]:
    """Return in how many records each (present, absent) pattern is, by inclusion and exclusion."""
    sets: list[list[int]] = []
    sign_of_set: list[int] = []
    pattern_of_set: list[int] = []
    for number, (present, absent) in enumerate(patterns):
        for size in range(len(absent) + 1):
            for part in combinations(absent, size):
                sets.append([*present, *part])
                sign_of_set.append(-1 if size % 2 else 1)
                pattern_of_set.append(number)
    counted = engine.supports(padded(sets)) * np.array(sign_of_set, dtype=np.int64)
    total = np.zeros(len(patterns), dtype=np.int64)
    np.add.at(total, np.array(pattern_of_set, dtype=np.int64), counted)
    return total


def clauses_of_signed(engine: Engine, found: Violations, k: int) -> list[Clause]:
    """Return the clauses of these violations, each widened as far as it goes."""
    assert found.absent is not None
    clauses: dict[Clause, None] = {}
    for present_line, absent_line in zip(found.sets.tolist(), found.absent.tolist(), strict=True):
        present = [node for node in present_line if node >= 0]
        absent = [node for node in absent_line if node >= 0]
        clauses[_clause(engine, present, absent, k)] = None
    return list(clauses)


def _clause(engine: Engine, present: list[int], absent: list[int], k: int) -> Clause:
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
            if signed_supports(engine, [(trial, lowered)])[0] < k:
                raised, moved = trial, True
        for place, node in enumerate(lowered):
            for below in hierarchy.children[node]:
                trial = [*lowered[:place], below, *lowered[place + 1 :]]
                if signed_supports(engine, [(raised, trial)])[0] < k:
                    lowered, moved = trial, True
                    break
    return clause_of_signed(hierarchy, raised, lowered, tops)


def _raise_tops(engine: Engine, present: list[int], absent: list[int]) -> list[int]:
    """Return the absent nodes raised, in turn, while some record still holds the whole pattern."""
    tops = list(absent)
    for place in range(len(tops)):
        above = int(engine.hierarchy.parent[tops[place]])
        while above >= 0:
            trial = [*tops[:place], above, *tops[place + 1 :]]
            if signed_supports(engine, [(present, trial)])[0] == 0:
                break
            tops = trial
            above = int(engine.hierarchy.parent[above])
    return tops
