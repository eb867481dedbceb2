"""Bytes from a file: regular files only, gzip by its magic bytes, everything limited.

Nothing here knows what the bytes mean. A file is read whole, so that a file that changes, ends early
or unpacks to far too much is refused before any record exists.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path

from ..errors import DataError, FileSystemError, ResourceLimit, UsageError

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
    if name.lower().endswith(".gz") and not packed:
        what = "the name ends in .gz but the content is not gzip."
        remedy = "Rename the file, or compress it."
        raise DataError(what, remedy, code="gzip-mismatch", file=name)
    if packed and shown != "-" and not name.lower().endswith(".gz"):
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
