"""Values as numbers: pieces of a text numbered, and Arrow arrays from numpy and back by their buffers.

The convenient ways (``pa.array``, ``pa.scalar``, ``to_numpy``) import pandas where it is installed,
which takes longer than reading a file does. Arrow itself is loaded where it is used: where values are
few it is quicker to do without.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

Codes = NDArray[np.int32]
Places = NDArray[np.int64]
Flags = NDArray[np.bool_]
Bytes = NDArray[np.uint8]

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


@dataclass(frozen=True)
class Pieces:
    """Distinct values and, for each piece of the text in order, the number of its value."""

    values: list[str]
    code_of_piece: Codes


def number_pieces(text_by_byte: Bytes, length_of_piece: Places) -> Pieces:
    """Number the pieces that lie back to back in `text_by_byte` and have these lengths in bytes."""
    offsets = np.zeros(len(length_of_piece) + 1, dtype=np.int64)
    np.cumsum(length_of_piece, out=offsets[1:])
    if len(length_of_piece) <= FEW:
        content, found = text_by_byte.tobytes(), dict[bytes, int]()
        pieces = (content[start:end] for start, end in pairwise(offsets.tolist()))
        few = [found.setdefault(piece, len(found)) for piece in pieces]
        return Pieces([piece.decode() for piece in found], np.array(few, dtype=np.int32))
    import pyarrow as pa

    large = int(offsets[-1]) >= 2**31
    kind = pa.large_string() if large else pa.string()
    if not large:
        offsets = offsets.astype(np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(text_by_byte))]
    encoded = pa.Array.from_buffers(kind, len(length_of_piece), buffers).dictionary_encode()
    codes = numpy_integers(encoded.indices).astype(np.int32)
    return Pieces(encoded.dictionary.to_pylist(), codes)


def number_strings(values: list[str]) -> Pieces:
    """Number values that are Python strings already."""
    numbers: dict[str, int] = {}
    codes = np.fromiter(
        (numbers.setdefault(value, len(numbers)) for value in values),
        dtype=np.int32,
        count=len(values),
    )
    return Pieces(list(numbers), codes)
