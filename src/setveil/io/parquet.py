"""Parquet files: a column of lists of strings, or columns of id and item, or one-hot columns.

The file is unpacked by `parquet_child`, a process with limited memory, so that a damaged or forged file
ends in an error and never in a crash.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

from ..errors import DataError, ResourceLimit
from ..model.layout import Layout
from . import parquet_child
from .draft import Draft
from .source import Source

if TYPE_CHECKING:
    import pyarrow as pa

_ENVIRONMENT = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "2", "OMP_NUM_THREADS": "1"}


def read_parquet(
    source: Source,
    *,
    id_column: str | None,
    item_column: str | None,
    id_policy: str,
    max_bytes: int,
) -> Draft:
    """Return the draft of a Parquet file."""
    from .arrow import draft_of_table

    return draft_of_table(
        parquet_table(source, max_bytes=max_bytes),
        file=source.name,
        layout=Layout("parquet"),
        id_column=id_column,
        item_column=item_column,
        id_policy=id_policy,
    )


def parquet_table(source: Source, *, max_bytes: int) -> pa.Table:
    """Return the table in a Parquet file, within the limits."""
    import pyarrow as pa

    if source.gzip:
        raise DataError(
            "a Parquet file inside gzip.",
            "Unpack it; Parquet compresses by itself.",
            code="gzip-mismatch",
            file=source.name,
        )
    # -P: the folder of the program, whose modules are ours, must not shadow anything.
    done = subprocess.run(
        [sys.executable, "-P", parquet_child.__file__, str(max_bytes)],
        input=source.data,
        capture_output=True,
        env=os.environ | _ENVIRONMENT,
        check=False,
    )
    if done.returncode == parquet_child.NAMED_FAULT:
        told = json.loads(done.stderr)
        kind = ResourceLimit if told["kind"] == "limit" else DataError
        raise kind(told["what"], told["remedy"], code=told["code"], file=source.name)
    table = None
    if done.returncode == 0:
        try:
            table = pa.ipc.open_stream(pa.py_buffer(done.stdout)).read_all()
            table.validate(full=True)
        except pa.ArrowException:
            table = None
    if table is None:
        raise DataError(
            "not a whole Parquet file (its reader broke down).",
            "Write or copy it again.",
            code="parquet-damaged",
            file=source.name,
        )
    if table.num_rows == 0:
        raise DataError(
            "contains no records.",
            "Check that this is the right file.",
            code="no-records",
            file=source.name,
        )
    return table
