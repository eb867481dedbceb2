"""Several methods on one data set in one run: what each loses, leaves out, and how long it takes.

The data are read and bound once; each method then runs as `setveil.anonymize` would run it, and the
audit recounts what it would publish. Nothing is written. Each method is first run on toy data, so that
loading compiled code counts for none. Seconds are those of the run, from the bound data to the
published records, without the audit, and of a table without the mining of rules, which is done once.
Memory is the peak of the process above where it stood before (`io.resident`): what the method needs
beside the data.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from .api import audit, prepare, promise
from .arguments import checked
from .hierarchy.tree import Hierarchy
from .io.resident import Peak, measure_peak
from .model.guarantees import BucketGuarantee, Guarantee, HiddenPatterns
from .progress import Watch
from .registry import ALL_METHODS
from .report.comparison import Compared, Comparison
from .report.terms import CUT, DONE, REFUSED
from .run.work import Job, Settings, named_listener, of_kind
from .trials import FAILURES, Trials, Try, ended, trials_of, tries_of

__all__ = ["SECONDS", "Compared", "Comparison", "compare"]

SECONDS = 60.0
"""How long each method may take where nothing else is said."""


@checked("guarantee", "hierarchy", "cost", "unknown", "threads", "time_limit", settings=Settings)
def compare(
    data: Any,
    guarantee: Guarantee | BucketGuarantee | HiddenPatterns,
    *,
    hierarchy: Hierarchy | Mapping[str, Hierarchy] | None = None,
    methods: Sequence[str] | None = None,
    measures: str | Sequence[str] | None = None,
    time_limit: float | None = SECONDS,
    watch: Watch | None = None,
    **options: Any,
) -> Comparison:
    """Return what several methods make of the same data; nothing is written.

    Of a table in buckets the loss is the error of counting queries, of two data sets the share of the
    values that are raised. Methods for tables that promise something else than was asked for, as
    strong in its own way, are rows too, and never recommended.

    Parameters
    ----------
    data
        Transactions, a table's records, or any frame that `setveil.from_frame` takes; a table with a
        sensitive column, or two data sets, as for `setveil.anonymize`.
    guarantee
        What shall be promised, the same for all.
    hierarchy
        What generalizes what, as for `setveil.anonymize`.
    methods
        Keys of `setveil.registry`. By default all that reach the guarantee, `auto` aside, which takes
        one of them; those that cannot work here are rows that say why. A method that groups or
        searches in several ways has a row for each.
    measures
        Of sets, names of `measure.catalogue`, or "all": what is computed of each result beside the
        cost; ncp, lm and discernibility if not given.
    cost
        What is kept small: "ncp" or "lm".
    weights
        How much an item matters, for items that do not matter 1.
    time_limit
        Seconds that each method may take; None for as long as it wants.
    threads
        How many threads count; all by default.
    unknown
        What to do with items that the hierarchy lacks: "error" or "attach-to-root".
    domain
        Which items the loss counts: "used", those that occur in the data, or "hierarchy", all of it.
    watch
        Progress listener and cancel switch.
    options
        Options of methods; each goes to the methods that have it. For a table also `rules`, known facts
        as for `setveil.anonymize`.

    >>> from setveil.io.demo import toy
    >>> from setveil.model.guarantees import KmAnonymity
    >>> data, tree = toy()
    >>> found = compare(data, KmAnonymity(2, 2), hierarchy=tree, methods=["aa", "optimal"])
    >>> found.recommended, float(found.rows[0].loss)
    ('optimal', 0.22727272727272727)
    """
    watch = watch or Watch()
    any_job = Job.of(promise(guarantee), None, {"time_limit": time_limit, **options})
    inputs = of_kind(any_job.guarantee.kind).Prepared.inputs
    tries = tries_of(any_job, methods, inputs)
    able = [one for one in tries if hierarchy is not None or not one.job.record.needs_hierarchy]
    if not able or (methods is not None and len(able) < len(tries)):
        next(one for one in tries if one not in able).job.check(without_hierarchy=True)
    known = {name: options[name] for name in inputs if name in options}
    first = able[0].job
    trials = trials_of(prepare(replace(first, options={**first.options, **known}), data, hierarchy))
    trials.expect([one.job for one in tries], measures)
    rows: list[Compared] = []
    notices: list[str] = []
    for number, one in enumerate(tries):
        if one not in able:
            rows.append(_of(one, REFUSED, 0.0, "it needs a hierarchy"))
            continue
        listener = named_listener(watch.listener, one.name, number / len(tries))
        limit = min(watch.remaining, math.inf if time_limit is None else time_limit)
        own = Watch(listener, None if limit == math.inf else limit, stop=watch.stop)
        own.tick("starting")
        trials.warm_up(one)
        row, remarks = _row(trials, one, own)
        rows.append(row)
        notices += [f"{row.name}: {notice}" for notice in remarks]
    records, items = trials.size
    return Comparison(
        guarantee=str(any_job.guarantee),
        cost=trials.cost,
        records=records,
        items=items,
        rows=tuple(sorted(rows, key=_rank)),
        weighted=bool(any_job.weights),
        notices=(*trials.notices, *notices),
        domain=any_job.domain,
        told=trials.told or ("left out",) * any(row.left_out is not None for row in rows),
    )


def _of(one: Try, status: str, seconds: float, why: str = "", **more: Any) -> Compared:
    variant = one.variant
    key = one.job.record.key
    return Compared(key, status, seconds, why, variant=variant, promise=one.promise, **more)


def _row(trials: Trials, one: Try, watch: Watch) -> tuple[Compared, tuple[str, ...]]:
    """Return the row of a try, and what became of it where that is to be told."""
    peak = Peak()
    started = time.monotonic()
    try:
        trials.ready(one.job, watch)
        with measure_peak() as peak:
            started = time.monotonic()
            watch = replace(watch, started=started)
            release = trials.run(one.job, watch)
            seconds = time.monotonic() - started
        watch.tick("audit")
        verdict = audit(release, threads=one.job.threads)
        told = trials.row(one.job, release, verdict, watch)
    except FAILURES as error:
        status, why = ended(error)
        return _of(one, status, time.monotonic() - started, why, memory=peak.added), ()
    status = CUT if told.pop("cut", False) else DONE
    row = _of(one, status, seconds, memory=peak.added, holds=verdict.holds, **told)
    return row, trials.remarks(release)


def _rank(row: Compared) -> tuple[object, ...]:
    """Order rows: results by loss, of equal ones the proven, then those that leave nothing out."""
    place = [record.key for record in ALL_METHODS].index(row.method)
    if row.loss is None:
        return (2, Fraction(0), False, False, place)
    return (0 if row.usable else 1, row.loss, not row.proven, bool(row.left_out), place)
