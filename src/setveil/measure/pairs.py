"""What hiding patterns cost: values raised, frequent sets kept or lost, and the patterns of before.

The figures come from the original records. They are for the holder of the data alone.

What became of frequent sets is the measure of M. W.-K. Cheng's Tables 2 to 7. The maximal frequent
itemsets of both original data sets together are looked for among those of the published ones. An
itemset is found again where a frequent set of published values names, for each of its values, the value
itself or one above it; the nearest such set tells how far it was distorted (TD, see
`model.costs`). Where there is none the itemset is lost, and is counted as such: the distortion
adds up the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ResourceLimit, TimeLimit
from ..hierarchy.tree import Hierarchy
from ..kernels.rows import expand_rows, merge_rows, recode_rows
from ..mining.emerging import EmergingPatterns, emerging_patterns
from ..mining.itemsets import frequent_itemsets, half_support, least_count
from ..model.costs import ValueDistance
from ..model.guarantees import HiddenPatterns
from ..model.numbers import counted, exact_support
from ..model.pattern_pair import PatternPair, column_of
from ..model.transactions import Transactions, labelled
from ..progress import Watch
from ..release.recoding import PairRecoding
from .scores import Figures

Ids = NDArray[np.int32]
MOST_PATTERNS = 50
"""How many patterns reports and plain values list; all of them are counted."""
FEW_SETS = 1_000_000
"""Where one data set has more frequent sets than this, closed patterns are told alone."""
FEW_RARER_SETS = 100_000
"""The same for the sets of half the minimum support, which nothing is promised about."""
Read = tuple[Transactions, Transactions]
"""Both data sets, as a promise reads them: values as they stand, or with all that is above them."""


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
        return sum(itemset.distance is None for itemset in self.kept)

    @property
    def at_the_top(self) -> int:
        """How many are found under nothing but roots, which says next to nothing."""
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


@dataclass(frozen=True)
class Raised:
    """How far the values of one column, or under one root, were raised: how many by 0, 1, ... steps."""

    name: str
    values_by_steps: tuple[int, ...]
    ncp: Fraction

    @property
    def values(self) -> int:
        return sum(self.values_by_steps)

    @property
    def raised(self) -> int:
        return sum(self.values_by_steps[1:])

    def as_dict(self) -> dict[str, object]:
        return {
            "name": self.name,
            "values": self.values,
            "raised": self.raised,
            "values_by_steps": list(self.values_by_steps),
            "ncp": float(self.ncp),
        }


@dataclass(frozen=True)
class Grown:
    """How many sets are patterns, how many of these jump, and the largest finite growth of them."""

    patterns: int
    jumping: int
    largest: Fraction | None

    @property
    def told(self) -> str:
        """The numbers as text.

        >>> Grown(295, 108, Fraction(2764, 2)).told
        '295 patterns, 108 of them jumping'
        """
        told = counted(self.patterns, "pattern")
        return f"{told}, {self.jumping:,} of them jumping" if self.patterns else told

    @property
    def told_largest(self) -> str:
        return "none" if self.largest is None else f"{float(self.largest):,.2f}"

    def as_dict(self) -> dict[str, object]:
        """Return plain values; the growth exactly, None where there is no finite one."""
        largest = None if self.largest is None else [self.largest.numerator, self.largest.denominator]
        return {"patterns": self.patterns, "jumping": self.jumping, "largest_growth": largest}


@dataclass(frozen=True)
class RarerSets:
    """The patterns from half the minimum support on, before and after; nothing is promised of them.

    Hiding moves supports, so a difference that is too rare to be a pattern can become larger by it.
    """

    support: Fraction | int
    """Half the minimum support, a count rounded up."""
    kind: str
    """"all" sets, or only the "closed" ones, where there are too many."""
    before: Grown | None
    after: Grown | None
    """None, both, where there are too many of these too."""

    @property
    def told_support(self) -> str:
        if isinstance(self.support, int):
            return f"{self.support:,} records"
        return f"{self.support} of the records"

    @property
    def told(self) -> str:
        if self.before is None or self.after is None:
            return "not counted: too many sets have half the minimum support"
        closed = "closed " if self.kind == "closed" else ""
        return f"from half the minimum support on {closed}{self.after.told}; before {self.before.told}"

    def lines(self) -> Iterator[tuple[str, str, str]]:
        support = self.told_support
        closed = ", closed sets alone" if self.kind == "closed" else ""
        for when, found in (("before", self.before), ("after", self.after)):
            name, of = f"rarer patterns {when}", f"from half the minimum support on, {support}{closed}"
            if found is None:
                yield (name, "not counted", f"too many sets {of}")
                continue
            yield (name, f"{found.patterns:,}", f"{of}; nothing is promised of them")
            yield (f"of them jumping, {when}", f"{found.jumping:,}", "in one data set alone")
            yield (f"their largest growth, {when}", found.told_largest, "of those that do not jump")

    def as_dict(self) -> dict[str, Any]:
        return {
            "min_support": str(self.support) if isinstance(self.support, Fraction) else self.support,
            "kind": self.kind,
            "before": None if self.before is None else self.before.as_dict(),
            "after": None if self.after is None else self.after.as_dict(),
        }


@dataclass(frozen=True, eq=False)
class PairScores(Figures):
    """The figures of one release of two data sets; ``print`` it for a summary.

    `columns` tell how far values were raised, by column, of sets by root; `ncp` is the mean over all
    values: how much of its tree a value is published as, from 0 to 1. `before` are the patterns of the
    originals, where every level counts at every level; only closed ones where there are too many
    (``before.options["kind"]``), None where these are too many, too. `rarer` are those from half the
    minimum support on; None where that is one record, below which there is nothing.

    >>> import setveil as sv
    >>> tree = sv.Hierarchy.from_parents({"ale": "drink", "tea": "drink", "drink": None})
    >>> sides = [sv.Transactions.from_rows([[item]]) for item in ("ale", "tea")]
    >>> hidden = sv.anonymize(sv.PatternPair.of_sets(*sides, tree), sv.HiddenPatterns(growth=2))
    >>> sv.measure(hidden).ncp
    Fraction(1, 1)
    """

    guarantee: HiddenPatterns
    columns: tuple[Raised, ...]
    ncp: Fraction
    frequent: FrequentDistortion
    before: EmergingPatterns | None
    rarer: RarerSets | None = None

    @property
    def values(self) -> int:
        return sum(column.values for column in self.columns)

    @property
    def raised(self) -> int:
        return sum(column.raised for column in self.columns)

    @property
    def fates(self) -> Mapping[str, int]:
        """How many frequent sets are kept exactly, in a general form, or lost."""
        kept = self.frequent.kept
        exactly = sum(itemset.published == itemset.items for itemset in kept)
        lost = self.frequent.missing
        return {"exactly": exactly, "in a general form": len(kept) - exactly - lost, "lost": lost}

    def main_lines(self) -> Iterator[tuple[str, str, str]]:
        share = f"{self.raised / self.values:.2%}" if self.values else "none"
        yield ("values raised", share, f"{self.raised:,} of {self.values:,} values")
        yield (
            "NCP of values",
            f"{float(self.ncp):.4f}",
            "0: all as they are, 1: all raised to the root",
        )
        of_all = f"of {len(self.frequent.kept):,} maximal ones"
        for fate, number in self.fates.items():
            name = "frequent sets lost" if fate == "lost" else f"frequent sets kept {fate}"
            top = self.frequent.at_the_top if fate == "in a general form" else 0
            yield (name, f"{number:,}", of_all + (f"; {top:,} as nothing but roots" if top else ""))
        largest = self.frequent.largest
        share = f"{float(self.frequent.distortion / largest):.2%}" if largest else "0.00%"
        yield ("distortion of frequent sets", share, "of the largest possible, lost sets aside")
        before = "too many" if self.before is None else f"{len(self.before):,}"
        closed = self.before is not None and self.before.options["kind"] == "closed"
        kind = "closed sets, the others are too many, " if closed else ""
        told = f"{kind}of growth {self.guarantee.growth} or more in the originals"
        yield ("patterns before", before, told)

    def rarer_lines(self) -> Iterator[tuple[str, str, str]]:
        if self.rarer is not None:
            yield from self.rarer.lines()

    def lines(self) -> list[tuple[str, str, str]]:
        return [*self.main_lines(), *self.rarer_lines()]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values; of the patterns the fastest growing."""
        frequent = {
            "sets": len(self.frequent.kept),
            **{fate.replace(" ", "_"): number for fate, number in self.fates.items()},
            "distortion": float(self.frequent.distortion),
            "largest_distortion": float(self.frequent.largest),
        }
        return {
            "values": self.values,
            "raised": self.raised,
            "ncp": float(self.ncp),
            "columns": [column.as_dict() for column in self.columns],
            "frequent": frequent,
            "patterns_before": None
            if self.before is None
            else {
                "number": len(self.before),
                "kind": self.before.options["kind"],
                "first": self.before[:MOST_PATTERNS].as_dicts(),
            },
            "half_support": None if self.rarer is None else self.rarer.as_dict(),
        }

    def __repr__(self) -> str:
        return f"PairScores({self.raised:,} of {self.values:,} values raised)"


def measure_pair(
    pair: PatternPair,
    recoding: PairRecoding,
    guarantee: HiddenPatterns,
    *,
    frequent_support: Fraction | float,
    multilevel: bool = False,
    watch: Watch | None = None,
    threads: int | None = None,
) -> PairScores:
    """Return what a recoding of two data sets cost.

    Patterns of before are counted by the growth and support of the `guarantee`. A set of values is
    frequent in a share `frequent_support` of all records; with `multilevel` sets of categories count
    too.
    """
    watch = watch or Watch()
    watch.tick("counting raised values", None)
    columns, ncp = raised_values(pair, recoding)
    watch.tick("comparing frequent sets", None)
    frequent = frequent_distortion(
        pair, recoding, frequent_support=frequent_support, multilevel=multilevel
    )
    leaves = tuple(side.leaves for side in pair.sides)
    before, after = (as_read(pair, nodes, guarantee) for nodes in (leaves, recoding.node_by_entry))
    given: dict[str, Any] = {"names": pair.different_names, "watch": watch, "threads": threads}
    kinds = ("all", "closed")
    tried = (
        patterns_of(before, guarantee, guarantee.min_support, kind, FEW_SETS, **given) for kind in kinds
    )
    patterns = next((found for found in tried if found is not None), None)
    rarer = rarer_sets(before, after, guarantee, **given)
    return PairScores(guarantee, columns, ncp, frequent, patterns, rarer)


def raised_values(pair: PatternPair, recoding: PairRecoding) -> tuple[tuple[Raised, ...], Fraction]:
    """Return how far values were raised, by column or root, and the mean over all of them."""
    tree = pair.hierarchy
    leaves = np.concatenate([side.leaves for side in pair.sides])
    nodes = np.concatenate(recoding.node_by_entry)
    root = tree.root[leaves]
    steps = (tree.depth[leaves] - tree.depth[nodes]).astype(np.int64)
    found: list[Raised] = []
    total = Fraction(0)

    def place(node: int) -> tuple[int, str]:
        label = tree.labels[node]
        return (pair.columns.index(column_of(label, pair.columns)) if pair.columns else 0), label

    roots = sorted(set(root.tolist()), key=place)
    for node in roots:
        here = root == node
        others = int(tree.leaf_count[node]) - 1
        covered = int((tree.leaf_count[nodes[here]] - 1).sum())
        loss = Fraction(covered, others) if others else Fraction(0)
        total += loss
        name = tree.labels[node]
        name = column_of(name, pair.columns) if pair.columns else name
        found.append(Raised(name, tuple(np.bincount(steps[here]).tolist()), loss / int(here.sum())))
    return tuple(found), total / len(leaves) if len(leaves) else Fraction(0)


def rarer_sets(before: Read, after: Read, guarantee: HiddenPatterns, **given: Any) -> RarerSets | None:
    """Return the patterns from half the minimum support on, before and after a recoding.

    None where nothing is rarer than the minimum support. The sets are limited, not the time: what is
    told does not depend on the machine.

    Examples
    --------
    >>> here, there = (Transactions.from_rows([["ale"]] * n + [["tea"]] * (9 - n)) for n in (1, 4))
    >>> found = rarer_sets((here, there), (here, here), HiddenPatterns(4, Fraction(1, 2)))
    >>> found.support, found.told
    (Fraction(1, 4), 'from half the minimum support on 0 patterns; before 1 pattern, 0 of them jumping')
    """
    half = half_support(guarantee.min_support)
    if half is None:
        return None
    for kind in ("all", "closed"):
        both = [
            patterns_of(data, guarantee, half, kind, FEW_RARER_SETS, **given)
            for data in (before, after)
        ]
        if both[0] is not None and both[1] is not None:
            return RarerSets(half, kind, _grown(both[0]), _grown(both[1]))
    return RarerSets(half, "closed", None, None)


def _grown(found: EmergingPatterns) -> Grown:
    jumping = len(found.jumping)
    # Jumping patterns come first, then by growth.
    fastest = next(islice(found, jumping, None), None)
    return Grown(len(found), jumping, None if fastest is None else fastest.growth)


def patterns_of(
    data: Read,
    guarantee: HiddenPatterns,
    support: Fraction | int,
    kind: str,
    most_sets: int,
    **given: Any,
) -> EmergingPatterns | None:
    """Return the patterns of this support; None where more sets than so many have it."""
    try:
        return emerging_patterns(
            *data,
            growth=guarantee.growth,
            min_support=support,
            kind=kind,
            most_sets=most_sets,
            **given,
        )
    except TimeLimit:
        raise
    except ResourceLimit:  # the other figures are told all the same
        return None


def as_read(pair: PatternPair, nodes: tuple[NDArray[np.int32], ...], guarantee: HiddenPatterns) -> Read:
    """Return both data sets, their entries these nodes, as the guarantee reads them."""
    tree = pair.hierarchy
    above = tree.parent if guarantee.every_level else np.full(len(tree), -1, dtype=np.int32)
    first, second = (
        labelled(*expand_rows(side.indptr, read, above), tree.labels)
        for side, read in zip(pair.sides, nodes, strict=True)
    )
    return first, second
