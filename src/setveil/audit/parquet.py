"""Rows of a release's Parquet file, unpacked by `parquet_child` so that no file can stop the audit."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from ..errors import ResourceLimit
from . import parquet_child
from .spelling import refuse

_ENVIRONMENT = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "2", "OMP_NUM_THREADS": "1"}


def read_parquet(content: bytes, file: str, *, largest: int) -> list[list[str]]:
    """Return the rows of labels, or raise `DataError`.

    Parameters
    ----------
    content
        The bytes of the file.
    file
        The name to use in messages.
    largest
        The most bytes that the rows may take.
    """
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
            raise ResourceLimit(told["what"], code="too-large", file=file)
        raise refuse(told["what"], file, code="parquet")
    rows: list[list[str]] | None = None
    if done.returncode == 0:
        try:
            table = pa.ipc.open_stream(pa.py_buffer(done.stdout)).read_all()
            table.validate(full=True)
            rows = table.column("items").to_pylist()
        except (pa.ArrowException, UnicodeDecodeError):
            rows = None
    if rows is None:
        raise refuse(parquet_child.UNREADABLE, file, code="parquet")
    if any("\0" in label for row in rows for label in row):
        raise refuse("a label holds a NUL character.", file, code="parquet")
    return rows
