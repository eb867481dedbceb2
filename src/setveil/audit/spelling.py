"""Strict spelling of text files: one way to write each content, and every other way is refused.

A release that could be written in two ways could carry a message in the choice. So lines end in LF,
fields are quoted where they must be and nowhere else, and nothing may be left over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..errors import DataError
from .published import shortened

REMEDY = "A release is written in one way only; publish it again instead of editing it."


def refuse(
    what: str, file: str, line: int | None = None, *, code: str, remedy: str = REMEDY
) -> DataError:
    """Return the error for a file that is not what a release may hold."""
    return DataError(what, remedy, code=code, file=file, line=line)


def decode(content: bytes, file: str) -> str:
    """Return the text of strict UTF-8 without byte order mark, NUL, or missing last line end."""
    try:
        text = content.decode("utf-8", errors="strict")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise refuse("the bytes are not UTF-8.", file, line, code="not-utf8") from None
    if text.startswith("\ufeff"):
        raise refuse("the file starts with a byte order mark.", file, 1, code="byte-order-mark")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise refuse("the file holds a NUL character.", file, line, code="nul")
    if "\ufeff" in text:
        line = text.count("\n", 0, text.index("\ufeff")) + 1
        what = "the file holds a byte order mark (U+FEFF) inside."
        raise refuse(what, file, line, code="byte-order-mark")
    if text and not text.endswith("\n"):
        line = text.count("\n") + 1
        raise refuse("the last line has no line end.", file, line, code="no-line-end")
    return text


def label_fault(label: str) -> str | None:
    """Return why no release may hold a label, or None; for labels that did not come as text."""
    if not label:
        return "a label is empty."
    if "\0" in label:
        return "a label holds a NUL character."
    return "a label holds a byte order mark (U+FEFF)." if "\ufeff" in label else None


def lines_of(text: str) -> list[str]:
    """Return the lines, split at LF only."""
    return text.split("\n")[:-1]


def needs_quotes(field: str, delimiter: str, *, lone: bool) -> bool:
    """Return whether a field must stand in quotes."""
    if not field:
        return lone
    return (
        delimiter in field
        or '"' in field
        or "\r" in field
        or "\n" in field
        or field[0] in " \t"
        or field[-1] in " \t"
    )


def parse_csv(text: str, delimiter: str, file: str) -> tuple[list[list[str]], list[int]]:
    """Return the fields of each row and the line on which each row starts."""
    if '"' not in text:
        rows = [line.split(delimiter) for line in lines_of(text)]
        numbers = list(range(1, len(rows) + 1))
    else:
        rows, numbers = _parse_quoted(text, delimiter, file)
        return rows, numbers
    # Without a quote in the file only blanks at the edge of a field and CR can need one.
    suspicious = "\r" in text or " " in text or "\t" in text or "\n\n" in text or text[:1] == "\n"
    if suspicious:
        for row, number in zip(rows, numbers, strict=True):
            lone = len(row) == 1
            for field in row:
                if needs_quotes(field, delimiter, lone=lone):
                    raise refuse("a field needs quotes.", file, number, code="quoting")
    return rows, numbers


def rows_below(
    header: Sequence[str], content: bytes, file: str, *, delimiter: str = ","
) -> Iterator[tuple[list[str], int]]:
    """Yield the rows of a table below its header, a cell for each column, each with its line."""
    rows, lines = parse_csv(decode(content, file), delimiter, file)
    if not rows or rows[0] != list(header):
        raise refuse("the header does not name the columns.", file, 1, code="header")
    for row, line in zip(rows[1:], lines[1:], strict=True):
        if len(row) != len(header):
            what = f"{len(row)} cells where {len(header)} belong."
            raise refuse(what, file, line, code="ragged-row")
        yield row, line


def _parse_quoted(text: str, delimiter: str, file: str) -> tuple[list[list[str]], list[int]]:
    rows: list[list[str]] = []
    numbers: list[int] = []
    position, line = 0, 1
    while position < len(text):
        row: list[str] = []
        quoted: list[bool] = []
        start = line
        while True:
            if text[position] == '"':
                pieces = []
                position += 1
                while True:
                    close = text.find('"', position)
                    if close < 0:
                        raise refuse("a quote is never closed.", file, line, code="unclosed-quote")
                    pieces.append(text[position:close])
                    position = close + 1
                    if text[position : position + 1] != '"':
                        break
                    pieces.append('"')
                    position += 1
                field = "".join(pieces)
                line += field.count("\n")
            else:
                end_of_line = text.index("\n", position)
                end = text.find(delimiter, position, end_of_line)
                end = end_of_line if end < 0 else end
                field = text[position:end]
                position = end
                quoted.append(False)
            if len(quoted) == len(row):
                quoted.append(True)
            row.append(field)
            following = text[position]
            position += 1
            if following == "\n":
                break
            if following != delimiter:
                raise refuse("text follows a closing quote.", file, line, code="after-quote")
        for field, has_quotes in zip(row, quoted, strict=True):
            if needs_quotes(field, delimiter, lone=len(row) == 1) != has_quotes:
                raise refuse(
                    f"the field {shortened(field)} is quoted without need, or not quoted in need.",
                    file,
                    start,
                    code="quoting",
                )
        rows.append(row)
        numbers.append(start)
        line += 1
    return rows, numbers
