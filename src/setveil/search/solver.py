"""HiGHS, taken as something that may fail.

`Solver` holds one program: least cost over columns between 0 and 1, under rows "sum >= limit". It
answers with numbers or raises `SolverTrouble`, whatever happened inside: an exception, a status that is
no answer, a number that is none. The numbers are floats and no proof of anything; `search.cut_model`
makes integers of them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import highspy
import numpy as np
from numpy.typing import NDArray

from ..progress import Watch

Values = NDArray[np.float64]

CLOCKS_APART = 0.5
"""By how many seconds the solver may think that time is up before it is."""
_OVER = (highspy.HighsModelStatus.kTimeLimit, highspy.HighsModelStatus.kInterrupt)


class SolverTrouble(Exception):
    """The solver failed, or contradicts itself; the text says how."""


class NothingFits(SolverTrouble):
    """The solver says that nothing satisfies all rows. Who knows better takes it for trouble."""


@dataclass(frozen=True)
class Row:
    """The sum of the columns of `plus` less that of `minus` is at least `limit`."""

    plus: Sequence[int]
    minus: Sequence[int]
    limit: int


class Solver:
    """One program over as many columns as there are costs; `at_length` looks for good solutions."""

    def __init__(self, costs: Sequence[int], *, at_length: bool) -> None:
        self._n_columns = n = len(costs)
        self._integral = False
        self._fixed: dict[int, int] = {}
        empty = np.empty(0, dtype=np.int32)
        with _in_trouble():
            self._highs = highs = highspy.Highs()  # type: ignore[no-untyped-call]
            highs.silent()
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
                highs.setOptionValue(name, value)
            _check(
                highs.addCols(
                    n,
                    np.array(costs, dtype=np.float64),
                    np.zeros(n),
                    np.ones(n),
                    0,
                    empty,
                    empty,
                    np.empty(0),
                )
            )

    def add(self, rows: Sequence[Row]) -> None:
        """Add rows below those that are there."""
        if not rows:
            return
        starts = np.zeros(len(rows), dtype=np.int32)
        index: list[int] = []
        value: list[float] = []
        for place, row in enumerate(rows):
            starts[place] = len(index)
            index += [*row.plus, *row.minus]
            value += [1.0] * len(row.plus) + [-1.0] * len(row.minus)
        with _in_trouble():
            _check(
                self._highs.addRows(
                    len(rows),
                    np.array([float(row.limit) for row in rows]),
                    np.full(len(rows), highspy.kHighsInf),
                    len(index),
                    starts,
                    np.array(index, dtype=np.int32),
                    np.array(value),
                )
            )

    def solve_relaxed(self, watch: Watch) -> tuple[Values, Values] | None:
        """Solve the LP from the last basis; return values by column and duals by row.

        None if time ran out first.
        """
        self._set_integral(False)
        if not self._run(watch):
            return None
        with _in_trouble():
            solution = self._highs.getSolution()
            return (
                _numbers(solution.col_value, self._n_columns),
                _numbers(solution.row_dual, self._highs.getNumRow()),
            )

    def fix(self, value_by_column: Mapping[int, int]) -> None:
        """Hold these columns at their values, and let go of those held before."""
        if value_by_column == self._fixed:
            return
        columns = sorted({*value_by_column, *self._fixed})
        low = [float(value_by_column.get(column, 0)) for column in columns]
        high = [float(value_by_column.get(column, 1)) for column in columns]
        with _in_trouble():
            _check(
                self._highs.changeColsBounds(
                    len(columns), np.array(columns, dtype=np.int32), np.array(low), np.array(high)
                )
            )
        self._fixed = dict(value_by_column)

    def ray(self) -> Values | None:
        """Return factors by row whose sum nothing satisfies, after `NothingFits`, if it has any."""
        with _in_trouble():
            _, there, ray = self._highs.getDualRay()  # type: ignore[attr-defined]
            return _numbers(ray, self._highs.getNumRow()) if there else None

    def basic(self) -> list[int]:
        """Return what the last LP's basis holds: columns, and -1 for the slack of a row."""
        with _in_trouble():
            status, members = self._highs.getBasicVariables()  # type: ignore[attr-defined]
            _check(status)
            return [max(int(member), -1) for member in members]

    def duals_for(self, cost_by_place: Values) -> Values:
        """Return the duals by row for which the members of the basis cost just so much."""
        with _in_trouble():
            status, duals = self._highs.getBasisTransposeSolve(cost_by_place)  # type: ignore[attr-defined]
            _check(status)
            return _numbers(duals, len(cost_by_place))

    def solve_integer(
        self, watch: Watch, start: Values | None, *, gap: float
    ) -> tuple[Values | None, float]:
        """Return values by column (None if time ran out first) and the bound that the solver claims."""
        self._set_integral(True)
        with _in_trouble():
            if start is not None:
                given = highspy.HighsSolution()
                given.col_value = start.tolist()
                self._highs.setSolution(given)
            self._highs.setOptionValue("mip_abs_gap", gap + 0.9)
        solved = self._run(watch)
        with _in_trouble():
            bound = float(self._highs.getInfo().mip_dual_bound)
            if not solved:
                return None, bound if np.isfinite(bound) else -np.inf
            if not np.isfinite(bound):
                raise SolverTrouble("it claims a solution without a bound")
            return _numbers(self._highs.getSolution().col_value, self._n_columns), bound

    def _run(self, watch: Watch) -> bool:
        """Run within the time limit; False where it or a request to stop cut the run."""
        highs, limit = self._highs, watch.remaining

        def stop_when_asked(event: highspy.HighsCallbackEvent) -> None:
            if watch.stop.is_set() or watch.expired:
                event.interrupt()

        with _in_trouble():
            highs.setOptionValue(
                "time_limit",
                highspy.kHighsInf if limit == float("inf") else highs.getRunTime() + max(limit, 0.01),
            )
            callback = highs.cbMipInterrupt if self._integral else highs.cbSimplexInterrupt
            callback.subscribe(stop_when_asked)
            try:
                highs.run()
            finally:
                callback.unsubscribe(stop_when_asked)
            status = highs.getModelStatus()
        watch.tick("solving")
        if status == highspy.HighsModelStatus.kOptimal:
            return True
        if watch.expired or (status in _OVER and watch.remaining < CLOCKS_APART):
            return False
        if status == highspy.HighsModelStatus.kInfeasible:
            raise NothingFits("it says that nothing satisfies all rows")
        with _in_trouble():
            raise SolverTrouble(f"it stopped with {highs.modelStatusToString(status)!r}")

    def _set_integral(self, integral: bool) -> None:
        if integral == self._integral:
            return
        kind = highspy.HighsVarType.kInteger if integral else highspy.HighsVarType.kContinuous
        n = self._n_columns
        with _in_trouble():
            _check(
                self._highs.changeColsIntegrality(
                    n, np.arange(n, dtype=np.int32), np.full(n, int(kind), dtype=np.uint8)
                )
            )
        self._integral = integral


@contextlib.contextmanager
def _in_trouble() -> Iterator[None]:
    """Turn whatever the solver raises into `SolverTrouble`."""
    try:
        yield
    except SolverTrouble:
        raise
    except Exception as error:
        raise SolverTrouble(f"it raised {type(error).__name__}") from error


def _check(status: highspy.HighsStatus) -> None:
    if status == highspy.HighsStatus.kError:
        raise SolverTrouble("it refused the program")


def _numbers(given: Sequence[float], expected: int) -> Values:
    numbers = np.array(given, dtype=np.float64)
    if numbers.shape != (expected,) or not np.isfinite(numbers).all():
        raise SolverTrouble("its answer holds what is no number")
    return numbers
