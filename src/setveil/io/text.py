"""Bytes to UTF-8 text that is safe to split: what is not plainly text is refused, with its line.

Everything after this step works on UTF-8 bytes without a byte order mark and without NUL. Lines are
counted by the byte ``\\n`` alone: the string methods of Python also split on form feeds, U+0085 and
U+2028, which would give wrong line numbers and different items.
"""

from __future__ import annotations

import codecs
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError, Problem, Remark, ResourceLimit, UsageError
from .source import Source

MAX_LINE_BYTES = 64 << 20
MAX_PROBLEMS = 1000
"""How many problems of a file are gathered before reading it stops."""

_BOM = b"\xef\xbb\xbf"
_WIDE_MARKS = (
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)


_FAULTS = {
    "nul-byte": ("a zero byte.", "Remove it; text files hold none."),
    "bom-inside": (
        "a byte order mark (U+FEFF) inside the text.",
        "Remove it; files joined together often have one.",
    ),
    "lone-cr": (
        "a carriage return without a line feed (old Mac line ends?).",
        "Convert the line ends to LF or CRLF.",
    ),
    "stray-quote": (
        "a quote inside a field that does not begin with one.",
        "Quote the whole field and double the quotes in it.",
    ),
    "unclosed-quote": (
        "the quote opened here is never closed.",
        "Close it, or double it if it is part of the text.",
    ),
    "text-after-quote": (
        "text behind the closing quote of a field.",
        "Double the quotes that are part of the text, or remove what follows.",
    ),
}


def fault(code: str, name: str, line: int) -> Problem:
    """Return the problem of a text that cannot be split, by its code."""
    return Problem(code, *_FAULTS[code], name, line)


class HasLines:
    """Rows that know their file and the physical lines they begin at, for problems to name."""

    file: str | None
    line_of_row: NDArray[np.int64] | None

    def line(self, row: int) -> int | None:
        """Return the physical line of a row."""
        return None if self.line_of_row is None else int(self.line_of_row[row])

    def problems_at(self, code: str, what: str, remedy: str, rows: NDArray[np.int64]) -> list[Problem]:
        """Return one problem for each of the first rows that have it."""
        some = rows[:MAX_PROBLEMS].tolist()
        return [Problem(code, what, remedy, self.file, self.line(row)) for row in some]


def shorten(label: str, width: int = 40) -> str:
    """Return a label fit for a message: escaped, and cut where it is long."""
    shown = repr(label[: width + 1])
    return shown if len(label) <= width else f"{shown[: width + 1]}…{shown[0]}"


def line_at(data: bytes, offset: int) -> int:
    """Return the number of the physical line that holds this byte."""
    return data.count(b"\n", 0, offset) + 1


def plain_text(source: Source, *, encoding: str = "utf-8") -> tuple[bytes, tuple[str, ...]]:
    """Return the text of `source` as checked UTF-8 bytes, and notices."""
    name = source.name
    codec = _codec(encoding)
    data = source.data
    notices: list[str] = []
    if codec == "utf-8":
        _refuse_wide(data, name)
    else:
        data = _recode(data, codec, name)
    if data.startswith(_BOM):
        data = data[len(_BOM) :]
        notices.append(Remark("the byte order mark at the start of the file was left out."))
    marks = {"nul-byte": b"\0", "bom-inside": _BOM}
    problems = [
        fault(code, name, line) for code, mark in marks.items() for line in _lines_with(data, mark)
    ]
    if codec == "utf-8":
        problems += _decoding_problems(data, name)
    if problems:
        raise DataError(problems)
    if len(data) > MAX_LINE_BYTES:
        _refuse_long_lines(data, name)
    return data, tuple(notices)


def lone_returns(data: bytes, name: str) -> list[Problem]:
    """Return a problem for the first carriage return that does not belong to a line end."""
    if b"\r" not in data or data.count(b"\r") == data.count(b"\r\n"):
        return []
    offset = 0
    while (offset := data.index(b"\r", offset)) >= 0 and data[offset + 1 : offset + 2] == b"\n":
        offset += 1
    return [fault("lone-cr", name, line_at(data, offset))]


def _codec(encoding: str) -> str:
    try:
        info = codecs.lookup(encoding)
        "".encode(info.name)
    except (LookupError, ValueError, TypeError):
        what = f"unknown encoding {shorten(encoding)}."
        remedy = "Name a text encoding such as utf-8, utf-16, latin-1 or cp1252."
        raise UsageError(what, remedy, code="unknown-encoding") from None
    return "utf-8" if info.name in ("utf-8", "utf-8-sig") else info.name


def _recode(data: bytes, codec: str, name: str) -> bytes:
    try:
        return data.decode(codec).encode("utf-8")
    except UnicodeError as error:
        place = getattr(error, "start", 0)
        what = f"byte {place:,} cannot be read as {codec}."
        remedy, line = "Name the right encoding (--encoding).", line_at(data, place)
        raise DataError(what, remedy, code="bad-encoding", file=name, line=line) from None


def _refuse_wide(data: bytes, name: str) -> None:
    """Refuse UTF-16 and UTF-32, told by their mark or by where their zero bytes are."""
    found = next((codec for mark, codec in _WIDE_MARKS if data.startswith(mark)), None)
    head = data[:512]
    if found is None and len(head) >= 4 and head.count(0) * 5 >= len(head) * 2:
        if head.count(0) * 3 >= len(head) * 2:
            found = "utf-32-le" if head[0] else "utf-32-be"
        else:
            found = "utf-16-le" if head[0] else "utf-16-be"
    if found is not None:
        what = f"looks like {found.upper()}, not UTF-8."
        remedy = f"Use --encoding {found}, or convert the file."
        raise DataError(what, remedy, code="wide-encoding", file=name, line=1)


def _lines_with(data: bytes, needle: bytes) -> list[int]:
    """Return the numbers of the lines that hold `needle`, at most `MAX_PROBLEMS`."""
    if needle not in data:
        return []
    numbered = enumerate(data.split(b"\n"), start=1)
    return list(islice((line for line, text in numbered if needle in text), MAX_PROBLEMS))


def _decoding_problems(data: bytes, name: str) -> list[Problem]:
    if data.isascii():
        return []
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    else:
        return []
    problems: list[Problem] = []
    start = 0
    for line, text in enumerate(data.split(b"\n"), start=1):
        try:
            text.decode("utf-8")
        except UnicodeDecodeError as error:
            place = start + error.start
            what = f"byte 0x{text[error.start]:02x} at offset {place:,} is not UTF-8."
            remedy = "Name the right encoding (--encoding latin-1?), or convert the file."
            problems.append(Problem("bad-encoding", what, remedy, name, line))
            if len(problems) == MAX_PROBLEMS:
                break
        start += len(text) + 1
    return problems


def _refuse_long_lines(data: bytes, name: str) -> None:
    ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == 0x0A)
    lengths = np.diff(ends, prepend=-1, append=len(data))
    if int(lengths.max()) > MAX_LINE_BYTES:
        what = f"a line longer than {MAX_LINE_BYTES:,} bytes."
        remedy = "Check that this is the right file and that its records end with a line feed."
        line = int(np.argmax(lengths > MAX_LINE_BYTES)) + 1
        raise ResourceLimit(what, remedy, code="line-too-long", file=name, line=line)
