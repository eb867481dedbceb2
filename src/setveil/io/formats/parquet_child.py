"""The program that unpacks a Parquet file: Parquet on stdin, an Arrow stream on stdout.

It runs as a process of its own, because a forged or damaged file can make the native reader allocate
without end or abort, and neither can be caught inside a process. Memory is limited first to what a
footer needs, then to what the checked footer announces. It imports nothing of this package.

A fault that it can name leaves as one JSON object on standard error and the exit code `NAMED_FAULT`.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

NAMED_FAULT = 3
BASE_BYTES = 2 << 30
MAX_VALUES_PER_BYTE = 4096
"""Run-length coding can hold many equal values in few bytes; beyond this a footer is not believed."""
FREE_VALUES = 1 << 24
VALUES_PER_BYTE = 256
"""Beyond so many values a file must not hold more of them than this for each of its bytes."""
BYTES_PER_VALUE = 16
"""What a value takes at least once it is read: its row, its code, its place."""


def main() -> None:
    """Read the file on standard input within `max_bytes`, the only argument."""
    max_bytes = int(sys.argv[1])
    data = sys.stdin.buffer.read()
    limit_memory(BASE_BYTES + 2 * len(data))
    import pyarrow as pa
    import pyarrow.parquet as pq

    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    try:
        file = pq.ParquetFile(
            pa.BufferReader(data),
            thrift_string_size_limit=64 << 20,
            thrift_container_size_limit=8 << 20,
            page_checksum_verification=True,
        )
        announced = check_footer(file.metadata, len(data), max_bytes)
        check_types(file.schema_arrow)
        limit_memory(BASE_BYTES + 2 * len(data) + 4 * announced)
        write_stream(file, max_bytes)
    except (MemoryError, pa.ArrowMemoryError):
        fault(
            "limit", "too-large", "needs more memory than it announces.", "Write it again, or split it."
        )
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        fault(
            "data",
            "parquet-damaged",
            f"not a whole Parquet file ({type(error).__name__}).",
            "Write or copy it again.",
        )


def write_stream(file: pq.ParquetFile, max_bytes: int) -> None:
    """Copy the file to standard output, batch by batch."""
    import pyarrow as pa

    size = n_rows = 0
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, file.schema_arrow) as stream:
        for batch in file.iter_batches(batch_size=65_536, use_threads=False):
            batch.validate(full=True)
            size += batch.nbytes
            n_rows += batch.num_rows
            if size > max_bytes:
                too_large(max_bytes)
            stream.write_batch(batch)
    if n_rows != file.metadata.num_rows:
        raise ValueError("another number of rows than announced")
    sys.stdout.buffer.write(sink.getvalue())
    sys.stdout.buffer.flush()


def check_footer(metadata: pq.FileMetaData, length: int, max_bytes: int) -> int:
    """Return how many bytes the footer announces, unless it is more than can be or may be."""
    n_values, n_bytes = max(metadata.num_rows, 0), 0
    for group in range(metadata.num_row_groups):
        for column in range(metadata.num_columns):
            chunk = metadata.row_group(group).column(column)
            n_values += max(chunk.num_values, 0)
            n_bytes += max(chunk.total_uncompressed_size, 0)
    if n_values > min(MAX_VALUES_PER_BYTE * length, max(FREE_VALUES, VALUES_PER_BYTE * length)):
        fault(
            "limit",
            "parquet-bomb",
            f"announces {n_values:,} values in {length:,} bytes.",
            "Write it again with a program you trust.",
        )
    if n_bytes > max_bytes or n_values * BYTES_PER_VALUE > max_bytes:
        too_large(max_bytes)
    return int(n_bytes + 64 * n_values)


def check_types(schema: pa.Schema) -> None:
    """Refuse columns of extension types, whose meaning lies outside the file."""
    import pyarrow as pa

    waiting = [(field.name, field) for field in schema]
    while waiting:
        name, field = waiting.pop()
        marked = field.metadata is not None and b"ARROW:extension:name" in field.metadata
        if marked or isinstance(field.type, pa.BaseExtensionType):
            what = f"column {name[:40]!r} is of an extension type."
            fault("data", "extension-type", what, "Write it as lists of strings.")
        waiting += [(name, field.type.field(place)) for place in range(field.type.num_fields)]


def too_large(max_bytes: int) -> NoReturn:
    """Leave because the content is beyond the limit."""
    what = f"holds more than {max_bytes:,} bytes when unpacked."
    fault("limit", "too-large", what, "Split it, or raise the limit (--max-bytes).")


def fault(kind: str, code: str, what: str, remedy: str) -> NoReturn:
    """Leave with a fault that has a name."""
    json.dump({"kind": kind, "code": code, "what": what, "remedy": remedy}, sys.stderr)
    sys.stderr.flush()
    raise SystemExit(NAMED_FAULT)


def limit_memory(n_bytes: int) -> None:
    """Limit the address space of this process, where the system knows such a limit."""
    try:
        import resource
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    soft = n_bytes if hard == resource.RLIM_INFINITY else min(n_bytes, hard)
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()
