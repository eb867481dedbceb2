"""What a format is, and what formats share: how a text is handed to them, how lines are made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ...model.layout import Layout
from ...model.transactions import Transactions
from ..arrays import FEW, arrow_integers, arrow_text, arrow_texts
from ..columns import Columns, Draft, columns_of_fields
from ..csv_text import Fields, split_fields
from ..sniff import Head
from ..source import MAX_BYTES, Source

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_PER_BLOCK = 65_536


@dataclass(frozen=True)
class Reading:
    """A file to be read, and what its reader is to know, as `read_transactions` is told.

    `data` is checked UTF-8 text, of Parquet the raw bytes; `guessed` if nobody named the format.
    """

    data: bytes
    source: Source
    notices: tuple[str, ...] = ()
    delimiter: str = ","
    header: bool = False
    id_column: str | None = None
    item_column: str | None = None
    count_column: str | None = None
    id_policy: str = "merge"
    comment: str | None = None
    counts: bool = False
    guessed: bool = False
    max_bytes: int = MAX_BYTES

    def fields(self) -> Fields:
        """Return the text as fields of CSV."""
        return split_fields(self.data, delimiter=self.delimiter, name=self.source.name)

    def columns(self) -> Columns:
        """Return the text as columns of CSV."""
        return columns_of_fields(
            self.fields(), file=self.source.name, header=self.header, delimiter=self.delimiter
        )

    def layout(self, format: str) -> Layout:
        """Return the layout of the file, which is of this format."""
        return Layout(format, delimiter=self.delimiter, gzip=self.source.gzip)


@dataclass(frozen=True)
class Format:
    """One way in which records lie in a file.

    `options` are the options of reading that it has a use for. `looks` tells whether the head of a text
    seems to be of it. `blocks` yields canonical bytes, and `cannot_hold` says why it could not, given
    the labels in use. A format without `read` is read by `read_records`.
    """

    key: str
    blocks: Callable[[Transactions, Layout], Iterator[bytes]]
    suffix: str = ".csv"
    read: Callable[[Reading], Draft] | None = None
    options: frozenset[str] = frozenset()
    looks: Callable[[Head], bool] = lambda _head: False
    cannot_hold: Callable[[Transactions, Layout, Sequence[str]], str | None] = lambda *_: None
    holds_empty: bool = True
    is_packed: bool = False

    @property
    def is_csv(self) -> bool:
        """Whether its files are CSV, which spreadsheets open."""
        return self.suffix == ".csv"


def joined_lines(
    transactions: Transactions,
    fields: Sequence[str],
    separator: str,
    start: str = "",
    end: str = "\n",
) -> Iterator[bytes]:
    """Yield a line a record, a block at a time: the fields of its items between `start` and `end`."""
    indptr = transactions.indptr
    blocks = [
        indptr[place:][: ROWS_PER_BLOCK + 1] for place in range(0, len(indptr) - 1, ROWS_PER_BLOCK)
    ]
    if len(indptr) + len(transactions.items) <= FEW:
        named = [fields[item] for item in transactions.items.tolist()]
        for bounds in blocks:
            rows = [separator.join(named[low:high]) for low, high in pairwise(bounds.tolist())]
            yield (start + (end + start).join(rows) + end).encode()
        return
    import pyarrow as pa
    import pyarrow.compute as pc

    values = arrow_texts(fields)
    for bounds in blocks:
        items = transactions.items[bounds[0] : bounds[-1]]
        lists = pa.LargeListArray.from_arrays(
            arrow_integers(bounds - bounds[0]), values.take(arrow_integers(items))
        )
        yield arrow_lines(pc.binary_join(lists, arrow_text(separator)), start, end)


def arrow_lines(texts: pa.Array, start: str = "", end: str = "\n") -> bytes:
    """Return texts as bytes, each between `start` and `end`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    whole = pa.LargeListArray.from_arrays(arrow_integers(np.array([0, len(texts)])), texts)
    joined = pc.binary_join(whole, arrow_text(end + start))
    return start.encode() + bytes(joined[0].as_buffer()) + end.encode()
