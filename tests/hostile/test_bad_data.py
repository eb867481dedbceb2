"""Every row of the catalogue of bad input that touches reading: refused well, or read rightly."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from setveil.errors import (
    DataError,
    FileSystemError,
    HierarchyError,
    ResourceLimit,
    SetveilError,
    UsageError,
)
from setveil.hierarchy.tree import Hierarchy
from setveil.io import source as source_module
from setveil.io.formats import cannot_hold, parquet_child
from setveil.io.records import read_records
from setveil.io.transactions import read_transactions
from setveil.model.layout import Layout
from setveil.model.transactions import Transactions, bind

from .cases import READ, REFUSED, Case, Fine

EXIT_CODES = {UsageError: 2, DataError: 3, FileSystemError: 5, ResourceLimit: 6}


def attempt(case: Case, path: Path) -> None:
    if case.table is not None:
        read_records(path, **case.table)
    else:
        read_transactions(path, **case.options)


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_refused(case: Case, tmp_path: Path) -> None:
    path = tmp_path / case.file
    path.write_bytes(case.data)
    with pytest.raises(SetveilError) as caught:
        attempt(case, path)
    error = caught.value
    assert type(error) is case.error
    assert error.exit_code == EXIT_CODES[case.error]
    first = next((problem for problem in error.problems if problem.code == case.code), None)
    assert first is not None, error.text()
    assert first.remedy
    assert first.line == case.line
    about_options = case.code in (
        "unused-option",
        "unknown-choice",
        "bad-delimiter",
        "unknown-encoding",
    )
    assert about_options or (first.file is not None and first.file.endswith(case.file))
    # Nothing of the parser's own machinery shows: no chained error, one line a problem.
    assert error.__cause__ is None and (error.__suppress_context__ or error.__context__ is None)
    assert "Traceback" not in error.text() and len(str(first)) < 400
    assert "\n" not in str(first)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [case.file]
    assert path.read_bytes() == case.data


@pytest.mark.parametrize("fine", READ, ids=str)
def test_read(fine: Fine, tmp_path: Path) -> None:
    path = tmp_path / fine.file
    path.write_bytes(fine.data)
    found = read_transactions(path, **fine.options)
    assert list(found.rows()) == fine.rows
    assert fine.notice in " ".join(found.notices)


def test_the_catalogue_is_covered() -> None:
    rows = {case.row for case in REFUSED} | {fine.row for fine in READ}
    elsewhere = {30, 31, 32, 34, 48}
    assert set(range(1, 52)) - elsewhere <= rows
    assert len(REFUSED) >= 95


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.dat"
    path.write_bytes(b"1\n\n2\n\n#x\n" + b"\n" * 30)
    with pytest.raises(DataError) as caught:
        read_transactions(path)
    lines = [problem.line for problem in caught.value.problems if problem.code == "empty-row"]
    assert lines == [2, 4, *range(6, 36)]
    assert [p.line for p in caught.value.problems if p.code == "comment-line"] == [5]
    assert "and 12 more of error[empty-row]" in caught.value.text()


def test_31_line_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_module, "MAX_LINE_BYTES", 1000)
    path = tmp_path / "a.dat"
    path.write_bytes(b"1 2\n" + b"3 " * 600 + b"\n4\n")
    with pytest.raises(ResourceLimit) as caught:
        read_transactions(path)
    assert (caught.value.problems[0].code, caught.value.problems[0].line) == ("line-too-long", 2)


def test_32_34_what_fimi_cannot_hold() -> None:
    for label, word in (("whole milk", "blanks"), ("a\tb", "blanks"), ("#1", "mark"), ("-1", "mark")):
        assert word in str(cannot_hold(Transactions.from_rows([[label]]), Layout("fimi")))
    assert cannot_hold(Transactions.from_rows([["*", "a\u00a0b"]]), Layout("fimi")) is None
    assert "empty" in str(cannot_hold(Transactions.from_rows([["a"], []]), Layout("baskets")))


def test_44_gzip_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_module, "RATIO_FREE_BYTES", 1 << 20)
    path = tmp_path / "a.dat.gz"
    path.write_bytes(gzip.compress(b"1 2 3\n" * (8 << 20)))
    with pytest.raises(ResourceLimit) as caught:
        read_transactions(path)
    assert caught.value.problems[0].code == "gzip-bomb"


def test_46_parquet_with_flipped_bytes(tmp_path: Path) -> None:
    """Any damaged byte is refused or harmless, never a traceback."""
    sink = io.BytesIO()
    pq.write_table(pa.table({"items": [["milk", "beer"], ["milk"]] * 50}), sink)
    whole = sink.getvalue()
    path = tmp_path / "a.parquet"
    refused = 0
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    for place in range(footer, len(whole) - 8, (len(whole) - 8 - footer) // 10):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x5A]) + whole[place + 1 :])
        try:
            read_transactions(path, layout="parquet")
        except SetveilError as error:
            refused += error.exit_code in (3, 6)
    assert refused >= 3


def test_46_a_reader_that_breaks_down_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The native reader aborts on some damaged footers; only its own process may die of that."""
    child = tmp_path / "child.py"
    child.write_text("import os, sys\nsys.stdin.buffer.read()\nos.abort()\n")
    monkeypatch.setattr(parquet_child, "__file__", str(child))
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1 whatever")
    with pytest.raises(DataError) as caught:
        read_transactions(path)
    assert caught.value.problems[0].code == "parquet-damaged"


def test_48_extension_types(tmp_path: Path) -> None:
    kind = pa.list_(pa.string())
    field = pa.field("items", kind, metadata={"ARROW:extension:name": "evil.type"})
    table = pa.Table.from_arrays([pa.array([["a"]], kind)], schema=pa.schema([field]))
    sink = io.BytesIO()
    pq.write_table(table, sink)
    path = tmp_path / "a.parquet"
    path.write_bytes(sink.getvalue())
    with pytest.raises(DataError) as caught:
        read_transactions(path)
    assert caught.value.problems[0].code == "extension-type"


@pytest.mark.parametrize("address", ["https://example.org/a.csv", "s3://bucket/a.csv", "file:///a.csv"])
def test_51_addresses(address: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_transactions(address)
    assert caught.value.problems[0].code == "url-refused"


def test_52_items_without_a_place_in_the_hierarchy_name_their_line(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"milk\nmilk,beer\nwine\n")
    toy = Hierarchy.from_parents({"milk": "All", "All": None})
    with pytest.raises(HierarchyError) as caught:
        bind(read_transactions(path), toy)
    assert [(p.line, p.file) for p in caught.value.problems] == [(2, str(path)), (3, str(path))]


def test_74_only_regular_files(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path, code in (
        (tmp_path / "missing.csv", "unreadable"),
        (tmp_path, "not-a-file"),
        (fifo, "not-a-file"),
        (Path("/dev/zero"), "not-a-file"),
        (tmp_path / "nul\0name", "unreadable"),
    ):
        with pytest.raises(FileSystemError) as caught:
            read_transactions(path)
        assert caught.value.exit_code == 5
        assert caught.value.problems[0].code == code
        assert caught.value.problems[0].remedy


def test_74_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(gzip.compress(b"1 2\n3\n"))

    monkeypatch.setattr(sys, "stdin", Stdin)
    assert list(read_transactions("-").rows()) == [("1", "2"), ("3",)]


def test_79_the_file_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.dat"
    path.write_bytes(b"1 2\n")
    plain_fstat = os.fstat
    calls = 0

    def fstat(descriptor: int) -> os.stat_result:
        nonlocal calls
        calls += 1
        if calls == 2:
            path.write_bytes(b"1 2 3\n")
        return plain_fstat(descriptor)

    monkeypatch.setattr(source_module.os, "fstat", fstat)
    with pytest.raises(DataError) as caught:
        read_transactions(path)
    assert caught.value.problems[0].code == "changed-during-run"


def test_85_names_that_are_not_text(tmp_path: Path) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.dat")
    Path(path).write_bytes(b"1 2\n\n")
    with pytest.raises(DataError) as caught:
        read_transactions(path)
    caught.value.text().encode("utf-8")
    assert "caf\\xe9.dat" in caught.value.text()


def test_47_footers_that_announce_too_much(capsys: pytest.CaptureFixture[str]) -> None:
    def footer(n_values: int, n_bytes: int) -> SimpleNamespace:
        chunk = SimpleNamespace(num_values=n_values, total_uncompressed_size=n_bytes)
        group = SimpleNamespace(column=lambda _place: chunk)
        return SimpleNamespace(
            num_rows=1, num_row_groups=1, num_columns=1, row_group=lambda _place: group
        )

    assert parquet_child.check_footer(footer(100, 5000), 1000, 1 << 20) > 5000
    for n_values, n_bytes, code in ((10**15, 10, "parquet-bomb"), (10, 10**15, "too-large")):
        with pytest.raises(SystemExit) as left:
            parquet_child.check_footer(footer(n_values, n_bytes), 1000, 1 << 20)
        assert left.value.code == parquet_child.NAMED_FAULT
        assert json.loads(capsys.readouterr().err)["code"] == code


def test_47_memory_of_the_child_is_limited() -> None:
    program = (
        "from setveil.io.formats.parquet_child import limit_memory\n"
        "limit_memory(1 << 30)\n"
        "try:\n    bytearray(2 << 30)\nexcept MemoryError:\n    raise SystemExit(7)\n"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 7


def test_85_names_with_line_ends_stay_on_one_line(tmp_path: Path) -> None:
    path = tmp_path / "two\nlines.dat"
    path.write_bytes(b"1\n\n")
    with pytest.raises(DataError) as caught:
        read_transactions(path)
    assert "two\\nlines.dat:2" in caught.value.text() and "\n" not in caught.value.text()
