"""How losses are spoken of, in comparisons and in sweeps alike."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..model.costs import WEIGHTED, cost_title

DONE, CUT, LATE, REFUSED, NONE = "done", "cut short", "time limit", "refused", "no solution"
"""How a try ended; `CUT` is by the time limit, with a valid result."""


@dataclass(frozen=True)
class Terms:
    """What one loss is called, and what goes with it.

    `ends` says what its numbers mean; `items` are what is counted beside the records, `parts` what may
    be left out, each of them a `part`. `counts_left_out` tells whether that counts as lost.
    """

    title: str
    ends: str = "0 % is nothing, 100 % everything"
    items: str = "items"
    parts: str = "occurrences"
    part: str = "item"
    counts_left_out: bool = True

    def lost_by(self, method: str) -> str:
        """Return what a sweep tells, such as "NCP lost by optimal"."""
        return f"{self.title} lost by {method}" if self.counts_left_out else f"{self.title}, {method}"

    def left_out(self, method: str) -> str:
        """Return what a reader of losses should know where something was left out."""
        if self.counts_left_out:
            return f"{method} may leave rare items out; what is left out counts as lost."
        return f"{method} may leave {self.parts} out; the losses are those of the others."

    def told_size(self, records: int, items: int, domain: str) -> str:
        """Return how large the data are, and which items their losses count if not those.

        >>> terms_of("ncp").told_size(1000, 3, "hierarchy")
        '1,000 records, 3 items; the losses count all of the hierarchy'
        """
        counts = "; the losses count all of the hierarchy" if domain == "hierarchy" else ""
        return f"{records:,} records, {items:,} {self.items}{counts}"


QUERY_ERROR, RAISED = "query_error", "raised"
_OTHERS = {
    QUERY_ERROR: Terms(
        "query error",
        "0 %: every count that is asked for is answered exactly",
        "sensitive values",
        "rows",
        "row",
        counts_left_out=False,
    ),
    RAISED: Terms(
        "values raised",
        "0 %: all values are published as they are, 100 %: none",
        "different values",
        "values",
        "value",
        counts_left_out=False,
    ),
}


def terms_of(cost: str, *, weighted: bool = False) -> Terms:
    """Return the terms of a loss.

    >>> terms_of("lm", weighted=True).title, terms_of("raised").lost_by("hide-patterns")
    ('weighted LM', 'values raised, hide-patterns')
    """
    return _OTHERS.get(cost) or Terms(cost_title(f"{WEIGHTED * weighted}{cost}"))


def exactly(number: Fraction | int) -> str:
    """Return a number in digits where these say the same, else as a ratio; the whole is no count.

    >>> exactly(5), exactly(Fraction(4, 5)), exactly(Fraction(1, 3)), exactly(Fraction(1))
    ('5', '0.8', '1/3', '100%')
    """
    if isinstance(number, Fraction) and number == 1:
        return "100%"
    digits = str(float(number)) if isinstance(number, Fraction) else str(number)
    return digits.removesuffix(".0") if Fraction(digits) == number else str(number)


def as_csv(rows: Sequence[Mapping[str, object]], heads: Sequence[str]) -> str:
    """Return mappings as CSV text under a header of all their names; `heads` where there is none."""
    text = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(text, names or heads, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
