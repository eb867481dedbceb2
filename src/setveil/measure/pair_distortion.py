"""What hiding patterns did to the frequent itemsets: the measure of M. W.-K. Cheng's Tables 2 to 7.

The maximal frequent itemsets of both original data sets together are looked for among those of the
published ones. An itemset is found again where a frequent set of published values names, for each of
its values, the value itself or one above it; the nearest such set tells how far it was distorted (TD,
see `model.costs`). Where there is none the itemset is lost, and is counted as such: the
distortion adds up the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..hierarchy.tree import Hierarchy
from ..kernels.rows import merge_rows, recode_rows
from ..mining.itemsets import frequent_itemsets, least_count
from ..model.costs import ValueDistance
from ..model.numbers import exact_support
from ..model.pattern_pair import PatternPair
from ..release.recoding import PairRecoding

Ids = NDArray[np.int32]


@dataclass(frozen=True)
class KeptItemset:
    """A frequent itemset, the published values it is found under, and how far these are from it.

    `published` and `distance` are None where it is lost. `largest` is the distance to the roots.
    """

    items: tuple[str, ...]
    published: tuple[str, ...] | None
    distance: Fraction | None
    largest: Fraction


@dataclass(frozen=True)
class FrequentDistortion:
    """What became of every maximal frequent itemset."""

    kept: tuple[KeptItemset, ...]

    @property
    def missing(self) -> int:
        """How many itemsets are lost."""
        return sum(itemset.distance is None for itemset in self.kept)

    @property
    def at_the_top(self) -> int:
        """How many itemsets are found under nothing but roots, which says next to nothing."""
        return sum(0 < itemset.largest == itemset.distance for itemset in self.kept)

    @property
    def distortion(self) -> Fraction:
        """How far the others are from what they were, added up."""
        return sum((itemset.distance or Fraction(0) for itemset in self.kept), Fraction(0))

    @property
    def largest(self) -> Fraction:
        """The distortion if every value of every itemset were a root."""
        return sum((itemset.largest for itemset in self.kept), Fraction(0))


def frequent_distortion(
    pair: PatternPair,
    recoding: PairRecoding,
    *,
    frequent_support: float | str | Fraction,
    multilevel: bool = False,
) -> FrequentDistortion:
    """Return what a recoding did to the maximal frequent itemsets.

    An itemset is frequent in a share `frequent_support` of all records; with `multilevel` a record also
    holds what is above its values, before and after.

    Examples
    --------
    >>> from setveil.model.transactions import Transactions
    >>> drinks = Hierarchy.from_parents({"ale": "drink", "tea": "drink", "drink": None})
    >>> rows = Transactions.from_rows([["ale"], ["ale"], ["tea"]])
    >>> pair = PatternPair.of_sets(rows, rows, drinks)
    >>> top = np.full(3, drinks.node_of_label["drink"], dtype=np.int32)
    >>> found = frequent_distortion(pair, PairRecoding((top, top)), frequent_support=0.5)
    >>> found.kept[0].published, found.distortion, found.largest
    (('drink',), Fraction(2, 1), Fraction(2, 1))
    """
    share = (
        frequent_support
        if isinstance(frequent_support, Fraction)
        else exact_support(str(frequent_support))
    )
    before = (pair.sides[0].leaves, pair.sides[1].leaves)
    least = least_count(share, sum(pair.records))
    original = _maximal(pair, before, least, multilevel)
    published = [
        frozenset(found) for found in _maximal(pair, recoding.node_by_entry, least, multilevel)
    ]
    distance = ValueDistance(pair.hierarchy)
    tree = pair.hierarchy
    kept = []
    for itemset in original:
        forms = [form for found in published if (form := _form(itemset, found, tree, multilevel))]
        far = [sum(map(distance.between, itemset, form), Fraction(0)) for form in forms]
        best = min(range(len(forms)), key=lambda place: (far[place], forms[place]), default=None)
        kept.append(
            KeptItemset(
                tuple(sorted(tree.labels[item] for item in itemset)),
                None if best is None else tuple(sorted({tree.labels[node] for node in forms[best]})),
                None if best is None else far[best],
                sum((distance.to_root[item] for item in itemset), Fraction(0)),
            )
        )
    return FrequentDistortion(tuple(sorted(kept, key=lambda itemset: itemset.items)))


def _maximal(
    pair: PatternPair, nodes: tuple[Ids, Ids], least: int, multilevel: bool
) -> list[tuple[int, ...]]:
    """Return the maximal frequent sets of both sides together, their entries read as these nodes."""
    first, second = pair.sides
    indptr = np.concatenate([first.indptr, second.indptr[1:] + first.indptr[-1]])
    both = np.concatenate(nodes).astype(np.int32)
    rows = recode_rows(indptr, np.arange(len(both), dtype=np.int32), both)
    merged = merge_rows(*rows, np.ones(len(indptr) - 1, dtype=np.int64))
    parent = pair.hierarchy.parent if multilevel else None
    found = frequent_itemsets(*merged[:3], len(pair.hierarchy), least, kind="maximal", parent=parent)
    return list(found)


def _form(
    itemset: tuple[int, ...], found: frozenset[int], tree: Hierarchy, multilevel: bool
) -> tuple[int, ...] | None:
    """Return the nearest form of an itemset that a frequent set implies; None where it implies none."""
    form = []
    for item in itemset:
        for node in (item, *tree.ancestors(item)):
            if node in found or (multilevel and any(tree.covers(node, other) for other in found)):
                form.append(node)
                break
        else:
            return None
    return tuple(form)
