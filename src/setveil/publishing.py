"""Publishing: write a release, audit the written bytes, and rename it into place.

This joins what must not know each other: `io.releases` writes files to a hidden folder, `audit` reads
them there as they lie on the disk, and only what it confirms is renamed into place.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .arguments import checked
from .errors import DataError, HierarchyError, Infeasible, InternalError, UsageError
from .model.guarantees import (
    BucketGuarantee,
    Coherence,
    Guarantee,
    HiddenPatterns,
    LmDiversity,
)
from .model.layout import FORMATS, Layout
from .progress import Watch, where_time_went
from .release.release import Release

if TYPE_CHECKING:
    from .audit.buckets import BucketFinding
    from .audit.pair_finding import PairFinding
    from .audit.verdict import Verdict
    from .measure.pair_scores import PairScores
    from .release.bucket_release import BucketRelease
    from .release.pair_release import PairRelease
    from .report.figure import Figure
    from .report.frontier import Sweep
    from .risk.curve import RiskCurve

StrPath = str | os.PathLike[str]
STAGES = ("method", "writing", "auditing", "reporting")
"""Where the time of a run goes; the public page is made before the audit, which reads it too."""


@dataclass(frozen=True)
class Publication:
    """A release in its place: where, what the audit of its bytes said, notices, and the time it took.

    `seconds` are those of each stage: the method, writing, auditing and reporting.
    """

    path: Path
    private: Path
    verdict: Verdict | BucketFinding | PairFinding
    layout: Layout
    notices: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    scores: PairScores | None = None
    """Of two data sets what hiding their patterns cost; for the holder of the data alone."""

    @property
    def time(self) -> str:
        """Where the time went, in words."""
        return where_time_went(self.seconds)

    def __str__(self) -> str:
        return f"{self.path} (private documents: {self.private})\n{self.verdict}"


@checked()
def publish(
    release: Release | BucketRelease | PairRelease,
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
        One of the formats of `model.layout`; by default the one the data came in. For a table in
        buckets: "buckets" (two tables) or "joined" (one).
    csv_safe
        Write no CSV data file with labels that a spreadsheet would run as formulas: JSON lines
        instead, or an error where the format is given.
    allow_useless
        Publish a release too of which most records say nothing; else it is refused.
    private_report
        Whether the private folder gets its page, which can take long for a large table; the public one
        is part of the release. `setveil.report` makes that of a release of sets later.
    placed
        Called with the folder as soon as it is there to stay: an interrupt after that comes too late.
    watch
        Progress listener, cancel switch and clock.
    """
    if not isinstance(release, Release):
        return _publisher(release)(
            release,
            path,
            force=force,
            format=format,
            csv_safe=csv_safe,
            allow_useless=allow_useless,
            private_report=private_report,
            placed=placed,
            watch=watch,
        )
    from .audit import audit_folder
    from .io.ownership import AUDIT, CERTIFICATE, HIERARCHY, RECODING, REPORT
    from .io.releases import Staging, check_destination, hierarchy_document, json_document
    from .io.write import data_file_name, write_data
    from .release.documents import (
        certificate,
        private_audit,
        private_paths,
        private_recoding,
        published_paths,
        with_report,
    )
    from .report.public_page import public_report
    from .report.risk_part import curve_of_records

    watch = watch or Watch()
    check_environment()
    refuse_useless(release, allowed=allow_useless)
    layout, format_notices = publishing_layout(release, format, csv_safe=csv_safe, path=path)
    published = published_paths(release)
    refuse_labels(published)
    if csv_safe:
        format_notices += told_of_formulas(published)
    notices = (*release.notices, *format_notices, *check_destination(path, force=force))
    with Staging(path, force=force) as staging:
        watch.begin("writing")
        data_file = data_file_name(layout)
        data_sha256 = staging.write(data_file, lambda file: write_data(release.published, layout, file))
        paths = hierarchy_document(published)
        hierarchy_sha256 = staging.write(HIERARCHY, lambda file: file.write(paths))
        told = certificate(
            release,
            layout,
            data_file=data_file,
            data_sha256=data_sha256,
            hierarchy_sha256=hierarchy_sha256,
            mode="exact",
            source_date_epoch=os.environ.get("SOURCE_DATE_EPOCH"),
        )
        watch.begin("reporting")
        after = curve_of_records(release.published, release.guarantee)
        report = public_report(told, release.published, published, after)
        report_sha256 = staging.write(REPORT, lambda file: file.write(report))
        public = json_document(with_report(told, file=REPORT, sha256=report_sha256))
        certificate_sha256 = staging.write(CERTIFICATE, lambda file: file.write(public))
        watch.begin("auditing")
        verdict = judged(lambda: audit_folder(staging.public), release.guarantee)
        watch.begin("writing")
        account = private_audit(
            release,
            certificate_sha256=certificate_sha256,
            verdict=verdict.as_dict(),
            notices=notices,
            time=datetime.now(UTC),
        )
        for name, document in ((AUDIT, account), (RECODING, private_recoding(release))):
            staging.write_private(name, json_document(document))
        staging.write_private(HIERARCHY, hierarchy_document(private_paths(release)))
        if private_report:
            watch.begin("reporting")
            page = _private_page(release, told, verdict, notices, after, watch)
            staging.write_private(REPORT, page)
        watch.begin("writing")
        late = staging.commit(placed)
    return Publication(
        staging.target, staging.twin, verdict, layout, (*notices, *late), seconds_of(release, watch)
    )


def _publisher(release: BucketRelease | PairRelease) -> Callable[..., Publication]:
    """Return what publishes a release of this kind; a run of sets need not load the others."""
    from .release.bucket_release import BucketRelease

    if isinstance(release, BucketRelease):
        from .table_publishing import publish_table

        return publish_table
    from .pair_publishing import publish_pair

    return publish_pair


def seconds_of(release: Release | BucketRelease | PairRelease, watch: Watch) -> dict[str, float]:
    """Return the seconds of each stage until now, in the order of `STAGES`."""
    seconds = {"method": release.seconds, **watch.stages.seconds}
    return {stage: seconds[stage] for stage in STAGES if stage in seconds}


def _private_page(
    release: Release,
    told: dict[str, Any],
    verdict: Verdict,
    notices: tuple[str, ...],
    after: RiskCurve | None,
    watch: Watch,
) -> bytes:
    from .report.private_page import Extras, private_report

    extras = Extras(after=after, before=_risk_before(release), seconds=seconds_of(release, watch))
    return private_report(release, told, verdict=verdict, notices=notices, extras=extras)


@checked()
def report(
    path: StrPath,
    original: Any,
    *,
    sweep: Sweep | None = None,
    output: StrPath | None = None,
    force: bool = False,
    watch: Watch | None = None,
) -> Path:
    """Write the private report of a release anew, fuller than the one made with it; return where.

    Measures of the loss come in, more of the risk is counted, and where a sweep is given what other
    strengths of the promise would cost. It is personal data.

    Parameters
    ----------
    path
        The release folder; its private twin must lie beside it.
    original
        The data the release was made from, as `setveil.anonymize` takes them.
    sweep
        What `setveil.sweep` returned for the same data.
    output
        The file to write; by default ``report.html`` in the private twin, which is replaced.
    force
        Replace a file of the name `output` that is there.
    watch
        Progress listener and cancel switch.
    """
    from .api import measure
    from .audit import Verdict, audit_folder
    from .io.files import check_new_file, write_text_file
    from .io.ownership import REPORT
    from .io.release_data import read_certificate
    from .io.releases import replace_private
    from .model.guarantees import KmAnonymity
    from .reopen import read_set_release
    from .report.private_page import Extras, private_report
    from .report.risk_part import curve_of_records
    from .risk.curve import BUDGET

    if output is not None:
        check_new_file(output, force=force)
    watch = watch or Watch()
    release = read_set_release(path, original, watch=watch)
    watch.tick("auditing", None)
    verdict = audit_folder(path)
    assert isinstance(verdict, Verdict)  # the other kinds were refused when they were read
    watch.tick("counting who is at risk", None)
    told = release.guarantee
    frontier: list[tuple[Figure, str]] = []
    if sweep is not None:
        chosen = (told.k, told.m) if isinstance(told, KmAnonymity) else None
        frontier = [(sweep.figure(chosen), f"{sweep.lost}; this release is framed, if it was swept.")]
        frontier += [(sweep.curves(), "")] if len(sweep.ks) > 1 else []
    extras = Extras(
        after=curve_of_records(release.published, told, budget=BUDGET),
        before=_risk_before(release, budget=BUDGET),
        scores=measure(release, watch=watch),
        frontier=frontier,
    )
    page = private_report(
        release,
        read_certificate(path),
        verdict=verdict,
        notices=release.notices,
        extras=extras,
    )
    if output is None:
        return replace_private(path, REPORT, page)
    write_text_file(output, page.decode(), mode=0o600, force=force)
    return Path(output)


def _risk_before(release: Release, *, budget: int | None = None) -> RiskCurve | None:
    """Return the risk of the original records, where they are at hand."""
    from .report.risk_part import curve_before

    if release.rows is None:
        return None
    return curve_before(release.rows, release.hierarchy, release.guarantee, budget=budget)


def judged(ask: Callable[[], Any], guarantee: Guarantee | BucketGuarantee | HiddenPatterns) -> Any:
    """Return the audit's yes; anything else about our own folder is a bug of ours."""
    try:
        verdict = ask()
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


def _promises(
    audited: Guarantee | BucketGuarantee | HiddenPatterns,
    asked: Guarantee | BucketGuarantee | HiddenPatterns,
) -> bool:
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


def refuse_useless(release: Release | BucketRelease | PairRelease, *, allowed: bool) -> None:
    """Raise `Infeasible` where most records of a release say nothing, unless that is allowed."""
    useless = None if allowed else release.useless
    if useless is not None:
        raise Infeasible(
            useless,
            "To publish it all the same: --publish-useless (allow_useless=True in Python).",
            code="useless",
        )


def refuse_labels(paths: Sequence[tuple[str, ...]]) -> None:
    """Refuse categories that no file can hold; those of a hierarchy made in Python may be such."""
    from .model.vocabulary import label_fault

    for label in sorted({label for path in paths for label in path}):
        fault = label_fault(label)
        if fault is not None:
            raise HierarchyError(
                f"a label of the hierarchy, {label[:40]!a}, is {fault[1]}", fault[2], code=fault[0]
            )


def told_of_formulas(paths: list[tuple[str, ...]]) -> tuple[str, ...]:
    """Tell that hierarchy.csv holds labels that a spreadsheet would run; the audit needs them as is."""
    from .io.spelling import is_formula

    if not any(is_formula(label) for path in paths for label in path):
        return ()
    return ("hierarchy.csv holds labels that a spreadsheet would run as formulas: read it as text.",)
