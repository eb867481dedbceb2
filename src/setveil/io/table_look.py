"""Does a file that was guessed to hold baskets look like a table or a log instead?

Read as baskets, a table without `--set` or a log without `--id` would be published with the ids of
persons as items. So the guess is not trusted where the columns of the file mean different things.
"""

from __future__ import annotations

import re

import numpy as np

from ..distinct import distinct
from ..errors import DataError
from .csv_text import Fields

LEAST_LINES = 20
"""Shorter files are too short to tell."""
LEAST_REPEATING_SHARE = 0.1
"""Items are in a basket once; cells of a row may well be equal."""
_NAME = re.compile(r"[^\W\d][\w .\-/()#]{0,39}")


def refuse_table(fields: Fields, *, file: str, header: bool, counts: bool) -> None:
    """Raise `DataError` where lines of one width have columns of their own.

    Parameters
    ----------
    fields
        The fields of the file, with its header if there is one.
    file
        The name for the message.
    header
        Whether the first line is known to hold names.
    counts
        Whether an item may be in a basket more than once.
    """
    if header and fields.n_rows:
        fields = fields.without_first_row()
    widths = fields.width_of_row
    widths = widths[widths > 0]
    if len(widths) < LEAST_LINES or widths[0] < 2 or (widths != widths[0]).any():
        return
    width = int(widths[0])
    table = fields.code_of_field.reshape(-1, width)
    named = not header and _first_row_is_names(fields, table)
    reason = _difference(fields, table[1:] if named else table, counts=counts)
    if reason is None and not named:
        return
    if named:
        names = "the first line looks like names of columns"
        reason = names if reason is None else f"{reason}, and {names}"
    raise DataError(
        f"every line has {width} fields and {reason}: this looks like a table or a log, not baskets.",
        "Give --id and --item (one item a line), --set COLUMN (a table with a set), or "
        "--layout baskets if each line really is a set of items. A table with one secret column is for "
        "`setveil anonymize --quasi COLUMNS --sensitive COLUMN`.",
        code="looks-like-a-table",
        file=file,
    )


def _difference(fields: Fields, table: np.ndarray, *, counts: bool) -> str | None:
    """Return in what the columns differ from places in a basket, or None."""
    seen = np.zeros(len(fields.values), dtype=np.int64)
    for column in table.T:
        seen[distinct(column)] += 1
    if "" in fields.values:
        seen[fields.values.index("")] = 0
    if seen.max(initial=0) < 2:
        return "no value occurs in two columns"
    ordered = np.sort(table, axis=1)
    repeating = int((ordered[:, 1:] == ordered[:, :-1]).any(axis=1).sum())
    if not counts and repeating >= LEAST_REPEATING_SHARE * len(table):
        return f"{repeating:,} of {len(table):,} lines hold a value twice"
    return None


def _first_row_is_names(fields: Fields, table: np.ndarray) -> bool:
    """Tell whether the first row is made of words that occur nowhere else."""
    names = [fields.values[code].strip() for code in table[0].tolist()]
    if len(set(names)) < len(names) or not all(_NAME.fullmatch(name) for name in names):
        return False
    return not np.isin(table[0], table[1:]).any()
