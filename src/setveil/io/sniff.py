"""How a text seems to be laid out: its delimiter, and what a format asks to know itself by.

Only the head of the file is looked at, and the guess is told and can be overruled. Where two readings
are possible the plainer wins: a CSV file is basket lines unless its header says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ..errors import DataError
from .csv_text import parse_carefully
from .source import Source

DELIMITERS = ",;\t|"
HEAD_BYTES = 1 << 16
HEAD_LINES = 200

ID_NAMES = frozenset(
    {
        "id", "tid", "record", "record_id", "recordid", "transaction", "transaction_id",
        "transactionid", "basket", "basket_id", "basketid", "order", "order_id", "orderid",
        "customer", "customer_id", "customerid", "person", "person_id", "personid", "patient",
        "patient_id", "patientid", "user", "user_id", "userid", "session", "session_id",
        "sessionid", "invoice", "invoice_id", "invoiceno", "member", "member_id", "household",
        "household_id",
    }
)  # fmt: skip
ITEM_NAMES = frozenset(
    {
        "item", "items", "item_id", "itemid", "product", "product_id", "productid", "product_name",
        "article", "article_id", "label", "code", "name", "diagnosis", "condition", "value",
        "stockcode", "sku",
    }
)  # fmt: skip


@dataclass(frozen=True)
class Head:
    """The opening lines of a text, and what the caller knows of it, which is taken as given."""

    text: str
    suffix: str
    given: str | None = None
    header: bool | None = None
    id_column: str | None = None
    item_column: str | None = None

    @cached_property
    def found(self) -> str | None:
        """The delimiter that was given or occurs in most lines outside quotes, or None."""
        if self.given is not None:
            return self.given
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


def head_of(data: bytes, source: Source, delimiter: str | None = None) -> Head:
    """Return up to `HEAD_LINES` whole lines; what is cut off is left out."""
    piece = data[:HEAD_BYTES]
    if len(data) > HEAD_BYTES:
        piece = piece[: piece.rfind(b"\n") + 1] or piece
    lines = piece.decode("utf-8", "ignore").split("\n")
    return Head("\n".join(lines[:HEAD_LINES]), source.suffix, delimiter)


def guess_table_delimiter(data: bytes) -> str:
    """Return the delimiter that occurs most in the header of a table."""
    header = data[:HEAD_BYTES].split(b"\n", 1)[0]
    outside = b"".join(header.split(b'"')[::2])
    scores = [(outside.count(mark.encode()), -place, mark) for place, mark in enumerate(DELIMITERS)]
    count, _, mark = max(scores)
    return mark if count else ","
