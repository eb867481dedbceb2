"""Choosing a cut as an integer program, solved by HiGHS.

One column z_p a inner node, precedence z_p <= z_c for every inner child c, one row a clause. The cost
of a cut is the sum of non-negative integer coefficients, so bounds can be certified: an LP bound is
recomputed from the rounded duals in integers (any non-negative duals give a valid bound, whatever the
solver's tolerances), and the integer program is solved to an absolute gap below one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import highspy
import numpy as np
from numpy.typing import NDArray

from ..errors import Infeasible, InternalError, ResourceLimit
from ..model.costs import Cost
from ..model.hierarchy import Hierarchy
from ..progress import Watch
from .clauses import Clause, NodeSets, as_clauses

Values = NDArray[np.float64]

DUAL_SCALE = 2**24
LARGEST_EXACT = 2**53
MARGIN = 1e-6
"""By how much a clause must be broken to count."""


@dataclass(frozen=True)
class Relaxed:
    """The LP's solution and its certified integer lower bound."""

    value_by_column: Values
    bound: int


class CutModel:
    """The integer program of the cuts of one hierarchy; clauses join as they are found."""

    def __init__(self, hierarchy: Hierarchy, cost: Cost, count_by_leaf: NDArray[np.int64]) -> None:
        self.hierarchy = hierarchy
        weights = [int(weight) for weight in cost.weight_by_node(hierarchy, count_by_leaf)]
        first = hierarchy.n_leaves
        self.n_columns = len(hierarchy) - first
        self.coefficients = weights[first:]
        for node in range(first, len(hierarchy)):
            above = int(hierarchy.parent[node])
            if above >= 0:
                self.coefficients[above - first] -= weights[node]
        if sum(self.coefficients) >= LARGEST_EXACT:
            raise ResourceLimit(
                "the costs are too large for an exact proof.", "Use coarser weights, or method aa."
            )
        self.clauses: list[Clause] = []
        self._known: set[Clause] = set()
        self._precedence = [
            (int(hierarchy.parent[node]) - first, node - first)
            for node in range(first, len(hierarchy))
            if hierarchy.parent[node] >= 0
        ]
        self._solver = self._make_solver()
        self._integral = False

    def _make_solver(self) -> highspy.Highs:
        solver = highspy.Highs()  # type: ignore[no-untyped-call]
        solver.silent()
        for name, value in (
            ("threads", 1),
            ("random_seed", 0),
            ("mip_rel_gap", 0.0),
            ("mip_abs_gap", 0.9),
            ("mip_feasibility_tolerance", 1e-7),
        ):
            solver.setOptionValue(name, value)
        n = self.n_columns
        costs = np.array(self.coefficients, dtype=np.float64)
        empty = np.empty(0, dtype=np.int32)
        solver.addCols(n, costs, np.zeros(n), np.ones(n), 0, empty, empty, np.empty(0))
        # z_child - z_parent >= 0
        rows = len(self._precedence)
        if rows:
            index = np.array(
                [(child, above) for above, child in self._precedence], dtype=np.int32
            ).ravel()
            signs = np.tile([1.0, -1.0], rows)
            starts = np.arange(0, 2 * rows, 2, dtype=np.int32)
            solver.addRows(
                rows, np.zeros(rows), np.full(rows, highspy.kHighsInf), 2 * rows, starts, index, signs
            )
        return solver

    def add(self, clauses: Sequence[Clause]) -> int:
        """Add the clauses that are new; return how many. The empty clause is `Infeasible`."""
        fresh: list[Clause] = []
        for clause in clauses:
            if not clause.plus and not clause.minus:
                raise Infeasible(
                    "no cut of the hierarchy meets the guarantee: even the topmost labels are rare.",
                    "Lower k or m, join the trees under one root, or use a method that suppresses.",
                )
            if clause not in self._known:
                self._known.add(clause)
                fresh.append(clause)
        if not fresh:
            return 0
        first = self.hierarchy.n_leaves
        starts = np.zeros(len(fresh), dtype=np.int32)
        index: list[int] = []
        value: list[float] = []
        for row, clause in enumerate(fresh):
            starts[row] = len(index)
            index += [node - first for node in (*clause.plus, *clause.minus)]
            value += [1.0] * len(clause.plus) + [-1.0] * len(clause.minus)
        self._solver.addRows(
            len(fresh),
            np.array([1.0 - len(clause.minus) for clause in fresh]),
            np.full(len(fresh), highspy.kHighsInf),
            len(index),
            starts,
            np.array(index, dtype=np.int32),
            np.array(value),
        )
        self.clauses += fresh
        return len(fresh)

    def most_violated(self, plus: NodeSets, values: Values, most: int) -> list[Clause]:
        """Return the clauses, of lines of `plus`, that the fractional point breaks most."""
        padded = np.append(values, 0.0)
        reached = np.where(plus >= 0, padded[np.maximum(plus - self.hierarchy.n_leaves, -1)], 0.0).sum(
            axis=1
        )
        order = np.argsort(reached, kind="stable")[:most]
        return as_clauses(plus[order[reached[order] < 1.0 - MARGIN]])

    def solve_relaxed(self) -> Relaxed:
        """Solve the LP relaxation from the last basis."""
        if not self.n_columns:
            return Relaxed(np.empty(0), 0)
        solver = self._solver
        if self._integral:
            self._set_integrality(highspy.HighsVarType.kContinuous)
            self._integral = False
        solver.run()
        status = solver.getModelStatus()
        if status == highspy.HighsModelStatus.kInfeasible:
            raise _no_cut()
        if status != highspy.HighsModelStatus.kOptimal:
            raise InternalError(f"the LP solver stopped with {solver.modelStatusToString(status)}.")
        solution = solver.getSolution()
        return Relaxed(np.array(solution.col_value), self._certified(np.array(solution.row_dual)))

    def _certified(self, row_dual: Values) -> int:
        """Return a lower bound on every cut's cost, from the duals, in integers."""
        reduced = [coefficient * DUAL_SCALE for coefficient in self.coefficients]
        total = 0
        n_precedence = len(self._precedence)
        first = self.hierarchy.n_leaves
        for row in np.flatnonzero(row_dual > 0).tolist():
            dual = round(float(row_dual[row]) * DUAL_SCALE)
            if row < n_precedence:
                above, child = self._precedence[row]
                reduced[child] -= dual
                reduced[above] += dual
                continue
            clause = self.clauses[row - n_precedence]
            total += dual * (1 - len(clause.minus))
            for node in clause.plus:
                reduced[node - first] -= dual
            for node in clause.minus:
                reduced[node - first] += dual
        total += sum(slope for slope in reduced if slope < 0)
        # Costs are integers, so a bound rounds up; the scaled total loses at most the rounding.
        return max(0, -((-total) // DUAL_SCALE))

    def solve_integer(self, watch: Watch, incumbent: Values | None = None) -> tuple[Values | None, int]:
        """Solve the integer program; return a solution (None if time ran out first) and a bound."""
        if not self.n_columns:
            return np.empty(0), 0
        solver = self._solver
        if not self._integral:
            self._set_integrality(highspy.HighsVarType.kInteger)
            self._integral = True
        if incumbent is not None:
            start = highspy.HighsSolution()
            start.col_value = incumbent.tolist()
            solver.setSolution(start)
        limit = watch.remaining
        solver.setOptionValue(
            "time_limit",
            highspy.kHighsInf if limit == float("inf") else solver.getRunTime() + max(limit, 0.01),
        )

        def stop_when_asked(event: highspy.HighsCallbackEvent) -> None:
            if watch.stop.is_set() or watch.expired:
                event.interrupt()

        solver.cbMipInterrupt.subscribe(stop_when_asked)
        try:
            solver.run()
        finally:
            solver.cbMipInterrupt.unsubscribe(stop_when_asked)
        watch.tick("solving")
        status = solver.getModelStatus()
        if status == highspy.HighsModelStatus.kInfeasible:
            raise _no_cut()
        info = solver.getInfo()
        bound = (
            max(0, int(np.ceil(info.mip_dual_bound - 1e-4))) if np.isfinite(info.mip_dual_bound) else 0
        )
        if status == highspy.HighsModelStatus.kOptimal:
            return np.array(solver.getSolution().col_value), bound
        if watch.expired or status == highspy.HighsModelStatus.kTimeLimit:
            return None, bound
        raise InternalError(f"the MIP solver stopped with {solver.modelStatusToString(status)}.")

    def _set_integrality(self, kind: highspy.HighsVarType) -> None:
        n = self.n_columns
        self._solver.changeColsIntegrality(
            n, np.arange(n, dtype=np.int32), np.full(n, int(kind), dtype=np.uint8)
        )

    def rounded(self, values: Values, threshold: float) -> NDArray[np.bool_]:
        """Return z of the cut that generalizes what lies above the threshold, and all below it."""
        hierarchy, first = self.hierarchy, self.hierarchy.n_leaves
        generalized = values > threshold
        for node in range(len(hierarchy) - 1, first - 1, -1):
            above = hierarchy.parent[node]
            if above >= 0 and generalized[above - first]:
                generalized[node - first] = True
        return generalized

    def exact_cost(self, generalized: NDArray[np.bool_]) -> int:
        """Return the integer cost of the cut in which exactly these inner nodes have z = 1."""
        return sum(
            coefficient
            for coefficient, chosen in zip(self.coefficients, generalized.tolist(), strict=True)
            if chosen
        )

    def node_of_leaf(self, generalized: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Return the cut: for each leaf the highest node above it with z = 1, else itself."""
        hierarchy = self.hierarchy
        chosen = np.arange(len(hierarchy), dtype=np.int32)
        # From the top down: a node takes its parent's choice where the parent is generalized.
        for node in range(len(hierarchy) - 1, -1, -1):
            above = hierarchy.parent[node]
            if above >= 0 and generalized[above - hierarchy.n_leaves]:
                chosen[node] = chosen[above]
        return chosen[: hierarchy.n_leaves]

    def generalized(self, node_of_leaf: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return z of the cut that publishes each leaf as the given node."""
        hierarchy = self.hierarchy
        z = np.zeros(len(hierarchy), dtype=bool)
        z[np.unique(node_of_leaf)] = True
        for node in range(len(hierarchy) - 1, -1, -1):
            above = hierarchy.parent[node]
            if above >= 0 and z[above]:
                z[node] = True
        return z[hierarchy.n_leaves :]


def share_of(value: int, whole: int) -> Fraction:
    """Return a cost as a share of the whole."""
    return Fraction(value, whole) if whole else Fraction(0)


def _no_cut() -> Infeasible:
    return Infeasible(
        "no cut of the hierarchy meets the guarantee.",
        "Lower k, l or m, or use a method that suppresses.",
    )
