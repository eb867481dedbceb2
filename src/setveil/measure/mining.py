"""What is lost to a miner: which frequent itemsets survive, and how far up the others are found.

A set is frequent where at least ceil(share * |D|) records hold it, before and after alike: what is
dropped from a release does not make the rest more frequent. Two questions are asked at the level of the
items:

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

ML2 and dML2 are for a miner who works at several levels (Terrovitis et al. 2011, section 3.3). FI_i(D)
are the frequent itemsets of the records with every item taken to level i of the hierarchy
(`mining.itemsets`); FI_i(Dp) those of the published records, in which a label published above level i
does not appear at that level. ML2 = 1 - (sum of FI_i(Dp)) / (sum of FI_i(D)) over all levels is the
share of frequent itemsets that a miner of the release does not find at their level (Eq. 1). dML2 says
how far up the miner has to go: for each frequent itemset of level i, the levels from i to the lowest at
which what it becomes there is frequent in the release (Eq. 2). Two of its items may become one on the
way. What is found at no level counts one level more than the root: h - i + 1.

Differences from the paper
--------------------------
- Eq. 2 divides by all frequent itemsets, so that those found at their level pull it towards 0.
  Section 6 counts only those not found there, "thus the theoretical minimum is 1". Both are given:
  `dml2` is Eq. 2, `dml2_lost` that of section 6, and dml2 = ml2 * dml2_lost. Where nothing was lost
  `dml2_lost` is 0.
- "Nowhere found" does not occur in the paper, where everything can be generalized to the root. Here
  items can be left out; one level more than the root is dearer than anything that is found.
- The mean over several shares (Fig. 20) takes `dml2_lost` over those at which something was lost.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..distinct import number_distinct
from ..kernels.rows import recode_rows
from ..kernels.supports import estimate_supports
from ..mining.itemsets import Itemsets, frequent_itemsets, least_count, node_at_level
from ..progress import Watch
from ..release.recoding import BeforeAfter, Merged
from .scores import Measure, Value

Ids = NDArray[np.int32]
Counts = NDArray[np.int64]
SHARE = Fraction(1, 100)
SHARES = (Fraction(1, 100), Fraction(2, 100), Fraction(3, 100))
"""The shares of the records that an itemset must be in, in the paper's figures on levels."""
Result = TypeVar("Result")


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
        return Fraction(self.kept, self.of_items) if self.of_items else Fraction(1)

    @property
    def itemset_precision(self) -> Fraction:
        return Fraction(self.kept, self.published) if self.published else Fraction(1)

    @property
    def label_recall(self) -> Fraction:
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


@dataclass(frozen=True)
class MiningLoss:
    """What a miner at all levels loses at one support, level by level from the leaves up.

    `frequent_by_level` and `found_by_level` count frequent itemsets of the original, and those of them
    that are frequent at their level as published. `levels_up` adds up the levels to go up for each.
    """

    share: Fraction
    least: int
    frequent_by_level: tuple[int, ...]
    found_by_level: tuple[int, ...]
    levels_up: int

    @property
    def ml2(self) -> Fraction:
        """The share of frequent itemsets not found at their level; 0 where there are none."""
        total = sum(self.frequent_by_level)
        return 1 - Fraction(sum(self.found_by_level), total) if total else Fraction(0)

    @property
    def dml2(self) -> Fraction:
        """The levels to go up, over all frequent itemsets (Eq. 2)."""
        total = sum(self.frequent_by_level)
        return Fraction(self.levels_up, total) if total else Fraction(0)

    @property
    def dml2_lost(self) -> Fraction:
        """The levels to go up, over those not found at their level (section 6); 0 if there are none."""
        lost = sum(self.frequent_by_level) - sum(self.found_by_level)
        return Fraction(self.levels_up, lost) if lost else Fraction(0)


def mining_losses(
    pair: BeforeAfter, shares: Sequence[Fraction] = SHARES, *, watch: Watch | None = None
) -> tuple[MiningLoss, ...]:
    """Return what a miner loses at each of these supports; mined once, at the lowest."""
    tree, n_records = pair.hierarchy, len(pair.rows)
    leasts = [least_count(share, n_records) for share in shares]
    frequent_by_level: list[tuple[int, ...]] = []
    found_by_level: list[tuple[int, ...]] = []
    levels_up = [0] * len(shares)
    before, after = pair.merged_before, pair.merged_after
    above: Itemsets | None = None
    level_found = np.empty((len(shares), 0), dtype=np.int64)
    for level in range(tree.height, -1, -1):
        nodes = node_at_level(tree, level)
        original = _mine(before, nodes, min(leasts), watch)
        support_after = _supports_in(_mine(after, nodes, min(leasts), watch), original)
        # Where a set is found first: here, or where that is found which it becomes a level higher.
        first = np.full((len(shares), len(original)), tree.height + 1, dtype=np.int64)
        if above is not None:
            lifted = recode_rows(original.indptr, original.items, node_at_level(tree, level + 1))
            first = level_found[:, above.places_of(*lifted)]
        for number, least in enumerate(leasts):
            first[number, support_after >= least] = level
            levels_up[number] += int((first[number] - level)[original.support >= least].sum())
        frequent_by_level.insert(0, tuple(int((original.support >= least).sum()) for least in leasts))
        found_by_level.insert(0, tuple(int((support_after >= least).sum()) for least in leasts))
        above, level_found = original, first
    return tuple(
        MiningLoss(
            share,
            least,
            tuple(counts[number] for counts in frequent_by_level),
            tuple(counts[number] for counts in found_by_level),
            levels_up[number],
        )
        for number, (share, least) in enumerate(zip(shares, leasts, strict=True))
    )


def _mine(rows: Merged, node_of_node: Ids, least: int, watch: Watch | None) -> Itemsets:
    indptr, nodes, weights = rows
    indptr, nodes = recode_rows(indptr, nodes, node_of_node)
    return frequent_itemsets(indptr, nodes, weights, len(node_of_node), least, watch=watch)


def _supports_in(published: Itemsets, original: Itemsets) -> Counts:
    """Return the support of each original set as published; 0 where it is not frequent there."""
    support = np.zeros(len(original), dtype=np.int64)
    # A published set is frequent in the original too: a record holds all that is published of it.
    support[original.places_of(published.indptr, published.items)] = published.support
    return support


def _once(pair: BeforeAfter, key: Hashable, find: Callable[[], Result]) -> Result:
    """Return what is found of a pair; several measures ask for the same."""
    if key not in pair.found:
        pair.found[key] = find()
    found: Result = pair.found[key]
    return found


# Name, title, meaning, end of the range, what is better.
_OF_ITEMSETS: tuple[tuple[str, str, str, int | None, str], ...] = (
    (
        "itemset_recall",
        "Frequent itemsets that survive",
        "the share of the frequent sets of items that are frequent under the same labels as published",
        1,
        "higher",
    ),
    (
        "itemset_precision",
        "Frequent itemsets of items alone",
        "the share of the frequent sets of published labels that hold no category",
        1,
        "higher",
    ),
    (
        "label_recall",
        "Frequent sets of published labels that are found",
        "the share of the frequent sets of these labels in the original that are frequent as published",
        1,
        "higher",
    ),
    (
        "label_support_error",
        "Error of the supports of published labels",
        "how far the support of a frequent set of published labels is from the true one, on average",
        1,
        "lower",
    ),
    (
        "item_support_error",
        "Error of the expected supports of items",
        "how far the support of a frequent set of items, expected from the release, is from the truth",
        None,
        "lower",
    ),
)
_OF_LEVELS: tuple[tuple[str, str, str, int | None], ...] = (
    (
        "ml2",
        "ML2, multiple level mining loss",
        "the share of frequent itemsets, over all levels, not found at their level as published",
        1,
    ),
    (
        "dml2",
        "dML2, levels up over all frequent itemsets",
        "how many levels higher a frequent itemset is first found as published, on average",
        None,
    ),
    (
        "dml2_lost",
        "dML2, levels up over the lost ones",
        "the same over those not found at their own level: 1 or more, or 0 where none was lost",
        None,
    ),
)


def _percent(share: Fraction) -> str:
    return f"{float(share * 100):g}%"


def itemset_measures(share: Fraction = SHARE) -> tuple[Measure, ...]:
    """Return the measures of survival at a share of the records."""

    def reads(name: str) -> Callable[[BeforeAfter], Value]:
        def compute(pair: BeforeAfter) -> Value:
            found = _once(pair, ("survival", share), lambda: survival(pair, share))
            value: Value = getattr(found, name)
            return value

        return compute

    return tuple(
        Measure(name, f"{title}, at {_percent(share)}", reads(name), about, goal, (0, most))
        for name, title, about, most, goal in _OF_ITEMSETS
    )


def ml2_measures(shares: Sequence[Fraction] = SHARES) -> tuple[Measure, ...]:
    """Return ML2 and both readings of dML2 as measures: at each share, and their means over them.

    >>> [measure.name for measure in ml2_measures([Fraction(1, 50)])]
    ['ml2_2%', 'dml2_2%', 'dml2_lost_2%', 'ml2', 'dml2', 'dml2_lost']
    """
    asked = tuple(Fraction(share) for share in shares)

    def reads(name: str, chosen: slice) -> Callable[[BeforeAfter], Fraction]:
        def compute(pair: BeforeAfter) -> Fraction:
            losses = _once(pair, ("mining losses", asked), lambda: mining_losses(pair, asked))
            values: list[Fraction] = [getattr(loss, name) for loss in losses[chosen]]
            if name == "dml2_lost":
                values = [value for value in values if value]
            return sum(values, Fraction(0)) / max(1, len(values))

        return compute

    percents = [_percent(share) for share in asked]
    endings = [
        (f"_{percent}", f"at {percent}", slice(place, place + 1))
        for place, percent in enumerate(percents)
    ]
    endings.append(("", f"mean at {', '.join(percents)}", slice(None)))
    return tuple(
        Measure(name + ending, f"{title}, {told}", reads(name, chosen), about, range=(0, most))
        for ending, told, chosen in endings
        for name, title, about, most in _OF_LEVELS
    )


def measures_at(share: Fraction) -> tuple[Measure, ...]:
    """Return all measures of this module at one share of the records."""
    return (*itemset_measures(share), *ml2_measures((share,)))


MEASURES = (*itemset_measures(), *ml2_measures())
