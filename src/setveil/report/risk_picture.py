"""The risk curve as a picture and as a part of a page: how many records are at risk, by what is known.

The picture is two panels: records that fewer than k match, and records that only they themselves match.
In each the worst reading is a full line with full marks, the average one a broken line with hollow
marks. Before and after differ by colour and by the shape of their marks, and every line is named at its
end. A bar around a mark is the interval of an estimate; marks without one are counted.

A public page says what somebody who knows more than was assumed can do. It is made from the published
records alone, with a fixed amount of work, so it is the same for the same release. Up to what the
promise covers the risk is 0, as the audit counted. Beyond, shares that stand for fewer than k records
are told as a band only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ..errors import UsageError
from ..hierarchy.tree import Hierarchy
from ..model.guarantees import Guarantee
from ..model.transactions import Rows, Transactions, labelled
from ..risk.crowd import Estimate, percent
from ..risk.curve import MOST, QUICK, READINGS, RiskCurve, RiskPoint, risk_curve
from .axes import SMALL, Mark, Scale, draw_levels, name_ends
from .charts import line_chart
from .drawing import BLUE, MARGIN, MUTED, VERMILION, Drawing, Figure
from .html import Content, Html, element, join, paragraph, picture, section, small, table
from .pages.sections import counted

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
BEYOND = 2
"""How far past the promise the curve goes at least, in known items."""
SHOWN = {"worst": "worst", "average": "average", "worst_unique": "worst, alone"}


def risk_figure(*, before: RiskCurve | None = None, after: RiskCurve | None = None) -> Figure:
    """Return the share of records at risk against the number of items known.

    A picture with the curve of `before`, of the original records, is not for publication.

    >>> from setveil.model.transactions import Transactions
    >>> from setveil.risk.curve import risk_curve
    >>> risk_figure(after=risk_curve(Transactions.from_rows([["a"], ["a", "b"]]), k=2))
    Figure('Records at risk, by what is known of them')
    """
    curves = _given(before, after)
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


def _given(before: RiskCurve | None, after: RiskCurve | None) -> dict[str, RiskCurve]:
    both = {"before": before, "after": after}
    return {name: curve for name, curve in both.items() if curve is not None}


def _panel(sheet: Drawing, x: float, told: str, curves: Mapping[str, RiskCurve], suffix: str) -> None:
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
                low, high = up.place(share.low), up.place(share.high)
                sheet.line(px, low, px, high, colour=mark.colour, weight=1.2)
                for y in (low, high):
                    sheet.line(px - 4, y, px + 4, y, colour=mark.colour, weight=1.2)
        if most <= 5 * MOST_MARKED:
            for place in places:
                mark.draw(sheet, *place)
        name = reading if len(curves) == 1 else f"{when}, {reading}"
        ends.append((name, mark, *places[-1]))
    name_ends(sheet, ends, right + 11, (TOP, bottom))


def _in_words(curves: Mapping[str, RiskCurve]) -> str:
    def told(point: RiskPoint) -> str:
        shares = ((reading.replace("_", " "), getattr(point, reading).value) for reading in READINGS)
        return ", ".join(f"{reading} {percent(value)}" for reading, value in shares)

    parts = [
        f"{when}, {point.known} known: {told(point)}"
        for when, curve in curves.items()
        for point in curve.points[: 2 * MOST_MARKED]
    ]
    return "; ".join(parts) + "."


class Told(NamedTuple):
    """A share as it may be told: in words, and where it is drawn."""

    words: str
    drawn: float


def covered(guarantee: Guarantee) -> int | None:
    """Return up to how many known items nobody is singled out; None for any number."""
    return guarantee.known_at_most if guarantee.crowd > 1 else 0


def known_labels(published: Transactions, guarantee: Guarantee) -> Transactions:
    """Return the records without the labels that an attacker is assumed not to know."""
    secret = guarantee.secret_labels
    if not secret:
        return published
    open_by_item = np.array([name not in secret for name in published.vocabulary.labels], dtype=bool)
    stays = open_by_item[published.items]
    kept_before = np.concatenate(([0], np.cumsum(stays)))
    return replace(
        published, indptr=kept_before[published.indptr].astype(np.int64), items=published.items[stays]
    )


def curve_of_records(
    records: Transactions, guarantee: Guarantee, *, budget: int | None = None
) -> RiskCurve | None:
    """Return the risk of records, published or not; None where there is nothing to know.

    The guarantee tells how few records are too few, and which labels are not known. Little work is
    spent unless a `budget` is given, as for `risk.curve.risk_curve`.
    """
    seen = known_labels(records, guarantee)
    if not len(seen) or not len(seen.items):
        return None
    longest = int(seen.length_by_record.max())
    most = min(longest, max(MOST, (covered(guarantee) or 0) + BEYOND))
    return risk_curve(seen, guarantee.least_support, most=most, budget=budget or QUICK)


def told(share: Estimate, records: int, least: int) -> Told:
    """Return a share in words; one of fewer than `least` records as a band.

    An estimate is told as the interval it may lie in, and drawn at its upper end: a risk is not made
    smaller than it may be.
    """
    if share.value == 0 and share.exact:
        return Told("0 %", 0.0)
    band = Fraction(least, records)
    if share.high < band:
        return Told(f"fewer than {least} records", float(min(band, Fraction(1))))
    if share.exact:
        return Told(percent(share.value), float(share.value))
    if share.low < band:
        return Told(f"up to {percent(share.high)}", share.high)
    return Told(f"{percent(share.low)} to {percent(share.high)}", share.high)


def curve_before(
    rows: Rows, hierarchy: Hierarchy, guarantee: Guarantee, *, budget: int | None = None
) -> RiskCurve | None:
    """Return the risk of the original records, for the holder's eyes alone."""
    original = labelled(rows.indptr, rows.leaves, hierarchy.labels)
    return curve_of_records(original, guarantee, budget=budget)


def risk_after(curve: RiskCurve | None, guarantee: Guarantee) -> Html:
    """Return the public part on what is left to whoever knows more than the promise assumes."""
    if curve is None:
        return Html("")
    least, upto = guarantee.least_support, covered(guarantee)
    none = Told("0 %, verified", 0.0)
    shares = {
        point.known: (none, none)
        if upto is None or point.known <= upto
        else (
            told(point.worst, curve.records, least),
            told(point.average, curve.records, least),
        )
        for point in curve.points
    }
    sentences = [paragraph(sentence) for sentence in _sentences(curve, least, upto)]
    if not any(worst.drawn for worst, _ in shares.values()):
        return section("risk", "What is left to whoever knows more", *sentences)
    lines = ("most telling labels", "labels at random")
    drawn = line_chart(
        {
            name: [(known, both[place].drawn) for known, both in shares.items()]
            for place, name in enumerate(lines)
        },
        title=f"Records that fewer than {least} match, by what is known",
        x_label="labels known of a record",
        y_label="share of records",
        percent=True,
        y_max=1.0,
    )
    return section(
        "risk",
        "What is left to whoever knows more",
        *sentences,
        picture(drawn),
        table(
            ("labels known", "#most telling ones", "#at random"),
            [(str(known), worst.words, average.words) for known, (worst, average) in shares.items()],
            caption=f"Share of records of which such labels fit fewer than {least} records",
        ),
        small(" ".join(_notes(curve, guarantee, least))),
    )


def _sentences(curve: RiskCurve, least: int, upto: int | None) -> list[str]:
    if upto is None:
        return ["Nobody is singled out by labels, however many of them are known."]
    first: list[str] = []
    if upto:
        first.append(f"Whoever knows up to {counted(upto, 'label')} of a record singles nobody out.")
    if len(curve.points) <= upto:
        return [*first, "No record has more labels than that."]
    open_points = [point for point in curve.points[upto:] if point.worst.value or not point.worst.exact]
    if not open_points:
        return [
            *first,
            f"Here the same is true of up to {counted(len(curve.points), 'label')}, which was counted "
            "and is not promised.",
        ]
    point = open_points[0]
    worst = _whom(told(point.worst, curve.records, least))
    average = _whom(told(point.average, curve.records, least))
    return [
        *first,
        f"Whoever knows {counted(point.known, 'label')} finds fewer than {least} records that fit: for "
        f"{worst} if these are the most telling labels of the record, for {average} if they are any.",
    ]


def _whom(share: Told) -> str:
    return share.words if share.words.endswith("records") else f"{share.words} of the records"


def _notes(curve: RiskCurve, guarantee: Guarantee, least: int) -> list[str]:
    notes = [f"Shares that stand for fewer than {least} records are shown as 'fewer than {least}'."]
    if not all(point.worst.exact and point.average.exact for point in curve.points):
        notes.append(
            f"Intervals: 95 %, from up to {curve.draws:,} drawn records; drawn are their upper ends. "
            "The other numbers are counted."
        )
    if guarantee.signed:
        notes.append("Only labels known to be in a record are looked at here.")
    if guarantee.secret_labels:
        notes.append("Sensitive or private labels count as not known.")
    return notes


def risk_before_after(before: RiskCurve | None, after: RiskCurve | None, guarantee: Guarantee) -> Html:
    """Return the private part: the risk of the original records beside that of the release, exactly."""
    curves = _given(before, after)
    if not curves:
        return Html("")
    least = guarantee.least_support
    drawn = risk_figure(before=before, after=after)
    rows: list[tuple[Content, ...]] = [
        (
            str(place + 1),
            *(_cell(curve, place, reading) for curve in curves.values() for reading in SHOWN),
        )
        for place in range(max(len(curve.points) for curve in curves.values()))
    ]
    heads = [f"#{name}: {said}" for name in curves for said in SHOWN.values()]
    return section(
        "risk",
        "What an attacker could do, before and after",
        paragraph(
            f"The share of records of which what is known fits fewer than {least} records, or the "
            "record alone. Worst: the most telling items or labels are known. Average: any of them."
        ),
        picture(drawn) if len(rows) > 1 else "",
        table(("known", *heads), rows, caption="Exact unless an interval is shown (95 %)"),
    )


def _cell(curve: RiskCurve, place: int, reading: str) -> Content:
    if place >= len(curve.points):
        return "-"
    share: Estimate = getattr(curve.points[place], reading)
    if share.exact:
        return percent(share.value)
    low, high = (percent(end).removesuffix(" %") for end in (share.low, share.high))
    return join((percent(share.value), element("span", f"{low} to {high}", class_="note")))
