"""The other promises that optimal keeps: against negative knowledge, and l^m-diversity."""

from __future__ import annotations

from typing import Any

from ..context import Context
from ..report import Cell, Report, Table, cells, is_true

DATA = ("groceries", "BMS-WebView-1", "fruithut")
LIMIT_SECONDS = 60.0
COLUMNS = ("data", "m", "seconds", "CPU s", "peak MB", "NCP", "proven", "gap", "holds")
SENSITIVE_RANK = 40
"""The five items from this rank on by frequency stand for sensitive ones."""


def _measured(
    context: Context, guarantee: dict[str, Any], sizes: tuple[int, ...]
) -> tuple[list[tuple[Cell, ...]], bool]:
    rows: list[tuple[Cell, ...]] = []
    every_one_holds = True
    for name in DATA:
        source = context.source(name)
        for m in sizes:
            context.note(f"{name}, m={m}")
            found = context.measure(
                "anonymize",
                source,
                guarantee=guarantee | {"m": m},
                method="optimal",
                time_limit=LIMIT_SECONDS,
            )
            seconds = found.get("failed", found.get("seconds"))
            keys = ("cpu_seconds", "peak_mb", "ncp", "proven", "gap", "holds")
            rows.append((name, m, seconds, *cells(found, *keys)))
            every_one_holds &= found.get("holds") is not False
    return rows, every_one_holds


def negative(context: Context) -> Report:
    """Prove optima where an attacker may also know what is absent."""
    rows, hold = _measured(context, {"model": "km", "k": 5, "negative": True}, (1, 2, 3))
    return Report(
        "negative",
        "Optimal against negative knowledge, k=5",
        (Table(COLUMNS, tuple(rows)),),
        (is_true("every release holds by the audit", hold, quick=context.quick),),
        (f"cut short after {LIMIT_SECONDS:g} s; then the gap to the bound is shown.",),
        context.quick,
    )


def diversity(context: Context) -> Report:
    """Prove optima under l^m-diversity."""
    sensitive = 5 if context.quick else SENSITIVE_RANK
    rows, hold = _measured(context, {"model": "lm", "l": 2, "sensitive": sensitive}, (1, 2))
    return Report(
        "diversity",
        "Optimal under l^m-diversity, l=2",
        (Table(COLUMNS, tuple(rows)),),
        (is_true("every release holds by the audit", hold, quick=context.quick),),
        (
            f"sensitive are the five items from rank {sensitive} on by frequency; cut short after "
            f"{LIMIT_SECONDS:g} s.",
        ),
        context.quick,
    )
