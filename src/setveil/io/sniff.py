"""A careful guess at how a file is laid out; the guess is told and can be overruled.

Only the head of the file is looked at. Where two readings are possible the plainer wins: a CSV file is
basket lines unless its header says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import DataError
from .csv_explain import parse_carefully
from .onehot import NO, YES
from .source import Source

DELIMITERS = ",;\t|"
HEAD_BYTES = 1 << 16
HEAD_LINES = 200
PARQUET_MAGIC = b"PAR1"

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
class Guess:
    """A format and, for CSV, its delimiter and whether there is a header."""

    format: str
    delimiter: str = ","
    header: bool = False


def guess_layout(
    data: bytes,
    source: Source,
    *,
    delimiter: str | None = None,
    header: bool | None = None,
    id_column: str | None = None,
    item_column: str | None = None,
) -> Guess:
    """Return how the text of `source` seems to be laid out; what the caller knows is taken as given."""
    head = _head(data)
    opening = head.lstrip(" \t\r\n")[:1]
    if source.suffix in (".jsonl", ".ndjson", ".json") or (opening in ("[", "{") and delimiter is None):
        return Guess("jsonl")
    if delimiter is None and source.suffix in (".dat", ".fimi"):
        return Guess("fimi", " ")
    found = delimiter or guess_delimiter(head)
    if found is None:
        if source.suffix not in (".csv", ".tsv") and any(
            len(line.split()) > 1 for line in head.split("\n")
        ):
            return Guess("fimi", " ")
        found = "\t" if source.suffix == ".tsv" else ","
    rows = _sample(head, found)
    named = id_column is not None and item_column is not None
    if named or (header is not False and _is_long(rows)):
        return Guess("long", found, header is not False)
    if header is not False and _is_onehot(rows, id_column):
        return Guess("onehot", found, True)
    return Guess("baskets", found, bool(header))


def guess_delimiter(head: str) -> str | None:
    """Return the delimiter that occurs in most lines outside quotes, or None."""
    lines = [_outside_quotes(line) for line in head.split("\n")]
    scores = [
        (sum(mark in line for line in lines), sum(line.count(mark) for line in lines), -place, mark)
        for place, mark in enumerate(DELIMITERS)
    ]
    best = max(scores)
    return best[3] if best[0] else None


def guess_delimiter_of(data: bytes, source: Source, layout: str) -> str:
    """Return the delimiter of a file of known layout: by its header, for baskets by all lines."""
    if layout != "baskets":
        return guess_table_delimiter(data)
    return guess_delimiter(_head(data)) or ("\t" if source.suffix == ".tsv" else ",")


def guess_table_delimiter(data: bytes) -> str:
    """Return the delimiter that occurs most in the header of a table."""
    header = _outside_quotes(_head(data).split("\n", 1)[0])
    count, _, mark = max((header.count(mark), -place, mark) for place, mark in enumerate(DELIMITERS))
    return mark if count else ","


def _head(data: bytes) -> str:
    """Return up to `HEAD_LINES` whole lines; what is cut off is left out."""
    piece = data[:HEAD_BYTES]
    if len(data) > HEAD_BYTES:
        piece = piece[: piece.rfind(b"\n") + 1] or piece
    lines = piece.decode("utf-8", "ignore").split("\n")
    return "\n".join(lines[:HEAD_LINES])


def _outside_quotes(line: str) -> str:
    return "".join(line.split('"')[::2]) if '"' in line else line


def _sample(head: str, delimiter: str) -> list[list[str]]:
    """Return the rows of the head; a head cut inside quotes gives no sample."""
    try:
        rows = parse_carefully(head.encode(), delimiter=delimiter, name="")
    except DataError:
        return []
    return [row for _, row in rows]


def _is_long(rows: list[list[str]]) -> bool:
    if len(rows) < 2 or any(len(row) != 2 for row in rows):
        return False
    first, second = (cell.strip().casefold().replace(" ", "_") for cell in rows[0])
    return first in ID_NAMES and second in ITEM_NAMES


def _is_onehot(rows: list[list[str]], id_column: str | None) -> bool:
    if len(rows) < 2 or len(rows[0]) < 2 or any(len(row) != len(rows[0]) for row in rows):
        return False
    flags = YES | NO
    names = rows[0]
    places = [place for place, name in enumerate(names) if name != id_column]
    if any(names[place] in flags for place in places):
        return False
    return all(row[place] in flags for row in rows[1:] for place in places)
