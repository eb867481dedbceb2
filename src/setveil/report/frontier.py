"""The frontier of a sweep: what each strength of the promise costs, as table, picture and JSON.

A grid has two axes, which its kind of data names: k and m of sets, l and the expectation of a table in
buckets, growth and support of two data sets. A point without a result says why in its `status`.
Fractions are kept exactly, in JSON too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from ..errors import DataError, UsageError
from ..plain import html_table
from .charts import heat_map, line_chart
from .drawing import Figure
from .terms import CUT, DONE, LATE, NONE, REFUSED, Terms, as_csv, exactly, terms_of

VERSION = 1
_STATUSES = (DONE, CUT, LATE, NONE, REFUSED)
LARGEST = 2**31
FAR = 8
"""From this ratio of the largest strength to the smallest on, its axis is logarithmic."""
AXES = {
    "k": "k, the records that fit at least",
    "m": "m, the items an attacker knows",
    "l": "l, the sensitive values that are possible at least",
    "min_exp": "min_exp, how surely a value was to be expected for a rule to count",
    "growth": "growth, how many times as frequent no set of values may be",
    "min_support": "min_support, the records that hold a pattern at least",
}
"""What is on the axes of a grid, by the keys of its strengths."""
Strength = Fraction | int


@dataclass(frozen=True)
class SweepPoint:
    """What one strength costs; `loss` is None where there is no result, and `status` says why.

    `first` and `second` are its places on the two axes, k and m where nothing else is swept; `figures`
    are counts that are told beside the loss.

    `left_out` is the share of the occurrences that are not published; `useless` tells that
    `setveil.publish` would refuse it, because most records say nothing. The bound is `certified` where
    it was computed in integers, and not a solver's word.
    """

    first: Strength
    second: Strength
    loss: Fraction | None
    bound: Fraction | None
    proven: bool
    labels: int | None
    seconds: float
    left_out: Fraction = Fraction(0)
    status: str = DONE
    useless: bool = False
    certified: bool = True
    figures: Mapping[str, int] = field(default_factory=dict)
    axes: tuple[str, str] = ("k", "m")

    @property
    def at(self) -> tuple[Strength, Strength]:
        return self.first, self.second

    @property
    def place(self) -> str:
        """The point by name, such as "k=5, m=2"."""
        return ", ".join(
            f"{axis}={exactly(value)}" for axis, value in zip(self.axes, self.at, strict=True)
        )

    def __getattr__(self, name: str) -> Strength:
        """Return a strength by the key of its axis: `point.k`, `point.growth`."""
        if name in AXES and name in self.axes:
            return self.at[self.axes.index(name)]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def lost(self) -> float | None:
        return None if self.loss is None else float(self.loss)

    def told(self) -> str:
        """Return the loss in percent, or what to say instead; a star where time cut the run."""
        if self.loss is None:
            return {NONE: "none", LATE: "time limit"}.get(self.status, self.status)
        share = f"{float(self.loss):.2%}".replace("%", " %")
        if self.useless and self.labels == 0:
            share = "nothing"
        elif self.useless:
            at_top = self.loss == 1 and self.labels is not None
            share = "root only" if at_top else f"{share} useless"
        return f"{share} *" if self.status == CUT else share

    def counts(self) -> list[str]:
        """Return what is counted beside the loss, in words."""
        return [f"{name.replace('_', ' ')}: {number:,}" for name, number in self.figures.items()]

    def as_dict(self) -> dict[str, Any]:
        strengths = {
            axis: value if isinstance(value, int) else float(value)
            for axis, value in zip(self.axes, self.at, strict=True)
        }
        return {
            **strengths,
            "status": self.status,
            "feasible": self.loss is not None,
            "loss": self.lost,
            "bound": None if self.bound is None else float(self.bound),
            "proven": self.proven,
            "certified": self.bound is not None and self.certified,
            "left_out": float(self.left_out),
            **self.figures,
            "labels": self.labels,
            "useless": self.useless,
            "seconds": round(self.seconds, 3),
        }

    def as_kept(self) -> dict[str, Any]:
        """Return what `Sweep.from_json` reads: the fractions exactly."""
        plain = self.as_dict() | {"certified": self.certified}
        for name in ("feasible", *self.figures):
            del plain[name]
        exact = {"loss": self.loss, "bound": self.bound, "left_out": self.left_out}
        exact |= {
            axis: value
            for axis, value in zip(self.axes, self.at, strict=True)
            if not isinstance(value, int)
        }
        plain |= {name: None if share is None else str(share) for name, share in exact.items()}
        return plain | ({"figures": dict(self.figures)} if self.figures else {})


@dataclass(frozen=True)
class Sweep:
    """The points of a grid, by the strengths on its first axis, then by those on its second.

    >>> import setveil as sv
    >>> from setveil.io.demo import groceries
    >>> baskets, products = groceries()
    >>> found = sv.sweep(baskets, products, ks=[2, 5], ms=1)
    >>> len(found.points), len(found.figure().svg) > 0
    (2, True)
    """

    method: str
    cost: str
    points: tuple[SweepPoint, ...]
    records: int = 0
    items: int = 0
    weighted: bool = False
    notices: tuple[str, ...] = ()
    domain: str = "used"
    axes: tuple[str, str] = ("k", "m")

    @property
    def terms(self) -> Terms:
        """How the loss is spoken of."""
        return terms_of(self.cost, weighted=self.weighted)

    @property
    def lost(self) -> str:
        """What is told, such as "NCP lost by optimal"."""
        return self.terms.lost_by(self.method)

    @property
    def firsts(self) -> list[Strength]:
        """The strengths on the first axis, such as every k."""
        return sorted({point.first for point in self.points})

    @property
    def seconds(self) -> list[Strength]:
        """The strengths on the second axis, such as every m."""
        return sorted({point.second for point in self.points})

    def point(self, first: Strength, second: Strength) -> SweepPoint:
        """Return the point of these strengths; UsageError where it was not swept."""
        for point in self.points:
            if point.at == (first, second):
                return point
        swept = [
            f"{axis} = {', '.join(map(exactly, values))}"
            for axis, values in zip(self.axes, (self.firsts, self.seconds), strict=True)
        ]
        raise UsageError(
            f"{self.axes[0]}={first}, {self.axes[1]}={second} is no point of the sweep.",
            f"Swept: {'; '.join(swept)}.",
            code="not-swept",
        )

    def as_dicts(self) -> list[dict[str, object]]:
        return [point.as_dict() for point in self.points]

    def to_csv(self) -> str:
        return as_csv(self.as_dicts(), self.axes)

    def to_json(self) -> str:
        """Return the sweep as JSON text that `Sweep.from_json` reads; fractions are kept exactly."""
        document = {
            "setveil_sweep": VERSION,
            "method": self.method,
            "cost": self.cost,
            "weighted": self.weighted,
            "records": self.records,
            "items": self.items,
            "domain": self.domain,
            **({} if self.axes == ("k", "m") else {"axes": list(self.axes)}),
            "points": [point.as_kept() for point in self.points],
        }
        return json.dumps(document, indent=2, allow_nan=False) + "\n"

    @staticmethod
    def from_json(text: str) -> Sweep:
        """Return the sweep that `to_json` wrote; `DataError` for anything else."""
        try:
            document = json.loads(text)
            if document["setveil_sweep"] != VERSION:
                raise ValueError
            first, second = axes = tuple(document.get("axes", ("k", "m")))
            if first not in AXES or second not in AXES:
                raise ValueError
            return Sweep(
                str(document["method"])[:40],
                str(document["cost"])[:40],
                tuple(_point(plain, (first, second)) for plain in document["points"]),
                _whole(document["records"]),
                _whole(document["items"]),
                bool(document["weighted"]),
                domain=str(document.get("domain", "used"))[:40],
                axes=axes,
            )
        except (
            *(ValueError, KeyError, TypeError, AttributeError),
            *(ZeroDivisionError, RecursionError),
        ) as error:
            raise DataError(
                "this is no sweep that this version of setveil wrote.",
                "Sweep again: setveil sweep ... -o FILE.",
                code="not-a-sweep",
            ) from error

    def figure(self, chosen: tuple[Strength, Strength] | None = None) -> Figure:
        """Return the heat map of the losses; the point that was chosen, such as (k, m), is framed."""
        values = {(point.second, point.first): point.lost for point in self.points}
        told = {(point.second, point.first): point.told() for point in self.points}
        notes = self._notes()
        if chosen is not None:
            framed = self.point(*chosen)
            notes.append(f"Framed: {framed.place}, {framed.told()}.")
        return heat_map(
            values,
            title=f"{self.lost}: what each strength of the promise costs",
            x_label=AXES[self.axes[1]],
            y_label=AXES[self.axes[0]],
            told=told,
            marked=None if chosen is None else (chosen[1], chosen[0]),
            notes=notes,
        )

    def curves(self) -> Figure:
        series = {
            f"{self.axes[1]} = {exactly(second)}": [
                (float(point.first), point.lost) for point in self.points if point.second == second
            ]
            for second in self.seconds
        }
        firsts = self.firsts
        return line_chart(
            series,
            title=f"{self.lost}: what each strength of the promise costs",
            x_label=AXES[self.axes[0]],
            y_label=f"{self.lost.partition(' by ')[0]}: {self.terms.ends}",
            percent=True,
            log_x=len(firsts) > 2 and firsts[-1] >= FAR * firsts[0],
            notes=self._notes(),
        )

    def _notes(self) -> list[str]:
        """Explain what stands for a number."""
        notes = []
        if self.records:
            notes.append(f"{self.terms.told_size(self.records, self.items, self.domain)}.")
        if any(point.left_out for point in self.points):
            notes.append(self.terms.left_out(self.method))
        if any(point.status == CUT for point in self.points):
            notes.append("*: cut short by the time limit; it is valid, and less may be possible.")
        for status in dict.fromkeys(p.status for p in self.points if p.status not in (DONE, CUT)):
            where = ", ".join(p.place.replace(",", "") for p in self.points if p.status == status)
            notes.append(f"{status.capitalize()}: {where}.")
        useless = [point.told() for point in self.points if point.useless]
        if any("root only" in told for told in useless):
            notes.append("Root only: nothing but the top of the hierarchy would be published.")
        if any("useless" in told for told in useless):
            notes.append("Useless: most records would be empty, or stand at the top of the hierarchy.")
        return notes

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return the grid as text: the heads of the columns and a row for each k."""
        by_place = {point.at: point for point in self.points}

        def cell(first: Strength, second: Strength) -> str:
            point = by_place.get((first, second))
            return "" if point is None else ", ".join([point.told(), *point.counts()[:1]])

        heads = [self.axes[0], *(f"{self.axes[1]} = {exactly(second)}" for second in self.seconds)]
        rows = [
            [exactly(first), *(cell(first, second) for second in self.seconds)] for first in self.firsts
        ]
        return heads, rows

    def __str__(self) -> str:
        by_place = {point.at: point for point in self.points}

        def cell(first: Strength, second: Strength) -> str:
            point = by_place.get((first, second))
            if point is None or point.loss is None:
                return "" if point is None else point.told()[:10]
            return f"{float(point.loss):.4f}" + "*" * (point.status == CUT)

        corner, width = " \\ ".join(self.axes), max(map(len, map(exactly, self.firsts)), default=0)
        width = max(width, len(corner))
        lines = [self.lost, corner + "".join(f"{exactly(second):>10}" for second in self.seconds)]
        for first in self.firsts:
            cells = (cell(first, second).rjust(10) for second in self.seconds)
            lines.append(f"{exactly(first):>{width}}" + "".join(cells))
        if any(point.status == CUT for point in self.points):
            lines.append("* cut short by the time limit: valid, and less may be possible")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        heads, rows = self.table()
        return html_table(rows, heads, caption=self.lost)


def _point(plain: Mapping[str, Any], axes: tuple[str, str]) -> SweepPoint:
    if plain["status"] not in _STATUSES or not isinstance(plain["proven"], bool):
        raise ValueError
    first, second = (_strength(plain[axis]) for axis in axes)
    figures = plain.get("figures", {})
    return SweepPoint(
        first,
        second,
        _share(plain["loss"], most=LARGEST if axes != ("k", "m") else 1),
        _share(plain["bound"]),
        plain["proven"],
        None if plain["labels"] is None else _whole(plain["labels"]),
        float(plain["seconds"]),
        _share(plain["left_out"]) or Fraction(0),
        plain["status"],
        bool(plain["useless"]),
        plain.get("certified") is True,
        {str(name)[:40]: _whole(number) for name, number in figures.items()},
        axes,
    )


def _strength(value: object) -> Strength:
    exact = _share(value, most=LARGEST) if isinstance(value, str) else None
    return _whole(value) if exact is None else exact


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LARGEST:
        raise ValueError
    return value


def _share(value: object, *, most: int = 1) -> Fraction | None:
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > 80:
        raise ValueError
    share = Fraction(value)
    if not 0 <= share <= most:
        raise ValueError
    return share
