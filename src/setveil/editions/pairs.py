"""The edition of two data sets that hide their differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from ..errors import DataError, UsageError
from ..io.formats import FORMATS
from ..model.layout import Layout, LayoutColumn
from ..progress import Watch
from ..registry import method
from ..release.pair_release import PairRelease
from . import Confirmed, Wish, Writer, refuse_labels, seconds_of, told_of_formulas

if TYPE_CHECKING:
    from ..audit.pair_finding import PairFinding
    from ..measure.pair_scores import PairScores


class PairsEdition:
    """Two data sets on their way into a folder; see `setveil.editions.Edition`."""

    layout: Layout
    notices: tuple[str, ...] = ()
    scores: PairScores | None = None

    def __init__(self, release: PairRelease, wish: Wish) -> None:
        self.release, self.wish = release, wish

    def check(self) -> None:
        """Refuse a hierarchy that tells of the records: all of it is published."""
        _refuse_learned(self.release)

    def prepare(self) -> None:
        """Choose the layout, and refuse labels that it cannot hold."""
        release = self.release
        refuse_labels([*self._paths, _names(release)])
        self.layout, self.notices = _layout(release, self.wish.format, csv_safe=self.wish.csv_safe)
        if self.wish.csv_safe:
            self.notices += told_of_formulas(self._paths)
        if release.useless is not None:
            self.notices += (release.useless,)

    def data_files(self) -> Mapping[str, Writer]:
        """Return what writes each of the two data files."""
        from ..io.formats import pair_file_names, write_data

        names, sides = pair_file_names(self.layout), self.release.published.sides
        return {
            name: partial(write_data, side, self.layout)
            for name, side in zip(names, sides, strict=True)
        }

    @cached_property
    def _paths(self) -> list[tuple[str, ...]]:
        from ..release.documents import published_paths

        return published_paths(self.release.hierarchy, self.release.labels)

    def paths(self) -> Sequence[tuple[str, ...]]:
        """Return the published labels of both with what is above them."""
        return self._paths

    def more_files(self) -> Mapping[str, bytes]:
        """Return no other files."""
        return {}

    def certificate(
        self, file_hashes: Mapping[str, str], source_date_epoch: str | None
    ) -> dict[str, Any]:
        """Return the certificate, which does not name the report yet."""
        from ..release.pair_documents import certificate

        return certificate(
            self.release,
            self.layout,
            data_files=list(self.data_files()),
            file_hashes=file_hashes,
            source_date_epoch=source_date_epoch,
        )

    def public_page(self, told: Mapping[str, Any]) -> bytes:
        """Return the page made of the certificate and the published records alone."""
        from ..report.pair_pages import public_pair_report

        return public_pair_report(told, self.release.published, self._paths)

    def private_documents(self, confirmed: Confirmed, time: datetime) -> Mapping[str, bytes]:
        """Return the account of the run, the original values, and the whole hierarchy."""
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
        """Count what hiding cost; the caller is told of it, page or not."""
        self.scores = scores_of(self.release, watch=watch)

    def private_page(self, confirmed: Confirmed, watch: Watch) -> bytes:
        """Return the page for the holder of the data alone."""
        from ..report.pair_pages import private_pair_report

        assert self.scores is not None
        return private_pair_report(
            self.release,
            confirmed.certificate,
            finding=confirmed.verdict,
            notices=confirmed.notices,
            scores=self.scores,
            seconds=seconds_of(self.release, watch),
        )


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
    from ..audit import Published
    from ..audit.patterns import audit_pair
    from ..release.documents import published_paths

    first, second = (
        Published(side.indptr, side.items, side.vocabulary.labels) for side in release.published.sides
    )
    paths = {
        path[0]: tuple(dict.fromkeys(path))
        for path in published_paths(release.hierarchy, release.labels)
    }
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
    from ..measure.pair_scores import measure_pair

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
    from ..io.csv_text import check_delimiter
    from ..io.formats import cannot_hold, formulas_in

    pair = release.pair
    check_pair_format(format, table=pair.is_table)
    if pair.is_table:
        own = Layout("table", columns=tuple(LayoutColumn(name, "kept") for name in pair.columns))
    else:
        own = pair.layout or Layout("jsonl")
        own = own if own.format != "table" else Layout("jsonl")
    layout = own if format in (None, own.format) else Layout(format or own.format)
    if FORMATS[layout.format].is_csv:
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
