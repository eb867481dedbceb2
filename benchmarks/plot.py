"""Small multiples as SVG, by hand: no plotting library, the same bytes for the same figures.

Series differ by colour (Okabe and Ito's, told apart by colour-blind readers), by marker and by dash.
The places on an x axis are evenly spaced, whatever the values: they are steps, not a scale.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

WIDTH, HEIGHT = 176, 118
LEFT, RIGHT, TOP, BOTTOM = 46, 14, 22, 32
INK, GRID, PAPER = "#333333", "#e2e2e2", "#ffffff"
COLOUR = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f")
DASH = ("", "5 2", "1.5 2", "7 2 1.5 2", "3 3", "9 3", "2 1", "12 3")
MARKERS = ("circle", "square", "triangle", "diamond", "cross", "circle", "square", "diamond")


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
    names = list(
        dict.fromkeys(
            name for _, rows in blocks for row in rows for panel in row for name in panel.series
        )
    )
    cell_width, cell_height = LEFT + WIDTH + RIGHT, TOP + HEIGHT + BOTTOM
    panels_width = 20 + cell_width * max(len(row) for _, rows in blocks for row in rows)
    width = max(panels_width, 420, 14 + sum(_legend_width(name) for name in names))
    parts: list[str] = []
    y = 24.0
    parts.append(_text(14, y, title, size=15, weight="bold"))
    y += 14
    parts += _legend(names, 14, y)
    y += 20
    for heading, rows in blocks:
        y += 14
        parts.append(_text(14, y, heading, size=12, weight="bold"))
        y += 6
        for row in rows:
            for column, panel in enumerate(row):
                parts += _panel(panel, names, 10 + column * cell_width + LEFT, y + TOP)
            y += cell_height
    height = y + 10
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" role="img" font-family="Helvetica, Arial, sans-serif">'
    )
    ground = f'<rect width="{width:g}" height="{height:g}" fill="{PAPER}"/>'
    return "\n".join([head, f"<title>{escape(title)}</title>", ground, *parts, "</svg>"]) + "\n"


def ticks(largest: float) -> list[float]:
    """Return round values from 0 to `largest` or just above it, at most six.

    >>> ticks(7.3), ticks(0.04)
    ([0.0, 2.0, 4.0, 6.0, 8.0], [0.0, 0.01, 0.02, 0.03, 0.04])
    """
    if largest <= 0:
        return [0.0, 1.0]
    rough = largest / 4
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * nice for nice in (1, 2, 2.5, 5, 10) if power * nice >= rough * 0.999)
    count = math.ceil(largest / step - 1e-9)
    return [round(step * number, 12) for number in range(count + 1)]


def log_ticks(smallest: float, largest: float) -> list[float]:
    """Return powers of ten that enclose the values; at least two.

    >>> log_ticks(0.02, 3.0)
    [0.01, 0.1, 1.0, 10.0]
    """
    low, high = math.floor(math.log10(smallest)), math.ceil(math.log10(largest))
    return [10.0**power for power in range(low, max(high, low + 1) + 1)]


def _panel(panel: Panel, names: Sequence[str], left: float, top: float) -> list[str]:
    known = [value for values in panel.series.values() for value in values if value is not None]
    logarithmic = panel.logarithmic and bool(known) and min(known) > 0
    marks = log_ticks(min(known), max(known)) if logarithmic else ticks(max(known, default=0.0))

    def place(value: float) -> float:
        if logarithmic:
            span = math.log10(marks[-1]) - math.log10(marks[0])
            return top + HEIGHT * (1 - (math.log10(value) - math.log10(marks[0])) / span)
        return top + HEIGHT * (1 - value / marks[-1])

    parts = [_text(left, top - 8, panel.title, size=11, weight="bold")]
    for mark in marks:
        y = place(mark)
        parts.append(_line(left, y, left + WIDTH, y, GRID))
        parts.append(_text(left - 5, y + 3, f"{mark:,g}", size=9, anchor="end"))
    parts.append(_line(left, top + HEIGHT, left + WIDTH, top + HEIGHT, INK))
    step = WIDTH / max(len(panel.xs), 1)
    x_of_place = [left + step * (number + 0.5) for number in range(len(panel.xs))]
    for x, value in zip(x_of_place, panel.xs, strict=True):
        label = value if isinstance(value, str) else f"{value:,g}"
        parts.append(_text(x, top + HEIGHT + 12, label, size=9, anchor="middle"))
    parts.append(_text(left + WIDTH / 2, top + HEIGHT + 24, panel.x_label, size=10, anchor="middle"))
    for name, values in panel.series.items():
        number = names.index(name)
        points = [
            None if value is None else (x, place(value))
            for x, value in zip(x_of_place, values, strict=True)
        ]
        parts += _series(number, points)
    return parts


def _series(number: int, points: Sequence[tuple[float, float] | None]) -> list[str]:
    """Return the lines between neighbours that are both known, and the markers."""
    style = number % len(COLOUR)
    parts = []
    for here, there in pairwise(points):
        if here is not None and there is not None:
            parts.append(_line(*here, *there, COLOUR[style], width=1.6, dash=DASH[style]))
    return parts + [_marker(number, *point) for point in points if point is not None]


def _legend(names: Sequence[str], left: float, y: float) -> list[str]:
    parts: list[str] = []
    x = left
    for number, name in enumerate(names):
        style = number % len(COLOUR)
        parts.append(_line(x, y + 4, x + 24, y + 4, COLOUR[style], width=1.6, dash=DASH[style]))
        parts.append(_marker(number, x + 12, y + 4))
        parts.append(_text(x + 30, y + 8, name, size=11))
        x += _legend_width(name)
    return parts


def _legend_width(name: str) -> float:
    return 46 + 6.4 * len(name)


def _marker(number: int, x: float, y: float) -> str:
    style = number % len(COLOUR)
    fill, shape = f'fill="{COLOUR[style]}"', MARKERS[style]
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" {fill}/>'
    if shape == "square":
        return f'<rect x="{x - 2.7:.1f}" y="{y - 2.7:.1f}" width="5.4" height="5.4" {fill}/>'
    corners = {
        "triangle": ((0, -3.6), (3.4, 2.6), (-3.4, 2.6)),
        "diamond": ((0, -3.8), (3.8, 0), (0, 3.8), (-3.8, 0)),
        "cross": ((-3.2, -2), (-2, -3.2), (3.2, 2), (2, 3.2)),
    }[shape]
    path = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
    return f'<polygon points="{path}" {fill}/>'


def _line(
    x1: float, y1: float, x2: float, y2: float, colour: str, *, width: float = 1, dash: str = ""
) -> str:
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
        f'stroke-width="{width:g}"{dashed}/>'
    )


def _text(
    x: float, y: float, text: str, *, size: int, anchor: str = "start", weight: str = "normal"
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
        f'font-weight="{weight}" fill="{INK}">{escape(text)}</text>'
    )
