"""A release of a table in buckets: what is published, what it promises, and how it was made."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..model.guarantees import BucketGuarantee
from ..model.microdata import Microdata
from ..model.rules import NOT_KNOWN, Completeness, NegativeRule
from .buckets import Bucketing, BucketTables, publish_buckets
from .header import Header, is_useless

LEAST_FOR_TWO = 4
"""A table with fewer than this many times l records may well need all of them for one bucket."""


@dataclass(frozen=True, eq=False)
class BucketRelease(Header):
    """The result of anonymizing a table with a sensitive column; ``print`` it for a summary.

    `rules` is the background knowledge that the promise reckons with; it is published with the tables,
    and so is `complete`, from where on no rule that holds is left out.
    `seeded` marks a run whose randomness was given from outside: it must not be published. `left_out`
    are the cells of tuples that are not published, the sensitive one last; None where all are.
    """

    guarantee: BucketGuarantee = field(kw_only=True)
    data: Microdata
    bucketing: Bucketing
    rules: tuple[NegativeRule, ...] = ()
    complete: Completeness = NOT_KNOWN
    seeded: bool = False
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
        way = "--grouping compact, " if self.options.get("grouping") == "printed" else ""
        return (
            f"all {self.records:,} records share one bucket: nothing is told but how often each value "
            f"occurs. What may help: {way}fewer rules (a larger --min-exp), values grouped so that "
            "none is most people's, or a smaller l."
        )

    @cached_property
    def tables(self) -> BucketTables:
        """The published tables, in canonical order."""
        return publish_buckets(self.data, self.bucketing)

    def lines(self) -> list[tuple[str, str]]:
        """Return the summary as names and texts."""
        sizes = np.bincount(self.bucketing.bucket_by_tuple)
        least, most = int(sizes.min()), int(sizes.max())
        lines = [
            ("promise", str(self.guarantee)),
            ("method", self._chosen + (", seeded: not for release" if self.seeded else "")),
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
        if self.guarantee.takes_rules:
            told = f"{len(self.rules):,} reckoned with" if self.rules else "none found or given"
            lines.append(("rules", told))
        lines.append(("time", f"{self.seconds:.2f} s"))
        return lines + [("note", notice) for notice in self.notices]

    def __repr__(self) -> str:
        return (
            f"BucketRelease({self.guarantee}, {self.method}, {self.records:,} records, "
            f"{self.bucketing.n_buckets:,} buckets)"
        )

    def account(self) -> dict[str, object]:
        """Return figures of the run as plain values."""
        return {"records": self.records, "buckets": self.bucketing.n_buckets}

    def hidden(self) -> dict[str, object]:
        """Return the value of every row of the first table, and the rows that were left out."""
        document: dict[str, object] = {
            "column": self.data.sensitive,
            "value_of_row": [self.data.values[value] for value in self.tables.value_of_row.tolist()],
        }
        if self.left_out is not None:
            document["left_out"] = [list(row) for row in self.left_out]
        return document
