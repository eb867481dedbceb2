"""What a format is, and what formats share: how a text is handed to them, how lines are made."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, BinaryIO, cast

import numpy as np

from ...model.layout import Layout
from ...model.transactions import Transactions
from ..columns import Columns, Draft, columns_of_fields
from ..csv_text import FEW, Fields, Head, arrow_integers, arrow_text, arrow_texts, split_fields
from ..options import OfAnyFile
from ..source import Source

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_PER_BLOCK = 65_536


@dataclass(frozen=True)
class Reading:
    """A file to be read; `data` is checked UTF-8 text, of Parquet the raw bytes."""

    data: bytes
    source: Source
    notices: tuple[str, ...] = ()
    delimiter: str = ","
    header: bool = False
    asked: OfAnyFile = field(default_factory=OfAnyFile)

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


class Format:
    """One way in which records lie in a file.

    `options` are the options of reading that it has a use for. A table is not read here but by
    `read_records`.
    """

    key: str
    suffix: str = ".csv"
    options: frozenset[str] = frozenset()
    is_read: bool = True
    holds_empty: bool = True
    is_packed: bool = False

    @property
    def is_csv(self) -> bool:
        """Whether its files are CSV, which spreadsheets open."""
        return self.suffix == ".csv"

    def looks(self, head: Head) -> bool:
        """Tell whether the head of a text seems to be of it."""
        del head
        return False

    def read(self, reading: Reading) -> Draft:
        """Return the draft of a file."""
        raise NotImplementedError

    def cannot_hold(
        self, transactions: Transactions, layout: Layout, labels: Sequence[str]
    ) -> str | None:
        """Return why it cannot hold these rows, given the labels in use, or None."""
        del transactions, layout, labels
        return None

    def blocks(self, transactions: Transactions, layout: Layout) -> Iterator[bytes]:
        """Yield the canonical bytes of transactions."""
        raise NotImplementedError

    def write(self, transactions: Transactions, layout: Layout, file: BinaryIO) -> None:
        """Write canonical transactions to a binary file; the same rows give the same bytes."""
        if layout.gzip and not self.is_packed:
            # No name and no time in the header: they would tell of the run and change the bytes.
            with gzip.GzipFile(
                filename="", mode="wb", fileobj=file, compresslevel=6, mtime=0
            ) as packed:
                self.write(transactions, replace(layout, gzip=False), cast(BinaryIO, packed))
            return
        for block in self.blocks(transactions, layout):
            file.write(block)


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
