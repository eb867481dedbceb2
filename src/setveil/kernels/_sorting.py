"""A sort of a short stretch of ids, in place.

Rows are short and nearly sorted as a rule, where insertion beats a general sort; the wider gaps
bound the cost of the few long ones. It also compiles in a fraction of the time of numba's own.
"""

from __future__ import annotations

from ._calls import Ids
from ._jit import jit


@jit
def sort_slice(values: Ids, low: int, high: int) -> None:
    """Sort ``values[low:high]``."""
    gap = 1
    while gap < (high - low) // 12:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(low + gap, high):
            value = values[i]
            j = i - gap
            while j >= low and values[j] > value:
                values[j + gap] = values[j]
                j -= gap
            values[j + gap] = value
        gap //= 3
