"""Many (k, m) in one call: what each strength of the promise costs on the same data.

The data are bound and indexed once. With `optimal`, rare sets found for one point serve every other
point they are valid for (``methods.optimal.ClausePool``), so a grid costs little more than its dearest
points. A point without a result is a row like the others that says why: no solution, a time limit, or
work that the method refuses.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from .api import as_transactions, refuse_paths
from .arguments import checked
from .distinct import distinct
from .errors import Infeasible, ResourceLimit, TimeLimit, UsageError
from .hierarchy.tree import Hierarchy
from .model.guarantees import KmAnonymity
from .progress import Watch
from .release.header import is_useless, records_with, tops
from .report.comparison import CUT, DONE, LATE, NONE, REFUSED
from .report.frontier import Sweep, SweepPoint
from .run.sets import Prepared
from .run.work import Job, Settings, named_listener

__all__ = ["Sweep", "SweepPoint", "read_sweep", "sweep"]


@checked(
    "hierarchy", "ks", "ms", "method", "cost", "unknown", "threads", "time_limit", settings=Settings
)
def sweep(
    data: Any,
    hierarchy: Hierarchy | Mapping[str, Hierarchy] | None,
    ks: int | Iterable[int],
    ms: int | Iterable[int],
    *,
    method: str = "optimal",
    watch: Watch | None = None,
    **options: Any,
) -> Sweep:
    r"""Return the loss of every (k, m) of the grid, by a method for k^m-anonymity.

    Parameters
    ----------
    data
        Transactions, a table's records, or any frame that `setveil.from_frame` takes.
    hierarchy
        What generalizes what, as for `setveil.anonymize`.
    ks, ms
        The strengths, each a number or several.
    method
        Unlike `setveil.anonymize`, the default is "optimal": no item is left out at any point, so that
        the losses of the points can be compared.
    cost
        What is kept small: "ncp" or "lm".
    weights
        How much an item matters, for items that do not matter 1.
    time_limit
        Seconds that each point may take; None for as long as it wants.
    threads
        How many threads count; all by default.
    unknown
        What to do with items that the hierarchy lacks: "error" or "attach-to-root".
    domain
        Which items the loss counts: "used", those that occur in the data, or "hierarchy", all of it.
    watch
        Progress listener and cancel switch.
    options
        The method's own options.

    >>> from setveil.io.demo import toy
    >>> data, tree = toy()
    >>> print(sweep(data, tree, [2, 3], [1, 2]))
    NCP lost by optimal
    k \ m         1         2
        2    0.0000    0.2273
        3    0.2273    0.5000
    """
    from .engines.local import LocalEngine
    from .methods.optimal import ClausePool

    watch = watch or Watch()
    refuse_paths(hierarchy)
    grid = [KmAnonymity(k, m) for k in _numbers("ks", ks) for m in _numbers("ms", ms)]
    if not grid:
        raise UsageError(
            "a sweep needs at least one k and one m.", "Give for example ks=[2, 5], ms=[1, 2]."
        )
    # The weakest promise there is: a point that asks for too much becomes a row, not an error.
    job = Job.of(KmAnonymity(2, grid[-1].m), method, options)
    shared: dict[str, Any] = {}
    if method == "optimal":
        # With a time limit a first cut is wanted, for there must be something valid to return.
        shared = {"pool": ClausePool(), "seed": job.time_limit is not None}
    prepared = job.prepare(as_transactions(data), hierarchy)
    engine = LocalEngine(prepared.hierarchy, prepared.rows, threads=job.threads)
    points: list[SweepPoint] = []
    notices = list(prepared.notices)
    # Strong promises first: the sets that they forbid bind the weaker ones more often than not.
    for number, guarantee in enumerate(sorted(grid, key=lambda asked: (-asked.k, asked.m))):
        watch.tick(_stage(guarantee), number / len(grid))
        own = Watch(
            named_listener(watch.listener, _stage(guarantee), number / len(grid)), stop=watch.stop
        )
        own = own if job.time_limit is None else own.within(job.time_limit)
        own = own if watch.time_limit is None else own.within(watch.remaining)
        point, remarks = _point(prepared, engine, guarantee, own, shared)
        points.append(point)
        notices += [f"{_stage(guarantee)}: {notice}" for notice in remarks]
    points.sort(key=lambda point: (point.k, point.m))
    records, items = len(prepared.rows), prepared.hierarchy.n_leaves
    return Sweep(
        method,
        job.cost,
        tuple(points),
        records,
        items,
        bool(job.weights),
        tuple(notices),
        job.domain,
    )


def read_sweep(path: str | os.PathLike[str]) -> Sweep:
    """Return a sweep from the JSON file that ``setveil sweep -o`` wrote."""
    from .io.folder.disk import telling

    with telling(Path(path), "read"):
        content = Path(path).read_bytes()
    return Sweep.from_json(content.decode("utf-8", "replace"))


def _stage(guarantee: KmAnonymity) -> str:
    return f"k={guarantee.k}, m={guarantee.m}"


def _numbers(name: str, given: object) -> list[int]:
    """Return the numbers of one side of the grid, each once, in order."""
    if isinstance(given, int | np.integer):
        given = [given]
    wrong = isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable)
    numbers = [] if wrong else list(given)  # type: ignore[call-overload]
    if wrong or not all(
        isinstance(number, int | np.integer) and not isinstance(number, bool) for number in numbers
    ):
        raise UsageError(
            f"{name} must be a whole number or several (got {str(given)[:40]!r}).",
            f"Give for example {name}=[2, 5].",
        )
    return sorted({int(number) for number in numbers})


def _point(
    prepared: Prepared, engine: Any, guarantee: KmAnonymity, watch: Watch, shared: Mapping[str, Any]
) -> tuple[SweepPoint, tuple[str, ...]]:
    """Return a point, and what the user should know of how it came about."""
    from .release.recoding import BeforeAfter

    started = time.monotonic()
    longest = int(np.diff(engine.rows().indptr).max(initial=1))
    effective = KmAnonymity(guarantee.k, min(guarantee.m, longest))
    try:
        outcome = prepared.ask(engine, effective, watch, **shared)
    except (Infeasible, ResourceLimit) as error:
        status = NONE if isinstance(error, Infeasible) else REFUSED
        status = LATE if isinstance(error, TimeLimit) else status
        seconds = time.monotonic() - started
        return SweepPoint(
            guarantee.k, guarantee.m, None, None, status == NONE, 0, seconds, status=status
        ), ()
    objective = outcome.objective
    bound = None
    if objective is not None and objective.bound is not None:
        bound = prepared.cost.share(objective.bound, engine.item_counts())
    seconds = time.monotonic() - started
    pair = BeforeAfter(outcome.recoding, engine.rows())
    rows, nodes = engine.rows(), pair.node_of_occurrence
    published = distinct(nodes[nodes >= 0])
    at_top = tops(prepared.hierarchy)
    telling = records_with(rows.indptr, (nodes >= 0) & ~at_top[nodes])
    point = SweepPoint(
        guarantee.k,
        guarantee.m,
        prepared.loss(pair),
        bound,
        objective is not None and objective.proven,
        len(published),
        seconds,
        Fraction(int((nodes < 0).sum()), max(len(nodes), 1)),
        DONE if outcome.complete else CUT,
        is_useless(telling, int(np.count_nonzero(np.diff(rows.indptr)))),
        objective is None or objective.certified,
    )
    return point, outcome.notices
