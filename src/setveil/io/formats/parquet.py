"""Parquet files: a column of lists of strings, or columns of id and item, or one-hot columns.

The file is unpacked by `parquet_child`, a process with limited memory, so that a damaged or forged file
ends in an error and never in a crash.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...errors import DataError, ResourceLimit
from ...model.layout import Layout
from ...model.transactions import Transactions
from ..columns import Draft, no_records
from ..source import Source
from . import parquet_child
from .base import Format, Reading

if TYPE_CHECKING:
    import pyarrow as pa

MAGIC = b"PAR1"
_ENVIRONMENT = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "2", "OMP_NUM_THREADS": "1"}


class Parquet(Format):
    """One column of lists; id and item, or one-hot columns are read too."""

    key = "parquet"
    suffix = ".parquet"
    options = frozenset({"id_column", "item_column", "id_policy", "counts"})
    is_packed = True

    def read(self, reading: Reading) -> Draft:
        from ..frames import draft_of_table
        from ..table import table_of_arrow

        table = parquet_table(reading.source, max_bytes=reading.asked["max_bytes"])
        return draft_of_table(
            table_of_arrow(table, reading.source.name), reading.asked, Layout("parquet")
        )

    def blocks(self, transactions: Transactions, _layout: Layout) -> Iterator[bytes]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        from ..frames import list_array

        rows = list_array(transactions)
        table = pa.Table.from_arrays(
            [rows], schema=pa.schema([pa.field("items", rows.type, nullable=False)])
        )
        sink = pa.BufferOutputStream()
        pq.write_table(
            table,
            sink,
            version="2.6",
            data_page_version="1.0",
            compression="snappy",
            use_dictionary=True,
            write_statistics=False,
            store_schema=False,
            row_group_size=1 << 20,
        )
        yield sink.getvalue()


def parquet_table(source: Source, *, max_bytes: int) -> pa.Table:
    """Return the table in a Parquet file, within the limits."""
    import subprocess

    import pyarrow as pa

    if source.gzip:
        what, remedy = "a Parquet file inside gzip.", "Unpack it; Parquet compresses by itself."
        raise DataError(what, remedy, code="gzip-mismatch", file=source.name)
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
        what, remedy = "not a whole Parquet file (its reader broke down).", "Write or copy it again."
        raise DataError(what, remedy, code="parquet-damaged", file=source.name)
    if table.num_rows == 0:
        raise no_records(source.name)
    return table
