"""Which rules stay and which follow from others: the last step of mining negative rules."""

from __future__ import annotations

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
) -> NDArray[np.int64]:
    """Return the numbers of the rules that pass the control, and of those that follow from them."""
    length = (found.conditions >= 0).sum(axis=1)
    judged = length > {"none": len(data.quasi), "longer": 1, "all": 0}[control]
    if not judged.any():
        return np.arange(len(found.values))
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
    for size in range(1, int(length.max()) + 1):
        family = judged & leading & (length == size)
        passed |= family & (log_p <= believed(log_p[family], int(found.tests[size]), rate))
    follows = covered_rules(
        conditions, found.conditions, found.values, rank=np.where(passed, 0, 1), by=passed
    )
    numbers: NDArray[np.int64] = np.flatnonzero(passed | follows)
    return numbers


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
