"""The lowest set bit of a word, as one machine instruction."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload


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
