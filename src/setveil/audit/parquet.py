"""Rows of a release's Parquet file, unpacked by `parquet_child` so that no file can stop the audit.

A small file can hold very many rows. So they stay in flat arrays here; only labels become texts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import ResourceLimit
from . import parquet_child
from ._jit import jit
from .published import Published, shortened
from .spelling import REMEDY, label_fault, refuse

if TYPE_CHECKING:
    import pyarrow as pa

_ENVIRONMENT = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "2", "OMP_NUM_THREADS": "1"}


def read_parquet(content: bytes, file: str, *, largest: int) -> Published:
    """Return the published rows, which may take at most `largest` bytes, or raise `DataError`."""
    import pyarrow as pa

    # -P: the folder of the program, whose modules are ours, must not shadow anything.
    done = subprocess.run(
        [sys.executable, "-P", parquet_child.__file__, str(largest)],
        input=content,
        capture_output=True,
        env=os.environ | _ENVIRONMENT,
        check=False,
    )
    if done.returncode == parquet_child.NAMED_FAULT:
        told = json.loads(done.stderr)
        if told["too_large"]:
            remedy = "Publish it in another format, such as jsonl."
            raise ResourceLimit(told["what"], remedy, code="too-large", file=file)
        raise refuse(told["what"], file, code="parquet", remedy=told["remedy"] or REMEDY)
    if done.returncode == 0:
        try:
            table = pa.ipc.open_stream(pa.py_buffer(done.stdout)).read_all()
            table.validate(full=True)
            return _published(table.column("items"), file)
        except (pa.ArrowException, UnicodeDecodeError):
            pass
    raise refuse(parquet_child.UNREADABLE, file, code="parquet")


def _published(column: pa.ChunkedArray, file: str) -> Published:
    """Return the rows of a column of lists, checked to be sets in canonical order."""
    import pyarrow as pa

    if not len(column):
        raise refuse("the file holds no records.", file, code="no-records")
    rows = pa.concat_arrays(column.chunks)
    indptr = rows.offsets.to_numpy().astype(np.int64)
    indptr -= indptr[0]
    coded = rows.flatten().dictionary_encode()
    seen: list[str] = coded.dictionary.to_pylist()
    code_of_value = coded.indices.to_numpy()
    order = sorted(range(len(seen)), key=seen.__getitem__)
    rank_of_code = np.empty(len(seen), np.int32)
    rank_of_code[order] = np.arange(len(seen), dtype=np.int32)
    for code, label in enumerate(seen):
        fault = label_fault(label)
        if fault is not None:
            place = int(np.argmax(code_of_value == code))
            row = int(np.searchsorted(indptr, place, side="right"))
            raise refuse(fault, file, row, code="parquet" if label else "empty-label")
    items = rank_of_code[code_of_value] if len(seen) else np.empty(0, np.int32)
    labels = tuple(seen[code] for code in order)
    row, place = _disorder(indptr, items)
    if place >= 0 and items[place] == items[place - 1]:
        what = f"the row repeats the label {shortened(labels[items[place]])}."
        raise refuse(what, file, row + 1, code="repeated-label")
    if place >= 0:
        what = "the labels of the row are not in canonical order."
        raise refuse(what, file, row + 1, code="label-order")
    if row >= 0:
        raise refuse("the rows are not in canonical order.", file, row + 1, code="row-order")
    return Published(indptr, items, labels)


@jit
def _disorder(indptr: NDArray[np.int64], items: NDArray[np.int32]) -> tuple[int, int]:
    """Return the first row out of order, and the place of a label out of order in it.

    The place is -1 where the labels rise but the row belongs before the one above it; both are -1
    where everything is in order.
    """
    for row in range(len(indptr) - 1):
        begin, end = indptr[row], indptr[row + 1]
        for place in range(begin + 1, end):
            if items[place] <= items[place - 1]:
                return row, place
        if row == 0:
            continue
        above = indptr[row - 1]
        common = min(end - begin, begin - above)
        offset = 0
        while offset < common and items[above + offset] == items[begin + offset]:
            offset += 1
        shorter = offset == common and end - begin < begin - above
        if shorter or (offset < common and items[begin + offset] < items[above + offset]):
            return row, -1
    return -1, -1
