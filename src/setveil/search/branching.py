"""A second opinion on what the integer program's solver claims, shown in integers.

`holds` asks whether no solution of the clauses costs less than a target. Where the LP's certified bound
falls short, one column that the LP leaves open is set to 0 and to 1, and both halves are asked, and so
on. Each half is closed by a bound from duals in integers, or by a sum of rows that nothing in it can
satisfy (`CutModel.certified`, `CutModel.impossible`). So nothing of the answer yes rests on floats. The
answer no says only that it was not shown.
"""

from __future__ import annotations

import numpy as np

from ..progress import Watch
from .cut_model import CutModel
from .solver import NothingFits, SolverTrouble

MOST_PARTS = 60
"""How many parts are looked at; programs for releases mostly need a handful."""
OPEN = 1e-6
"""A value this near 0 or 1 is not open."""


def holds(model: CutModel, target: int, watch: Watch) -> bool:
    """Tell whether it was shown that every solution costs `target` or more."""
    try:
        return _holds(model, target, watch)
    except SolverTrouble:
        return False


def _holds(model: CutModel, target: int, watch: Watch) -> bool:
    waiting: list[dict[int, int]] = [{}]
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
    return not waiting
