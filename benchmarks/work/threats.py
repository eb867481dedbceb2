"""hghs, mhghs and mm on real data: what they list, what they lose, what it takes.

These three list rare sets by the million before they choose anything. So their memory is measured, and
whether a time limit reaches them while they list.
"""

from __future__ import annotations

from ..context import Context
from ..report import MEMORY_TOLD, Bar, Cell, Report, Table, at_most, cells, is_true

K = 5
POINTS = {
    "hghs": {
        "groceries": (2, 3, 7),
        "fruithut": (2, 3, 5),
        "BMS-WebView-1": (2, 3),
        "BMS-WebView-2": (2, 3),
    },
    "mhghs": dict.fromkeys(("groceries", "fruithut", "BMS-WebView-1", "BMS-WebView-2"), (2, 3, 5, 7)),
    "mm": dict.fromkeys(("groceries", "fruithut", "BMS-WebView-1"), (2, 3, 5)),
}
LIMIT_SECONDS, END_SECONDS = 5.0, 6.0
LIMITED = (
    ("hghs", "groceries", 7),
    ("hghs", "fruithut", 5),
    ("hghs", "BMS-WebView-1", 5),
    ("hghs", "BMS-WebView-2", 3),
    ("mm", "BMS-WebView-1", 5),
)
"""Points that take longer than the limit, or may."""


def run(context: Context) -> Report:
    """Run the points, then some of them within a time limit."""
    rows: list[tuple[Cell, ...]] = []
    broken = 0
    for method, ms_of_data in POINTS.items():
        for name, ms in ms_of_data.items():
            for m in ms[:1] if context.quick else ms:
                context.note(f"{method} on {name}, m={m}")
                source = context.source(name)
                own = context.anonymize(source, method, K, m, cost="lm")
                listed = own.get("figures", {})
                broken += own.get("holds") is False
                rows.append(
                    (
                        *(method, name, m, listed.get("threats", listed.get("moles"))),
                        own.get("lm", own.get("failed")),
                        *cells(own, "seconds", "peak_mb", "added_mb", "holds"),
                    )
                )
    bars = [is_true("every release holds by the audit", broken == 0, quick=context.quick)]
    ends, late = _within_the_limit(context)
    return Report(
        "threats",
        f"Suppression by listed rare sets, LM, k={K}",
        (
            Table(
                ("method", "data", "m", "sets", "LM", "seconds", "peak MB", "MB added", "holds"),
                tuple(rows),
            ),
            Table(
                ("method", "data", "m", "seconds", "end", "peak MB"),
                tuple(ends),
                f"With a time limit of {LIMIT_SECONDS:g} s",
            ),
        ),
        (*bars, *late),
        (
            "'sets' counts the minimal threats of hghs, those of the largest round of mhghs, and the "
            "minimal moles of mm.",
            MEMORY_TOLD,
        ),
        context.quick,
    )


def _within_the_limit(context: Context) -> tuple[list[tuple[Cell, ...]], list[Bar]]:
    """Return how runs with a time limit ended, and whether soon enough."""
    rows: list[tuple[Cell, ...]] = []
    bars: list[Bar] = []
    for method, name, m in LIMITED:
        context.note(f"{method} on {name}, m={m}, {LIMIT_SECONDS:g} s")
        guarantee = {"model": "km", "k": K, "m": min(m, 2) if context.quick else m}
        found = context.measure(
            "stopped",
            context.source(name),
            guarantee=guarantee,
            method=method,
            cost="lm",
            time_limit=LIMIT_SECONDS,
        )
        rows.append((method, name, m, found["seconds"], found["end"], found["peak_mb"]))
        bars.append(
            at_most(
                f"{method} on {name}, m={m}, limit {LIMIT_SECONDS:g} s",
                found["seconds"],
                END_SECONDS,
                quick=context.quick,
            )
        )
    return rows, bars
