"""The formats of records, and what is asked of all of them.

To add one: a class here that inherits from `Format`, an object of it in `FORMATS`, and a reader in the
audit. Writing is canonical: transactions come in canonical order (labels sorted in a row, rows
sorted), the same content gives the same bytes, and reading back gives the same rows. What a format
cannot hold is said by `cannot_hold` before anything is written.
"""

from __future__ import annotations

import numpy as np

from ...errors import InternalError
from ...model.layout import Layout
from ...model.transactions import Transactions, label_fault
from ..csv_text import Head
from ..source import shorten
from ..spelling import is_formula
from .base import Format
from .jsonl import JsonLines
from .lines import Baskets, Fimi
from .parquet import Parquet
from .tables import Long, OneHot, Table

FORMATS: dict[str, Format] = {
    format.key: format
    for format in (Baskets(), Long(), OneHot(), Fimi(), JsonLines(), Parquet(), Table())
}
LAYOUTS = tuple(key for key, format in FORMATS.items() if format.is_read)
"""The formats that `read_transactions` reads."""
GUESSED = ("jsonl", "fimi", "long", "onehot")
"""In this order a text is held against them; what looks like none of them is read as baskets."""


def format_of(layout: Layout) -> Format:
    """Return the format of a layout; that there is none would be our own fault."""
    if layout.format not in FORMATS:
        raise InternalError(f"no writer for the format {layout.format}.")
    return FORMATS[layout.format]


def guess_format(head: Head) -> str:
    """Return the key of the format that the head of a text seems to be of."""
    return next((key for key in GUESSED if FORMATS[key].looks(head)), "baskets")


def data_file_name(layout: Layout) -> str:
    """Return the name of the data file in a release.

    >>> data_file_name(Layout("baskets", gzip=True)), data_file_name(Layout("fimi"))
    ('data.csv.gz', 'data.dat')
    """
    format = format_of(layout)
    return f"data{format.suffix}{'.gz' if layout.gzip and not format.is_packed else ''}"


def pair_file_names(layout: Layout) -> tuple[str, str]:
    """Return the names of the two data files of a pair.

    >>> pair_file_names(Layout("baskets", gzip=True)), pair_file_names(Layout("fimi"))
    (('data-1.csv.gz', 'data-2.csv.gz'), ('data-1.dat', 'data-2.dat'))
    """
    name, ending = data_file_name(layout).split(".", 1)
    return f"{name}-1.{ending}", f"{name}-2.{ending}"


def cannot_hold(transactions: Transactions, layout: Layout) -> str | None:
    """Return why the format cannot hold these rows unchanged, or None if it can.

    >>> cannot_hold(Transactions.from_rows([["whole milk"]]), Layout("fimi"))
    "FIMI parts items by blanks, and the label 'whole milk' holds one"
    """
    labels = _labels_in(transactions)
    for label in labels:
        fault = label_fault(label)
        if fault is not None:
            return f"no format can hold a label such as {label[:40]!a}: {fault[1]}"
    if transactions.unprotected is not None and layout.format != "table":
        return "only a table can hold columns that are published as they are"
    format = format_of(layout)
    if not format.holds_empty and int((transactions.length_by_record == 0).sum()):
        return f"the format {layout.format} cannot hold an empty record, and there are some"
    return format.cannot_hold(transactions, layout, labels)


def formulas_in(transactions: Transactions, layout: Layout) -> str | None:
    """Return which cell of a CSV file a spreadsheet would run as a formula, or None if there is none.

    >>> formulas_in(Transactions.from_rows([["=cmd()"]]), Layout("baskets"))
    "a spreadsheet would run '=cmd()' as a formula"
    """
    if not format_of(layout).is_csv:
        return None
    cells = _labels_in(transactions)
    if layout.format == "table":
        cells = [label.partition("=")[2] for label in cells]
        cells += [column.name for column in layout.columns]
        cells += sorted({cell for row in transactions.unprotected or () for cell in row})
    found = next((cell for cell in cells if is_formula(cell)), None)
    return None if found is None else f"a spreadsheet would run {shorten(found)} as a formula"


def _labels_in(transactions: Transactions) -> list[str]:
    used = np.flatnonzero(transactions.count_by_item).tolist()
    return [transactions.vocabulary.labels[item] for item in used]
