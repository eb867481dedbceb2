"""Frames of several libraries in, Arrow out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from setveil.errors import DataError, SetveilError, UsageError
from setveil.io.frames import from_frame, to_arrow
from setveil.model.layout import Layout, LayoutColumn

LISTS = [["milk", "beer"], ["wine"], []]
ROWS = [("beer", "milk"), ("wine",), ()]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"items": LISTS}, index=["x", "y", "z"]),
        pl.DataFrame({"items": LISTS}),
        pl.Series("items", LISTS),
        pa.table({"items": LISTS}),
        pa.table({"items": pa.array(LISTS, pa.large_list(pa.dictionary(pa.int8(), pa.string())))}),
        pa.table({"items": LISTS}).slice(0, 3).to_reader(),
    ],
    ids=["pandas", "polars", "series", "arrow", "dictionary", "reader"],
)
def test_lists(frame: Any) -> None:
    assert list(from_frame(frame).rows()) == ROWS


def test_duckdb_and_slices() -> None:
    relation = duckdb.sql("select ['milk','beer'] as items union all select ['wine']")
    assert sorted(from_frame(relation).rows()) == sorted(ROWS[:2])
    chunked = pa.concat_tables([pa.table({"items": LISTS}).slice(1, 1)] * 2)
    assert list(from_frame(chunked).rows()) == [("wine",)] * 2


def test_long_and_onehot() -> None:
    long = pd.DataFrame({"id": [7, 7, 8], "item": ["a", "b", "a"], "n": [1, 2, 1]})
    assert list(from_frame(long[["id", "item"]]).rows()) == [("a", "b"), ("a",)]
    counted = from_frame(long, id_column="id", item_column="item", count_column="n")
    assert list(counted.rows()) == [("a x1", "b x2"), ("a x1",)]
    flags = pl.DataFrame({"who": ["x", "x"], "a": [True, False], "b": [0, 1]})
    assert list(from_frame(flags, id_column="who").rows()) == [("a", "b")]
    assert list(from_frame(flags.drop("who"), onehot=True).rows()) == [("a",), ("b",)]


def test_tables_come_back_as_their_columns() -> None:
    frame = pl.DataFrame({"sex": ["F", "M"], "year": [1990, 1991], "drugs": [["a", "b"], []]})
    found = from_frame(frame, set_columns=["drugs"], keep=["sex", "year"])
    assert list(found.rows()) == [("drugs=a", "drugs=b", "sex=F", "year=1990"), ("sex=M", "year=1991")]
    assert found.layout == Layout(
        "table",
        columns=(
            LayoutColumn("sex", "kept"),
            LayoutColumn("year", "kept"),
            LayoutColumn("drugs", "set", "|"),
        ),
    )
    assert to_arrow(found).to_pylist() == [
        {"sex": "F", "year": "1990", "drugs": ["a", "b"]},
        {"sex": "M", "year": "1991", "drugs": []},
    ]


def test_whole_numbers_are_exact() -> None:
    big = 2**63 - 1
    assert list(from_frame(pa.table({"items": [[big, 1]]})).rows()) == [("1", str(big))]


@pytest.mark.parametrize(
    ("frame", "options", "error", "code"),
    [
        (pd.DataFrame({"id": [1, 2], "item": [1.0, None]}), {}, DataError, "float-items"),
        (pd.DataFrame({"id": [1, 2], "item": ["a", None]}), {}, DataError, "empty-item"),
        (pa.table({"items": [["a"], None]}), {}, DataError, "null-list"),
        (pa.table({"items": [["a", None]]}), {}, DataError, "null-item"),
        (pd.DataFrame({"items": [["a", 1]]}), {}, UsageError, "not-a-frame"),
        ([["a"]], {}, UsageError, "not-a-frame"),
        ("frame.csv", {}, UsageError, "not-a-frame"),
        ("frame.csv", {"set_columns": ["a"]}, UsageError, "not-a-frame"),
        (pa.table({"x": ["a"]}), {}, UsageError, "columns-unnamed"),
        (pa.table({"x": ["a"]}), {"column": "y"}, UsageError, "no-such-column"),
        (pa.table({"x": ["a"]}), {"column": "x"}, DataError, "not-a-list"),
        (pa.table({"x": ["a"]}), {"keep": ["x"]}, UsageError, "usage"),
        (pa.table({"x": [["a"]], "y": [None]}), {"set_columns": ["x"], "keep": ["y"]},
         DataError, "missing-cell"),
        (pa.table({"x": ["a b"]}), {"set_columns": ["x"]}, UsageError, "bad-separator"),
    ],
)  # fmt: skip
def test_refused(frame: Any, options: Any, error: type[SetveilError], code: str) -> None:
    with pytest.raises(error) as caught:
        from_frame(frame, **options)
    assert caught.value.problems[0].code == code
    assert caught.value.problems[0].remedy


def test_no_frame_library_is_imported(tmp_path: Path) -> None:
    """Not even through pyarrow, whose convenient ways import pandas."""
    path = tmp_path / "a.csv"
    path.write_text("milk,beer\nwine\n")
    program = """
import io, sys
from setveil.io.frames import from_frame, to_arrow
from setveil.io.transactions import read_transactions
from setveil.io.formats import FORMATS
from setveil.model.layout import Layout
baskets = read_transactions(sys.argv[1])
assert list(from_frame(to_arrow(baskets)).rows()) == list(baskets.rows())
for name in ("baskets", "long", "onehot", "fimi", "jsonl"):
    FORMATS[name].write(baskets, Layout(name), io.BytesIO())
found = {"pandas", "polars", "duckdb", "numba"} & set(sys.modules)
raise SystemExit(", ".join(found) or 0)
"""
    done = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
