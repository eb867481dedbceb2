"""Read two data sets whose patterns shall be hidden, and bind them to their hierarchies."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..arguments import checked
from ..errors import DataError, UsageError
from ..hierarchy.tree import Hierarchy
from ..model.pattern_pair import PatternPair
from ..model.transactions import Transactions
from .pair_spelling import check_spelling_of_pair
from .pattern_data import (
    FRAMES,
    PatternData,
    classes_from_frame,
    read_attribute_tables,
    read_classes,
    tables_from_frames,
)
from .transactions import read_transactions

OF_FILES = ("delimiter", "encoding", "max_bytes")
"""Options that say how bytes are read."""

Path = str | os.PathLike[str]


@checked()
def read_pattern_pair(
    first: Path | object,
    second: Path | object | None = None,
    *,
    class_column: str | None = None,
    classes: Sequence[str] | None = None,
    table: bool = False,
    hierarchy: Hierarchy | Mapping[str, Hierarchy] | None = None,
    **reading: Any,
) -> PatternPair:
    """Return two data sets to be compared: two files, or a table split by the values of one column.

    Parameters
    ----------
    first
        The first data set, or the table that holds both: a file, or a frame (of pandas, polars, DuckDB,
        pyarrow, or anything with the Arrow C stream).
    second
        The second data set, of the same kind as the first: two files or two frames.
    class_column
        Instead of `second`: the column whose two values split the table.
    classes
        The two values, where the column has more.
    table
        Both are tables, every cell the item ``column=value``; else they hold sets of items.
    hierarchy
        What generalizes what: of sets one hierarchy, of tables one a column by name. Where there is
        none, values have one root above them.
    reading
        How to read them: the options of `setveil.read_transactions` for sets (of frames those of
        `setveil.from_frame`), and for tables `attributes`, `missing`, `missing_cells`, `normalize` and
        `strict`; for files also `delimiter`, `encoding` and `max_bytes`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"job": ["cook", "clerk", "cook"], "pay": ["low", "high", "low"]})
    >>> read_pattern_pair(people, class_column="pay")
    PatternPair('pay=high' with 1 records, 'pay=low' with 2)
    """
    if (second is None) == (class_column is None):
        raise UsageError(
            "two data sets are needed." if second is None else "there are too many data sets.",
            "Give either a second file or class_column, the column that splits one table.",
            code="not-two-data-sets",
        )
    if classes is not None and class_column is None:
        raise UsageError("classes goes with class_column.", "Name the column.")
    is_table = table or "attributes" in reading
    if isinstance(first, str | os.PathLike):
        if class_column is not None:
            data = read_classes(first, class_column=class_column, classes=classes, **reading)
        elif not isinstance(second, str | os.PathLike):
            raise _not_of_a_kind()
        else:
            data = (read_attribute_tables if is_table else read_sets)(first, second, **reading)
    else:
        if isinstance(second, str | os.PathLike):
            raise _not_of_a_kind()
        for name in OF_FILES:
            if name in reading:
                raise UsageError(f"{name} is for files, and these are frames.", "Leave it out.")
        if class_column is not None:
            data = classes_from_frame(first, class_column=class_column, classes=classes, **reading)
        else:
            data = (tables_from_frames if is_table else sets_from_frames)(first, second, **reading)
    return bind_pair(data, hierarchy)


def read_sets(first: Path, second: Path, **reading: Any) -> PatternData:
    """Return two files of sets of items; the options are those of `read_transactions`.

    Two tables are refused: where one looks like a table by itself, or where both begin with the same
    line of names.
    """
    try:
        here, there = (read_transactions(path, **reading) for path in (first, second))
    except DataError as error:
        if error.problems[0].code != "looks-like-a-table":
            raise
        remedy = _remedy_of_tables(first, second)
        raise DataError([replace(problem, remedy=remedy) for problem in error.problems]) from None
    if not {"layout", "header"} & reading.keys() and _begin_with_names(here, there):
        raise DataError(
            "both data sets begin with the same line, and what it holds is nowhere else: these look "
            "like two tables, the names of whose columns would be published as records.",
            _remedy_of_tables(first, second),
            code="looks-like-a-table",
            file=here.source,
            line=1,
        )
    return _as_data(here, there, (os.fspath(first), os.fspath(second)))


def _begin_with_names(first: Transactions, second: Transactions) -> bool:
    """Tell whether two files of basket lines begin with the names of the same columns."""
    names = []
    for data in (first, second):
        lines = data.first_line_by_item
        if data.layout is None or data.layout.format != "baskets" or lines is None or not len(lines):
            return False
        at_start = np.flatnonzero(lines == lines.min())
        once = np.bincount(data.items, minlength=len(data.vocabulary))[at_start] == 1
        width = len(at_start)
        full = int(np.count_nonzero(data.length_by_record == width))
        longest = int(data.length_by_record.max())
        # A value that is twice in its row makes that row shorter, so most rows are asked for, not all.
        if width < 2 or not once.all() or longest > width or 2 * full <= len(data):
            return False
        names.append({data.vocabulary.labels[item] for item in at_start.tolist()})
    return names[0] == names[1] and not any(name.isdecimal() for name in names[0])


def _remedy_of_tables(first: Path, second: Path) -> str:
    start = ["setveil", "anonymize", os.fspath(first), "--against", os.fspath(second)]
    as_tables, as_baskets = (
        shlex.join([*start, *words, "--growth", "5", "-o", "release"])
        for words in (["--table"], ["--layout", "baskets"])
    )
    return (
        f"Give --table (every cell is the item column=value) for tables: `{as_tables}` (table=True in "
        f"Python). If each line really is a set of items: `{as_baskets}`, with --header where the "
        "first line holds names. For one item a line: --id and --item."
    )


def sets_from_frames(first: object, second: object, **reading: Any) -> PatternData:
    """Return two frames of sets of items; the options are those of `from_frame`."""
    from .frames import from_frame

    here, there = (
        replace(from_frame(frame, **reading), source=name)
        for frame, name in zip((first, second), FRAMES, strict=True)
    )
    return _as_data(here, there, FRAMES)


def _as_data(first: Transactions, second: Transactions, names: tuple[str, str]) -> PatternData:
    told = check_spelling_of_pair(first, second)
    return PatternData(
        first, second, names, tuple(dict.fromkeys((*first.notices, *second.notices, *told)))
    )


def _not_of_a_kind() -> UsageError:
    return UsageError(
        "one data set is a file, the other is not.", "Give two files or two frames.", code="not-a-frame"
    )


def bind_pair(
    data: PatternData, hierarchy: Hierarchy | Mapping[str, Hierarchy] | None = None
) -> PatternPair:
    """Return data sets that were read, bound to their hierarchies.

    Parameters
    ----------
    data
        The data sets.
    hierarchy
        Of sets one hierarchy, of tables one a column by name.
    """
    if data.columns:
        if isinstance(hierarchy, Hierarchy):
            raise UsageError(
                "tables have a hierarchy for each column.",
                "Give {column: hierarchy}.",
                code="hierarchy",
            )
        return PatternPair.of_tables(
            data.first,
            data.second,
            data.columns,
            hierarchy,
            names=data.names,
            classes=data.classes,
            notices=data.notices,
            below_root=data.made,
        )
    if isinstance(hierarchy, Mapping):
        raise UsageError("sets of items have one hierarchy.", "Give it alone.", code="hierarchy")
    return PatternPair.of_sets(
        data.first, data.second, hierarchy, names=data.names, notices=data.notices
    )
