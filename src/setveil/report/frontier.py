"""The frontier of a sweep: what each strength of the promise costs, as table, picture and JSON.

A point without a result says why in its `status`. Fractions are kept exactly, in JSON too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..errors import DataError, UsageError
from ..model.costs import WEIGHTED, cost_title
from ..plain import html_table
from .charts import heat_map, line_chart
from .comparison import CUT, DONE, LATE, NONE, REFUSED, as_csv, told_size
from .drawing import Figure

VERSION = 1
_STATUSES = (DONE, CUT, LATE, NONE, REFUSED)
LARGEST = 2**31
FAR = 8
"""From this ratio of the largest k to the smallest on, the axis of k is logarithmic."""


@dataclass(frozen=True)
class SweepPoint:
    """What one (k, m) costs; `loss` is None where there is no result, and `status` says why.

    `left_out` is the share of the occurrences that are not published; `useless` tells that
    `setveil.publish` would refuse it, because most records say nothing. The bound is `certified` where
    it was computed in integers, and not a solver's word.
    """

    k: int
    m: int
    loss: Fraction | None
    bound: Fraction | None
    proven: bool
    labels: int
    seconds: float
    left_out: Fraction = Fraction(0)
    status: str = DONE
    useless: bool = False
    certified: bool = True

    @property
    def lost(self) -> float | None:
        return None if self.loss is None else float(self.loss)

    def told(self) -> str:
        """Return the loss in percent, or what to say instead; a star where time cut the run."""
        if self.loss is None:
            return {NONE: "none", LATE: "time limit"}.get(self.status, self.status)
        share = f"{float(self.loss):.2%}".replace("%", " %")
        if self.useless and not self.labels:
            share = "nothing"
        elif self.useless:
            share = "root only" if self.loss == 1 else f"{share} useless"
        return f"{share} *" if self.status == CUT else share

    def as_dict(self) -> dict[str, Any]:
        return {
            "k": self.k,
            "m": self.m,
            "status": self.status,
            "feasible": self.loss is not None,
            "loss": self.lost,
            "bound": None if self.bound is None else float(self.bound),
            "proven": self.proven,
            "certified": self.bound is not None and self.certified,
            "left_out": float(self.left_out),
            "labels": self.labels,
            "useless": self.useless,
            "seconds": round(self.seconds, 3),
        }

    def as_kept(self) -> dict[str, Any]:
        """Return what `Sweep.from_json` reads: the fractions exactly."""
        plain = self.as_dict() | {"certified": self.certified}
        del plain["feasible"]
        exact = {"loss": self.loss, "bound": self.bound, "left_out": self.left_out}
        return plain | {name: None if share is None else str(share) for name, share in exact.items()}


@dataclass(frozen=True)
class Sweep:
    """The points of a grid, by k, then m.

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

    @property
    def lost(self) -> str:
        """What is told, such as "NCP lost by optimal"."""
        return f"{self.cost_title} lost by {self.method}"

    @property
    def cost_title(self) -> str:
        """The name of the cost as people read it, such as "weighted LM"."""
        return cost_title(f"{WEIGHTED * self.weighted}{self.cost}")

    @property
    def ks(self) -> list[int]:
        return sorted({point.k for point in self.points})

    @property
    def ms(self) -> list[int]:
        return sorted({point.m for point in self.points})

    def point(self, k: int, m: int) -> SweepPoint:
        """Return the point of these strengths; UsageError where it was not swept."""
        for point in self.points:
            if (point.k, point.m) == (k, m):
                return point
        raise UsageError(
            f"k={k}, m={m} is no point of the sweep.",
            f"Swept: k = {', '.join(map(str, self.ks))}; m = {', '.join(map(str, self.ms))}.",
            code="not-swept",
        )

    def as_dicts(self) -> list[dict[str, object]]:
        return [point.as_dict() for point in self.points]

    def to_csv(self) -> str:
        return as_csv(self.as_dicts(), ["k", "m"])

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
            return Sweep(
                str(document["method"])[:40],
                str(document["cost"])[:40],
                tuple(_point(plain) for plain in document["points"]),
                _whole(document["records"]),
                _whole(document["items"]),
                bool(document["weighted"]),
                domain=str(document.get("domain", "used"))[:40],
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

    def figure(self, chosen: tuple[int, int] | None = None) -> Figure:
        """Return the heat map of the losses; the point (k, m) that was chosen is framed."""
        values = {(point.m, point.k): point.lost for point in self.points}
        told = {(point.m, point.k): point.told() for point in self.points}
        notes = self._notes()
        if chosen is not None:
            notes.append(f"Framed: k={chosen[0]}, m={chosen[1]}, {self.point(*chosen).told()}.")
        return heat_map(
            values,
            title=f"{self.lost}: what each strength of the promise costs",
            x_label="m, the items an attacker knows",
            y_label="k, the records that fit at least",
            told=told,
            marked=None if chosen is None else (chosen[1], chosen[0]),
            notes=notes,
        )

    def curves(self) -> Figure:
        series = {
            f"m = {m}": [(float(point.k), point.lost) for point in self.points if point.m == m]
            for m in self.ms
        }
        ks = self.ks
        return line_chart(
            series,
            title=f"{self.lost}: what each strength of the promise costs",
            x_label="k, the records that fit at least",
            y_label=f"{self.lost.partition(' by ')[0]}: 0 % is nothing, 100 % everything",
            percent=True,
            log_x=len(ks) > 2 and ks[-1] >= FAR * ks[0],
            notes=self._notes(),
        )

    def _notes(self) -> list[str]:
        """Explain what stands for a number."""
        notes = []
        if self.records:
            notes.append(f"{told_size(self.records, self.items, self.domain)}.")
        if any(point.left_out for point in self.points):
            notes.append(f"{self.method} may leave rare items out; what is left out counts as lost.")
        if any(point.status == CUT for point in self.points):
            notes.append("*: cut short by the time limit; it is valid, and less may be possible.")
        for status in dict.fromkeys(p.status for p in self.points if p.status not in (DONE, CUT)):
            where = ", ".join(f"k={p.k} m={p.m}" for p in self.points if p.status == status)
            notes.append(f"{status.capitalize()}: {where}.")
        useless = [point.told() for point in self.points if point.useless]
        if any("root only" in told for told in useless):
            notes.append("Root only: nothing but the top of the hierarchy would be published.")
        if any("useless" in told for told in useless):
            notes.append("Useless: most records would be empty, or stand at the top of the hierarchy.")
        return notes

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return the grid as text: the heads of the columns and a row for each k."""
        by_place = {(point.k, point.m): point for point in self.points}
        heads = ["k", *(f"m = {m}" for m in self.ms)]
        rows = [
            [str(k), *(by_place[k, m].told() if (k, m) in by_place else "" for m in self.ms)]
            for k in self.ks
        ]
        return heads, rows

    def __str__(self) -> str:
        by_place = {(point.k, point.m): point for point in self.points}

        def cell(k: int, m: int) -> str:
            point = by_place.get((k, m))
            if point is None or point.loss is None:
                return "" if point is None else point.told()[:10]
            return f"{float(point.loss):.4f}" + "*" * (point.status == CUT)

        lines = [self.lost, "k \\ m" + "".join(f"{m:>10}" for m in self.ms)]
        lines += [f"{k:>5}" + "".join(cell(k, m).rjust(10) for m in self.ms) for k in self.ks]
        if any(point.status == CUT for point in self.points):
            lines.append("* cut short by the time limit: valid, and less may be possible")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        heads, rows = self.table()
        return html_table(rows, heads, caption=self.lost)


def _point(plain: Mapping[str, Any]) -> SweepPoint:
    if plain["status"] not in _STATUSES or not isinstance(plain["proven"], bool):
        raise ValueError
    return SweepPoint(
        _whole(plain["k"]),
        _whole(plain["m"]),
        _share(plain["loss"]),
        _share(plain["bound"]),
        plain["proven"],
        _whole(plain["labels"]),
        float(plain["seconds"]),
        _share(plain["left_out"]) or Fraction(0),
        plain["status"],
        bool(plain["useless"]),
        plain.get("certified") is True,
    )


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LARGEST:
        raise ValueError
    return value


def _share(value: object) -> Fraction | None:
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > 80:
        raise ValueError
    share = Fraction(value)
    if not 0 <= share <= 1:
        raise ValueError
    return share
