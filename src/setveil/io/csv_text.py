"""Strict CSV: fields by delimiter, RFC 4180 quoting, and values as numbers.

The grammar: a field is either bare, without any quote, or quoted from its first byte to its last, with
inner quotes doubled. A row ends with LF or CRLF outside quotes. A text fits this grammar exactly if
every piece cut at the separators with an even number of quotes before them does, so the fast path cuts
with array operations and looks only at the distinct pieces. Where one does not fit, `parse_carefully`
walks the text byte by byte and says what is wrong in which line.

Arrow arrays come from numpy and go back by their buffers. The convenient ways (``pa.array``,
``pa.scalar``, ``to_numpy``) import pandas where it is installed, which takes longer than reading a file
does. Arrow itself is loaded where it is used: where values are few it is quicker to do without.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import accumulate, islice, pairwise
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError, Problem, ResourceLimit, UsageError
from .options import OfAnyFile
from .source import MAX_PROBLEMS, HasLines, Source, fault_of, shorten

if TYPE_CHECKING:
    import pyarrow as pa

Codes = NDArray[np.int32]
Places = NDArray[np.int64]
Flags = NDArray[np.bool_]
Bytes = NDArray[np.uint8]

FEW = 200_000
"""So many values are done in plain Python before Arrow and its functions are loaded."""

MAX_FIELD_CHARACTERS = 131_072
LINES_PER_BLOCK = 16_384
_LF, _CR, _QUOTE = 0x0A, 0x0D, 0x22
_QUOTED = re.compile(r'"([^"]*+(?:""[^"]*+)*+)"')
DELIMITERS = ",;\t|"
HEAD_BYTES = 1 << 16
HEAD_LINES = 200


def arrow_integers(values: NDArray[Any]) -> pa.Array:
    """Return an Arrow array of the same integers."""
    import pyarrow as pa

    plain = np.ascontiguousarray(values)
    kind = pa.from_numpy_dtype(plain.dtype)
    return pa.Array.from_buffers(kind, len(plain), [None, pa.py_buffer(plain)])


def arrow_texts(values: Sequence[str]) -> pa.Array:
    """Return an Arrow array of the same texts."""
    import pyarrow as pa

    pieces = [value.encode() for value in values]
    offsets = np.fromiter(accumulate(map(len, pieces), initial=0), np.int64, len(pieces) + 1)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(pieces))]
    return pa.Array.from_buffers(pa.large_string(), len(pieces), buffers)


def arrow_text(value: str) -> pa.Scalar:
    """Return an Arrow scalar of the same text."""
    return arrow_texts([value])[0]


def numpy_integers(array: pa.Array, *, null: int = -1) -> NDArray[np.int64]:
    """Return the integers of an Arrow array, with `null` where there is none."""
    validity, data = array.buffers()
    kind = np.dtype(str(array.type))  # both say int32, uint8 and so on
    values = np.frombuffer(data, dtype=kind, count=array.offset + len(array))[array.offset :]
    values = values.astype(np.int64)
    if array.null_count:
        bits = np.unpackbits(np.frombuffer(validity, dtype=np.uint8), bitorder="little")
        values[bits[array.offset : array.offset + len(array)] == 0] = null
    return values


@dataclass(frozen=True)
class Pieces:
    """Distinct values and, for each piece of the text in order, the number of its value."""

    values: list[str]
    code_of_piece: Codes


def number_pieces(text_by_byte: Bytes, length_of_piece: Places) -> Pieces:
    """Number the pieces that lie back to back in `text_by_byte` and have these lengths in bytes."""
    offsets = np.zeros(len(length_of_piece) + 1, dtype=np.int64)
    np.cumsum(length_of_piece, out=offsets[1:])
    if len(length_of_piece) <= FEW:
        content, found = text_by_byte.tobytes(), dict[bytes, int]()
        pieces = (content[start:end] for start, end in pairwise(offsets.tolist()))
        few = [found.setdefault(piece, len(found)) for piece in pieces]
        return Pieces([piece.decode() for piece in found], np.array(few, dtype=np.int32))
    import pyarrow as pa

    large = int(offsets[-1]) >= 2**31
    kind = pa.large_string() if large else pa.string()
    if not large:
        offsets = offsets.astype(np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(text_by_byte))]
    encoded = pa.Array.from_buffers(kind, len(length_of_piece), buffers).dictionary_encode()
    codes = numpy_integers(encoded.indices).astype(np.int32)
    return Pieces(encoded.dictionary.to_pylist(), codes)


def number_strings(values: list[str]) -> Pieces:
    """Number values that are Python strings already."""
    numbers: dict[str, int] = {}
    codes = np.fromiter(
        (numbers.setdefault(value, len(numbers)) for value in values),
        dtype=np.int32,
        count=len(values),
    )
    return Pieces(list(numbers), codes)


@dataclass(frozen=True)
class Fields(HasLines):
    """The fields of a CSV text in order, as numbered values.

    Row r holds ``code_of_field[start_of_row[r]:start_of_row[r + 1]]``, and `values[code]` is the text.
    `line_of_row` is the physical line a row begins at. A blank line is a row without fields.
    """

    values: list[str]
    code_of_field: Codes
    start_of_row: Places
    line_of_row: Places
    file: str | None = None

    @property
    def n_rows(self) -> int:
        """How many rows there are, blank ones too."""
        return len(self.line_of_row)

    @property
    def width_of_row(self) -> Places:
        """How many fields each row has."""
        return np.diff(self.start_of_row)

    def row(self, row: int) -> list[str]:
        """Return the fields of one row."""
        codes = self.code_of_field[self.start_of_row[row] : self.start_of_row[row + 1]]
        return [self.values[code] for code in codes.tolist()]

    def without_first_row(self) -> Fields:
        """Return the fields behind the first row, which was a header."""
        skipped = int(self.start_of_row[1])
        return replace(
            self,
            code_of_field=self.code_of_field[skipped:],
            start_of_row=self.start_of_row[1:] - skipped,
            line_of_row=self.line_of_row[1:],
        )


def check_delimiter(delimiter: str) -> str:
    """Return the delimiter if it can be one, else raise `UsageError`."""
    plain = delimiter == "\t" or (delimiter.isascii() and delimiter.isprintable())
    # A cell of a one-hot table is 0 or 1.
    if len(delimiter) != 1 or not plain or delimiter in '"01':
        what = f"{shorten(delimiter)} cannot be a delimiter."
        remedy = "Use one ASCII character such as ',' or ';' or a tab."
        raise UsageError(what, remedy, code="bad-delimiter")
    return delimiter


def split_fields(data: bytes, *, delimiter: str, name: str) -> Fields:
    """Return the fields of a checked UTF-8 text; raise `DataError` with all faults of quoting."""
    check_delimiter(delimiter)
    if data and not data.endswith(b"\n"):
        data += b"\n"
    byte = np.frombuffer(data, dtype=np.uint8)
    is_end = byte == _LF
    is_gap = byte == ord(delimiter)
    if b'"' in data:
        # Odd after a byte: inside quotes (an inner quote, doubled, flips it twice).
        inside = np.bitwise_xor.accumulate((byte == _QUOTE).view(np.uint8)).view(np.bool_)
        all_ends = np.flatnonzero(is_end)
        is_end = is_end & ~inside
        is_gap = is_gap & ~inside
        if bool(inside[-1]):
            _explain(data, delimiter, name)
    else:
        all_ends = None
    is_cut = is_end | is_gap
    cuts = np.flatnonzero(is_cut)
    ends = np.flatnonzero(is_end)
    length_of_field = np.diff(cuts, prepend=-1) - 1
    dropped = is_cut
    if b"\r" in data:
        before_end = ends[ends > 0] - 1
        returns = before_end[byte[before_end] == _CR]
        dropped = is_cut.copy()
        dropped[returns] = True
        length_of_field[np.searchsorted(cuts, returns)] -= 1
    pieces = number_pieces(byte[~dropped], length_of_field)
    row_end = np.searchsorted(cuts, ends) + 1
    start_of_row = np.concatenate((np.zeros(1, dtype=np.int64), row_end.astype(np.int64)))
    if all_ends is None or len(all_ends) == len(ends):
        line_of_row = np.arange(1, len(ends) + 1, dtype=np.int64)
    else:
        line_of_row = np.ones(len(ends), dtype=np.int64)
        line_of_row[1:] = np.searchsorted(all_ends, ends[:-1]) + 2
    fields = Fields(pieces.values, pieces.code_of_piece, start_of_row, line_of_row, name)
    return _unquoted(_without_blank(fields), data, delimiter, name)


def _without_blank(fields: Fields) -> Fields:
    """Turn rows of one raw empty field, that is blank lines, into rows of no field."""
    if "" not in fields.values:
        return fields
    empty = fields.values.index("")
    first_of_row = fields.code_of_field[fields.start_of_row[:-1]]
    blank = (fields.width_of_row == 1) & (first_of_row == empty)
    if not blank.any():
        return fields
    kept = np.ones(len(fields.code_of_field), dtype=np.bool_)
    kept[fields.start_of_row[:-1][blank]] = False
    start = np.zeros(fields.n_rows + 1, dtype=np.int64)
    np.cumsum(fields.width_of_row - blank, out=start[1:])
    return replace(fields, code_of_field=fields.code_of_field[kept], start_of_row=start)


def _unquoted(fields: Fields, data: bytes, delimiter: str, name: str) -> Fields:
    """Take off quotes, value by distinct value; two spellings of one field become one."""
    number: dict[str, int] = {}
    new_of_code = np.zeros(max(len(fields.values), 1), dtype=np.int32)
    for code, raw in enumerate(fields.values):
        value = raw
        if '"' in raw:
            inner = raw[1:-1]
            bare = inner.replace('""', "")
            if len(raw) < 2 or raw[0] != '"' or raw[-1] != '"' or '"' in bare:
                _explain(data, delimiter, name)
            value = inner.replace('""', '"')
        elif "\r" in raw:
            _explain(data, delimiter, name)
        if len(value) > MAX_FIELD_CHARACTERS:
            raise field_too_long(name, _line_of_code(fields, code))
        new_of_code[code] = number.setdefault(value, len(number))
    same = len(number) == len(fields.values)
    codes = fields.code_of_field if same else new_of_code[fields.code_of_field]
    return replace(fields, values=list(number), code_of_field=codes)


def _line_of_code(fields: Fields, code: int) -> int:
    place = int(np.argmax(fields.code_of_field == code))
    return int(fields.line_of_row[np.searchsorted(fields.start_of_row, place, side="right") - 1])


def field_too_long(name: str, line: int | None) -> ResourceLimit:
    """Return the error of a value beyond `MAX_FIELD_CHARACTERS`."""
    what = f"a value longer than {MAX_FIELD_CHARACTERS:,} characters."
    remedy = "Check the quotes and the delimiter; shorten the value if it is right."
    return ResourceLimit(what, remedy, code="field-too-long", file=name, line=line)


def ragged_problems(fields: Fields, expected: int) -> list[Problem]:
    """Return a problem for each row that has another number of fields than expected."""
    problems = []
    width = fields.width_of_row
    for row in np.flatnonzero(width != expected)[:MAX_PROBLEMS].tolist():
        told = ("blank-line", "a blank line.", "Remove it.")
        if width[row]:
            what = f"expected {expected} columns, found {int(width[row])}."
            told = ("ragged-row", what, "Quote fields that hold the delimiter.")
        problems.append(Problem(*told, fields.file, fields.line(row)))
    return problems


def _explain(data: bytes, delimiter: str, name: str) -> None:
    """Raise the error that the careful parser finds."""
    parse_carefully(data, delimiter=delimiter, name=name)
    raise AssertionError("the two CSV parsers disagree")


def parse_carefully(data: bytes, *, delimiter: str, name: str) -> list[tuple[int, list[str]]]:
    """Return (line, fields) for each row, blank lines as no fields; raise with all faults.

    The slow twin of `split_fields`: in the tests both must agree on every text.
    """
    text = data.decode("utf-8")
    if text and not text.endswith("\n"):
        text += "\n"
    rows: list[tuple[int, list[str]]] = []
    problems: list[Problem] = []
    place, line = 0, 1
    while place < len(text) and len(problems) < MAX_PROBLEMS:
        begin, row, is_blank = line, [], True
        while True:
            is_quoted, behind = text[place] == '"', place
            if is_quoted:
                found = _QUOTED.match(text, place)
                if found is None:
                    raise DataError([*problems, fault_of("unclosed-quote", name, line)])
                value = found[1].replace('""', '"')
                line += value.count("\n")
                behind = found.end() + (text.startswith("\r\n", found.end()))
            end_of_line = text.index("\n", behind)
            gap = text.find(delimiter, behind, end_of_line)
            end = end_of_line if gap < 0 else gap
            if not is_quoted:
                value = text[place:end]
                value = value.removesuffix("\r") if gap < 0 else value
                if '"' in value or "\r" in value:
                    code = "stray-quote" if '"' in value else "lone-cr"
                    problems.append(fault_of(code, name, line))
            elif end > behind:
                problems.append(fault_of("text-after-quote", name, line))
            is_blank = is_blank and not is_quoted and not value
            row.append(value)
            place = end + 1
            if gap < 0:
                break
        line += 1
        rows.append((begin, [] if is_blank and len(row) == 1 else row))
    if problems:
        raise DataError(problems)
    return rows


def quoted(label: str, delimiter: str) -> str:
    """Return a label as a CSV cell, quoted only where it must be."""
    plain = label and label == label.strip(" \t") and not any(sign in label for sign in '"\r\n')
    return label if plain and delimiter not in label else '"' + label.replace('"', '""') + '"'


def write_rows(
    file: BinaryIO, header: Sequence[str], rows: Iterable[Sequence[str]], delimiter: str = ","
) -> None:
    """Write a CSV file with a header, block by block."""
    spelled = cache(partial(quoted, delimiter=delimiter))  # the same texts come again and again

    def line(cells: Sequence[str]) -> str:
        return delimiter.join(map(spelled, cells)) + "\n"

    file.write(line(header).encode())
    left = iter(rows)
    while block := list(islice(left, LINES_PER_BLOCK)):
        file.write("".join(map(line, block)).encode())


@dataclass(frozen=True)
class Head:
    """The opening lines of a text, and what the caller says of it, which is taken as given."""

    text: str
    suffix: str
    asked: OfAnyFile

    @cached_property
    def found(self) -> str | None:
        """The delimiter that was given or occurs in most lines outside quotes, or None."""
        if self.asked["delimiter"] is not None:
            return self.asked["delimiter"]
        lines = ["".join(line.split('"')[::2]) for line in self.text.split("\n")]  # outside quotes
        scores = [
            (sum(mark in line for line in lines), sum(line.count(mark) for line in lines), -place, mark)
            for place, mark in enumerate(DELIMITERS)
        ]
        best = max(scores)
        return best[3] if best[0] else None

    @property
    def delimiter(self) -> str:
        """The delimiter to read with."""
        return self.found or ("\t" if self.suffix == ".tsv" else ",")

    @cached_property
    def rows(self) -> list[list[str]]:
        """The rows of CSV; a head cut inside quotes gives none."""
        try:
            parsed = parse_carefully(self.text.encode(), delimiter=self.delimiter, name="")
        except DataError:
            return []
        return [row for _, row in parsed]


def head_of(data: bytes, source: Source, asked: OfAnyFile) -> Head:
    """Return up to `HEAD_LINES` whole lines; what is cut off is left out."""
    piece = data[:HEAD_BYTES]
    if len(data) > HEAD_BYTES:
        piece = piece[: piece.rfind(b"\n") + 1] or piece
    lines = piece.decode("utf-8", "ignore").split("\n")
    return Head("\n".join(lines[:HEAD_LINES]), source.suffix, asked)


def guess_table_delimiter(data: bytes) -> str:
    """Return the delimiter that occurs most in the header of a table."""
    header = data[:HEAD_BYTES].split(b"\n", 1)[0]
    outside = b"".join(header.split(b'"')[::2])
    scores = [(outside.count(mark.encode()), -place, mark) for place, mark in enumerate(DELIMITERS)]
    count, _, mark = max(scores)
    return mark if count else ","
