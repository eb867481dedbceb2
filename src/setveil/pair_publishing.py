"""Publish two data sets: write their files, audit the written bytes, rename them into place."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import DataError, UsageError
from .model.layout import FORMATS, Layout, LayoutColumn
from .progress import Watch
from .publishing import (
    Publication,
    StrPath,
    check_environment,
    judged,
    refuse_labels,
    refuse_useless,
    seconds_of,
    told_of_formulas,
)
from .registry import method
from .release.pair_release import PairRelease

if TYPE_CHECKING:
    from .audit.pair_finding import PairFinding
    from .measure.pair_scores import PairScores


def check_pair_format(format: str | None, *, table: bool) -> None:
    """Raise `UsageError` for a format that two data sets cannot have.

    Parameters
    ----------
    format
        The format asked for.
    table
        Whether the data sets are tables.
    """
    known = ("table",) if table else tuple(name for name in FORMATS if name != "table")
    if format is not None and format not in known:
        kind = "two tables" if table else "two data sets of sets"
        raise UsageError(
            f"{kind} cannot be published as {format[:40]!r}.",
            f"Known: {', '.join(known)}.",
            code="format",
        )


def publish_pair(
    release: PairRelease,
    path: StrPath,
    *,
    force: bool = False,
    format: str | None = None,
    csv_safe: bool = False,
    allow_useless: bool = False,
    private_report: bool = True,
    placed: Callable[[Path], object] | None = None,
    watch: Watch | None = None,
) -> Publication:
    """Write two data sets, audit the written bytes, and put them into place in one step.

    Parameters
    ----------
    release
        What `setveil.anonymize` returned for two data sets.
    path, force, allow_useless, private_report, placed
        As in `setveil.publish`.
    format
        Of sets one of the formats of `model.layout`, by default the one the first data set came in;
        of tables "table".
    csv_safe
        Write no CSV data file with labels that a spreadsheet would run as formulas.
    watch
        Progress listener, cancel switch and clock.
    """
    from .audit import audit_folder
    from .io.ownership import AUDIT, CERTIFICATE, HIERARCHY, RECODING, REPORT
    from .io.pair_files import pair_file_names
    from .io.releases import Staging, check_destination, hierarchy_document, json_document
    from .io.write import write_data
    from .release.documents import with_report
    from .release.pair_documents import (
        certificate,
        private_account,
        private_paths,
        private_recoding,
        published_paths,
    )
    from .report.pair_pages import private_pair_report, public_pair_report

    watch = watch or Watch()
    check_environment()
    _refuse_learned(release)
    refuse_useless(release, allowed=allow_useless)
    paths = published_paths(release)
    refuse_labels([*paths, _names(release)])
    layout, told_of_format = _layout(release, format, csv_safe=csv_safe)
    if csv_safe:
        told_of_format += told_of_formulas(paths)
    useless = () if release.useless is None else (release.useless,)
    notices = (*release.notices, *told_of_format, *useless, *check_destination(path, force=force))
    with Staging(path, force=force) as staging:
        watch.begin("writing")
        names = pair_file_names(layout)
        hashes = {
            name: staging.write(name, partial(write_data, side, layout))
            for name, side in zip(names, release.published.sides, strict=True)
        }
        tree = hierarchy_document(paths)
        hashes[HIERARCHY] = staging.write(HIERARCHY, lambda file: file.write(tree))
        told = certificate(
            release,
            layout,
            data_files=names,
            file_hashes=hashes,
            source_date_epoch=os.environ.get("SOURCE_DATE_EPOCH"),
        )
        watch.begin("reporting")
        page = public_pair_report(told, release.published, paths)
        report_sha256 = staging.write(REPORT, lambda file: file.write(page))
        public = json_document(with_report(told, file=REPORT, sha256=report_sha256))
        certificate_sha256 = staging.write(CERTIFICATE, lambda file: file.write(public))
        watch.begin("auditing")
        verdict = judged(lambda: audit_folder(staging.public), release.guarantee)
        watch.begin("writing")
        account = private_account(
            release,
            certificate_sha256=certificate_sha256,
            verdict=verdict.as_dict(),
            notices=notices,
            time=datetime.now(UTC),
        )
        for name, document in ((AUDIT, account), (RECODING, private_recoding(release))):
            staging.write_private(name, json_document(document))
        staging.write_private(HIERARCHY, hierarchy_document(private_paths(release)))
        watch.begin("reporting")
        scores = scores_of(release, watch=watch)
        if private_report:
            private = private_pair_report(
                release,
                told,
                finding=verdict,
                notices=notices,
                scores=scores,
                seconds=seconds_of(release, watch),
            )
            staging.write_private(REPORT, private)
        watch.begin("writing")
        late = staging.commit(placed)
    return Publication(
        staging.target,
        staging.twin,
        verdict,
        layout,
        (*notices, *late),
        seconds_of(release, watch),
        scores,
    )


def audit_unwritten(
    release: PairRelease, *, witnesses: int = 0, threads: int | None = None
) -> PairFinding:
    """Return the audit's answer about two data sets that are not written yet.

    Parameters
    ----------
    release
        The release.
    witnesses
        How many patterns to return, should there be any.
    threads
        How many threads count.
    """
    from .audit import Published
    from .audit.patterns import audit_pair
    from .release.pair_documents import published_paths

    first, second = (
        Published(side.indptr, side.items, side.vocabulary.labels) for side in release.published.sides
    )
    paths = {path[0]: tuple(dict.fromkeys(path)) for path in published_paths(release)}
    return audit_pair(
        first, second, release.guarantee, paths=paths, witnesses=witnesses, threads=threads
    )


def scores_of(
    release: PairRelease,
    *,
    frequent_support: Fraction | float | None = None,
    watch: Watch | None = None,
    threads: int | None = None,
) -> PairScores:
    """Return what a release of two data sets cost, told from its original records.

    Parameters
    ----------
    release
        The release.
    frequent_support
        Another share that makes a set of values frequent than the one the release was made with.
    watch, threads
        Progress and cancelling; how many threads count.
    """
    from .measure.pair_scores import measure_pair

    record = method(release.method)
    default = {option.name: option.default for option in record.options}
    chosen = {**default, **release.options}
    support = chosen["frequent_support"] if frequent_support is None else frequent_support
    assert isinstance(support, int | float | Fraction)
    return measure_pair(
        release.pair,
        release.recoding,
        release.guarantee,
        frequent_support=support,
        multilevel=bool(chosen["multilevel"]),
        watch=watch,
        threads=threads,
    )


def _names(release: PairRelease) -> tuple[str, ...]:
    """Return the names that are published beside the labels."""
    pair = release.pair
    classes = () if pair.classes is None else (pair.classes[0], *pair.classes[1])
    return (*pair.columns, *classes)


def _refuse_learned(release: PairRelease) -> None:
    if release.pair.hierarchy.private:
        raise UsageError(
            "the hierarchy was learned from the data, and here all that is above published values "
            "is published with them.",
            "Give one that was made without the data.",
            code="private-hierarchy",
        )


def _layout(
    release: PairRelease, format: str | None, *, csv_safe: bool
) -> tuple[Layout, tuple[str, ...]]:
    """Return how both data files are written, and a notice where they came otherwise."""
    from .io.csv_text import check_delimiter
    from .io.write import CSV_FORMATS, cannot_hold, formulas_in

    pair = release.pair
    check_pair_format(format, table=pair.is_table)
    if pair.is_table:
        own = Layout("table", columns=tuple(LayoutColumn(name, "kept") for name in pair.columns))
    else:
        own = pair.layout or Layout("jsonl")
        own = own if own.format != "table" else Layout("jsonl")
    layout = own if format in (None, own.format) else Layout(format or own.format)
    if layout.format in CSV_FORMATS:
        check_delimiter(layout.delimiter)
    for side in release.published.sides:
        reason = cannot_hold(side, layout)
        what = f"the format {layout.format} cannot hold the release"
        if reason is None and csv_safe:
            reason, what = formulas_in(side, layout), f"the format {layout.format} is not safe to open"
        if reason is None:
            continue
        what = f"{what}: {reason.rstrip('.')}."
        fallback = replace(layout, format="jsonl", delimiter=",")
        if pair.is_table or format is not None or cannot_hold(side, fallback) is not None:
            remedy = (
                "Leave --csv-safe out, or change such values."
                if pair.is_table
                else "Choose another format, such as jsonl."
            )
            raise DataError(what, remedy, code="format-cannot-hold")
        return fallback, (f"published as JSON lines: {what}",)
    return layout, ()
