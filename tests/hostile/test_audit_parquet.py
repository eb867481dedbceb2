"""A Parquet file in a release folder is strings in rows, or it is refused; none can stop the audit."""

from __future__ import annotations

import io
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from setveil.audit import check, parquet_child, read_release
from setveil.errors import DataError, ResourceLimit
from tests.hostile.test_audit_reader import problem
from tests.unit.audit.folders import data_bytes, write_folder


def table_bytes(table, **options):
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


STRINGS = pa.list_(pa.string())


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"items": pa.array([["a"]], STRINGS), "more": [1]}),
        pa.table({"item": pa.array([["a"]], STRINGS)}),
        pa.table({"items": pa.array([["a"], None], STRINGS)}),
        pa.table({"items": pa.array([["a", None]], STRINGS)}),
        pa.table({"items": ["a"]}),
        pa.table({"items": [[1]]}),
        pa.table({"items": pa.array([[b"a"]])}),
        pa.table({"items": pa.array([["a\0"]], STRINGS)}),
        pa.table({"items": pa.array([["a"]], STRINGS)}).replace_schema_metadata({"x": "y"}),
        pa.table(
            [pa.array([["a"]], STRINGS)],
            schema=pa.schema([pa.field("items", STRINGS, metadata={"x": "y"})]),
        ),
    ],
)
def test_odd_parquet_is_refused(tmp_path, table):
    found = problem(write_folder(tmp_path / "r", "parquet", data=table_bytes(table)))
    assert (found.code, found.file) == ("parquet", "data.parquet")


def test_parquet_with_spare_bytes_is_refused(tmp_path):
    content = data_bytes("parquet")
    footer = int.from_bytes(content[-8:-4], "little") + 8
    stuffed = content[:-footer] + b"message" + content[-footer:]
    found = problem(write_folder(tmp_path / "r", "parquet", data=stuffed))
    assert found.code == "parquet"


def written_by_another(name: bytes) -> bytes:
    """Return a good file that names another writer, of a name as long as the own one."""
    content = data_bytes("parquet")
    start = content.index(b"parquet-cpp-arrow version")
    length = content[start - 1]
    own = content[start : start + length]
    return content.replace(own, name.ljust(length)[:length])


def left_by_older_pyarrow() -> bytes:
    """Return a good file with a second copy of the column's description behind its pages."""
    content = data_bytes("parquet")
    footer = int.from_bytes(content[-8:-4], "little") + 8
    return content[:-footer] + bytes(63) + content[-footer:]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (written_by_another(b"parquet-mr version 1.13.1"), "another writer than pyarrow"),
        (written_by_another(b"the patient is Jo"), "another writer than pyarrow"),
        (left_by_older_pyarrow(), "63 bytes that belong to no column, as other writers leave them"),
    ],
    ids=["writer", "message", "older-pyarrow"],
)
def test_parquet_of_other_writers_is_refused_without_doubting_the_rows(tmp_path, content, text):
    found = problem(write_folder(tmp_path / "r", "parquet", data=content))
    assert found.code == "parquet"
    assert text in found.what and "Jo" not in found.what
    assert "need be no forgery" in found.remedy and "pyarrow 18 or newer" in found.remedy


def test_damaged_parquet_is_refused_and_ends_no_process(tmp_path):
    """Any damaged byte of the footer is refused or harmless; the native reader may abort on some."""
    content = data_bytes("parquet")
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    refused = 0
    for place in range(footer, len(content) - 8, max((len(content) - 8 - footer) // 12, 1)):
        damaged = content[:place] + bytes([content[place] ^ 0x5A]) + content[place + 1 :]
        try:
            read_release(write_folder(tmp_path / str(place), "parquet", data=damaged))
        except (DataError, ResourceLimit) as error:
            refused += error.problems[0].file == "data.parquet"
    assert refused >= 3


def test_a_parquet_reader_that_aborts_is_bad_data(tmp_path, monkeypatch):
    child = tmp_path / "child.py"
    child.write_text("import os, sys\nsys.stdin.buffer.read()\nos.abort()\n")
    monkeypatch.setattr(parquet_child, "__file__", str(child))
    found = problem(write_folder(tmp_path / "r", "parquet"))
    assert (found.code, found.file) == ("parquet", "data.parquet")


@pytest.mark.parametrize("program", ["sys.stdout.write('no arrow')", "os.environ.clear()"])
def test_a_parquet_reader_that_says_nonsense_is_bad_data(tmp_path, monkeypatch, program):
    child = tmp_path / "child.py"
    child.write_text(f"import os, sys\nsys.stdin.buffer.read()\n{program}\n")
    monkeypatch.setattr(parquet_child, "__file__", str(child))
    assert problem(write_folder(tmp_path / "r", "parquet")).code == "parquet"


def test_a_parquet_table_that_is_too_large(monkeypatch):
    monkeypatch.setattr(check, "LARGEST_BYTES", 20)
    with pytest.raises(ResourceLimit) as caught:
        check.read_data(data_bytes("parquet"), {"format": "parquet"}, "data.parquet")
    assert caught.value.problems[0].code == "too-large"


def test_memory_of_the_parquet_reader_is_limited():
    program = (
        "from setveil.audit.parquet_child import _limit_memory\n"
        "_limit_memory(2**30)\n"
        "try:\n    bytearray(2**31)\nexcept MemoryError:\n    raise SystemExit(7)\n"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 7


def test_parquet_rows_are_in_order(tmp_path):
    table = pa.table({"items": pa.array([["b"], ["a"]], STRINGS)})
    found = problem(write_folder(tmp_path / "r", "parquet", data=table_bytes(table)))
    assert (found.code, found.line) == ("row-order", 2)
