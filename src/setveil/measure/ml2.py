"""ML2 and dML2: what is lost to a miner who works at several levels (Terrovitis et al. 2011).

Section 3.3. FI_i(D) are the frequent itemsets of the records with every item taken to level i of the
hierarchy (`mining.itemsets`); FI_i(Dp) those of the published records, in which a label published above
level i does not appear at that level. ML2 = 1 - (sum of FI_i(Dp)) / (sum of FI_i(D)) over all levels is
the share of frequent itemsets that a miner of the release does not find at their level (Eq. 1). dML2
says how far up the miner has to go: for each frequent itemset of level i, the levels from i to the
lowest at which what it becomes there is frequent in the release (Eq. 2). Two of its items may become
one on the way. What is found at no level counts one level more than the root: h - i + 1.

Differences from the paper
--------------------------
- Eq. 2 divides by all frequent itemsets, so that those found at their level pull it towards 0.
  Section 6 counts only those not found there, "thus the theoretical minimum is 1". Both are given:
  `dml2` is Eq. 2, `dml2_lost` that of section 6, and dml2 = ml2 * dml2_lost. Where nothing was lost
  `dml2_lost` is 0.
- "Nowhere found" does not occur in the paper, where everything can be generalized to the root. Here
  items can be left out; one level more than the root is dearer than anything that is found.
- A support is a number of records, ceil(share * |D|), the same before and after: what is dropped from a
  release does not make the rest more frequent.
- The mean over several shares (Fig. 20) takes `dml2_lost` over those at which something was lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..kernels.rows import recode_rows
from ..mining.itemsets import Itemsets, frequent_itemsets, least_count, node_at_level
from ..progress import Watch
from ..release.recoding import BeforeAfter, Merged
from .scores import Measure

Ids = NDArray[np.int32]
Counts = NDArray[np.int64]
SHARES = (Fraction(1, 100), Fraction(2, 100), Fraction(3, 100))
"""The shares of the records that an itemset must be in, in the paper's figures."""


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


def _known_losses(pair: BeforeAfter, shares: tuple[Fraction, ...]) -> tuple[MiningLoss, ...]:
    """Return the losses of a pair; several measures ask for the same ones."""
    key = ("mining losses", shares)
    if key not in pair.found:
        pair.found[key] = mining_losses(pair, shares)
    losses: tuple[MiningLoss, ...] = pair.found[key]
    return losses


_KINDS: tuple[tuple[str, str, tuple[int, int | None], str], ...] = (
    (
        "ml2",
        "ML2, multiple level mining loss",
        (0, 1),
        "the share of frequent itemsets, over all levels, not found at their level as published",
    ),
    (
        "dml2",
        "dML2, levels up over all frequent itemsets",
        (0, None),
        "how many levels higher a frequent itemset is first found as published, on average",
    ),
    (
        "dml2_lost",
        "dML2, levels up over the lost ones",
        (0, None),
        "the same over those not found at their own level: 1 or more, or 0 where none was lost",
    ),
)


def ml2_measures(shares: Sequence[Fraction] = SHARES) -> tuple[Measure, ...]:
    """Return ML2 and both readings of dML2 as measures: at each share, and their means over them.

    >>> [measure.name for measure in ml2_measures([Fraction(1, 50)])]
    ['ml2_2%', 'dml2_2%', 'dml2_lost_2%', 'ml2', 'dml2', 'dml2_lost']
    """
    asked = tuple(Fraction(share) for share in shares)
    percents = [f"{float(share * 100):g}%" for share in asked]
    found = [
        Measure(
            f"{name}_{percent}",
            f"{title}, at {percent}",
            "lower",
            limits,
            _at_share(name, asked, number),
            about,
        )
        for number, percent in enumerate(percents)
        for name, title, limits, about in _KINDS
    ]
    told = ", ".join(percents)
    for name, title, limits, about in _KINDS:
        mean = _mean(name, asked)
        found.append(Measure(name, f"{title}, mean at {told}", "lower", limits, mean, about))
    return tuple(found)


def _at_share(
    name: str, shares: tuple[Fraction, ...], number: int
) -> Callable[[BeforeAfter], Fraction]:
    def compute(pair: BeforeAfter) -> Fraction:
        value: Fraction = getattr(_known_losses(pair, shares)[number], name)
        return value

    return compute


def _mean(name: str, shares: tuple[Fraction, ...]) -> Callable[[BeforeAfter], Fraction]:
    def compute(pair: BeforeAfter) -> Fraction:
        values: list[Fraction] = [getattr(loss, name) for loss in _known_losses(pair, shares)]
        if name == "dml2_lost":
            values = [value for value in values if value]
        return sum(values, Fraction(0)) / max(1, len(values))

    return compute


ML2, DML2, DML2_LOST = ml2_measures()[-3:]
