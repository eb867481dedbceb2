"""Choosing what is published as an integer program, solved by HiGHS.

One column z_u a node, precedence z_p <= z_c for every child c, one row a clause. For an inner node,
z_p = 1 says that the leaves under p are published at p or above it. Where suppressing is allowed the
leaves have columns too, and z_a = 1 says that leaf a is published at all; otherwise they all are.

Costs are integers. An LP bound is recomputed from the rounded duals in integers: any non-negative duals
give a valid bound, whatever the solver's tolerances. The bound of the integer program is the solver's
own, and it is solved to an absolute gap below one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
    """The integer program over one hierarchy; clauses join as they are found.

    The cost of a solution is `offset` plus the coefficients of its columns. Column c belongs to node
    ``first_node + c``.
    """

    def __init__(
        self,
        hierarchy: Hierarchy,
        cost: Cost,
        count_by_leaf: NDArray[np.int64],
        *,
        suppressing: bool = False,
    ) -> None:
        self.hierarchy = hierarchy
        self.first_node = first = 0 if suppressing else hierarchy.n_leaves
        self.n_columns = len(hierarchy) - first
        weights = [int(weight) for weight in cost.weight_by_node(hierarchy, count_by_leaf)]
        self.coefficients = weights[first:]
        for node in range(first, len(hierarchy)):
            above = int(hierarchy.parent[node])
            if above >= 0:
                self.coefficients[above - first] -= weights[node]
        self.offset = 0
        if suppressing:
            # Start with everything lost; each leaf published at all gains its whole cost.
            self.offset = cost.whole(count_by_leaf)
            for leaf, count in enumerate(cost.weighted_counts(count_by_leaf).tolist()):
                self.coefficients[leaf] -= cost.scale * count
        if sum(abs(coefficient) for coefficient in self.coefficients) >= LARGEST_EXACT:
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
        # Programs for cuts come with good solutions. To look for others at length, and to start again
        # from the root, takes more time than it saves. With suppression it pays.
        at_length = self.hierarchy.n_leaves > self.first_node
        solver = highspy.Highs()  # type: ignore[no-untyped-call]
        solver.silent()
        for name, value in (
            ("threads", 1),
            ("random_seed", 0),
            ("mip_rel_gap", 0.0),
            ("mip_abs_gap", 0.9),
            ("mip_feasibility_tolerance", 1e-7),
            ("mip_allow_restart", at_length),
            ("mip_heuristic_run_rins", at_length),
            ("mip_heuristic_run_rens", at_length),
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
        first = self.first_node
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

    def most_violated(
        self,
        plus: NodeSets,
        values: Values,
        most: int,
        minus: NodeSets | None = None,
        *,
        below: float = 1.0 - MARGIN,
    ) -> list[Clause]:
        """Return the clauses, of lines of `plus` and `minus`, that the fractional point breaks most.

        A clause is broken where what it adds up to is `below` this.
        """
        padded = np.append(values, 0.0)
        reached = padded[np.maximum(plus - self.first_node, -1)].sum(axis=1)
        if minus is not None:
            padded[-1] = 1.0
            reached += (1.0 - padded[np.maximum(minus - self.first_node, -1)]).sum(axis=1)
        broken = np.flatnonzero(reached < below)
        order = broken[np.argsort(reached[broken], kind="stable")][:most]
        return as_clauses(plus[order], None if minus is None else minus[order])

    def solve_relaxed(self, watch: Watch) -> Relaxed | None:
        """Solve the LP relaxation from the last basis; None if time ran out."""
        if not self.n_columns:
            return Relaxed(np.empty(0), self.offset)
        solver = self._solver
        if self._integral:
            self._set_integrality(highspy.HighsVarType.kContinuous)
            self._integral = False
        status = self._run(watch)
        if status is None:
            return None
        if status != highspy.HighsModelStatus.kOptimal:
            raise InternalError(f"the LP solver stopped with {solver.modelStatusToString(status)}.")
        solution = solver.getSolution()
        return Relaxed(np.array(solution.col_value), self._certified(np.array(solution.row_dual)))

    def _certified(self, row_dual: Values) -> int:
        """Return a lower bound on every cut's cost, from the duals, in integers."""
        reduced = [coefficient * DUAL_SCALE for coefficient in self.coefficients]
        total = 0
        n_precedence = len(self._precedence)
        first = self.first_node
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
        return max(0, self.offset - ((-total) // DUAL_SCALE))

    def solve_integer(
        self, watch: Watch, incumbent: Values | None = None, *, gap: int = 0
    ) -> tuple[Values | None, int]:
        """Solve the integer program; return a solution (None if time ran out first) and a bound.

        The solver may stop at a solution up to `gap` dearer than its bound.
        """
        if not self.n_columns:
            return np.empty(0), self.offset
        solver = self._solver
        if not self._integral:
            self._set_integrality(highspy.HighsVarType.kInteger)
            self._integral = True
        if incumbent is not None:
            start = highspy.HighsSolution()
            start.col_value = incumbent.tolist()
            solver.setSolution(start)
        solver.setOptionValue("mip_abs_gap", gap + 0.9)
        status = self._run(watch)
        dual = solver.getInfo().mip_dual_bound
        bound = max(0, self.offset + int(np.ceil(dual - 1e-4))) if np.isfinite(dual) else 0
        if status == highspy.HighsModelStatus.kOptimal:
            return np.array(solver.getSolution().col_value), bound
        if status is None:
            return None, bound
        raise InternalError(f"the MIP solver stopped with {solver.modelStatusToString(status)}.")

    def _run(self, watch: Watch) -> highspy.HighsModelStatus | None:
        """Run the solver within the time limit; None where it or a request to stop cut the run."""
        solver = self._solver
        limit = watch.remaining
        solver.setOptionValue(
            "time_limit",
            highspy.kHighsInf if limit == float("inf") else solver.getRunTime() + max(limit, 0.01),
        )

        def stop_when_asked(event: highspy.HighsCallbackEvent) -> None:
            if watch.stop.is_set() or watch.expired:
                event.interrupt()

        callback = solver.cbMipInterrupt if self._integral else solver.cbSimplexInterrupt
        callback.subscribe(stop_when_asked)
        try:
            solver.run()
        finally:
            callback.unsubscribe(stop_when_asked)
        watch.tick("solving")
        status = solver.getModelStatus()
        if status == highspy.HighsModelStatus.kInfeasible:
            raise _no_cut()
        if status != highspy.HighsModelStatus.kOptimal and watch.expired:
            return None
        return status

    def _set_integrality(self, kind: highspy.HighsVarType) -> None:
        n = self.n_columns
        self._solver.changeColsIntegrality(
            n, np.arange(n, dtype=np.int32), np.full(n, int(kind), dtype=np.uint8)
        )

    def rounded(
        self, values: Values, threshold: float, leaf_threshold: float | None = None
    ) -> NDArray[np.bool_]:
        """Return z of what lies above the threshold, and of all below such a node."""
        chosen = values > threshold
        if leaf_threshold is not None:
            n_leaf_columns = self.hierarchy.n_leaves - self.first_node
            chosen[:n_leaf_columns] = values[:n_leaf_columns] > leaf_threshold
        for column in range(self.n_columns - 1, -1, -1):
            above = self.hierarchy.parent[column + self.first_node]
            if above >= 0 and chosen[above - self.first_node]:
                chosen[column] = True
        return chosen

    def exact_cost(self, chosen: NDArray[np.bool_]) -> int:
        """Return the integer cost of the solution in which exactly these columns are 1."""
        return self.offset + sum(self.coefficients[column] for column in np.flatnonzero(chosen))

    def published(self, chosen: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Return the antichain of a solution: the topmost nodes with z = 1, and leaves."""
        hierarchy, first = self.hierarchy, self.first_node
        z = np.concatenate([np.ones(first, dtype=bool), chosen])
        parent = hierarchy.parent
        return np.flatnonzero(z & ~((parent >= 0) & z[parent])).astype(np.int32)

    def chosen(self, published: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return z of the solution that publishes this antichain."""
        hierarchy = self.hierarchy
        z = np.zeros(len(hierarchy), dtype=bool)
        z[published] = True
        for node in range(len(hierarchy) - 1, -1, -1):
            above = hierarchy.parent[node]
            if above >= 0 and z[above]:
                z[node] = True
        return z[self.first_node :]


def _no_cut() -> Infeasible:
    return Infeasible(
        "no cut of the hierarchy meets the guarantee.",
        "Lower k, l or m, or use a method that suppresses.",
    )
