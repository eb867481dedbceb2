"""The records that are most exposed: singled out by the fewest items.

For the holder's eyes alone. Each record comes with a smallest set of its items that fewer than k
records hold: the evidence. Whoever reads it and knows a neighbour by these items has found the
neighbour.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np

from ..kernels.attack.matches import AT_RISK, search_rare
from ..model.numbers import whole_number
from ..model.transactions import Transactions
from ..progress import Watch
from .crowd import Crowd
from .curve import BUDGET, Budget, count_worst, most_known

_MOST_COMPARED = 5_000


@dataclass(frozen=True)
class Exposed:
    """A record that few items single out.

    `records` are the places of the records, from 1 on, in the order given; equal ones are together.
    `known` are the items that single it out, `support` is how many records hold them.
    """

    records: tuple[int, ...]
    known: tuple[str, ...]
    support: int

    def as_dict(self) -> dict[str, object]:
        return {"records": list(self.records), "known": list(self.known), "support": self.support}

    def __str__(self) -> str:
        numbers = ", ".join(f"{number:,}" for number in self.records)
        return f"record {numbers}: {{{', '.join(self.known)}}} in {self.support}"


@dataclass(frozen=True)
class ExposedRecords:
    """The most exposed records, the most exposed first. Personal data."""

    k: int
    most: int
    exposed: tuple[Exposed, ...]
    complete: bool = True

    def as_dict(self) -> dict[str, object]:
        return {
            "personal_data": "The records below are personal data. Do not publish them.",
            "k": self.k,
            "complete": self.complete,
            "records": [record.as_dict() for record in self.exposed],
        }

    def _lines(self) -> list[str]:
        if not self.exposed:
            how = f"up to {self.most} known items" if self.complete else "the work allowed"
            return [f"no record is singled out within {how}."]
        return [str(record) for record in self.exposed]

    def __str__(self) -> str:
        head = "PERSONAL DATA, not to be published: the records that the fewest items single out"
        return "\n".join([head, *(f"  {line}" for line in self._lines())])

    def _repr_html_(self) -> str:
        lines = "".join(f"<li>{escape(line)}</li>" for line in self._lines())
        return f"<p><strong>Personal data, not to be published</strong></p><ol>{lines}</ol>"


def most_exposed(
    transactions: Transactions,
    k: int,
    *,
    top: int = 10,
    most: int | None = None,
    budget: int = BUDGET,
    threads: int | None = None,
    watch: Watch | None = None,
) -> ExposedRecords:
    """Return the records that the fewest items single out, with those items. Personal data.

    Records come by how many items it takes, then by how few records match, then in canonical order;
    of equal ones, `top` counts one. Where the steps of the budget do not reach, `complete` is False and
    some may be missing. For the rest see `risk_curve`.

    >>> baskets = Transactions.from_rows([["a", "b"], ["a", "b"], ["a", "c"], ["b", "c"], ["d", "a"]])
    >>> print(most_exposed(baskets, k=2, top=2))
    PERSONAL DATA, not to be published: the records that the fewest items single out
      record 5: {d} in 1
      record 3: {a, c} in 1
    """
    whole_number("k", k, least=2)
    whole_number("top", top, least=1)
    crowd = Crowd.of(transactions, threads=threads)
    most = max(1, min(most_known(most, crowd), crowd.longest))
    worst = count_worst(crowd, k, most, Budget(budget), watch or Watch())
    found: list[Exposed] = []
    for size in range(1, most + 1):
        if len(found) >= top:
            break
        held = (worst.least_by_row == size) & (crowd.length_by_row >= size)
        rows = np.flatnonzero(held).astype(np.int32)
        found += _evidence(crowd, rows, k, size, budget)[: top - len(found)]
    complete = len(found) == top or len(worst.shares) == most
    return ExposedRecords(k, most, tuple(found), complete)


def _evidence(
    crowd: Crowd, rows: np.ndarray[tuple[int], np.dtype[np.int32]], k: int, size: int, budget: int
) -> list[Exposed]:
    """Return the rows that `size` items single out, those with the fewest matches first."""
    if len(rows) > _MOST_COMPARED:
        # The rarest item of a row comes first in it; rows with rare ones are compared.
        rarest = crowd.support_by_item[crowd.items[crowd.indptr[rows]]]
        rows = np.sort(rows[np.argsort(rarest, kind="stable")[:_MOST_COMPARED]])
    if not len(rows):
        return []
    state, evidence = search_rare(rows, crowd.data, crowd.lists, k, size, budget, size, crowd.threads)
    rows, evidence = rows[state[:, -1] == AT_RISK], evidence[state[:, -1] == AT_RISK]
    support = crowd.supports(evidence)
    order = np.lexsort((rows, support))
    records = np.argsort(crowd.row_of_record, kind="stable")
    ends = np.cumsum(crowd.weight_by_row)
    return [
        Exposed(
            tuple((records[ends[row] - crowd.weight_by_row[row] : ends[row]] + 1).tolist()),
            crowd.labels_of(evidence[place]),
            int(support[place]),
        )
        for place, row in zip(order.tolist(), rows[order].tolist(), strict=True)
    ]
