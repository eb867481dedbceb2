"""The audit's own decorator for compiled loops, so that it shares none with the methods it judges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba import types
from numpy.typing import NDArray

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def jit(function: Kernel) -> Kernel:
    """Compile `function`, keep the result on disk, release the interpreter's lock while it runs."""
    compiled: Any = numba.njit(cache=True, nogil=True)(function)
    if compiled is function:  # NUMBA_DISABLE_JIT
        return function
    ask_for, unliteral = compiled.get_call_template, cast(Any, types).unliteral

    def without_constants(arguments: Any, keywords: Any) -> Any:
        # To numba each constant is a type, for which it would compile the function once more.
        return ask_for([unliteral(argument) for argument in arguments], keywords)

    compiled.get_call_template = without_constants
    return cast(Kernel, compiled)


@jit
def sort_between(values: NDArray[np.int32], begin: int, end: int) -> None:
    """Sort ``values[begin:end]`` in place; numba's own sort takes a second to compile."""
    stride = 1
    while 12 * stride < end - begin:
        stride = 3 * stride + 1
    while stride > 0:
        for place in range(begin + stride, end):
            value, free = values[place], place
            while free - stride >= begin and values[free - stride] > value:
                values[free] = values[free - stride]
                free -= stride
            values[free] = value
        stride //= 3


@jit
def bits_set(word: np.uint64) -> np.int64:
    """Return how many bits of a 64-bit word are set (the compiler knows this idiom)."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))
