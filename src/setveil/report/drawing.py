"""An SVG under construction: a few shapes, text that is always escaped, numbers written one way.

The result is plain text with the same bytes for the same calls, so that pictures can be committed and
compared. It holds no script, no style sheet and no reference to anything outside.

One palette is for all pictures and pages, after Okabe and Ito: told apart by colour-blind eyes and in
grey print. A colour never speaks alone: whatever it marks is also told by a word, a dash or a thicker
line.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

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


FONT = "ui-sans-serif, system-ui, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif"
MARGIN = 20.0
ARROW_HEAD = (
    '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
    f'orient="auto"><path d="M0 0L8 4L0 8z" fill="{MUTED}"/></marker></defs>'
)
WIDE = "mwMWmQGO@%"
NARROW = "iljtfrI.,:;'|!()[] "


def text_width(text: str, size: float) -> float:
    """Return about how wide a text is drawn, on the safe side.

    >>> text_width("ill", 10) < text_width("mmm", 10)
    True
    """
    units = sum(
        0.92 if sign in WIDE else 0.36 if sign in NARROW else 1.05 if ord(sign) > 0x2E80 else 0.62
        for sign in text
    )
    return units * size


def cut_to_width(text: str, size: float, width: float) -> str:
    """Return the text, shortened with an ellipsis where it would not fit.

    >>> cut_to_width("a very long label", 12, 60)
    'a very l…'
    """
    if text_width(text, size) <= width:
        return text
    kept = text
    while kept and text_width(kept + "…", size) > width:
        kept = kept[:-1]
    return kept.rstrip() + "…"


def escaped(text: str) -> str:
    """Return text as markup, without characters that XML forbids or that move other text about."""
    return escape("".join(sign if sign.isprintable() else "�" for sign in text), quote=False)


def _quoted(text: str) -> str:
    """Return text as the value of an attribute, in the quotes that it does not hold."""
    shown = escaped(text)
    if '"' in shown and "'" not in shown:
        return f"'{shown}'"
    return '"' + shown.replace('"', "&quot;") + '"'


def number(value: float) -> str:
    """Return a coordinate with at most one decimal.

    >>> number(2.0), number(2.26), number(-0.01)
    ('2', '2.3', '0')
    """
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


class Drawing:
    """Shapes on a sheet of paper; title and description are read out by screen readers."""

    def __init__(self, width: float, height: float, *, title: str, description: str = "") -> None:
        self.width, self.height = width, height
        self.title, self.description = title, description
        self._shapes: list[str] = []

    def line(
        self,
        x1: float,
        y1: float,
        x2: float,
        y2: float,
        *,
        colour: str = RULE,
        weight: float = 1.4,
        dashed: bool = False,
        arrow: bool = False,
        dash: str = "",
    ) -> None:
        """Draw a straight line; `dash` is a pattern such as "5 2", `dashed` the usual one."""
        pattern = "5 4" if dashed else dash
        dash = f' stroke-dasharray="{pattern}"' if pattern else ""
        head = ' marker-end="url(#head)"' if arrow else ""
        self._shapes.append(
            f'<line x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}" '
            f'stroke="{colour}" stroke-width="{number(weight)}"{dash}{head}/>'
        )

    def path(
        self, points: Sequence[tuple[float, float]], *, colour: str, weight: float = 2, dash: str = ""
    ) -> None:
        places = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self._shapes.append(
            f'<polyline points="{places}" fill="none" stroke="{colour}" '
            f'stroke-width="{number(weight)}" stroke-linejoin="round"{dashed}/>'
        )

    def area(self, points: Sequence[tuple[float, float]], *, fill: str, line: str) -> None:
        places = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        self._shapes.append(
            f'<polygon points="{places}" fill="{fill}" stroke="{line}" stroke-width="1.5"/>'
        )

    def circle(self, x: float, y: float, radius: float, *, fill: str, line: str) -> None:
        self._shapes.append(
            f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}" fill="{fill}" '
            f'stroke="{line}" stroke-width="1.5"/>'
        )

    def curve(self, x1: float, y1: float, x2: float, y2: float, *, colour: str = RULE) -> None:
        """Draw a curve that leaves and arrives sideways."""
        middle = number((x1 + x2) / 2)
        self._shapes.append(
            f'<path d="M{number(x1)} {number(y1)}C{middle} {number(y1)} {middle} {number(y2)} '
            f'{number(x2)} {number(y2)}" fill="none" stroke="{colour}" stroke-width="1.4"/>'
        )

    def box(
        self, x: float, y: float, width: float, height: float, style: Style, *, radius: float = 6
    ) -> None:
        dash = ' stroke-dasharray="4 3"' if style.dashed else ""
        self._shapes.append(
            f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}" '
            f'rx="{number(radius)}" fill="{style.fill}" stroke="{style.line}" '
            f'stroke-width="{number(style.weight)}"{dash}/>'
        )

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: float = 13,
        colour: str = INK,
        anchor: str = "start",
        bold: bool = False,
        struck: bool = False,
    ) -> None:
        """Write a line of text whose foot is at y; `anchor` is start, middle or end."""
        marks = ' font-weight="600"' if bold else ""
        marks += ' text-decoration="line-through"' if struck else ""
        if anchor != "start":
            marks += f' text-anchor="{anchor}"'
        self._shapes.append(
            f'<text x="{number(x)}" y="{number(y)}" font-size="{number(size)}" fill="{colour}"{marks}>'
            f"{escaped(text)}</text>"
        )

    def lines(
        self, x: float, y: float, texts: Sequence[str], *, size: float = 12.5, colour: str = MUTED
    ) -> None:
        for place, text in enumerate(texts):
            self.text(x, y + place * (size + 5), text, size=size, colour=colour)

    def label_box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        label: str,
        style: Style,
        *,
        note: str = "",
        size: float = 13,
    ) -> None:
        """Draw a box with a label in its middle and a smaller note below the label."""
        self.box(x, y, width, height, style)
        middle = x + width / 2
        foot = y + height / 2 + size * 0.36 - (6.5 if note else 0)
        bold = style.weight > 2
        shown = cut_to_width(label, size, width - 8)
        self.text(middle, foot, shown, size=size, colour=style.text, anchor="middle", bold=bold)
        if note:
            self.text(middle, foot + 14, note, size=10.5, colour=MUTED, anchor="middle")

    def heading(self, x: float, y: float, text: str, *, number: str = "") -> None:
        """Write the heading of a panel, numbered where steps follow each other."""
        shown = f"{number}  {text}" if number else text
        self.text(x, y, shown, size=14, bold=True)

    def svg(self) -> str:
        width, height = number(self.width), number(self.height)
        sheet = Style(PAPER, RULE, INK, weight=1)
        frame = Drawing(self.width, self.height, title="")
        frame.box(0.5, 0.5, self.width - 1, self.height - 1, sheet, radius=10)
        described = f"<desc>{escaped(self.description)}</desc>" if self.description else ""
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                f'viewBox="0 0 {width} {height}" role="img" '
                f"aria-label={_quoted(self.title)} font-family={_quoted(FONT)}>",
                f"<title>{escaped(self.title)}</title>{described}",
                ARROW_HEAD,
                *frame._shapes,
                *self._shapes,
                "</svg>\n",
            ]
        )


@dataclass(frozen=True)
class Figure:
    """A finished picture; `svg` is its text, `title` what it shows.

    >>> figure = Figure("An empty sheet", Drawing(10, 10, title="An empty sheet").svg())
    >>> figure
    Figure('An empty sheet')
    """

    title: str
    svg: str

    def __repr__(self) -> str:
        return f"Figure({self.title!r})"

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture as an SVG file for the owner alone; a file that is there is replaced."""
        from ..io.folder.staging import write_text_file

        write_text_file(path, self.svg, mode=0o600, force=True)
