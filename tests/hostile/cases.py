"""Bad and odd data as a table: the bytes, how they are read, and what must come of it.

`row` is the number of the case in the catalogue of bad input.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from setveil.errors import DataError, ResourceLimit, SetveilError, UsageError


@dataclass(frozen=True)
class Case:
    """One file that must be refused."""

    row: int
    name: str
    file: str
    data: bytes
    error: type[SetveilError]
    code: str
    line: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    table: Mapping[str, Any] | None = None
    """Options of `read_records`, for a table with set-valued columns."""

    def __str__(self) -> str:
        return f"{self.row}-{self.name}"


@dataclass(frozen=True)
class Fine:
    """One odd file that must be read, and what is to be found in it."""

    row: int
    name: str
    file: str
    data: bytes
    rows: list[tuple[str, ...]]
    notice: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.row}-{self.name}"


def parquet(table: pa.Table, **options: Any) -> bytes:
    """Return a table as the bytes of a Parquet file."""
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


def lists(*rows: Any, kind: pa.DataType | None = None) -> bytes:
    """Return a Parquet file of one column of lists."""
    return parquet(pa.table({"items": pa.array(list(rows), kind or pa.list_(pa.string()))}))


PACKED = gzip.compress(b"milk,beer\nmilk\n" * 500, mtime=0)
BROKEN_SUM = PACKED[:-8] + bytes([PACKED[-8] ^ 0xFF]) + PACKED[-7:]
WHOLE = lists(["milk", "beer"], ["milk"])
HALF_PAIR = b'["milk"]\n["\\ud800"]\n'
CAFE = "café\ncafe\u0301\n".encode()
DEEP = b"[" * 200_000 + b"]" * 200_000 + b"\n"
SETS = {"set_columns": {"drugs": " "}, "keep": ["sex"], "delimiter": ","}
BASKETS = {"layout": "baskets", "delimiter": ","}
LONG = {"layout": "long", "delimiter": ","}

REFUSED = [
    Case(2, "bom-inside", "a.csv", b"milk\n\xef\xbb\xbfbeer\n", DataError, "bom-inside", 2),
    Case(3, "utf-16", "a.csv", "milk,beer\n".encode("utf-16"), DataError, "wide-encoding", 1),
    Case(3, "utf-16-no-mark", "a.csv", "milk,beer\n".encode("utf-16-le"),
         DataError, "wide-encoding", 1),
    Case(3, "utf-32", "a.csv", "milk,beer\n".encode("utf-32"), DataError, "wide-encoding", 1),
    Case(4, "latin-1", "a.csv", b"milk\ncaf\xe9\n", DataError, "bad-encoding", 2),
    Case(4, "latin-1-fimi", "a.dat", b"1 2\n3\ncaf\xe9\n", DataError, "bad-encoding", 3),
    Case(4, "overlong", "a.csv", b"milk\n\xc0\xaf\n", DataError, "bad-encoding", 2),
    Case(4, "surrogate-bytes", "a.csv", b"\xed\xa0\x80\n", DataError, "bad-encoding", 1),
    Case(4, "wrong-name", "a.csv", b"milk\xff\n", DataError, "bad-encoding", 1, {"encoding": "ascii"}),
    Case(4, "no-such-encoding", "a.csv", b"milk\n",
         UsageError, "unknown-encoding", None, {"encoding": "u8x"}),
    Case(5, "nul", "a.csv", b"milk\nbe\0er\n", DataError, "nul-byte", 2),
    Case(5, "nul-in-json", "a.jsonl", b'["milk"]\n["be\\u0000er"]\n', DataError, "nul-byte", 2),
    Case(6, "old-mac", "a.csv", b"milk,beer\rmilk\r", DataError, "lone-cr", 1),
    Case(6, "old-mac-fimi", "a.dat", b"1 2\n1\r2\n", DataError, "lone-cr", 2),
    Case(6, "old-mac-json", "a.jsonl", b'["a"]\n["b"]\r["c"]\n', DataError, "lone-cr", 2),
    Case(8, "half-pair", "a.jsonl", HALF_PAIR, DataError, "lone-surrogate", 2),
    Case(9, "two-forms", "a.csv", CAFE, DataError, "two-spellings", 2),
    Case(10, "hidden-twin", "a.csv", "milk\n\u200bmilk\n".encode(), DataError, "two-spellings", 2),
    Case(10, "blank-twin", "a.csv", b"milk\nbeer\nmilk \n", DataError, "two-spellings", 3),
    Case(10, "nbsp-strict", "a.csv", "beer\nmilk\u00a0\n".encode(),
         DataError, "odd-label", 2, {"strict": True}),
    Case(12, "full-width", "a.dat", "1 2\n１２\n".encode(),
         DataError, "not-integer", 2, {"integers": True}),
    Case(12, "arabic", "a.dat", "٣\n".encode(), DataError, "not-integer", 1, {"integers": True}),
    Case(12, "underscore", "a.dat", b"1_000\n", DataError, "not-integer", 1, {"integers": True}),
    Case(12, "plus", "a.dat", b"1\n+5\n", DataError, "not-integer", 2, {"integers": True}),
    Case(12, "blanks", "a.csv", b"1\n 7 \n", DataError, "not-integer", 2, {"integers": True}),
    Case(13, "empty-csv", "a.csv", b"", DataError, "no-records"),
    Case(13, "empty-fimi", "a.dat", b"", DataError, "no-records"),
    Case(13, "empty-json", "a.jsonl", b"", DataError, "no-records"),
    Case(13, "only-bom", "a.csv", b"\xef\xbb\xbf", DataError, "no-records"),
    Case(13, "header-only", "a.csv", b"id,item\n", DataError, "no-records", None, LONG),
    Case(13, "onehot-names-alone", "a.csv", b"milk,beer", DataError, "no-records", None,
         {"layout": "onehot", "delimiter": ","}),
    Case(13, "onehot-flags-alone", "a.csv", b"1", DataError, "no-records", None,
         {"layout": "onehot", "delimiter": ","}),
    Case(13, "all-skipped", "a.dat", b"\n\n", DataError, "no-records", None, {"empty_rows": "skip"}),
    Case(14, "ragged-long", "a.csv", b"id,item\n1,milk\n1,milk,x\n2\n",
         DataError, "ragged-row", 3, LONG),
    Case(14, "ragged-table", "a.csv", b"sex,drugs\nF,a b\nM\n", DataError, "ragged-row", 3, table=SETS),
    Case(14, "blank-in-table", "a.csv", b"sex,drugs\nF,a b\n\nM,c\n",
         DataError, "blank-line", 3, table=SETS),
    Case(15, "unclosed", "a.csv", b'milk\n"beer,wine\nmilk\n', DataError, "unclosed-quote", 2),
    Case(15, "unclosed-late", "a.csv", b'"a\nb",c\nd\n"e,f\n', DataError, "unclosed-quote", 4),
    Case(16, "after-quote", "a.csv", b'milk\n"e"f,milk\n', DataError, "text-after-quote", 2),
    Case(16, "stray-quote", "a.csv", b'milk\nbe"er\n', DataError, "stray-quote", 2),
    Case(17, "long-field", "a.csv", b"milk\n" + b"x" * 131_073 + b"\n",
         ResourceLimit, "field-too-long", 2),
    Case(17, "long-token", "a.dat", b"1\n" + b"x" * 131_073 + b"\n",
         ResourceLimit, "field-too-long", 2),
    Case(18, "same-name", "a.csv", b"id,item,id\n1,milk,2\n", UsageError, "duplicate-column", 1, LONG),
    Case(18, "no-name", "a.csv", b"id,\n1,milk\n", UsageError, "empty-column-name", 1, LONG),
    Case(19, "wrong-delimiter", "a.csv", b"id;item\n1;milk\n", DataError, "wrong-delimiter", 1, LONG),
    Case(19, "wrong-in-table", "a.csv", b"sex;drugs\nF;a b\n",
         DataError, "wrong-delimiter", 1, table=SETS),
    Case(20, "no-column", "a.csv", b"id,item\n1,milk\n", UsageError, "no-such-column", 1,
         {**LONG, "id_column": "person", "item_column": "item"}),
    Case(20, "no-kept", "a.csv", b"gender,drugs\nF,a b\n", UsageError, "no-such-column", 1, table=SETS),
    Case(20, "no-key", "a.jsonl", b'{"items":["a"]}\n',
         DataError, "no-such-key", 1, {"item_column": "x"}),
    Case(21, "blank-fimi", "a.dat", b"1 2\n\n3\n", DataError, "empty-row", 2),
    Case(21, "blank-basket", "a.csv", b"milk\n\nbeer\n", DataError, "empty-row", 2),
    Case(21, "blank-json", "a.jsonl", b'["a"]\n\n["b"]\n', DataError, "blank-line", 2),
    Case(22, "double-comma", "a.csv", b"milk,beer\nmilk,,beer\n", DataError, "empty-item", 2),
    Case(22, "trailing-comma", "a.csv", b"milk,beer\nmilk,\n", DataError, "empty-item", 2),
    Case(22, "quoted-nothing", "a.csv", b'milk,beer\n""\n', DataError, "empty-item", 2),
    Case(22, "long-no-item", "a.csv", b"id,item\n1,\n", DataError, "empty-item", 2, LONG),
    Case(22, "set-cell", "a.csv", b"sex,drugs\nF,a  b\n", DataError, "empty-item", 2, table=SETS),
    Case(24, "hash", "a.dat", b"# made today\n1 2\n", DataError, "comment-line", 1),
    Case(24, "percent", "a.dat", b"1 2\n  %x\n", DataError, "comment-line", 2),
    Case(26, "float-ids", "a.dat", b"1\n3.0\n", DataError, "not-integer", 2, {"integers": True}),
    Case(27, "spmf", "a.dat", b"1 2\n3 -1 4 -1 -2\n", DataError, "spmf-separator", 2),
    Case(27, "negative", "a.dat", b"1\n-7\n", DataError, "not-integer", 2, {"integers": True}),
    Case(29, "empty-cell", "a.csv", b"sex,drugs\nF,a\n,b\n", DataError, "missing-cell", 3, table=SETS),
    Case(29, "named-missing", "a.csv", b"sex,drugs\nF,a\nNA,b\n", DataError, "missing-cell", 3,
         table={**SETS, "missing": ["NA"]}),
    Case(35, "same-id", "a.csv", b"id,a,b\nx,1,0\nx,0,1\n", DataError, "repeated-id", 3,
         {"layout": "onehot", "delimiter": ",", "id_column": "id", "id_policy": "error"}),
    Case(35, "same-id-json", "a.jsonl", b'{"id":"x","items":["a"]}\n{"id":"x","items":["b"]}\n',
         DataError, "repeated-id", 2, {"id_column": "id", "id_policy": "error"}),
    Case(35, "no-id", "a.csv", b"id,item\n1,milk\n,beer\n", DataError, "no-id", 3, LONG),
    Case(36, "two-keys", "a.jsonl", b'{"items":["a"]}\n{"items":["a"],"items":["b"]}\n',
         DataError, "duplicate-key", 2),
    Case(37, "nan", "a.jsonl", b'["a"]\n[NaN]\n', DataError, "not-json", 2),
    Case(37, "infinity", "a.jsonl", b"[-Infinity]\n", DataError, "not-json", 1),
    Case(38, "deep", "a.jsonl", DEEP, DataError, "too-deep", 1),
    Case(39, "mixed", "a.jsonl", b'["a"]\n[1,"1"]\n', DataError, "mixed-types", 2),
    Case(39, "mixed-over-lines", "a.jsonl", b'["1"]\n[1]\n', DataError, "mixed-types", 2),
    Case(39, "booleans", "a.jsonl", b"[true]\n", DataError, "mixed-types", 1),
    Case(39, "null", "a.jsonl", b'["a",null]\n', DataError, "mixed-types", 1),
    Case(40, "floats", "a.jsonl", b"[1.5]\n", DataError, "mixed-types", 1),
    Case(40, "beyond-2^53", "a.jsonl", b"[1]\n[9007199254740993]\n", DataError, "inexact-number", 2),
    Case(40, "5000-digits", "a.jsonl", b"[" + b"9" * 5000 + b"]\n", DataError, "inexact-number", 1),
    Case(41, "truncated-json", "a.jsonl", b'["a"]\n["b"', DataError, "not-json", 2),
    Case(41, "garbage", "a.jsonl", b'["a"] x\n', DataError, "not-json", 1),
    Case(41, "json-document", "a.json", b'[\n["a"],\n["b"]\n]\n', DataError, "not-json", 1),
    Case(41, "nested", "a.json", b'[["a"],["b"]]\n', DataError, "mixed-types", 1),
    Case(42, "truncated-gzip", "a.csv.gz", PACKED[:-20], DataError, "gzip-truncated"),
    Case(42, "header-of-gzip", "a.csv.gz", PACKED[:6], DataError, "gzip-truncated"),
    Case(43, "bad-crc", "a.csv.gz", BROKEN_SUM, DataError, "gzip-damaged"),
    Case(43, "garbage-tail", "a.csv.gz", PACKED + b"garbage", DataError, "gzip-damaged"),
    Case(44, "too-large", "a.csv.gz", gzip.compress(b"a\n" * 60_000), ResourceLimit, "too-large", None,
         {"max_bytes": 100_000}),
    Case(44, "plain-too-large", "a.csv", b"a\n" * 60_000, ResourceLimit, "too-large", None,
         {"max_bytes": 100_000}),
    Case(45, "not-gzip", "a.csv.gz", b"milk\n", DataError, "gzip-mismatch"),
    Case(45, "hidden-gzip", "a.csv", PACKED, DataError, "gzip-mismatch"),
    Case(46, "truncated-parquet", "a.parquet", WHOLE[:-30], DataError, "parquet-damaged"),
    Case(46, "not-parquet", "a.parquet", b"milk\n",
         DataError, "parquet-damaged", None, {"layout": "parquet"}),
    Case(46, "no-row-groups", "a.parquet", lists(), DataError, "no-records"),
    Case(47, "parquet-limit", "a.parquet", lists(["x" * 1000 + str(i) for i in range(900)]),
         ResourceLimit, "too-large", None, {"max_bytes": 300_000}),
    Case(49, "null-list", "a.parquet", lists(["a"], None), DataError, "null-list", 2),
    Case(49, "null-item", "a.parquet", lists(["a"], ["b", None]), DataError, "null-item", 2),
    Case(50, "nested-lists", "a.parquet", lists([["a"]], kind=pa.list_(pa.list_(pa.string()))),
         DataError, "unsupported-type"),
    Case(50, "structs", "a.parquet",
         lists([{"x": "a"}], kind=pa.list_(pa.struct([("x", pa.string())]))),
         DataError, "unsupported-type"),
    Case(50, "binary", "a.parquet", lists([b"\xff"], kind=pa.list_(pa.binary())),
         DataError, "bad-encoding"),
    Case(50, "floats", "a.parquet", lists([1.0], kind=pa.list_(pa.float64())),
         DataError, "float-items"),
    Case(51, "zip", "a.csv", b"PK\x03\x04rest", UsageError, "unsupported-kind"),
    Case(51, "xlsx", "a.xlsx", b"PK\x03\x04rest", UsageError, "unsupported-kind"),
    Case(51, "pickle", "a.csv", b"\x80\x04]\x94.", UsageError, "unsupported-kind"),
    Case(51, "pickle-cut", "a.pkl", b"\x80\x04\x95aaa", UsageError, "unsupported-kind"),
    Case(51, "zstd", "a.csv", b"\x28\xb5\x2f\xfdrest", UsageError, "unsupported-kind"),
    Case(51, "zip-in-gzip", "a.csv.gz", gzip.compress(b"PK\x03\x04rest"),
         UsageError, "unsupported-kind"),
    Case(71, "unused-option", "a.dat", b"1 2\n",
         UsageError, "unused-option", None, {"count_column": "n"}),
    Case(35, "policy-without-ids", "a.jsonl", b'["a"]\n', UsageError, "unused-option", None,
         {"id_policy": "error"}),
    Case(35, "policy-of-long", "a.csv", b"id,item\n1,milk\n", UsageError, "unused-option", None,
         {**LONG, "id_policy": "error"}),
    Case(35, "table-policy", "a.csv", b"sex,drugs\nF,a\n", UsageError, "unused-option",
         table={**SETS, "id_policy": "error"}),
    Case(71, "control-delimiter", "a.csv", b"1 2\n",
         UsageError, "bad-delimiter", None, {"delimiter": "\x1f"}),
    Case(71, "unknown-repeats", "a.dat", b"1 2\n",
         UsageError, "unknown-choice", None, {"repeats": "twice"}),
    Case(23, "bag", "a.csv", b"milk\nmilk,beer,milk\n",
         DataError, "repeated-label", 2, {**BASKETS, "repeats": "error"}),
    Case(23, "bag-fimi", "a.dat", b"1 2\n3 3\n", DataError, "repeated-label", 2, {"repeats": "error"}),
    Case(23, "bag-json", "a.jsonl", b'["a"]\n["b","b"]\n',
         DataError, "repeated-label", 2, {"repeats": "error"}),
    Case(23, "bag-long", "a.csv", b"id,item\n1,a\n2,a\n1,b\n1,a\n",
         DataError, "repeated-label", 5, {**LONG, "repeats": "error"}),
    Case(23, "bag-parquet", "a.parquet", lists(["a"], ["b", "b"]),
         DataError, "repeated-label", 2, {"repeats": "error"}),
    Case(23, "bag-by-labels", "a.dat", b"1\n1 2\n", DataError, "repeated-label", 2,
         {"labels": {"1": "milk", "2": "milk"}, "repeats": "error"}),
    Case(23, "bag-cell", "a.csv", b"sex,drugs\nF,a\nM,b b\n", DataError, "repeated-label", 3,
         table={**SETS, "repeats": "error"}),
    Case(71, "unknown-layout", "a.dat", b"1 2\n",
         UsageError, "unknown-choice", None, {"layout": "magic"}),
    Case(71, "bad-delimiter", "a.csv", b"1 2\n",
         UsageError, "bad-delimiter", None, {"delimiter": "ab"}),
    Case(71, "bad-count", "a.csv", b"id,item,n\n1,milk,2\n1,beer,0\n", DataError, "bad-count", 3,
         {**LONG, "id_column": "id", "item_column": "item", "count_column": "n"}),
    Case(52, "bad-flag", "a.csv", b"milk,beer\n1,0\n1,2\n", DataError, "bad-cell", 3,
         {"layout": "onehot", "delimiter": ","}),
    Case(52, "unknown-id", "a.dat", b"1\n2\n", DataError, "unknown-id", 2, {"labels": {"1": "milk"}}),
]  # fmt: skip

READ = [
    Fine(1, "bom", "a.csv", b"\xef\xbb\xbfmilk,beer\n", [("beer", "milk")], "byte order mark"),
    Fine(3, "utf-16", "a.csv", "mélk\n".encode("utf-16"), [("mélk",)], "", {"encoding": "utf-16"}),
    Fine(4, "latin-1", "a.csv", b"caf\xe9\n", [("café",)], "", {"encoding": "latin-1"}),
    Fine(6, "crlf", "a.csv", b"milk,beer\r\nwine\n", [("beer", "milk"), ("wine",)]),
    Fine(6, "crlf-fimi", "a.dat", b"1 2\r\n3\r\n", [("1", "2"), ("3",)]),
    Fine(7, "no-last-newline", "a.csv", b"milk\nbeer", [("milk",), ("beer",)]),
    Fine(9, "normalized", "a.csv", CAFE, [("café",), ("café",)], "normal form", {"normalize": "NFC"}),
    Fine(10, "odd", "a.csv", "milk \n\u200bbeer\n".encode(),
         [("milk ",), ("\u200bbeer",)], "invisible"),
    Fine(11, "case", "a.csv", b"Milk\nmilk\n", [("Milk",), ("milk",)], "only in case"),
    Fine(21, "keep", "a.dat", b"1\n\n", [("1",), ()], "kept", {"empty_rows": "keep"}),
    Fine(21, "skip", "a.dat", b"1\n\n2\n", [("1",), ("2",)], "left out", {"empty_rows": "skip"}),
    Fine(22, "runs", "a.dat", b"1  2 \t3 \n", [("1", "2", "3")]),
    Fine(22, "nbsp-is-no-blank", "a.dat", "1\u00a02 3\x1f4\n".encode(), [("1\u00a02", "3\x1f4")]),
    Fine(23, "repeats", "a.csv", b"milk,milk\n", [("milk",)], "kept once"),
    Fine(23, "counts", "a.csv", b"milk,milk,beer\n", [("beer x1", "milk x2")], "", {"counts": True}),
    Fine(23, "counted-bag", "a.csv", b"milk,milk\n", [("milk x2",)], "",
         {"counts": True, "repeats": "error"}),
    Fine(23, "set", "a.csv", b"milk,beer\n", [("beer", "milk")], "", {"repeats": "error"}),
    Fine(23, "merged-rows", "a.jsonl", b'{"id":"x","items":["a","b"]}\n{"id":"x","items":["a"]}\n',
         [("a", "b")], "merged", {"id_column": "id", "repeats": "error"}),
    Fine(24, "comment", "a.dat", b"# x\n1 2\n", [("1", "2")], "comment lines", {"comment": "#"}),
    Fine(25, "zeros", "a.dat", b"01 1\n", [("01", "1")]),
    Fine(28, "huge", "a.dat", b"9" * 5000 + b"\n", [("9" * 5000,)], "", {"integers": True}),
    Fine(29, "na", "a.csv", b"NA,null,nan\n", [("NA", "nan", "null")]),
    Fine(29, "missing", "a.csv", b"NA,milk\n", [("milk",)], "missing", {"missing": ["NA"]}),
    Fine(33, "formula", "a.csv", b"=cmd()\n", [("=cmd()",)], "formula"),
    Fine(41, "json-lines-named-json", "a.json", b'["a"]\n["b"]\n', [("a",), ("b",)], "layout jsonl"),
    Fine(35, "ids", "a.csv", b"id,a,b\nx,1,0\nx,0,1\n", [("a", "b")], "merged to 1 records",
         {"layout": "onehot", "id_column": "id"}),
    Fine(39, "whole-numbers", "a.jsonl", b"[1,20]\n[3]\n", [("1", "20"), ("3",)]),
    Fine(43, "members", "a.csv.gz", gzip.compress(b"milk\n") + gzip.compress(b"beer\n"),
         [("milk",), ("beer",)]),
    Fine(43, "padding", "a.csv.gz", gzip.compress(b"milk\n") + b"\0" * 9000, [("milk",)]),
    Fine(49, "empty-list", "a.parquet", lists(["a"], []), [("a",), ()], "empty"),
    Fine(50, "unused-values", "a.parquet",
         parquet(pa.table({"id": ["1", "2"],
                          "item": pa.DictionaryArray.from_arrays([2, 0], ["a", "b", "c"])})),
         [("c",), ("a",)]),
]  # fmt: skip
