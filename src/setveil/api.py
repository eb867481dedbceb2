"""The verbs anonymize, audit, measure, risk: thin by intent.

The run is `run`'s, the judgement `audit`'s, the folder `publish`'s.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, Unpack, overload

from .arguments import checked
from .errors import UsageError
from .hierarchy.tree import Hierarchy
from .model.fit import by_column
from .model.guarantees import BucketGuarantee, Guarantee, HiddenPatterns, Promise
from .model.layout import Layout
from .model.microdata import Microdata
from .model.pattern_pair import PatternPair
from .model.transactions import Transactions
from .progress import Watch
from .refusals import NAMES
from .release.header import Header
from .release.release import Release
from .run import Run
from .run.fields import BUCKETS, SETS, fields_of
from .run.work import Job, Settings

if TYPE_CHECKING:
    from .audit.verdict import BucketFinding, PairFinding, Verdict
    from .measure.buckets import BucketScores
    from .measure.pairs import PairScores
    from .measure.scores import Scores
    from .model.rules import NegativeRule
    from .release.buckets import BucketRelease
    from .release.pair_release import PairRelease
    from .risk.assessment import Assessment
    from .risk.buckets import TableRisk


@overload
def anonymize(data: Any, guarantee: Guarantee, **options: Any) -> Release: ...
@overload
def anonymize(data: Microdata, guarantee: BucketGuarantee, **options: Any) -> BucketRelease: ...
@overload
def anonymize(data: PatternPair, guarantee: HiddenPatterns, **options: Any) -> PairRelease: ...
@checked(
    "guarantee", "hierarchy", "method", "cost", "unknown", "time_limit", "threads", settings=Settings
)
def anonymize(
    data: Any,
    guarantee: Guarantee | BucketGuarantee | HiddenPatterns,
    *,
    hierarchy: Hierarchy | Mapping[str, Hierarchy] | None = None,
    method: str | None = None,
    watch: Watch | None = None,
    layout: Layout | None = None,
    **options: Any,
) -> Release | BucketRelease | PairRelease:
    """Return a release of `data` that keeps `guarantee`; nothing is written.

    Parameters
    ----------
    data
        Transactions, or any frame that `setveil.from_frame` takes. For `LDiversity` and
        `MatchingDiversity` a table with a sensitive column, as `setveil.read_microdata` returns it; for
        `HiddenPatterns` two data sets, as `setveil.read_pattern_pair` returns them.
    guarantee
        What shall be promised, such as ``KmAnonymity(k=5, m=2)``.
    hierarchy
        What generalizes what. For a table, one hierarchy a column by name, or that of its only
        set-valued column. Methods that only leave items out need none.
    method
        A key of `setveil.registry`; by default the best one for the guarantee.
    cost
        What is kept small: "ncp" or "lm".
    weights
        How much an item matters, for items that do not matter 1.
    time_limit
        Seconds; a method that holds a valid result returns it, others raise `TimeLimit`.
    threads
        How many threads count; all by default.
    unknown
        What to do with items that the hierarchy lacks: "error" or "attach-to-root".
    watch
        Progress listener and cancel switch.
    layout
        The format to publish in; by default the one the data came in.
    domain
        Which items the loss counts: "used", those that occur in the data, or "hierarchy", all of it.
    options
        The method's own options. For a table also `rules`, known facts as `setveil.model.rules` has
        them; its hierarchies are the table's own.

    >>> import setveil as sv
    >>> baskets = sv.Transactions.from_rows([["beer", "milk"], ["wine", "milk"], ["milk"]])
    >>> drinks = sv.Hierarchy.from_parents({"beer": "alcohol", "wine": "alcohol", "alcohol": "drink",
    ...                                     "milk": "drink", "drink": None})
    >>> release = sv.anonymize(baskets, sv.KmAnonymity(k=2, m=2), hierarchy=drinks)
    >>> list(release.published.rows())
    [('alcohol', 'milk'), ('alcohol', 'milk'), ('milk',)]
    """
    job = Job.of(promise(guarantee), method, options)
    prepared = prepare(job, data, hierarchy, layout)
    if watch is not None and job.time_limit is not None:
        watch = watch.within(job.time_limit)
    return prepared.run(watch, layout=layout)  # type: ignore[no-any-return]


def prepare(job: Job, data: Any, hierarchy: Any, layout: Layout | None = None) -> Any:
    """Return a job bound to data of its kind; `UsageError` for settings that are only for others."""
    refuse_paths(hierarchy)
    if job.guarantee.kind == SETS:
        return job.prepare(as_transactions(data), hierarchy)
    _refuse_unfit(job, hierarchy, layout)
    return job.prepare(data, hierarchy)


def promise(guarantee: object) -> Any:
    """Return a promise of any kind; `UsageError` for anything else."""
    return guarantee if isinstance(guarantee, Promise) else _guarantee(guarantee)


def _refuse_unfit(job: Job, hierarchy: object, layout: Layout | None) -> None:
    """Raise `UsageError` for a setting that is only for sets."""
    kind, usual = job.guarantee.kind, Job(job.guarantee)
    names = ("cost", "weights", "domain", "threads", "unknown")
    changed = {name: getattr(job, name) != getattr(usual, name) for name in names}
    given = {"hierarchy": hierarchy is not None, **changed, "layout": layout is not None}
    fitting = {field.name for field in fields_of(Run) if kind in field.fits}
    unfit = [name for name in given if name in _OF_READING or name not in fitting]
    if any(given[name] for name in unfit):
        read = "table is" if kind == BUCKETS else "data sets are"
        raise UsageError(
            f"{', '.join(unfit[:-1])} and {unfit[-1]} do not fit {NAMES[kind]}.",
            f"Leave them out; hierarchies are given when the {read} read.",
            code="option-does-not-fit",
        )


_OF_READING = ("hierarchy", "layout")
"""Settings that other kinds take where their data are read."""


def as_transactions(data: Any, *, repeats: str = "once") -> Transactions:
    """Return `data` as transactions: themselves, a table's records, or a frame's rows.

    `repeats` tells what an item twice in a row of a frame is: kept once, or an error.
    """
    if hasattr(data, "as_transactions"):
        found = data.as_transactions()
        assert isinstance(found, Transactions)
        return found
    if isinstance(data, str | bytes | os.PathLike):
        raise UsageError(
            "data is a path, not records.", "Read it first: setveil.read_transactions(path)."
        )
    if isinstance(data, list | tuple | set | frozenset | dict):
        raise UsageError(
            f"data is a {type(data).__name__}, not records.",
            "Make records of it first: setveil.Transactions.from_rows(rows).",
        )
    from .io.frames import from_frame

    return from_frame(data, repeats=repeats)


def refuse_paths(hierarchy: object) -> None:
    """Raise `UsageError` where a hierarchy is the path of one."""
    many = isinstance(hierarchy, Mapping)
    for tree in hierarchy.values() if isinstance(hierarchy, Mapping) else (hierarchy,):
        if isinstance(tree, str | bytes | os.PathLike):
            raise UsageError(
                "hierarchy is a path: read it first with setveil.read_hierarchy.",
                "Give for example hierarchy=setveil.read_hierarchy(path).",
            )
        if (tree is not None or many) and not isinstance(tree, Hierarchy):
            raise UsageError(
                f"hierarchy is a {type(tree).__name__[:40]}, not a hierarchy.",
                "Give a setveil.Hierarchy, or {column: hierarchy} for a table.",
            )


def _guarantee(guarantee: object) -> Guarantee:
    if isinstance(guarantee, Guarantee):
        return guarantee
    raise UsageError(
        f"{str(guarantee)[:40]!r} is no guarantee.", "Give for example KmAnonymity(k=5, m=2)."
    )


@overload
def audit(
    target: Release | Transactions, guarantee: Guarantee | None = None, **options: Any
) -> Verdict: ...
@overload
def audit(target: Any, guarantee: BucketGuarantee, **options: Any) -> BucketFinding: ...
@overload
def audit(target: Any, guarantee: HiddenPatterns, **options: Any) -> PairFinding: ...
@overload
def audit(
    target: Any, guarantee: Guarantee | None = None, **options: Any
) -> Verdict | BucketFinding | PairFinding: ...
@checked("guarantee", "hierarchy")
def audit(
    target: Any,
    guarantee: Guarantee | BucketGuarantee | HiddenPatterns | None = None,
    *,
    mode: str = "exact",
    hierarchy: Hierarchy | Mapping[str, Hierarchy] | None = None,
    witnesses: int = 0,
    threads: int | None = None,
    **reading: Any,
) -> Verdict | BucketFinding | PairFinding:
    """Return whether published records keep a promise, recounted by code that made none of them.

    Parameters
    ----------
    target
        What `anonymize` returned, the path of a release folder or of any data file, transactions, or a
        frame; of two data sets the first, or what `setveil.read_pattern_pair` returned.
    guarantee
        What to check; a release and a release folder say it themselves.
    mode
        "exact": every set of published labels counts as it is. "cover": a label covers all items
        under it, to judge local recodings of others; needs the hierarchy.
    hierarchy
        For "cover" on data that do not bring their own. For a table, one hierarchy a column by name.
    witnesses
        How many violations to return. They may point at single persons.
    threads
        How many threads count; all by default.
    reading
        How to read a file: the options of `setveil.read_transactions`. For `LDiversity` and
        `MatchingDiversity` `quasi`, `sensitive`, `bucket`, `sensitive_table`, `rules` and the other
        options of `setveil.io.buckets.read_buckets`; for `HiddenPatterns` `against` or `class_column`,
        and the other options of `setveil.read_pattern_pair`.

    >>> import setveil as sv
    >>> from setveil.io.demo import groceries
    >>> baskets, products = groceries()
    >>> release = sv.anonymize(baskets, sv.KmAnonymity(k=5, m=2), hierarchy=products)
    >>> bool(sv.audit(release))
    True
    """
    from .audit import audit_folder

    refuse_paths(hierarchy)
    kind = SETS if guarantee is None else str(promise(guarantee).kind)
    path = Path(target) if isinstance(target, str | os.PathLike) else None
    if path is not None and path.is_dir():
        if reading or hierarchy is not None:
            raise UsageError("a release folder says itself how it is read.", "Leave those options out.")
        if kind != SETS:
            raise UsageError(
                f"a release folder is judged by its own promise (got {guarantee}).",
                "Leave the guarantee out; a folder of sets takes another one about sets.",
            )
        asked = None if guarantee is None else _guarantee(guarantee)
        return audit_folder(path, asked, mode=mode, witnesses=witnesses, threads=threads)
    options: dict[str, Any] = {
        "guarantee": guarantee,
        "mode": mode,
        "hierarchy": hierarchy,
        "witnesses": witnesses,
        "threads": threads,
    }
    if isinstance(target, Header):
        from .publish import edition_of

        verdict: Verdict | BucketFinding | PairFinding = edition_of(target).audit(**options, **reading)
        return verdict
    if kind != SETS:
        from .foreign import of_kind

        foreign = of_kind(kind).read(target, mode=mode, hierarchy=hierarchy, **reading)
        found: BucketFinding | PairFinding = foreign.judge(
            guarantee, witnesses=witnesses, threads=threads
        )
        return found
    if path is None:
        return audit_records(as_transactions(target, repeats="error"), **options, **reading)
    from .io.transactions import read_transactions

    # A bag tells more than the set that would be counted.
    transactions = read_transactions(str(path), **{**reading, "repeats": "error"})
    return audit_records(transactions, **options)


def audit_records(
    transactions: Transactions,
    guarantee: Guarantee | None,
    *,
    mode: str,
    hierarchy: Hierarchy | Mapping[str, Hierarchy] | None,
    witnesses: int,
    threads: int | None,
    **unknown: Any,
) -> Verdict:
    """Return what the audit says of records that are at hand; parameters are those of `audit`."""
    from .audit import Published, audit_published

    if unknown:
        raise UsageError(f"unknown option {min(unknown)[:40]!r}.")
    if guarantee is None:
        raise UsageError(
            "these data do not say what they promise.", "Give a guarantee, such as -k 5 -m 2."
        )
    if mode == "cover" and hierarchy is None:
        raise UsageError(
            "cover needs the hierarchy that tells which items a label covers.",
            "Give it (--hierarchy FILE), or use mode exact.",
            code="hierarchy-needed",
        )
    if isinstance(hierarchy, Hierarchy):
        hierarchy = by_column(transactions, hierarchy)
    published = Published(transactions.indptr, transactions.items, transactions.vocabulary.labels)
    verdict = audit_published(
        published,
        _guarantee(guarantee),
        mode=mode,
        leaves_under=_leaves_under(hierarchy) if mode == "cover" and hierarchy is not None else None,
        witnesses=witnesses,
        threads=threads,
    )
    layout = transactions.layout
    return verdict.leaving_out(layout.unprotected if layout is not None else ())


@checked()
def risk(
    target: Any,
    k: int | None = None,
    *,
    most: int | None = None,
    population: Any = None,
    rules: Iterable[NegativeRule] | None = None,
    threads: int | None = None,
    watch: Watch | None = None,
) -> Assessment | TableRisk:
    """Return what somebody can do with records who knows 1, 2, 3, ... items of one of them.

    Of a table in buckets: what whoever knows the published rules can rule out, and how many values are
    guessed by learning from all buckets. Of two data sets nothing is promised about single people, so
    there is no risk to tell.

    Parameters
    ----------
    target
        A release (what is published of it), the path of a release folder, transactions or a frame. How
        many values are guessed is counted with the true ones: of a folder where its private twin lies
        beside it.
    k
        A record is at risk where fewer records than this match; by default that of the release.
    most
        The most items known.
    population
        Records of the population that these were taken from, in the same labels.
    rules
        Of a table in buckets: what is known beside its own rules.
    threads
        How many threads count; all by default.
    watch
        Progress listener and cancel switch.

    >>> import setveil as sv
    >>> from setveil.io.demo import groceries
    >>> baskets, products = groceries()
    >>> release = sv.anonymize(baskets, sv.KmAnonymity(k=5, m=2), hierarchy=products)
    >>> sv.risk(release, most=1).k
    5
    """
    from .publish import edition_of, editions_in
    from .risk.assessment import assess_risk

    others = None if population is None else as_transactions(population)
    asked = {
        "k": k,
        "most": most,
        "population": others,
        "rules": rules,
        "threads": threads,
        "watch": watch,
    }
    found: Assessment | TableRisk
    if isinstance(target, Header):
        found = edition_of(target).risk(asked)
        return found
    if isinstance(target, str | os.PathLike):
        found = editions_in(target).risk_in(target, asked)
        return found
    if rules is not None:
        raise UsageError("rules are for a table in buckets.", "Leave them out.")
    if k is None:
        raise UsageError("these data do not say how few records are few.", "Give k, such as k=5.")
    data = as_transactions(target)
    return assess_risk(data, k, most=most, population=others, threads=threads, watch=watch)


def _leaves_under(hierarchy: Hierarchy | Mapping[str, Hierarchy]) -> dict[str, list[str]]:
    """Return the items under each label."""
    if not isinstance(hierarchy, Hierarchy):
        from .hierarchy.build import forest

        hierarchy = forest(hierarchy)
    first, end = hierarchy.first_leaf.tolist(), hierarchy.end_leaf.tolist()
    return {
        label: list(hierarchy.labels[first[node] : end[node]])
        for node, label in enumerate(hierarchy.labels)
    }


class Measuring(TypedDict, total=False):
    """What can be asked of a loss; `None` stands for what is usual."""

    measures: Annotated[str | Iterable[str] | None, None]
    queries: Annotated[Any, None]
    random_queries: Annotated[int | None, None]
    query_size: Annotated[int | None, None]
    drawn_from: Annotated[str | None, None]
    sanity: Annotated[Fraction | float | None, None]
    support: Annotated[Fraction | float | None, None]
    min_conviction: Annotated[Fraction | float | None, None]
    max_conditions: Annotated[int | None, None]
    selectivity: Annotated[Fraction | float | None, None]
    watch: Annotated[Watch | None, None]


@overload
def measure(release: Release, original: Any = None, **asked: Unpack[Measuring]) -> Scores: ...
@overload
def measure(
    release: BucketRelease, original: Any = None, **asked: Unpack[Measuring]
) -> BucketScores: ...
@overload
def measure(release: PairRelease, original: Any = None, **asked: Unpack[Measuring]) -> PairScores: ...
@overload
def measure(
    release: str | os.PathLike[str], original: Any = None, **asked: Unpack[Measuring]
) -> Scores | BucketScores | PairScores: ...
@checked("release")
def measure(
    release: Release | BucketRelease | PairRelease | str | os.PathLike[str],
    original: Any = None,
    **asked: Unpack[Measuring],
) -> Scores | BucketScores | PairScores:
    """Return what a release lost, for the data holder's eyes: the figures come from the original.

    Parameters
    ----------
    release
        What `anonymize` returned, or the path of a release folder with its private twin beside it.
    original
        The data it was made from, where the release does not hold them.
    measures
        Names of `setveil.measure.catalogue`, "all", or None for the cheap ones.
    queries
        COUNT queries to ask the release and the original: sets of labels, or what
        `setveil.io.lists.read_queries` returned.
    random_queries
        How many random queries to ask instead; of a table in buckets 1,000 if not given.
    query_size
        The most labels of a random query, of a table in buckets how many columns it is about; 3 if not
        given.
    drawn_from
        Where the items of a random query come from: "records", so that they occur together, or "items".
    sanity
        The share of the records below which a true count counts as that much; 0.001 if not given.
    support
        The share of the records that an itemset must be in to be frequent, for the measures that mine;
        by default each has its own. Of a table in buckets that of an interesting rule, 0.01 if not
        given. Of two data sets it is the only option beside `watch`.
    min_conviction
        Of a table in buckets: how far a rule must be from chance to be interesting; 1.01 if not given.
    max_conditions
        Of a table in buckets: on how many columns a rule has conditions at most; 2 if not given.
    selectivity
        Of a table in buckets: the largest share of a column's values that a query names; 0.3 if not
        given.
    watch
        Progress listener and cancel switch.

    >>> import setveil as sv
    >>> from setveil.io.demo import groceries
    >>> baskets, products = groceries()
    >>> release = sv.anonymize(baskets, sv.KmAnonymity(k=5, m=2), hierarchy=products)
    >>> sorted(sv.measure(release, measures="ncp,lm".split(",")))
    ['lm', 'ncp']
    """
    from .publish import edition_of
    from .reopen import opened

    watch = asked.get("watch") or Watch()
    opened_release, original = opened(release, original, watch=watch)
    scores: Scores | BucketScores | PairScores = edition_of(opened_release).figures(
        {**asked, "original": original}
    )
    return scores
