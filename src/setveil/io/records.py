"""Read a table with set-valued columns from a CSV or Parquet file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from ..arguments import checked
from ..model.layout import Layout
from ..model.records import Records
from .columns import columns_of_fields
from .csv_text import check_delimiter, split_fields
from .draft import Policy
from .formats.parquet import MAGIC, parquet_table
from .labels import read_labels
from .sniff import guess_table_delimiter
from .source import MAX_BYTES, read_source
from .tables import TableOptions, build_records, records_of_arrow
from .text import plain_text


@checked()
def read_records(
    path: str | os.PathLike[str],
    *,
    set_columns: Mapping[str, str | None],
    keep: Sequence[str] = (),
    sensitive: str | None = None,
    id_column: str | None = None,
    id_policy: str = "merge",
    delimiter: str | None = None,
    encoding: str = "utf-8",
    labels: str | os.PathLike[str] | Mapping[str, str] | None = None,
    empty_rows: str = "error",
    missing: Iterable[str] = (),
    missing_cells: str = "error",
    keep_unprotected: Sequence[str] = (),
    normalize: str | None = None,
    strict: bool = False,
    max_bytes: int = MAX_BYTES,
    repeats: str = "once",
    as_is: bool = False,
) -> Records:
    """Return the records of a table with a header, as items ``column=value``.

    Parameters
    ----------
    path
        A regular file, plain or gzip; ``-`` is standard input.
    set_columns
        The separator inside the cells of each set-valued column (None for a Parquet column of lists).
    keep
        Columns of one value that are published too; they count as items.
    sensitive
        The column, set-valued or not, that an attacker must not learn.
    id_column, id_policy
        Rows of one id are merged to one record, or refused; the id goes no further.
    missing, missing_cells
        Texts that stand for no value, beside the empty cell of a kept column; such a cell is an error,
        left out (suppress) or a value of its own (category). An empty set-valued cell is an empty set.
    keep_unprotected
        Columns that are published as they are. They are no items and no promise covers them.
    as_is
        Split cells at the separators given and nowhere else, blanks kept, and go on where that takes
        lists for single values.

    The other options are those of `read_transactions`.
    """
    options = TableOptions(
        dict(set_columns),
        tuple(keep),
        sensitive,
        id_column,
        id_policy,
        missing_cells,
        tuple(keep_unprotected),
        as_is,
    )
    policy = Policy(
        empty_rows=empty_rows,
        missing=frozenset([missing] if isinstance(missing, str) else missing),
        normalize=normalize,
        strict=strict,
        label_of_id=None if labels is None else read_labels(labels, max_bytes=max_bytes),
        repeats=repeats,
    )
    source = read_source(path, max_bytes=max_bytes)
    if source.data.startswith(MAGIC):
        table = parquet_table(source, max_bytes=max_bytes)
        return records_of_arrow(table, options, policy, file=source.name)
    data, notices = plain_text(source, encoding=encoding)
    if delimiter is None:
        delimiter = guess_table_delimiter(data)
        notices = (
            *notices,
            f"read with the delimiter {delimiter!r}, by the look of the file; "
            "say otherwise with --delimiter.",
        )
    fields = split_fields(data, delimiter=check_delimiter(delimiter), name=source.name)
    columns = columns_of_fields(fields, file=source.name, header=True, delimiter=delimiter)
    for name in options.all_names:
        columns.require(name)
    layout = Layout("table", delimiter=delimiter, gzip=source.gzip)
    return build_records(columns, {}, columns.names, options, policy, layout=layout, notices=notices)
