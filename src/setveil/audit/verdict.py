"""What the audit says: yes or no, the evidence, and witnesses where asked for.

All answers read alike. What was found differs by what was published: a `Verdict` is about records as
sets, a `BucketFinding` about a table in buckets, a `PairFinding` about two data sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from html import escape
from typing import Any, ClassVar

from ..model.guarantees import AnyGuarantee, BucketGuarantee, Guarantee, HiddenPatterns
from .promises import traits_of


class Plain:
    """What can be told as plain values, a fraction as two numbers."""

    _told: ClassVar[tuple[str, ...]] = ()
    """What is told, in this order; all fields if empty."""

    def as_dict(self) -> dict[str, object]:
        """Return plain values for ``--json``."""
        described: Any = self  # a dataclass, which fields() wants to see
        told = self._told or [field.name for field in fields(described)]
        return {name: _plain(getattr(self, name)) for name in told}


def _plain(value: Any) -> object:
    if isinstance(value, Fraction):
        return [value.numerator, value.denominator]
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value.as_dict() if hasattr(value, "as_dict") else value


@dataclass(frozen=True)
class SizeFinding(Plain):
    """What was found among the combinations of one size."""

    size: int
    """How many labels a combination has; for k-anonymity of whole records, the length of a row."""
    checked: int
    """How many distinct occurring combinations of this size were counted. Those whose support is known
    without counting, because it equals that of a smaller one, are not among them."""
    achieved_k: int | None
    """The largest k for which the promise holds up to this size: the smallest support of all sizes so
    far (for l^m-diversity the largest l). None where nothing occurs."""
    violations: int
    """For k^m: the *minimal* rare combinations of this size, those with no rare part. For k-anonymity:
    the distinct rows below k. For l^m-diversity: the counted combinations that are linked to a
    sensitive label too often."""
    exact: bool = True
    """False where a work limit cut the search short: then `achieved_k` is only an upper bound and
    `violations` a lower one. The yes or no stays exact."""


@dataclass(frozen=True)
class Witness(Plain):
    """A combination that breaks the promise: labels present, labels absent, records that fit.

    For l^m-diversity `present` are the known labels, `sensitive` is the label they lead to, and
    `support` counts the records with both.
    """

    present: tuple[str, ...]
    absent: tuple[str, ...]
    support: int
    sensitive: str | None = None

    def as_dict(self) -> dict[str, object]:
        plain = super().as_dict()
        if self.sensitive is None:
            del plain["sensitive"]
        return plain

    def __str__(self) -> str:
        parts = [*self.present, *(f"not {label}" for label in self.absent)]
        link = "" if self.sensitive is None else f" -> {self.sensitive}"
        return f"{{{', '.join(parts)}}}{link} in {self.support}"


@dataclass(frozen=True)
class PatternWitness(Plain):
    """A closed set that is too frequent in one data set: its labels, that data set (1 or 2), counts."""

    labels: tuple[str, ...]
    more_frequent_in: int
    count: int
    count_elsewhere: int

    def __str__(self) -> str:
        return (
            f"{{{', '.join(self.labels)}}} in {self.count:,} of data set {self.more_frequent_in}, "
            f"{self.count_elsewhere:,} of the other"
        )


class Answer(Plain):
    """The audit's answer, about whatever was published: it is true where the promise holds."""

    holds: bool
    guarantee: AnyGuarantee
    witnesses: tuple[Witness, ...] | tuple[PatternWitness, ...] = ()

    def __bool__(self) -> bool:
        return self.holds

    def lines(self) -> list[tuple[str, str]]:
        """Return the answer as names and texts."""
        raise NotImplementedError

    def _about(self) -> str:
        """Return what was judged beside the promise: the records."""
        raise NotImplementedError

    def _head(self) -> str:
        return f"{'HOLDS' if self.holds else 'DOES NOT HOLD'}: {self.guarantee}{self._about()}"

    def _table(self) -> list[str]:
        return []

    def _html_table(self) -> str:
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in self.lines()
        )
        return f"<table>{rows}</table>"

    def _remarks(self) -> list[str]:
        return [f"witness: {witness}" for witness in self.witnesses]

    def _html_remarks(self) -> list[str]:
        return [str(witness) for witness in self.witnesses]

    def __str__(self) -> str:
        told = [*(f"{name}: {text}" for name, text in self.lines()), *self._table(), *self._remarks()]
        return "\n".join([self._head(), *(f"  {line}" for line in told)])

    def _repr_html_(self) -> str:
        listed = "".join(f"<li>{escape(line)}</li>" for line in self._html_remarks())
        page = f"<p><strong>{escape(self._head())}</strong></p>{self._html_table()}"
        return page + (f"<ul>{listed}</ul>" if listed else "")


@dataclass(frozen=True)
class Verdict(Answer):
    """The audit's answer.

    Attributes
    ----------
    holds
        Whether the promise is kept by the published rows.
    guarantee, mode
        What was checked, and under which reading of support ("exact" or "cover").
    records
        The number of published records, empty ones included.
    smallest_support
        The smallest support of any combination covered by the promise. None for l^m-diversity.
    by_size
        One finding for each size.
    witnesses
        Violations, if asked for. They may point at single persons: keep them private.
    notes
        Remarks in words.
    worst_ratio
        For l^m-diversity the largest share of a sensitive label in the records that fit a
        combination, as an exact fraction; None otherwise or where nothing sensitive is linked.

    >>> import setveil as sv
    >>> from setveil.io.demo import groceries
    >>> baskets, products = groceries()
    >>> release = sv.anonymize(baskets, sv.KmAnonymity(k=5, m=2), hierarchy=products)
    >>> verdict = sv.audit(release)
    >>> verdict.holds, verdict.smallest_support >= 5
    (True, True)
    """

    _told = (
        *("holds", "guarantee", "mode", "records", "smallest_support", "worst_ratio", "violations"),
        *("by_size", "witnesses", "notes"),
    )

    holds: bool
    guarantee: Guarantee
    mode: str
    records: int
    smallest_support: int | None
    by_size: tuple[SizeFinding, ...]
    witnesses: tuple[Witness, ...] = ()
    notes: tuple[str, ...] = ()
    worst_ratio: Fraction | None = None

    def leaving_out(self, columns: Sequence[str]) -> Verdict:
        """Return the verdict with a note on columns that were not looked at, where there are some."""
        if not columns:
            return self
        names = ", ".join(columns)
        note = (
            f"not covered by the promise and not checked: the columns {names}, published as they are."
        )
        return replace(self, notes=(*self.notes, note))

    @property
    def violations(self) -> int:
        """All violations, over all sizes."""
        return sum(finding.violations for finding in self.by_size)

    def lines(self) -> list[tuple[str, str]]:
        """Return the answer as names and texts."""
        lines = []
        if self.smallest_support is not None:
            lines.append(("smallest support", f"{self.smallest_support:,}"))
        if self.worst_ratio is not None:
            lines.append(("worst share of a sensitive label", str(self.worst_ratio)))
        return lines

    def _about(self) -> str:
        return f" ({self.mode} support), {_records(self.records)}"

    def _rows(self) -> list[tuple[str, ...]]:
        traits = traits_of(self.guarantee)
        rows: list[tuple[str, ...]] = [("size", "checked", traits.achieved, traits.broken)]
        for finding in self.by_size:
            achieved = "-" if finding.achieved_k is None else f"{finding.achieved_k:,}"
            at_most, at_least = ("", "") if finding.exact else ("<=", ">=")
            counts = at_most + achieved, f"{at_least}{finding.violations:,}"
            rows.append((str(finding.size), f"{finding.checked:,}", *counts))
        return rows

    def _table(self) -> list[str]:
        if not self.by_size:
            return []
        rows = self._rows()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return ["  ".join(map(str.rjust, row, widths)) for row in rows]

    def _html_table(self) -> str:
        head, *body = (
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self._rows()
        )
        return f"<table><thead>{head}</thead><tbody>{''.join(body)}</tbody></table>"

    def _remarks(self) -> list[str]:
        minimal = traits_of(self.guarantee).minimal and self.violations
        footnotes = ["new: not counting sets that contain a smaller violating set"] if minimal else []
        return [*footnotes, *super()._remarks(), *(f"note: {note}" for note in self.notes)]

    def _html_remarks(self) -> list[str]:
        shares = [f"{name}: {text}" for name, text in self.lines() if name.startswith("worst")]
        return [*shares, *self._remarks()]


@dataclass(frozen=True)
class BucketFinding(Answer):
    """The answer about a table in buckets.

    >>> import setveil as sv
    >>> people = {"sex": ["F", "M", "F", "M"], "ill": ["flu", "cold", "cold", "flu"]}
    >>> table = sv.Microdata.from_columns(people, sensitive="ill")
    >>> release = sv.anonymize(table, sv.LDiversity(l=2))
    >>> finding = sv.audit(release)
    >>> finding.holds, finding.buckets, finding.smallest_bucket
    (True, 2, 2)
    """

    holds: bool
    guarantee: BucketGuarantee
    records: int
    buckets: int
    smallest_bucket: int
    worst_share: Fraction | None
    """The largest share of a sensitive value in a bucket, of the rows there that have one; of
    `(missing)` its share of all. None without rows."""
    fewest_possible: int | None
    """The fewest values that are possible for a row to whoever knows the rules; for l-diversity, the
    fewest different values in a bucket. None without rows."""
    violations: int
    """How many buckets (l-diversity) or rows (matching l-diversity) break the promise."""
    fewest_by_missing_rules: int | None = None
    """The fewest values that are possible for a row to whoever also concludes from a rule that is
    missing that somebody breaks it; None where it is not told from where on rules are complete."""

    def lines(self) -> list[tuple[str, str]]:
        lines = [
            ("buckets", f"{self.buckets:,}, the smallest of {self.smallest_bucket:,} records"),
            ("worst share of a sensitive value", str(self.worst_share)),
            ("fewest possible values", str(self.fewest_possible)),
        ]
        if self.fewest_by_missing_rules is not None:
            told = str(self.fewest_by_missing_rules)
            lines.append(("fewest possible values where a rule is missing", told))
        if self.violations:
            broken = f"{traits_of(self.guarantee).broken} that break it"
            lines.append((broken, f"{self.violations:,}"))
        return lines

    def _about(self) -> str:
        return f", {_records(self.records)}"


@dataclass(frozen=True)
class PairFinding(Answer):
    """The answer about two data sets, in each of which sets were counted one by one ("exact").

    >>> import setveil as sv
    >>> tree = sv.Hierarchy.from_parents({"ale": "drink", "tea": "drink", "drink": None})
    >>> before = sv.Transactions.from_rows([["ale"], ["ale"], ["tea"]])
    >>> after = sv.Transactions.from_rows([["tea"], ["tea"], ["ale"]])
    >>> pair = sv.PatternPair.of_sets(before, after, tree)
    >>> release = sv.anonymize(pair, sv.HiddenPatterns(growth=2))
    >>> finding = sv.audit(release)
    >>> finding.holds, finding.records, finding.patterns
    (True, (3, 3), 0)
    """

    _told = (
        *("holds", "guarantee", "mode", "records", "checked", "highest_growth", "patterns"),
        *("patterns_every_level", "counted_all", "witnesses"),
    )

    holds: bool
    guarantee: HiddenPatterns
    records: tuple[int, int]
    """How many records either data set has, empty ones included."""
    checked: int
    """How many closed sets have the minimum support in one of the data sets."""
    highest_growth: Fraction | None
    """The largest finite growth of a closed set that has the minimum support where it is more frequent;
    where the promise holds no other set has a larger one. None without such a set."""
    patterns: int
    """How many closed sets break the promise; at least so many where not `counted_all`."""
    patterns_every_level: int | None
    """The same where a value also counts for all values above it, which says more than is promised
    unless the guarantee says so. None where that is too much work."""
    counted_all: bool = True
    """False where a work limit ended the count after a pattern had been found."""
    witnesses: tuple[PatternWitness, ...] = ()
    mode: str = "exact"

    def lines(self) -> list[tuple[str, str]]:
        support = self.guarantee.min_support
        is_share = isinstance(support, Fraction)
        at_least = "" if self.counted_all else "at least "
        lines = [
            ("minimum support", f"{support} of the records" if is_share else f"{support:,} records"),
            ("closed sets counted", f"{at_least}{self.checked:,}"),
            ("highest finite growth", _rounded_down(self.highest_growth)),
        ]
        if self.patterns:
            broken = f"{traits_of(self.guarantee).broken} that break it"
            lines.append((broken, f"{at_least}{self.patterns:,}"))
        if not self.guarantee.every_level:
            every = self.patterns_every_level
            told = "not counted, too much work" if every is None else f"{every:,}"
            lines.append(("patterns at every level, of which nothing is promised", told))
        return lines

    def _about(self) -> str:
        first, second = self.records
        return f" ({self.mode}), {first:,} and {second:,} records"


def _records(number: int) -> str:
    return f"{number:,} record{'' if number == 1 else 's'}"


def _rounded_down(growth: Fraction | None) -> str:
    """Return a growth with two digits, never above what it is; a short fraction as it is."""
    if growth is None:
        return "none"
    if growth.denominator == 1:
        return str(growth)
    hundredths = growth.numerator * 100 // growth.denominator
    return f"{hundredths // 100}.{hundredths % 100:02}"
