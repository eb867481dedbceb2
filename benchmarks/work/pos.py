"""Full scale: 515,597 generated records over 1,657 items, the shape of BMS-POS, fan-out 5."""

from __future__ import annotations

from typing import Any

from ..context import Context
from ..report import Bar, Cell, Report, Table, at_most, cells, is_true

K = 5
SECONDS = {"optimal": 60.0, "aa": 60.0, "vpa": 30.0}
PEAK_MB = 4096.0
LARGE_M_SECONDS = 600.0
COLUMNS = ("method", "m", "seconds", "CPU s", "peak MB", "NCP", "proven", "holds")


def _row(method: str, m: int, found: dict[str, Any]) -> tuple[Cell, ...]:
    seconds = found.get("failed", found.get("seconds"))
    return (method, m, seconds, *cells(found, "cpu_seconds", "peak_mb", "ncp", "proven", "holds"))


def run(context: Context) -> Report:
    """Run four methods at m=3."""
    source = context.source("POS shape")
    rows, bars = [], []
    for method in ("optimal", "aa", "vpa", "lra"):
        context.note(f"{method} on the POS shape, m=3")
        found = context.anonymize(source, method, K, 3)
        rows.append(_row(method, 3, found))
        if method in SECONDS:
            limit = SECONDS[method]
            bars.append(at_most(method, found.get("seconds"), limit, quick=context.quick))
        if method == "optimal":
            peak = found.get("peak_mb")
            bars.append(at_most("optimal, peak", peak, PEAK_MB, "MB", quick=context.quick))
            bars.append(is_true("optimal is proven", bool(found.get("proven")), quick=context.quick))
    bars.append(is_true("every release holds by the audit", _all_hold(rows), quick=context.quick))
    table = Table(COLUMNS, tuple(rows))
    return Report(
        "pos", f"The POS shape at full scale, k={K}, m=3", (table,), tuple(bars), quick=context.quick
    )


def large_m(context: Context) -> Report:
    """Run vpa and optimal at m=6."""
    source = context.source("POS shape")
    rows: list[tuple[Cell, ...]] = []
    bars: list[Bar] = []
    for method in ("vpa", "optimal"):
        context.note(f"{method} on the POS shape, m=6")
        found = context.anonymize(source, method, K, 6, time_limit=2 * LARGE_M_SECONDS)
        rows.append(_row(method, 6, found))
        seconds = found.get("seconds")
        bars.append(at_most(f"{method}, m=6", seconds, LARGE_M_SECONDS, quick=context.quick))
        if method == "optimal":
            bars.append(is_true("optimal is proven", bool(found.get("proven")), quick=context.quick))
    bars.append(is_true("every release holds by the audit", _all_hold(rows), quick=context.quick))
    return Report(
        "pos-large-m",
        f"The POS shape at full scale, k={K}, m=6",
        (Table(COLUMNS, tuple(rows)),),
        tuple(bars),
        ("the paper's VPA took nearly five hours at m=6 on data of this shape (C++, 2011).",),
        context.quick,
    )


def _all_hold(rows: list[tuple[Cell, ...]]) -> bool:
    return all(row[-1] is True for row in rows)
