"""Risk before and after, side by side. Private: it tells about the original records."""

from __future__ import annotations

from dataclasses import dataclass

from .assessment import Assessment
from .curve import heads_in_words
from .estimate import Estimate, percent
from .tables import as_html, as_text

COLUMNS = (
    ("worst", "worst <{k}"),
    ("average", "average <{k}"),
    ("worst_unique", "worst unique"),
    ("average_unique", "average unique"),
)


@dataclass(frozen=True)
class RiskComparison:
    """The risk of the original records and of what is published of them; ``print`` it as a table."""

    before: Assessment
    after: Assessment

    def as_dict(self) -> dict[str, object]:
        """Return plain values for ``--json``; those before are personal data."""
        return {"before": self.before.as_dict(), "after": self.after.as_dict()}

    def _rows(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = [
            ("known", *(title.format(k=self.after.k) for _, title in COLUMNS))
        ]
        most = max(len(self.before.curve.points), len(self.after.curve.points))
        for known in range(1, most + 1):
            before, after = self.before.curve.at(known), self.after.curve.at(known)
            cells = (_cell(getattr(before, name), getattr(after, name)) for name, _ in COLUMNS)
            rows.append((str(known), *cells))
        one, other = self.before.whole, self.after.whole
        for reading, told in (("held", "all items"), ("equal", "all, no others")):
            below, alone = (
                _cell(getattr(one, reading + suffix), getattr(other, reading + suffix))
                for suffix in ("", "_unique")
            )
            # Whoever knows the whole record has no choice of items: both readings are the same.
            rows.append((told, below, below, alone, alone))
        return rows

    def notes(self) -> tuple[str, ...]:
        """Return what to know about the numbers, in words."""
        if all(side.curve.exact and side.whole.held.exact for side in (self.before, self.after)):
            return ()
        return ("~: estimated from drawn records.",)

    def __str__(self) -> str:
        head = f"Share of records that fewer than {self.after.k} match, or only they themselves"
        counts = f"before ({self.before.records:,} records) -> after ({self.after.records:,})"
        return (
            f"{head}, {counts}\n{heads_in_words(self.after.k)}\n{as_text(self._rows(), self.notes())}"
        )

    def _repr_html_(self) -> str:
        return as_html(self._rows(), self.notes())


def _cell(before: Estimate, after: Estimate) -> str:
    return f"{_short(before)} -> {_short(after)}"


def _short(share: Estimate) -> str:
    return f"{'' if share.exact else '~'}{percent(share.value)}"
