"""The edition of two data sets that hide their differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..explain.pairs import ValueExplanation, explain_values
from ..io.formats import FORMATS
from ..model.layout import Layout, LayoutColumn
from ..progress import Watch
from ..publish import Confirmed, StrPath, refuse_format, refuse_labels, seconds_of
from ..refusals import PAIRS, refuse, refuse_asked
from ..registry import method
from ..release.pair_release import RECODED, PairRelease
from ..reopen.others import confirm_pair, read_pair_release
from .sets import PartsEdition, choose_layout

if TYPE_CHECKING:
    from ..audit.verdict import PairFinding
    from ..measure.pairs import PairScores
    from ..report.frontier import Sweep


class PairsEdition(PartsEdition[PairRelease]):
    """Two data sets on their way into a folder."""

    called = "two data sets are"
    scores: PairScores | None = None

    def audit_unwritten(self, *, witnesses: int = 0, threads: int | None = None) -> PairFinding:
        from ..audit import Published
        from ..audit.patterns import audit_pair
        from ..release.documents import published_paths

        release = self.release
        first, second = (
            Published(side.indptr, side.items, side.vocabulary.labels)
            for side in release.published.sides
        )
        paths = {
            path[0]: tuple(dict.fromkeys(path))
            for path in published_paths(release.hierarchy, release.labels)
        }
        return audit_pair(
            first, second, release.guarantee, paths=paths, witnesses=witnesses, threads=threads
        )

    @classmethod
    def reopened(cls, path: StrPath, original: Any, watch: Watch) -> PairRelease:
        release = read_pair_release(path, watch=watch)
        if original is not None:
            confirm_pair(release, original)
        return release

    def _confirm(self, original: Any) -> None:
        if original is not None:
            confirm_pair(self.release, original)

    @classmethod
    def risk_in(cls, path: StrPath, asked: dict[str, Any]) -> None:  # noqa: ARG003
        refuse("risk", PAIRS.key)

    def risk(self, asked: dict[str, Any]) -> None:  # noqa: ARG002
        refuse("risk", PAIRS.key)

    def explain(
        self, questions: Sequence[Any], *, original: Any, top: int, watch: Watch
    ) -> tuple[ValueExplanation, ...]:
        self._confirm(original)
        return explain_values(self.release, questions, top=top, watch=watch)

    def figures(self, asked: dict[str, Any]) -> PairScores:
        support, watch = asked.pop("support"), asked.pop("watch")
        if any(value is not None for value in asked.values()):
            raise UsageError(
                "of two data sets the figures are always the same, from the records of the release.",
                "Leave the options out; only support counts.",
                code="option-does-not-fit",
            )
        return scores_of(self.release, frequent_support=support, watch=watch)

    def check(self) -> None:
        """Refuse a hierarchy that tells of the records: all of it is published."""
        if self.release.hierarchy.private:
            raise UsageError(
                "the hierarchy was learned from the data, and here all that is above published values "
                "is published with them.",
                "Give one that was made without the data.",
                code="private-hierarchy",
            )

    def prepare(self) -> None:
        release, wish, pair = self.release, self.wish, self.release.pair
        classes = () if pair.classes is None else (pair.classes[0], *pair.classes[1])
        refuse_labels([*self.paths, (*pair.columns, *classes)])
        check_pair_format(wish.format, table=pair.is_table)
        own, stay_remedy = pair.layout or Layout("jsonl"), None
        if pair.is_table:
            own = Layout("table", columns=tuple(LayoutColumn(name, "kept") for name in pair.columns))
            stay_remedy = "Leave --csv-safe out, or change such values."
        elif own.format == "table":
            own = Layout("jsonl")
        self.layout, self.notices = choose_layout(
            release.sides, own, wish.format, csv_safe=wish.csv_safe, stay_remedy=stay_remedy
        )
        self.tell_of_formulas()
        if release.useless is not None:
            self.notices += (release.useless,)

    def file_names(self) -> Sequence[str]:
        from ..io.formats import pair_file_names

        return pair_file_names(self.layout)

    def own_part(self, file_hashes: Mapping[str, str]) -> dict[str, object]:
        from ..release.claims import Facts, claims_of

        release, pair, layout = self.release, self.release.pair, self.layout
        data: dict[str, object] = {
            "format": layout.format,
            "parts": [
                {"file": name, "sha256": file_hashes[name], "records": records}
                for name, records in zip(self.file_names(), release.records, strict=True)
            ],
        }
        if FORMATS[layout.format].is_csv:
            data["delimiter"] = layout.delimiter
        if pair.is_table:
            data["columns"] = list(pair.columns)
        if pair.classes is not None:
            data["classes"] = {"column": pair.classes[0], "values": list(pair.classes[1])}
        return {
            **claims_of(release.guarantee, Facts(classes=pair.classes is not None)).as_dict(),
            "data": data,
            "recoding": RECODED,
        }

    def public_page(self, told: Mapping[str, Any]) -> bytes:
        from ..report.pages.pairs import public_report

        return public_report(told, self.release.published, self.paths)

    def measure(self, watch: Watch) -> None:
        """Count what hiding cost; the caller is told of it, page or not."""
        self.scores = scores_of(self.release, watch=watch)

    def private_page(self, confirmed: Confirmed, watch: Watch) -> bytes:
        from ..report.pages.pairs import private_report

        assert self.scores is not None
        return private_report(
            self.release,
            confirmed.certificate,
            finding=confirmed.verdict,
            notices=confirmed.notices,
            scores=self.scores,
            seconds=seconds_of(self.release, watch),
        )

    def fuller_page(
        self, confirmed: Confirmed, original: Any, sweep: Sweep | None, watch: Watch
    ) -> bytes:
        self._confirm(original)
        refuse_asked({"sweep": sweep}, PAIRS.key)
        self.measure(watch)
        return self.private_page(confirmed, watch)


def check_pair_format(format: str | None, *, table: bool) -> None:
    """Raise `UsageError` for a format that two data sets cannot have."""
    known = ("table",) if table else tuple(name for name in FORMATS if name != "table")
    refuse_format("two tables" if table else "two data sets of sets", format, known)


def scores_of(
    release: PairRelease,
    *,
    frequent_support: Fraction | float | None = None,
    watch: Watch | None = None,
    threads: int | None = None,
) -> PairScores:
    """Return what a release of two data sets cost, told from its original records.

    `frequent_support` is another share that makes a set frequent than the one it was made with.
    """
    from ..measure.pairs import measure_pair

    chosen = method(release.made_by).with_defaults(release.options)
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


EDITION = PairsEdition
