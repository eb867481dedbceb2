"""How the series of a chart are told apart: each has a colour, a dash and a marker of its own.

Eight of each, in step; from the ninth series on the markers are hollow where they were full.
"""

from __future__ import annotations

from dataclasses import dataclass

from .drawing import Drawing
from .palette import PAPER, SERIES

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


@dataclass(frozen=True)
class Mark:
    """The look of one series."""

    colour: str
    dash: str
    shape: str
    hollow: bool = False

    def draw(self, sheet: Drawing, x: float, y: float, *, size: float = 4) -> None:
        """Draw the marker around a point."""
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
