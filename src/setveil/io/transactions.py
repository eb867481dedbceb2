"""Read set-valued data from a file, whatever its layout.

`read_transactions` opens the file, finds out how it is laid out or takes the caller's word, and hands
the bytes to the reader of that format. An option that the format has no use for is refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from ..arguments import checked
from ..errors import UsageError
from ..model.layout import Layout
from ..model.transactions import Transactions
from .baskets import read_baskets
from .columns import Columns, columns_of_fields, merge_rows, number_by_first_row
from .csv_text import check_delimiter, split_fields
from .draft import ID_POLICIES, Draft, Policy, check_choice, finish, refuse_unused_policy
from .fimi import read_fimi
from .jsonl import read_jsonl
from .labels import read_labels
from .long import read_long
from .onehot import read_onehot, read_plain_onehot
from .sniff import PARQUET_MAGIC, Guess, guess_delimiter_of, guess_layout
from .source import MAX_BYTES, Source, read_source
from .table_look import refuse_table
from .text import plain_text
from .tokens import number_strings

LAYOUTS = ("baskets", "long", "onehot", "fimi", "jsonl", "parquet")

_USES = {
    "delimiter": ("baskets", "long", "onehot"),
    "header": ("baskets", "long", "onehot"),
    "id_column": ("long", "onehot", "jsonl", "parquet"),
    "item_column": ("long", "jsonl", "parquet"),
    "id_policy": ("onehot", "jsonl", "parquet"),
    "count_column": ("long",),
    "counts": ("baskets", "long", "fimi", "jsonl", "parquet"),
    "comment": ("fimi",),
}


@checked()
def read_transactions(
    path: str | os.PathLike[str],
    *,
    layout: str | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    header: bool | None = None,
    id_column: str | None = None,
    item_column: str | None = None,
    count_column: str | None = None,
    counts: bool = False,
    labels: str | os.PathLike[str] | Mapping[str, str] | None = None,
    empty_rows: str = "error",
    id_policy: str = "merge",
    comment: str | None = None,
    integers: bool = False,
    missing: Iterable[str] = (),
    normalize: str | None = None,
    strict: bool = False,
    max_bytes: int = MAX_BYTES,
    repeats: str = "once",
) -> Transactions:
    """Return the records of a file as sets of items, with `layout` and `notices` set.

    Parameters
    ----------
    path
        A regular file, plain or gzip; ``-`` is standard input.
    layout
        One of baskets, long, onehot, fimi, jsonl, parquet; guessed and told if not given. A file that
        looks like a table is not guessed to hold baskets: it is refused.
    delimiter, header, encoding
        How a CSV file is written; the delimiter is guessed and told if not given.
    id_column, item_column, count_column
        Names of columns (of keys in JSON lines). Rows of one id are one record.
    counts
        Keep how often an item is in its record: it becomes the item ``milk x2``.
    labels
        A mapping from id to label, or a CSV file that holds one.
    empty_rows
        What to do with blank lines: error, keep or skip. Records that are empty on purpose, such as
        ``[]`` or a row of zeros, are kept unless this is skip.
    id_policy
        merge rows of one id to one record, or raise an error; the long layout always merges.
    repeats
        Keep an item that is twice in its row once, or raise an error.
    comment
        The mark that comment lines of a FIMI file begin with.
    integers
        Refuse items that are not made of the digits 0-9 alone.
    missing
        Texts that stand for no item.
    normalize, strict
        Bring labels to a Unicode normal form; make oddities of spelling errors.
    max_bytes
        Refuse more bytes than that, unpacked.
    """
    check_choice("layout", layout, (None, *LAYOUTS))
    check_choice("id_policy", id_policy, ID_POLICIES)
    if delimiter is not None:
        check_delimiter(delimiter)
    given: dict[str, object] = {
        "delimiter": delimiter, "header": header, "id_column": id_column, "item_column": item_column,
        "count_column": count_column, "counts": counts or None, "comment": comment,
        "id_policy": None if id_policy == "merge" else id_policy,
    }  # fmt: skip
    given = {name: value for name, value in given.items() if value is not None}
    if layout is not None:
        _refuse_unused(layout, given, guessed=False)
    refuse_unused_policy(id_policy, id_column)
    policy = Policy(
        empty_rows=empty_rows,
        missing=frozenset([missing] if isinstance(missing, str) else missing),
        normalize=normalize,
        strict=strict,
        integers=integers,
        counts=counts or count_column is not None,
        label_of_id=None if labels is None else read_labels(labels, max_bytes=max_bytes),
        repeats=repeats,
    )
    source = read_source(path, max_bytes=max_bytes)
    if layout == "parquet" or (layout is None and source.data.startswith(PARQUET_MAGIC)):
        from .parquet import read_parquet

        _refuse_unused("parquet", given, guessed=layout is None)
        draft = read_parquet(
            source,
            id_column=id_column,
            item_column=item_column,
            id_policy=id_policy,
            max_bytes=max_bytes,
        )
        return finish(draft, policy)
    data, notices = plain_text(source, encoding=encoding)
    if layout is None:
        guess = guess_layout(
            data,
            source,
            delimiter=delimiter,
            header=header,
            id_column=id_column,
            item_column=item_column,
        )
        _refuse_unused(guess.format, given, guessed=True)
    else:
        mark = delimiter or guess_delimiter_of(data, source, layout)
        guess = Guess(layout, mark, bool(header) if layout == "baskets" else header is not False)
    told = _told(guess, layout, delimiter)
    draft = _read_text(
        data,
        source,
        guess,
        (*notices, *told),
        id_column=id_column,
        item_column=item_column,
        count_column=count_column,
        id_policy=id_policy,
        comment=comment,
        guessed=layout is None,
        counts=counts,
    )
    return finish(draft, policy)


def _read_text(
    data: bytes,
    source: Source,
    guess: Guess,
    notices: tuple[str, ...],
    *,
    id_column: str | None,
    item_column: str | None,
    count_column: str | None,
    id_policy: str,
    comment: str | None,
    guessed: bool,
    counts: bool,
) -> Draft:
    """Hand the text to the reader of its format."""
    if guess.format == "fimi":
        return read_fimi(data, source, comment=comment, notices=notices)
    if guess.format == "jsonl":
        draft, ids = read_jsonl(
            data, source, item_column=item_column, id_column=id_column, notices=notices
        )
        return draft if ids is None else _merged(draft, ids, id_policy)
    if guess.format == "onehot" and guess.header and id_column is None:
        plain = read_plain_onehot(data, source, delimiter=guess.delimiter, notices=notices)
        if plain is not None:
            return plain
    fields = split_fields(data, delimiter=guess.delimiter, name=source.name)
    if guess.format == "baskets":
        if guessed:
            refuse_table(fields, file=source.name, header=guess.header, counts=counts)
        return read_baskets(
            fields, source, delimiter=guess.delimiter, header=guess.header, notices=notices
        )
    columns = columns_of_fields(
        fields, file=source.name, header=guess.header, delimiter=guess.delimiter
    )
    layout = Layout(guess.format, delimiter=guess.delimiter, gzip=source.gzip)
    if guess.format == "long":
        return read_long(
            columns,
            layout=layout,
            id_column=id_column,
            item_column=item_column,
            count_column=count_column,
            notices=notices,
        )
    return read_onehot(
        columns, layout=layout, id_column=id_column, id_policy=id_policy, notices=notices
    )


def _merged(draft: Draft, ids: list[str], id_policy: str) -> Draft:
    """Merge rows of JSON lines by their id."""
    if draft.problems or not ids:
        return draft
    record_of_row, n_records = number_by_first_row(number_strings(ids).code_of_piece)
    place = Columns({}, draft.n_rows, draft.file, draft.line_of_row)
    record_of_row, told = merge_rows(np.asarray(record_of_row), n_records, place, id_policy)
    return replace(draft, record_of_row=record_of_row, notices=(*draft.notices, *told))


def _told(guess: Guess, layout: str | None, delimiter: str | None) -> tuple[str, ...]:
    """Return the notice of what was guessed."""
    parts, options = [], []
    if layout is None:
        parts.append(f"the layout {guess.format}")
        options.append("--layout")
    if delimiter is None and guess.format in _USES["delimiter"]:
        parts.append(f"the delimiter {guess.delimiter!r}")
        options.append("--delimiter")
    if not parts:
        return ()
    return (
        f"read as {' with '.join(parts)}, by the look of the file; "
        f"say otherwise with {', '.join(options)}.",
    )


def _refuse_unused(layout: str, given: Mapping[str, object], *, guessed: bool) -> None:
    """An option that would change nothing is a misunderstanding, so it is an error."""
    for name in given:
        if layout not in _USES[name]:
            raise UsageError(
                f"the option {name.replace('_', '-')} has no use with the layout {layout}"
                f"{' (guessed)' if guessed else ''}.",
                "Leave it out, or name another layout (--layout).",
                code="unused-option",
            )
