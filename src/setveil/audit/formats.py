"""The layouts of a release's data file, each read strictly: text or bytes in, rows of labels out.

Every reader checks that the rows stand in canonical order, so that the order tells nothing. A Parquet
file is unpacked by `parquet_child`, so that no file can stop the audit. A small one can hold very many
rows: so they stay in flat arrays, and only labels become texts.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zlib
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ResourceLimit
from . import parquet_child
from ._jit import jit
from .published import (
    REMEDY,
    Codes,
    Numbers,
    Published,
    decode,
    label_fault,
    lines_of,
    parse_csv,
    refuse,
    rows_below,
    shortened,
)

if TYPE_CHECKING:
    import pyarrow as pa

Rows = list[list[str]]
Numbered = tuple[Rows, list[int]]
"""Rows, and the line of each."""

LARGEST_BYTES = 4 * 2**30
"""Largest uncompressed data file that is read."""
ONEHOT_BLOCK = 4096
"""Rows of a one-hot table that are looked at together."""
_ENVIRONMENT = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "2", "OMP_NUM_THREADS": "1"}


def read_rows(
    written: Any, data: Mapping[str, Any], file: str, column_of_label: dict[str, str]
) -> Rows:
    """Return the rows of a data file: of its text, or of its bytes where it is a one-hot table.

    `data` and `column_of_label` are those of `check.read_data`.
    """
    if data["format"] == "table":
        rows = _read_table(written, data, file, column_of_label)
    else:
        rows, numbers = _READERS[data["format"]](written, data.get("delimiter", ""), file)
        _need_canonical(rows, numbers, file)
    if not rows:
        raise refuse("the file holds no records.", file, code="no-records")
    return rows


def _need_canonical(rows: Rows, numbers: list[int], file: str) -> None:
    previous: list[str] = []
    for row, number in zip(rows, numbers, strict=True):
        if "" in row:
            raise refuse("a label is empty.", file, number, code="empty-label")
        _need_rising(row, file, number)
        if row < previous:
            raise refuse("the rows are not in canonical order.", file, number, code="row-order")
        previous = row


def _need_rising(row: list[str], file: str, number: int) -> None:
    for before, after in pairwise(row):
        if before >= after:
            if before == after:
                what = f"the row repeats the label {shortened(after)}."
                raise refuse(what, file, number, code="repeated-label")
            what = "the labels of the row are not in canonical order."
            raise refuse(what, file, number, code="label-order")


def _read_long(text: str, delimiter: str, file: str) -> Numbered:
    cells, lines = parse_csv(text, delimiter, file)
    if not cells or cells[0] != ["record", "item"]:
        raise refuse("the header must be record and item.", file, 1, code="header")
    rows: Rows = []
    numbers: list[int] = []
    for row, line in zip(cells[1:], lines[1:], strict=True):
        if len(row) != 2:
            raise refuse(f"{len(row)} cells where 2 belong.", file, line, code="ragged-row")
        if row[0] == str(len(rows) + 1):
            rows.append([])
            numbers.append(line)
        elif not rows or row[0] != str(len(rows)):
            raise refuse("records are not numbered 1, 2, 3.", file, line, code="record-number")
        rows[-1].append(row[1])
    return rows, numbers


def _read_onehot(content: bytes, delimiter: str, file: str) -> Numbered:
    if not delimiter.isascii():
        raise refuse("a one-hot table needs an ASCII delimiter.", file, 1, code="header")
    # The header ends at the first line end outside quotes; cells hold none.
    end = content.find(b"\n")
    quotes, begin = 0, 0
    while end >= 0:
        quotes += content.count(b'"', begin, end)
        if quotes % 2 == 0:
            break
        begin, end = end, content.find(b"\n", end + 1)
    if end < 0:
        raise refuse("the file has no header.", file, 1, code="header")
    head = decode(content[: end + 1], file)
    header = parse_csv(head, delimiter, file)[0][0] if end else []
    _need_rising(header, file, 1)
    first = head.count("\n") + 1
    wide = max(2 * len(header), 1)
    body = np.frombuffer(content, np.uint8, offset=end + 1)
    count = len(body) // wide
    table = body[: count * wide].reshape(count, wide)
    rows: Rows = []
    labels = np.array(header, dtype=object)
    for start in range(0, count, ONEHOT_BLOCK):
        block = table[start : start + ONEHOT_BLOCK]
        cells, between = block[:, 0 : wide - 1 : 2], block[:, 1 : wide - 1 : 2]
        right = (block[:, -1] == ord("\n")) & (between == ord(delimiter)).all(axis=1)
        right &= ((cells | 1) == ord("1")).all(axis=1)
        if not right.all():
            count = start + int(np.argmin(right))
            break
        record, column = np.nonzero(cells == ord("1"))
        held = np.split(labels[column], np.searchsorted(record, np.arange(1, len(block))))
        rows += [row.tolist() for row in held]
    if len(body) != count * wide:
        what = f"a row must be {len(header)} cells of 0 or 1."
        raise refuse(what, file, first + count, code="ragged-row")
    if rows and len({label for row in rows for label in row}) != len(header):
        raise refuse("a column of the header occurs in no row.", file, 1, code="spare-column")
    return rows, list(range(first, first + count))


def _read_fimi(text: str, _: str, file: str) -> Numbered:
    odd = re.search(r"[\t\v\f\r]", text)
    if odd:
        line = text.count("\n", 0, odd.start()) + 1
        raise refuse("only single spaces separate labels.", file, line, code="white-space")
    rows = [line.split(" ") for line in lines_of(text)]
    return rows, list(range(1, len(rows) + 1))


def _read_jsonl(text: str, _: str, file: str) -> Numbered:
    rows: Rows = []
    for number, line in enumerate(lines_of(text), 1):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            raise refuse("the line is not JSON.", file, number, code="json") from None
        if not isinstance(row, list) or not all(isinstance(label, str) for label in row):
            raise refuse("the line is not an array of strings.", file, number, code="json")
        if json.dumps(row, separators=(",", ":"), ensure_ascii=False) != line:
            what = "the line is not spelled as the tool spells it."
            raise refuse(what, file, number, code="json-spelling")
        rows.append(row)
    return rows, list(range(1, len(rows) + 1))


_READERS: dict[str, Callable[[Any, str, str], Numbered]] = {
    "baskets": parse_csv,
    "long": _read_long,
    "onehot": _read_onehot,
    "fimi": _read_fimi,
    "jsonl": _read_jsonl,
}


def _read_table(text: str, data: Mapping[str, Any], file: str, column_of_label: dict[str, str]) -> Rows:
    columns = data["columns"]
    rows: Rows = []
    previous: tuple[object, ...] = ()
    header = [column["name"] for column in columns]
    for row, number in rows_below(header, text, file, delimiter=data["delimiter"]):
        labels: list[str] = []
        key: list[object] = []
        for cell, column in zip(row, columns, strict=True):
            name, values = column["name"], [cell] if cell else []
            # A blank cell of one value is one that was left out: io refuses blank cells in the input.
            if column["kind"] == "set":
                values = cell.split(column["separator"]) if cell else []
                if "" in values:
                    raise refuse("a label is empty.", file, number, code="empty-label")
                _need_rising(values, file, number)
            key.append(tuple(values) if column["kind"] == "set" else cell)
            for value in values if column["kind"] != "unprotected" else ():
                label = f"{name}={value}"
                if column_of_label.setdefault(label, name) != name:
                    what = f"{shortened(label)} comes from two columns."
                    raise refuse(what, file, number, code="repeated-label")
                labels.append(label)
        if tuple(key) < previous:
            raise refuse("the rows are not in canonical order.", file, number, code="row-order")
        previous = tuple(key)
        rows.append(labels)
    return rows


def unpack(content: bytes, file: str, *, largest: int = LARGEST_BYTES) -> bytes:
    """Return what a gzip file of one plain member holds; at most `largest` bytes may come out."""
    # Method deflate, no flags (so no name, comment or extra field), no time, a usual level and system.
    plain_head = content[:8] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00"
    if not plain_head or content[8:9] not in (b"\0", b"\2", b"\4") or content[9:10] not in b"\3\xff":
        raise refuse("the gzip head is not the plain one.", file, code="gzip-head")
    inflater = zlib.decompressobj(wbits=31)
    try:
        unpacked = inflater.decompress(content, largest + 1)
    except zlib.error:
        raise refuse("the gzip data are damaged.", file, code="gzip") from None
    if len(unpacked) > largest:
        raise ResourceLimit(
            f"the file unpacks to more than {largest:,} bytes.", code="too-large", file=file
        )
    if not inflater.eof:
        raise refuse("the gzip data end early.", file, code="gzip")
    if inflater.unused_data:
        raise refuse("bytes follow the first gzip member.", file, code="gzip-tail")
    return unpacked


def read_parquet(content: bytes, file: str, *, largest: int) -> Published:
    """Return the published rows, which may take at most `largest` bytes, or raise `DataError`."""
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
            remedy = "Publish it in another format, such as jsonl."
            raise ResourceLimit(told["what"], remedy, code="too-large", file=file)
        raise refuse(told["what"], file, code="parquet", remedy=told["remedy"] or REMEDY)
    if done.returncode == 0:
        try:
            table = pa.ipc.open_stream(pa.py_buffer(done.stdout)).read_all()
            table.validate(full=True)
            return _published(table.column("items"), file)
        except (pa.ArrowException, UnicodeDecodeError):
            pass
    raise refuse(parquet_child.UNREADABLE, file, code="parquet")


def _published(column: pa.ChunkedArray, file: str) -> Published:
    """Return the rows of a column of lists, checked to be sets in canonical order."""
    import pyarrow as pa

    if not len(column):
        raise refuse("the file holds no records.", file, code="no-records")
    rows = pa.concat_arrays(column.chunks)
    indptr = rows.offsets.to_numpy().astype(np.int64)
    indptr -= indptr[0]
    coded = rows.flatten().dictionary_encode()
    seen: list[str] = coded.dictionary.to_pylist()
    code_of_value = coded.indices.to_numpy()
    order = sorted(range(len(seen)), key=seen.__getitem__)
    rank_of_code = np.empty(len(seen), np.int32)
    rank_of_code[order] = np.arange(len(seen), dtype=np.int32)
    for code, label in enumerate(seen):
        fault = label_fault(label)
        if fault is not None:
            place = int(np.argmax(code_of_value == code))
            row = int(np.searchsorted(indptr, place, side="right"))
            raise refuse(fault, file, row, code="parquet" if label else "empty-label")
    items = rank_of_code[code_of_value] if len(seen) else np.empty(0, np.int32)
    labels = tuple(seen[code] for code in order)
    row, place = _disorder(indptr, items)
    if place >= 0 and items[place] == items[place - 1]:
        what = f"the row repeats the label {shortened(labels[items[place]])}."
        raise refuse(what, file, row + 1, code="repeated-label")
    if place >= 0:
        what = "the labels of the row are not in canonical order."
        raise refuse(what, file, row + 1, code="label-order")
    if row >= 0:
        raise refuse("the rows are not in canonical order.", file, row + 1, code="row-order")
    return Published(indptr, items, labels)


@jit
def _disorder(indptr: Numbers, items: Codes) -> tuple[int, int]:
    """Return the first row out of order, and the place of a label out of order in it.

    The place is -1 where the labels rise but the row belongs before the one above it; both are -1
    where everything is in order.
    """
    for row in range(len(indptr) - 1):
        begin, end = indptr[row], indptr[row + 1]
        for place in range(begin + 1, end):
            if items[place] <= items[place - 1]:
                return row, place
        if row == 0:
            continue
        above = indptr[row - 1]
        common = min(end - begin, begin - above)
        offset = 0
        while offset < common and items[above + offset] == items[begin + offset]:
            offset += 1
        shorter = offset == common and end - begin < begin - above
        if shorter or (offset < common and items[begin + offset] < items[above + offset]):
            return row, -1
    return -1, -1
