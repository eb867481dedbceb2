"""ML2 and dML2 of aa and vpa, as in Figures 20 to 22 of the 2011 paper.

The paper's figures are not at hand, only what it says of them; the last table holds that against ours.
Its hierarchies have a fan-out of 5 and are not known either: the first table has both the trees that
come with the data, of fan-out 4, and trees over the sorted items of fan-out 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

from ..context import Context
from ..plot import Panel, small_multiples
from ..report import Cell, Report, Table, at_most
from ..worker import timed

DATA = ("BMS-WebView-1", "BMS-WebView-2")
METHODS = ("aa", "vpa")
BESIDE = ("optimal", "trim")
K, M = 5, 3
KS, MS = (2, 5, 10, 20, 50, 100), (1, 2, 3, 4)
SHARES = tuple(Fraction(percent, 200) for percent in (1, 2, 4, 6, 8, 10))
FIGURE_20 = (Fraction(1, 100), Fraction(2, 100), Fraction(3, 100))
DEFAULT = Fraction(2, 100)
FAN_OUT = 5
SECONDS, LIMIT_SECONDS = 1.0, 60.0
READINGS = ("ml2", "dml2", "dml2_lost")
COLUMNS = ("data", "fan-out", "method", "support", "NCP", "ML2", "dML2, all", "dML2, lost")


def told(loss: Any, reading: str) -> float | None:
    """Return a reading of a loss as a cell; None for the levels of lost sets where none was lost."""
    value = getattr(loss, reading)
    return None if reading == "dml2_lost" and not value else float(value)


def mean(values: Sequence[Fraction]) -> Fraction:
    """Return the mean; 0 of nothing."""
    return sum(values, Fraction(0)) / max(1, len(values))


@dataclass(frozen=True)
class World:
    """One data set with its hierarchy."""

    name: str
    data: Any
    hierarchy: Any

    def losses(self, method: str, k: int, m: int, shares: Sequence[Fraction]) -> Losses:
        """Anonymize, and return what mining loses."""
        import setveil as sv
        from setveil.measure.mining import mining_losses
        from setveil.release.recoding import BeforeAfter

        release = sv.anonymize(
            self.data,
            sv.KmAnonymity(k, m),
            hierarchy=self.hierarchy,
            method=method,
            time_limit=LIMIT_SECONDS,
        )
        assert release.rows is not None
        pair = BeforeAfter(release.recoding, release.rows)
        found, cost = timed(lambda: mining_losses(pair, shares), runs=1)
        return Losses(float(release.losses["ncp"]), found, cost["seconds"])


@dataclass(frozen=True)
class Losses:
    """NCP and mining losses of one release, and how long the latter took to measure."""

    ncp: float
    by_share: Any
    seconds: float

    def mean(self, reading: str) -> float:
        """Return the mean over the shares; of the levels of lost sets, over those with lost ones."""
        values = [getattr(loss, reading) for loss in self.by_share]
        return float(mean([value for value in values if value or reading != "dml2_lost"]))


@dataclass(frozen=True)
class Curves:
    """ML2 and both dML2 of one data set and method, against k, m and the support."""

    world: World
    method: str
    ks: Sequence[int]
    ms: Sequence[int]
    shares: Sequence[Fraction]

    @cached_property
    def by_k(self) -> list[Any]:
        return [self.world.losses(self.method, k, M, [DEFAULT]).by_share[0] for k in self.ks]

    @cached_property
    def by_m(self) -> list[Any]:
        return [self.world.losses(self.method, K, m, [DEFAULT]).by_share[0] for m in self.ms]

    @cached_property
    def by_share(self) -> list[Any]:
        return list(self.world.losses(self.method, K, M, self.shares).by_share)

    @property
    def axes(self) -> tuple[tuple[str, Sequence[Cell], list[Any]], ...]:
        """What is varied, its values and the losses there."""
        percents = [f"{float(share * 100):g}" for share in self.shares]
        return (
            ("k", self.ks, self.by_k),
            ("m", self.ms, self.by_m),
            ("support, %", percents, self.by_share),
        )


def run(context: Context) -> Report:
    """Measure aa and vpa on both data sets."""
    worlds = [World(name, *context.source(name).load()) for name in DATA]
    table, seconds = _figure_20(context, worlds)
    ks, ms, shares = (KS, MS, SHARES) if not context.quick else ((2, 5), (1, 2), SHARES[-2:])
    curves = [Curves(world, method, ks, ms, shares) for world in worlds for method in METHODS]
    for curve in curves:
        context.note(f"{curve.world.name}, {curve.method}: k, m and support")
        assert all(found for _, _, found in curve.axes)
    return Report(
        "ml2",
        f"What mining loses: ML2 and dML2 of releases with k={K}, m={M}",
        (table, *_figures_21_and_22(curves), _words(curves)),
        (at_most("seconds of ML2 and dML2 at three supports", seconds, SECONDS, quick=context.quick),),
        (
            "ML2 is the share of frequent itemsets, over all levels, not found at their level.",
            "dML2 counts the levels to go up: over all frequent itemsets (Eq. 2) and over the lost "
            "ones (section 6).",
            f"Varied one at a time around k={K}, m={M} and a support of {float(DEFAULT):.0%}.",
        ),
        context.quick,
        {"ml2.svg": _picture(worlds, curves)},
    )


def _figure_20(context: Context, worlds: Sequence[World]) -> tuple[Table, float]:
    from setveil.hierarchy.build import balanced

    rows: list[tuple[Cell, ...]] = []
    slowest = 0.0
    for world in worlds:
        wide = World(world.name, world.data, balanced(world.data.vocabulary.labels, FAN_OUT))
        for fan_out, tree, methods in (
            ("4", world, (*METHODS, *BESIDE)),
            (str(FAN_OUT), wide, METHODS),
        ):
            for method in methods:
                context.note(f"{world.name}, fan-out {fan_out}, {method}")
                found = tree.losses(method, K, M, FIGURE_20)
                slowest = max(slowest, found.seconds)
                start = (world.name, fan_out, method)
                for loss in found.by_share:
                    values = (told(loss, reading) for reading in READINGS)
                    rows.append((*start, f"{float(loss.share):.0%}", found.ncp, *values))
                means = (found.mean(reading) for reading in READINGS)
                rows.append((*start, "mean", found.ncp, *means))
    return Table(COLUMNS, tuple(rows), "Figure 20"), slowest


def _figures_21_and_22(curves: Sequence[Curves]) -> Iterable[Table]:
    for place, name in enumerate(("k", "m", "support, %")):
        rows: list[tuple[Cell, ...]] = []
        for curve in curves:
            _, values, found = curve.axes[place]
            for value, loss in zip(values, found, strict=True):
                readings = (told(loss, reading) for reading in READINGS)
                rows.append((curve.world.name, curve.method, value, *readings))
        columns = ("data", "method", name, "ML2", "dML2, all", "dML2, lost")
        yield Table(columns, tuple(rows), f"Figures 21 and 22: against {name}")


def _rises(values: Iterable[Fraction]) -> bool:
    return all(one <= other for one, other in pairwise(values))


def _words(curves: Sequence[Curves]) -> Table:
    """Hold what the paper says of its figures against ours."""

    def steady(curve: Curves) -> bool:
        several = [loss for m, loss in zip(curve.ms, curve.by_m, strict=True) if m > 1]
        lost = [loss.dml2_lost for loss in (*curve.by_k, *several, *curve.by_share) if loss.dml2_lost]
        return not lost or max(lost) - min(lost) <= 1

    said: tuple[tuple[str, Callable[[Curves], Cell]], ...] = (
        (
            "few are lost: ML2 up to 50 % at 2 %",
            lambda curve: curve.by_share[_place(curve)].ml2 <= Fraction(1, 2),
        ),
        (
            "the lost are found up to 2 levels higher, mean at 1, 2 and 3 %",
            lambda curve: (
                mean([loss.dml2_lost for loss in curve.by_share if loss.share in FIGURE_20]) <= 2
            ),
        ),
        ("ML2 grows with k", lambda curve: _rises(loss.ml2 for loss in curve.by_k)),
        ("ML2 grows with m", lambda curve: _rises(loss.ml2 for loss in curve.by_m)),
        (
            "ML2 falls with the support",
            lambda curve: _rises(-loss.ml2 for loss in curve.by_share),
        ),
        ("dML2 of the lost varies by no more than 1, m = 1 aside", steady),
    )
    columns = ("what the paper says", *(f"{curve.world.name}, {curve.method}" for curve in curves))
    rows = tuple((claim, *(holds(curve) for curve in curves)) for claim, holds in said)
    return Table(columns, rows, "The paper's words")


def _place(curve: Curves) -> int:
    return min(range(len(curve.shares)), key=lambda place: abs(curve.shares[place] - DEFAULT))


def _picture(worlds: Sequence[World], curves: Sequence[Curves]) -> str:
    titles = {
        "ml2": "ML2",
        "dml2": "dML2, all",
        "dml2_lost": "dML2, lost",
    }
    blocks = []
    for number, world in enumerate(worlds):
        own = curves[number * len(METHODS) : (number + 1) * len(METHODS)]
        panels = [
            [
                Panel(
                    titles[reading],
                    own[0].axes[place][0],
                    own[0].axes[place][1],
                    {
                        curve.method: [told(loss, reading) for loss in curve.axes[place][2]]
                        for curve in own
                    },
                )
                for place in range(3)
            ]
            for reading in READINGS
        ]
        blocks.append((world.name, panels))
    return small_multiples(blocks, "What mining loses, against k, m and the support")
