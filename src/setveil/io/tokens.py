"""Byte ranges of a text as numbered values, without a Python loop over the values.

A separator mask goes in, and out come the distinct pieces between separators and the number of each
piece in order. FIMI and CSV both split this way.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .arrays import FEW, numpy_integers

Codes = NDArray[np.int32]
Places = NDArray[np.int64]
Flags = NDArray[np.bool_]
Bytes = NDArray[np.uint8]


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
