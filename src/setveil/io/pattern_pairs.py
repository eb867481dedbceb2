"""Read two data sets whose patterns shall be hidden, and bind them to their hierarchies."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import UsageError
from ..model.hierarchy import Hierarchy
from ..model.pattern_pair import PatternPair
from .pattern_data import PatternData, read_attribute_tables, read_classes
from .transactions import read_transactions

Path = str | os.PathLike[str]


def read_pattern_pair(
    first: Path,
    second: Path | None = None,
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
        The first data set, or the table that holds both.
    second
        The second data set, of the same kind as the first.
    class_column
        Instead of `second`: the column whose two values split the table.
    classes
        The two values, where the column has more.
    table
        Both files are tables, every cell the item ``column=value``; else they hold sets of items.
    hierarchy
        What generalizes what: of sets one hierarchy, of tables one a column by name. Where there is
        none, values have one root above them.
    reading
        How to read the files: the options of `setveil.read_transactions` for sets, and for tables
        `attributes`, `missing`, `missing_cells`, `delimiter`, `encoding`, `normalize`, `strict` and
        `max_bytes`.
    """
    if (second is None) == (class_column is None):
        raise UsageError(
            "two data sets are needed." if second is None else "there are too many data sets.",
            "Give either a second file or class_column, the column that splits one table.",
            code="not-two-data-sets",
        )
    if classes is not None and class_column is None:
        raise UsageError("classes goes with class_column.", "Name the column.")
    if class_column is not None:
        data = read_classes(first, class_column=class_column, classes=classes, **reading)
    elif table or "attributes" in reading:
        assert second is not None
        data = read_attribute_tables(first, second, **reading)
    else:
        assert second is not None
        data = read_sets(first, second, **reading)
    return bind_pair(data, hierarchy)


def read_sets(first: Path, second: Path, **reading: Any) -> PatternData:
    """Return two files of sets of items; the options are those of `read_transactions`."""
    here, there = (read_transactions(path, **reading) for path in (first, second))
    told = tuple(dict.fromkeys((*here.notices, *there.notices)))
    return PatternData(here, there, (os.fspath(first), os.fspath(second)), told)


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
        )
    if isinstance(hierarchy, Mapping):
        raise UsageError("sets of items have one hierarchy.", "Give it alone.", code="hierarchy")
    return PatternPair.of_sets(
        data.first, data.second, hierarchy, names=data.names, notices=data.notices
    )
