"""Many (k, m) in one call: what each strength of the promise costs on the same data.

The data are bound and indexed once. With `optimal`, rare sets found for one point serve every other
point they are valid for (``methods.optimal.ClausePool``), so a grid costs little more than its dearest
points. A point without a solution is a row like the others, marked infeasible.
"""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from .api import as_transactions, refuse_paths
from .errors import Infeasible, UsageError
from .job import Job, Prepared
from .model.guarantees import KmAnonymity
from .model.hierarchy import Hierarchy
from .progress import Watch


@dataclass(frozen=True)
class SweepPoint:
    """What one (k, m) costs; `loss` is None where there is no solution."""

    k: int
    m: int
    loss: Fraction | None
    bound: Fraction | None
    proven: bool
    labels: int
    seconds: float


@dataclass(frozen=True)
class Sweep:
    """The points of a grid, by k, then m."""

    method: str
    cost: str
    points: tuple[SweepPoint, ...]

    def as_dicts(self) -> list[dict[str, object]]:
        """Return one plain mapping a point."""
        return [
            {
                "k": point.k,
                "m": point.m,
                "feasible": point.loss is not None,
                "loss": None if point.loss is None else float(point.loss),
                "bound": None if point.bound is None else float(point.bound),
                "proven": point.proven,
                "labels": point.labels,
                "seconds": round(point.seconds, 3),
            }
            for point in self.points
        ]

    def to_csv(self) -> str:
        """Return the points as CSV text with a header."""
        text = io.StringIO()
        rows = self.as_dicts()
        writer = csv.DictWriter(text, list(rows[0]) if rows else ["k", "m"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue()

    def __str__(self) -> str:
        ms = sorted({point.m for point in self.points})
        by_place = {(point.k, point.m): point for point in self.points}
        lines = [
            f"{self.cost.upper()} lost by {self.method}",
            "k \\ m" + "".join(f"{m:>10}" for m in ms),
        ]
        for k in sorted({point.k for point in self.points}):
            cells = []
            for m in ms:
                loss = by_place[k, m].loss
                cells.append(f"{'none':>10}" if loss is None else f"{float(loss):>10.4f}")
            lines.append(f"{k:>5}" + "".join(cells))
        return "\n".join(lines)


def sweep(
    data: Any,
    hierarchy: Hierarchy | Mapping[str, Hierarchy] | None,
    ks: int | Iterable[int],
    ms: int | Iterable[int],
    *,
    method: str = "optimal",
    cost: str = "ncp",
    threads: int | None = None,
    watch: Watch | None = None,
    **options: object,
) -> Sweep:
    r"""Return the loss of every (k, m) of the grid, by a method for k^m-anonymity.

    Parameters
    ----------
    data
        Transactions, a table's records, or any frame that `setveil.from_frame` takes.
    hierarchy
        What generalizes what, as for `setveil.anonymize`.
    ks, ms
        The strengths, each a number or several.
    method
        Unlike `setveil.anonymize`, the default is "optimal": no item is left out at any point, so that
        the losses of the points can be compared.
    cost
        What is kept small: "ncp" or "lm".
    threads
        How many threads count; all by default.
    watch
        Progress listener and cancel switch.
    options
        The method's own options.

    >>> from setveil.io.demo import toy
    >>> data, tree = toy()
    >>> print(sweep(data, tree, [2, 3], [1, 2]))
    NCP lost by optimal
    k \ m         1         2
        2    0.0000    0.2273
        3    0.2273    0.5000
    """
    from .engines.local import LocalEngine
    from .methods.optimal import ClausePool

    watch = watch or Watch()
    refuse_paths(hierarchy)
    grid = [KmAnonymity(k, m) for k in _numbers("ks", ks) for m in _numbers("ms", ms)]
    if not grid:
        raise UsageError("a sweep needs at least one k and one m.")
    shared: dict[str, Any] = {"pool": ClausePool(), "seed": False} if method == "optimal" else {}
    # The weakest promise there is: a point that asks for too much becomes a row, not an error.
    job = Job(KmAnonymity(2, grid[-1].m), method=method, cost=cost, threads=threads, options=options)
    prepared = job.prepare(as_transactions(data), hierarchy)
    engine = LocalEngine(prepared.hierarchy, prepared.rows, threads=threads)
    points: list[SweepPoint] = []
    for number, guarantee in enumerate(grid):
        watch.tick("sweep", number / len(grid))
        started = time.monotonic()
        try:
            points.append(_point(prepared, engine, guarantee, watch, shared, started))
        except Infeasible:
            seconds = time.monotonic() - started
            points.append(SweepPoint(guarantee.k, guarantee.m, None, None, True, 0, seconds))
    return Sweep(method, cost, tuple(points))


def _numbers(name: str, given: object) -> list[int]:
    """Return the numbers of one side of the grid, each once, in order."""
    if isinstance(given, int | np.integer):
        given = [given]
    wrong = isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable)
    numbers = [] if wrong else list(given)  # type: ignore[call-overload]
    if wrong or not all(
        isinstance(number, int | np.integer) and not isinstance(number, bool) for number in numbers
    ):
        raise UsageError(
            f"{name} must be a whole number or several (got {str(given)[:40]!r}).",
            f"Give for example {name}=[2, 5].",
        )
    return sorted({int(number) for number in numbers})


def _point(
    prepared: Prepared,
    engine: Any,
    guarantee: KmAnonymity,
    watch: Watch,
    shared: Mapping[str, Any],
    started: float,
) -> SweepPoint:
    from .measure.before_after import BeforeAfter
    from .measure.unit_cost import mean_unit_cost

    longest = int(np.diff(engine.rows().indptr).max(initial=1))
    effective = KmAnonymity(guarantee.k, min(guarantee.m, longest))
    outcome = prepared.ask(engine, effective, watch, **shared)
    objective = outcome.objective
    bound = None
    if objective is not None and objective.bound is not None:
        bound = prepared.cost.share(objective.bound, engine.item_counts())
    return SweepPoint(
        guarantee.k,
        guarantee.m,
        mean_unit_cost(prepared.job.cost, BeforeAfter(outcome.recoding, engine.rows())),
        bound,
        objective is not None and objective.proven,
        len(np.unique(outcome.recoding.nodes)),
        time.monotonic() - started,
    )
