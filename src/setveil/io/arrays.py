"""Arrow arrays from numpy and Python values and back, by their buffers.

The convenient ways (``pa.array``, ``pa.scalar``, ``to_numpy``) import pandas where it is installed,
which takes longer than reading a file does. Arrow itself is loaded where it is used: where values are
few it is quicker to do without.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

FEW = 200_000
"""So many values are done in plain Python before Arrow and its functions are loaded."""


def arrow_integers(values: NDArray[Any]) -> pa.Array:
    """Return an Arrow array of the same integers."""
    import pyarrow as pa

    plain = np.ascontiguousarray(values)
    kind = pa.from_numpy_dtype(plain.dtype)
    return pa.Array.from_buffers(kind, len(plain), [None, pa.py_buffer(plain)])


def arrow_texts(values: Sequence[str]) -> pa.Array:
    """Return an Arrow array of the same texts."""
    import pyarrow as pa

    pieces = [value.encode() for value in values]
    offsets = np.fromiter(accumulate(map(len, pieces), initial=0), np.int64, len(pieces) + 1)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(pieces))]
    return pa.Array.from_buffers(pa.large_string(), len(pieces), buffers)


def arrow_text(value: str) -> pa.Scalar:
    """Return an Arrow scalar of the same text."""
    return arrow_texts([value])[0]


def numpy_integers(array: pa.Array, *, null: int = -1) -> NDArray[np.int64]:
    """Return the integers of an Arrow array, with `null` where there is none."""
    validity, data = array.buffers()
    kind = np.dtype(str(array.type))  # both say int32, uint8 and so on
    values = np.frombuffer(data, dtype=kind, count=array.offset + len(array))[array.offset :]
    values = values.astype(np.int64)
    if array.null_count:
        bits = np.unpackbits(np.frombuffer(validity, dtype=np.uint8), bitorder="little")
        values[bits[array.offset : array.offset + len(array)] == 0] = null
    return values
