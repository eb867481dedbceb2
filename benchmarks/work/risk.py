"""The risk curve: seconds, and how much of it is counted rather than estimated.

Raw records are the hard case for counting up to many items, a release for counting up to m. The plain
rival goes through all sets of three items of the records, with sets in plain Python.
"""

from __future__ import annotations

import time
from itertools import combinations, pairwise
from typing import Any

from ..context import Context
from ..report import Cell, Report, Table, at_least, at_most, is_true, ratio
from ..worker import timed

K, M = 5, 2
WEBVIEW_SECONDS, POS_SECONDS, QUICK_SECONDS, TIMES_FASTER = 4.0, 20.0, 1.0, 20
QUICK_RECORDS = 100_000
RIVAL_RECORDS = 4_000


def average_in_python(rows: list[list[int]], k: int, size: int) -> tuple[float, float]:
    """Return the worst and the average reading, by counting every set of `size` items of every row."""
    support: dict[tuple[int, ...], int] = {}
    for row in rows:
        for length in range(1, size + 1):
            for part in combinations(row, length):
                support[part] = support.get(part, 0) + 1
    worst, average = 0, 0.0
    for row in rows:
        parts = list(combinations(row, min(size, len(row))))
        rare = sum(support.get(part, len(rows)) < k for part in parts)
        worst += rare > 0
        average += rare / len(parts)
    return worst / len(rows), average / len(rows)


def _row(name: str, data: Any, most: int, budget: int, told: str, quick: bool) -> tuple[Cell, ...]:
    from setveil.risk.curve import READINGS, risk_curve

    curve, took = timed(lambda: risk_curve(data, K, most=most, budget=budget), runs=1 if quick else 3)
    shares = [getattr(point, reading) for point in curve.points for reading in READINGS]
    exact = f"{sum(share.exact for share in shares)} of {len(shares)}"
    widest = max(share.high - share.low for share in shares)
    at_m, at_end = curve.at(M), curve.points[-1]
    return (
        name,
        told,
        most,
        took["seconds"],
        exact,
        round(widest, 4),
        round(float(at_m.worst.value), 6),
        round(float(at_end.worst.value), 6),
        round(float(at_end.average.value), 6),
    )


def run(context: Context) -> Report:
    """Make curves of raw and of published records, and one in plain Python."""
    import setveil as sv
    from setveil.risk.curve import BUDGET, quick_budget, risk_curve

    webview, tree = context.source("BMS-WebView-2").load()
    large, _ = context.source("POS shape").load()
    fewer, _ = context.source("POS shape", records=QUICK_RECORDS).load()
    release = sv.anonymize(webview, sv.KmAnonymity(K, M), hierarchy=tree, method="aa")
    risk_curve(fewer.take(_first(min(500, len(fewer)))), K, budget=1000)  # compiles what is drawn
    rows = []
    for name, data, most, budget, told in (
        ("BMS-WebView-2", webview, 4, BUDGET, "full"),
        ("BMS-WebView-2", webview, 6, BUDGET, "full"),
        ("BMS-WebView-2", webview, 6, quick_budget(len(webview)), "quick"),
        (f"its release, m={M}", release.published, 6, BUDGET, "full"),
        (f"its release, m={M}", release.published, 6, quick_budget(release.records), "quick"),
        (f"POS shape, {len(fewer):,}", fewer, 6, quick_budget(len(fewer)), "quick"),
        ("POS shape", large, 6, BUDGET, "full"),
        ("POS shape", large, 6, quick_budget(len(large)), "quick"),
    ):
        context.note(f"{name}, {told}, up to {most} items")
        rows.append(_row(name, data, most, budget, told, context.quick))
    some = webview.take(_first(min(RIVAL_RECORDS, len(webview))))
    bounds, items = some.indptr.tolist(), some.items.tolist()
    sets = [items[start:end] for start, end in pairwise(bounds)]
    started = time.perf_counter()
    worst, average = average_in_python(sets, K, 3)
    theirs = time.perf_counter() - started
    curve, took = timed(lambda: risk_curve(some, K, most=3), runs=1 if context.quick else 3)
    same = abs(float(curve.at(3).worst.value) - worst) < 1e-9
    same &= abs(float(curve.at(3).average.value) - average) < 1e-9
    quick = context.quick
    return Report(
        "risk",
        f"The risk curve at k={K}",
        (
            Table(
                (
                    "records",
                    "work",
                    "most known",
                    "seconds",
                    "counted",
                    "widest interval",
                    f"worst at {M}",
                    "worst at the end",
                    "average at the end",
                ),
                tuple(rows),
            ),
            Table(
                ("three items known", "seconds", "worst", "average"),
                (
                    ("setveil, all four readings, 1 to 3 items", took["seconds"], worst, average),
                    ("sets in plain Python, k alone, 3 items", theirs, worst, average),
                ),
                f"The first {len(sets):,} records of BMS-WebView-2",
            ),
        ),
        (
            at_most("BMS-WebView-2, up to 4 items", _float(rows[0][3]), WEBVIEW_SECONDS, quick=quick),
            at_most(f"{len(fewer):,} records, quick", _float(rows[5][3]), QUICK_SECONDS, quick=quick),
            at_most("POS shape, full", _float(rows[6][3]), POS_SECONDS, quick=quick),
            at_least(
                "faster than sets in plain Python",
                ratio(theirs, took["seconds"]),
                TIMES_FASTER,
                quick=quick,
            ),
            is_true("both find the same", same, quick=quick),
            is_true(
                f"a release has no record at risk up to {M} items",
                all(row[6] == 0 for row in rows[3:5]),
                quick=quick,
            ),
        ),
        (
            "counted: how many of the numbers (worst and average, below k and unique, for each number "
            "of known items) are exact; the others have a 95 % interval.",
            "worst and average are the shares of records that fewer than k match.",
        ),
        quick,
    )


def _first(n: int) -> Any:
    import numpy as np

    return np.arange(n, dtype=np.int64)


def _float(cell: Cell) -> float | None:
    return cell if isinstance(cell, float) else None
