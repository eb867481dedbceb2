"""Optimal anonymization by searching the lattice of cuts, OA (Terrovitis, Mamoulis, Kalnis:
Privacy-preserving anonymization of set-valued data, VLDB 2008, section 4.2, Algorithm 2).

Cuts are taken from a queue, the one that generalizes nothing first. A cut that is not k^m-anonymous
puts its immediate ancestors in the queue (`next_cuts`); one that is becomes a candidate, and its
immediate ancestors, which cannot be better, go into the hash table H. The cheapest candidate is
optimal: costs never fall on the way up, and above an anonymous cut every cut is anonymous.

The number of cuts doubles with every few items, so it is counted first (`count_cuts`) and the method
refuses beyond `max_cuts`; `optimal` gives the same loss at full scale. Differences from the paper: a
cut is checked by the engine's finder of rare itemsets, not by a count-tree, and a cut is never queued
twice.
"""

from __future__ import annotations

import math
from collections import deque

import numpy as np

from ..engines.base import Engine
from ..errors import InternalError, ResourceLimit
from ..model.costs import Cost
from ..model.guarantees import KmAnonymity
from ..progress import Watch
from ..registry import method
from ..release.recoding import Recoding
from ..search.cuts import check_roots, count_cuts, next_cuts
from . import Objective, Outcome

Cut = frozenset[int]


def anonymize(
    engine: Engine,
    guarantee: KmAnonymity,
    *,
    cost: Cost,
    watch: Watch,
    max_cuts: int = 200_000,
) -> Outcome:
    """Return the cheapest k^m-anonymous cut; the first one met where several cost the same.

    `ResourceLimit` where the hierarchy has more cuts than `max_cuts`.
    """
    method("oa").check_guarantee(guarantee)
    hierarchy = engine.hierarchy
    check_roots(engine, guarantee, watch)
    n_cuts = count_cuts(hierarchy)
    if n_cuts > max_cuts:
        raise ResourceLimit(
            f"the hierarchy has {_readable(n_cuts)} cuts, more than the limit of {max_cuts:,} "
            "that method oa looks through.",
            "Use method optimal, which proves the same optimum at full scale, or raise max_cuts.",
            code="too-many-cuts",
        )
    weight_by_node = cost.weight_by_node(hierarchy, engine.item_counts())
    start: Cut = frozenset(range(hierarchy.n_leaves))
    queue: deque[Cut] = deque([start])
    waiting: set[Cut] = {start}
    seen: set[Cut] = {start}
    not_optimal: set[Cut] = set()  # the paper's H
    best: Cut | None = None
    best_cost = 0
    checked = 0
    while queue:
        cut = queue.popleft()
        if cut not in waiting:
            continue  # deleted from the queue (lines 12, 13)
        waiting.discard(cut)
        watch.tick("cuts", checked / n_cuts)
        watch.check_deadline()
        checked += 1
        recoding = Recoding.from_cut(hierarchy, np.array(sorted(cut), dtype=np.int32))
        if len(engine.violations(recoding, guarantee, limit=1)):
            for above in next_cuts(hierarchy, cut):
                if above not in not_optimal and above not in seen:
                    seen.add(above)
                    waiting.add(above)
                    queue.append(above)
            continue
        for above in next_cuts(hierarchy, cut):
            not_optimal.add(above)
            waiting.discard(above)
        spent = int(weight_by_node[sorted(cut)].sum())
        if best is None or spent < best_cost:
            best, best_cost = cut, spent
    if best is None:
        raise InternalError("no cut holds although the roots do.")
    return Outcome(
        Recoding.from_cut(hierarchy, np.array(sorted(best), dtype=np.int32)),
        Objective(cost.name, best_cost, bound=best_cost),
        {"cuts": n_cuts, "cuts_checked": checked},
    )


def _readable(number: int) -> str:
    """Return a count with separators, or its order of magnitude where it is very long."""
    if number < 10**15:
        return f"{number:,}"
    # Such a number can be too long for a float and for Python's limit on digits.
    digits = int((number.bit_length() - 1) * math.log10(2))
    return f"about 10^{digits}"
