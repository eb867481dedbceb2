"""One palette for all pictures, after Okabe and Ito: told apart by colour-blind eyes and in grey print.

A colour never speaks alone: whatever it marks is also told by a word, a dash or a thicker line.
"""

from __future__ import annotations

from dataclasses import dataclass

INK = "#1f2933"
MUTED = "#5b6670"
RULE = "#c3cad1"
SHADE = "#eef1f4"
PAPER = "#ffffff"

BLUE = "#0072b2"
ORANGE = "#e69f00"
GREEN = "#007a5a"
VERMILION = "#c44a00"
SKY = "#d6ebf8"
SAND = "#fdf0d2"
ROSE = "#fbe3d6"
MINT = "#d5efe6"
BLACK = "#000000"
PINK = "#b5558b"
DEEP = "#08306b"

SERIES = (BLUE, VERMILION, GREEN, BLACK, PINK, "#a87400", "#3a8fc4", MUTED)
"""Colours of the series of a chart, in order; dark enough for text on white."""


@dataclass(frozen=True)
class Style:
    """How a box is drawn: its filling, its line, its text, and whether the line is broken."""

    fill: str
    line: str
    text: str
    dashed: bool = False
    weight: float = 1.2


PUBLISHED = Style(SKY, BLUE, INK, weight=2.2)
"""A label that the release shows."""
HIDDEN = Style(PAPER, RULE, MUTED, dashed=True)
"""A label below the cut: the release shows a category instead."""
ABOVE = Style(SHADE, RULE, MUTED)
"""A label above the cut: in the published hierarchy, not in the records."""
PLAIN = Style(PAPER, MUTED, INK)
"""A label about which nothing is said."""
RARE = Style(ROSE, VERMILION, INK, weight=2.2)
"""Part of a set that too few records hold."""
CHOSEN = Style(MINT, GREEN, INK, weight=2.2)
"""What was decided for."""
REMARK = Style(SAND, ORANGE, INK)
"""Something to look at."""
