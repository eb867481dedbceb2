"""The bytes of each format, what formats cannot hold, and that the audit's own reader agrees."""

from __future__ import annotations

import gzip
import io
from dataclasses import replace

import pytest

from setveil.audit.check import read_data
from setveil.errors import InternalError
from setveil.io.formats import cannot_hold, data_file_name, format_of
from setveil.model.layout import Layout, LayoutColumn
from setveil.model.transactions import Transactions

ROWS = [('6" pipe', "a,b"), (" x", "milk"), ("milk",)]
BASKETS = Transactions.from_rows(sorted(ROWS))


def written(transactions: Transactions, layout: Layout) -> bytes:
    file = io.BytesIO()
    format_of(layout).write(transactions, layout, file)
    return file.getvalue()


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        (Layout("baskets", ","), b'" x",milk\n"6"" pipe","a,b"\nmilk\n'),
        (Layout("baskets", ";"), b'" x";milk\n"6"" pipe";a,b\nmilk\n'),
        (Layout("long", ","), b'record,item\n1," x"\n1,milk\n2,"6"" pipe"\n2,"a,b"\n3,milk\n'),
        (Layout("onehot", ","), b'" x","6"" pipe","a,b",milk\n1,0,0,1\n0,1,1,0\n0,0,0,1\n'),
        (Layout("jsonl"), b'[" x","milk"]\n["6\\" pipe","a,b"]\n["milk"]\n'),
    ],
)
def test_bytes(layout: Layout, expected: bytes) -> None:
    assert written(BASKETS, layout) == expected
    packed = written(BASKETS, replace(layout, gzip=True))
    assert gzip.decompress(packed) == expected
    assert packed[3] == 0 and packed[4:8] == bytes(4)


def test_fimi_and_empty_rows() -> None:
    plain = Transactions.from_rows([["1", "10"], ["2"]])
    assert written(plain, Layout("fimi", " ")) == b"1 10\n2\n"
    assert (
        written(Transactions.from_rows([[], ["é"], []]), Layout("jsonl")) == '[]\n["é"]\n[]\n'.encode()
    )


def test_names() -> None:
    assert data_file_name(Layout("table", gzip=True)) == "data.csv.gz"
    assert data_file_name(Layout("parquet", gzip=True)) == "data.parquet"
    assert data_file_name(Layout("jsonl")) == "data.jsonl"


@pytest.mark.parametrize("name", ["baskets", "long", "onehot", "jsonl", "parquet"])
def test_the_audit_reads_what_is_written(name: str) -> None:
    rows = sorted([*ROWS, ("two\nlines", "é"), ('"',)])
    data = written(Transactions.from_rows(rows), Layout(name, ","))
    found = read_data(data, {"format": name, "delimiter": ","}, "data")
    assert len(found.indptr) - 1 == len(rows)
    assert sorted(found.labels) == sorted({label for row in rows for label in row})


def test_the_audit_reads_tables() -> None:
    columns = (LayoutColumn("sex", "kept"), LayoutColumn("drugs", "set", " "))
    rows = [["sex=M", "drugs=a", "drugs=b"], ["sex=F"], ["sex=F, other", "drugs=c"]]
    data = written(Transactions.from_rows(rows), Layout("table", ",", columns=columns))
    told = [{"name": "sex", "kind": "kept"}, {"name": "drugs", "kind": "set", "separator": " "}]
    found = read_data(data, {"format": "table", "delimiter": ",", "columns": told}, "data")
    assert len(found.indptr) - 1 == 3


def test_tables_that_do_not_fit() -> None:
    columns = (LayoutColumn("sex", "kept"), LayoutColumn("drugs", "set", " "))
    layout = Layout("table", columns=columns)
    for row, word in (
        (["sex=F", "drugs=a b"], "separator"),
        (["sex=F", "sex=M"], "one value"),
        (["sex=F", "age=3"], "no column"),
    ):
        assert word in str(cannot_hold(Transactions.from_rows([row]), layout))
    for row in (["sex=F x"], ["drugs=a"], []):
        assert cannot_hold(Transactions.from_rows([row]), layout) is None


def test_unused_labels_do_not_matter_and_unknown_formats_are_bugs() -> None:
    taken = BASKETS.take(BASKETS.indptr[:0].astype("int64"))
    assert cannot_hold(taken, Layout("fimi")) is None
    assert "at least one" in str(cannot_hold(Transactions.from_rows([[]]), Layout("onehot")))
    assert "no format" in str(cannot_hold(Transactions.from_rows([["a\0"]]), Layout("jsonl")))
    with pytest.raises(InternalError):
        written(BASKETS, Layout("nonsense"))
