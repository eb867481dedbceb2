"""The edition of a table in buckets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import DataError, ResourceLimit, TimeLimit, UsageError
from ..explain.buckets import RowExplanation, explain_rows
from ..io.folder.ownership import BUCKETS, RULES, private_twin
from ..measure.buckets import BucketScores, measure_buckets
from ..model.layout import Layout
from ..progress import Watch
from ..publish import (
    Confirmed,
    Edition,
    StrPath,
    Writer,
    refuse_format,
    refuse_labels,
    seconds_of,
)
from ..refusals import refuse_asked
from ..release.buckets import BucketRelease, bucket_name, count_name
from ..reopen.others import confirm_table, read_bucket_release, read_public_buckets
from ..risk.buckets import (
    DeFinettiAttack,
    TableRisk,
    assess_table,
    attack_by_learning,
    attack_by_rules,
    attack_sample,
)

if TYPE_CHECKING:
    from ..audit.verdict import BucketFinding
    from ..report.frontier import Sweep

DELIMITER = ","
FORMATS = ("buckets", "joined")
"""Two tables joined by the bucket, or one in which each bucket's values are sorted."""


MEASURED = {
    "random_queries": "queries",
    "query_size": "dimensions",
    "support": "min_support",
    "min_conviction": "min_conviction",
    "max_conditions": "max_conditions",
    "selectivity": "selectivity",
}
"""What may be asked when a table in buckets is measured, and how the measure calls it."""


class BucketsEdition(Edition[BucketRelease]):
    """A table in buckets on its way into a folder."""

    called = "a table in buckets is"
    originals = BUCKETS

    def audit_unwritten(self, *, witnesses: int = 0, threads: int | None = None) -> BucketFinding:  # noqa: ARG002
        from ..audit.bucket_tables import PublishedBuckets
        from ..audit.buckets import audit_buckets

        release = self.release
        tables, data = release.tables, release.data
        rows = list(tables.quasi_rows())
        names = [attribute.name for attribute in data.quasi]
        cells: dict[str, Sequence[str]] = {
            name: [row[place] for row in rows] for place, name in enumerate(names)
        }
        counts = [(int(at) - 1, value, int(count)) for at, value, count in tables.sensitive_rows()]
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

    @classmethod
    def reopened(cls, path: StrPath, original: Any, watch: Watch) -> BucketRelease:
        release = read_bucket_release(path, watch=watch)
        if original is not None:
            confirm_table(release, original)
        return release

    @classmethod
    def risk_in(cls, path: StrPath, asked: dict[str, Any]) -> TableRisk:
        refuse_asked(asked, "buckets", "rules", "watch")
        rules, watch = asked["rules"], asked["watch"]
        if private_twin(Path(path).absolute()).exists():
            return assess_table(read_bucket_release(path, watch=watch), rules, learn=True, watch=watch)
        return assess_table(read_public_buckets(path), rules, learn=False, watch=watch)

    def risk(self, asked: dict[str, Any]) -> TableRisk:
        refuse_asked(asked, "buckets", "rules", "watch")
        return assess_table(self.release, asked["rules"], watch=asked["watch"], learn=True)

    def figures(self, asked: dict[str, Any]) -> BucketScores:
        refuse_asked(asked, "buckets", *MEASURED, "original", "watch")
        self._confirm(asked["original"])
        given = {name: asked[known] for known, name in MEASURED.items() if asked[known] is not None}
        # A number counts as it is written: 0.1 is a tenth.
        how: dict[str, Any] = {
            name: str(one) if isinstance(one, float) else one for name, one in given.items()
        }
        return measure_buckets(self.release.data, self.release.bucketing, watch=asked["watch"], **how)

    def explain(
        self, questions: Sequence[Any], *, original: Any, top: int, watch: Watch
    ) -> tuple[RowExplanation, ...]:
        self._confirm(original)
        return explain_rows(self.release, questions, top=top, watch=watch)

    def _confirm(self, original: Any) -> None:
        if original is not None:
            confirm_table(self.release, original)

    def check(self) -> None:
        """Refuse formats of other kinds, and buckets that somebody else could make again."""
        check_bucket_format(self.wish.format)
        if self.release.seeded:
            raise UsageError(
                "this table was put into buckets with a given source of chance: it is not for release.",
                "Leave `random` out, so that nobody knows the source.",
                code="seeded",
            )

    def prepare(self) -> None:
        data = self.release.data
        self.layout = Layout("joined" if self.wish.format == "joined" else "buckets")
        refuse_labels([*self.paths, (*self._names, data.sensitive), data.values])
        if self.wish.csv_safe:
            _refuse_formulas(self.release)

    @property
    def _names(self) -> list[str]:
        return [attribute.name for attribute in self.release.data.quasi]

    @property
    def _joined(self) -> bool:
        return self.layout.format == "joined"

    def data_files(self) -> Mapping[str, Writer]:
        from ..io.csv_text import write_rows

        tables, sensitive = self.release.tables, self.release.data.sensitive

        def writer(header: Sequence[str], rows: Any) -> Writer:
            return lambda file: write_rows(file, header, rows())

        if self._joined:
            header = (*tables.quasi_header, sensitive)
            return {"data.csv": writer(header, tables.joined_rows)}
        return {
            "quasi.csv": writer(tables.quasi_header, tables.quasi_rows),
            "sensitive.csv": writer(tables.sensitive_header, tables.sensitive_rows),
        }

    @cached_property
    def paths(self) -> Sequence[tuple[str, ...]]:
        from ..release.documents import padded_paths

        paths = [
            tuple(f"{attribute.name}={label}" for label in attribute.hierarchy.path(leaf))
            for attribute in self.release.data.quasi
            for leaf in attribute.hierarchy.labels[: attribute.hierarchy.n_leaves]
        ]
        return padded_paths(sorted(paths))

    def more_files(self) -> Mapping[str, bytes]:
        from ..io.rules import rule_lines

        if not self.release.guarantee.takes_rules:
            return {}
        sensitive = self.release.data.sensitive
        lines = "".join(rule_lines(self.release.rules, attributes=self._names, sensitive=sensitive))
        return {RULES: lines.encode()}

    def own_part(self, file_hashes: Mapping[str, str]) -> dict[str, object]:
        from ..release.claims import Facts, claims_of

        release, data = self.release, self.release.data
        first = next(iter(self.data_files()))
        facts = Facts(
            records_left_out=release.left_out is not None, complete=any(release.complete.told())
        )
        sensitive: dict[str, object] = {"column": data.sensitive}
        if not self._joined:
            sensitive |= {
                "file": "sensitive.csv",
                "sha256": file_hashes["sensitive.csv"],
                "count": count_name(data),
            }
        told: dict[str, object] = {
            **claims_of(release.guarantee, facts).as_dict(),
            "data": {
                "file": first,
                "sha256": file_hashes[first],
                "format": self.layout.format,
                "records": release.records,
                "delimiter": DELIMITER,
                "columns": self._names,
                "bucket": bucket_name(data),
                "sensitive": sensitive,
            },
            "recoding": "buckets",
        }
        if RULES in file_hashes:
            told["rules"] = {
                "file": RULES,
                "sha256": file_hashes[RULES],
                "complete": release.complete.told(),
            }
        return told

    def public_page(self, told: Mapping[str, Any]) -> bytes:
        from ..report.pages.buckets import public_report

        return public_report(told, self.release.tables, self.release.rules)

    def fuller_page(
        self, confirmed: Confirmed, original: Any, sweep: Sweep | None, watch: Watch
    ) -> bytes:
        refuse_asked({"sweep": sweep}, "buckets")
        self._confirm(original)
        self.scores = measure_buckets(self.release.data, self.release.bucketing, watch=watch)
        return self._page(confirmed, attack_by_learning, watch)

    def private_page(self, confirmed: Confirmed, watch: Watch) -> bytes:
        return self._page(confirmed, attack_sample, watch)

    def _page(
        self, confirmed: Confirmed, attack: Callable[..., DeFinettiAttack], watch: Watch
    ) -> bytes:
        from ..report.pages.buckets import private_report

        try:
            learning = attack(self.release.data, self.release.bucketing, watch=watch)
        except TimeLimit:
            raise
        except ResourceLimit:  # too many values to learn about: the report does without
            learning = None
        background = (
            attack_by_rules(
                self.release.data,
                self.release.bucketing,
                self.release.rules,
                self.release.guarantee.l,
                complete=self.release.complete,
            )
            if self.release.guarantee.takes_rules
            else None
        )
        return private_report(
            self.release,
            confirmed.certificate,
            notices=confirmed.notices,
            background=background,
            learning=learning,
            scores=self.scores,
            seconds=seconds_of(self.release, watch),
        )


def check_bucket_format(format: str | None) -> None:
    """Raise `UsageError` for a format that a table in buckets cannot have."""
    refuse_format("a table in buckets", format, FORMATS)


def _refuse_formulas(release: BucketRelease) -> None:
    from ..io.spelling import is_formula

    data = release.data
    labels = [label for attribute in data.quasi for label in attribute.hierarchy.labels]
    names = [attribute.name for attribute in data.quasi]
    if any(is_formula(cell) for cell in (*labels, *names, data.sensitive, *data.values)):
        raise DataError(
            "a spreadsheet would run a cell of this table as a formula.",
            "Leave --csv-safe out, or change such values.",
            code="format-cannot-hold",
        )


EDITION = BucketsEdition
