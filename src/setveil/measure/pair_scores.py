"""What hiding patterns cost: values raised, frequent sets kept or lost, and the patterns of before.

The figures come from the original records. They are for the holder of the data alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import Any

import numpy as np

from ..errors import ResourceLimit, TimeLimit
from ..kernels.rows import expand_rows
from ..mining.emerging import EmergingPatterns, emerging_patterns
from ..model.guarantees import HiddenPatterns
from ..model.hierarchy import Hierarchy
from ..model.pattern_pair import PatternPair, column_of
from ..model.transactions import Rows, Transactions
from ..progress import Watch
from ..release.pair_recoding import PairRecoding
from ..release.sealing import as_labels, labelled
from .pair_distortion import FrequentDistortion, frequent_distortion

MOST_PATTERNS = 50
"""How many patterns reports and plain values list; all of them are counted."""
FEW_SETS = 1_000_000
"""Where one data set has more frequent sets than this, closed patterns are told alone."""


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
    """

    guarantee: HiddenPatterns
    columns: tuple[Raised, ...]
    ncp: Fraction
    frequent: FrequentDistortion
    before: EmergingPatterns | None

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
        }

    def __str__(self) -> str:
        lines = list(self.lines())
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
            for name, value, meaning in self.lines()
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

    Parameters
    ----------
    pair, recoding
        The originals, and how they are published.
    guarantee
        What was promised: patterns of before are counted by its growth and support.
    frequent_support
        The share of all records that makes a set of values frequent.
    multilevel
        Sets of categories count too.
    watch
        Progress and cancelling.
    threads
        How many threads count.
    """
    watch = watch or Watch()
    watch.tick("counting raised values", None)
    columns, ncp = raised_values(pair, recoding)
    watch.tick("comparing frequent sets", None)
    frequent = frequent_distortion(
        pair, recoding, frequent_support=frequent_support, multilevel=multilevel
    )
    return PairScores(guarantee, columns, ncp, frequent, _before(pair, guarantee, watch, threads))


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


def _before(
    pair: PatternPair, guarantee: HiddenPatterns, watch: Watch, threads: int | None
) -> EmergingPatterns | None:
    as_read = _with_ancestors if guarantee.every_level else as_labels
    first, second = (as_read(side, pair.hierarchy) for side in pair.sides)
    names = pair.names if pair.names[0] != pair.names[1] else ("first", "second")
    for kind in ("all", "closed"):
        try:
            return emerging_patterns(
                first,
                second,
                growth=guarantee.growth,
                min_support=guarantee.min_support,
                kind=kind,
                most_sets=FEW_SETS,
                names=names,
                watch=watch,
                threads=threads,
            )
        except TimeLimit:
            raise
        except ResourceLimit:  # more than fit: the other figures are told all the same
            continue
    return None


def _with_ancestors(rows: Rows, tree: Hierarchy) -> Transactions:
    """Return records of labels in which each value stands for all above it, too."""
    return labelled(*expand_rows(rows.indptr, rows.leaves, tree.parent), tree.labels)
