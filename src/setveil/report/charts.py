"""Charts that a stranger reads at a glance: lines, bars and a heat map, as `Figure`.

Nothing is told by colour alone: series differ by dash and marker too and are named at their ends, cells
hold their numbers. Charts are as wide as a page column, stay readable in grey, and say in words, for
screen readers, what they show.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import takewhile

from .axes import LABEL_GAP, SMALL, Mark, Scale, draw_levels, mark_of, name_ends, spelled
from .drawing import (
    BLUE,
    DEEP,
    INK,
    MARGIN,
    MUTED,
    ORANGE,
    PAPER,
    RULE,
    SAND,
    SHADE,
    VERMILION,
    Drawing,
    Figure,
    Style,
    cut_to_width,
    text_width,
)
from .terms import exactly

WIDTH = 700.0
TOP = 74.0
PLOT_HEIGHT = 280.0
WIDEST_LABEL = 170.0
MOST_TOLD = 60
"""How many numbers the description for screen readers holds."""

Point = tuple[float, float | None]
Place = tuple[Fraction | int, Fraction | int]
_FILLS = (Style(BLUE, BLUE, PAPER, weight=0.6), Style(SAND, VERMILION, INK, weight=1.4))
"""Bars of two groups: dark, and light with a line around it, apart in grey print too."""


def line_chart(
    series: Mapping[str, Sequence[Point]],
    *,
    title: str,
    x_label: str,
    y_label: str,
    percent: bool = False,
    log_x: bool = False,
    log_y: bool = False,
    y_max: float | None = None,
    notes: Sequence[str] = (),
) -> Figure:
    """Return lines over one pair of axes, each named at its end.

    Where the y of a point is None the line is broken. With `percent` the y values are shares. On a
    logarithmic axis values of 0 lie on a mark of their own. The y axis ends at `y_max`, by default
    above the largest value. `notes` are small print below.

    >>> line_chart({"aa": [(1, 0.2), (2, 0.4)]}, title="Loss", x_label="m", y_label="NCP")
    Figure('Loss')
    """
    known = {name: _finite(points) for name, points in series.items()}
    xs = sorted({x for points in known.values() for x, _ in points})
    ys = [y for points in known.values() for _, y in points if y is not None]
    height = max(PLOT_HEIGHT, LABEL_GAP * len(series))
    bottom = TOP + height
    up = Scale.over(ys, bottom, TOP, logarithmic=log_y, largest=y_max)
    named = up.named(percent=percent)
    left = MARGIN + 8 + max(text_width(text, SMALL) for _, text in named)
    room = max((text_width(name, 12.5) for name in series), default=0.0)
    right = WIDTH - MARGIN - min(room, WIDEST_LABEL) - 34
    across = _across(xs, left + 14, right - 8, log_x)
    foot, lines = bottom + 40, _wrapped(notes)
    told = _points_in_words(known, x_label, y_label, percent)
    sheet = _sheet(title, y_label, foot + 10 + 17 * len(lines), told)
    draw_levels(sheet, named, left, right)
    sheet.line(left, bottom, right, bottom, colour=MUTED, weight=1.2)
    _mark_across(sheet, across, xs, bottom)
    sheet.text((left + right) / 2, foot, x_label, size=12.5, colour=MUTED, anchor="middle")
    ends: list[tuple[str, Mark, float, float]] = []
    for place, (name, points) in enumerate(known.items()):
        mark = mark_of(place)
        drawn = [(across.place(x), None if y is None else up.place(y)) for x, y in points]
        end = _draw_series(sheet, drawn, mark)
        ends.append((name, mark, *(end or (right, bottom))))
    width = WIDTH - MARGIN - right - 32
    name_ends(sheet, ends, right + 15, (TOP, bottom), room=width, before_mark=11)
    sheet.lines(MARGIN, foot + 24, lines, size=SMALL)
    return Figure(title, sheet.svg())


def bar_chart(
    bars: Sequence[tuple[str, float]],
    *,
    title: str,
    x_label: str,
    percent: bool = False,
    told: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
    notes: Sequence[str] = (),
) -> Figure:
    """Return bars that lie, in the order given, each below its number and its name.

    Numbers stand at the left, where a narrow screen shows them before it is scrolled; `told` is what is
    written above each bar instead. `groups` say of which of two groups each bar is; a legend tells them
    apart. `notes` are small print below.

    >>> bar_chart([("aa", 0.2), ("optimal", 0.1)], title="Loss", x_label="NCP", percent=True)
    Figure('Loss')
    """
    written = list(told) if told is not None else [spelled(float(y), percent=percent) for _, y in bars]
    of_bar = list(groups) if groups is not None else [""] * len(bars)
    fills = dict(zip(dict.fromkeys(of_bar), _FILLS, strict=False))
    lengths = [float(length) if math.isfinite(length) else 0.0 for _, length in bars]
    numbers = min(max((text_width(text, 12.5) for text in written), default=0.0) + 6, 240.0)
    top = TOP + (LABEL_GAP + 3) * (len(fills) if groups is not None else 0)
    left, right = MARGIN, WIDTH - MARGIN - 10
    across = Scale.over(lengths, left, right)
    step = 42.0
    bottom = top + step * len(bars)
    lines = _wrapped(notes)
    words = "; ".join(
        f"{name}{f', {group}' if group else ''}: {text}"
        for (name, _), group, text in zip(bars, of_bar, written, strict=True)
    )
    sheet = _sheet(title, x_label, bottom + 28 + 17 * len(lines), words[:4000])
    for place, (group, style) in enumerate(fills.items() if groups is not None else ()):
        y = TOP - 6 + (LABEL_GAP + 3) * place
        sheet.box(left, y, 22, 12, style, radius=2)
        sheet.text(left + 30, y + 10.5, cut_to_width(group, 12.5, right - left - 30), size=12.5)
    marks = _apart(across.named(percent=percent))
    for x, text in marks:
        sheet.text(x, bottom + 17, text, size=SMALL, colour=MUTED, anchor="middle")
    zero = across.place(0.0)
    shown = _cut_apart([name for name, _ in bars], 12.5, right - left - numbers - 8)
    for place, ((name, _), length, text) in enumerate(zip(bars, lengths, written, strict=True)):
        y, end = top + step * place, across.place(length)
        sheet.text(left, y + 13, cut_to_width(text, 12.5, numbers), size=12.5, bold=True)
        sheet.text(left + numbers + 8, y + 13, shown[name], size=12.5)
        for x, _ in marks:
            sheet.line(x, y + 18, x, y + 36, colour=RULE, weight=0.8)
        if end != zero:
            near, far = min(zero, end), max(zero, end)
            sheet.box(near, y + 21, far - near, 12, fills[of_bar[place]], radius=2)
        sheet.line(zero, y + 18, zero, y + 36, colour=MUTED, weight=1.2)
    sheet.lines(MARGIN, bottom + 40, lines, size=SMALL)
    return Figure(title, sheet.svg())


def heat_map(
    values: Mapping[Place, float | None],
    *,
    title: str,
    x_label: str,
    y_label: str,
    told: Mapping[Place, str] | None = None,
    percent: bool = False,
    marked: Place | None = None,
    notes: Sequence[str] = (),
) -> Figure:
    """Return a grid of cells, the darker the larger, each with its number where cells are wide enough.

    Cells are by (x, y); one without a number is left white, with a broken line. A label "m, what it is"
    names columns or rows m = 1, m = 2, ... What is `told` is written into a cell instead of its number,
    and the one that is `marked` is framed. `notes` are small print below.

    >>> heat_map({(1, 2): 0.2, (2, 2): None}, title="Loss", x_label="m", y_label="k")
    Figure('Loss')
    """
    xs, ys = sorted({x for x, _ in values}), sorted({y for _, y in values})
    across, down = _before(x_label), _before(y_label)
    rows = max((text_width(f"{down}{_spelt(y)}", 12.5) for y in ys), default=0.0)
    left = MARGIN + rows + 14
    width = min((WIDTH - MARGIN - left) / max(len(xs), 1), 120.0)
    cell = 34.0
    top = TOP + 22
    bottom = top + cell * len(ys)
    known = [value for value in values.values() if value is not None and math.isfinite(value)]
    most = max(known, default=0.0)
    text_of = dict(told or {})
    for key, value in values.items():
        text_of.setdefault(key, "none" if value is None else spelled(value, percent=percent))
    size = 12.5 if width >= 60 else 10.0
    widest = max((text_width(text, size) for text in text_of.values()), default=0.0)
    legible = told is not None or widest <= width - 8
    if not legible:
        notes = [f"From light, 0, to dark, {spelled(most, percent=percent)}.", *notes]
    lines = _wrapped(notes)
    words = "; ".join(
        f"{x_label} {exactly(x)}, {y_label} {exactly(y)}: {text_of[x, y]}"
        for x, y in sorted(values)[:MOST_TOLD]
    )
    sheet = _sheet(title, f"rows: {y_label}; columns: {x_label}", bottom + 16 + 17 * len(lines), words)
    for column, x in enumerate(xs):
        sheet.text(
            left + width * (column + 0.5), top - 8, f"{across}{_spelt(x)}", size=12.5, anchor="middle"
        )
    for row, y in enumerate(ys):
        sheet.text(left - 10, top + cell * (row + 0.62), f"{down}{_spelt(y)}", size=12.5, anchor="end")
        for column, x in enumerate(xs):
            if (x, y) in values:
                style = _cell_style(values[x, y], most, (x, y) == marked)
                place = (left + width * column + 1.5, top + cell * row + 1.5)
                text = text_of[x, y] if legible else ""
                sheet.label_box(*place, width - 3, cell - 3, text, style, size=size)
    sheet.lines(MARGIN, bottom + 28, lines, size=SMALL)
    return Figure(title, sheet.svg())


def _spelt(value: Fraction | int) -> str:
    return f"{value:,}" if isinstance(value, int) else exactly(value)


def _cut_apart(names: Sequence[str], size: float, width: float) -> dict[str, str]:
    """Return each name as it fits; names that the cut makes look the same show where they differ.

    >>> _cut_apart(["common, first", "common, second", "x"], 10, 50)
    {'common, first': '… first', 'common, second': '… second', 'x': 'x'}
    """
    cut = {name: cut_to_width(name, size, width) for name in names}
    for _ in names:
        alike: dict[str, list[str]] = {}
        for name, text in cut.items():
            alike.setdefault(text, []).append(name)
        for group in alike.values():
            if len(group) > 1:
                same = takewhile(lambda signs: len(set(signs)) == 1, zip(*group, strict=False))
                shared = group[0][: len(list(same))]
                comma = shared.rfind(", ")
                # From the value that differs, or from a few signs before the first that do.
                start = max(comma + 2 if comma >= 0 else 0, len(shared) - 20)
                cut |= {name: cut_to_width(f"… {name[start:]}", size, width) for name in group}
    return cut


def _before(label: str) -> str:
    """Return what is written before the values of an axis: "k, the records that fit" gives "k = "."""
    short = label.partition(",")[0]
    return f"{short} = " if len(short) <= 2 else ""


def _finite(points: Sequence[Point]) -> list[Point]:
    """Return points as floats, in the order of x; what is no number becomes a gap."""
    plain = [(float(x), None if y is None or not math.isfinite(y) else float(y)) for x, y in points]
    return sorted(plain, key=lambda point: point[0])


def _sheet(title: str, below: str, height: float, words: str) -> Drawing:
    sheet = Drawing(WIDTH, height + 12, title=title, description=f"{below}. {words}")
    sheet.heading(MARGIN, 32, cut_to_width(title, 14.5, WIDTH - 2 * MARGIN))
    sheet.text(MARGIN, 54, cut_to_width(below, 12.5, WIDTH - 2 * MARGIN), size=12.5, colour=MUTED)
    return sheet


def _wrapped(notes: Sequence[str]) -> list[str]:
    """Return notes cut into lines that fit; one that has no blanks is shortened."""
    lines: list[str] = []
    for note in notes:
        line = ""
        for word in note.split():
            longer = f"{line} {word}".lstrip()
            if line and text_width(longer, SMALL) > WIDTH - 2 * MARGIN:
                lines.append(line)
                longer = word
            line = cut_to_width(longer, SMALL, WIDTH - 2 * MARGIN)
        lines.append(line)
    return lines


def _across(xs: Sequence[float], left: float, right: float, logarithmic: bool) -> Scale:
    """Return the x axis: from the first to the last value, for none of them need be 0."""
    if not xs or xs[0] == xs[-1]:
        only = xs[0] if xs else 0.0
        return Scale((only - 1, only + 1), left, right)
    return Scale((xs[0], xs[-1]), left, right, logarithmic and xs[0] > 0)


def _mark_across(sheet: Drawing, across: Scale, xs: Sequence[float], bottom: float) -> None:
    """Name the x values that are there; where they are too dense, those that have room."""
    wanted = [(across.place(x), spelled(x)) for x in xs]
    if wanted:
        last = wanted[-1]
        room = text_width(last[1], SMALL) / 2 + 6
        for x, text in [*_apart([w for w in wanted[:-1] if w[0] < last[0] - room], last), last]:
            sheet.line(x, bottom, x, bottom + 4, colour=MUTED, weight=1)
            sheet.text(x, bottom + 18, text, size=SMALL, colour=MUTED, anchor="middle")


def _apart(
    wanted: Sequence[tuple[float, str]], last: tuple[float, str] | None = None
) -> list[tuple[float, str]]:
    """Return the texts that do not touch the one before, nor the last one, in reading order."""
    kept: list[tuple[float, str]] = []
    free = -math.inf
    end = math.inf if last is None else last[0] - text_width(last[1], SMALL) / 2 - 6
    for x, text in wanted:
        half = text_width(text, SMALL) / 2
        if x - half > free and x + half < end:
            kept.append((x, text))
            free = x + half + 6
    return kept


def _draw_series(
    sheet: Drawing, points: Sequence[tuple[float, float | None]], mark: Mark
) -> tuple[float, float] | None:
    """Draw one line, broken where there is no value; return its end."""
    pieces: list[list[tuple[float, float]]] = [[]]
    for x, y in points:
        if y is None:
            pieces.append([])
        else:
            pieces[-1].append((x, y))
    for piece in pieces:
        if len(piece) > 1:
            sheet.path(piece, colour=mark.colour, dash=mark.dash)
        if len(points) <= 60:
            for x, y in piece:
                mark.draw(sheet, x, y)
    return next((piece[-1] for piece in reversed(pieces) if piece), None)


def _cell_style(value: float | None, most: float, marked: bool) -> Style:
    weight = 3.4 if marked else 1.2
    if value is None or not math.isfinite(value):
        return Style(PAPER, INK if marked else RULE, MUTED, dashed=not marked, weight=weight)
    share = min(max(value / most, 0.0), 1.0) if most > 0 else 0.0
    fill = _between(SHADE, BLUE, share * 2) if share < 0.5 else _between(BLUE, DEEP, share * 2 - 1)
    frame = INK if share < 0.5 else ORANGE  # what stands out from the cell in grey too
    return Style(fill, frame if marked else fill, PAPER if share > 0.3 else INK, weight=weight)


def _between(light: str, dark: str, share: float) -> str:
    """Return the colour between two.

    >>> _between("#000000", "#ffffff", 0.5)
    '#808080'
    """
    pairs = zip(bytes.fromhex(light[1:]), bytes.fromhex(dark[1:]), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def _points_in_words(
    series: Mapping[str, Sequence[Point]], x_label: str, y_label: str, percent: bool
) -> str:
    """Say where the points are; long lines by their first, middle and last ones."""
    most = max(MOST_TOLD // max(len(series), 1), 3)
    parts = []
    for name, points in series.items():
        step = max(1, math.ceil(len(points) / most))
        chosen = [*points[:-1:step], *points[-1:]]
        told = ", ".join(
            f"{'none' if y is None else spelled(y, percent=percent)} at {spelled(x)}" for x, y in chosen
        )
        parts.append(f"{name}: {told}")
    return f"{y_label} by {x_label}. " + "; ".join(parts)
