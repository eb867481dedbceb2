"""The one decorator of all kernels: compiled, cached on disk, and free of the interpreter's lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def jit(function: Kernel) -> Kernel:
    """Compile `function` with numba; ``function.py_func`` stays the plain Python twin."""
    return cast(Kernel, numba.njit(cache=True, nogil=True)(function))
