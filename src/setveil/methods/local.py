"""Local recoding anonymization, LRA (Terrovitis, Mamoulis, Kalnis: Local and global recoding methods
for anonymizing set-valued data, VLDB Journal 2011, section 4.5, Algorithms 5 and 6).

The records are sorted by Gray code, so that those with similar items are neighbours (`gray_order`);
the order is cut into chunks of about equal numbers of itemsets, whose borders may move a little to
where neighbours differ most (`chunk_bounds`); and each chunk is made anonymous by itself, by any
global method (`_run_parts`). An item may come out at different levels in different chunks.

If every chunk keeps the promise then so does their union. What somebody knows of a record is, for
each chunk, knowledge about the labels of that chunk: a label that the chunk does not show is in none
of its records, so to know it present fits no record there, and to know it absent says nothing. So
each chunk adds no record or at least k, with negative knowledge too: where only such absences are
known all its records fit, and it has at least k. Of l^m-diversity each chunk adds to those that fit,
and at most an l-th of that to those that hold the sensitive item as well.

Differences from the paper
--------------------------
- Itemsets of all sizes 1 .. m are counted for the chunks, not of size m alone: a record shorter than
  m weighs something too.
- Each chunk has at least k records that are not empty, and a chunk that cannot be made anonymous by
  itself (a forest) is joined with a neighbour (`_join`), until it can or one chunk is left.
- With a memory budget, chunks whose search would not fit are cut further.
- The release is published in canonical order, never in Gray order, which would tell which records
  were neighbours.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..engines.base import Engine
from ..engines.local import LocalEngine
from ..errors import Infeasible, UsageError
from ..hierarchy.tree import Counts, Hierarchy
from ..model.costs import Cost
from ..model.guarantees import KmAnonymity, LmDiversity
from ..model.numbers import whole_number
from ..progress import Watch
from ..registry import method
from ..release.recoding import Recoding
from ..search.cuts import check_enough_records
from ..search.parts import (
    Reals,
    bytes_by_record,
    check_memory,
    chunk_bounds,
    combinations_by_record,
    gray_order,
    parts_for,
)
from . import Objective, Outcome

INNER = ("aa", "da", "oa", "optimal", "vpa")
ANYTIME = frozenset({"optimal"})
"""Inner methods that use up their time limit and return the best they have."""


@dataclass(frozen=True, eq=False)
class _Part:
    """A chunk of the order, and its result once there is one."""

    low: int
    high: int
    outcome: Outcome | None = None

    @property
    def size(self) -> int:
        return self.high - self.low


def anonymize(
    engine: Engine,
    guarantee: KmAnonymity | LmDiversity,
    *,
    cost: Cost,
    watch: Watch,
    parts: int = 3,
    f: int = 10,
    inner: str | None = None,
    memory: int | None = None,
    threads: int | None = None,
) -> Outcome:
    """Return a local recoding with one cut a chunk of similar records.

    The records are cut into `parts` chunks, fewer where they do not suffice; a border may move by `f`
    records. `inner` is the method for each chunk: aa, da, oa, optimal or vpa. It must give the
    guarantee too; aa, or optimal for l^m-diversity, if not given. `memory` is a budget in bytes for
    what the searches hold, by estimate, without the data themselves: chunks that would not fit are cut
    further. As many `threads` as there are cores work on chunks and within them, if not told otherwise.
    """
    method("lra").check_guarantee(guarantee)
    if inner is None:
        inner = "optimal" if guarantee.secret_labels else "aa"
    if inner not in INNER:
        raise UsageError(f"unknown inner method {str(inner)[:40]!r}.", f"Known: {', '.join(INNER)}.")
    whole_number("parts", parts, least=1)
    whole_number("f", f, least=0)
    if memory is not None:
        check_memory(memory)
    crowd, hierarchy = guarantee.crowd, engine.hierarchy
    check_enough_records(engine, crowd)
    watch.tick("lra: sorting records", 0.0)
    rows = engine.rows()
    workers = threads or len(os.sched_getaffinity(0))
    order = gray_order(rows, hierarchy.n_leaves)

    def cut(low: int, high: int, weights: Reals, parts: int) -> list[_Part]:
        bounds = chunk_bounds(rows, order[low:high], weights, parts, f, crowd) + low
        return [_Part(*ends) for ends in pairwise(bounds.tolist())]

    chunks = cut(0, len(order), combinations_by_record(rows, guarantee.m), parts)
    if memory is not None:
        bytes_each = bytes_by_record(hierarchy, rows, guarantee.m, inner)
        in_all = [float(bytes_each[order[part.low : part.high]].sum()) for part in chunks]
        chunks = [
            smaller
            for part, held in zip(chunks, in_all, strict=True)
            for smaller in cut(part.low, part.high, bytes_each, parts_for(held, memory, workers))
        ]

    anonymize_part = method(inner).load()

    def run(part: _Part, own_watch: Watch) -> Outcome:
        # A part may use all cores too: the others are often done long before the dearest one.
        records = rows.take(order[part.low : part.high])
        chunk = LocalEngine(hierarchy, records, threads=workers)
        outcome: Outcome = anonymize_part(chunk, guarantee, cost=cost, watch=own_watch)
        return outcome

    done = _run_parts(chunks, run, workers, watch, inner in ANYTIME)
    return _union(hierarchy, order, done, cost.name, inner)


def _run_parts(
    parts: list[_Part],
    run: Callable[[_Part, Watch], Outcome],
    workers: int,
    watch: Watch,
    anytime: bool,
) -> list[_Part]:
    """Anonymize every part (Algorithm 5, line 3); join those that cannot be by themselves."""
    while True:
        pending = [place for place, part in enumerate(parts) if part.outcome is None]
        if not pending:
            return parts
        watch.check_deadline()
        own_watch = watch.of_part(-(-len(pending) // workers) if anytime else 1)
        failed: dict[int, Infeasible] = {}
        with ThreadPoolExecutor(max_workers=min(workers, len(pending))) as pool:
            place_of_task = {pool.submit(run, parts[place], own_watch): place for place in pending}
            for task in as_completed(place_of_task):
                place = place_of_task[task]
                part = parts[place]
                try:
                    parts[place] = _Part(part.low, part.high, task.result())
                except Infeasible as reason:
                    failed[place] = reason
                finished = sum(part.outcome is not None for part in parts)
                watch.tick("lra: anonymizing parts", finished / len(parts))
        if failed and len(parts) == 1:
            raise failed[0]
        parts = _join(parts, failed)


def _join(parts: list[_Part], failed: dict[int, Infeasible]) -> list[_Part]:
    """Join each part that failed with its smaller neighbour; the earlier one of equals."""
    joined: list[_Part] = []
    places = iter(range(len(parts)))
    for place in places:
        part = parts[place]
        if place not in failed:
            joined.append(part)
            continue
        after = parts[place + 1] if place + 1 < len(parts) else None
        if joined and (after is None or joined[-1].size <= after.size):
            joined[-1] = _Part(joined[-1].low, part.high)
        elif after is not None:
            joined.append(_Part(part.low, after.high))
            next(places)
    return joined


def _union(
    hierarchy: Hierarchy, order: Counts, parts: list[_Part], cost_name: str, inner: str
) -> Outcome:
    """Return the results of all parts as one local recoding (Algorithm 5, line 4)."""
    group_of_record = np.empty(len(order), dtype=np.int32)
    cuts, paid, complete = [], 0, True
    for group, part in enumerate(parts):
        assert part.outcome is not None
        group_of_record[order[part.low : part.high]] = group
        cuts.append(part.outcome.recoding.cut())
        complete &= part.outcome.complete
        paid += part.outcome.objective.cost if part.outcome.objective else 0
    return Outcome(
        Recoding.by_group(hierarchy, cuts, group_of_record),
        Objective(cost_name, paid),
        {
            "parts": len(parts),
            "largest part": max((part.size for part in parts), default=0),
            "inner": inner,
        },
        complete,
    )
