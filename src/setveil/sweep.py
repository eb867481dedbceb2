"""Many promises in one call: what each strength of the promise costs on the same data.

The data are bound once, and what points have in common is computed once: of sets they are indexed, of a
table in buckets rules are mined once for each expectation. A point without a result is a row like the
others that says why: no solution, a time limit, or work that the method refuses.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import fields
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from .api import prepare
from .arguments import checked
from .errors import UsageError
from .hierarchy.tree import Hierarchy
from .progress import Watch
from .report.frontier import Strength, Sweep, SweepPoint
from .run.work import Job, Settings, named_listener
from .trials import GRIDS, Axis, Grid, trials_of

__all__ = ["Sweep", "SweepPoint", "read_sweep", "sweep"]


@checked(
    *("hierarchy", "ks", "ms", "ls", "min_exps", "growths", "min_supports"),
    *("method", "cost", "unknown", "threads", "time_limit"),
    settings=Settings,
)
def sweep(
    data: Any,
    hierarchy: Hierarchy | Mapping[str, Hierarchy] | None = None,
    ks: int | Iterable[int] | None = None,
    ms: int | Iterable[int] | None = None,
    *,
    ls: int | Iterable[int] | None = None,
    min_exps: Fraction | float | str | Iterable[Fraction | float | str] | None = None,
    growths: Fraction | float | str | Iterable[Fraction | float | str] | None = None,
    min_supports: Fraction | float | str | Iterable[Fraction | float | str] | None = None,
    method: str | None = None,
    watch: Watch | None = None,
    **options: Any,
) -> Sweep:
    r"""Return what every point of a grid costs: k and m, l and expectation, or growth and support.

    Of sets, points are losses; of a table in buckets errors of counting queries, with the number of
    buckets; of two data sets shares of the values that are raised, with the frequent sets that are
    lost.

    Parameters
    ----------
    data
        Transactions, a table's records, or any frame that `setveil.from_frame` takes; a table with a
        sensitive column, or two data sets, as for `setveil.anonymize`.
    hierarchy
        What generalizes what, as for `setveil.anonymize`.
    ks, ms
        The strengths of k^m-anonymity, each a number or several.
    ls, min_exps
        The strengths of matching diversity, and how surely a value was to be expected for a rule to
        count; 0.9 if not given.
    growths, min_supports
        The growth above which patterns are hidden, and the least support of one; 10% if not given.
    method
        Of sets, unlike `setveil.anonymize`, the default is "optimal": no item is left out at any point,
        so that the losses of the points can be compared.
    cost
        What is kept small: "ncp" or "lm".
    weights
        How much an item matters, for items that do not matter 1.
    time_limit
        Seconds that each point may take; None for as long as it wants.
    threads
        How many threads count; all by default.
    unknown
        What to do with items that the hierarchy lacks: "error" or "attach-to-root".
    domain
        Which items the loss counts: "used", those that occur in the data, or "hierarchy", all of it.
    watch
        Progress listener and cancel switch.
    options
        The method's own options; `rules` of a table, known facts; `every_level` of two data sets, as
        in `HiddenPatterns`.

    >>> from setveil.io.demo import toy
    >>> data, tree = toy()
    >>> print(sweep(data, tree, [2, 3], [1, 2]))
    NCP lost by optimal
    k \ m         1         2
        2    0.0000    0.2273
        3    0.2273    0.5000
    """
    watch = watch or Watch()
    given = {"k": ks, "m": ms, "l": ls, "min_exp": min_exps}
    given |= {"growth": growths, "min_support": min_supports}
    grid = grid_of(given)
    sides = [strengths(axis, given[axis.key]) for axis in grid.axes]
    points = [grid.pair(at) for at in product(*sides)]
    if not points:
        raise UsageError(
            "a sweep needs at least one k and one m."
            if grid is GRIDS[0]
            else f"a sweep needs at least one {grid.axes[0].key} and one {grid.axes[1].key}.",
            f"Give for example {_example(grid)}.",
        )
    key = grid.methods[0] if method is None else method
    job = job_of(grid, points, key, options)
    for at in points:
        grid.job(job, at)  # which refuses what no promise can be
    trials = trials_of(prepare(job, data, hierarchy))
    found: list[SweepPoint] = []
    notices: list[str] = []
    # Strong promises first: the sets that they forbid bind the weaker ones more often than not.
    for number, at in enumerate(sorted(points, key=lambda at: (-at[0], at[1]))):
        stage = grid.name(at)
        watch.tick(stage, number / len(points))
        own = Watch(named_listener(watch.listener, stage, number / len(points)), stop=watch.stop)
        own = own if job.time_limit is None else own.within(job.time_limit)
        own = own if watch.time_limit is None else own.within(watch.remaining)
        point, remarks = trials.point(grid, at, own)
        found.append(point)
        notices += [f"{stage}: {notice}" for notice in remarks]
    records, items = trials.size
    return Sweep(
        key,
        trials.cost,
        tuple(sorted(found, key=lambda point: point.at)),
        records,
        items,
        bool(job.weights),
        (*trials.notices, *notices),
        job.domain,
        grid.keys,
    )


def grid_of(given: Mapping[str, object]) -> Grid:
    """Return the grid whose strengths are given, by the keys of their axes."""
    named = [grid for grid in GRIDS if any(given[key] is not None for key in grid.keys)]
    if len(named) != 1:
        raise UsageError(
            "strengths of different promises are given." if named else "no strengths are given.",
            "Give ks and ms; for a table in buckets ls; for two data sets growths.",
        )
    require(named[0], given, {axis.key: f"{axis.key}s" for axis in named[0].axes})
    return named[0]


def require(grid: Grid, given: Mapping[str, object], named: Mapping[str, str]) -> None:
    """Raise `UsageError` where strengths are missing; `named` is what they are called."""
    for axis in grid.axes:
        if given[axis.key] is None and axis.usual is None:
            name = named[axis.key]
            raise UsageError(f"{name} is missing.", f"Give for example {name} {axis.example}.")


def strengths(axis: Axis, given: Any) -> list[Strength]:
    """Return the strengths on one side of a grid, each once, in order."""
    if given is None:
        assert axis.usual is not None
        return [axis.usual]
    one = isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable)
    numbers = [given] if one else list(given)
    if axis.read is not None:
        read = [axis.read(number) for number in numbers]
        if len({type(number) for number in read if number == 1}) > 1:
            raise UsageError(
                f"{axis.flag} is 1, a count, and 100%, a share: as numbers they are the same.",
                "Sweep one of them at a time.",
                code="same-strength",
            )
        return sorted(set(read))
    if not all(
        isinstance(number, int | np.integer) and not isinstance(number, bool) for number in numbers
    ):
        raise UsageError(
            f"{axis.key}s must be a whole number or several (got {str(given)[:40]!r}).",
            f"Give for example {axis.key}s=[2, 5].",
        )
    return sorted({int(number) for number in numbers})


def job_of(
    grid: Grid, points: list[tuple[Strength, Strength]], key: str, options: Mapping[str, Any]
) -> Job:
    """Return the job to which data are bound: that of a promise which asks for little."""
    more = dict(options)
    every: Any = grid.promise
    own = {one.name for one in fields(every)} - set(grid.keys)
    at = grid.weakest(points[-1])
    promise = grid.promise(
        **{axis.key: value for axis, value in zip(grid.axes, at, strict=True) if not axis.is_option},
        **{name: more.pop(name) for name in own & set(more)},
    )
    return grid.job(Job.of(promise, key, more), at)


def read_sweep(path: str | os.PathLike[str]) -> Sweep:
    """Return a sweep from the JSON file that ``setveil sweep -o`` wrote."""
    from .io.folder.disk import telling

    with telling(Path(path), "read"):
        content = Path(path).read_bytes()
    return Sweep.from_json(content.decode("utf-8", "replace"))


def _example(grid: Grid) -> str:
    return ", ".join(f"{axis.key}s=[{axis.example}]" for axis in grid.axes)
