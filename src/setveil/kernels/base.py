"""What every kernel and its front need: the one decorator, plain arrays, threads, a way to stop.

A kernel is compiled once for each combination of array types it meets. The fronts therefore hand
it contiguous, writeable arrays of fixed types, so that one compilation serves every caller.

Compiled loops cannot be interrupted. Where a search may run long, its caller gives a question, `Ask`:
it is put while the loops run in other threads, and where it raises, the loops are told by a flag that
they look at now and then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import Any, TypeAlias, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def jit(function: Kernel) -> Kernel:
    """Compile `function` with numba; ``function.py_func`` stays the plain Python twin."""
    compiled: Any = numba.njit(cache=True, nogil=True)(function)
    if compiled is function:  # NUMBA_DISABLE_JIT
        return function
    find_template, unliteral = compiled.get_call_template, cast(Any, types).unliteral

    def find_plain(args: Any, kwargs: Any) -> Any:
        # To numba a constant has a type of its own, for which it would compile the kernel anew.
        return find_template([unliteral(arg) for arg in args], kwargs)

    compiled.get_call_template = find_plain
    return cast(Kernel, compiled)


def inlined(function: Kernel) -> Kernel:
    """Compile a part of kernels into each of them: a call would cost more than what it does."""
    return cast(Kernel, numba.njit(nogil=True, forceinline=True)(function))


Ids: TypeAlias = npt.NDArray[np.int32]
Counts: TypeAlias = npt.NDArray[np.int64]
Words: TypeAlias = npt.NDArray[np.uint64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Reals: TypeAlias = npt.NDArray[np.float64]
Stop: TypeAlias = npt.NDArray[np.uint8]
"""One number: above 0, loops that look at it return at once with whatever they have."""
Ask: TypeAlias = Callable[[], None]
"""Called now and then while loops run; what it raises ends the work."""

_SECONDS_BETWEEN_LOOKS = 0.1
_PARTS_PER_THREAD = 16
_LEAST_PER_PART = 64

Task = TypeVar("Task")
Result = TypeVar("Result")


def plain(array: npt.ArrayLike, dtype: type[np.generic]) -> npt.NDArray[Any]:
    """Return `array` contiguous and of type `dtype`; it is copied only where it must be."""
    return np.require(array, dtype=dtype, requirements=["C", "A", "W"])


def new_stop() -> Stop:
    """Return a flag that is not set."""
    return np.zeros(1, np.uint8)


def in_threads(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    threads: int,
    ask: Ask | None = None,
    stop: Stop | None = None,
) -> list[Result]:
    """Return ``[function(task) for task in tasks]``, computed by up to `threads` threads.

    With `ask`, this thread only waits and asks. Where that raises, or a task does, `stop` is set, tasks
    not begun are dropped, and the error is passed on when those that run have returned.
    """
    if ask is None:
        if threads <= 1 or len(tasks) <= 1:
            return [function(task) for task in tasks]
        with ThreadPoolExecutor(max_workers=min(threads, len(tasks))) as pool:
            return list(pool.map(function, tasks))
    with ThreadPoolExecutor(max_workers=max(1, min(threads, len(tasks)))) as pool:
        futures = [pool.submit(function, task) for task in tasks]
        try:
            running = set(futures)
            ask()
            while running:
                done, running = wait(running, _SECONDS_BETWEEN_LOOKS, FIRST_EXCEPTION)
                for future in done:
                    future.result()
                ask()
        except BaseException:
            if stop is not None:
                stop[0] = 1
            for future in futures:
                future.cancel()
            raise
        return [future.result() for future in futures]


def even_parts(length: int, parts: int, least: int = 1) -> list[tuple[int, int]]:
    """Return up to about `parts` ranges (low, high) of `least` or more that cover a length."""
    step = max(least, -(-length // max(1, parts)))
    return [(low, min(low + step, length)) for low in range(0, length, step)]


def in_parts(work: Callable[[int, int], object], length: int, threads: int) -> None:
    """Call `work` with ranges (low, high) that cover a length, in threads where that pays."""
    parts = even_parts(length, threads * _PARTS_PER_THREAD, _LEAST_PER_PART)
    in_threads(lambda part: work(*part), parts, threads)


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


def lowest_bit(word: np.uint64) -> int:
    """Return the place of the lowest bit set in `word`, which must not be 0."""
    value = int(word)
    return (value & -value).bit_length() - 1


@intrinsic
def _trailing_zeros(_context: Any, word: Any) -> Any:
    def emit(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], cgutils.true_bit)

    return types.int64(word), emit


@overload(lowest_bit)
def _lowest_bit_compiled(word: Any) -> Any:
    # numba wants the same annotations here and there
    def compiled(word: Any) -> Any:
        return _trailing_zeros(word)  # type: ignore[call-arg]

    return compiled if word == types.uint64 else None


@jit
def row_holds(indptr: Counts, items: Ids, row: int, item: int) -> bool:
    """Tell whether a row holds an item, by bisection."""
    low, high = indptr[row], indptr[row + 1]
    while low < high:
        middle = (low + high) >> 1
        if items[middle] < item:
            low = middle + 1
        else:
            high = middle
    return bool(low < indptr[row + 1] and items[low] == item)


@jit
def grown(values: npt.NDArray[Any], used: int, needed: int) -> npt.NDArray[Any]:
    """Return `values`, or where they are fewer than `needed` a larger copy of the first `used`."""
    if needed <= values.size:
        return values
    # Plain loops compile in a fraction of the time that slices take.
    larger = np.empty(max(needed, 2 * values.size), values.dtype)
    for i in range(used):
        larger[i] = values[i]
    return larger


@jit
def grown_lines(lines: npt.NDArray[Any], used: int, needed: int) -> npt.NDArray[Any]:
    """Do the same for lines of several numbers."""
    if needed <= lines.shape[0]:
        return lines
    larger = np.empty((max(needed, 2 * lines.shape[0]), lines.shape[1]), lines.dtype)
    for line in range(used):
        for i in range(lines.shape[1]):
            larger[line, i] = lines[line, i]
    return larger
