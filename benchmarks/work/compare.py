"""Eight methods on five data sets, k = 5 and 50, m = 1..7: what each loses, and if it ends in time.

Results are written as they come, so a run that is cut keeps what it has; with --resume the next one
goes on from there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..context import Context
from ..data import DataAbsent
from ..grid import METHODS, Point, answers, at_most_seconds
from ..plot import Panel, small_multiples
from ..report import Bar, Cell, Report, Table, is_true, shown, write

NAME = "compare"
DATA = ("groceries", "fruithut", "informs2005", "BMS-WebView-1", "BMS-WebView-2")
KS, MS = (5, 50), (1, 2, 3, 5, 7)
FOUND = ("LM", "NCP", "seconds", "left out", "bound", "proven", "state", "limit s")
COLUMNS = ("data", "method", "k", "m", *FOUND)
ANY = "any"
"""Stands for m where a method knows none."""
ANYTIME = ("optimal", "trim")
"""Methods whose result is a good one also where the time limit cut the search."""
FOR_GOOD = ("", "Infeasible", "ResourceLimit")
"""States that a longer time limit would not change."""

Key = tuple[str, str, int, int | str]
Rows = dict[Key, tuple[Cell, ...]]


@dataclass(frozen=True)
class Loss:
    """What a method lost at a point; `cut` where the time limit ended its search."""

    lm: float
    cut: bool


Losses = Mapping[tuple[str, str, int, int], Loss]
"""(data, method, k, m) -> loss; partition stands at every m."""

NEAR = 1.01
"""A loss up to this many times another counts as near it."""


@dataclass(frozen=True)
class Claim:
    """Something said of the losses of two methods."""

    words: str
    one: str
    other: str
    holds: Callable[[float, float], bool]


def _less(one: float, other: float) -> bool:
    return one < other


CLAIMS = (
    Claim("mhghs loses less than partition", "mhghs", "partition", _less),
    Claim("mhghs loses less than aa", "mhghs", "aa", _less),
    Claim("mhghs loses less than mm", "mhghs", "mm", _less),
    Claim("partition loses less than aa", "partition", "aa", _less),
    Claim("partition loses less than mm", "partition", "mm", _less),
    Claim("aa loses less than mm", "aa", "mm", _less),
    Claim("aa loses everything", "aa", "aa", lambda one, _: one == 1.0),
    Claim("optimal loses everything", "optimal", "optimal", lambda one, _: one == 1.0),
    Claim("trim loses less than mhghs", "trim", "mhghs", _less),
    Claim("mhghs is within 1 % of trim", "mhghs", "trim", lambda one, other: one <= NEAR * other),
    Claim("trim loses less than partition", "trim", "partition", _less),
)
"""The first six are the order of the figure, least first: mHgHs, LG (partition), AA, MM."""


def run(context: Context) -> Report:
    """Run what is missing, in the order of the data sets; write after each point."""
    ks, ms = ((2, 5), (1, 2)) if context.quick else (KS, MS)
    limit = 2.0 if context.quick else context.limit
    strange = set(context.only) - set(DATA)
    if strange:
        raise DataAbsent(f"compare knows no data {min(strange)!r}; known: {', '.join(DATA)}")
    rows = kept(context.output, limit) if context.resume else {}
    for name in [name for name in DATA if not context.only or name in context.only]:
        points = [point for point in grid(ks, ms) if key(name, point) not in rows]
        if not points:
            continue
        source = context.source(name)
        for point, answer in answers(context, source, points, limit):
            found = key(name, point)
            rows[found] = row(found, answer, limit)
            told = f"LM {answer['lm']:.5f}" if "lm" in answer else answer["state"]
            context.note(f"{name}, {point.method}, k={point.k}, m={found[3]}: {told}")
            if context.output is not None:
                write(report(rows, limit, quick=context.quick), context.output)
    return report(rows, limit, quick=context.quick)


def grid(ks: Sequence[int], ms: Sequence[int]) -> list[Point]:
    """Return all points; m rises within each method and k."""
    return [
        Point(method, k, m)
        for k in ks
        for method in METHODS
        for m in ([None] if method == "partition" else ms)
    ]


def key(name: str, point: Point) -> Key:
    """Return what tells a row from the others."""
    return name, point.method, point.k, ANY if point.m is None else point.m


def row(found: Key, answer: Mapping[str, Any], limit: float) -> tuple[Cell, ...]:
    """Return the row of a point."""
    fields = ("lm", "ncp", "seconds", "left_out", "bound", "proven", "state")
    return (*found, *(answer.get(field) for field in fields), limit)


def kept(folder: Path | None, limit: float) -> Rows:
    """Return the rows of a former run that need not be measured again.

    A point that its time limit cut counts only if that limit was as long as this one.
    """
    path = None if folder is None else folder / f"{NAME}.json"
    if path is None or not path.is_file():
        return {}
    plain = json.loads(path.read_text(encoding="utf-8"))["tables"][-1]["rows"]
    return {
        (old["data"], old["method"], old["k"], old["m"]): tuple(old[column] for column in COLUMNS)
        for old in plain
        if old["state"] in FOR_GOOD or old["limit s"] >= limit
    }


def report(rows: Rows, limit: float, *, quick: bool) -> Report:
    """Return the report of the points known so far."""
    order = {name: place for place, name in enumerate((*DATA, *METHODS))}
    sizes = sorted({m for *_, m in rows if isinstance(m, int)})
    cases = sorted({(name, k) for name, _, k, _ in rows}, key=lambda case: (order[case[0]], case[1]))
    every = sorted(rows, key=lambda found: (order[found[0]], found[2], order[found[1]], str(found[3])))
    return Report(
        NAME,
        "What the methods lose on the same data, each looking for little LM",
        (
            Table(
                ("data", "k", "m", *METHODS),
                tuple(
                    (name, k, m, *(as_cell(rows, name, method, k, m) for method in METHODS))
                    for name, k in cases
                    for m in sizes
                ),
                "LM",
            ),
            claims_table(_losses(rows, sizes), tuple(dict.fromkeys(name for name, _ in cases))),
            Table(COLUMNS, tuple(rows[found] for found in every), "All points"),
        ),
        bars(rows, quick=quick),
        (
            f"each point is given {limit:g} s; a method that does not look at the clock is stopped "
            f"after {at_most_seconds(limit):g} s, and larger m are not tried then. The column 'limit "
            "s' tells what a point was given.",
            "'cut short', or a star: the time limit ended the search, and the release is valid. trim "
            "and optimal are then not proven; hghs and mhghs stand where their way down was cut.",
            "TimeLimit and 'stopped': there was no release by then; ResourceLimit and Infeasible: the "
            "method refused.",
            "the data are bound and indexed once for all methods; seconds are those of a method alone.",
            "partition promises more, k-anonymity of whole records, and knows no m: a horizontal line.",
            "the picture leaves out what hghs and mhghs had when they were cut. Where lines coincide, "
            "the later in the legend lies on top.",
            "'left out' counts suppressed occurrences; aa, vpa, optimal and partition suppress none.",
            "the table against Figure 3 counts the points where both methods ended by themselves.",
        ),
        quick,
        {f"{NAME}.svg": picture(rows, cases, sizes)},
    )


def loss_at(rows: Rows, name: str, method: str, k: int, m: int) -> tuple[float | None, str | None]:
    """Return the loss of a point and its state; both None where it was not measured."""
    found = rows.get((name, method, k, ANY if method == "partition" else m))
    if found is None:
        return None, None
    loss, state = found[COLUMNS.index("LM")], found[COLUMNS.index("state")]
    return loss if isinstance(loss, float) else None, str(state)


def as_cell(rows: Rows, name: str, method: str, k: int, m: int) -> Cell:
    """Return the loss of a point, starred where the time limit cut the search, or why there is none."""
    loss, state = loss_at(rows, name, method, k, m)
    if loss is None:
        return state
    return f"{shown(loss)} *" if state else loss


def _losses(rows: Rows, sizes: Sequence[int]) -> dict[tuple[str, str, int, int], Loss]:
    losses = {}
    for name, method, k, m in rows:
        for size in sizes if m == ANY else [m]:
            loss, state = loss_at(rows, name, method, k, int(size))
            if loss is not None:
                losses[name, method, k, int(size)] = Loss(loss, bool(state))
    return losses


def claims_table(losses: Losses, names: tuple[str, ...]) -> Table:
    """Return at how many points each claim holds, of those where both methods ended, for m >= 2."""
    rows: list[tuple[Cell, ...]] = []
    for claim in CLAIMS:
        cells = []
        for name in names:
            places = {(k, m) for data, _, k, m in losses if data == name and m >= 2}
            pairs = [
                (losses.get((name, claim.one, *place)), losses.get((name, claim.other, *place)))
                for place in places
            ]
            known = [
                claim.holds(one.lm, other.lm)
                for one, other in pairs
                if one is not None and other is not None and not (one.cut or other.cut)
            ]
            cells.append(f"{sum(known)} of {len(known)}")
        rows.append((claim.words, *cells))
    return Table(("at m >= 2", *names), tuple(rows), "Against Figure 3 of Liu and Wang")


def bars(rows: Rows, *, quick: bool) -> tuple[Bar, ...]:
    """Return the bar that trim loses no more than any other global method, by exact counts."""
    at = COLUMNS.index("LM")
    behind = []
    for (name, method, k, m), found in rows.items():
        own, other = rows.get((name, "trim", k, m)), found[at]
        if method in ("trim", "partition") or own is None or not isinstance(other, float):
            continue
        loss = own[at]
        if not isinstance(loss, float) or loss > other:
            behind.append(f"{name} k={k} m={m} ({method})")
    what = "trim loses no more than any other global method"
    if behind:
        what += "; it does at " + ", ".join(sorted(behind))
    return (is_true(what, not behind, quick=quick),)


def picture(rows: Rows, cases: Sequence[tuple[str, int]], sizes: Sequence[int]) -> str:
    """Return LM against m: a row of panels for each k, a column for each data set."""

    def series(name: str, method: str, k: int) -> list[float | None]:
        found = [loss_at(rows, name, method, k, m) for m in sizes]
        return [loss if method in ANYTIME or not state else None for loss, state in found]

    blocks = []
    for k in sorted({k for _, k in cases}):
        panels = [
            Panel(name, "m", sizes, {method: series(name, method, k) for method in METHODS}, True)
            for name, other in cases
            if other == k
        ]
        blocks.append((f"k = {k}", [panels]))
    return small_multiples(blocks, "LM lost, by the number m of items known")
