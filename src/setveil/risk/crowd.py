"""Records as an attacker sees them, and shares of them: counted, or estimated from draws.

A crowd is sets of items in which one is looked for. Equal records are one row with a weight, rows lie
in canonical order, and items are numbered by how many records hold them, the rarest first. So nothing
that is computed from a crowd depends on the order in which its records were given, or on labels that no
record holds.

A counted share is an exact fraction. An estimated one is the share among draws, with an interval that
holds the truth in 95 of 100 cases: Wilson's interval, which is right near 0 and 1 too. Where some draws
could not be decided within the work allowed, the interval has them safe at its lower end and at risk at
its upper end, and the value counts them as safe: it then says "at least".
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from html import escape
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from ..kernels.attack.match_loops import Data
from ..kernels.attack.matches import draw_records
from ..kernels.rows import merge_rows, recode_rows
from ..kernels.supports import Index, count_supports, index_nodes
from ..model.transactions import Transactions
from ..plain import html_table

Z = 1.959963984540054
"""Within so many standard errors lie 95 of 100 draws of a normal distribution."""

DIGITS = 6
Ids = NDArray[np.int32]
Counts = NDArray[np.int64]
SEED = 20_080_808
"""Where all draws begin. It only searches: nothing is hidden by it."""


@dataclass(frozen=True)
class Estimate:
    """A number from 0 to 1: a fraction where it was counted, else a float between `low` and `high`.

    >>> Estimate.counted(3, 8)
    Estimate(3/8)
    >>> Estimate.drawn(30, 1000)
    Estimate(0.0300, 0.0211 to 0.0425)
    >>> print(Estimate.drawn(30, 1000))
    3.00 % (2.11 to 4.25)
    """

    value: Fraction | float
    low: float
    high: float

    @classmethod
    def counted(cls, part: int | Fraction, whole: int = 1) -> Estimate:
        share = Fraction(part) / whole
        return cls(share, float(share), float(share))

    @classmethod
    def between(cls, least: int, most: int, whole: int) -> Estimate:
        """Return the share of which all but ``most - least`` cases were decided; it is at least so."""
        if least == most:
            return cls.counted(least, whole)
        return cls(least / whole, least / whole, most / whole)

    @classmethod
    def drawn(cls, hits: int, draws: int, unknown: int = 0) -> Estimate:
        low, _ = wilson(hits, draws)
        _, high = wilson(hits + unknown, draws)
        return cls(hits / draws, low, high)

    @classmethod
    def below(cls, support: NDArray[np.int64], k: int) -> Estimate:
        """Return the share of drawn cases that fewer than `k` records match."""
        return cls.drawn(int((support < k).sum()), len(support))

    @classmethod
    def averaged(cls, mean: float, variance: float, draws: int) -> Estimate:
        """Return the mean of numbers from 0 to 1 that were drawn, by the normal distribution."""
        reach = Z * sqrt(max(0.0, variance) / draws)
        return cls(mean, max(0.0, mean - reach), min(1.0, mean + reach))

    @property
    def exact(self) -> bool:
        return isinstance(self.value, Fraction)

    def at_least(self, floor: Estimate) -> Estimate:
        """Return this estimate raised to what is known to be no larger."""
        # A drawn floor may be off, so it does not move the upper end.
        least = floor.low if floor.exact else min(floor.low, self.high)
        if self.exact or self.low >= least:
            return self
        return replace(self, value=max(self.value, least), low=least, high=max(self.high, least))

    def as_dict(self) -> dict[str, object]:
        return {
            "share": round(float(self.value), DIGITS),
            "low": round(self.low, DIGITS),
            "high": round(self.high, DIGITS),
            "exact": self.exact,
        }

    def __repr__(self) -> str:
        if self.exact:
            return f"Estimate({self.value})"
        return f"Estimate({self.value:.4f}, {self.low:.4f} to {self.high:.4f})"

    def __str__(self) -> str:
        if self.exact:
            return percent(self.value)
        low, high = (percent(end).removesuffix(" %") for end in (self.low, self.high))
        return f"{percent(self.value)} ({low} to {high})"


def percent(share: Fraction | float) -> str:
    """Return a share in percent; one that is not 0 or 1 never looks as if it were.

    >>> percent(Fraction(0)), percent(Fraction(1, 3)), percent(Fraction(1, 10**6)), percent(0.99999)
    ('0 %', '33.33 %', '<0.01 %', '>99.99 %')
    """
    if share in {0, 1}:
        return f"{int(share) * 100} %"
    if share < 0.0001:
        return "<0.01 %"
    if share > 0.9999:
        return ">99.99 %"
    return f"{float(share):.2%}".replace("%", " %")


def wilson(hits: int, draws: int) -> tuple[float, float]:
    """Return Wilson's interval for a share of which `hits` in `draws` were seen.

    >>> wilson(0, 100)[0], round(wilson(0, 100)[1], 4)
    (0.0, 0.037)
    """
    share = hits / draws
    middle = share + Z * Z / (2 * draws)
    reach = Z * sqrt(share * (1 - share) / draws + Z * Z / (4 * draws * draws))
    scale = 1 + Z * Z / draws
    low = 0.0 if hits == 0 else max(0.0, (middle - reach) / scale)
    high = 1.0 if hits == draws else min(1.0, (middle + reach) / scale)
    return low, high


class Table:
    """What prints as a table, and shows as one in notebooks: head, rows, notes below."""

    def _rows(self) -> Sequence[tuple[str, ...]]:
        raise NotImplementedError

    def _head(self) -> str:
        """Return what stands above the table as text, each line ended."""
        return ""

    def notes(self) -> tuple[str, ...]:
        """Return what to know about the numbers, in words."""
        return ()

    def __str__(self) -> str:
        rows = self._rows()
        wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join([first.ljust(wide[0]), *map(str.rjust, others, wide[1:])])
            for first, *others in rows
        ]
        return self._head() + "\n".join(f"  {line}" for line in [*lines, *self.notes()])

    def _repr_html_(self) -> str:
        head, *body = self._rows()
        return html_table(body, head) + "".join(f"<p>{escape(note)}</p>" for note in self.notes())


@dataclass(frozen=True, eq=False)
class Crowd:
    """Distinct rows, their weights, and what it takes to count who fits.

    >>> crowd = Crowd.of(Transactions.from_rows([["b", "a"], ["a"], ["a", "b"], ["a", "c"]]))
    >>> crowd.records, crowd.labels, crowd.weight_by_row.tolist()
    (4, ('c', 'b', 'a'), [1, 2, 1])
    """

    indptr: Counts
    items: Ids
    weight_by_row: Counts
    support_by_item: Counts
    labels: tuple[str, ...]
    row_of_record: Counts
    threads: int = field(default=1)

    @classmethod
    def of(cls, transactions: Transactions, *, threads: int | None = None) -> Crowd:
        """Return the crowd of these records; `DataError` where there is none."""
        if not len(transactions):
            raise DataError("there are no records.", "Give some.", code="no-records")
        once = np.ones(len(transactions), dtype=np.int64)
        indptr, items, weights, row_of_record = merge_rows(
            transactions.indptr, transactions.items, once
        )
        count_by_item = transactions.count_by_item
        used = np.flatnonzero(count_by_item)
        item_of_rank = used[np.argsort(count_by_item[used], kind="stable")]
        rank_of_item = np.full(max(1, len(count_by_item)), -1, dtype=np.int32)
        rank_of_item[item_of_rank] = np.arange(len(item_of_rank), dtype=np.int32)
        indptr, ranks = recode_rows(indptr, items, rank_of_item)
        labels = transactions.vocabulary.labels
        return cls(
            indptr,
            ranks,
            weights,
            count_by_item[item_of_rank],
            tuple(labels[item] for item in item_of_rank.tolist()),
            row_of_record,
            threads or len(os.sched_getaffinity(0)),
        )

    @property
    def records(self) -> int:
        return len(self.row_of_record)

    @property
    def n_rows(self) -> int:
        return len(self.weight_by_row)

    @cached_property
    def length_by_row(self) -> Counts:
        return np.diff(self.indptr)

    @property
    def longest(self) -> int:
        return int(self.length_by_row.max())

    @property
    def data(self) -> Data:
        return Data(self.indptr, self.items, self.weight_by_row, self.support_by_item)

    @cached_property
    def lists(self) -> Index:
        """The rows of each item, as lists and bitmaps."""
        alone = np.full(len(self.labels), -1, dtype=np.int32)
        return index_nodes(self.indptr, self.items, alone, self.weight_by_row)

    def supports(self, sets: Ids, enough: int = 0) -> Counts:
        """Return how many records hold each set; where `enough` > 0, counting may stop there.

        A set is a row, padded at its end with -1; supports of `enough` or more are only known to be so.
        """
        return count_supports(sets, self.lists, enough, self.threads)

    def drawn(self, n_draws: int) -> Ids:
        return draw_records(self.data, n_draws, SEED)

    def labels_of(self, items: Ids) -> tuple[str, ...]:
        """Return the labels of items, sorted; -1 is passed over."""
        return tuple(sorted(self.labels[item] for item in items.tolist() if item >= 0))
