"""Small multiples as SVG: many plots of the same series, the same bytes for the same figures.

Shapes, axes and the looks of the series are the package's own (`setveil.report`). The places on an x
axis are evenly spaced, whatever the values: they are steps, not a scale.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from setveil.report.axes import Scale, mark_of
from setveil.report.drawing import INK, RULE, Drawing

WIDTH, HEIGHT = 176, 118
LEFT, RIGHT, TOP, BOTTOM = 46, 14, 22, 32


@dataclass(frozen=True)
class Panel:
    """One small plot: a series has a value, or None, at each place of `xs`."""

    title: str
    x_label: str
    xs: Sequence[float | int | str]
    series: Mapping[str, Sequence[float | None]]
    logarithmic: bool = False


Block = tuple[str, Sequence[Sequence[Panel]]]
"""A heading, and rows of panels."""


def small_multiples(blocks: Sequence[Block], title: str) -> str:
    """Return an SVG with the rows of panels of each block below its heading."""
    panels = [panel for _, rows in blocks for row in rows for panel in row]
    names = list(dict.fromkeys(name for panel in panels for name in panel.series))
    cell_width, cell_height = LEFT + WIDTH + RIGHT, TOP + HEIGHT + BOTTOM
    panels_width = 20 + cell_width * max(len(row) for _, rows in blocks for row in rows)
    width = max(panels_width, 420, 14 + sum(_legend_width(name) for name in names))
    height = 68 + sum(20 + cell_height * len(rows) for _, rows in blocks)
    sheet = Drawing(width, height, title=title)
    sheet.text(14, 24, title, size=15, bold=True)
    _legend(sheet, names, 14, 38)
    y = 58.0
    for heading, rows in blocks:
        y += 14
        sheet.text(14, y, heading, size=12, bold=True)
        y += 6
        for row in rows:
            for column, panel in enumerate(row):
                _panel(sheet, panel, names, 10 + column * cell_width + LEFT, y + TOP)
            y += cell_height
    return sheet.svg()


def _panel(sheet: Drawing, panel: Panel, names: Sequence[str], left: float, top: float) -> None:
    known = [value for values in panel.series.values() for value in values if value is not None]
    logarithmic = panel.logarithmic and bool(known) and min(known) > 0
    up = Scale.over(known, top + HEIGHT, top, logarithmic=logarithmic)
    sheet.text(left, top - 8, panel.title, size=11, bold=True)
    for mark in up.marks:
        y = up.place(mark)
        sheet.line(left, y, left + WIDTH, y, colour=RULE, weight=0.8)
        sheet.text(left - 5, y + 3, f"{mark:,g}", size=9, anchor="end")
    sheet.line(left, top + HEIGHT, left + WIDTH, top + HEIGHT, colour=INK, weight=1)
    step = WIDTH / max(len(panel.xs), 1)
    x_of_place = [left + step * (number + 0.5) for number in range(len(panel.xs))]
    for x, value in zip(x_of_place, panel.xs, strict=True):
        label = value if isinstance(value, str) else f"{value:,g}"
        sheet.text(x, top + HEIGHT + 12, label, size=9, anchor="middle")
    sheet.text(left + WIDTH / 2, top + HEIGHT + 24, panel.x_label, size=10, anchor="middle")
    for name, values in panel.series.items():
        points = [
            None if value is None else (x, up.place(value))
            for x, value in zip(x_of_place, values, strict=True)
        ]
        _series(sheet, names.index(name), points)


def _series(sheet: Drawing, number: int, points: Sequence[tuple[float, float] | None]) -> None:
    """Draw the lines between neighbours that are both known, and the markers."""
    mark = mark_of(number)
    for here, there in pairwise(points):
        if here is not None and there is not None:
            sheet.line(*here, *there, colour=mark.colour, weight=1.6, dash=mark.dash)
    for point in points:
        if point is not None:
            mark.draw(sheet, *point, size=3)


def _legend(sheet: Drawing, names: Sequence[str], left: float, y: float) -> None:
    x = left
    for number, name in enumerate(names):
        mark = mark_of(number)
        sheet.line(x, y + 4, x + 24, y + 4, colour=mark.colour, weight=1.6, dash=mark.dash)
        mark.draw(sheet, x + 12, y + 4, size=3)
        sheet.text(x + 30, y + 8, name, size=11)
        x += _legend_width(name)


def _legend_width(name: str) -> float:
    return 46 + 6.4 * len(name)
