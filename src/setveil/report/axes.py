"""What charts share: axes with round values to mark, places on the paper, the looks of the series.

Series differ by colour, dash and marker: eight of each, in step; from the ninth series on the markers
are hollow where they were full.

A logarithmic axis cannot hold 0. Where values are 0 or less it gets one more mark, "0", a step below
its smallest power of ten, and they lie there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .drawing import MUTED, PAPER, RULE, SERIES, Drawing, cut_to_width, text_width

SMALL, LABEL_GAP = 11.5, 17.0
"""The size of the small print of charts, and how far names at the ends of lines are apart."""
DASHES = ("", "7 3", "2 2.5", "9 3 2 3", "4 3", "12 3", "1.5 4", "6 2 2 2 2 2")
SHAPES = ("circle", "square", "triangle", "diamond", "cross", "down", "plus", "hexagon")
CORNERS = {
    "square": ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    "triangle": ((0, -1.2), (1.15, 0.85), (-1.15, 0.85)),
    "diamond": ((0, -1.35), (1.35, 0), (0, 1.35), (-1.35, 0)),
    "down": ((0, 1.2), (1.15, -0.85), (-1.15, -0.85)),
    "hexagon": ((-1.2, 0), (-0.6, -1.05), (0.6, -1.05), (1.2, 0), (0.6, 1.05), (-0.6, 1.05)),
}
STROKES = {
    "cross": (((-1, -1), (1, 1)), ((-1, 1), (1, -1))),
    "plus": (((-1.2, 0), (1.2, 0)), ((0, -1.2), (0, 1.2))),
}


def ticks(largest: float, smallest: float = 0.0) -> list[float]:
    """Return round values that enclose `smallest` (at most 0) and `largest`, six or fewer above 0.

    >>> ticks(7.3), ticks(0.04)
    ([0.0, 2.0, 4.0, 6.0, 8.0], [0.0, 0.01, 0.02, 0.03, 0.04])
    >>> ticks(1, -1)
    [-1.0, -0.5, 0.0, 0.5, 1.0]
    """
    smallest = min(smallest, 0.0)
    rough = (max(largest, 0.0) - smallest) / 4
    if rough <= 0 or not math.isfinite(rough):
        return [0.0, 1.0]
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * nice for nice in (1, 2, 2.5, 5, 10) if power * nice >= rough * 0.999)
    first = math.floor(smallest / step + 1e-9)
    end = max(math.ceil(largest / step - 1e-9), 0)
    return [float(f"{step * number:.12g}") for number in range(first, end + 1)]


def log_ticks(smallest: float, largest: float) -> list[float]:
    """Return powers of ten that enclose the values; at least two.

    >>> log_ticks(0.02, 3.0)
    [0.01, 0.1, 1.0, 10.0]
    """
    low, high = math.floor(math.log10(smallest)), math.ceil(math.log10(largest))
    return [10.0**power for power in range(low, max(high, low + 1) + 1)]


def spelled(value: float, *, percent: bool = False) -> str:
    """Return a number as people write it: three digits that count, or a share in percent.

    >>> spelled(0.1234), spelled(12345.0), spelled(2.0), spelled(0.1234, percent=True)
    ('0.123', '12,345', '2', '12.3 %')
    """
    if percent:
        return f"{spelled(value * 100)} %"
    if not math.isfinite(value):
        return "?"
    if abs(value) >= 100 or value == int(value):
        return f"{value:,.0f}"
    text = f"{value:.3g}"
    return text if abs(value) >= 1e-4 else f"{value:.1e}".replace("e-0", "e-")


@dataclass(frozen=True)
class Scale:
    """A way from values to places between `start` and `end`; `marks` are the values to name.

    >>> Scale.over([0, 8], 0, 100).place(4)
    50.0
    >>> Scale.over([1, 100], 0, 100, logarithmic=True).place(10)
    50.0
    """

    marks: tuple[float, ...]
    start: float
    end: float
    logarithmic: bool = False
    floor: bool = False

    @staticmethod
    def over(
        values: Iterable[float],
        start: float,
        end: float,
        *,
        logarithmic: bool = False,
        largest: float | None = None,
    ) -> Scale:
        """Return the scale that holds the values; `largest` is the end of the axis if given."""
        known = [value for value in values if math.isfinite(value)]
        positive = [value for value in known if value > 0]
        if logarithmic and positive:
            most = largest if largest is not None and largest > 0 else max(positive)
            marks = tuple(log_ticks(min(positive), most))
            return Scale(marks, start, end, True, len(positive) < len(known))
        most = max(known, default=0.0) if largest is None else largest
        marks = tuple(ticks(most, min(known, default=0.0)))
        return Scale(marks, start, end)

    def place(self, value: float) -> float:
        """Return where a value lies; what is outside lies on the edge."""
        low, high = self.marks[0], self.marks[-1]
        if self.logarithmic:
            floor = math.log10(low) - (1 if self.floor else 0)
            share = (math.log10(value) - floor) / (math.log10(high) - floor) if value > 0 else 0.0
        else:
            share = (value - low) / (high - low)
        return self.start + (self.end - self.start) * min(max(share, 0.0), 1.0)

    def named(self, *, percent: bool = False) -> list[tuple[float, str]]:
        shown = [(self.place(mark), spelled(mark, percent=percent)) for mark in self.marks]
        return [(self.start, "0"), *shown] if self.floor else shown


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Return places near the wanted ones, in the same order, at least `gap` from each other.

    Neighbours that are too close are moved apart together, so that each stays as near as it can. They
    lie between `low` and `high` where there is room for all.

    >>> spread([10, 11, 50], 10, 0, 100)
    [5.5, 15.5, 50.0]
    """
    order = sorted(range(len(wanted)), key=lambda number: wanted[number])
    groups: list[tuple[float, int]] = []  # sum of wanted starts, how many
    for number in order:
        groups.append((wanted[number], 1))
        while len(groups) > 1:
            (sum_a, n_a), (sum_b, n_b) = groups[-2:]
            if _first(sum_a, n_a, gap, low, high) + n_a * gap <= _first(sum_b, n_b, gap, low, high):
                break
            # Each of the second group wants to lie n_a gaps above where the joined group starts.
            groups[-2:] = [(sum_a + sum_b - n_b * n_a * gap, n_a + n_b)]
    places = [0.0] * len(wanted)
    members = iter(order)
    for total, count in groups:
        first = _first(total, count, gap, low, high)
        for step in range(count):
            places[next(members)] = first + step * gap
    return places


def _first(total: float, count: int, gap: float, low: float, high: float) -> float:
    """Return where a group of places starts: in the middle of what it wants, between the edges."""
    return max(min(total / count, high - (count - 1) * gap), low)


@dataclass(frozen=True)
class Mark:
    """The look of one series."""

    colour: str
    dash: str
    shape: str
    hollow: bool = False

    def draw(self, sheet: Drawing, x: float, y: float, *, size: float = 4) -> None:
        fill = PAPER if self.hollow else self.colour
        if self.shape in STROKES:
            for (x1, y1), (x2, y2) in STROKES[self.shape]:
                start, end = (x + x1 * size, y + y1 * size), (x + x2 * size, y + y2 * size)
                sheet.line(*start, *end, colour=self.colour, weight=3 if self.hollow else 2)
        elif self.shape == "circle":
            sheet.circle(x, y, size, fill=fill, line=self.colour)
        else:
            corners = [(x + dx * size, y + dy * size) for dx, dy in CORNERS[self.shape]]
            sheet.area(corners, fill=fill, line=self.colour)


def mark_of(number: int) -> Mark:
    """Return the look of the series of this number.

    >>> mark_of(0).shape, mark_of(8).hollow
    ('circle', True)
    """
    place = number % len(SERIES)
    return Mark(SERIES[place], DASHES[place], SHAPES[place], hollow=number // len(SERIES) % 2 == 1)


def draw_levels(sheet: Drawing, levels: Iterable[tuple[float, str]], left: float, right: float) -> None:
    """Draw a pale line across the plot at each marked height, with its text at the left."""
    for y, text in levels:
        sheet.line(left, y, right, y, colour=RULE, weight=0.8)
        sheet.text(left - 8, y + 4, text, size=SMALL, colour=MUTED, anchor="end")


def name_ends(
    sheet: Drawing,
    ends: Sequence[tuple[str, Mark, float, float]],
    x: float,
    between: tuple[float, float],
    *,
    room: float = math.inf,
    before_mark: float = 10,
) -> None:
    """Write each line's name beside its end, from `x` on; where ends are close the names move apart."""
    places = spread([y for _, _, _, y in ends], LABEL_GAP, *between)
    for (name, mark, end, y), place in zip(ends, places, strict=True):
        # The marker stands behind the name: before it it would look like one more point of the line.
        sheet.line(end + 7, y, x - 5, place, colour=mark.colour, weight=0.7, dash="1.5 2.5")
        shown = cut_to_width(name, 12.5, room)
        sheet.text(x, place + 4.5, shown, size=12.5)
        mark.draw(sheet, x + text_width(shown, 12.5) + before_mark, place)
