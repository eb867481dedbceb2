"""Many (k, m) in one call, against the dearest of them asked for alone."""

from __future__ import annotations

from ..context import Context
from ..report import Report, Table, at_most, is_true, ratio

KS, MS = (2, 5, 10, 25, 50), (1, 2, 3)
TIMES_THE_DEAREST = 3.0


def run(context: Context) -> Report:
    """Sweep BMS-WebView-1 with optimal."""
    source = context.source("BMS-WebView-1")
    ks, ms = (KS[:2], MS[:2]) if context.quick else (KS, MS)
    context.note("the sweep")
    whole = context.measure("sweep", source, ks=ks, ms=ms)
    context.note("each point alone")
    alone = context.measure("points", source, ks=ks, ms=ms)
    alone_of = {(point["k"], point["m"]): point for point in alone["points"]}
    dearest = max(alone_of.values(), key=lambda point: float(point["alone_seconds"]))
    context.note("the dearest point by anonymize")
    usual = context.anonymize(source, "optimal", dearest["k"], dearest["m"])
    rows = tuple(
        (
            point["k"],
            point["m"],
            point["loss"],
            point["proven"],
            point["seconds"],
            alone_of[point["k"], point["m"]]["alone_seconds"],
        )
        for point in whole["points"]
    )
    times = ratio(whole["seconds"], dearest["alone_seconds"])
    same = all(point["loss"] == alone_of[point["k"], point["m"]]["loss"] for point in whole["points"])
    quick = context.quick
    return Report(
        "sweep",
        f"{len(rows)} points (k, m) by optimal on BMS-WebView-1",
        (Table(("k", "m", "NCP", "proven", "seconds in the sweep", "seconds alone"), rows),),
        (
            at_most("whole sweep / dearest alone", times, TIMES_THE_DEAREST, "x", quick=quick),
            is_true("every point is proven", all(row[3] for row in rows), quick=quick),
            is_true("the same losses alone", same, quick=quick),
        ),
        (
            f"the sweep takes {whole['seconds']:.2f} s, its data bound and indexed once; the dearest "
            f"point alone {dearest['alone_seconds']:.2f} s (k={dearest['k']}, m={dearest['m']}), and "
            f"{usual['seconds']:.2f} s by setveil.anonymize, which publishes too; all alone "
            f"{sum(point['alone_seconds'] for point in alone['points']):.2f} s.",
        ),
        quick,
    )
