"""The second opinion on a claimed optimum: never yes to what is false."""

from __future__ import annotations

from random import Random
from typing import Any

import highspy
import numpy as np
import pytest

from setveil.engines.local import LocalEngine
from setveil.hierarchy.tree import Hierarchy
from setveil.methods import trim
from setveil.model.costs import make_cost
from setveil.model.guarantees import KmAnonymity
from setveil.model.transactions import bind
from setveil.progress import Watch
from setveil.search import cut_model, solver
from setveil.search.clauses import Clause
from setveil.search.cut_model import CutModel, holds
from setveil.search.solver import NothingFits
from tests.oracle.worlds import random_world


def triangle() -> CutModel:
    """Three leaves, equally frequent, of which any two may not both be kept: an LP of halves."""
    tree = Hierarchy.from_parents({"a": None, "b": None, "c": None})
    model = CutModel(
        tree, make_cost("lm", tree), np.array([100, 100, 100], dtype=np.int64), suppressing=True
    )
    model.add([Clause((), pair) for pair in ((0, 1), (0, 2), (1, 2))])
    return model


def test_branching_closes_what_the_lp_leaves_open() -> None:
    model = triangle()
    relaxed = model.solve_relaxed(Watch())
    assert relaxed is not None
    whole = model.offset
    assert relaxed.value_by_column.tolist() == [0.5, 0.5, 0.5]
    assert relaxed.bound == -(-whole // 2)
    assert holds(model, 2 * whole // 3, Watch())
    assert not holds(model, 2 * whole // 3 + 1, Watch())


def test_what_nothing_fits_is_shown_to() -> None:
    model = triangle()
    with pytest.raises(NothingFits):
        model.solve_relaxed(Watch(), {0: 1, 1: 1})
    assert model.impossible({0: 1, 1: 1})
    assert not model.impossible({0: 1})
    relaxed = model.solve_relaxed(Watch())
    assert relaxed is not None  # and is let go of


def finished(seed: int) -> tuple[trim.Search, int]:
    """Return a search that went to its end, and the least cost."""
    random = Random(seed)
    world = random_world(seed, most_labels=7, most_rows=16, roots=1 + seed % 3)
    tree, rows = bind(world.transactions, world.hierarchy)
    labels = tree.labels[: tree.n_leaves]
    cost = make_cost("lm", tree, weights={label: random.randint(1, 999_999) for label in labels})
    search = trim.Search(LocalEngine(tree, rows, threads=1), KmAnonymity(2, 2), cost, Watch())
    outcome = search.run()
    assert outcome.objective is not None and outcome.objective.proven
    return search, outcome.objective.cost


def test_it_agrees_with_the_integer_program_on_random_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the LP's rounds there are just the clauses that the integer program needed."""
    monkeypatch.setattr(trim.Search, "relax", lambda self: None)
    for seed in range(150):
        search, best = finished(seed)
        assert holds(search.model, best, Watch())
        assert not holds(search.model, best + 1, Watch())


def test_a_lying_solver_shows_nothing_that_is_false(monkeypatch: pytest.MonkeyPatch) -> None:
    real: Any = highspy.Highs
    draw = np.random.default_rng(7)

    class Lying(real):  # type: ignore[misc]
        def getSolution(self) -> Any:  # noqa: N802
            true = super().getSolution()
            told = highspy.HighsSolution()
            told.col_value = draw.random(len(true.col_value)).round(1).tolist()
            told.row_dual = (np.array(true.row_dual) * draw.choice([0, 1, 2, 9])).tolist()
            return told

        def getModelStatus(self) -> Any:  # noqa: N802
            status = highspy.HighsModelStatus
            return draw.choice([status.kOptimal, status.kOptimal, status.kInfeasible])

        def getDualRay(self) -> Any:  # noqa: N802
            return highspy.HighsStatus.kOk, True, draw.normal(size=self.getNumRow())

    for seed in range(60):
        search, best = finished(seed)
        model = search.model
        with monkeypatch.context() as patch:
            patch.setattr(solver.highspy, "Highs", Lying)
            model._solver = None
            for target in (best + 1, best + 10**6):
                assert not holds(model, target, Watch())


def test_it_ends_with_the_parts_and_with_time(monkeypatch: pytest.MonkeyPatch) -> None:
    model = triangle()
    assert not holds(model, 2 * model.offset // 3, Watch(time_limit=1e-9))
    monkeypatch.setattr(cut_model, "MOST_PARTS", 1)
    assert not holds(model, 2 * model.offset // 3, Watch())
