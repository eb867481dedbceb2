"""The verbs: anonymize, publish, audit, measure.

Thin by intent. The run is `job`'s, the folder `io.releases`'s, the judgement `audit`'s. Publishing
joins the last two: files are written to a hidden folder, audited there as they lie on the disk, and
renamed into place only if the audit says yes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import DataError, HierarchyError, InternalError, UsageError
from .job import Job
from .model.fit import by_column
from .model.guarantees import Coherence, Guarantee, KAnonymity, KmAnonymity, LmDiversity
from .model.hierarchy import Hierarchy
from .model.layout import FORMATS, Layout
from .model.transactions import Transactions, bind
from .progress import Watch
from .release.release import Release

if TYPE_CHECKING:
    from .audit.verdict import Verdict
    from .measure.scores import Scores

StrPath = str | os.PathLike[str]


def anonymize(
    data: Any,
    guarantee: Guarantee,
    *,
    hierarchy: Hierarchy | Mapping[str, Hierarchy] | None = None,
    method: str | None = None,
    cost: str = "ncp",
    weights: Mapping[str, Fraction | int | float] | None = None,
    time_limit: float | None = None,
    threads: int | None = None,
    unknown: str = "error",
    watch: Watch | None = None,
    layout: Layout | None = None,
    **options: object,
) -> Release:
    """Return a release of `data` that keeps `guarantee`; nothing is written.

    Parameters
    ----------
    data
        Transactions, or any frame that `setveil.from_frame` takes.
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
    options
        The method's own options.

    >>> import setveil as sv
    >>> baskets = sv.Transactions.from_rows([["beer", "milk"], ["wine", "milk"], ["milk"]])
    >>> drinks = sv.Hierarchy.from_parents({"beer": "alcohol", "wine": "alcohol", "alcohol": "drink",
    ...                                     "milk": "drink", "drink": None})
    >>> release = sv.anonymize(baskets, sv.KmAnonymity(k=2, m=2), hierarchy=drinks)
    >>> list(release.published.rows())
    [('alcohol', 'milk'), ('alcohol', 'milk'), ('milk',)]
    """
    refuse_paths(hierarchy)
    if watch is not None and time_limit is not None:
        watch = watch.within(time_limit)
    job = Job(
        guarantee=_guarantee(guarantee),
        method=method,
        cost=cost,
        weights=weights,
        time_limit=time_limit,
        threads=threads,
        unknown=unknown,
        options=options,
    )
    return job.prepare(as_transactions(data), hierarchy).run(watch, layout=layout)


def as_transactions(data: Any, *, repeats: str = "once") -> Transactions:
    """Return `data` as transactions: themselves, a table's records, or a frame's rows.

    Parameters
    ----------
    data
        Transactions, records or a frame.
    repeats
        What an item twice in a row of a frame is: kept once, or an error.
    """
    if isinstance(data, Transactions):
        return data
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
    for tree in hierarchy.values() if isinstance(hierarchy, Mapping) else (hierarchy,):
        if isinstance(tree, str | bytes | os.PathLike):
            raise UsageError(
                "hierarchy is a path: read it first with setveil.read_hierarchy.",
                "Give for example hierarchy=setveil.read_hierarchy(path).",
            )
        if tree is not None and not isinstance(tree, Hierarchy):
            raise UsageError(
                f"hierarchy is a {type(tree).__name__[:40]}, not a hierarchy.",
                "Give a setveil.Hierarchy, or {column: hierarchy} for a table.",
            )


def _guarantee(guarantee: object) -> Guarantee:
    if isinstance(guarantee, KmAnonymity | KAnonymity | LmDiversity | Coherence):
        return guarantee
    raise UsageError(
        f"{str(guarantee)[:40]!r} is no guarantee.", "Give for example KmAnonymity(k=5, m=2)."
    )


@dataclass(frozen=True)
class Publication:
    """A release in its place: where, what the audit of its bytes said, and notices."""

    path: Path
    private: Path
    verdict: Verdict
    layout: Layout
    notices: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.path} (private documents: {self.private})\n{self.verdict}"


def publish(
    release: Release,
    path: StrPath,
    *,
    force: bool = False,
    format: str | None = None,
    csv_safe: bool = False,
    placed: Callable[[Path], object] | None = None,
) -> Publication:
    """Write a release, audit the written bytes, and put it into place in one step.

    Parameters
    ----------
    release
        What `anonymize` returned.
    path
        The folder to make; beside it comes ``<path>.private`` for the holder's eyes alone.
    force
        Replace a release that is there.
    format
        One of the formats of `model.layout`; by default the one the data came in.
    csv_safe
        Write no CSV data file with labels that a spreadsheet would run as formulas: JSON lines
        instead, or an error where the format is given.
    placed
        Called with the folder as soon as it is there to stay: an interrupt after that comes too late.
    """
    from .audit import audit_folder
    from .io.ownership import AUDIT, CERTIFICATE, HIERARCHY, RECODING
    from .io.releases import Staging, check_destination, hierarchy_document, json_document
    from .io.write import data_file_name, write_data
    from .release.documents import certificate, private_audit, private_recoding, published_paths

    check_environment()
    layout, format_notices = publishing_layout(release, format, csv_safe=csv_safe, path=path)
    published = published_paths(release)
    _refuse_labels(published)
    if csv_safe:
        format_notices += _told_of_formulas(published)
    notices = (*release.notices, *format_notices, *check_destination(path, force=force))
    with Staging(path, force=force) as staging:
        data_file = data_file_name(layout)
        data_sha256 = staging.write(data_file, lambda file: write_data(release.published, layout, file))
        paths = hierarchy_document(published)
        hierarchy_sha256 = staging.write(HIERARCHY, lambda file: file.write(paths))
        public = json_document(
            certificate(
                release,
                layout,
                data_file=data_file,
                data_sha256=data_sha256,
                hierarchy_sha256=hierarchy_sha256,
                mode="exact",
                source_date_epoch=os.environ.get("SOURCE_DATE_EPOCH"),
            )
        )
        certificate_sha256 = staging.write(CERTIFICATE, lambda file: file.write(public))
        verdict = _judged(lambda: audit_folder(staging.public), release.guarantee)
        account = private_audit(
            release,
            certificate_sha256=certificate_sha256,
            verdict=verdict.as_dict(),
            notices=notices,
            time=datetime.now(UTC),
        )
        for name, document in ((AUDIT, account), (RECODING, private_recoding(release))):
            staging.write_private(name, json_document(document))
        late = staging.commit(placed)
        return Publication(staging.target, staging.twin, verdict, layout, (*notices, *late))


def _judged(ask: Any, guarantee: Guarantee) -> Verdict:
    """Return the audit's yes; anything else about our own folder is a bug of ours."""
    try:
        verdict: Verdict = ask()
    except DataError as error:
        raise InternalError(
            f"a bug in setveil: its audit cannot accept what it wrote ({error.problems[0].what})",
            "Nothing is published. Please report it.",
            code="audit-refused",
        ) from error
    if not verdict.holds or not _promises(verdict.guarantee, guarantee):
        raise InternalError(
            f"a bug in setveil: its audit says that the result does not keep {guarantee}.",
            "Nothing is published. Please report it.",
            code="audit-says-no",
        )
    return verdict


def _promises(audited: Guarantee, asked: Guarantee) -> bool:
    """Tell whether what was audited is what was asked; suppressed sensitive items are not named."""
    if isinstance(audited, LmDiversity) and isinstance(asked, LmDiversity):
        return (audited.l, audited.m) == (asked.l, asked.m) and audited.sensitive <= asked.sensitive
    if isinstance(audited, Coherence) and isinstance(asked, Coherence):
        numbers = (audited.h, audited.k, audited.p) == (asked.h, asked.k, asked.p)
        return numbers and audited.private <= asked.private
    return audited == asked


def check_environment() -> None:
    """Raise `UsageError` where SOURCE_DATE_EPOCH is set to what is no date."""
    from .release.documents import certificate_date

    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch is not None:
        certificate_date(epoch)


def check_format(format: str | None, own: Layout | None = None) -> None:
    """Raise `UsageError` for a format that is not known, or does not fit what the data came in.

    Parameters
    ----------
    format
        The format asked for.
    own
        The layout of the data, where it is known already.
    """
    if format is not None and format not in FORMATS:
        raise UsageError(f"unknown format {format[:40]!r}.", f"Known: {', '.join(FORMATS)}.")
    if own is None:
        return
    table = own.format == "table"
    if (format == "table" and not table) or (table and format not in (None, "table", "jsonl")):
        raise UsageError(
            "a table is published as a table or as JSON lines, and nothing else as a table.",
            f"Leave the format out ({own.format}).",
            code="format",
        )


def publishing_layout(
    release: Release,
    format: str | None = None,
    *,
    csv_safe: bool = False,
    path: StrPath | None = None,
) -> tuple[Layout, tuple[str, ...]]:
    """Return the layout a release is written in, and notices where it is not the one it came in.

    A table that its format cannot hold becomes JSON lines of labels ``column=value``. An error names
    the data file that was to come into the folder `path`.
    """
    from .io.csv_text import check_delimiter
    from .io.disk import shown
    from .io.write import CSV_FORMATS, cannot_hold, data_file_name, formulas_in

    own = release.layout or Layout("jsonl")
    check_format(format, own)
    table = own.format == "table"
    layout = own if format in (None, own.format) else Layout(format or own.format)
    if layout.format in CSV_FORMATS:
        check_delimiter(layout.delimiter)
    fallback = Layout("jsonl", gzip=layout.gzip)
    file = None if path is None else shown(Path(path) / data_file_name(layout))
    reason = cannot_hold(release.published, layout)
    what = f"the format {layout.format} cannot hold the release"
    if reason is None and csv_safe:
        reason = formulas_in(release.published, layout)
        what = f"the format {layout.format} is not safe to open"
    if reason is None:
        return layout, ()
    what += f": {reason.rstrip('.')}."
    if release.published.unprotected is not None:
        raise DataError(
            what,
            "Choose another separator, or leave out the columns that are published as they are: only a "
            "table can hold them.",
            code="format-cannot-hold",
            file=file,
        )
    if format is not None or cannot_hold(release.published, fallback) is not None:
        raise DataError(
            what, "Choose another format, such as jsonl.", code="format-cannot-hold", file=file
        )
    labelled = ", with labels column=value" if table else ""
    return fallback, (f"published as JSON lines{labelled}: {what}",)


def _refuse_labels(paths: list[tuple[str, ...]]) -> None:
    """Refuse categories that no file can hold; those of a hierarchy made in Python may be such."""
    from .io.draft import label_fault

    for label in sorted({label for path in paths for label in path}):
        fault = label_fault(label)
        if fault is not None:
            raise HierarchyError(
                f"a label of the hierarchy, {label[:40]!a}, is {fault[1]}", fault[2], code=fault[0]
            )


def _told_of_formulas(paths: list[tuple[str, ...]]) -> tuple[str, ...]:
    """Tell that hierarchy.csv holds labels that a spreadsheet would run; the audit needs them as is."""
    from .io.spelling import is_formula

    if not any(is_formula(label) for path in paths for label in path):
        return ()
    return ("hierarchy.csv holds labels that a spreadsheet would run as formulas: read it as text.",)


def audit(
    target: Any,
    guarantee: Guarantee | None = None,
    *,
    mode: str = "exact",
    hierarchy: Hierarchy | Mapping[str, Hierarchy] | None = None,
    witnesses: int = 0,
    threads: int | None = None,
    **reading: Any,
) -> Verdict:
    """Return whether published records keep a promise, recounted by code that made none of them.

    Parameters
    ----------
    target
        A `Release`, the path of a release folder or of any data file, `Transactions`, or a frame.
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
        How to read a file: the options of `setveil.read_transactions`.
    """
    from .audit import Published, audit_folder, audit_published

    refuse_paths(hierarchy)
    path = Path(target) if isinstance(target, str | os.PathLike) else None
    if path is not None and path.is_dir():
        if reading or hierarchy is not None:
            raise UsageError("a release folder says itself how it is read.", "Leave those options out.")
        asked = None if guarantee is None else _guarantee(guarantee)
        return audit_folder(path, asked, mode=mode, witnesses=witnesses, threads=threads)
    if isinstance(target, Release):
        transactions, guarantee = target.published, guarantee or target.guarantee
        hierarchy = hierarchy or target.hierarchy
    elif path is not None:
        from .io.transactions import read_transactions

        # A bag tells more than the set that would be counted.
        transactions = read_transactions(str(path), **{**reading, "repeats": "error"})
    else:
        transactions = as_transactions(target, repeats="error")
    if path is None and reading:
        raise UsageError(f"unknown option {min(reading)[:40]!r}.")
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


def _leaves_under(hierarchy: Hierarchy | Mapping[str, Hierarchy]) -> dict[str, list[str]]:
    """Return the items under each label."""
    if not isinstance(hierarchy, Hierarchy):
        from .model.build import forest

        hierarchy = forest(hierarchy)
    first, end = hierarchy.first_leaf.tolist(), hierarchy.end_leaf.tolist()
    return {
        label: list(hierarchy.labels[first[node] : end[node]])
        for node, label in enumerate(hierarchy.labels)
    }


def measure(release: Release, original: Any = None) -> Scores:
    """Return what a release lost, each score exact.

    Parameters
    ----------
    release
        What `anonymize` returned.
    original
        The data it was made from: then the losses are computed anew instead of taken from it.
    """
    from .measure.lm import LM
    from .measure.ncp import NCP
    from .measure.scores import Score, Scores

    measures = (NCP, LM)
    if original is None:
        return Scores(tuple(Score(measure, release.losses[measure.name]) for measure in measures))
    from .release.apply import canonical_order

    transactions = as_transactions(original)
    restricted, rows = bind(transactions.take(canonical_order(transactions)), release.hierarchy)
    records = release.records + len(release.dropped)
    if restricted.labels != release.hierarchy.labels or len(rows) != records:
        raise UsageError("these are not the data the release was made from.", code="other-data")
    return Scores(tuple(measure(release.recoding, rows) for measure in measures))
