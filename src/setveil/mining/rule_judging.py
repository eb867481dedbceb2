"""Which rules stay and which follow from others: the last step of mining negative rules."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..kernels.rule_counts import Found, mark_covered
from ..model.microdata import Microdata
from .rule_conditions import Conditions
from .rule_discoveries import believed, log_p_value


def believed_rules(
    data: Microdata,
    conditions: Conditions,
    found: Found,
    counts: Sequence[Fraction],
    with_value: Sequence[Fraction],
    *,
    rate: Fraction,
    control: str,
    exact: bool,
) -> tuple[NDArray[np.int64], tuple[Fraction | None, ...]]:
    """Return which rules pass the control or follow from those that do, and from where on all are told.

    The second part is that of `model.rules.Completeness`. Where rules may have exceptions (not
    `exact`), their chance does not follow from their conditions alone.
    """
    length = (found.conditions >= 0).sum(axis=1)
    free = {"none": len(data.quasi), "longer": 1, "all": 0}[control]
    judged = length > free
    longest = found.conditions.shape[1]
    complete: list[Fraction | None] = [rate if size <= free else None for size in range(1, longest + 1)]
    if not judged.any():
        for size in range(free + 1, longest + 1):
            complete[size - 1] = _bound(rate, 1, int(found.tests[size]), exact)
        return np.arange(len(found.values)), tuple(complete)
    shares = (data.count_by_value / len(data)).tolist()
    log_p = np.array(
        [
            log_p_value(shares[value], counts[rule], with_value[rule])
            for rule, value in enumerate(found.values.tolist())
        ]
    )
    # What a stronger rule implies stands or falls with it; rules that need not pass are strongest.
    strength = np.where(judged, log_p, -np.inf)
    leading = ~covered_rules(conditions, found.conditions, found.values, rank=strength)
    passed = ~judged
    for size in range(free + 1, longest + 1):
        family = judged & leading & (length == size)
        tests = int(found.tests[size])
        believable = family & (log_p <= believed(log_p[family], tests, rate))
        passed |= believable
        n_believed = int(believable.sum())
        # One more rule that holds would be told up to here, unless it took the place of some others.
        bound = _bound(rate, n_believed + 1, tests, exact)
        if bound is not None and (family & ~believable & (log_p <= math.log(bound))).any():
            bound = _bound(rate, n_believed, tests, exact)
        complete[size - 1] = bound
    follows = covered_rules(
        conditions, found.conditions, found.values, rank=np.where(passed, 0, 1), by=passed
    )
    return np.flatnonzero(passed | follows), tuple(complete)


def _bound(rate: Fraction, rank: int, tests: int, exact: bool) -> Fraction | None:
    return min(rate, rate * rank / tests) if rank and tests and exact else None


def covered_rules(
    conditions: Conditions,
    lines: NDArray[np.int32],
    values: NDArray[np.int32],
    *,
    rank: NDArray[np.float64] | NDArray[np.int64] | None = None,
    by: NDArray[np.bool_] | None = None,
) -> NDArray[np.bool_]:
    """Tell which rules follow from a more general one (of those in `by`) that has no higher rank."""
    present = lines >= 0
    depth = np.where(present, np.append(conditions.depth, 0)[lines], 0).sum(axis=1)
    order = np.lexsort(
        (depth, present.sum(axis=1), np.zeros(len(lines)) if rank is None else rank, values)
    )
    return mark_covered(
        lines,
        values,
        np.ones(len(lines), dtype=np.bool_) if by is None else by,
        order.astype(np.int64),
        conditions.coverer_start,
        conditions.coverers,
    )
