"""A sweep as pictures: a heat map of the grid, and curves over k."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .charts import heat_map, line_chart
from .comparison import CUT, DONE, told_size
from .figure import Figure

if TYPE_CHECKING:
    from .frontier import Sweep

FAR = 8
"""From this ratio of the largest k to the smallest on, the axis of k is logarithmic."""


def draw_map(found: Sweep, chosen: tuple[int, int] | None = None) -> Figure:
    """Return the heat map; the chosen (k, m) is framed."""
    values = {
        (point.m, point.k): None if point.loss is None else float(point.loss) for point in found.points
    }
    told = {(point.m, point.k): point.told() for point in found.points}
    return heat_map(
        values,
        title=f"{found.lost}: what each strength of the promise costs",
        x_label="m, the items an attacker knows",
        y_label="k, the records that fit at least",
        told=told,
        marked=None if chosen is None else (chosen[1], chosen[0]),
        notes=[*_notes(found), *_framed(found, chosen)],
    )


def draw_curves(found: Sweep) -> Figure:
    """Return the losses as lines over k, one for each m."""
    series = {
        f"m = {m}": [
            (float(point.k), None if point.loss is None else float(point.loss))
            for point in found.points
            if point.m == m
        ]
        for m in found.ms
    }
    ks = found.ks
    return line_chart(
        series,
        title=f"{found.lost}: what each strength of the promise costs",
        x_label="k, the records that fit at least",
        y_label=f"{found.lost.partition(' by ')[0]}: 0 % is nothing, 100 % everything",
        percent=True,
        log_x=len(ks) > 2 and ks[-1] >= FAR * ks[0],
        notes=_notes(found),
    )


def _notes(found: Sweep) -> list[str]:
    """Explain what stands for a number."""
    notes = []
    if found.records:
        notes.append(f"{told_size(found.records, found.items, found.domain)}.")
    if any(point.left_out for point in found.points):
        notes.append(f"{found.method} may leave rare items out; what is left out counts as lost.")
    if any(point.status == CUT for point in found.points):
        notes.append("*: cut short by the time limit; it is valid, and less may be possible.")
    for status in dict.fromkeys(p.status for p in found.points if p.status not in (DONE, CUT)):
        where = ", ".join(f"k={p.k} m={p.m}" for p in found.points if p.status == status)
        notes.append(f"{status.capitalize()}: {where}.")
    useless = [point.told() for point in found.points if point.useless]
    if any("root only" in told for told in useless):
        notes.append("Root only: nothing but the top of the hierarchy would be published.")
    if any("useless" in told for told in useless):
        notes.append("Useless: most records would be empty, or stand at the top of the hierarchy.")
    return notes


def _framed(found: Sweep, chosen: tuple[int, int] | None) -> list[str]:
    if chosen is None:
        return []
    return [f"Framed: k={chosen[0]}, m={chosen[1]}, {found.point(*chosen).told()}."]
