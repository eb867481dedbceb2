"""Choosing what is published as an integer program, solved by HiGHS (`search.solver`).

One column z_u a node, precedence z_p <= z_c for every child c, one row a clause. For an inner node,
z_p = 1 says that the leaves under p are published at p or above it. Where suppressing is allowed the
leaves have columns too, and z_a = 1 says that leaf a is published at all; otherwise they all are.

Costs are integers. Three things are made of the solver's floats:

- An LP bound is recomputed from the rounded duals in integers, from the costs as they are: any
  non-negative duals give a valid bound, whatever the solver's tolerances and whatever it was told.
- The bound of the integer program is the solver's own, and it is solved to an absolute gap below one.
  `holds` shows in integers what it claims.
- Costs whose sum a float cannot hold to the unit are rounded for the solver: it is told
  r_u = floor(c_u / s), with s a power of two. A bound B on these is a bound s * B on the costs as they
  are, for z_u >= 0 and c_u >= s * r_u, where c_u < 0 too. It is short of the optimum by less than s for
  each column: if z is optimal for the rounded costs, c z < s * (r z) + s * n.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..engines.base import NodeSets
from ..errors import Infeasible
from ..hierarchy.tree import Counts, Hierarchy, Ids
from ..model.costs import Cost
from ..progress import Watch
from .clauses import Clause, as_clauses
from .solver import NothingFits, Row, Solver, SolverTrouble, Values

Answer = TypeVar("Answer")

DUAL_SCALE = 2**24
LARGEST_EXACT = 2**53
"""The sum of the costs that the solver is told stays below this."""
LARGEST_EASY = 2**40
"""The same after the solver failed: smaller numbers are easier on its tolerances."""
SURE_BITS = 50
"""A sum of costs is off by less than one in floats while it is below two to this."""
REFINEMENTS = 3
"""How often duals are refined; each time the error falls by some forty bits."""
MARGIN = 1e-6
"""By how much a clause must be broken to count."""
MOST_PARTS = 60
"""How many parts are looked at by `holds`; programs for releases mostly need a handful."""
OPEN = 1e-6
"""A value this near 0 or 1 is not open."""

Chosen = NDArray[np.bool_]
"""z by column."""


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
        count_by_leaf: Counts,
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
        self.clauses: list[Clause] = []
        self._known: set[Clause] = set()
        self._precedence = [
            (int(hierarchy.parent[node]) - first, node - first)
            for node in range(first, len(hierarchy))
            if hierarchy.parent[node] >= 0
        ]
        self._told = 0
        self._solver: Solver | None = None
        self._round(LARGEST_EXACT)

    def _round(self, largest: int) -> None:
        """Round the costs that the solver is told, so that their sum is below `largest`."""
        self._shift, self._largest = 0, largest
        while self._size() >= largest:
            self._shift += 1
        self._solver = None

    def _size(self) -> int:
        return sum(abs(cost) for cost in self._rounded_costs())

    def _rounded_costs(self) -> list[int]:
        return [coefficient >> self._shift for coefficient in self.coefficients]

    @property
    def rounded_costs(self) -> bool:
        """Whether the solver is told rounded costs, so that bounds may fall short by a trace."""
        return self._shift > 0

    def _ready(self) -> Solver:
        """Return the solver with all rows known so far."""
        if self._solver is None:
            # Programs for cuts come with good solutions. To look for others at length, and to start
            # again from the root, takes more time than it saves. With suppression it pays.
            at_length = self.hierarchy.n_leaves > self.first_node
            self._solver = Solver(self._rounded_costs(), at_length=at_length)
            # z_child - z_parent >= 0
            self._solver.add([Row([child], [above], 0) for above, child in self._precedence])
            self._told = 0
        first = self.first_node
        self._solver.add(
            [
                Row(
                    [node - first for node in clause.plus],
                    [node - first for node in clause.minus],
                    1 - len(clause.minus),
                )
                for clause in self.clauses[self._told :]
            ]
        )
        self._told = len(self.clauses)
        return self._solver

    def _trying(self, solve: Callable[[], Answer]) -> Answer:
        """Return the answer; after trouble ask once more, afresh and with smaller numbers."""
        try:
            return solve()
        except SolverTrouble:
            if self._largest == LARGEST_EASY:
                raise
            self._round(LARGEST_EASY)
            return solve()

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

    def solve_relaxed(self, watch: Watch, fixed: Mapping[int, int] | None = None) -> Relaxed | None:
        """Solve the LP relaxation from the last basis; None if time ran out.

        Columns of `fixed` are held at 0 or 1. Where nothing fits that, `impossible` may show it.
        """
        if not self.n_columns:
            return Relaxed(np.empty(0), self.offset)
        held = fixed or {}

        def solve() -> tuple[Values, Values] | None:
            solver = self._ready()
            solver.fix(held)
            return solver.solve_relaxed(watch)

        answer = solve() if held else self._trying(solve)
        if answer is None:
            return None
        values, row_dual = answer
        dual_by_row = self._advice(row_dual)
        bound = self._certified(dual_by_row, held)
        if self._shift:
            bound = max(bound, self._certified(self._refined(dual_by_row), held))
        return Relaxed(values, bound)

    def impossible(self, fixed: Mapping[int, int]) -> bool:
        """Tell whether it is shown, in integers, that no solution has these values, just asked for."""
        ray = self._ready().ray()
        if ray is None:
            return False
        largest = float(np.abs(ray).max(initial=0.0)) or 1.0
        factors = [round(factor / largest * DUAL_SCALE) for factor in ray.tolist()]
        free = [0] * self.n_columns
        # What costs nothing would have to cost more than nothing.
        return any(
            self._least(free, [sign * factor for factor in factors], fixed) > 0 for sign in (1, -1)
        )

    def _advice(self, row_dual: Values) -> list[int]:
        """Return duals in integers, in `DUAL_SCALE` parts of a unit of cost."""
        scale = float(DUAL_SCALE << self._shift)
        # No dual need be negative, or larger than all costs together.
        return [round(dual * scale) for dual in np.clip(row_dual, 0, LARGEST_EXACT).tolist()]

    def _refined(self, dual_by_row: list[int]) -> list[int]:
        """Return the duals for the costs as they are, where the solver was told rounded ones.

        In an optimal basis a column of the basis has no reduced cost. What is left of it, in exact
        integers, is solved for by the solver's factors of the basis and added, a few times over.
        """
        refined = list(dual_by_row)
        try:
            solver = self._ready()
            basic = solver.basic()
            for _ in range(REFINEMENTS):
                reduced = self._reduced(self._scaled(), refined)
                left = [reduced[member] if member >= 0 else 0 for member in basic]
                # Halved until floats hold them well.
                bits = max(0, max((abs(cost).bit_length() for cost in left), default=0) - SURE_BITS)
                change = solver.duals_for(np.array([cost >> bits for cost in left], dtype=np.float64))
                refined = [
                    dual + (round(more) << bits)
                    for dual, more in zip(refined, change.tolist(), strict=True)
                ]
        except SolverTrouble:
            return dual_by_row
        return refined

    def _reduced(self, costs: Sequence[int], dual_by_row: Sequence[int]) -> list[int]:
        """Return what each column costs beyond what the duals pay."""
        reduced = list(costs)
        n_precedence = len(self._precedence)
        first = self.first_node
        for row, dual in enumerate(dual_by_row):
            if not dual:
                continue
            if row < n_precedence:
                above, child = self._precedence[row]
                reduced[child] -= dual
                reduced[above] += dual
                continue
            clause = self.clauses[row - n_precedence]
            for node in clause.plus:
                reduced[node - first] -= dual
            for node in clause.minus:
                reduced[node - first] += dual
        return reduced

    def _least(self, costs: Sequence[int], dual_by_row: Sequence[int], fixed: Mapping[int, int]) -> int:
        """Return what no solution costs less than, from any duals.

        For y >= 0 every z between 0 and 1 with A z >= b costs c z >= y b + (c - y A) z, which is at
        least y b and the negative ones of c - y A; of fixed columns each counts as it is fixed.
        """
        duals = [max(dual, 0) for dual in dual_by_row]
        paid = zip(duals[len(self._precedence) :], self.clauses, strict=True)
        total = sum(dual * (1 - len(clause.minus)) for dual, clause in paid if dual)
        for column, slope in enumerate(self._reduced(costs, duals)):
            if column in fixed:
                total += slope * fixed[column]
            elif slope < 0:
                total += slope
        return total

    def _certified(self, dual_by_row: Sequence[int], fixed: Mapping[int, int]) -> int:
        """Return a lower bound on every solution's cost, from the duals, in integers."""
        total = self._least(self._scaled(), dual_by_row, fixed)
        # Costs are integers, so a bound rounds up; the scaled total loses at most the rounding.
        return max(0, self.offset - ((-total) // DUAL_SCALE))

    def _scaled(self) -> list[int]:
        return [coefficient * DUAL_SCALE for coefficient in self.coefficients]

    def solve_integer(
        self, watch: Watch, incumbent: Values | None = None, *, gap: int = 0
    ) -> tuple[Values | None, int]:
        """Solve the integer program; return a solution (None if time ran out first) and a bound.

        The solver may stop at a solution up to `gap` dearer than its bound. The bound is its word;
        where its solution costs more than that, or less, it is `SolverTrouble`.
        """
        if not self.n_columns:
            return np.empty(0), self.offset

        def solve() -> tuple[Values | None, int]:
            solver, allowed = self._ready(), gap >> self._shift
            solver.fix({})
            values, said = solver.solve_integer(watch, incumbent, gap=allowed)
            blur = self._size() >> SURE_BITS
            least = int(np.ceil(said - 1e-4)) - blur if np.isfinite(said) else None
            bound = 0 if least is None else max(0, self.offset + (least << self._shift))
            if values is not None:
                assert least is not None
                reached = self._rounded_cost(self.rounded(values, 0.5))
                if not least <= reached <= least + allowed + 1 + 2 * blur:
                    raise SolverTrouble("its solution and its bound contradict each other")
            return values, bound

        return self._trying(solve)

    def _rounded_cost(self, chosen: Chosen) -> int:
        return sum(self.coefficients[column] >> self._shift for column in np.flatnonzero(chosen))

    def least_cost(self, chosen: Chosen) -> int:
        """Return what no solution costs less than, if this one is optimal for the rounded costs."""
        return self.offset + (self._rounded_cost(chosen) << self._shift)

    def rounded(self, values: Values, threshold: float, leaf_threshold: float | None = None) -> Chosen:
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

    def exact_cost(self, chosen: Chosen) -> int:
        """Return the integer cost of the solution in which exactly these columns are 1."""
        return self.offset + sum(self.coefficients[column] for column in np.flatnonzero(chosen))

    def published(self, chosen: Chosen) -> Ids:
        """Return the antichain of a solution: the topmost nodes with z = 1, and leaves."""
        hierarchy, first = self.hierarchy, self.first_node
        z = np.concatenate([np.ones(first, dtype=bool), chosen])
        parent = hierarchy.parent
        return np.flatnonzero(z & ~((parent >= 0) & z[parent])).astype(np.int32)

    def chosen(self, published: Ids) -> Chosen:
        """Return z of the solution that publishes this antichain."""
        hierarchy = self.hierarchy
        z = np.zeros(len(hierarchy), dtype=bool)
        z[published] = True
        for node in range(len(hierarchy) - 1, -1, -1):
            above = hierarchy.parent[node]
            if above >= 0 and z[above]:
                z[node] = True
        return z[self.first_node :]


def holds(model: CutModel, target: int, watch: Watch) -> bool:
    """Tell whether it was shown that every solution costs `target` or more.

    Where the LP's certified bound falls short, one column that the LP leaves open is set to 0 and to 1,
    and both halves are asked, and so on. Each half is closed by a bound from duals in integers, or by a
    sum of rows that nothing in it can satisfy. So nothing of the answer yes rests on floats. The answer
    no says only that it was not shown.
    """
    waiting: list[dict[int, int]] = [{}]
    try:
        for _ in range(MOST_PARTS):
            if not waiting:
                return True
            fixed = waiting.pop()
            try:
                relaxed = model.solve_relaxed(watch, fixed)
            except NothingFits:
                if model.impossible(fixed):
                    continue
                return False
            if relaxed is None:
                return False
            if relaxed.bound >= target:
                continue
            undecided = np.abs(relaxed.value_by_column - 0.5)
            column = int(np.argmin(undecided))
            if undecided[column] > 0.5 - OPEN:
                return False
            waiting += [{**fixed, column: 0}, {**fixed, column: 1}]
    except SolverTrouble:
        return False
    return not waiting
