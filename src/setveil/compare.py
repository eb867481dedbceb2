"""Several methods on one data set in one run: what each loses, leaves out, and how long it takes.

The data are read and bound once; each method then runs as `setveil.anonymize` would run it, and the
audit recounts what it would publish. Nothing is written. Each method is first run on toy data, so that
loading compiled code counts for none. Seconds are those of the run, from the bound data to the
published records, without the audit. Memory is the peak of the process above where it stood before
(`io.resident`): what the method needs beside the data.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from .api import as_transactions, audit, refuse_paths
from .arguments import checked
from .errors import Infeasible, ResourceLimit, SetveilError, TimeLimit, UsageError
from .hierarchy.tree import Hierarchy
from .io.resident import Peak, measure_peak
from .measure.catalogue import chosen, score
from .model.guarantees import Guarantee
from .progress import Watch
from .registry import METHODS, MethodRecord
from .registry import method as method_record
from .release.recoding import BeforeAfter
from .report.comparison import CUT, DONE, LATE, NONE, REFUSED, Compared, Comparison
from .run.sets import Prepared
from .run.work import Job, Settings, named_listener

__all__ = ["MEASURES", "SECONDS", "Compared", "Comparison", "compare"]

SECONDS = 60.0
"""How long each method may take where nothing else is said."""
MEASURES = ("ncp", "lm", "discernibility")
"""What is computed of each result where nothing else is said."""


@checked("hierarchy", "cost", "unknown", "threads", "time_limit", settings=Settings)
def compare(
    data: Any,
    guarantee: Guarantee,
    *,
    hierarchy: Hierarchy | Mapping[str, Hierarchy] | None = None,
    methods: Sequence[str] | None = None,
    measures: str | Sequence[str] = MEASURES,
    time_limit: float | None = SECONDS,
    watch: Watch | None = None,
    **options: Any,
) -> Comparison:
    """Return what several methods make of the same data; nothing is written.

    Parameters
    ----------
    data
        Transactions, a table's records, or any frame that `setveil.from_frame` takes.
    guarantee
        What shall be promised, the same for all.
    hierarchy
        What generalizes what, as for `setveil.anonymize`.
    methods
        Keys of `setveil.registry`. By default all that reach the guarantee, `auto` aside, which takes
        one of them; those that cannot work here are rows that say why.
    measures
        Names of `measure.catalogue`, or "all": what is computed of each result beside the cost.
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
        Options of methods; each goes to the methods that have it.

    >>> from setveil.io.demo import toy
    >>> from setveil.model.guarantees import KmAnonymity
    >>> data, tree = toy()
    >>> found = compare(data, KmAnonymity(2, 2), hierarchy=tree, methods=["aa", "optimal"])
    >>> found.recommended, float(found.rows[0].loss)
    ('optimal', 0.22727272727272727)
    """
    watch = watch or Watch()
    refuse_paths(hierarchy)
    any_job = Job.of(guarantee, None, {"time_limit": time_limit, **options})
    jobs = _jobs(any_job, methods)
    names = [measure.name for measure in chosen(measures)]
    transactions = as_transactions(data)
    able = [job for job in jobs if hierarchy is not None or not job.record.needs_hierarchy]
    if not able or (methods is not None and len(able) < len(jobs)):
        next(job for job in jobs if job not in able).check(without_hierarchy=True)
    prepared = able[0].prepare(transactions, hierarchy)
    rows: list[Compared] = []
    notices = list(prepared.notices)
    for number, job in enumerate(jobs):
        if job not in able:
            rows.append(Compared(job.record.key, REFUSED, 0.0, "it needs a hierarchy"))
            continue
        listener = named_listener(watch.listener, job.record.key, number / len(jobs))
        limit = min(watch.remaining, math.inf if time_limit is None else time_limit)
        own = Watch(listener, None if limit == math.inf else limit, stop=watch.stop)
        own.tick("starting")
        _warm_up(job.record, guarantee)
        row, remarks = _row(replace(prepared, job=job), own, names)
        rows.append(row)
        notices += [f"{row.method}: {notice}" for notice in remarks]
    return Comparison(
        guarantee=str(guarantee),
        cost=any_job.cost,
        records=len(transactions),
        items=prepared.hierarchy.n_leaves,
        rows=tuple(sorted(rows, key=_rank)),
        weighted=bool(any_job.weights),
        notices=tuple(notices),
        domain=any_job.domain,
    )


def _jobs(job: Job, methods: Sequence[str] | None) -> list[Job]:
    """Return the job of each method, checked; an option goes to the methods that have it."""
    guarantee, options = job.guarantee, job.options
    if isinstance(methods, str):
        raise UsageError("methods is a text, not several.", f"Give methods=[{methods[:40]!r}].")
    if methods is not None:
        records = [method_record(key) for key in dict.fromkeys(methods)]
    else:
        records = [one for one in METHODS if guarantee.key in one.guarantees and one.key != "auto"]
    if not records:
        raise UsageError("no method is named.", "Give methods, such as optimal and trim.")
    for name in options:
        known = {option.name for record in records for option in record.options}
        if name not in known and len(records) == 1:
            records[0].option(name)  # which refuses it
        if name not in known:
            raise UsageError(
                f"none of the methods has an option {name[:40]!r}.",
                f"Their options: {', '.join(sorted(known)) or 'none'}.",
                code="unknown-option",
            )
    jobs = []
    for record in records:
        own = {option.name: options[option.name] for option in record.options if option.name in options}
        chosen_job = replace(job, method=record.key, options=own)
        jobs.append(replace(chosen_job, options=chosen_job.check()))
    return jobs


def _warm_up(record: MethodRecord, guarantee: Guarantee) -> None:
    """Run a method on toy data, so that the loading of compiled code is not counted."""
    from .io.demo import toy

    data, tree = toy()
    weak = guarantee.with_strength(2).with_limit(2)
    if weak.secret_labels:
        weak = weak.with_secrets(frozenset(data.vocabulary.labels[:1]))
    with contextlib.suppress(SetveilError):
        audit(Job(weak, record.key, time_limit=5.0).prepare(data, tree).run())


def _row(prepared: Prepared, watch: Watch, measures: Sequence[str]) -> tuple[Compared, tuple[str, ...]]:
    """Return the row of a method, and what became of its proof where that is to be told."""
    from .methods.proof import FAILED, ROUNDED

    key = prepared.job.record.key
    peak = Peak()
    started = time.monotonic()
    try:
        with measure_peak() as peak:
            started = time.monotonic()
            watch = replace(watch, started=started)
            release = replace(prepared, started=started).run(watch)
            seconds = time.monotonic() - started
    except (Infeasible, ResourceLimit, MemoryError) as error:
        seconds = time.monotonic() - started
        return Compared(key, *_ended(error, seconds), memory=peak.added), ()
    watch.tick("audit")
    verdict = audit(release, threads=prepared.job.threads)
    pair = BeforeAfter(release.recoding, prepared.rows)
    row = Compared(
        key,
        DONE if release.complete else CUT,
        seconds,
        "" if release.method == key else f"took {release.method}",
        loss=prepared.loss(pair),
        scores=dict(score(pair, measures, watch=watch)),
        objective=release.objective,
        left_out=Fraction(release.suppressed, max(release.occurrences, 1)),
        labels=len(release.labels),
        memory=peak.added,
        holds=verdict.holds,
        useless=release.useless,
    )
    return row, tuple(notice for notice in (FAILED, ROUNDED) if notice in release.notices)


def _ended(error: Exception, seconds: float) -> tuple[str, float, str]:
    """Return how a method without a result ended, after how long, and why in a few words."""
    if isinstance(error, MemoryError):
        return REFUSED, seconds, "out of memory"
    assert isinstance(error, SetveilError)
    why = error.problems[0].what.rstrip(".")
    if isinstance(error, TimeLimit):
        return LATE, seconds, ""
    return (NONE if isinstance(error, Infeasible) else REFUSED), seconds, why


def _rank(row: Compared) -> tuple[object, ...]:
    """Order rows: results by loss, of equal ones the proven, then those that leave nothing out."""
    place = [record.key for record in METHODS].index(row.method)
    if row.loss is None:
        return (2, Fraction(0), False, False, place)
    return (0 if row.usable else 1, row.loss, not row.proven, bool(row.left_out), place)
