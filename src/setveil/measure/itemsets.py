"""What becomes of frequent itemsets: which survive, and how true their supports are.

A set is frequent where at least ceil(share * |D|) records hold it, before and after alike. Two
questions are asked at the level of the items:

- `itemset_recall`: of the frequent sets of items, how many are frequent in the published records too,
  all their items under their own labels?
- `itemset_precision`: of the frequent sets of labels that a miner of the release finds, how many are
  such sets of items? The others hold a category.

Two look at the labels that are published somewhere. A record of the original holds such a label where
it holds an item at or below it, and sets with a label and one above it are not looked at:

- `label_recall`: of the sets of published labels that are frequent in the original, how many are
  frequent in the release? All of them, where a recoding is global.
- `label_support_error`: |published support - original support| / original support, on average over the
  frequent sets of the release. 0 where a recoding is global: then the release counts its labels truly.
  A local recoding publishes a label in some records, a category in others, and counts too few.

And one asks what can be said of the items nevertheless:

- `item_support_error`: the same error on average over the frequent sets of items, with the support that
  is expected where the items below a published label are evenly spread, as in `queries`.

Where there is no frequent set at all, nothing was lost: shares are 1 and errors 0.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..distinct import number_distinct
from ..kernels.queries import estimate_supports
from ..kernels.rows import recode_rows
from ..mining.itemsets import Itemsets, frequent_itemsets, least_count
from ..progress import Watch
from ..release.recoding import BeforeAfter, Merged
from .scores import Measure, Value

Ids = NDArray[np.int32]
SHARE = Fraction(1, 100)


@dataclass(frozen=True)
class Survival:
    """Frequent itemsets before and after, counted, and the errors of their supports.

    `of_items` and `of_labels` count frequent sets of the original: of items, and of labels that are
    published. `published` counts those of the release, `kept` those among them of items alone.
    """

    share: Fraction
    least: int
    of_items: int
    of_labels: int
    published: int
    kept: int
    label_support_error: Fraction
    item_support_error: float

    @property
    def itemset_recall(self) -> Fraction:
        """The share of the frequent sets of items that is found."""
        return Fraction(self.kept, self.of_items) if self.of_items else Fraction(1)

    @property
    def itemset_precision(self) -> Fraction:
        """The share of what is found that are sets of items."""
        return Fraction(self.kept, self.published) if self.published else Fraction(1)

    @property
    def label_recall(self) -> Fraction:
        """The share of the frequent sets of published labels that is found."""
        return Fraction(self.published, self.of_labels) if self.of_labels else Fraction(1)


def survival(pair: BeforeAfter, share: Fraction = SHARE, *, watch: Watch | None = None) -> Survival:
    """Return what becomes of the itemsets that are in this share of the records."""
    tree = pair.hierarchy
    least = least_count(share, len(pair.rows))
    before, after = pair.merged_before, pair.merged_after
    of_items = frequent_itemsets(*before, tree.n_leaves, least, watch=watch)
    published = frequent_itemsets(*after, len(tree), least, watch=watch)
    of_labels = _seen_through(pair, before, least, watch)
    # No set that is frequent as published is rarer in the original, nor holds a label and one above.
    true = of_labels.support[of_labels.places_of(published.indptr, published.items)]
    largest = published.items[published.indptr[1:] - 1] if len(published) else published.items
    return Survival(
        share,
        least,
        len(of_items),
        len(of_labels),
        len(published),
        int((largest < tree.n_leaves).sum()),
        _mean_error(published.support, true),
        _item_error(pair, of_items, after),
    )


def _seen_through(pair: BeforeAfter, before: Merged, least: int, watch: Watch | None) -> Itemsets:
    """Return the frequent sets of published labels in the original records."""
    tree = pair.hierarchy
    is_shown = np.zeros(len(tree), dtype=np.bool_)
    is_shown[pair.published.leaves] = True
    # The nearest shown label at or above each node; parents come after their children.
    nearest = np.where(is_shown, np.arange(len(tree)), -1).astype(np.int32)
    for node in range(len(tree) - 1, -1, -1):
        above = tree.parent[node]
        if nearest[node] < 0 <= above:
            nearest[node] = nearest[above]
    shown_above = np.where(tree.parent >= 0, nearest[tree.parent], -1).astype(np.int32)
    indptr, nodes = recode_rows(before[0], before[1], nearest)
    return frequent_itemsets(
        indptr, nodes, before[2], len(tree), least, parent=shown_above, watch=watch
    )


def _mean_error(found: NDArray[np.int64], true: NDArray[np.int64]) -> Fraction:
    """Return the mean of |found - true| / true, exactly; equal true supports are added up first."""
    if not len(true):
        return Fraction(0)
    values, place = number_distinct(true)
    apart = np.zeros(len(values), dtype=np.int64)
    np.add.at(apart, place, np.abs(found - true))
    total = sum(map(Fraction, apart.tolist(), values.tolist()), Fraction(0))
    return total / len(true)


def _item_error(pair: BeforeAfter, of_items: Itemsets, after: Merged) -> float:
    if not len(of_items):
        return 0.0
    tree = pair.hierarchy
    threads = len(os.sched_getaffinity(0))
    expected = estimate_supports(of_items.padded(), *after, tree.parent, tree.domain_count, threads)
    return math.fsum(np.abs(expected - of_items.support) / of_items.support) / len(of_items)


_KINDS = (
    (
        "itemset_recall",
        "Frequent itemsets that survive",
        "higher",
        "the share of the frequent sets of items that are frequent under the same labels as published",
    ),
    (
        "itemset_precision",
        "Frequent itemsets of items alone",
        "higher",
        "the share of the frequent sets of published labels that hold no category",
    ),
    (
        "label_recall",
        "Frequent sets of published labels that are found",
        "higher",
        "the share of the frequent sets of these labels in the original that are frequent as published",
    ),
    (
        "label_support_error",
        "Error of the supports of published labels",
        "lower",
        "how far the support of a frequent set of published labels is from the true one, on average",
    ),
    (
        "item_support_error",
        "Error of the expected supports of items",
        "lower",
        "how far the support of a frequent set of items, expected from the release, is from the truth",
    ),
)


def itemset_measures(share: Fraction = SHARE) -> tuple[Measure, ...]:
    """Return the measures of survival at a share of the records."""
    percent = f"{float(share * 100):g}%"
    return tuple(
        Measure(
            name,
            f"{title}, at {percent}",
            goal,
            (0, None if name == "item_support_error" else 1),
            _value(name, share),
            about,
        )
        for name, title, goal, about in _KINDS
    )


def _value(name: str, share: Fraction) -> Callable[[BeforeAfter], Value]:
    def compute(pair: BeforeAfter) -> Value:
        key = ("survival", share)
        if key not in pair.found:
            pair.found[key] = survival(pair, share)
        value: Value = getattr(pair.found[key], name)
        return value

    return compute


ITEMSET_RECALL, ITEMSET_PRECISION, LABEL_RECALL, LABEL_SUPPORT_ERROR, ITEM_SUPPORT_ERROR = (
    itemset_measures()
)
