"""The solver fails at its n-th answer, for every n until a run gets by without that answer.

Whatever it does, a run ends with a valid release and a true bound. Where the proof was lost it says so.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import count
from types import SimpleNamespace
from typing import Any

import highspy
import numpy as np
import pytest

from setveil import compare, sweep
from setveil.api import anonymize
from setveil.engines.local import LocalEngine
from setveil.errors import Cancelled, Infeasible, ResourceLimit
from setveil.methods import Outcome, auto, optimal, trim
from setveil.methods.proof import FAILED
from setveil.model.costs import Cost, make_cost
from setveil.model.guarantees import KmAnonymity
from setveil.model.transactions import bind
from setveil.progress import Watch
from setveil.search import solver
from tests.oracle.optima import as_published, cost_of, is_valid, least_cost
from tests.oracle.worlds import World, random_world

SEEDS = (6, 17, 62)
HIGHS: Any = highspy.Highs
PROMISE = KmAnonymity(2, 2)
METHODS: dict[str, Callable[..., Outcome]] = {
    "optimal": optimal.anonymize,
    "trim": trim.anonymize,
    "auto": auto.anonymize,
}


@dataclass
class Plan:
    """Which fault, at which answer, and whether it stays; `answers` counts those given."""

    fault: str
    at: int
    stays: bool
    answers: int = 0

    @property
    def now(self) -> bool:
        return self.answers == self.at or (self.stays and self.answers > self.at)


def lying(plan: Plan) -> type[Any]:
    """Return a solver that does as the plan says."""

    class Lying(HIGHS):
        def run(self) -> Any:
            plan.answers += 1
            if plan.now and plan.fault == "raises":
                raise RuntimeError("out of luck")
            if plan.now and plan.fault == "no memory":
                raise MemoryError
            return super().run()

        def addRows(self, *given: Any) -> Any:  # noqa: N802
            if plan.fault == "refuses rows" and plan.answers + 1 == plan.at:
                plan.answers += 1
                return highspy.HighsStatus.kError
            return super().addRows(*given)

        def getModelStatus(self) -> Any:  # noqa: N802
            status = highspy.HighsModelStatus
            said = {
                "solve error": status.kSolveError,
                "unknown": status.kUnknown,
                "infeasible": status.kInfeasible,
                "unbounded": status.kUnbounded,
                "time": status.kTimeLimit,
            }
            if plan.now and plan.fault in said:
                return said[plan.fault]
            return super().getModelStatus()

        def getSolution(self) -> Any:  # noqa: N802
            true = super().getSolution()
            values, duals = np.array(true.col_value), np.array(true.row_dual)
            if plan.now:
                values = {
                    "nan": values * np.nan,
                    "infinite": values + np.inf,
                    "short": values[:-1],
                    "all zero": values * 0,
                    "all one": values * 0 + 1,
                    "upside down": 1 - values,
                }.get(plan.fault, values)
                duals = {
                    "nan duals": duals * np.nan,
                    "infinite duals": duals + np.inf,
                    "huge duals": duals + 1e300,
                    "low duals": duals - 1.7e308,
                    "wrong duals": duals[::-1] * 3 - 1,
                    "no duals": duals * 0,
                }.get(plan.fault, duals)
            return SimpleNamespace(col_value=values.tolist(), row_dual=duals.tolist())

        def getInfo(self) -> Any:  # noqa: N802
            true = super().getInfo()
            wrong = {"bound too high": 7.0, "bound too low": -7.0, "bound nan": np.nan}
            if plan.now and plan.fault in wrong:
                return SimpleNamespace(mip_dual_bound=true.mip_dual_bound + wrong[plan.fault])
            return true

    return Lying


FAULTS = (
    "raises",
    "no memory",
    "refuses rows",
    "solve error",
    "unknown",
    "infeasible",
    "unbounded",
    "time",
    "nan",
    "infinite",
    "short",
    "all zero",
    "all one",
    "upside down",
    "nan duals",
    "infinite duals",
    "huge duals",
    "low duals",
    "wrong duals",
    "no duals",
    "bound too high",
    "bound too low",
    "bound nan",
)


@cache
def world(seed: int) -> tuple[World, LocalEngine, Cost]:
    """Return a small world, its engine and its cost, weighted for odd seeds."""
    made = random_world(seed, most_labels=6, most_rows=14)
    hierarchy, rows = bind(made.transactions, made.hierarchy)
    labels = hierarchy.labels[: hierarchy.n_leaves]
    weights = {label: Fraction(10**6 - 7**place, 10**3) for place, label in enumerate(labels)}
    cost = make_cost("lm", hierarchy, weights=weights if seed % 2 else None)
    return made, LocalEngine(hierarchy, rows, threads=1), cost


@cache
def least(seed: int, *, suppressing: bool) -> int:
    """Return the least cost there is, by trying everything."""
    given, engine, cost = world(seed)
    found = least_cost(given, engine.hierarchy, cost, PROMISE, suppressing=suppressing)
    assert found is not None
    return found


def check(outcome: Outcome, seed: int, *, suppressing: bool) -> None:
    """Raise where the result is not valid, the bound not true, or a lost proof not told."""
    given, engine, cost = world(seed)
    published = as_published(outcome.recoding)
    assert is_valid(published, given, PROMISE)
    objective = outcome.objective
    assert objective is not None and objective.bound is not None
    assert objective.cost == cost_of(published, engine.hierarchy, cost, given)
    assert 0 <= objective.bound <= least(seed, suppressing=suppressing) <= objective.cost
    assert outcome.complete
    assert objective.proven or FAILED in outcome.notices
    assert objective.proven or objective.certified


def plans(fault: str, *, stays: bool, monkeypatch: pytest.MonkeyPatch) -> Iterator[Plan]:
    """Yield a plan for each answer, until a run did not come so far."""
    for at in count(1):
        plan = Plan(fault, at, stays)
        monkeypatch.setattr(solver.highspy, "Highs", lying(plan))
        yield plan
        if plan.answers < at:
            return


@pytest.mark.parametrize("stays", [False, True], ids=["once", "from then on"])
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("key", METHODS)
def test_any_fault_ends_the_proof_and_not_the_run(
    key: str, fault: str, stays: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = 0
    for seed in SEEDS:
        _, engine, cost = world(seed)
        for _ in plans(fault, stays=stays, monkeypatch=monkeypatch):
            outcome = METHODS[key](engine, PROMISE, cost=cost, watch=Watch())
            check(outcome, seed, suppressing=key != "optimal")
            lost += FAILED in outcome.notices
    if fault in ("raises", "solve error", "nan") and stays:
        assert lost


@pytest.mark.parametrize("stays", [False, True], ids=["once", "from then on"])
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("key", ["optimal", "trim"])
def test_the_same_of_the_integer_program(
    key: str, fault: str, stays: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the LP the integer program has to answer; without a seed it holds nothing at first."""
    monkeypatch.setattr(optimal.Search, "relax", lambda self: None)
    monkeypatch.setattr(trim.Search, "relax", lambda self: None)
    for seed in SEEDS:
        _, engine, cost = world(seed)
        own = {"seed": False} if key == "optimal" else {}
        for _ in plans(fault, stays=stays, monkeypatch=monkeypatch):
            outcome = METHODS[key](engine, PROMISE, cost=cost, watch=Watch(), **own)
            check(outcome, seed, suppressing=key != "optimal")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_sweep_has_all_its_points(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given, _, _ = world(SEEDS[0])
    tree = given.hierarchy
    true = sweep(given.transactions, tree, [2, 3], [1, 2], cost="lm")
    for plan in plans(fault, stays=True, monkeypatch=monkeypatch):
        found = sweep(given.transactions, tree, [2, 3], [1, 2], cost="lm")
        for point, best in zip(found.points, true.points, strict=True):
            assert best.loss is not None and point.loss is not None and point.bound is not None
            assert point.status == "done"
            assert point.bound <= best.loss <= point.loss
            assert point.proven or any(
                f"k={point.k}, m={point.m}" in notice and FAILED in notice for notice in found.notices
            )
        assert plan.at < 100


@pytest.mark.parametrize("stays", [False, True], ids=["once", "from then on"])
@pytest.mark.parametrize("fault", FAULTS)
def test_without_a_heuristic_there_are_the_topmost_labels(
    fault: str, stays: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With absences nothing is held at first: the root is taken where it will do, or nothing can be."""
    for seed in range(6):
        given, engine, cost = world(seed)
        promise = KmAnonymity(2, 2, negative=True)
        best = least_cost(given, engine.hierarchy, cost, promise, suppressing=False)
        topmost = dict.fromkeys(engine.hierarchy.labels[: engine.hierarchy.n_leaves], "the root")
        for _ in plans(fault, stays=stays, monkeypatch=monkeypatch):
            try:
                outcome = optimal.anonymize(engine, promise, cost=cost, watch=Watch())
            except (Infeasible, ResourceLimit):
                assert best is None or not is_valid(topmost, given, promise)
                continue
            objective = outcome.objective
            assert best is not None and objective is not None and objective.bound is not None
            assert is_valid(as_published(outcome.recoding), given, promise)
            assert objective.bound <= best <= objective.cost
            assert objective.proven or FAILED in outcome.notices


def test_a_release_tells_it(monkeypatch: pytest.MonkeyPatch) -> None:
    given, _, _ = world(SEEDS[0])
    monkeypatch.setattr(solver.highspy, "Highs", lying(Plan("solve error", 1, stays=True)))
    release = anonymize(given.transactions, PROMISE, hierarchy=given.hierarchy, cost="lm")
    assert release.complete
    assert FAILED in release.notices
    assert "cut short" not in str(release)
    assert release.objective is not None and release.objective.certified
    found = compare(given.transactions, PROMISE, hierarchy=given.hierarchy, methods=["trim"])
    assert f"trim: {FAILED}" in found.notices
    assert not found.rows[0].cut


def test_a_consistent_lie_is_seen_where_something_better_is_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It claims that nothing is better than everything at the root, with a bound to match."""
    seed = SEEDS[0]
    _, engine, cost = world(seed)

    class Claiming(HIGHS):
        def getSolution(self) -> Any:  # noqa: N802
            true = super().getSolution()
            return SimpleNamespace(
                col_value=np.ones(len(true.col_value)).tolist(), row_dual=list(true.row_dual)
            )

        def getInfo(self) -> Any:  # noqa: N802
            costs = copy.copy(self.getLp().col_cost_)
            return SimpleNamespace(mip_dual_bound=float(sum(costs)))

    monkeypatch.setattr(optimal.Search, "relax", lambda self: None)
    monkeypatch.setattr(solver.highspy, "Highs", Claiming)
    outcome = optimal.anonymize(engine, PROMISE, cost=cost, watch=Watch())
    check(outcome, seed, suppressing=False)
    assert FAILED in outcome.notices


def test_a_request_to_stop_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    _, engine, cost = world(SEEDS[0])
    watch = Watch()

    class Stopping(HIGHS):
        def run(self) -> Any:
            watch.cancel()
            return super().run()

    monkeypatch.setattr(solver.highspy, "Highs", Stopping)
    with pytest.raises(Cancelled):
        trim.anonymize(engine, PROMISE, cost=cost, watch=watch)
