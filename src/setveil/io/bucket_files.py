"""Write the files of a table in buckets: canonical bytes, quoted only where needed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import BinaryIO

from .hierarchy_csv import quoted

LINES_PER_BLOCK = 16_384


def write_rows(
    file: BinaryIO, header: Sequence[str], rows: Iterable[Sequence[str]], delimiter: str = ","
) -> None:
    """Write a CSV file with a header, block by block.

    Parameters
    ----------
    file
        Where to write.
    header, rows
        The names, and the cells.
    delimiter
        What stands between cells.
    """
    cell_of_text: dict[str, str] = {}

    def line(cells: Sequence[str]) -> str:
        spelled = []
        for text in cells:
            cell = cell_of_text.get(text)
            if cell is None:
                cell = cell_of_text[text] = quoted(text, delimiter)
            spelled.append(cell)
        return delimiter.join(spelled) + "\n"

    file.write(line(header).encode())
    left = iter(rows)
    while block := list(islice(left, LINES_PER_BLOCK)):
        file.write("".join(map(line, block)).encode())
