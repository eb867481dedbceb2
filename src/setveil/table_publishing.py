"""Publish a table in buckets: write its files, audit the written bytes, rename them into place."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import DataError, ResourceLimit, UsageError
from .model.guarantees import MatchingDiversity
from .model.layout import Layout
from .progress import Watch
from .publishing import (
    Publication,
    StrPath,
    check_environment,
    judged,
    refuse_labels,
    refuse_useless,
    seconds_of,
)
from .release.bucket_release import BucketRelease

if TYPE_CHECKING:
    from .audit.buckets import BucketFinding

FORMATS = ("buckets", "joined")
"""Two tables joined by the bucket, or one in which each bucket's values are sorted."""


def check_bucket_format(format: str | None) -> None:
    """Raise `UsageError` for a format that a table in buckets cannot have."""
    if format is not None and format not in FORMATS:
        raise UsageError(
            f"a table in buckets cannot be published as {format[:40]!r}.",
            f"Known: {', '.join(FORMATS)}.",
            code="format",
        )


def publish_table(
    release: BucketRelease,
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
    """Write a table in buckets, audit the written bytes, and put it into place in one step.

    Parameters
    ----------
    release
        What `setveil.anonymize` returned for a table; not a seeded one.
    path, force, allow_useless, private_report, placed
        As in `setveil.publish`.
    format
        "buckets", two tables, or "joined", one.
    csv_safe
        Refuse cells that a spreadsheet would run as formulas.
    watch
        Progress listener, cancel switch and clock.
    """
    from .audit import audit_folder
    from .io.bucket_files import write_rows
    from .io.ownership import AUDIT, BUCKETS, CERTIFICATE, HIERARCHY, REPORT, RULES
    from .io.releases import Staging, check_destination, hierarchy_document, json_document
    from .io.rules import rule_lines
    from .release.bucket_documents import (
        certificate,
        private_account,
        private_buckets,
        published_paths,
    )
    from .release.documents import with_report
    from .report.bucket_pages import public_bucket_report

    watch = watch or Watch()
    check_environment()
    check_bucket_format(format)
    if release.seeded:
        raise UsageError(
            "this table was put into buckets with a given source of chance: it is not for release.",
            "Leave `random` out, so that nobody knows the source.",
            code="seeded",
        )
    refuse_useless(release, allowed=allow_useless)
    joined = format == "joined"
    data, tables = release.data, release.tables
    paths = published_paths(release)
    names = [attribute.name for attribute in data.quasi]
    refuse_labels([*paths, (*names, data.sensitive), data.values])
    if csv_safe:
        _refuse_formulas(release)
    notices = (*release.notices, *check_destination(path, force=force))
    with Staging(path, force=force) as staging:
        watch.begin("writing")
        hashes: dict[str, str] = {}
        if joined:
            header = (*tables.quasi_header, data.sensitive)
            hashes["data.csv"] = staging.write(
                "data.csv", lambda file: write_rows(file, header, tables.joined_rows())
            )
        else:
            hashes["quasi.csv"] = staging.write(
                "quasi.csv", lambda file: write_rows(file, tables.quasi_header, tables.quasi_rows())
            )
            hashes["sensitive.csv"] = staging.write(
                "sensitive.csv",
                lambda file: write_rows(file, tables.sensitive_header, tables.sensitive_rows()),
            )
        tree = hierarchy_document(paths)
        hashes[HIERARCHY] = staging.write(HIERARCHY, lambda file: file.write(tree))
        if isinstance(release.guarantee, MatchingDiversity):
            lines = "".join(rule_lines(release.rules, attributes=names, sensitive=data.sensitive))
            hashes[RULES] = staging.write(RULES, lambda file: file.write(lines.encode()))
        told = certificate(
            release,
            file_hashes=hashes,
            joined=joined,
            source_date_epoch=os.environ.get("SOURCE_DATE_EPOCH"),
        )
        watch.begin("reporting")
        page = public_bucket_report(told, tables, release.rules)
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
        staging.write_private(AUDIT, json_document(account))
        staging.write_private(BUCKETS, json_document(private_buckets(release)))
        if private_report:
            watch.begin("reporting")
            staging.write_private(REPORT, _private_page(release, told, notices, watch))
        watch.begin("writing")
        late = staging.commit(placed)
    layout = Layout("joined" if joined else "buckets")
    return Publication(
        staging.target, staging.twin, verdict, layout, (*notices, *late), seconds_of(release, watch)
    )


def audit_unwritten(release: BucketRelease) -> BucketFinding:
    """Return the audit's answer about a table in buckets that is not written yet."""
    from .audit.buckets import PublishedBuckets, audit_buckets

    tables, data = release.tables, release.data
    rows = list(tables.quasi_rows())
    names = [attribute.name for attribute in data.quasi]
    cells: dict[str, Sequence[str]] = {
        name: [row[place] for row in rows] for place, name in enumerate(names)
    }
    counts = [(int(bucket) - 1, value, int(count)) for bucket, value, count in tables.sensitive_rows()]
    published = PublishedBuckets.of(cells, tables.bucket_of_row.tolist(), counts)
    paths = {
        attribute.name: {
            leaf: attribute.hierarchy.path(leaf)
            for leaf in attribute.hierarchy.labels[: attribute.hierarchy.n_leaves]
        }
        for attribute in data.quasi
    }
    rules = [(rule.conditions, rule.value) for rule in release.rules]
    complete = release.complete.told()
    return audit_buckets(published, release.guarantee, rules=rules, paths=paths, complete=complete)


def _private_page(
    release: BucketRelease,
    told: dict[str, object],
    notices: tuple[str, ...],
    watch: Watch,
) -> bytes:
    from .report.bucket_pages import private_bucket_report
    from .risk.background import attack_by_rules
    from .risk.definetti import attack_sample

    try:
        learning = attack_sample(release.data, release.bucketing, watch=watch)
    except ResourceLimit:  # too many values to learn about: the report does without
        learning = None
    background = (
        attack_by_rules(
            release.data,
            release.bucketing,
            release.rules,
            release.guarantee.l,
            complete=release.complete,
        )
        if isinstance(release.guarantee, MatchingDiversity)
        else None
    )
    return private_bucket_report(
        release,
        told,
        notices=notices,
        background=background,
        learning=learning,
        seconds=seconds_of(release, watch),
    )


def _refuse_formulas(release: BucketRelease) -> None:
    from .io.spelling import is_formula

    data = release.data
    labels = [label for attribute in data.quasi for label in attribute.hierarchy.labels]
    names = [attribute.name for attribute in data.quasi]
    if any(is_formula(cell) for cell in (*labels, *names, data.sensitive, *data.values)):
        raise DataError(
            "a spreadsheet would run a cell of this table as a formula.",
            "Leave --csv-safe out, or change such values.",
            code="format-cannot-hold",
        )
