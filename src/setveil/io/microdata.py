"""Read a table with a sensitive column from a CSV or Parquet file, or from a frame.

Every row is a person, and every cell one value. Quasi-identifying columns and the sensitive one are
named; the others are left out. Nothing is guessed: a cell without a value is an error until it is said
what it means.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..arguments import checked
from ..errors import DataError
from ..hierarchy.tree import Hierarchy
from ..model.microdata import Microdata
from .columns import FRAME, Column, Columns, columns_of_fields
from .csv_text import check_delimiter, split_fields
from .formats.parquet import MAGIC, parquet_table
from .microdata_cells import Edges, MicrodataOptions, microdata_of_columns, several_sensitive
from .sniff import guess_table_delimiter
from .source import MAX_BYTES, read_source
from .text import plain_text, shorten

if TYPE_CHECKING:
    import pyarrow as pa


@checked("sensitive")
def read_microdata(
    path: str | os.PathLike[str],
    *,
    quasi: Sequence[str] | str,
    sensitive: str,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    intervals: Mapping[str, Sequence[Edges]] | None = None,
    id_column: str | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    missing: Iterable[str] = (),
    missing_cells: str = "error",
    normalize: str | None = None,
    strict: bool = False,
    max_bytes: int = MAX_BYTES,
    as_is: bool = False,
) -> Microdata:
    """Return the tuples of a table with a header.

    Parameters
    ----------
    path
        A regular file, plain or gzip; ``-`` is standard input.
    quasi
        The columns by which people may be recognised.
    sensitive
        The column that an attacker must not learn; one column, one value a person.
    hierarchies
        The hierarchies of some quasi-identifying columns; others get a root above their values.
    intervals
        For columns of numbers, the edges of intervals: the finest first, then coarser ones.
    id_column
        Names the person; each may have one row. The id goes no further.
    delimiter
        Between cells; guessed from the header if not given.
    missing
        Texts that stand for no value, beside the empty cell.
    missing_cells
        A cell without a value is an ``error``, leaves its row out (``suppress-row``), or is a value of
        its own (``category``).
    encoding, normalize, strict, max_bytes
        As in `read_transactions`.
    as_is
        Go on where a cell looks like a list of values, or where most sensitive values are one person's.
    """
    options = _options(
        quasi,
        sensitive,
        hierarchies,
        intervals,
        id_column,
        missing,
        missing_cells,
        normalize,
        strict,
        as_is,
    )
    source = read_source(path, max_bytes=max_bytes)
    if source.data.startswith(MAGIC):
        table = parquet_table(source, max_bytes=max_bytes)
        return microdata_of_columns(_arrow_columns(table, options, source.name), options)
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
    return microdata_of_columns(columns, options, notices)


def microdata_from_frame(
    frame: object,
    *,
    quasi: Sequence[str] | str,
    sensitive: str,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    intervals: Mapping[str, Sequence[Edges]] | None = None,
    id_column: str | None = None,
    missing: Iterable[str] = (),
    missing_cells: str = "error",
    normalize: str | None = None,
    strict: bool = False,
    as_is: bool = False,
) -> Microdata:
    """Return the tuples of a frame: pandas, polars, DuckDB, pyarrow, or anything with Arrow's stream.

    The options are those of `read_microdata`; a null is a cell without a value.
    """
    from .frames import arrow_table

    options = _options(
        quasi,
        sensitive,
        hierarchies,
        intervals,
        id_column,
        missing,
        missing_cells,
        normalize,
        strict,
        as_is,
    )
    return microdata_of_columns(_arrow_columns(arrow_table(frame), options, FRAME), options)


def _arrow_columns(table: pa.Table, options: MicrodataOptions, file: str) -> Columns:
    """Return the named columns of an Arrow table; columns of lists are refused."""
    from .arrow import is_list, named_columns, row_numbers, text_column

    table = named_columns(table, file)
    lines = row_numbers(table.num_rows)
    blank = Column([], np.zeros(0, dtype=np.int32))
    options.check_names(Columns(dict.fromkeys(table.column_names, blank), 0, file))
    if table.num_rows == 0:
        raise DataError(
            "contains no records.", "Check that this is the right file.", code="no-records", file=file
        )
    by_name = {}
    for name in table.column_names:
        used = name in (*options.quasi, options.sensitive, options.id_column)
        if used and is_list(table.schema.field(name).type):
            raise _set_valued(name, file)
        by_name[name] = text_column(table.column(name), name, file) if used else blank
    return Columns(by_name, table.num_rows, file, lines)


def _options(
    quasi: Sequence[str] | str,
    sensitive: str,
    hierarchies: Mapping[str, Hierarchy] | None,
    intervals: Mapping[str, Sequence[Edges]] | None,
    id_column: str | None,
    missing: Iterable[str],
    missing_cells: str,
    normalize: str | None,
    strict: bool,
    as_is: bool,
) -> MicrodataOptions:
    if not isinstance(sensitive, str):
        raise several_sensitive(list(sensitive) if isinstance(sensitive, Iterable) else [])
    return MicrodataOptions(
        (quasi,) if isinstance(quasi, str) else tuple(quasi),
        sensitive,
        dict(hierarchies or {}),
        dict(intervals or {}),
        id_column,
        frozenset([missing] if isinstance(missing, str) else missing),
        missing_cells,
        normalize,
        strict,
        as_is,
    )


def _set_valued(name: str, file: str) -> DataError:
    return DataError(
        f"column {shorten(name)} holds lists; here a cell is one value.",
        "Combine each list into one value, or protect sets by l^m-diversity (--set COLUMN --l L -m M).",
        code="set-valued",
        file=file,
    )
