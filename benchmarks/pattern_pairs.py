"""Pairs of data sets whose patterns are hidden: Adult and Mushroom as Cheng splits them, and others.

Adult's hierarchies lie beside the data, but for `relationship`; that one and Mushroom's were made by
hand, see `hierarchies/README.md`.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np

from .data import ROOT, Source, data_file
from .tables import SEED

ADULT = (
    *("workclass", "education", "marital-status", "occupation"),
    *("relationship", "race", "sex", "native-country"),
)
MUSHROOM = (
    *("cap-color", "odor", "gill-color", "stalk-color-above-ring"),
    *("stalk-color-below-ring", "veil-color", "spore-print-color"),
)
ANNEALING = ("temperature", "cooling", "restarts", "seed")
HIERARCHIES = ROOT / "benchmarks" / "hierarchies"


def adult() -> Any:
    """Return the complete rows of Adult by income: 22,654 up to 50K and 7,508 above."""
    return _adult({name: _tree_of_adult(name) for name in ADULT})


def flat_adult() -> Any:
    """Return the same rows with nothing between a value and the root of its column."""
    return _adult(None)


def _adult(trees: dict[str, Any] | None) -> Any:
    from setveil.io.pairs import read_pattern_pair

    return read_pattern_pair(
        data_file("adult.csv.gz"),
        class_column="salary-class",
        attributes=ADULT,
        missing="?",
        missing_cells="suppress-row",
        hierarchy=trees,
    )


def mushroom() -> Any:
    """Return the complete rows of Mushroom: 3,488 edible and 2,156 poisonous."""
    from setveil.io.pairs import read_pattern_pair

    return read_pattern_pair(
        data_file("mushroom.csv.gz"),
        class_column="class",
        attributes=MUSHROOM,
        missing="?",
        missing_cells="complete-rows",
        hierarchy={
            name: made_by_hand("mushroom-odor" if name == "odor" else "mushroom-colour")
            for name in MUSHROOM
        },
    )


def wide_mushroom() -> Any:
    """Return all rows of Mushroom with all 22 attributes, values with nothing above them but a root."""
    from setveil.io.pairs import read_pattern_pair

    return read_pattern_pair(
        data_file("mushroom.csv.gz"), class_column="class", missing="?", missing_cells="category"
    )


def made_by_hand(name: str) -> Any:
    """Return a hierarchy of the folder `hierarchies`."""
    import setveil as sv

    return sv.read_hierarchy(str(HIERARCHIES / f"{name}.csv"))


def _tree_of_adult(name: str) -> Any:
    import setveil as sv

    if name == "relationship":
        return made_by_hand("adult-relationship")
    return sv.read_hierarchy(str(data_file(f"adult_hierarchy_{name}.csv")))


def halves(source: Source) -> Any:
    """Return the first and the second half of a data set's records, in their order."""
    from setveil.model.pattern_pair import PatternPair

    source.check()
    data, tree = source.load()
    middle, end = len(data) // 2, len(data)
    return PatternPair.of_sets(data.take(np.arange(middle)), data.take(np.arange(middle, end)), tree)


def tiny(rows: int = 120) -> Any:
    """Return a small made table with a few patterns; one of its two columns has two levels."""
    from setveil.hierarchy.tree import Hierarchy
    from setveil.model.pattern_pair import PatternPair
    from setveil.model.transactions import Transactions

    random = Random(SEED)
    towns = Hierarchy.from_parents(
        {"p": "north", "q": "north", "r": "south", "s": "south", "north": "*", "south": "*", "*": None}
    )
    sides = [
        Transactions.from_rows(
            [f"town={random.choices('pqrs', weights)[0]}", f"job={random.choices('xyz', jobs)[0]}"]
            for _ in range(rows)
        )
        for weights, jobs in (((8, 1, 3, 3), (5, 1, 1)), ((1, 8, 3, 3), (3, 1, 1)))
    ]
    return PatternPair.of_tables(*sides, ("town", "job"), {"town": towns})


def drawn_again(pair: Any, rows: int, *, changed: float = 0.02) -> Any:
    """Return a pair of tables of `rows` records in all, drawn from one with replacement.

    A share of the cells gets the value of another record of the same side, so that records are not
    only copies.
    """
    from setveil.model.transactions import Rows

    chance = np.random.default_rng(SEED)
    sides = []
    for side in pair.sides:
        column_by_entry = pair.hierarchy.root[side.leaves]
        width = int(side.indptr[1])
        if (np.diff(side.indptr) != width).any():
            raise ValueError("only tables without empty cells are drawn again.")
        lines = side.leaves.reshape(-1, width)
        by_column = np.argsort(column_by_entry.reshape(-1, width), axis=1)
        lines = np.take_along_axis(lines, by_column, axis=1)
        wanted = round(rows * len(lines) / sum(pair.records))
        drawn = lines[chance.integers(0, len(lines), wanted)]
        for column in range(width):
            places = np.flatnonzero(chance.random(wanted) < changed)
            drawn[places, column] = lines[chance.integers(0, len(lines), len(places)), column]
        leaves = np.sort(drawn, axis=1).reshape(-1).astype(np.int32)
        sides.append(Rows(np.arange(wanted + 1, dtype=np.int64) * width, leaves))
    return replace(pair, sides=tuple(sides))


def digest(pair: Any) -> str:
    """Return a short name for the records and the hierarchies of a pair; equal where both are."""
    found = hashlib.sha256(repr(sorted(pair.hierarchy.parents_by_label().items())).encode())
    for side in pair.sides:
        found.update(np.diff(side.indptr).astype("<i4").tobytes())
        found.update(side.leaves.astype("<i4").tobytes())
    return found.hexdigest()[:16]


def hidden(pair: Any, *, time_limit: float | None = None, **options: Any) -> Any:
    """Return the release of a pair without patterns.

    `options` are those of the method, and `growth`, `min_support` and `every_level` of the promise.
    Those of annealing are left out where another search is asked for.
    """
    from setveil.api import anonymize
    from setveil.model.guarantees import HiddenPatterns
    from setveil.progress import Watch

    if options.get("search") != "annealed":
        options = {name: value for name, value in options.items() if name not in ANNEALING}
    promise = {
        name: options.pop(name) for name in ("growth", "min_support", "every_level") if name in options
    }
    return anonymize(pair, HiddenPatterns(**promise), watch=Watch(time_limit=time_limit), **options)


def judged(release: Any) -> dict[str, Any]:
    """Return what the audit finds in a release, and what the release cost, as plain values."""
    from setveil.editions.pairs import scores_of
    from setveil.publish import edition_of

    finding, scores = edition_of(release).audit_unwritten(), scores_of(release)
    return {
        "holds": finding.holds,
        "patterns_left": finding.patterns,
        "patterns_left_every_level": finding.patterns_every_level,
        "rounds": release.figures["rounds"],
        "patterns_before": release.figures.get("patterns before", 0),
        "itemsets": len(scores.frequent.kept),
        "missing": scores.frequent.missing,
        "distortion": str(scores.frequent.distortion),
        "largest": str(scores.frequent.largest),
        "cells": scores.values,
        "raised": scores.raised,
        "ncp": round(float(scores.ncp), 6),
    }
