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
- With a memory budget, chunks whose search would not fit are cut further (`_chunks`).
- The release is published in canonical order, never in Gray order, which would tell which records
  were neighbours.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..engines.base import Engine
from ..engines.local import LocalEngine
from ..errors import Infeasible, UsageError
from ..model.costs import Cost
from ..model.guarantees import KmAnonymity, LmDiversity
from ..model.numbers import whole_number
from ..model.transactions import Rows
from ..progress import Watch
from ..registry import method
from ..release.recoding import Recoding
from ..search.cuts import check_enough_records
from ..search.parts import (
    bytes_by_record,
    check_memory,
    chunk_bounds,
    combinations_by_record,
    gray_order,
    parts_for,
)
from . import Objective, Outcome

Counts = NDArray[np.int64]

MODULE_OF_INNER = {
    "aa": "apriori",
    "da": "direct",
    "oa": "exhaustive",
    "optimal": "optimal",
    "vpa": "vertical",
}
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

    Parameters
    ----------
    engine
        Must hold the records themselves.
    guarantee
        A `KmAnonymity`, or another that the inner method gives and that unions keep.
    cost
        What a published label costs.
    watch
        Progress, deadline and cancelling.
    parts
        Into how many chunks the records are cut; fewer where they do not suffice.
    f
        By how many records a border may move.
    inner
        The method for each chunk: aa, da, oa, optimal or vpa. It must give the guarantee too; aa, or
        optimal for l^m-diversity, if not given.
    memory
        A budget in bytes for what the searches hold, by estimate; chunks that would not fit are cut
        further. The data themselves are not counted.
    threads
        How many threads work, on chunks and within them; by default as many as there are cores.
    """
    method("lra").check_guarantee(guarantee)
    if inner is None:
        inner = "optimal" if guarantee.secret_labels else "aa"
    if inner not in MODULE_OF_INNER:
        raise UsageError(
            f"unknown inner method {str(inner)[:40]!r}.", f"Known: {', '.join(MODULE_OF_INNER)}."
        )
    whole_number("parts", parts, least=1)
    whole_number("f", f, least=0)
    if memory is not None:
        check_memory(memory)
    check_enough_records(engine, guarantee.crowd)
    watch.tick("lra: sorting records", 0.0)
    rows = engine.rows()
    workers = threads or len(os.sched_getaffinity(0))
    order = gray_order(rows, engine.hierarchy.n_leaves)
    chunks = _chunks(engine, rows, order, guarantee, parts, f, inner, memory, workers)

    def run(part: _Part, own_watch: Watch) -> Outcome:
        # A part may use all cores too: the others are often done long before the dearest one.
        records = rows.take(order[part.low : part.high])
        chunk = LocalEngine(engine.hierarchy, records, threads=workers)
        return _method(inner)(chunk, guarantee, cost=cost, watch=own_watch)

    done = _run_parts(chunks, run, workers, watch, inner in ANYTIME)
    return _union(engine, order, done, cost, rows, inner)


def _chunks(
    engine: Engine,
    rows: Rows,
    order: Counts,
    guarantee: KmAnonymity | LmDiversity,
    parts: int,
    f: int,
    inner: str,
    memory: int | None,
    workers: int,
) -> list[_Part]:
    """Return the chunks of the order (Algorithm 6), none beyond its share of the memory budget."""
    weights = combinations_by_record(rows, guarantee.m)
    chunks = _cut(rows, order, weights, parts, f, guarantee.crowd, 0)
    if memory is None:
        return chunks
    bytes_each = bytes_by_record(engine.hierarchy, rows, guarantee.m, inner)
    fitting: list[_Part] = []
    for chunk in chunks:
        members = order[chunk.low : chunk.high]
        needed = parts_for(float(bytes_each[members].sum()), memory, workers)
        fitting += _cut(rows, members, bytes_each, needed, f, guarantee.crowd, chunk.low)
    return fitting


def _cut(
    rows: Rows,
    order: Counts,
    weights: NDArray[np.float64],
    parts: int,
    f: int,
    least: int,
    offset: int,
) -> list[_Part]:
    bounds = (chunk_bounds(rows, order, weights, parts, f, least) + offset).tolist()
    return [_Part(low, high) for low, high in pairwise(bounds)]


def _method(key: str) -> Callable[..., Outcome]:
    """Return the inner method; loaded late, for it need not be there for other inner methods."""
    module = importlib.import_module(f".{MODULE_OF_INNER[key]}", __package__)
    method: Callable[..., Outcome] = module.anonymize
    return method


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
    engine: Engine, order: Counts, parts: list[_Part], cost: Cost, rows: Rows, inner: str
) -> Outcome:
    """Return the results of all parts as one local recoding (Algorithm 5, line 4)."""
    group_of_record = np.empty(len(rows), dtype=np.int32)
    cuts, paid, complete = [], 0, True
    for group, part in enumerate(parts):
        assert part.outcome is not None
        group_of_record[order[part.low : part.high]] = group
        cuts.append(part.outcome.recoding.cut())
        complete &= part.outcome.complete
        paid += part.outcome.objective.cost if part.outcome.objective else 0
    recoding = Recoding.by_group(engine.hierarchy, cuts, group_of_record)
    largest = max((part.size for part in parts), default=0)
    figures: dict[str, int | float | str] = {
        "parts": len(parts),
        "largest part": largest,
        "inner": inner,
    }
    return Outcome(recoding, Objective(cost.name, paid), figures, complete)
