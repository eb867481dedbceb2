"""Read a table with a sensitive column from a CSV or Parquet file, or from a frame.

Every row is a person, and every cell one value. Quasi-identifying columns and the sensitive one are
named; the others are left out. Nothing is guessed: a cell without a value is an error until it is said
what it means. All is checked before anything is built, and all faults of a kind are told at once.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Annotated, Unpack

import numpy as np

from ..arguments import checked
from ..distinct import distinct, first_places, number_distinct
from ..errors import DataError, HierarchyError, Problem, UsageError
from ..hierarchy.intervals import from_intervals
from ..hierarchy.tree import Hierarchy
from ..model.layout import NO_VALUE
from ..model.microdata import Microdata, check_roles
from ..model.transactions import label_fault
from .column_look import Roles, look_at_columns
from .columns import Column, Columns, by_line, records_of_ids, repeats, told_of_unused
from .csv_text import Flags
from .options import OfFiles, OfLabels, check_choice, texts_of
from .source import MAX_PROBLEMS, shorten
from .spelling import FORMS, check_spelling
from .table import Table, every_row_lacks, missing_cells, open_frame, open_table, told_of_left_out

MISSING_CELLS = ("error", "suppress-row", "category")
Edges = Sequence[str | int | float | Decimal]
_OF_TREES = ("unknown-item", "item-is-category")
_REMEDY_OF_LISTS = (
    "Combine each list into one value, or protect sets by l^m-diversity (--set COLUMN --l L -m M)."
)


class OfTuples(OfLabels, total=False):
    """How the cells of a table with a secret are read."""

    hierarchies: Annotated[Mapping[str, Hierarchy] | None, None]
    intervals: Annotated[Mapping[str, Sequence[Edges]] | None, None]
    id_column: Annotated[str | None, None]
    missing_cells: Annotated[str, "error"]
    as_is: Annotated[bool, False]


class Options(OfFiles, OfTuples, total=False):
    """The same, of a file."""


@checked("sensitive")
def read_microdata(
    path: str | os.PathLike[str],
    *,
    quasi: Sequence[str] | str,
    sensitive: str,
    **reading: Unpack[Options],
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

    >>> import setveil as sv
    >>> from pathlib import Path
    >>> _ = Path("patients.csv").write_text("age,sex,ill\\n20,F,flu\\n30,M,cold\\n")
    >>> sv.read_microdata("patients.csv", quasi=["age", "sex"], sensitive="ill")
    Microdata(2 tuples, age, sex; ill with 2 values)
    """
    _check(sensitive, reading)
    return _microdata(open_table(path, reading), quasi, sensitive, reading)


@checked("sensitive")
def microdata_from_frame(
    frame: object, *, quasi: Sequence[str] | str, sensitive: str, **reading: Unpack[OfTuples]
) -> Microdata:
    """Return the tuples of a frame: pandas, polars, DuckDB, pyarrow, or anything with Arrow's stream.

    The options are those of `read_microdata`, bytes aside; a null is a cell without a value.
    """
    _check(sensitive, reading)
    return _microdata(open_frame(frame), quasi, sensitive, reading)


def _check(sensitive: str, asked: OfTuples) -> None:
    """Refuse what no file is needed for to see."""
    if not isinstance(sensitive, str):
        raise _several_sensitive(list(sensitive) if isinstance(sensitive, Iterable) else [])
    check_choice("missing_cells", asked["missing_cells"], MISSING_CELLS)
    check_choice("normal_form", asked["normalize"], (None, *FORMS))
    for name in asked["intervals"] or ():
        if name in (asked["hierarchies"] or ()):
            raise UsageError(
                f"column {shorten(name)} has a hierarchy and intervals.", "Give one of them."
            )


def _check_names(columns: Columns, quasi: Sequence[str], sensitive: str, asked: OfTuples) -> None:
    """Raise `UsageError` for columns that are not there, or that have two roles."""
    parts = [part.strip() for part in sensitive.split(",")]
    if sensitive not in columns.by_name and all(part in columns.by_name for part in parts):
        raise _several_sensitive(parts)
    roles, id_column = (*quasi, sensitive), asked["id_column"]
    for name in roles if id_column is None else (*roles, id_column):
        columns.require(name)
    with_trees = (*(asked["hierarchies"] or ()), *(asked["intervals"] or ()))
    check_roles(quasi, sensitive, columns.names, with_trees)
    if id_column in roles:
        what = f"column {shorten(str(id_column))} is given two roles or named twice."
        remedy = "Give it one: an id tells persons apart and goes no further."
        raise UsageError(what, remedy, code="two-roles")


def _several_sensitive(names: Sequence[str]) -> UsageError:
    return UsageError(
        f"{len(names)} sensitive columns are named; there can be one.",
        "Combine them into one column, such as 'flu / high'. For one with several values a person, "
        "use l^m-diversity (--set COLUMN --l L -m M).",
        code="several-sensitive",
    )


def _microdata(table: Table, quasi: Sequence[str] | str, sensitive: str, asked: OfTuples) -> Microdata:
    """Check everything, then return the tuples, or raise with every problem found."""
    quasi = (quasi,) if isinstance(quasi, str) else tuple(quasi)
    _check_names(table.columns, quasi, sensitive, asked)
    names, id_column = (*quasi, sensitive), asked["id_column"]
    columns = table.load((*names, id_column), remedy=_REMEDY_OF_LISTS)
    others = tuple(name for name in columns.names if name not in (*names, id_column))
    missing, choice = texts_of(asked["missing"]), asked["missing_cells"]
    roles = Roles(quasi, sensitive, others=others, missing=missing, as_is=asked["as_is"])
    told = [*table.notices, *told_of_unused(others), *look_at_columns(columns, roles)]
    problems: list[Problem] = []
    if id_column is not None:
        what = "an id that an earlier row has already. A cell holds one value, so two rows cannot be "
        what += "merged into one person."
        remedy = "Keep one row a person, or read the table as sets (--set) with l^m-diversity."
        rows = repeats(*records_of_ids(columns, id_column))
        problems += columns.problems_at("repeated-id", what, remedy, rows)
    texts = missing | {""}
    absent = {name: columns.by_name[name].absent(texts) for name in names}
    kept = np.ones(columns.n_rows, dtype=np.bool_)
    if choice == "suppress-row":
        kept = ~np.logical_or.reduce(list(absent.values()))
        if not kept.any():
            raise every_row_lacks(columns.file, ("category",))
        told += told_of_left_out(columns.n_rows, int((~kept).sum()))
    elif choice == "error":
        for name, cells in absent.items():
            problems += missing_cells(columns, name, np.flatnonzero(cells), MISSING_CELLS)
    if problems:
        raise DataError(by_line(problems)[:MAX_PROBLEMS])
    hierarchies = dict(asked["hierarchies"] or {})
    intervals = asked["intervals"] or {}
    cleaned: dict[str, Column] = {}
    for name in names:
        column = _filled(columns, name, absent[name] & kept)
        if absent[name].any() and choice == "category":
            told.append(_told_of_category(name, int(absent[name].sum()), name == sensitive))
            if name in hierarchies:
                hierarchies[name] = _with_missing(hierarchies[name], name)
        elif name == sensitive and NO_VALUE in column.values:
            number = column.values.index(NO_VALUE)
            n_cells = int((column.code_of_row[kept] == number).sum())
            told.append(_told_of_category(name, n_cells, True))
        here = replace(columns, by_name={name: column}).rows(kept)
        cleaned[name], found, said = _spelled(here, name, asked)
        problems += found
        told += said
        if name in intervals and not found:
            hierarchies[name] = _by_intervals(cleaned[name], name, intervals[name], columns.file)
        if name in hierarchies:
            problems += _strangers(here, cleaned[name], name, hierarchies[name])
    if problems:
        kind = HierarchyError if all(p.code in _OF_TREES for p in problems) else DataError
        raise kind(by_line(problems)[:MAX_PROBLEMS])
    return Microdata.from_codes(
        {name: (column.values, column.code_of_row) for name, column in cleaned.items()},
        sensitive,
        quasi=quasi,
        hierarchies=hierarchies,
        notices=told,
    )


def _filled(columns: Columns, name: str, absent: Flags) -> Column:
    """Return a column whose absent cells hold the label for no value."""
    column = columns.by_name[name]
    if not absent.any():
        return column
    used = set(distinct(column.code_of_row[~absent]).tolist())
    if NO_VALUE in column.values and column.values.index(NO_VALUE) in used:
        raise DataError(
            missing_cells(columns, name, np.flatnonzero(absent), MISSING_CELLS, choice="category")
        )
    codes = np.where(absent, len(column.values), column.code_of_row).astype(np.int32)
    return Column([*column.values, NO_VALUE], codes)


def _with_missing(tree: Hierarchy, name: str) -> Hierarchy:
    """Return the hierarchy with a leaf for no value below its root."""
    if NO_VALUE in tree.node_of_label:
        return tree
    if len(tree.roots) != 1:
        raise HierarchyError(
            f"the hierarchy of {shorten(name)} has several roots, so there is no place for no value.",
            f"Add {NO_VALUE!r} to it.",
        )
    parents = {**tree.parents_by_label(), NO_VALUE: tree.labels[tree.roots[0]]}
    return Hierarchy.from_parents(parents, private=tree.private)


def _spelled(columns: Columns, name: str, asked: OfTuples) -> tuple[Column, list[Problem], list[str]]:
    """Return a column with its values as they count, and what is odd about them."""
    column = columns.by_name[name]
    used, number = number_distinct(column.code_of_row)
    first = first_places(number, len(used))
    values = [column.values[code] for code in used.tolist()]
    lines = [columns.line(row) for row in first.tolist()]
    problems = [
        Problem(*fault, columns.file, line)
        for value, line in zip(values, lines, strict=True)
        if value and (fault := label_fault(value)) is not None
    ]
    spelling = check_spelling(
        values,
        lambda place: lines[place],
        file=columns.file,
        normalize=asked["normalize"],
        strict=asked["strict"],
    )
    labels = list(column.values)
    for code, label in zip(used.tolist(), spelling.labels, strict=True):
        labels[code] = label
    told = [f"column {shorten(name)}: {notice}" for notice in spelling.notices]
    return Column(labels, column.code_of_row), [*problems, *spelling.problems], told


def _by_intervals(column: Column, name: str, edges: Sequence[Edges], file: str | None) -> Hierarchy:
    used = [column.values[code] for code in distinct(column.code_of_row).tolist()]
    finest, *coarser = edges
    try:
        tree = from_intervals([v for v in used if v != NO_VALUE], finest, coarser=coarser)
    except HierarchyError as error:
        raise HierarchyError(
            [replace(p, what=f"column {shorten(name)}: {p.what}", file=file) for p in error.problems]
        ) from None
    return _with_missing(tree, name) if NO_VALUE in used else tree


def _strangers(columns: Columns, column: Column, name: str, tree: Hierarchy) -> list[Problem]:
    """Return a problem for each value that is not a leaf of the column's hierarchy."""
    problems = []
    used, number = number_distinct(column.code_of_row)
    first = first_places(number, len(used))
    for code, row in zip(used.tolist(), first.tolist(), strict=True):
        value = column.values[code]
        node = tree.node_of_label.get(value, -1)
        if not value or 0 <= node < tree.n_leaves:
            continue
        where = f"the value {shorten(value)} of column {shorten(name)}"
        if node < 0:
            fault = ("unknown-item", f"{where} is not in its hierarchy.", "Add it.")
        else:
            remedy = f"Add a leaf such as {shorten(value + ' (unspecified)')}, and use it in the data."
            fault = ("item-is-category", f"{where} is a category of its hierarchy.", remedy)
        problems.append(Problem(*fault, columns.file, columns.line(row)))
    return problems


def _told_of_category(name: str, cells: int, is_secret: bool) -> str:
    told = f"{cells:,} cells of column {shorten(name)} have no value; they count as {NO_VALUE!r}"
    if is_secret:
        return f"{told}, which is no value: it hides nobody and counts as none of the l."
    return f"{told}."
