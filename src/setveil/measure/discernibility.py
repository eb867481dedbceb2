"""Discernibility: how many records each published record looks the same as.

Bayardo and Agrawal ("Data privacy through optimal k-anonymization", ICDE 2005) charge every record with
the size of its group of equal records, and a suppressed record with the size of the whole data set.
Here a record is the set of its published labels:

- a record of which something is published counts as many as there are records with the same labels;
- a record that held items and of which nothing is published counts as all n records, whether it is
  published as an empty record or dropped;
- a record that came empty counts as many as there are records of which nothing is published.

The sum lies between n, where all records differ, and n * n, where nothing tells any two apart. Data are
seldom all different to begin with: of records that are published unchanged the sum is that of the
original, which is the least that any recoding can reach. Everything is counted, nothing estimated.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ..kernels.rows import merge_rows
from .before_after import BeforeAfter
from .scores import Measure


def discernibility_sum(pair: BeforeAfter) -> int:
    """Return the sum over all records of the number of records they look the same as."""
    published, n_records = pair.published, len(pair.rows)
    weights = np.ones(n_records, dtype=np.int64)
    _, _, size_by_group, group_of_record = merge_rows(published.indptr, published.leaves, weights)
    alike_by_record = size_by_group[group_of_record]
    emptied = (np.diff(published.indptr) == 0) & (np.diff(pair.rows.indptr) > 0)
    alike_by_record[emptied] = n_records
    return int(alike_by_record.sum())


def _share(pair: BeforeAfter) -> Fraction:
    n_records = len(pair.rows)
    return Fraction(discernibility_sum(pair), n_records**2) if n_records else Fraction(0)


def _sum(pair: BeforeAfter) -> Fraction:
    return Fraction(discernibility_sum(pair))


DISCERNIBILITY = Measure(
    "discernibility",
    "Discernibility, share of all records",
    "lower",
    (0, 1),
    _share,
    "the share of all records that a record looks the same as, on average, itself included",
)
DISCERNIBILITY_SUM = Measure(
    "discernibility_sum",
    "Discernibility, sum (Bayardo and Agrawal)",
    "lower",
    (0, None),
    _sum,
    "over all records, the number of records that each looks the same as, added up",
)
