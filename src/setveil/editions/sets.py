"""The edition of records as sets, and what that of two data sets has in common with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import DataError, UsageError
from ..io.folder.ownership import HIERARCHY, RECODING
from ..io.formats import FORMATS
from ..model.layout import Layout, LayoutColumn
from ..progress import Watch
from ..publish import Confirmed, Edition, StrPath, Writer, refuse_labels, seconds_of
from ..refusals import refuse_asked
from ..release.release import Release

if TYPE_CHECKING:
    from ..audit.verdict import Verdict
    from ..explain import Explanation
    from ..measure.scores import Scores
    from ..model.guarantees import Guarantee
    from ..model.transactions import Rows, Transactions
    from ..release.pair_release import PairRelease
    from ..release.recoding import Part
    from ..report.drawing import Figure
    from ..report.frontier import Sweep
    from ..risk.assessment import Assessment
    from ..risk.curve import RiskCurve

SCORED = (
    *("original", "measures", "queries", "random_queries", "query_size", "drawn_from"),
    *("sanity", "support", "watch"),
)
"""What may be asked when sets are measured."""
Parts = TypeVar("Parts", Release, "PairRelease")


class PartsEdition(Edition[Parts]):
    """Published sets in one part or two over one hierarchy, on their way into a folder."""

    originals = RECODING

    def file_names(self) -> Sequence[str]:
        """Return the name of the data file of each part."""
        raise NotImplementedError

    def data_files(self) -> Mapping[str, Writer]:
        return {
            name: partial(side.write, self.layout)
            for name, side in zip(self.file_names(), self.release.sides, strict=True)
        }

    @cached_property
    def paths(self) -> Sequence[tuple[str, ...]]:
        from ..release.documents import published_paths

        return published_paths(self.release.hierarchy, self.release.labels)

    def tell_of_formulas(self) -> None:
        """Tell that hierarchy.csv holds labels that a spreadsheet would run; the audit needs them."""
        from ..io.spelling import is_formula

        if self.wish.csv_safe and any(is_formula(label) for path in self.paths for label in path):
            self.notices += (
                "hierarchy.csv holds labels that a spreadsheet would run as formulas: read it as text.",
            )

    def private_documents(self, confirmed: Confirmed, time: datetime) -> Mapping[str, bytes]:
        from ..io.folder.staging import hierarchy_document
        from ..release.documents import private_paths

        whole = hierarchy_document(private_paths(self.release.hierarchy))
        return {**super().private_documents(confirmed, time), HIERARCHY: whole}


class SetsEdition(PartsEdition[Release]):
    """A release of sets, judged, measured, and on its way into a folder."""

    holds_originals = False

    def audit(self, **asked: Any) -> Verdict:
        from ..api import audit_records

        asked["guarantee"] = asked["guarantee"] or self.release.guarantee
        asked["hierarchy"] = asked["hierarchy"] or self.release.hierarchy
        return audit_records(self.release.published, **asked)

    @classmethod
    def reopened(cls, path: StrPath, original: Any, watch: Watch) -> Release:
        from ..reopen import read_set_release

        return read_set_release(path, original, watch=watch)

    @classmethod
    def risk_in(cls, path: StrPath, asked: dict[str, Any]) -> Assessment:
        from ..io.folder.published import read_published
        from ..model.guarantees import guarantee_from_dict

        published, certificate = read_published(path)
        return _assessed(published, guarantee_from_dict(certificate["guarantee"]), asked)

    def risk(self, asked: dict[str, Any]) -> Assessment:
        return _assessed(self.release.published, self.release.guarantee, asked)

    def explain(
        self, questions: Sequence[Any], *, original: Any, top: int, watch: Watch
    ) -> tuple[Explanation, ...]:
        from ..explain.cuts import explain_labels

        rows = original_rows(self.release, original)
        return explain_labels(self.release, questions, rows, top=top, watch=watch)

    def figures(self, asked: dict[str, Any]) -> Scores:
        refuse_asked(asked, "sets", *SCORED)
        from ..measure.catalogue import score
        from ..measure.queries import asked_workload
        from ..release.recoding import BeforeAfter

        pair = BeforeAfter(self.release.recoding, original_rows(self.release, asked.pop("original")))
        measures = asked.pop("measures")
        more = {name: asked[name] for name in ("sanity", "support", "watch")}
        drawn = {
            name: asked[name] for name in ("queries", "random_queries", "query_size", "drawn_from")
        }
        return score(pair, measures, workload=asked_workload(pair, **drawn), **more)

    def prepare(self) -> None:
        own, wish = self.release.layout or Layout("jsonl"), self.wish
        check_format(wish.format, own)
        only_table = (
            None
            if not self.release.part.has_open_cells
            else "Choose another separator, or leave out the columns that are published as they are: "
            "only a table can hold them."
        )
        self.layout, self.notices = choose_layout(
            self.release.sides,
            own,
            wish.format,
            csv_safe=wish.csv_safe,
            path=wish.path,
            stay_remedy=only_table,
        )
        refuse_labels(self.paths)
        self.tell_of_formulas()

    def file_names(self) -> Sequence[str]:
        from ..io.formats import data_file_name

        return (data_file_name(self.layout),)

    def own_part(self, file_hashes: Mapping[str, str]) -> dict[str, object]:
        from ..release.claims import Facts, claims_of
        from ..release.documents import banded, public_guarantee

        release, layout, guarantee = self.release, self.layout, self.release.guarantee
        (file,), crowd = self.file_names(), guarantee.crowd
        data: dict[str, object] = {
            "file": file,
            "format": layout.format,
            "sha256": file_hashes[file],
            "records": f"<{crowd}" if release.records < crowd > 1 else release.records,
        }
        if FORMATS[layout.format].is_csv:
            data["delimiter"] = layout.delimiter
        if layout.format == "table":
            data["columns"] = [_described(column) for column in layout.columns]
        facts = Facts(
            method=release.method,
            local=not release.recoding.is_global,
            values_left_out=bool(release.suppressed_items),
            records_left_out=bool(release.suppressed_items and release.dropped),
            unprotected=layout.unprotected,
            secrets_shown=not guarantee.secret_labels.isdisjoint(release.labels),
        )
        told: dict[str, object] = {
            **claims_of(guarantee, facts).as_dict(),
            "guarantee": public_guarantee(release),
            "data": data,
            "recoding": "global" if release.recoding.is_global else "local",
        }
        if release.hierarchy.domain == "hierarchy":
            told["domain"] = "hierarchy"
        if release.suppressed_items:
            told["suppressed"] = {
                "items": banded(release.suppressed_items, guarantee.least_support),
                "records": banded(len(release.dropped), guarantee.least_support),
            }
        return told

    @cached_property
    def _risk_after(self) -> RiskCurve | None:
        from ..report.risk_picture import curve_of_records

        return curve_of_records(self.release.published, self.release.guarantee)

    def public_page(self, told: Mapping[str, Any]) -> bytes:
        from ..report.pages.sets import public_report

        return public_report(told, self.release.published, self.paths, self._risk_after)

    def private_page(self, confirmed: Confirmed, watch: Watch) -> bytes:
        from ..report.pages.sets import private_report

        return private_report(
            self.release,
            confirmed.certificate,
            verdict=confirmed.verdict,
            notices=confirmed.notices,
            before=risk_before(self.release),
            seconds=seconds_of(self.release, watch),
            after=self._risk_after,
        )

    def fuller_page(
        self, confirmed: Confirmed, original: Any, sweep: Sweep | None, watch: Watch
    ) -> bytes:
        from ..api import measure
        from ..report.pages.sets import private_report
        from ..report.risk_picture import curve_of_records
        from ..risk.curve import BUDGET

        release, told = self.release, self.release.guarantee
        release = replace(release, rows=original_rows(self.release, original))
        watch.tick("counting who is at risk", None)
        frontier: list[tuple[Figure, str]] = []
        if sweep is not None:
            shown = f"{sweep.lost}; this release is framed, if it was swept."
            frontier = [(sweep.figure(told.point), shown)]
            frontier += [(sweep.curves(), "")] if len(sweep.firsts) > 1 else []
        return private_report(
            release,
            confirmed.certificate,
            verdict=confirmed.verdict,
            notices=confirmed.notices,
            after=curve_of_records(release.published, told, budget=BUDGET),
            before=risk_before(release, budget=BUDGET),
            scores=measure(release, watch=watch),
            frontier=frontier,
        )


def original_rows(release: Release, original: Any = None) -> Rows:
    """Return the records a release was made from: its own, or those given, if they are the ones."""
    from ..api import as_transactions
    from ..measure.scores import rows_of_original

    if original is None:
        if release.rows is None:
            raise UsageError(
                "the original records are needed.", "Give them (--original FILE).", code="no-original"
            )
        return release.rows
    rows = rows_of_original(release, as_transactions(original))
    if rows is None:
        raise UsageError(
            "these are not the data the release was made from.",
            "Give the same data, read with the same options as then.",
            code="other-data",
        )
    return rows


def _assessed(published: Transactions, guarantee: Guarantee, asked: dict[str, Any]) -> Assessment:
    """Return what somebody can do with published records."""
    from ..risk.assessment import assess_risk

    refuse_asked(asked, "sets", "k", "most", "population", "threads", "watch")
    k = guarantee.least_support if asked["k"] is None else asked["k"]
    more = {name: asked[name] for name in ("most", "population", "threads", "watch")}
    return assess_risk(published, k, **more)


def _described(column: LayoutColumn) -> dict[str, str]:
    if column.separator is not None:
        return {"name": column.name, "kind": "set", "separator": column.separator}
    kind = "unprotected" if column.role == "unprotected" else "kept"
    return {"name": column.name, "kind": kind}


def risk_before(release: Release, *, budget: int | None = None) -> RiskCurve | None:
    """Return the risk of the original records, where they are at hand."""
    from ..report.risk_picture import curve_before

    if release.rows is None:
        return None
    return curve_before(release.rows, release.hierarchy, release.guarantee, budget=budget)


def check_format(format: str | None, own: Layout | None = None) -> None:
    """Raise `UsageError` for a format that is not known, or does not fit the data's `own` layout."""
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


def choose_layout(
    sides: Sequence[Part],
    own: Layout,
    format: str | None,
    *,
    csv_safe: bool,
    path: StrPath | None = None,
    stay_remedy: str | None = None,
) -> tuple[Layout, tuple[str, ...]]:
    """Return the layout a release is written in, and notices where it is not the one it came in.

    What its format cannot hold becomes JSON lines, a table with labels ``column=value``. `own` is how
    the data came, `path` the folder into which the file was to come, for errors; `stay_remedy` what to
    do where only this format can hold the data, None where others can.
    """
    from ..io.csv_text import check_delimiter
    from ..io.folder.disk import shown
    from ..io.formats import data_file_name

    layout = own if format in (None, own.format) else Layout(format or own.format)
    if FORMATS[layout.format].is_csv:
        check_delimiter(layout.delimiter)
    fallback = Layout("jsonl", gzip=layout.gzip)
    reason = next(filter(None, (side.fault_in(layout) for side in sides)), None)
    what = f"the format {layout.format} cannot hold the release"
    if reason is None and csv_safe:
        reason = next(filter(None, (side.formula_in(layout) for side in sides)), None)
        what = f"the format {layout.format} is not safe to open"
    if reason is None:
        return layout, ()
    what += f": {reason.rstrip('.')}."
    held = all(side.fault_in(fallback) is None for side in sides)
    if stay_remedy is not None or format is not None or not held:
        raise DataError(
            what,
            stay_remedy or "Choose another format, such as jsonl.",
            code="format-cannot-hold",
            file=None if path is None else shown(Path(path) / data_file_name(layout)),
        )
    labelled = ", with labels column=value" if own.format == "table" else ""
    return fallback, (f"published as JSON lines{labelled}: {what}",)


EDITION = SetsEdition
