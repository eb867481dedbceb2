"""The edition of a release of sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import DataError, UsageError
from ..io.formats import FORMATS
from ..model.layout import Layout
from ..progress import Watch
from ..release.release import Release
from . import Confirmed, StrPath, Wish, Writer, refuse_labels, seconds_of, told_of_formulas

if TYPE_CHECKING:
    from ..risk.curve import RiskCurve


class SetsEdition:
    """A release of sets on its way into a folder; see `setveil.editions.Edition`."""

    layout: Layout
    notices: tuple[str, ...] = ()
    scores = None

    def __init__(self, release: Release, wish: Wish) -> None:
        self.release, self.wish = release, wish

    def check(self) -> None:
        """Nothing is known before the records are looked at."""

    def prepare(self) -> None:
        """Choose the layout, and refuse labels that it cannot hold."""
        wish = self.wish
        self.layout, self.notices = publishing_layout(
            self.release, wish.format, csv_safe=wish.csv_safe, path=wish.path
        )
        refuse_labels(self._paths)
        if wish.csv_safe:
            self.notices += told_of_formulas(self._paths)

    def data_files(self) -> Mapping[str, Writer]:
        """Return what writes the data file."""
        from ..io.formats import data_file_name, write_data

        write = partial(write_data, self.release.published, self.layout)
        return {data_file_name(self.layout): write}

    @cached_property
    def _paths(self) -> list[tuple[str, ...]]:
        from ..release.documents import published_paths

        return published_paths(self.release.hierarchy, self.release.labels)

    def paths(self) -> Sequence[tuple[str, ...]]:
        """Return the published labels with what is above them."""
        return self._paths

    def more_files(self) -> Mapping[str, bytes]:
        """Return no other files."""
        return {}

    def certificate(
        self, file_hashes: Mapping[str, str], source_date_epoch: str | None
    ) -> dict[str, Any]:
        """Return the certificate, which does not name the report yet."""
        from ..io.folder.ownership import HIERARCHY
        from ..release.documents import certificate

        (data_file,) = self.data_files()
        return certificate(
            self.release,
            self.layout,
            data_file=data_file,
            data_sha256=file_hashes[data_file],
            hierarchy_sha256=file_hashes[HIERARCHY],
            mode="exact",
            source_date_epoch=source_date_epoch,
        )

    @cached_property
    def _risk_after(self) -> RiskCurve | None:
        from ..report.risk_part import curve_of_records

        return curve_of_records(self.release.published, self.release.guarantee)

    def public_page(self, told: Mapping[str, Any]) -> bytes:
        """Return the page made of the certificate and the published records alone."""
        from ..report.public_page import public_report

        return public_report(told, self.release.published, self._paths, self._risk_after)

    def private_documents(self, confirmed: Confirmed, time: datetime) -> Mapping[str, bytes]:
        """Return the account of the run, the recoding, and the whole hierarchy."""
        from ..io.folder.ownership import AUDIT, HIERARCHY, RECODING
        from ..io.folder.staging import hierarchy_document, json_document
        from ..release.documents import private_account, private_originals, private_paths

        account = private_account(
            self.release,
            certificate_sha256=confirmed.certificate_sha256,
            verdict=confirmed.verdict.as_dict(),
            notices=confirmed.notices,
            time=time,
        )
        return {
            AUDIT: json_document(account),
            RECODING: json_document(private_originals(self.release)),
            HIERARCHY: hierarchy_document(private_paths(self.release.hierarchy)),
        }

    def measure(self, watch: Watch) -> None:
        """Nothing is measured but what the page tells."""

    def private_page(self, confirmed: Confirmed, watch: Watch) -> bytes:
        """Return the page for the holder of the data alone."""
        from ..report.private_page import Extras, private_report

        before = risk_before(self.release)
        seconds = seconds_of(self.release, watch)
        extras = Extras(after=self._risk_after, before=before, seconds=seconds)
        return private_report(
            self.release,
            confirmed.certificate,
            verdict=confirmed.verdict,
            notices=confirmed.notices,
            extras=extras,
        )


def risk_before(release: Release, *, budget: int | None = None) -> RiskCurve | None:
    """Return the risk of the original records, where they are at hand."""
    from ..report.risk_part import curve_before

    if release.rows is None:
        return None
    return curve_before(release.rows, release.hierarchy, release.guarantee, budget=budget)


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
    from ..io.csv_text import check_delimiter
    from ..io.folder.disk import shown
    from ..io.formats import cannot_hold, data_file_name, formulas_in

    own = release.layout or Layout("jsonl")
    check_format(format, own)
    table = own.format == "table"
    layout = own if format in (None, own.format) else Layout(format or own.format)
    if FORMATS[layout.format].is_csv:
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
