"""What the audit says of two data sets: is a pattern left, and how high does growth go."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from html import escape

from ..model.guarantees import HiddenPatterns


@dataclass(frozen=True)
class PatternWitness:
    """A closed set that is too frequent in one data set: its labels, that data set (1 or 2), counts."""

    labels: tuple[str, ...]
    more_frequent_in: int
    count: int
    count_elsewhere: int

    def as_dict(self) -> dict[str, object]:
        """Return plain values."""
        return {
            "labels": list(self.labels),
            "more_frequent_in": self.more_frequent_in,
            "count": self.count,
            "count_elsewhere": self.count_elsewhere,
        }

    def __str__(self) -> str:
        return (
            f"{{{', '.join(self.labels)}}} in {self.count:,} of data set {self.more_frequent_in}, "
            f"{self.count_elsewhere:,} of the other"
        )


@dataclass(frozen=True)
class PairFinding:
    """The answer about two data sets.

    Attributes
    ----------
    holds, guarantee, mode
        Whether the promise is kept, which one, and that sets were counted one by one ("exact").
    records
        How many records either data set has, empty ones included.
    checked
        How many closed sets have the minimum support in one of the data sets.
    highest_growth
        The largest finite growth of a closed set that has the minimum support where it is more
        frequent; where the promise holds no other set has a larger one. None without such a set.
    patterns
        How many closed sets break the promise; at least so many where not `counted_all`.
    patterns_every_level
        The same where a value also counts for all values above it, which says more than is promised
        unless the guarantee says so. None where that is too much work.
    counted_all
        False where a work limit ended the count after a pattern had been found.
    witnesses
        Sets that break the promise, if asked for.
    """

    holds: bool
    guarantee: HiddenPatterns
    records: tuple[int, int]
    checked: int
    highest_growth: Fraction | None
    patterns: int
    patterns_every_level: int | None
    counted_all: bool = True
    witnesses: tuple[PatternWitness, ...] = ()
    mode: str = "exact"

    def __bool__(self) -> bool:
        return self.holds

    def as_dict(self) -> dict[str, object]:
        """Return plain values for ``--json``."""
        growth = self.highest_growth
        return {
            "holds": self.holds,
            "guarantee": self.guarantee.as_dict(),
            "mode": self.mode,
            "records": list(self.records),
            "checked": self.checked,
            "highest_growth": None if growth is None else [growth.numerator, growth.denominator],
            "patterns": self.patterns,
            "patterns_every_level": self.patterns_every_level,
            "counted_all": self.counted_all,
            "witnesses": [witness.as_dict() for witness in self.witnesses],
        }

    def lines(self) -> list[tuple[str, str]]:
        """Return the answer as names and texts."""
        support = self.guarantee.min_support
        counted = (
            f"{support} of the records" if isinstance(support, Fraction) else f"{support:,} records"
        )
        at_least = "" if self.counted_all else "at least "
        lines = [
            ("minimum support", counted),
            ("closed sets counted", f"{at_least}{self.checked:,}"),
            ("highest finite growth", _rounded_down(self.highest_growth)),
        ]
        if self.patterns:
            lines.append(("closed sets that break it", f"{at_least}{self.patterns:,}"))
        if not self.guarantee.every_level:
            every = self.patterns_every_level
            told = "not counted, too much work" if every is None else f"{every:,}"
            lines.append(("patterns at every level, of which nothing is promised", told))
        return lines

    def _head(self) -> str:
        answer = "HOLDS" if self.holds else "DOES NOT HOLD"
        first, second = self.records
        return f"{answer}: {self.guarantee} ({self.mode}), {first:,} and {second:,} records"

    def __str__(self) -> str:
        lines = [self._head(), *(f"  {name}: {text}" for name, text in self.lines())]
        return "\n".join([*lines, *(f"  witness: {witness}" for witness in self.witnesses)])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in self.lines()
        )
        shown = "".join(f"<li>{escape(str(witness))}</li>" for witness in self.witnesses)
        return f"<p><strong>{escape(self._head())}</strong></p><table>{rows}</table>" + (
            f"<ul>{shown}</ul>" if shown else ""
        )


def _rounded_down(growth: Fraction | None) -> str:
    """Return a growth with two digits, never above what it is; a short fraction as it is."""
    if growth is None:
        return "none"
    if growth.denominator == 1:
        return str(growth)
    hundredths = growth.numerator * 100 // growth.denominator
    return f"{hundredths // 100}.{hundredths % 100:02}"
