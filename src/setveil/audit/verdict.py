"""What the audit says: yes or no, the evidence by size, and witnesses where asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from html import escape

from ..model.guarantees import Guarantee, KmAnonymity, LmDiversity


@dataclass(frozen=True)
class SizeFinding:
    """What was found among the combinations of one size.

    Attributes
    ----------
    size
        How many labels a combination has; for k-anonymity of whole records, the length of a row.
    checked
        How many distinct occurring combinations of this size were counted. Those whose support
        is known without counting, because it equals that of a smaller one, are not among them.
    achieved_k
        The largest k for which the promise holds up to this size: the smallest support of all
        sizes so far (for l^m-diversity the largest l). None where nothing occurs.
    violations
        For k^m: the *minimal* rare combinations of this size, those with no rare part. For
        k-anonymity: the distinct rows below k. For l^m-diversity: the counted combinations that
        are linked to a sensitive label too often.
    exact
        False where a work limit cut the search short: then `achieved_k` is only an upper bound and
        `violations` a lower one. The yes or no stays exact.
    """

    size: int
    checked: int
    achieved_k: int | None
    violations: int
    exact: bool = True

    def as_dict(self) -> dict[str, object]:
        """Return plain values."""
        return {
            "size": self.size,
            "checked": self.checked,
            "achieved_k": self.achieved_k,
            "violations": self.violations,
            "exact": self.exact,
        }


@dataclass(frozen=True)
class Witness:
    """A combination that breaks the promise: labels present, labels absent, records that fit.

    For l^m-diversity `present` are the known labels, `sensitive` is the label they lead to, and
    `support` counts the records with both.
    """

    present: tuple[str, ...]
    absent: tuple[str, ...]
    support: int
    sensitive: str | None = None

    def as_dict(self) -> dict[str, object]:
        """Return plain values."""
        plain: dict[str, object] = {
            "present": list(self.present),
            "absent": list(self.absent),
            "support": self.support,
        }
        if self.sensitive is not None:
            plain["sensitive"] = self.sensitive
        return plain

    def __str__(self) -> str:
        parts = [*self.present, *(f"not {label}" for label in self.absent)]
        link = "" if self.sensitive is None else f" -> {self.sensitive}"
        return f"{{{', '.join(parts)}}}{link} in {self.support}"


@dataclass(frozen=True)
class Verdict:
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
    """

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

    def __bool__(self) -> bool:
        return self.holds

    @property
    def violations(self) -> int:
        """All violations, over all sizes."""
        return sum(finding.violations for finding in self.by_size)

    def as_dict(self) -> dict[str, object]:
        """Return plain values for ``--json``."""
        ratio = self.worst_ratio
        return {
            "holds": self.holds,
            "guarantee": self.guarantee.as_dict(),
            "mode": self.mode,
            "records": self.records,
            "smallest_support": self.smallest_support,
            "worst_ratio": None if ratio is None else [ratio.numerator, ratio.denominator],
            "violations": self.violations,
            "by_size": [finding.as_dict() for finding in self.by_size],
            "witnesses": [witness.as_dict() for witness in self.witnesses],
            "notes": list(self.notes),
        }

    def _head(self) -> str:
        noun = "record" if self.records == 1 else "records"
        answer = "HOLDS" if self.holds else "DOES NOT HOLD"
        return f"{answer}: {self.guarantee} ({self.mode} support), {self.records:,} {noun}"

    @property
    def _minimal(self) -> bool:
        """Whether a violation counts only where no part of it is one."""
        return isinstance(self.guarantee, KmAnonymity)

    def _footnotes(self) -> list[str]:
        if not self._minimal or not self.violations:
            return []
        return ["new: not counting sets that contain a smaller violating set"]

    def _rows(self) -> list[tuple[str, ...]]:
        achieved_head = "largest l" if isinstance(self.guarantee, LmDiversity) else "rarest in"
        violations_head = "new violations" if self._minimal else "violations"
        rows: list[tuple[str, ...]] = [("size", "checked", achieved_head, violations_head)]
        for finding in self.by_size:
            achieved = "-" if finding.achieved_k is None else f"{finding.achieved_k:,}"
            at_most, at_least = ("", "") if finding.exact else ("<=", ">=")
            rows.append(
                (
                    str(finding.size),
                    f"{finding.checked:,}",
                    at_most + achieved,
                    at_least + f"{finding.violations:,}",
                )
            )
        return rows

    def __str__(self) -> str:
        lines = [self._head()]
        if self.smallest_support is not None:
            lines.append(f"  smallest support: {self.smallest_support:,}")
        if self.worst_ratio is not None:
            lines.append(f"  worst share of a sensitive label: {self.worst_ratio}")
        rows = self._rows()
        if len(rows) > 1:
            widths = [max(len(row[column]) for row in rows) for column in range(4)]
            lines += [
                "  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
                for row in rows
            ]
        lines += [f"  {text}" for text in self._footnotes()]
        lines += [f"  witness: {witness}" for witness in self.witnesses]
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head, *body = (
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self._rows()
        )
        extra = self._footnotes()
        extra += [f"witness: {witness}" for witness in self.witnesses]
        extra += [f"note: {note}" for note in self.notes]
        if self.worst_ratio is not None:
            extra.insert(0, f"worst share of a sensitive label: {self.worst_ratio}")
        listed = "".join(f"<li>{escape(line)}</li>" for line in extra)
        return (
            f"<p><strong>{escape(self._head())}</strong></p>"
            f"<table><thead>{head}</thead><tbody>{''.join(body)}</tbody></table>"
            + (f"<ul>{listed}</ul>" if listed else "")
        )
