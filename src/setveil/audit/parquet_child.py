"""The program that opens a release's Parquet file: the file on stdin, its rows as Arrow on stdout.

A damaged or forged file can make the native reader abort or allocate without end, and no ``except``
catches that. So it happens in a process of its own, with limited memory; the audit sees it fail and
refuses the file. The checks that need the footer are made here too. Imports nothing of this package.

A fault that it can name leaves as one JSON object on standard error and the exit code `NAMED_FAULT`.
"""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    import pyarrow.parquet as pq

NAMED_FAULT = 3
BASE_BYTES = 2 * 2**30
"""Address space that the libraries themselves may take; most of it is never touched."""

FREE_VALUES = 2**24
VALUES_PER_BYTE = 256
"""Beyond so many values a file must not hold more of them than this for each of its bytes."""

WRITER = re.compile(r"parquet-cpp-arrow version [0-9.]+(-SNAPSHOT)?")
UNREADABLE = "the file is not a readable Parquet file."

STRICT = (
    "This says nothing of the rows, and need be no forgery; but what cannot be checked could hide "
    "something. Have the release published anew, with pyarrow 18 or newer, or in another format, such "
    "as jsonl."
)
"""Said where a file may just be of another writer: the room is refused, not the release doubted."""


def main() -> None:
    """Read standard input; the only argument is how many bytes the rows may take."""
    largest = int(sys.argv[1])
    content = sys.stdin.buffer.read()
    _limit_memory(BASE_BYTES + 3 * len(content))
    import pyarrow as pa
    import pyarrow.parquet as pq

    pa.set_cpu_count(1)
    try:
        parquet = pq.ParquetFile(pa.BufferReader(content), page_checksum_verification=True)
        announced = checked_footer(parquet, content)
        if announced > largest:
            leave("the table is too large.", too_large=True)
        _limit_memory(BASE_BYTES + 3 * len(content) + 4 * announced)
        table = parquet.read(use_threads=False)
        table.validate(full=True)
        if table.nbytes > largest:
            leave("the table is too large.", too_large=True)
        if table.num_rows != parquet.metadata.num_rows:
            leave(UNREADABLE)
        column = table.column("items").combine_chunks()
        if column.null_count or column.values.null_count:
            leave("a row or a label is missing.")
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
    except (pa.ArrowMemoryError, MemoryError):
        leave("the table needs more memory than it announces.", too_large=True)
    except (pa.ArrowException, OSError, AttributeError, TypeError, ValueError, KeyError):
        leave(UNREADABLE)
    sys.stdout.buffer.write(sink.getvalue())
    sys.stdout.buffer.flush()


def checked_footer(parquet: pq.ParquetFile, content: bytes) -> int:
    """Return how many bytes the footer announces; leave if it says anything a release may not say."""
    import pyarrow as pa

    metadata, schema = parquet.metadata, parquet.schema_arrow
    if schema.names != ["items"] or not (
        pa.types.is_list(schema.types[0]) and pa.types.is_string(schema.types[0].value_type)
    ):
        leave("there must be one column, items, a list of strings.")
    if schema.metadata or schema.field(0).metadata or schema.types[0].value_field.metadata:
        leave("the schema carries metadata.")
    if set(metadata.metadata or {}) - {b"ARROW:schema"}:
        what = "the file carries metadata of its own, as other writers put them there."
        leave(what, remedy=STRICT)
    if not WRITER.fullmatch(metadata.created_by or ""):
        leave(
            "the file names another writer than pyarrow, and such a name is free text.", remedy=STRICT
        )
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    # Magic, pages, footer, its length, magic: nothing may lie between them.
    pages = sum(group.column(0).total_compressed_size for group in groups)
    footer = int.from_bytes(content[-8:-4], "little")
    if 4 + pages + footer + 8 != len(content):
        spare = len(content) - 4 - pages - footer - 8
        what = f"the file holds {spare:,} bytes that belong to no column, as other writers leave them."
        leave(what, remedy=STRICT)
    values = sum(max(group.column(0).num_values, group.num_rows, 0) for group in groups)
    if max(values, metadata.num_rows) > max(FREE_VALUES, VALUES_PER_BYTE * len(content)):
        leave(f"the file announces {values:,} values in {len(content):,} bytes.", too_large=True)
    return int(sum(max(group.total_byte_size, 0) for group in groups) + 16 * values)


def leave(what: str, *, remedy: str = "", too_large: bool = False) -> NoReturn:
    """End the process with a fault that has a name, and a remedy if it has one of its own."""
    json.dump({"what": what, "remedy": remedy, "too_large": too_large}, sys.stderr)
    sys.stderr.flush()
    raise SystemExit(NAMED_FAULT)


def _limit_memory(size: int) -> None:
    try:
        import resource
    except ImportError:  # pragma: no cover - systems without such limits
        return
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    soft = size if hard == resource.RLIM_INFINITY else min(size, hard)
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()
