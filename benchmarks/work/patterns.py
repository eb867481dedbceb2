"""Emerging patterns of Adult by income and of Mushroom by edibility, as Cheng's section 8 splits them.

The counts are those of the paper where it prints any (8 patterns at a growth of 35), else of a plain
count. A million rows are Adult's drawn again.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ..context import Context
from ..data import data_file
from ..pattern_pairs import ADULT, MUSHROOM
from ..report import Bar, Cell, Report, Table, at_most, is_true
from ..tables import SEED
from ..worker import timed

SECONDS, SECONDS_OF_A_MILLION = 0.2, 5.0
ROWS = 1_000_000
KNOWN = {("Adult", 35): (8, 0), ("Adult", 5): (56, 121)}
"""Patterns that are more frequent in the first and in the second data set, by data and growth."""
POINTS = (
    (35, Fraction(1, 10), False),
    (5, Fraction(1, 10), False),
    (5, Fraction(1, 10), True),
    (5, Fraction(1, 100), False),
    (5, Fraction(1, 1000), False),
    (5, Fraction(1, 1000), True),
)
COLUMNS = (
    "data",
    "growth",
    "support",
    "only minimal",
    "seconds",
    "in the first",
    "in the second",
    "jumping",
)


def run(context: Context) -> Report:
    """Mine at several growths and supports."""
    from setveil.mining.emerging import emerging_patterns

    rows: list[tuple[Cell, ...]] = []
    bars: list[Bar] = []
    for name, pair, limit in _pairs(context):
        for growth, support, minimal in POINTS[:3] if context.quick or limit is None else POINTS:
            context.note(f"{name}, growth {growth}, support {float(support):g}")
            found, spent = timed(
                lambda p=pair, g=growth, s=support, m=minimal: emerging_patterns(
                    *p, growth=g, min_support=s, minimal=m
                ),
                runs=1 if context.quick else 5,
            )
            numbers = tuple(len(found.more_frequent_in(side)) for side in ("first", "second"))
            point = f"{name}, growth {growth}"
            seconds = spent["seconds"]
            rows.append((name, growth, float(support), minimal, seconds, *numbers, len(found.jumping)))
            if support == Fraction(1, 10) and not minimal:
                limit_here = SECONDS_OF_A_MILLION if limit is None else limit
                bars.append(at_most(point, seconds, limit_here, quick=context.quick))
                if (name, growth) in KNOWN:
                    same = numbers == KNOWN[name, growth]
                    bars.append(is_true(f"{point}: as many as known", same, quick=context.quick))
    return Report(
        "patterns",
        "Emerging patterns of Adult (22,654 and 7,508 rows) and Mushroom (3,488 and 2,156 rows)",
        (Table(COLUMNS, tuple(rows)),),
        tuple(bars),
        (
            "medians of 5 runs, warmed, in one process, from records in memory.",
            "first and second: incomes up to 50K and above; edible and poisonous.",
        ),
        context.quick,
    )


def _pairs(context: Context) -> list[tuple[str, Any, float | None]]:
    """Return the data sets with their time limits, None for the large one."""
    if context.quick:
        return [("tiny", _tiny(), SECONDS)]
    from setveil.io.pairs import read_classes

    adult = read_classes(
        data_file("adult.csv.gz"),
        class_column="salary-class",
        attributes=ADULT,
        missing="?",
        missing_cells="suppress-row",
    )
    mushroom = read_classes(
        data_file("mushroom.csv.gz"),
        class_column="class",
        attributes=MUSHROOM,
        missing="?",
        missing_cells="complete-rows",
    )
    chance = np.random.default_rng(SEED)
    share = len(adult.first) / (len(adult.first) + len(adult.second))
    large = tuple(
        data.take(chance.integers(0, len(data), round(ROWS * part)))
        for data, part in ((adult.first, share), (adult.second, 1 - share))
    )
    return [
        ("Adult", (adult.first, adult.second), SECONDS),
        ("Mushroom", (mushroom.first, mushroom.second), SECONDS),
        (f"Adult, {ROWS:,} rows", large, None),
    ]


def _tiny() -> Any:
    """Return two small data sets, in one of which some items are rare."""
    from setveil.model.transactions import Transactions

    chance = np.random.default_rng(SEED)
    rates = np.linspace(0.1, 0.9, 8), np.linspace(0.9, 0.1, 8)
    return tuple(
        Transactions.from_rows(
            [f"item {item}" for item in np.flatnonzero(chance.random(8) < rate)] for _ in range(60)
        )
        for rate in rates
    )
