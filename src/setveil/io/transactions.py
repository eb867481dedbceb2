"""Read set-valued data from a file, whatever its layout.

`read_transactions` opens the file, finds out how it is laid out or takes the caller's word, and hands
the bytes to the reader of that format. An option that the format has no use for is refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace

from ..arguments import checked
from ..errors import UsageError
from ..model.transactions import Transactions
from .csv_text import check_delimiter
from .draft import ID_POLICIES, Policy, check_choice, finish, refuse_unused_policy
from .formats import FORMATS, LAYOUTS, guess_format
from .formats.base import Reading
from .formats.parquet import MAGIC
from .lists import read_labels
from .sniff import guess_table_delimiter, head_of
from .source import MAX_BYTES, read_source
from .text import plain_text


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
    given = {
        "delimiter": delimiter is not None, "header": header is not None,
        "id_column": id_column is not None, "item_column": item_column is not None,
        "count_column": count_column is not None, "counts": counts, "comment": comment is not None,
        "id_policy": id_policy != "merge",
    }  # fmt: skip
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
    reading = Reading(
        source.data,
        source,
        id_column=id_column,
        item_column=item_column,
        count_column=count_column,
        id_policy=id_policy,
        comment=comment,
        counts=counts,
        guessed=layout is None,
        max_bytes=max_bytes,
    )
    format = layout
    if layout == "parquet" or (layout is None and source.data.startswith(MAGIC)):
        format = "parquet"
    else:
        data, notices = plain_text(source, encoding=encoding)
        head = head_of(data, source, delimiter)
        if format is None:
            head = replace(head, header=header, id_column=id_column, item_column=item_column)
            format = guess_format(head)
        by_header = layout not in (None, "baskets") and delimiter is None
        mark = guess_table_delimiter(data) if by_header else head.delimiter
        reading = replace(
            reading,
            data=data,
            delimiter=mark,
            header=bool(header) if format == "baskets" else header is not False,
            notices=(*notices, *_told(format, mark, layout, delimiter)),
        )
    if layout is None:
        _refuse_unused(format, given, guessed=True)
    read = FORMATS[format].read
    assert read is not None  # all of `LAYOUTS` have one
    return finish(read(reading), policy)


def _told(format: str, mark: str, layout: str | None, delimiter: str | None) -> tuple[str, ...]:
    """Return the notice of what was guessed."""
    parts, options = [], []
    if layout is None:
        parts.append(f"the layout {format}")
        options.append("--layout")
    if delimiter is None and "delimiter" in FORMATS[format].options:
        parts.append(f"the delimiter {mark!r}")
        options.append("--delimiter")
    if not parts:
        return ()
    return (
        f"read as {' with '.join(parts)}, by the look of the file; "
        f"say otherwise with {', '.join(options)}.",
    )


def _refuse_unused(format: str, given: Mapping[str, bool], *, guessed: bool) -> None:
    """An option that would change nothing is a misunderstanding, so it is an error."""
    for name, is_given in given.items():
        if is_given and name not in FORMATS[format].options:
            raise UsageError(
                f"the option {name.replace('_', '-')} has no use with the layout {format}"
                f"{' (guessed)' if guessed else ''}.",
                "Leave it out, or name another layout (--layout).",
                code="unused-option",
            )
