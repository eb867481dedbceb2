"""What every kernel's front needs: arrays of one plain type, and a pool of threads.

A kernel is compiled once for each combination of array types it meets. The fronts therefore hand
it contiguous, writeable arrays of fixed types, so that one compilation serves every caller.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

Ids: TypeAlias = npt.NDArray[np.int32]
Counts: TypeAlias = npt.NDArray[np.int64]
Words: TypeAlias = npt.NDArray[np.uint64]

Task = TypeVar("Task")
Result = TypeVar("Result")


def plain(array: npt.ArrayLike, dtype: type[np.generic]) -> npt.NDArray[Any]:
    """Return `array` contiguous and of type `dtype`; it is copied only where it must be."""
    return np.require(array, dtype=dtype, requirements=["C", "A", "W"])


def in_threads(function: Callable[[Task], Result], tasks: Sequence[Task], threads: int) -> list[Result]:
    """Return ``[function(task) for task in tasks]``, computed by up to `threads` threads."""
    if threads <= 1 or len(tasks) <= 1:
        return [function(task) for task in tasks]
    with ThreadPoolExecutor(max_workers=min(threads, len(tasks))) as pool:
        return list(pool.map(function, tasks))


def even_parts(length: int, parts: int, least: int = 1) -> list[tuple[int, int]]:
    """Return up to about `parts` ranges (low, high) of `least` or more that cover a length."""
    step = max(least, -(-length // max(1, parts)))
    return [(low, min(low + step, length)) for low in range(0, length, step)]
