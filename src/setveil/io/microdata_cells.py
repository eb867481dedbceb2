"""Cells to tuples: what all ways to read a table with a sensitive column share.

Everything is checked before anything is built, and all faults of a kind are told at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np

from ..distinct import distinct, first_places, number_distinct
from ..errors import DataError, HierarchyError, Problem, UsageError
from ..hierarchy.intervals import from_intervals
from ..hierarchy.tree import Hierarchy
from ..model.microdata import Microdata, check_roles
from ..model.vocabulary import label_fault
from .column_look import Roles, look_at_columns
from .columns import Column, Columns, records_of_ids
from .draft import check_choice
from .spelling import FORMS, check_spelling
from .tables import MISSING_LABEL
from .text import MAX_PROBLEMS, shorten

MISSING_CELLS = ("error", "suppress-row", "category")
Edges = Sequence[str | int | float | Decimal]
_OF_TREES = ("unknown-item", "item-is-category")


@dataclass(frozen=True)
class MicrodataOptions:
    """Which columns count and how; checked where no file is needed for it."""

    quasi: tuple[str, ...]
    sensitive: str
    hierarchies: Mapping[str, Hierarchy]
    intervals: Mapping[str, Sequence[Edges]]
    id_column: str | None
    missing: frozenset[str]
    missing_cells: str
    normalize: str | None
    strict: bool
    as_is: bool = False

    def __post_init__(self) -> None:
        check_choice("missing_cells", self.missing_cells, MISSING_CELLS)
        check_choice("normal_form", self.normalize, (None, *FORMS))
        for name in self.intervals:
            if name in self.hierarchies:
                raise UsageError(
                    f"column {shorten(name)} has a hierarchy and intervals.", "Give one of them."
                )

    def check_names(self, columns: Columns) -> None:
        """Raise `UsageError` for columns that are not there, or that have two roles."""
        parts = [part.strip() for part in self.sensitive.split(",")]
        if self.sensitive not in columns.by_name and all(part in columns.by_name for part in parts):
            raise several_sensitive(parts)
        roles = (*self.quasi, self.sensitive)
        named = roles if self.id_column is None else (*roles, self.id_column)
        for name in named:
            columns.require(name)
        check_roles(self.quasi, self.sensitive, columns.names, (*self.hierarchies, *self.intervals))
        if self.id_column in roles:
            raise UsageError(
                f"column {shorten(str(self.id_column))} is given two roles or named twice.",
                "Give it one: an id tells persons apart and goes no further.",
                code="two-roles",
            )


def several_sensitive(names: Sequence[str]) -> UsageError:
    """Return the error of more than one sensitive column, with the way round."""
    return UsageError(
        f"{len(names)} sensitive columns are named; there can be one.",
        "Combine them into one column, such as 'flu / high'. For one with several values a person, "
        "use l^m-diversity (--set COLUMN --l L -m M).",
        code="several-sensitive",
    )


def microdata_of_columns(
    columns: Columns, options: MicrodataOptions, notices: tuple[str, ...] = ()
) -> Microdata:
    """Check everything, then return the tuples, or raise with every problem found."""
    options.check_names(columns)
    names = (*options.quasi, options.sensitive)
    others = [name for name in columns.names if name not in (*names, options.id_column)]
    roles = Roles(
        "buckets",
        options.quasi,
        options.sensitive,
        others=tuple(others),
        missing=options.missing,
        as_is=options.as_is,
    )
    told = [*notices, *_told_of_unused(others), *look_at_columns(columns, roles)]
    problems: list[Problem] = []
    if options.id_column is not None:
        problems += _repeated_ids(columns, options.id_column)
    absent = {name: _absent(columns.by_name[name], options.missing) for name in names}
    kept = np.ones(columns.n_rows, dtype=np.bool_)
    if options.missing_cells == "suppress-row":
        kept = ~np.logical_or.reduce(list(absent.values()))
        told += _told_of_rows(columns, int((~kept).sum()))
    elif options.missing_cells == "error":
        problems += _missing_problems(absent, columns)
    if problems:
        raise DataError(sorted(problems, key=lambda problem: problem.line or 0)[:MAX_PROBLEMS])
    lines = None if columns.line_of_row is None else columns.line_of_row[kept]
    hierarchies = dict(options.hierarchies)
    cleaned: dict[str, Column] = {}
    for name in names:
        column = _filled(columns.by_name[name], absent[name] & kept, name, columns.file)
        if absent[name].any() and options.missing_cells == "category":
            told.append(_told_of_category(name, int(absent[name].sum()), options))
            if name in hierarchies:
                hierarchies[name] = _with_missing(hierarchies[name], name)
        elif name == options.sensitive and MISSING_LABEL in column.values:
            number = column.values.index(MISSING_LABEL)
            told.append(
                _told_of_category(name, int((column.code_of_row[kept] == number).sum()), options)
            )
        column = Column(column.values, column.code_of_row[kept])
        here = replace(columns, by_name={name: column}, n_rows=int(kept.sum()), line_of_row=lines)
        cleaned[name], found, said = _spelled(here, name, options)
        problems += found
        told += said
        if name in options.intervals and not found:
            hierarchies[name] = _by_intervals(cleaned[name], name, options, columns.file)
        if name in hierarchies:
            problems += _strangers(here, cleaned[name], name, hierarchies[name])
    if problems:
        ordered = sorted(problems, key=lambda problem: problem.line or 0)
        kind = HierarchyError if all(p.code in _OF_TREES for p in ordered) else DataError
        raise kind(ordered[:MAX_PROBLEMS])
    return Microdata.from_codes(
        {name: (column.values, column.code_of_row) for name, column in cleaned.items()},
        options.sensitive,
        quasi=options.quasi,
        hierarchies=hierarchies,
        notices=told,
    )


def _absent(column: Column, missing: frozenset[str]) -> np.ndarray:
    flags = np.array([not value or value in missing for value in column.values] + [True], np.bool_)
    return flags[column.code_of_row]


def _missing_problems(absent: Mapping[str, np.ndarray], columns: Columns) -> list[Problem]:
    remedy = "Fill it in, or choose what it means (--missing-cells suppress-row or category)."
    return [
        Problem(
            "missing-cell",
            f"no value in column {shorten(name)}.",
            remedy,
            columns.file,
            columns.line(row),
        )
        for name, rows in absent.items()
        for row in np.flatnonzero(rows)[:MAX_PROBLEMS].tolist()
    ]


def _filled(column: Column, absent: np.ndarray, name: str, file: str | None) -> Column:
    """Return a column whose absent cells hold the label for no value."""
    if not absent.any():
        return column
    used = set(distinct(column.code_of_row[~absent]).tolist())
    if MISSING_LABEL in column.values and column.values.index(MISSING_LABEL) in used:
        raise DataError(
            f"column {shorten(name)} holds {MISSING_LABEL!r}, which stands for no value.",
            "Rename that value, or use --missing-cells error or suppress-row.",
            code="reserved-label",
            file=file,
        )
    codes = np.where(absent, len(column.values), column.code_of_row).astype(np.int32)
    return Column([*column.values, MISSING_LABEL], codes)


def _with_missing(tree: Hierarchy, name: str) -> Hierarchy:
    """Return the hierarchy with a leaf for no value below its root."""
    if MISSING_LABEL in tree.node_of_label:
        return tree
    if len(tree.roots) != 1:
        raise HierarchyError(
            f"the hierarchy of {shorten(name)} has several roots, so there is no place for no value.",
            f"Add {MISSING_LABEL!r} to it.",
        )
    parents = {**tree.parents_by_label(), MISSING_LABEL: tree.labels[tree.roots[0]]}
    return Hierarchy.from_parents(parents, private=tree.private)


def _spelled(
    columns: Columns, name: str, options: MicrodataOptions
) -> tuple[Column, list[Problem], list[str]]:
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
        normalize=options.normalize,
        strict=options.strict,
    )
    labels = list(column.values)
    for code, label in zip(used.tolist(), spelling.labels, strict=True):
        labels[code] = label
    told = [f"column {shorten(name)}: {notice}" for notice in spelling.notices]
    return Column(labels, column.code_of_row), [*problems, *spelling.problems], told


def _by_intervals(column: Column, name: str, options: MicrodataOptions, file: str | None) -> Hierarchy:
    used = [column.values[code] for code in distinct(column.code_of_row).tolist()]
    finest, *coarser = options.intervals[name]
    try:
        tree = from_intervals([v for v in used if v != MISSING_LABEL], finest, coarser=coarser)
    except HierarchyError as error:
        raise HierarchyError(
            [replace(p, what=f"column {shorten(name)}: {p.what}", file=file) for p in error.problems]
        ) from None
    return _with_missing(tree, name) if MISSING_LABEL in used else tree


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


def _repeated_ids(columns: Columns, id_column: str) -> list[Problem]:
    record_of_row, n_records = records_of_ids(columns, id_column)
    if n_records == columns.n_rows:
        return []
    seen = np.zeros(n_records, dtype=np.bool_)
    problems: list[Problem] = []
    for row, record in enumerate(record_of_row.tolist()):
        if seen[record] and len(problems) < MAX_PROBLEMS:
            problems.append(
                Problem(
                    "repeated-id",
                    "an id that an earlier row has already. A cell holds one value, so two rows cannot "
                    "be merged into one person.",
                    "Keep one row a person, or read the table as sets (--set) with l^m-diversity.",
                    columns.file,
                    columns.line(row),
                )
            )
        seen[record] = True
    return problems


def _told_of_unused(unused: Sequence[str]) -> list[str]:
    if not unused:
        return []
    shown = ", ".join(shorten(name) for name in unused[:5])
    return [f"columns not asked for were left out: {shown}{', …' if unused[5:] else ''}."]


def _told_of_rows(columns: Columns, left_out: int) -> list[str]:
    if left_out == columns.n_rows:
        raise DataError(
            "every row has a cell without a value.",
            "Fill them in, or use --missing-cells category.",
            code="no-records",
            file=columns.file,
        )
    if not left_out:
        return []
    return [f"{left_out:,} of {columns.n_rows:,} rows have a cell without a value and were left out."]


def _told_of_category(name: str, cells: int, options: MicrodataOptions) -> str:
    told = f"{cells:,} cells of column {shorten(name)} have no value; they count as {MISSING_LABEL!r}"
    if name == options.sensitive:
        return f"{told}, which is no value: it hides nobody and counts as none of the l."
    return f"{told}."
