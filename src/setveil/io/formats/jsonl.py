"""JSON lines: each line an array of strings, or an object that holds one.

Python's parser takes more than JSON and less than care: duplicate keys, NaN, half surrogate pairs and
numbers that lose digits pass silently. All are refused here, with their line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import numpy as np

from ...errors import Problem
from ...model.layout import Layout
from ...model.transactions import Transactions
from ..columns import Columns, Draft, merge_rows, number_by_first_row, told_of_unused
from ..csv_text import Head, number_pieces, number_strings
from ..source import MAX_PROBLEMS, lone_returns, shorten
from .base import Format, Reading, joined_lines

LARGEST_EXACT = 2**53
_PLAIN_ARRAYS = re.compile(rb'(?:\[(?:""(?:, ?"")*)?\]\n)*')
_KIND_NAMES = {
    bool: "true or false",
    int: "a number",
    float: "a decimal number",
    type(None): "null",
    list: "a list",
    dict: "an object",
}


class _Fault(Exception):
    """A fault of one line; its arguments are a code, what is wrong, and a remedy."""


class JsonLines(Format):
    """Arrays of strings, or objects that hold one."""

    key = "jsonl"
    suffix = ".jsonl"
    options = frozenset({"id_column", "item_column", "id_policy", "counts"})

    def looks(self, head: Head) -> bool:
        if head.suffix in (".jsonl", ".ndjson", ".json"):
            return True
        return head.asked["delimiter"] is None and head.text.lstrip(" \t\r\n")[:1] in ("[", "{")

    def read(self, reading: Reading) -> Draft:
        data, name, notices = reading.data, reading.source.name, reading.notices
        item_column, id_column = reading.asked["item_column"], reading.asked["id_column"]
        plain = read_plain(reading) if item_column is None and id_column is None else None
        if plain is not None:
            return plain
        problems = lone_returns(data, name)
        texts = data.split(b"\n")
        if texts[-1] == b"":
            texts.pop()
        decoder = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_constant=_no_constant)
        rows: list[list[object]] = []
        ids: list[str] = []
        unused: set[str] = set()
        for number, line in enumerate(texts, start=1):
            try:
                row, own_id, others = _row(_parsed(decoder, line), item_column, id_column)
            except _Fault as fault:
                code, what, remedy = fault.args
                problems.append(Problem(code, what, remedy, name, number))
                if len(problems) >= MAX_PROBLEMS:
                    break
                row, own_id, others = [], "", set()
            rows.append(row)
            ids.append(own_id)
            unused |= others
        items = [item for row in rows for item in row]
        kinds = set(map(type, items))
        if kinds - {str}:
            problems += list(_type_problems(rows, kinds, name))[:MAX_PROBLEMS]
            items = [item if type(item) is str else str(item) for item in items]
        pieces = number_strings(items)  # type: ignore[arg-type]
        lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
        line_of_row = np.arange(1, len(rows) + 1, dtype=np.int64)
        notices = (*notices, *told_of_unused(sorted(unused), "keys"))
        record_of_row = None
        if id_column is not None and ids and not problems:
            numbered = number_by_first_row(number_strings(ids).code_of_piece)
            place = Columns({}, len(rows), name, line_of_row)
            record_of_row, told = merge_rows(*numbered, place, reading.asked["id_policy"])
            notices = (*notices, *told)
        return Draft(
            file=name,
            layout=Layout("jsonl", gzip=reading.source.gzip),
            values=pieces.values,
            row_of_entry=np.repeat(np.arange(len(rows), dtype=np.int64), lengths),
            code_of_entry=pieces.code_of_piece,
            n_rows=len(rows),
            line_of_row=line_of_row,
            record_of_row=record_of_row,
            notices=notices,
            problems=tuple(problems),
        )

    def blocks(self, transactions: Transactions, _layout: Layout) -> Iterator[bytes]:
        fields = [json.dumps(label, ensure_ascii=False) for label in transactions.vocabulary.labels]
        return joined_lines(transactions, fields, ",", "[", "]\n")


def read_plain(reading: Reading) -> Draft | None:
    """Return the draft of arrays of strings without any escape, or None if there is anything else.

    What is outside the quotes must be brackets and commas in their places; what is inside is text.
    """
    data = reading.data
    if not data or b"\\" in data:
        return None
    if not data.endswith(b"\n"):
        data += b"\n"
    byte = np.frombuffer(data, dtype=np.uint8)
    is_quote = byte == ord('"')
    inside = np.bitwise_xor.accumulate(is_quote.view(np.uint8)).view(np.bool_)
    ends = np.flatnonzero(byte == 0x0A)
    if inside[ends].any() or int((byte < 0x20).sum()) != len(ends):
        return None
    is_content = inside & ~is_quote
    if not _PLAIN_ARRAYS.fullmatch(byte[~is_content].tobytes()):
        return None
    quotes = np.flatnonzero(is_quote)
    opening, closing = quotes[0::2], quotes[1::2]
    pieces = number_pieces(byte[is_content], closing - opening - 1)
    return Draft(
        file=reading.source.name,
        layout=Layout("jsonl", gzip=reading.source.gzip),
        values=pieces.values,
        row_of_entry=np.searchsorted(ends, opening).astype(np.int64),
        code_of_entry=pieces.code_of_piece,
        n_rows=len(ends),
        line_of_row=np.arange(1, len(ends) + 1, dtype=np.int64),
        notices=reading.notices,
    )


def _unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise _Fault(
                "duplicate-key", f"the key {shorten(key)} is given twice.", "Keep one of them."
            )
        found[key] = value
    return found


def _no_constant(text: str) -> object:
    raise _Fault("not-json", f"{text} is not JSON.", "Write items as strings.")


def _parsed(decoder: json.JSONDecoder, line: bytes) -> object:
    text = line.decode("utf-8").strip(" \t\r")
    if not text:
        raise _Fault("blank-line", "a blank line.", "Remove it; an empty record is [].")
    try:
        return decoder.decode(text)
    except RecursionError:
        raise _Fault("too-deep", "nested too deeply.", "Write an array of strings.") from None
    except json.JSONDecodeError as error:
        raise _Fault(
            "not-json",
            f"not JSON at character {error.pos + 1} ({error.msg}).",
            "Write one JSON array of strings a line (a JSON document over several lines is not read).",
        ) from None
    except ValueError:
        raise _Fault("inexact-number", "a number too long to read.", "Write ids as strings.") from None


def _row(
    value: object, item_column: str | None, id_column: str | None
) -> tuple[list[object], str, set[str]]:
    """Return the items, the id and the keys not used of one parsed line."""
    if isinstance(value, list):
        if id_column is not None or item_column is not None:
            raise _Fault("no-such-key", "an array has no keys.", "Write objects, or name no key.")
        return value, "", set()
    if not isinstance(value, dict):
        raise _Fault("not-a-list", "neither an array nor an object.", "Write an array of strings.")
    key = item_column
    if key is None:
        lists = [name for name, content in value.items() if isinstance(content, list)]
        key = "items" if "items" in value else lists[0] if len(lists) == 1 else None
    if key is None or key not in value:
        what = f"no key {shorten(key)} here." if key else "no key 'items' and not exactly one list."
        raise _Fault("no-such-key", what, "Name the key of the list (--item).")
    items = value[key]
    if not isinstance(items, list):
        raise _Fault("not-a-list", f"the value of {shorten(key)} is not a list.", "Write a list.")
    own_id = ""
    if id_column is not None:
        found = value.get(id_column)
        if isinstance(found, bool) or not isinstance(found, str | int):
            raise _Fault("no-id", f"no id under {shorten(id_column)}.", "Give a string.")
        own_id = json.dumps(found)
    return items, own_id, set(value) - {key, id_column}


def _type_problems(rows: list[list[object]], kinds: set[type], name: str) -> Iterator[Problem]:
    """Whole numbers alone are taken as their digits; anything else is refused."""
    if kinds == {int}:
        for line, row in enumerate(rows, start=1):
            if any(abs(item) > LARGEST_EXACT for item in row if isinstance(item, int)):
                what = "a number beyond 2^53, which other programs do not keep exactly."
                yield Problem("inexact-number", what, "Write ids as strings.", name, line)
        return
    for line, row in enumerate(rows, start=1):
        odd = next((item for item in row if type(item) is not str), "")
        if odd != "":
            kind = _KIND_NAMES.get(type(odd), "no string")
            remedy = "Write all items as strings."
            if isinstance(odd, list | dict):
                remedy = "Write one record a line, each an array of strings."
            yield Problem("mixed-types", f"{kind} where an item is a string.", remedy, name, line)
