"""Bytes from a file, and the text in them: what is not plainly what it should be is refused.

Only regular files are read, gzip by its magic bytes, everything limited. A file is read whole, so that
one that changes, ends early or unpacks to far too much is refused before any record exists.

`plain_text` gives UTF-8 bytes without a byte order mark and without NUL, which are safe to split. Lines
are counted by the byte ``\\n`` alone: the string methods of Python also split on form feeds, U+0085 and
U+2028, which would give wrong line numbers and different items.
"""

from __future__ import annotations

import codecs
import os
import re
import stat
import sys
import zlib
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError, FileSystemError, Problem, Remark, ResourceLimit, UsageError

MAX_BYTES = 4 << 30
"""How many bytes a file may hold, unpacked, unless told otherwise."""

RATIO_LIMIT = 200
RATIO_FREE_BYTES = 64 << 20
CHUNK_BYTES = 4 << 20
FEED_BYTES = 256 << 10

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_FOREIGN = (
    (b"PK\x03\x04", "a ZIP archive or an Excel workbook"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office document"),
    (b"\x28\xb5\x2f\xfd", "zstd-compressed"),
    (b"BZh", "bzip2-compressed"),
    (b"\xfd7zXZ\x00", "xz-compressed"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"%PDF-", "a PDF document"),
    (b"SQLite format 3\x00", "an SQLite database"),
)
_PICKLE = re.compile(rb"\x80[\x02-\x05]")

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


@dataclass(frozen=True)
class Source:
    """The bytes of a file, unpacked; `name` is for messages, `gzip` tells how they lay there."""

    name: str
    data: bytes
    gzip: bool = False

    @property
    def suffix(self) -> str:
        """The last suffix of the name in lower case, ``.gz`` aside."""
        plain = self.name[:-3] if self.name.lower().endswith(".gz") else self.name
        return Path(plain).suffix.lower()


def read_source(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> Source:
    """Return the bytes of a regular file, or of standard input for ``-``, unpacked if gzip."""
    shown = os.fspath(path)
    if shown == "-":
        raw, name = _read_stdin(max_bytes), "stdin"
    else:
        if _URL.match(shown):
            raise UsageError(
                "addresses of the net are not read.", "Download the file first.", code="url-refused"
            )
        name = _printable(os.fsencode(shown).decode("utf-8", "backslashreplace"))
        raw = _read_regular(shown, name, max_bytes)
    _refuse_foreign(raw, name)
    packed = raw.startswith(b"\x1f\x8b")
    if packed != name.lower().endswith(".gz") and shown != "-":
        what = "the name ends in .gz but the content is not gzip."
        remedy = "Rename the file, or compress it."
        if packed:
            what = "the content is gzip but the name does not end in .gz."
            remedy = "Rename the file to end in .gz, or unpack it."
        raise DataError(what, remedy, code="gzip-mismatch", file=name)
    if packed:
        unpacked = _gunzip(raw, name, max_bytes)
        _refuse_foreign(unpacked, name)
        return Source(name, unpacked, gzip=True)
    return Source(name, raw)


def _printable(name: str) -> str:
    """Return a file name fit for one line of a message."""
    return "".join(mark if mark.isprintable() else repr(mark)[1:-1] for mark in name)


def _read_stdin(max_bytes: int) -> bytes:
    if sys.stdin is None:
        raise FileSystemError("it is closed.", "Give a file.", code="unreadable", file="stdin")
    pieces: list[bytes] = []
    size = 0
    while piece := sys.stdin.buffer.read(CHUNK_BYTES):
        pieces.append(piece)
        size += len(piece)
        if size > max_bytes:
            raise _too_large("stdin", max_bytes)
    return b"".join(pieces)


def _read_regular(path: str, name: str, max_bytes: int) -> bytes:
    """Read a regular file and check that it did not change meanwhile."""
    try:
        if not stat.S_ISREG(Path(path).stat().st_mode):
            raise _not_regular(path, name)
        # Non-blocking, so that a FIFO put there since the check cannot hang the run.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(descriptor, "rb") as file:
            before = os.fstat(descriptor)
            if not stat.S_ISREG(before.st_mode):
                raise _not_regular(path, name)
            if before.st_size > max_bytes:
                raise _too_large(name, max_bytes)
            data = file.read(before.st_size + 1)  # one more, to see it grow
            after = os.fstat(descriptor)
        there = Path(path).stat()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a valid path"
        raise FileSystemError(
            f"cannot be read: {reason}.", "Check the path and its permissions.",
            code="unreadable", file=name,
        ) from None  # fmt: skip
    if (
        _stamp(before) != _stamp(after)
        or _stamp(before) != _stamp(there)
        or len(data) != before.st_size
    ):
        what, remedy = "the file changed while it was read.", "Run again when nothing writes to it."
        raise DataError(what, remedy, code="changed-during-run", file=name)
    return data


def _stamp(status: os.stat_result) -> tuple[int, int, int, int]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _not_regular(path: str, name: str) -> FileSystemError:
    what = "is a folder" if Path(path).is_dir() else "is not a regular file"
    return FileSystemError(f"{what}.", "Give a file, or - for stdin.", code="not-a-file", file=name)


def _too_large(name: str, max_bytes: int) -> ResourceLimit:
    what = f"holds more than {max_bytes:,} bytes."
    remedy = "Split it, or raise the limit (--max-bytes)."
    return ResourceLimit(what, remedy, code="too-large", file=name)


def _refuse_foreign(data: bytes, name: str) -> None:
    kind = next((kind for magic, kind in _FOREIGN if data.startswith(magic)), None)
    if kind is None and _PICKLE.match(data[:2]):
        kind = "a Python pickle"
    if kind is not None:
        what = f"looks like {kind}, which is not supported."
        remedy = "Convert it to CSV (gzip is fine), JSON lines or Parquet."
        raise UsageError(what, remedy, code="unsupported-kind", file=name)


def _gunzip(raw: bytes, name: str, max_bytes: int) -> bytes:
    """Unpack all members; refuse truncation, bad checksums, garbage behind the end, and bombs."""
    pieces: list[bytes] = []
    size = 0
    place = 0
    try:
        while place < len(raw):
            member = zlib.decompressobj(wbits=31)
            while not member.eof:
                # Small slices in and out: what is left over is copied at each call.
                feed = member.unconsumed_tail
                if not feed:
                    feed = raw[place : place + FEED_BYTES]
                    place += len(feed)
                    if not feed:
                        raise EOFError
                piece = member.decompress(feed, CHUNK_BYTES)
                pieces.append(piece)
                size += len(piece)
                if size > max_bytes:
                    raise _too_large(name, max_bytes)
                if size > RATIO_FREE_BYTES and size > RATIO_LIMIT * len(raw):
                    what = f"unpacks to more than {RATIO_LIMIT} times its size."
                    remedy = "If that is right, unpack it yourself and give the plain file."
                    raise ResourceLimit(what, remedy, code="gzip-bomb", file=name)
            place -= len(member.unused_data)
            if raw[place : place + 1] == b"\0" and not raw[place:].strip(b"\0"):
                break  # zero padding, as tape and block devices leave it
    except EOFError:
        what, remedy = "the gzip stream ends early.", "Copy or download it again."
        raise DataError(what, remedy, code="gzip-truncated", file=name) from None
    except zlib.error:
        what = "the gzip stream is damaged (wrong checksum, or other bytes behind its end)."
        remedy = "Copy or download it again."
        raise DataError(what, remedy, code="gzip-damaged", file=name) from None
    return b"".join(pieces)


def fault_of(code: str, name: str, line: int) -> Problem:
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
        fault_of(code, name, line) for code, mark in marks.items() for line in _lines_with(data, mark)
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
    return [fault_of("lone-cr", name, line_at(data, offset))]


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
