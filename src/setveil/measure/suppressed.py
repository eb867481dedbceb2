"""What was left out and what was kept as it was, as exact shares.

- suppressed: occurrences (an item in a record) that are not published under any label;
- suppressed items: items of which at least one occurrence is so; a global recoding leaves out all
  occurrences of an item or none;
- emptied records: records that held items and of which nothing is published, dropped or left empty;
- unchanged: occurrences published under their own label.

A record that came empty lost nothing and is not counted. A category above a single item loses nothing
by NCP and LM, but it is another label: what is published so is not unchanged.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ..distinct import distinct
from .before_after import BeforeAfter
from .scores import Measure


def _share(part: int, whole: int, *, of_nothing: int = 0) -> Fraction:
    return Fraction(part, whole) if whole else Fraction(of_nothing)


def _suppressed(pair: BeforeAfter) -> Fraction:
    nodes = pair.node_of_occurrence
    return _share(int((nodes < 0).sum()), len(nodes))


def _suppressed_items(pair: BeforeAfter) -> Fraction:
    gone = distinct(pair.rows.leaves[pair.node_of_occurrence < 0])
    return _share(len(gone), int((pair.count_by_leaf > 0).sum()))


def _emptied_records(pair: BeforeAfter) -> Fraction:
    held = np.diff(pair.rows.indptr) > 0
    left = np.diff(pair.published.indptr) > 0
    return _share(int((held & ~left).sum()), int(held.sum()))


def _unchanged(pair: BeforeAfter) -> Fraction:
    nodes = pair.node_of_occurrence
    return _share(int((nodes == pair.rows.leaves).sum()), len(nodes), of_nothing=1)


SUPPRESSED = Measure(
    "suppressed",
    "Occurrences left out",
    "lower",
    (0, 1),
    _suppressed,
    "the share of all items in all records that is not published at all",
)
SUPPRESSED_ITEMS = Measure(
    "suppressed_items",
    "Items left out",
    "lower",
    (0, 1),
    _suppressed_items,
    "the share of the different items that is left out of some record or of all",
)
EMPTIED_RECORDS = Measure(
    "emptied_records",
    "Records with nothing left",
    "lower",
    (0, 1),
    _emptied_records,
    "the share of the records of which nothing is published",
)
UNCHANGED = Measure(
    "unchanged",
    "Occurrences under their own label",
    "higher",
    (0, 1),
    _unchanged,
    "the share of all items in all records that is published as it was",
)
