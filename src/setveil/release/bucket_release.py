"""A release of a table in buckets: what is published, what it promises, and how it was made.

Everything here belongs to the data holder; `release.bucket_documents` decides what may leave the house.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape

import numpy as np

from ..model.guarantees import BucketGuarantee, MatchingDiversity
from ..model.microdata import Microdata
from ..model.rules import NOT_KNOWN, Completeness, NegativeRule
from .buckets import Bucketing, BucketTables, publish_buckets
from .release import Seal
from .usefulness import is_useless

LEAST_FOR_TWO = 4
"""A table with fewer than this many times l records may well need all of them for one bucket."""


@dataclass(frozen=True, eq=False)
class BucketRelease:
    """The result of anonymizing a table with a sensitive column; ``print`` it for a summary.

    `rules` is the background knowledge that the promise reckons with; it is published with the tables,
    and so is `complete`, from where on no rule that holds is left out.
    `seeded` marks a run whose randomness was given from outside: it must not be published. `left_out`
    are the cells of tuples that are not published, the sensitive one last; None where all are.
    """

    data: Microdata
    bucketing: Bucketing
    guarantee: BucketGuarantee
    method: str
    rules: tuple[NegativeRule, ...] = ()
    complete: Completeness = NOT_KNOWN
    seconds: float = 0.0
    options: Mapping[str, object] = field(default_factory=dict)
    figures: Mapping[str, int | float | str] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    seeded: bool = False
    seal: Seal | None = None
    left_out: tuple[tuple[str, ...], ...] | None = None

    @property
    def records(self) -> int:
        """How many tuples are published."""
        return len(self.data)

    @property
    def useless(self) -> str | None:
        """Why nothing of use is published, if that is so."""
        alone = self.bucketing.n_buckets == 1 and self.records >= LEAST_FOR_TWO * self.guarantee.l
        telling = 0 if alone else self.records
        if not is_useless(telling, self.records):
            return None
        return (
            f"all {self.records:,} records share one bucket: nothing is told but how often each value "
            "occurs. What may help: fewer rules (a larger --min-exp), values grouped so that none is "
            "most people's, or a smaller l."
        )

    @cached_property
    def tables(self) -> BucketTables:
        """The published tables, in canonical order."""
        return publish_buckets(self.data, self.bucketing)

    def _lines(self) -> list[tuple[str, str]]:
        sizes = np.bincount(self.bucketing.bucket_by_tuple)
        least, most = int(sizes.min()), int(sizes.max())
        chosen = ", ".join(f"{name} {value}" for name, value in self.options.items())
        lines = [
            ("promise", str(self.guarantee)),
            (
                "method",
                self.method
                + (f" ({chosen})" if chosen else "")
                + (", seeded: not for release" if self.seeded else ""),
            ),
            (
                "records",
                f"{self.records:,}, every value published as it is"
                + (f"; {len(self.left_out):,} left out" if self.left_out else ""),
            ),
            ("hidden", f"whose {self.data.sensitive} is whose inside a bucket"),
            (
                "buckets",
                f"{len(sizes):,}, of {least:,}"
                + (f" to {most:,}" if most > least else "")
                + " records"
                + (f", {self.records / len(sizes):.3g} in the mean" if most > least else ""),
            ),
        ]
        if isinstance(self.guarantee, MatchingDiversity):
            told = f"{len(self.rules):,} reckoned with" if self.rules else "none found or given"
            lines.append(("rules", told))
        lines.append(("time", f"{self.seconds:.2f} s"))
        return lines + [("note", notice) for notice in self.notices]

    def __repr__(self) -> str:
        return (
            f"BucketRelease({self.guarantee}, {self.method}, {self.records:,} records, "
            f"{self.bucketing.n_buckets:,} buckets)"
        )

    def __str__(self) -> str:
        return "\n".join(["Release", *(f"  {name.ljust(8)} {text}" for name, text in self._lines())])

    def _repr_html_(self) -> str:
        lines = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in self._lines()
        )
        return f"<table><caption>Release</caption>{lines}</table>"
