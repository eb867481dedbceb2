"""The audit's own decorator for compiled loops, so that it shares none with the methods it judges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def jit(function: Kernel) -> Kernel:
    """Compile `function`, keep the result on disk, release the interpreter's lock while it runs."""
    return cast(Kernel, numba.njit(cache=True, nogil=True)(function))


@jit
def bits_set(word: np.uint64) -> np.int64:
    """Return how many bits of a 64-bit word are set (the compiler knows this idiom)."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))
