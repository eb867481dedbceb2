"""The slow twin of `csv_text`: walks the text and names the line of every fault.

It runs only where the fast path has found that something does not fit, and in the tests, where both
must agree on every text.
"""

from __future__ import annotations

from ..errors import DataError, Problem
from .text import MAX_PROBLEMS, lone_return


def parse_carefully(data: bytes, *, delimiter: str, name: str) -> list[tuple[int, list[str]]]:
    """Return (line, fields) for each row, blank lines as no fields; raise with all faults."""
    text = data.decode("utf-8")
    if text and not text.endswith("\n"):
        text += "\n"
    rows: list[tuple[int, list[str]]] = []
    problems: list[Problem] = []
    place, line = 0, 1
    while place < len(text) and len(problems) < MAX_PROBLEMS:
        begin, row, quoted = line, [], False
        while True:
            if text[place] == '"':
                value, place, line, fault = _quoted(text, place, line, delimiter, name)
                quoted = True
            else:
                value, place, fault = _bare(text, place, line, delimiter, name)
                quoted = quoted or bool(value)
            if fault is not None:
                problems.append(fault)
            row.append(value)
            if place >= len(text) or text[place] != delimiter:
                break
            place += 1
        place += 1
        line += 1
        rows.append((begin, [] if row == [""] and not quoted else row))
    if problems:
        raise DataError(problems)
    return rows


def _bare(
    text: str, place: int, line: int, delimiter: str, name: str
) -> tuple[str, int, Problem | None]:
    """Read a field without quotes; return it, the place of its end, and its fault."""
    end_of_line = text.index("\n", place)
    gap = text.find(delimiter, place, end_of_line)
    end = end_of_line if gap < 0 else gap
    value = text[place:end]
    if gap < 0 and value.endswith("\r"):
        value = value[:-1]
    fault = None
    if '"' in value:
        fault = Problem(
            "stray-quote",
            "a quote inside a field that does not begin with one.",
            "Quote the whole field and double the quotes in it.",
            name,
            line,
        )
    elif "\r" in value:
        fault = lone_return(name, line)
    return value, end, fault


def _quoted(
    text: str, place: int, line: int, delimiter: str, name: str
) -> tuple[str, int, int, Problem | None]:
    """Read a quoted field; return it, the place and line of its end, and its fault."""
    opened = line
    parts: list[str] = []
    start = place + 1
    while True:
        close = text.find('"', start)
        if close < 0:
            fault = Problem(
                "unclosed-quote",
                "the quote opened here is never closed.",
                "Close it, or double it if it is part of the text.",
                name,
                opened,
            )
            return "".join(parts), len(text), line, fault
        parts.append(text[start:close])
        line += text.count("\n", start, close)
        if text[close + 1 : close + 2] != '"':
            break
        parts.append('"')
        start = close + 2
    end = close + 1
    following = text[end]
    if following in (delimiter, "\n"):
        return "".join(parts), end, line, None
    if text[end : end + 2] == "\r\n":
        return "".join(parts), end + 1, line, None
    fault = Problem(
        "text-after-quote",
        "text behind the closing quote of a field.",
        "Double the quotes that are part of the text, or remove what follows.",
        name,
        line,
    )
    end_of_line = text.index("\n", end)
    gap = text.find(delimiter, end, end_of_line)
    return "".join(parts), end_of_line if gap < 0 else gap, line, fault
