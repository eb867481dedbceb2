"""What mining emerging patterns finds: each pattern with its counts, and the list of them.

There can be millions, so the list holds arrays and makes a pattern when it is asked for one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from html import escape
from itertools import islice
from typing import overload

import numpy as np
from numpy.typing import NDArray

from ..io.csv_text import quoted
from .itemsets import Itemsets

SHOWN = 20
"""How many patterns a printed list shows."""
HEADER = "more_frequent_in,growth,share,share_elsewhere,count,count_elsewhere,items,pattern"


@dataclass(frozen=True)
class EmergingPattern:
    """A set of items that is far more frequent in one data set than in the other.

    `count` of the `records` of the data set named `more_frequent_in` hold it, and `count_elsewhere` of
    the `records_elsewhere` of the other.

    >>> pattern = EmergingPattern(("MSE", "manager"), "married", 3, 4, 1, 5)
    >>> pattern.growth, pattern.is_jumping, str(pattern)
    (Fraction(15, 4), False, 'MSE, manager: 3.75 times in married (75.0% against 20.0%)')
    """

    items: tuple[str, ...]
    more_frequent_in: str
    count: int
    records: int
    count_elsewhere: int
    records_elsewhere: int

    @property
    def share(self) -> Fraction:
        """Its support where it is more frequent."""
        return Fraction(self.count, self.records)

    @property
    def share_elsewhere(self) -> Fraction:
        """Its support in the other data set."""
        return Fraction(self.count_elsewhere, self.records_elsewhere)

    @property
    def is_jumping(self) -> bool:
        """Whether no record of the other data set holds it."""
        return self.count_elsewhere == 0

    @property
    def growth(self) -> Fraction | None:
        """How many times as frequent it is; None where that is infinite."""
        return None if self.is_jumping else self.share / self.share_elsewhere

    @property
    def told_growth(self) -> str:
        """The growth as text: two decimals, or ``infinite``."""
        return "infinite" if self.growth is None else f"{float(self.growth):,.2f}"

    def __str__(self) -> str:
        times = "only" if self.is_jumping else f"{self.told_growth} times"
        return (
            f"{', '.join(self.items)}: {times} in {self.more_frequent_in} "
            f"({float(self.share):.1%} against {float(self.share_elsewhere):.1%})"
        )

    def as_dict(self) -> dict[str, object]:
        """Return the pattern as plain values; `growth_exact` is a fraction as text."""
        growth = self.growth
        return {
            "pattern": list(self.items),
            "more_frequent_in": self.more_frequent_in,
            "jumping": self.is_jumping,
            "growth": None if growth is None else float(growth),
            "growth_exact": "infinite" if growth is None else str(growth),
            "share": float(self.share),
            "share_elsewhere": float(self.share_elsewhere),
            "count": self.count,
            "count_elsewhere": self.count_elsewhere,
        }


@dataclass(frozen=True, eq=False, repr=False)
class EmergingPatterns(Sequence[EmergingPattern]):
    """The emerging patterns of two data sets, the fastest growing first; ``print`` it for a summary.

    Jumping patterns come first; then by growth, by support, by the data set (the second before the
    first), by size and by labels. `sets` holds the items and how many records have them where they are
    more frequent, which is the data set of that number in `side_by_pattern`.
    """

    labels: tuple[str, ...]
    names: tuple[str, str]
    records: tuple[int, int]
    sets: Itemsets
    count_elsewhere: NDArray[np.int64]
    side_by_pattern: NDArray[np.int64]
    options: Mapping[str, object] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.sets)

    def __iter__(self) -> Iterator[EmergingPattern]:
        counts = (self.sets.support, self.count_elsewhere, self.side_by_pattern)
        for items, count, elsewhere, side in zip(self.sets, *(c.tolist() for c in counts), strict=True):
            yield self._made(items, count, elsewhere, side)

    @overload
    def __getitem__(self, place: int) -> EmergingPattern: ...
    @overload
    def __getitem__(self, place: slice) -> EmergingPatterns: ...
    def __getitem__(self, place: int | slice) -> EmergingPattern | EmergingPatterns:
        chosen = np.arange(len(self))[place]
        if isinstance(place, slice):
            return self._taken(chosen)
        return next(iter(self._taken(np.array([chosen]))))

    @property
    def jumping(self) -> EmergingPatterns:
        """Those that one of the data sets does not hold at all."""
        return self._taken(np.flatnonzero(self.count_elsewhere == 0))

    def more_frequent_in(self, name: str) -> EmergingPatterns:
        """Return those that are more frequent in the data set of this name; KeyError if none is."""
        if name not in self.names:
            raise KeyError(f"no data set {name!r}; there are {self.names[0]!r} and {self.names[1]!r}")
        return self._taken(np.flatnonzero(self.side_by_pattern == self.names.index(name)))

    def as_dicts(self) -> list[dict[str, object]]:
        """Return the patterns as plain values, in order."""
        return [pattern.as_dict() for pattern in self]

    def as_dict(self, *, top: int | None = None) -> dict[str, object]:
        """Return everything as plain values, of the patterns the first `top`; all by default."""
        return {
            "data_sets": [
                {"name": name, "records": records, "patterns": number}
                for name, records, number in zip(self.names, self.records, self._numbers(), strict=True)
            ],
            "options": {
                name: str(value) if isinstance(value, Fraction) else value
                for name, value in self.options.items()
            },
            "found": len(self),
            "jumping": int((self.count_elsewhere == 0).sum()),
            "patterns": self[:top].as_dicts(),
        }

    def to_csv(self) -> str:
        """Return the patterns as CSV; the labels of a pattern are one cell, a line of CSV itself."""
        lines = [HEADER]
        for pattern in self:
            growth = "inf" if pattern.growth is None else f"{float(pattern.growth):.9g}"
            cells = (
                quoted(pattern.more_frequent_in, ","),
                growth,
                f"{float(pattern.share):.9g}",
                f"{float(pattern.share_elsewhere):.9g}",
                str(pattern.count),
                str(pattern.count_elsewhere),
                str(len(pattern.items)),
                quoted(",".join(quoted(label, ",") for label in pattern.items), ","),
            )
            lines.append(",".join(cells))
        return "\n".join(lines) + "\n"

    def summary(self) -> str:
        """Return one sentence about what was found."""
        word = "minimal " if self.options.get("minimal") else ""
        told = f"{len(self):,} {word}emerging pattern{'' if len(self) == 1 else 's'}"
        parts = [
            f"{number:,} more frequent in {name} ({records:,} records)"
            for name, records, number in zip(self.names, self.records, self._numbers(), strict=True)
        ]
        where = ", ".join(parts if self.options.get("both_ways", True) else parts[1:])
        return f"{told}: {where}; {int((self.count_elsewhere == 0).sum()):,} jumping."

    def __str__(self) -> str:
        lines = [self.summary(), *(f"  {pattern}" for pattern in islice(self, SHOWN))]
        if len(self) > SHOWN:
            lines.append(f"  … and {len(self) - SHOWN:,} more")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"EmergingPatterns({len(self):,} patterns, {self.names[0]!r} and {self.names[1]!r})"

    def _repr_html_(self) -> str:
        heads = ("pattern", "more frequent in", "growth", "share", "share elsewhere")
        rows = "".join(
            f"<tr><td>{escape(', '.join(pattern.items))}</td>"
            f"<td>{escape(pattern.more_frequent_in)}</td><td>{pattern.told_growth}</td>"
            f"<td>{float(pattern.share):.1%}</td><td>{float(pattern.share_elsewhere):.1%}</td></tr>"
            for pattern in islice(self, SHOWN)
        )
        head = "".join(f"<th>{name}</th>" for name in heads)
        return f"<p>{escape(self.summary())}</p><table><tr>{head}</tr>{rows}</table>"

    def _numbers(self) -> list[int]:
        return np.bincount(self.side_by_pattern, minlength=2).tolist()  # type: ignore[no-any-return]

    def _made(self, items: tuple[int, ...], count: int, elsewhere: int, side: int) -> EmergingPattern:
        return EmergingPattern(
            tuple(self.labels[item] for item in items),
            self.names[side],
            count,
            self.records[side],
            elsewhere,
            self.records[1 - side],
        )

    def _taken(self, places: NDArray[np.int64]) -> EmergingPatterns:
        return EmergingPatterns(
            self.labels,
            self.names,
            self.records,
            self.sets.take(places),
            self.count_elsewhere[places],
            self.side_by_pattern[places],
            self.options,
        )
