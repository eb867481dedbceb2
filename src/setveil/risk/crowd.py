"""Records as an attacker sees them: a crowd of sets in which one is looked for.

Equal records are one row with a weight, rows lie in canonical order, and items are numbered by how many
records hold them, the rarest first. So nothing that is computed from a crowd depends on the order in
which its records were given, or on labels that no record holds.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from ..kernels.attack.matches import Data, draw_records
from ..kernels.rows import merge_rows, recode_rows
from ..kernels.supports import Index, count_supports, index_nodes
from ..model.transactions import Transactions

Ids = NDArray[np.int32]
Counts = NDArray[np.int64]

SEED = 20_080_808
"""Where all draws begin. It only searches: nothing is hidden by it."""


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
        """How many records there are."""
        return len(self.row_of_record)

    @property
    def n_rows(self) -> int:
        """How many distinct records there are."""
        return len(self.weight_by_row)

    @cached_property
    def length_by_row(self) -> Counts:
        """How many items each row has."""
        return np.diff(self.indptr)

    @property
    def longest(self) -> int:
        """The number of items in the longest row."""
        return int(self.length_by_row.max())

    @property
    def data(self) -> Data:
        """The rows as the kernels take them."""
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
        """Return the rows of records drawn with replacement, each with the same chance."""
        return draw_records(self.data, n_draws, SEED)

    def labels_of(self, items: Ids) -> tuple[str, ...]:
        """Return the labels of items, sorted; -1 is passed over."""
        return tuple(sorted(self.labels[item] for item in items.tolist() if item >= 0))
