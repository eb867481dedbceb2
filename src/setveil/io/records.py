"""Read a table with set-valued columns: each record a row of cells, some of them sets."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import numpy as np

from ..arguments import checked
from ..errors import Problem, UsageError
from ..model.layout import LayoutColumn
from ..model.transactions import Records, label_fault
from .column_look import Roles, follows_blank, look_at_columns
from .columns import merged_by_id, told_of_unused
from .csv_text import Places
from .options import ID_POLICIES, OfFiles, OfTables, check_choice, refuse_unused_policy
from .source import MAX_PROBLEMS, shorten
from .table import Entries, Table, open_table
from .transactions import Policy, finish, unknown_id

if TYPE_CHECKING:
    from .frames import ListColumn

MISSING_CELLS = ("error", "suppress", "category")
LIST_SEPARATOR = "|"
"""What stands between the values of a column of lists when it is written to a CSV table."""


def check_roles(separator_of_set: Mapping[str, str | None], asked: OfTables) -> OfTables:
    """Return the options with lists that can be read twice; refuse columns that cannot be so named."""
    asked = {**asked, "keep": [*asked["keep"]], "keep_unprotected": [*asked["keep_unprotected"]]}
    check_choice("missing_cells", asked["missing_cells"], MISSING_CELLS)
    check_choice("id_policy", asked["id_policy"], ID_POLICIES)
    refuse_unused_policy(asked["id_policy"], asked["id_column"])
    if not separator_of_set:
        raise UsageError("no set-valued column is named.", "Name one (--set).", code="no-set-column")
    sensitive, id_column = asked["sensitive"], asked["id_column"]
    # A sensitive column may be set-valued or kept too; any other has one role.
    named = [*separator_of_set, *asked["keep"], *asked["keep_unprotected"]]
    named += [] if sensitive is None or sensitive in named else [sensitive]
    named += [] if id_column is None else [id_column]
    for name in named:
        if named.count(name) > 1:
            raise UsageError(
                f"column {shorten(name)} is given two roles.", "Give it one.", code="two-roles"
            )
        what = None
        if label_fault(name) is not None:
            what = "is empty or holds what no file can hold"
        elif "=" in name:
            what = "holds '=', which ends column names in labels"
        if what is not None:
            what = f"the column name {shorten(name)} {what}."
            raise UsageError(what, "Rename the column.", code="bad-column-name")
    for name, separator in separator_of_set.items():
        if separator is not None and (not separator or set(separator) & set('"\r\n\0\ufeff')):
            what = f"the separator of {shorten(name)} is empty, or has a quote or a line end."
            remedy = "Give one such as ' ' or '|' (--set-separator)."
            raise UsageError(what, remedy, code="bad-separator")
    return asked


def _columns_that_count(
    order: Sequence[str], separator_of_set: Mapping[str, str | None], asked: OfTables
) -> tuple[LayoutColumn, ...]:
    """Return the columns that count, in the order of the table."""
    result = []
    for name in order:
        if name in separator_of_set:
            role = "sensitive" if name == asked["sensitive"] else "set"
            separator = separator_of_set[name] or LIST_SEPARATOR
            result.append(LayoutColumn(name, role, separator))
        elif name == asked["sensitive"]:
            result.append(LayoutColumn(name, "sensitive"))
        elif name in asked["keep"]:
            result.append(LayoutColumn(name, "kept"))
        elif name in asked["keep_unprotected"]:
            result.append(LayoutColumn(name, "unprotected"))
    return tuple(result)


class Options(OfFiles, OfTables, total=False):
    """How a table with sets in its cells is read."""


@checked()
def read_records(
    path: str | os.PathLike[str],
    *,
    set_columns: Mapping[str, str | None],
    empty_rows: str = "error",
    **reading: Unpack[Options],
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

    >>> import setveil as sv
    >>> from pathlib import Path
    >>> _ = Path("people.csv").write_text("sex,drugs\\nF,a b\\nM,b\\n")
    >>> sv.read_records("people.csv", set_columns={"drugs": " "}, keep=["sex"])
    Records(2 records, sex kept, drugs set)
    """
    asked = check_roles(set_columns, reading)
    policy = Policy.of_sets(empty_rows, reading, reading["max_bytes"])
    return build_records(open_table(path, reading), set_columns, asked, policy)


def build_records(
    table: Table, separator_of_set: Mapping[str, str | None], asked: OfTables, policy: Policy
) -> Records:
    """Return the records of a table whose set-valued columns are texts, or lists already."""
    names, id_column = table.columns.names, asked["id_column"]
    single = (asked["sensitive"], id_column)
    for name in (*separator_of_set, *asked["keep"], *asked["keep_unprotected"], *single):
        if name is not None:
            table.columns.require(name)
    lists: dict[str, ListColumn] = table.lists(separator_of_set)
    for name, separator in separator_of_set.items() if table.arrow is not None else ():
        if name not in lists and separator is None:
            what = f"column {shorten(name)} holds texts and no separator is given."
            remedy, file = "Give its separator, or a column of lists.", table.columns.file
            raise UsageError(what, remedy, code="bad-separator", file=file)
    chosen = _columns_that_count(names, separator_of_set, asked)
    known = {column.name for column in chosen} | {id_column}
    unused = [name for name in names if name not in known]
    columns = table.load(known - lists.keys()).without(lists)
    roles = Roles(
        tuple(column.name for column in chosen if column.role == "kept"),
        asked["sensitive"],
        {column.name: column.separator for column in chosen if column.separator is not None},
        tuple(unused),
        policy.missing,
        as_is=asked["as_is"],
    )
    notices = (*table.notices, *look_at_columns(columns, roles))
    entries = Entries(columns, MISSING_CELLS, asked["missing_cells"])
    for column in chosen:
        if column.role == "unprotected":
            continue
        if column.name in lists:
            _add_lists(entries, column.name, lists[column.name], policy)
        elif column.separator is None:
            entries.add_cells(column.name, policy.missing | {""})
        else:
            notices += _add_sets(entries, column.name, column.separator, asked["as_is"], policy)
    record_of_row = None
    if id_column is not None:
        record_of_row, told = merged_by_id(columns, id_column, asked["id_policy"])
        notices += told
    cells_of_row = None
    if asked["keep_unprotected"]:
        open_columns = [column.name for column in chosen if column.role == "unprotected"]
        cells_of_row = _raw_cells(entries, open_columns, record_of_row)
        shown = ", ".join(shorten(name) for name in open_columns)
        notices += (
            f"published as they are, NOT covered by the promise: {shown}. Whoever knows such a value "
            "can tell records apart by it.",
        )
    draft = entries.draft(
        replace(table.layout, columns=chosen),
        (*notices, *told_of_unused(unused)),
        record_of_row=record_of_row,
        cells_of_row=cells_of_row,
    )
    items = finish(draft, replace(policy, missing=frozenset(), label_of_id=None))
    return _told_of_conflicts(Records(chosen, items))


def _raw_cells(
    entries: Entries, names: Sequence[str], record_of_row: Places | None
) -> list[tuple[str, ...]]:
    """Return the cells of unprotected columns, row by row; merged rows must agree on them."""
    columns = entries.columns
    texts: list[list[str]] = []
    for name in names:
        column = columns.require(name)
        for code, value in enumerate(column.values):
            fault = label_fault(value) if value else None
            if fault is not None:
                entries.problems += columns.problems_at(
                    *fault, np.flatnonzero(column.code_of_row == code)[:1]
                )
        values = [*column.values, ""]  # a null has the code -1
        texts.append([values[code] for code in column.code_of_row.tolist()])
    cells = list(zip(*texts, strict=True))
    if record_of_row is not None:
        first: dict[int, tuple[str, ...]] = {}
        differing = [
            row
            for row, record in enumerate(record_of_row.tolist())
            if first.setdefault(record, cells[row]) != cells[row]
        ]
        entries.problems += columns.problems_at(
            "conflicting-cells",
            "the rows of one id differ in a column that is published as it is.",
            "Make them equal, or leave the column out of --keep-unprotected.",
            np.array(differing[: max(MAX_PROBLEMS - len(entries.problems), 0)], dtype=np.int64),
        )
    return cells


def _add_sets(
    entries: Entries, name: str, separator: str, as_is: bool, policy: Policy
) -> tuple[str, ...]:
    """Split each distinct cell once, spread its items over the rows that have it, and tell how."""
    columns = entries.columns
    cells = columns.require(name)
    absent = cells.absent(policy.missing)
    told: tuple[str, ...] = ()
    counts = np.bincount(cells.code_of_row[~absent], minlength=len(cells.values)).tolist()
    used = [(value, count) for value, count in zip(cells.values, counts, strict=True) if count]
    spaced = not as_is and follows_blank(used, separator)
    if spaced:
        told = (
            f"blanks follow the separator {separator!r} in column {shorten(name)}: they "
            "were left out (--as-is keeps them).",
        )
    number: dict[str, int] = {}
    items_of_cell: list[list[int]] = []
    faulty: list[bool] = []
    mapping = policy.label_of_id
    unknown: dict[int, str] = {}
    for code, cell in enumerate(cells.values):
        parts = cell.split(separator) if cell else []
        if spaced:
            parts = [part.strip(" \t") for part in parts]
        faulty.append("" in parts)
        parts = [part for part in parts if part not in policy.missing]
        if mapping is not None:
            strangers = [part for part in parts if part and part not in mapping]
            if strangers:
                unknown[code] = strangers[0]
            parts = [mapping.get(part, part) for part in parts]
        items_of_cell.append([number.setdefault(part, len(number)) for part in parts if part])
    present = np.flatnonzero(~absent)
    code_of_present = cells.code_of_row[present]
    length_of_cell = np.array([len(items) for items in items_of_cell] or [0], dtype=np.int64)
    flat = np.array([item for items in items_of_cell for item in items], dtype=np.int32)
    start_of_cell = np.cumsum(length_of_cell) - length_of_cell
    lengths = length_of_cell[code_of_present]
    before = np.cumsum(lengths) - lengths
    places = np.repeat(start_of_cell[code_of_present] - before, lengths) + np.arange(int(lengths.sum()))
    entries.add(name, list(number), np.repeat(present, lengths), flat[places])
    entries.problems += columns.problems_at(
        "empty-item",
        f"an empty item in a cell of column {shorten(name)}.",
        "Remove the extra separator, or name another (--set-separator).",
        present[np.array(faulty or [False])[code_of_present]],
    )
    for row in present[np.isin(code_of_present, list(unknown))][:MAX_PROBLEMS].tolist():
        fault = unknown_id(unknown[int(cells.code_of_row[row])])
        entries.problems.append(Problem(*fault, columns.file, columns.line(row)))
    entries.treat_missing(name, np.flatnonzero(absent))
    return told


def _add_lists(entries: Entries, name: str, found: ListColumn, policy: Policy) -> None:
    values, rows, codes = found.values, found.row_of_entry, found.code_of_entry
    mapping = policy.label_of_id
    kept = np.array([value not in policy.missing for value in values], dtype=np.bool_)[codes]
    rows, codes = rows[kept], codes[kept]
    for code, value in enumerate(values):
        fault = None
        if not value:
            fault = ("empty-item", f"an empty item in column {shorten(name)}.", "Remove it.")
        elif mapping is not None and value not in mapping:
            fault = unknown_id(value)
        if fault is not None:
            entries.problems += entries.columns.problems_at(*fault, rows[codes == code][:1])
    if mapping is not None:
        values = [mapping.get(value, value) for value in values]
    entries.add(name, values, rows, codes)
    entries.treat_missing(name, found.null_rows)


def _told_of_conflicts(records: Records) -> Records:
    """Tell where merging the rows of an id left several values in a column of one value."""
    told = []
    for column in records.columns:
        if column.separator is None:
            several = int((records.column(column.name).length_by_record > 1).sum())
            if several:
                told.append(
                    f"{several:,} merged records have several values in {shorten(column.name)}."
                )
    if not told:
        return records
    items = replace(records.items, notices=(*records.items.notices, *told))
    return Records(records.columns, items)
