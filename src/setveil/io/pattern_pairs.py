"""Read two data sets whose patterns shall be hidden, and bind them to their hierarchies."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..errors import UsageError
from ..model.hierarchy import Hierarchy
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
    """Return two files of sets of items; the options are those of `read_transactions`."""
    here, there = (read_transactions(path, **reading) for path in (first, second))
    return _as_data(here, there, (os.fspath(first), os.fspath(second)))


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
