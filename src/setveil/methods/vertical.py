"""Vertical partitioning anonymization, VPA (Terrovitis, Mamoulis, Kalnis: Local and global recoding
methods for anonymizing set-valued data, VLDB Journal 2011, section 4.6, Algorithm 7).

The domain, not the records, is cut into parts: whole classes of the hierarchy at one level, in the
order of the leaves (`domain_parts`). AA runs on each part as if the other items were not there, and
the cuts it finds are committed; a last AA over all items then only has to repair itemsets that reach
over several parts, on a domain that is much smaller by then. The recoding is global.

Only an engine's questions are asked: leaving out the other parts is a recoding that suppresses them.

Differences from the paper
--------------------------
- The partition level is counted from the root, and 1, its children, is the default. The paper counts
  from the leaves and takes 1 there: that cuts most large classes between parts, and measured losses
  were up to twice as high.
- Parts hold about equal numbers of occurrences, not of items: those set the number of itemsets.
- A class above the partition level may have leaves in several parts. AA on a part does not go up to
  such a class; what cannot be repaired below it is left to the last pass.
- If all parts could be repaired, single items are safe and the last pass begins with pairs.
- The number of parts can follow from a memory budget (`search.parts`).
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor, as_completed

import numpy as np

from ..engines.base import Engine
from ..hierarchy.tree import Counts, Hierarchy, Ids
from ..model.costs import Cost
from ..model.guarantees import KmAnonymity
from ..model.numbers import whole_number
from ..progress import Watch
from ..registry import method
from ..release.recoding import Recoding
from ..search.cuts import check_roots
from ..search.parts import BYTES_PER_OCCURRENCE, check_memory, parts_for
from . import Objective, Outcome
from .apriori import AprioriCut, apriori_cut


def anonymize(
    engine: Engine,
    guarantee: KmAnonymity,
    *,
    cost: Cost,
    watch: Watch,
    parts: int = 3,
    level: int = 1,
    memory: int | None = None,
    threads: int | None = None,
) -> Outcome:
    """Return the global recoding that VPA finds.

    The domain is cut into `parts`, fewer where it has fewer classes at depth `level`, which stay whole:
    1 is the children of the root, larger is finer. `memory` is a budget in bytes for what the searches
    hold on the parts, by estimate, without the data themselves; there are more parts, and a finer
    level, where it asks for them. As many parts are worked on at a time as there are `threads`, or
    cores.
    """
    method("vpa").check_guarantee(guarantee)
    whole_number("parts", parts, least=1)
    whole_number("level", level, least=0)
    check_roots(engine, guarantee, watch)
    hierarchy = engine.hierarchy
    counts = engine.item_counts()
    workers = threads or len(os.sched_getaffinity(0))
    if memory is not None:
        check_memory(memory)
        needed = parts_for(float(counts.sum()) * BYTES_PER_OCCURRENCE, memory, workers)
        parts = max(parts, needed)
        while level < hierarchy.height and len(np.unique(classes_at(hierarchy, level))) < needed:
            level += 1
    part_of_leaf = domain_parts(hierarchy, counts, parts, level)
    n_parts = int(part_of_leaf.max(initial=-1)) + 1
    reached = _cut_parts(engine, guarantee, cost, watch, part_of_leaf, n_parts, workers)
    committed = np.arange(hierarchy.n_leaves, dtype=np.int32)
    for part in reached:
        inside = part.cut.node_of_leaf >= 0
        committed[inside] = part.cut.node_of_leaf[inside]
    first_size = 2 if all(part.repaired for part in reached) else 1
    watch.tick("vpa: all items")
    last = apriori_cut(
        engine, guarantee.k, guarantee.m, committed, cost=cost, watch=watch, first_size=first_size
    )
    figures = {
        "parts": n_parts,
        "repairs in parts": sum(part.repairs for part in reached),
        "repairs": last.repairs,
    }
    recoding = Recoding.from_cut(hierarchy, last.cut.nodes)
    return Outcome(recoding, Objective(cost.name, last.cut.cost), figures)


def domain_parts(hierarchy: Hierarchy, count_by_leaf: Counts, parts: int, level: int) -> Ids:
    """Return the part of each leaf: runs of whole classes with about equal occurrences.

    >>> toy = Hierarchy.from_parents(
    ...     {"a": "A", "b": "A", "c": "B", "d": "B", "A": "T", "B": "T", "T": None}
    ... )
    >>> domain_parts(toy, np.array([5, 1, 1, 1]), 2, level=0).tolist()
    [0, 0, 0, 0]
    >>> domain_parts(toy, np.array([5, 1, 1, 1]), 2, level=1).tolist()
    [0, 0, 1, 1]
    >>> domain_parts(toy, np.array([5, 1, 1, 1]), 2, level=2).tolist()
    [0, 1, 1, 1]
    """
    class_of_leaf = classes_at(hierarchy, level)
    if not len(class_of_leaf):
        return class_of_leaf
    starts = np.flatnonzero(np.diff(class_of_leaf, prepend=-1))
    occurrences = np.add.reduceat(count_by_leaf, starts)
    part_of_class = np.zeros(len(starts), dtype=np.int32)
    part, left, filled = 0, int(occurrences.sum()), 0
    for place, own in enumerate(occurrences.tolist()):
        share = left / (parts - part)
        # A class goes where the border then is nearer to an equal share.
        if filled and part < parts - 1 and filled + own / 2 > share:
            left -= filled
            part, filled = part + 1, 0
        part_of_class[place] = part
        filled += own
    return np.repeat(part_of_class, np.diff(starts, append=len(class_of_leaf)))


def classes_at(hierarchy: Hierarchy, level: int) -> Ids:
    """Return the node at depth `level` above each leaf, or the leaf where its branch is shorter."""
    node = np.arange(hierarchy.n_leaves, dtype=np.int32)
    while True:
        deeper = hierarchy.depth[node] > level
        if not deeper.any():
            return node
        node[deeper] = hierarchy.parent[node[deeper]]


def _cut_parts(
    engine: Engine,
    guarantee: KmAnonymity,
    cost: Cost,
    watch: Watch,
    part_of_leaf: Ids,
    n_parts: int,
    workers: int,
) -> list[AprioriCut]:
    """Return AA's cut on each part of the domain (Algorithm 7, lines 2 to 5)."""
    leaf = np.arange(len(part_of_leaf), dtype=np.int32)
    # The listener belongs to the caller's thread; the flag and the deadline are shared.
    own_watch = watch.of_part()

    def run(part: int) -> AprioriCut:
        start = np.where(part_of_leaf == part, leaf, np.int32(-1)).astype(np.int32)
        return apriori_cut(engine, guarantee.k, guarantee.m, start, cost=cost, watch=own_watch)

    if n_parts == 0:
        return []
    with ThreadPoolExecutor(max_workers=min(workers, n_parts)) as pool:
        tasks = [pool.submit(run, part) for part in range(n_parts)]
        for finished, task in enumerate(as_completed(tasks), start=1):
            task.result()
            watch.tick("vpa: parts of the domain", finished / n_parts)
    return [task.result() for task in tasks]
