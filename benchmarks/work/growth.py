"""Time, peak memory and loss against |D|, |I|, k, m and h, as in the papers' Figures 8 to 17.

Two set-ups: generated data of BMS-POS's shape for the methods that take full-size data (Figures 11 and
14-17), and the 2008 paper's small one, 40 to 60 items made from BMS-WebView-2 by modulo, for oa and
da beside them (Figures 8-10). One parameter moves at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..context import Context
from ..plot import Panel, small_multiples
from ..report import MEMORY_TOLD, Cell, Report, Table

LIMIT_SECONDS = 60.0
MEASURES = {"seconds": "seconds", "added_mb": "MB added", "ncp": "NCP"}
LARGE_METHODS = ("aa", "vpa", "lra", "optimal")
SMALL_METHODS = ("aa", "da", "oa", "optimal")


@dataclass(frozen=True)
class Setting:
    """One point: the data's shape and the promise. A larger `fan_out` makes a lower tree."""

    data: str
    records: int
    items: int
    k: int
    m: int
    fan_out: int


LARGE = Setting("POS shape", 50_000, 1_657, 5, 3, 5)
LARGE_AXES: Mapping[str, tuple[str, tuple[int, ...]]] = {
    "records": ("|D|", (25_000, 50_000, 100_000, 200_000)),
    "items": ("|I|", (400, 800, 1_200, 1_657)),
    "k": ("k", (5, 20, 100, 1_000)),
    "m": ("m", (1, 2, 3, 4)),
    "fan_out": ("h", (41, 12, 5, 3)),
}
SMALL = Setting("modulo", 10_000, 40, 100, 3, 4)
SMALL_AXES: Mapping[str, tuple[str, tuple[int, ...]]] = {
    "records": ("|D|", (2_000, 5_000, 10_000, 15_000)),
    "items": ("|I|", (40, 50, 60)),
    "m": ("m", (1, 2, 3, 4)),
}
HEIGHT_OF_FAN_OUT = {41: 2, 12: 3, 5: 5, 3: 7}
"""Height of the balanced tree over 1,657 items."""


class Measured:
    """Runs each point of each method once, however many axes share it."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.seen: dict[tuple[Setting, str], dict[str, Any]] = {}

    def __call__(self, setting: Setting, method: str) -> dict[str, Any]:
        """Return what was found at a point, asking for it at most once."""
        if (setting, method) not in self.seen:
            self.context.note(
                f"{method}, {setting.data}: |D|={setting.records:,} |I|={setting.items:,} "
                f"k={setting.k} m={setting.m} fan-out {setting.fan_out}"
            )
            shape = {"records": setting.records, "items": setting.items, "fan_out": setting.fan_out}
            options = {"max_cuts": 10**9} if method == "oa" else {}
            options |= {"max_tree_nodes": 10**9} if method == "da" else {}
            self.seen[setting, method] = self.context.anonymize(
                self.context.source(setting.data, **shape),
                method,
                setting.k,
                setting.m,
                options=options,
                time_limit=LIMIT_SECONDS,
                runs=1,
                audit=False,
            )
        return self.seen[setting, method]


def _block(
    measured: Measured,
    base: Setting,
    axes: Mapping[str, tuple[str, tuple[int, ...]]],
    methods: Sequence[str],
) -> tuple[list[list[Panel]], list[tuple[Cell, ...]]]:
    """Return one row of panels a measure, one column an axis; and the figures as rows of a table."""
    panels: list[list[Panel]] = [[] for _ in MEASURES]
    rows: list[tuple[Cell, ...]] = []
    for axis, (label, values) in axes.items():
        used = values[:2] if measured.context.quick else values
        shown_at = [HEIGHT_OF_FAN_OUT[value] if label == "h" else value for value in used]
        found = {
            method: [measured(_moved(base, axis, value), method) for value in used]
            for method in methods
        }
        for number, (key, title) in enumerate(MEASURES.items()):
            series = {
                method: [_known(point, key) for point in points] for method, points in found.items()
            }
            panels[number].append(Panel(title, label, shown_at, series, key == "seconds"))
        for place, value in enumerate(shown_at):
            for method in methods:
                point = found[method][place]
                figures = [_known(point, key) for key in ("seconds", "peak_mb", "added_mb", "ncp")]
                rows.append((f"{label} = {value:,}", method, *figures, _remark(point)))
    return panels, rows


def _moved(base: Setting, axis: str, value: int) -> Setting:
    shape: dict[str, Any] = {axis: value}
    return replace(base, **shape)


def _known(point: Mapping[str, Any], key: str) -> float | None:
    value = point.get(key)
    return None if value is None else float(value)


def _remark(point: Mapping[str, Any]) -> str:
    """Say why a point has no figures, or that a time limit cut it."""
    if "failed" in point:
        return str(point["failed"])
    return "" if point["complete"] else "cut short"


def run(context: Context) -> Report:
    """Move one parameter at a time and draw what happens."""
    measured = Measured(context)
    large, large_rows = _block(measured, LARGE, LARGE_AXES, LARGE_METHODS)
    small, small_rows = _block(measured, SMALL, SMALL_AXES, SMALL_METHODS)
    large_title = "Shape of BMS-POS: |D| = 50,000, |I| = 1,657, k = 5, m = 3, h = 5 unless moved"
    small_title = (
        "BMS-WebView-2 by modulo: |D| = 10,000, |I| = 40, k = 100, m = 3, fan-out 4 unless moved"
    )
    title = "Time, memory and loss as the data and the promise grow"
    columns = ("point", "method", "seconds", "peak MB", "MB added", "NCP", "")
    return Report(
        "growth",
        title,
        (
            Table(columns, tuple(large_rows), large_title),
            Table(columns, tuple(small_rows), small_title),
        ),
        (),
        (
            f"a point is given {LIMIT_SECONDS:g} s; where it needs more it has no mark in the picture.",
            MEMORY_TOLD,
        ),
        context.quick,
        {"growth.svg": small_multiples([(large_title, large), (small_title, small)], title)},
    )
