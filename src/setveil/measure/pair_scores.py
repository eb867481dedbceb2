"""What hiding patterns cost: values raised, frequent sets kept or lost, and the patterns of before.

The figures come from the original records. They are for the holder of the data alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ResourceLimit, TimeLimit
from ..kernels.rows import expand_rows
from ..mining.emerging import EmergingPatterns, emerging_patterns
from ..mining.itemsets import half_support
from ..model.guarantees import HiddenPatterns
from ..model.pattern_pair import PatternPair, column_of
from ..model.transactions import Transactions, labelled
from ..progress import Watch
from ..release.recoding import PairRecoding
from .pair_distortion import FrequentDistortion, frequent_distortion

MOST_PATTERNS = 50
"""How many patterns reports and plain values list; all of them are counted."""
FEW_SETS = 1_000_000
"""Where one data set has more frequent sets than this, closed patterns are told alone."""
FEW_RARER_SETS = 100_000
"""The same for the sets of half the minimum support, which nothing is promised about."""

Read = tuple[Transactions, Transactions]
"""Both data sets, as a promise reads them: values as they stand, or with all that is above them."""


@dataclass(frozen=True)
class Raised:
    """How far the values of one column, or under one root, were raised.

    `values_by_steps` counts them by how many steps up they are published; 0 is as they are.
    """

    name: str
    values_by_steps: tuple[int, ...]
    ncp: Fraction

    @property
    def values(self) -> int:
        """How many there are."""
        return sum(self.values_by_steps)

    @property
    def raised(self) -> int:
        """How many of them are published as something more general."""
        return sum(self.values_by_steps[1:])

    def as_dict(self) -> dict[str, object]:
        """Return plain values."""
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
        told = f"{self.patterns:,} pattern{'' if self.patterns == 1 else 's'}"
        return f"{told}, {self.jumping:,} of them jumping" if self.patterns else told

    @property
    def told_largest(self) -> str:
        """The largest finite growth as text."""
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
    def told(self) -> str:
        """The figures as one text."""
        if self.before is None or self.after is None:
            return "not counted: too many sets have half the minimum support"
        closed = "closed " if self.kind == "closed" else ""
        return f"from half the minimum support on {closed}{self.after.told}; before {self.before.told}"

    def lines(self) -> Iterator[tuple[str, str, str]]:
        """Yield name, value and meaning of each figure."""
        share = isinstance(self.support, Fraction)
        support = f"{self.support} of the records" if share else f"{self.support:,} records"
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
        """Return plain values."""
        return {
            "min_support": str(self.support) if isinstance(self.support, Fraction) else self.support,
            "kind": self.kind,
            "before": None if self.before is None else self.before.as_dict(),
            "after": None if self.after is None else self.after.as_dict(),
        }


@dataclass(frozen=True, eq=False)
class PairScores:
    """The figures of one release of two data sets; ``print`` it for a summary.

    Attributes
    ----------
    guarantee
        What the release promises.
    columns
        How far values were raised, by column, of sets by root.
    ncp
        The mean over all values: how much of its tree a value is published as, from 0 to 1.
    frequent
        What became of the frequent sets of values.
    before
        The patterns of the originals, where every level counts at every level; only closed ones where
        there are too many (``before.options["kind"]``), None where these are too many, too.
    rarer
        The patterns from half the minimum support on, before and after; None where the minimum support
        is one record, below which there is nothing.
    """

    guarantee: HiddenPatterns
    columns: tuple[Raised, ...]
    ncp: Fraction
    frequent: FrequentDistortion
    before: EmergingPatterns | None
    rarer: RarerSets | None = None

    @property
    def values(self) -> int:
        """How many values there are."""
        return sum(column.values for column in self.columns)

    @property
    def raised(self) -> int:
        """How many of them are published as something more general."""
        return sum(column.raised for column in self.columns)

    @property
    def fates(self) -> Mapping[str, int]:
        """How many frequent sets are kept exactly, in a general form, or lost."""
        found = {"exactly": 0, "in a general form": 0, "lost": 0}
        for itemset in self.frequent.kept:
            if itemset.published is None:
                found["lost"] += 1
            else:
                found["exactly" if itemset.published == itemset.items else "in a general form"] += 1
        return found

    def lines(self) -> Iterator[tuple[str, str, str]]:
        """Yield name, value and meaning of each figure."""
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
        """Yield the same of the patterns from half the minimum support on, if there can be any."""
        if self.rarer is not None:
            yield from self.rarer.lines()

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

    def __str__(self) -> str:
        lines = [*self.lines(), *self.rarer_lines()]
        widths = [max(len(line[place]) for line in lines) for place in (0, 1)]
        return "\n".join(
            f"{name.ljust(widths[0])}  {value.rjust(widths[1])}  {meaning}"
            for name, value, meaning in lines
        )

    def __repr__(self) -> str:
        return f"PairScores({self.raised:,} of {self.values:,} values raised)"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(name)}</td><td>{escape(value)}</td><td>{escape(meaning)}</td></tr>"
            for name, value, meaning in (*self.lines(), *self.rarer_lines())
        )
        return f"<table>{rows}</table>"


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
    before, after = (_as_read(pair, nodes, guarantee) for nodes in (leaves, recoding.node_by_entry))
    names = pair.names if pair.names[0] != pair.names[1] else ("first", "second")
    given: dict[str, Any] = {"names": names, "watch": watch, "threads": threads}
    patterns = None
    for kind in ("all", "closed"):
        patterns = _patterns(before, guarantee, guarantee.min_support, kind, FEW_SETS, **given)
        if patterns is not None:
            break
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
    roots = sorted(set(root.tolist()), key=lambda node: _place(pair, node))
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


def _place(pair: PatternPair, root: int) -> tuple[int, str]:
    label = pair.hierarchy.labels[root]
    return (pair.columns.index(column_of(label, pair.columns)) if pair.columns else 0), label


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
            _patterns(data, guarantee, half, kind, FEW_RARER_SETS, **given) for data in (before, after)
        ]
        if both[0] is not None and both[1] is not None:
            return RarerSets(half, kind, _grown(both[0]), _grown(both[1]))
    return RarerSets(half, "closed", None, None)


def _grown(found: EmergingPatterns) -> Grown:
    jumping = len(found.jumping)
    # Jumping patterns come first, then by growth.
    fastest = next(islice(found, jumping, None), None)
    return Grown(len(found), jumping, None if fastest is None else fastest.growth)


def _patterns(
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


def _as_read(
    pair: PatternPair, nodes: tuple[NDArray[np.int32], ...], guarantee: HiddenPatterns
) -> Read:
    """Return both data sets, their entries these nodes, as the guarantee reads them."""
    tree = pair.hierarchy
    above = tree.parent if guarantee.every_level else np.full(len(tree), -1, dtype=np.int32)
    first, second = (
        labelled(*expand_rows(side.indptr, read, above), tree.labels)
        for side, read in zip(pair.sides, nodes, strict=True)
    )
    return first, second
