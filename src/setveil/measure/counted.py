"""The measures that only count: NCP, LM, what was left out or kept, discernibility. All are exact.

NCP, the normalized certainty penalty (Terrovitis et al.): an occurrence published as a node over n of
the |I| leaves of its tree loses n / |I|, nothing where n is 1. LM, the loss metric (Liu and Wang's use
of Iyengar's): it loses (n - 1) / (|I| - 1). Either is the mean over all original occurrences, a
suppressed one counting as wholly lost; |I| counts the leaves that occur, or all of the hierarchy where
the release was made so (`Hierarchy.domain`).

What was left out and what was kept as it was:

- suppressed: occurrences (an item in a record) that are not published under any label;
- suppressed items: items of which at least one occurrence is so; a global recoding leaves out all
  occurrences of an item or none;
- emptied records: records that held items and of which nothing is published, dropped or left empty;
- unchanged: occurrences published under their own label.

A record that came empty lost nothing and is not counted. A category above a single item loses nothing
by NCP and LM, but it is another label: what is published so is not unchanged.

Discernibility: Bayardo and Agrawal ("Data privacy through optimal k-anonymization", ICDE 2005) charge
every record with the size of its group of equal records, and a suppressed record with the size of the
whole data set. Here a record is the set of its published labels:

- a record of which something is published counts as many as there are records with the same labels;
- a record that held items and of which nothing is published counts as all n records, whether it is
  published as an empty record or dropped;
- a record that came empty counts as many as there are records of which nothing is published.

The sum lies between n, where all records differ, and n * n, where nothing tells any two apart. Data are
seldom all different to begin with: of records that are published unchanged the sum is that of the
original, which is the least that any recoding can reach.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np

from ..distinct import distinct
from ..kernels.rows import merge_rows
from ..model.costs import make_cost
from ..model.fit import labels_in
from ..model.transactions import Rows, Transactions, bind, canonical_order
from ..release.recoding import BeforeAfter
from ..release.release import Release
from .scores import Measure


def mean_unit_cost(name: str, pair: BeforeAfter) -> Fraction:
    """Return the cost `name` as a mean over the original occurrences, exactly.

    A suppressed occurrence counts as wholly lost. Nothing lost where there is no occurrence.
    """
    nodes = pair.node_of_occurrence
    if not len(nodes):
        return Fraction(0)
    cost = make_cost(name, pair.hierarchy)
    kept = nodes[nodes >= 0]
    lost = int(cost.unit_by_node[kept].sum()) + cost.scale * (len(nodes) - len(kept))
    return Fraction(lost, cost.scale * len(nodes))


def discernibility_sum(pair: BeforeAfter) -> int:
    """Return the sum over all records of the number of records they look the same as."""
    published, n_records = pair.published, len(pair.rows)
    weights = np.ones(n_records, dtype=np.int64)
    _, _, size_by_group, group_of_record = merge_rows(published.indptr, published.leaves, weights)
    alike_by_record = size_by_group[group_of_record]
    emptied = (np.diff(published.indptr) == 0) & (np.diff(pair.rows.indptr) > 0)
    alike_by_record[emptied] = n_records
    return int(alike_by_record.sum())


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


def _discernibility(pair: BeforeAfter) -> Fraction:
    return _share(discernibility_sum(pair), len(pair.rows) ** 2)


def _discernibility_sum(pair: BeforeAfter) -> Fraction:
    return Fraction(discernibility_sum(pair))


NCP = Measure(
    "ncp",
    "NCP, normalized certainty penalty",
    "lower",
    (0, 1),
    partial(mean_unit_cost, "ncp"),
    "how much of the tree an item became indistinguishable from, on average",
)
LM = Measure(
    "lm",
    "LM, loss metric",
    "lower",
    (0, 1),
    partial(mean_unit_cost, "lm"),
    "which share of the other items the published label of an item also covers, on average",
)
UNCHANGED = Measure(
    "unchanged",
    "Occurrences under their own label",
    "higher",
    (0, 1),
    _unchanged,
    "the share of all items in all records that is published as it was",
)
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
DISCERNIBILITY = Measure(
    "discernibility",
    "Discernibility, share of all records",
    "lower",
    (0, 1),
    _discernibility,
    "the share of all records that a record looks the same as, on average, itself included",
)
DISCERNIBILITY_SUM = Measure(
    "discernibility_sum",
    "Discernibility, sum (Bayardo and Agrawal)",
    "lower",
    (0, None),
    _discernibility_sum,
    "over all records, the number of records that each looks the same as, added up",
)


def rows_of_original(release: Release, original: Transactions) -> Rows | None:
    """Return the records as leaves in canonical order, or None where they are not the original.

    Records that lead to the published ones by the recoding, and agree with all that the release knows
    of its original, are taken for it: figures about other data would mislead. A release that holds the
    original compares the two outright.
    """
    hierarchy = release.hierarchy
    if labels_in(original) != sorted(hierarchy.labels[: hierarchy.n_leaves]):
        return None
    if len(original) != release.records + len(release.dropped):
        return None
    _, rows = bind(original.take(canonical_order(original)), hierarchy)
    known = release.rows
    if known is not None:
        same = np.array_equal(known.indptr, rows.indptr) and np.array_equal(known.leaves, rows.leaves)
        return rows if same else None
    counts = release.occurrences_by_leaf
    if counts is not None and not np.array_equal(counts, np.bincount(rows.leaves)):
        return None
    pair = BeforeAfter(release.recoding, rows)
    lost = {name: mean_unit_cost(name, pair) for name in release.losses}
    if len(rows.leaves) != release.occurrences or lost != dict(release.losses):
        return None
    return rows if release.is_made_of(rows) else None
