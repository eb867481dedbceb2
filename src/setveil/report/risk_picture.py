"""The risk curve as a picture: how many records are at risk, before and after, by what is known.

Two panels: records that fewer than k match, and records that only they themselves match. In each the
worst reading is a full line with full marks, the average one a broken line with hollow marks. Before
and after differ by colour and by the shape of their marks, and every line is named at its end. A bar
around a mark is the interval of an estimate; marks without one are counted.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import UsageError
from ..risk.curve import RiskCurve
from ..risk.estimate import Estimate, percent
from .axes import SMALL, Mark, Scale, draw_levels, name_ends
from .drawing import MARGIN, Drawing, Figure
from .palette import BLUE, MUTED, VERMILION

WIDTH, TOP, HEIGHT = 880.0, 96.0, 260.0
LEFT, PLOT = 46.0, 230.0
PANEL = (WIDTH - 2 * MARGIN) / 2
MOST_MARKED = 12

LOOKS = {
    ("before", "worst"): Mark(VERMILION, "", "circle"),
    ("before", "average"): Mark(VERMILION, "6 4", "circle", hollow=True),
    ("after", "worst"): Mark(BLUE, "", "square"),
    ("after", "average"): Mark(BLUE, "6 4", "square", hollow=True),
}


def risk_figure(*, before: RiskCurve | None = None, after: RiskCurve | None = None) -> Figure:
    """Return the share of records at risk against the number of items known.

    Parameters
    ----------
    before
        The curve of the original records. A picture with it is not for publication.
    after
        The curve of what is published.

    >>> from setveil.model.transactions import Transactions
    >>> from setveil.risk.curve import risk_curve
    >>> risk_figure(after=risk_curve(Transactions.from_rows([["a"], ["a", "b"]]), k=2))
    Figure('Records at risk, by what is known of them')
    """
    curves = {
        name: curve for name, curve in (("before", before), ("after", after)) if curve is not None
    }
    if not curves:
        raise UsageError("there is no curve to draw.", "Give before, after, or both.")
    k = next(iter(curves.values())).k
    if len({curve.k for curve in curves.values()}) > 1:
        raise UsageError("the curves before and after are for different k.", "Make them for the same.")
    title = "Records at risk, by what is known of them"
    sheet = Drawing(WIDTH, TOP + HEIGHT + 96, title=title, description=_in_words(curves))
    sheet.heading(MARGIN, 36, title)
    for place, (suffix, told) in enumerate(
        (("", f"fewer than {k} records match"), ("_unique", "no other record matches"))
    ):
        _panel(sheet, MARGIN + place * PANEL, told, curves, suffix)
    foot = TOP + HEIGHT + 62
    lines = ["worst: the most telling items of the record are known; average: items at random."]
    draws = max(curve.draws for curve in curves.values())
    if draws:
        lines.append(f"Bars: 95 % intervals, from up to {draws:,} drawn records; the rest is counted.")
    sheet.lines(MARGIN, foot, lines, size=SMALL)
    return Figure(title, sheet.svg())


def _panel(sheet: Drawing, x: float, told: str, curves: Mapping[str, RiskCurve], suffix: str) -> None:
    """Draw one panel at `x`: axes, lines and their names."""
    sheet.text(x, TOP - 28, told, size=13, bold=True)
    sheet.text(x, TOP - 12, "share of records", size=SMALL, colour=MUTED)
    left, right, bottom = x + LEFT, x + LEFT + PLOT, TOP + HEIGHT
    most = max(len(curve.points) for curve in curves.values())
    up = Scale.over([], bottom, TOP, largest=1.0)
    draw_levels(sheet, up.named(percent=True), left, right)
    sheet.line(left, bottom, right, bottom, colour=MUTED, weight=1.2)

    def across(known: int) -> float:
        return left + 14 + (PLOT - 28) * (known - 1) / max(1, most - 1)

    step = -(-most // (MOST_MARKED if most < 100 else MOST_MARKED // 2))
    for known in range(1, most + 1, step):
        sheet.text(across(known), bottom + 18, str(known), size=SMALL, colour=MUTED, anchor="middle")
    sheet.text((left + right) / 2, bottom + 38, "items known", size=12.5, colour=MUTED, anchor="middle")
    ends: list[tuple[str, Mark, float, float]] = []
    for (when, reading), mark in LOOKS.items():
        if when not in curves:
            continue
        shares: list[tuple[float, Estimate]] = [
            (across(point.known), getattr(point, reading + suffix)) for point in curves[when].points
        ]
        places = [(px, up.place(float(share.value))) for px, share in shares]
        if len(places) > 1:
            sheet.path(places, colour=mark.colour, dash=mark.dash)
        for px, share in shares:
            if not share.exact:
                _draw_interval(sheet, px, up.place(share.low), up.place(share.high), mark.colour)
        if most <= 5 * MOST_MARKED:
            for place in places:
                mark.draw(sheet, *place)
        name = reading if len(curves) == 1 else f"{when}, {reading}"
        ends.append((name, mark, *places[-1]))
    name_ends(sheet, ends, right + 11, (TOP, bottom))


def _draw_interval(sheet: Drawing, x: float, low: float, high: float, colour: str) -> None:
    sheet.line(x, low, x, high, colour=colour, weight=1.2)
    for y in (low, high):
        sheet.line(x - 4, y, x + 4, y, colour=colour, weight=1.2)


def _in_words(curves: Mapping[str, RiskCurve]) -> str:
    """Return the numbers for screen readers."""
    parts = [
        f"{when}, {point.known} known: worst {percent(point.worst.value)}, average "
        f"{percent(point.average.value)}, worst unique {percent(point.worst_unique.value)}, "
        f"average unique {percent(point.average_unique.value)}"
        for when, curve in curves.items()
        for point in curve.points[: 2 * MOST_MARKED]
    ]
    return "; ".join(parts) + "."
