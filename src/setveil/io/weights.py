"""Small lists the user brings: weights of items, and labels one a line."""

from __future__ import annotations

import csv
import io
import re
from fractions import Fraction

from ..errors import DataError
from .source import read_source


def read_lines(path: str) -> list[str]:
    """Return the lines of a UTF-8 file, without their ends; blank lines are skipped."""
    text = _text(path)
    return [line.removesuffix("\r") for line in text.split("\n") if line.strip()]


def read_weights(path: str) -> dict[str, Fraction]:
    """Return the weight of each item from ``item,weight`` lines, with or without a header."""
    weights: dict[str, Fraction] = {}
    reader = csv.reader(io.StringIO(_text(path), newline=""), strict=True)
    try:
        for row in reader:
            if not row or (reader.line_num == 1 and [cell.lower() for cell in row[1:]] == ["weight"]):
                continue
            if len(row) != 2 or not row[0] or not re.fullmatch(r"[0-9]+(\.[0-9]+)?", row[1]):
                raise DataError(
                    "a line of weights is an item and a number, such as milk,2.5.",
                    "Correct the line.",
                    code="bad-weight",
                    file=path,
                    line=reader.line_num,
                )
            if row[0] in weights:
                raise DataError(
                    "an item has two weights.",
                    "Keep one.",
                    code="two-weights",
                    file=path,
                    line=reader.line_num,
                )
            weights[row[0]] = Fraction(row[1])
    except csv.Error as error:
        raise DataError(
            f"not a CSV file: {error}.", "Correct the line.", file=path, line=reader.line_num
        ) from error
    if not weights:
        raise DataError("the file holds no weights.", "Give item,weight lines.", file=path)
    return weights


def _text(path: str) -> str:
    content = read_source(path).data
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(
            "the bytes are not UTF-8.", "Save the file as UTF-8.", code="not-utf8", file=path, line=line
        ) from error
