"""A comparison of methods as a picture: bars of what each loses, and loss against time below.

A bar is cut where items left out end and items published more coarsely begin. In the lower part a
point further down loses less and one further left is faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .axes import SMALL, Scale, draw_levels, mark_of, spelled
from .comparison import told_size
from .drawing import MARGIN, Drawing, Figure, cut_to_width, text_width
from .palette import BLUE, INK, MUTED, ORANGE, RULE, SAND, SHADE, Style

if TYPE_CHECKING:
    from .comparison import Compared, Comparison

WIDTH = 700.0
ROW = 26.0
PLOT_HEIGHT = 240.0
COARSER, LEFT_OUT = Style(BLUE, BLUE, INK, weight=0.8), Style(SAND, ORANGE, INK, weight=1.4)
EMPTY = Style(SHADE, MUTED, INK, dashed=True)
"""The bar of a release that says nothing."""


def draw_comparison(found: Comparison) -> Figure:
    """Return the picture of a comparison."""
    with_result = [row for row in found.rows if row.loss is not None]
    without = [row for row in found.rows if row.loss is None]
    title = f"Methods compared: {found.guarantee}"
    bars_end = 120 + ROW * len(found.rows)
    height = bars_end + 12 + (PLOT_HEIGHT + 92 if len(found.usable) > 1 else 0)
    sheet = Drawing(WIDTH, height, title=title, description=_in_words(found))
    sheet.heading(MARGIN, 32, cut_to_width(title, 14.5, WIDTH - 2 * MARGIN))
    size = told_size(found.records, found.items, found.domain)
    size += "" if found.recommended is None else f"; recommended: ★ {found.recommended}"
    sheet.text(MARGIN, 52, size, size=12.5, colour=MUTED)
    cost = f"weighted {found.cost.upper()}" if found.weighted else found.cost.upper()
    sheet.text(MARGIN, 84, f"{cost} lost: 0 % is nothing, 100 % everything", size=12.5, bold=True)
    _bars(sheet, with_result, found)
    for place, row in enumerate(without, len(with_result)):
        y = 112 + ROW * place
        sheet.text(MARGIN + 82, y + 14, row.method, size=12.5, colour=MUTED, anchor="end")
        said = cut_to_width(row.remark().partition(", ")[0], SMALL, WIDTH - MARGIN - 116)
        sheet.text(MARGIN + 96, y + 14, said, size=SMALL, colour=MUTED)
    if len(found.usable) > 1:
        _against_time(sheet, found.usable, cost, bars_end + 26, found.recommended)
    return Figure(title, sheet.svg())


def _bars(sheet: Drawing, rows: Sequence[Compared], found: Comparison) -> None:
    left, right = MARGIN + 94, 408.0
    across = Scale.over([float(row.loss or 0) for row in rows], left, right)
    columns = ((416.0, "lost", "start"), (610.0, "seconds", "end"), (680.0, "memory", "end"))
    for x, text, anchor in columns:
        sheet.text(x, 105, text, size=SMALL, colour=MUTED, anchor=anchor)
    # With weights an occurrence left out costs what its item weighs: the bar cannot be cut there.
    cut = not found.weighted and any(row.left_out for row in rows)
    if cut:
        for x, style, text in ((left, COARSER, "coarser"), (left + 84, LEFT_OUT, "left out")):
            sheet.box(x, 96, 16, 11, style, radius=2)
            sheet.text(x + 22, 105.5, text, size=SMALL, colour=MUTED)
    for place, row in enumerate(rows):
        y = 112 + ROW * place
        chosen = row.method == found.recommended
        sheet.text(left - 12, y + 14, row.method, size=12.5, anchor="end", bold=chosen)
        loss, gone = float(row.loss or 0), float(row.left_out or 0) if cut else 0.0
        middle = across.place(max(loss - gone, 0.0))
        end = across.place(loss)
        if middle > left:
            sheet.box(left, y, middle - left, 18, EMPTY if row.useless else COARSER, radius=2)
        if gone and end > middle:
            sheet.box(middle, y, end - middle, 18, LEFT_OUT, radius=2)
        sheet.text(416, y + 14, cut_to_width(_told(row, chosen), 12, 150), size=12, bold=chosen)
        sheet.text(610, y + 14, f"{row.seconds:.2f}", size=12, anchor="end", bold=chosen)
        memory = "" if row.memory is None else f"{row.memory / 2**20:,.0f} MiB"
        sheet.text(680, y + 14, memory, size=12, anchor="end", bold=chosen)
    sheet.line(left, 110, left, 112 + ROW * len(rows), colour=MUTED, weight=1.2)


def _told(row: Compared, chosen: bool) -> str:
    said = f"{float(row.loss or 0):.2%}".replace("%", " %")
    if row.useless:
        return f"{said}: says nothing"
    if row.holds is False:
        return f"{said}: BROKEN"
    said += ", proven" if row.proven else ", cut short" if row.cut else ""
    return f"{said} ★" if chosen else said


def _against_time(
    sheet: Drawing, rows: Sequence[Compared], cost: str, top: float, recommended: str | None
) -> None:
    sheet.text(MARGIN, top, f"{cost} lost against time: low and left is good", size=12.5, bold=True)
    top += 18
    bottom = top + PLOT_HEIGHT
    up = Scale.over([float(row.loss or 0) for row in rows], bottom, top)
    named = up.named(percent=True)
    left = MARGIN + 8 + max(text_width(text, SMALL) for _, text in named)
    right = WIDTH - MARGIN - 40
    seconds = [max(row.seconds, 0.001) for row in rows]
    across = Scale.over(seconds, left + 10, right, logarithmic=True)
    draw_levels(sheet, named, left, WIDTH - MARGIN)
    for x, text in across.named():
        sheet.line(x, top, x, bottom + 4, colour=RULE, weight=0.8)
        sheet.text(x, bottom + 18, text, size=SMALL, colour=MUTED, anchor="middle")
    sheet.line(left, bottom, WIDTH - MARGIN, bottom, colour=MUTED, weight=1.2)
    under = "seconds (each step is ten times as long)"
    sheet.text((left + right) / 2, bottom + 38, under, size=12.5, colour=MUTED, anchor="middle")
    points = [
        (across.place(time), up.place(float(row.loss or 0)))
        for time, row in zip(seconds, rows, strict=True)
    ]
    taken = [(x - 7, y - 7, x + 7, y + 7) for x, y in points]
    for place, (row, (x, y)) in enumerate(zip(rows, points, strict=True)):
        mark_of(place).draw(sheet, x, y, size=5)
        chosen = row.method == recommended
        box, moved = _free(x, y, text_width(row.method, 12.5), taken, (top - 8, bottom + 2))
        taken.append(box)
        if moved:
            near = min(max(x, box[0]), box[2])
            sheet.line(x, y, near, box[1] if box[1] > y else box[3], colour=MUTED, weight=0.8)
        sheet.text(box[0], box[3] - 4, row.method, size=12.5, bold=chosen)


Box = tuple[float, float, float, float]


def _free(
    x: float, y: float, width: float, taken: Sequence[Box], between: tuple[float, float]
) -> tuple[Box, bool]:
    """Return where a label covers nothing else, and whether that is not right beside its point."""
    for step in range(8):
        away = 10 + 14 * step
        for left, middle in (
            (x + 10, y - 14 * step),
            (x - 10 - width, y - 14 * step),
            (x - width / 2, y - 6 - away),
            (x - width / 2, y + 6 + away),
            (x + 10, y + 14 * step),
            (x - 10 - width, y + 14 * step),
        ):
            box = (left, middle - 8, left + width, middle + 8)
            inside = box[0] > MARGIN + 40 and box[2] < WIDTH - 8
            inside = inside and between[0] <= box[1] and box[3] <= between[1]
            if inside and not any(_meet(box, other) for other in taken):
                return box, step > 0
    return (x + 10, y - 8, x + 10 + width, y + 8), False


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _in_words(found: Comparison) -> str:
    rows = "; ".join(
        f"{row.method}: {spelled(float(row.loss), percent=True)} lost in {row.seconds:.2f} seconds"
        if row.loss is not None
        else f"{row.method}: {row.status}"
        for row in found.rows
    )
    return f"{rows}. {' '.join(found.reasons)}"
