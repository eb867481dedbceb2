"""The layouts of a release's data file, each read strictly: bytes in, rows of labels out.

Every reader checks that the rows stand in canonical order, so that the order tells nothing.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import ResourceLimit
from .parquet import read_parquet
from .published import Published, shortened
from .spelling import decode, lines_of, parse_csv, refuse, rows_below

Rows = list[list[str]]

LARGEST_BYTES = 4 * 2**30
"""Largest uncompressed data file that is read."""
ONEHOT_BLOCK = 4096
"""Rows of a one-hot table that are looked at together."""


def read_data(
    content: bytes, data: Mapping[str, Any], file: str, column_of_label: dict[str, str] | None = None
) -> Published:
    """Return the published rows of a data file, or raise `DataError` naming the line.

    `data` is that part of the certificate. `column_of_label` takes in the column of each label of a
    table, of which no label may have two.
    """
    form = data["format"]
    if form == "parquet":
        return read_parquet(content, file, largest=LARGEST_BYTES)
    if form == "table":
        return _read_table(content, data, file, {} if column_of_label is None else column_of_label)
    if form == "onehot":
        return _checked(*_read_onehot(content, data["delimiter"], file), file)
    text = decode(content, file)
    if form == "baskets":
        rows, numbers = parse_csv(text, data["delimiter"], file)
    elif form == "long":
        rows, numbers = _read_long(text, data["delimiter"], file)
    else:
        rows, numbers = (_read_fimi if form == "fimi" else _read_jsonl)(text, file)
    return _checked(rows, numbers, file)


def _checked(rows: Rows, numbers: list[int], file: str) -> Published:
    previous: list[str] = []
    for row, number in zip(rows, numbers, strict=True):
        if "" in row:
            raise refuse("a label is empty.", file, number, code="empty-label")
        _need_rising(row, file, number)
        if row < previous:
            raise refuse("the rows are not in canonical order.", file, number, code="row-order")
        previous = row
    if not rows:
        raise refuse("the file holds no records.", file, code="no-records")
    return Published.from_rows(rows)


def _need_rising(row: list[str], file: str, number: int) -> None:
    for before, after in pairwise(row):
        if before >= after:
            if before == after:
                what = f"the row repeats the label {shortened(after)}."
                raise refuse(what, file, number, code="repeated-label")
            what = "the labels of the row are not in canonical order."
            raise refuse(what, file, number, code="label-order")


def _read_long(text: str, delimiter: str, file: str) -> tuple[Rows, list[int]]:
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


def _read_onehot(content: bytes, delimiter: str, file: str) -> tuple[Rows, list[int]]:
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


def _read_fimi(text: str, file: str) -> tuple[Rows, list[int]]:
    odd = re.search(r"[\t\v\f\r]", text)
    if odd:
        line = text.count("\n", 0, odd.start()) + 1
        raise refuse("only single spaces separate labels.", file, line, code="white-space")
    rows = [line.split(" ") for line in lines_of(text)]
    return rows, list(range(1, len(rows) + 1))


def _read_jsonl(text: str, file: str) -> tuple[Rows, list[int]]:
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


def _read_table(
    content: bytes, data: Mapping[str, Any], file: str, column_of_label: dict[str, str]
) -> Published:
    columns = data["columns"]
    rows: Rows = []
    previous: tuple[object, ...] = ()
    header = [column["name"] for column in columns]
    for row, number in rows_below(header, content, file, delimiter=data["delimiter"]):
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
    if not rows:
        raise refuse("the file holds no records.", file, code="no-records")
    return Published.from_rows(rows)


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
