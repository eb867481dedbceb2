"""Cells to records: the part of reading tables that files and frames share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..errors import Problem, UsageError
from ..model.layout import Layout, LayoutColumn
from ..model.microdata import NO_VALUE
from ..model.records import Records
from ..model.vocabulary import label_fault
from .arrays import Codes, Places
from .column_look import Roles, follows_blank, look_at_columns
from .columns import Column, Columns, merged_by_id
from .draft import ID_POLICIES, Draft, Policy, check_choice, finish, refuse_unused_policy
from .text import MAX_PROBLEMS, shorten

if TYPE_CHECKING:
    import pyarrow as pa

MISSING_CELLS = ("error", "suppress", "category")
MISSING_LABEL = NO_VALUE
LIST_SEPARATOR = "|"
"""What stands between the values of a column of lists when it is written to a CSV table."""


@dataclass(frozen=True)
class TableOptions:
    """Which columns of a table count and how."""

    separator_of_set: Mapping[str, str | None]
    keep: tuple[str, ...] = ()
    sensitive: str | None = None
    id_column: str | None = None
    id_policy: str = "merge"
    missing_cells: str = "error"
    unprotected: tuple[str, ...] = ()
    as_is: bool = False

    def __post_init__(self) -> None:
        check_choice("missing_cells", self.missing_cells, MISSING_CELLS)
        check_choice("id_policy", self.id_policy, ID_POLICIES)
        refuse_unused_policy(self.id_policy, self.id_column)
        if not self.separator_of_set:
            raise UsageError(
                "no set-valued column is named.", "Name one (--set).", code="no-set-column"
            )
        named = [*self.separator_of_set, *self.keep, *self.unprotected]
        if self.sensitive is not None and self.sensitive not in named:
            named.append(self.sensitive)
        if self.id_column is not None:
            named.append(self.id_column)
        for name in named:
            if named.count(name) > 1:
                raise UsageError(
                    f"column {shorten(name)} is given two roles.", "Give it one.", code="two-roles"
                )
            if label_fault(name) is not None:
                raise UsageError(
                    f"the column name {shorten(name)} is empty or holds what no file can hold.",
                    "Rename the column.",
                    code="bad-column-name",
                )
            if "=" in name:
                raise UsageError(
                    f"the column name {shorten(name)} holds '=', which ends column names in labels.",
                    "Rename the column.",
                    code="bad-column-name",
                )
        for name, separator in self.separator_of_set.items():
            if separator is not None and (not separator or set(separator) & set('"\r\n\0\ufeff')):
                raise UsageError(
                    f"the separator of {shorten(name)} is empty, or has a quote or a line end.",
                    "Give one such as ' ' or '|' (--set-separator).",
                    code="bad-separator",
                )

    @property
    def all_names(self) -> tuple[str, ...]:
        """Every column that is named in some role."""
        more = (self.sensitive, self.id_column)
        named = (*self.separator_of_set, *self.keep, *self.unprotected)
        return named + tuple(name for name in more if name is not None)

    def columns(self, order: Sequence[str]) -> tuple[LayoutColumn, ...]:
        """Return the columns that count, in the order of the table."""
        result = []
        for name in order:
            if name in self.separator_of_set:
                separator = self.separator_of_set[name]
                role = "sensitive" if name == self.sensitive else "set"
                result.append(LayoutColumn(name, role, separator or LIST_SEPARATOR))
            elif name == self.sensitive:
                result.append(LayoutColumn(name, "sensitive"))
            elif name in self.keep:
                result.append(LayoutColumn(name, "kept"))
            elif name in self.unprotected:
                result.append(LayoutColumn(name, "unprotected"))
        return tuple(result)


@dataclass
class _Entries:
    """Entries gathered column by column."""

    values: list[str]
    prefixes: list[str]
    rows: list[Places]
    codes: list[Codes]
    problems: list[Problem]

    def add(self, name: str, values: Sequence[str], rows: Places, codes: Codes) -> None:
        """Add the entries of one column, its values labelled with its name."""
        prefix = f"{name}="
        self.codes.append(codes.astype(np.int32) + np.int32(len(self.values)))
        self.rows.append(rows.astype(np.int64))
        self.values += [prefix + value for value in values]
        self.prefixes += [prefix] * len(values)


def build_records(
    columns: Columns,
    lists: Mapping[str, tuple[Sequence[str], Places, Codes, Places]],
    order: Sequence[str],
    options: TableOptions,
    policy: Policy,
    *,
    layout: Layout,
    notices: tuple[str, ...] = (),
) -> Records:
    """Return the records of columns of texts, and of columns that are lists already.

    Each list column is (values, row of entry, code of entry, rows that are null).
    """
    entries = _Entries([], [], [], [], [])
    chosen = options.columns(order)
    unused = [
        name for name in order if name not in {column.name for column in chosen} | {options.id_column}
    ]
    notices = (*notices, *look_at_columns(columns, _roles(chosen, unused, options, policy)))
    for column in chosen:
        if column.role == "unprotected":
            continue
        if column.name in lists:
            _add_lists(entries, column, lists[column.name], columns, options, policy)
        elif column.separator is None:
            _add_kept(entries, column, columns, options, policy)
        else:
            notices = (*notices, *_add_sets(entries, column, columns, options, policy))
    record_of_row = None
    if options.id_column is not None:
        record_of_row, told = merged_by_id(columns, options.id_column, options.id_policy)
        notices = (*notices, *told)
    cells_of_row = None
    if options.unprotected:
        open_columns = [column.name for column in chosen if column.role == "unprotected"]
        cells_of_row = _raw_cells(entries, open_columns, columns, record_of_row)
        shown = ", ".join(shorten(name) for name in open_columns)
        notices = (
            *notices,
            f"published as they are, NOT covered by the promise: {shown}. Whoever knows such a value "
            "can tell records apart by it.",
        )
    if unused:
        shown = ", ".join(shorten(name) for name in unused[:5])
        notices = (
            *notices,
            f"columns not asked for were left out: {shown}{', …' if unused[5:] else ''}.",
        )
    draft = Draft(
        file=columns.file,
        layout=replace(layout, columns=chosen),
        values=entries.values,
        prefixes=entries.prefixes,
        row_of_entry=np.concatenate(entries.rows),
        code_of_entry=np.concatenate(entries.codes),
        n_rows=columns.n_rows,
        line_of_row=columns.line_of_row,
        record_of_row=record_of_row,
        cells_of_row=cells_of_row,
        notices=notices,
        problems=tuple(sorted(entries.problems, key=lambda problem: problem.line or 0)),
    )
    records = Records(chosen, finish(draft, replace(policy, missing=frozenset(), label_of_id=None)))
    return _told_of_conflicts(records)


def _roles(
    chosen: Sequence[LayoutColumn], unused: Sequence[str], options: TableOptions, policy: Policy
) -> Roles:
    return Roles(
        "sets",
        tuple(column.name for column in chosen if column.role == "kept"),
        options.sensitive,
        {column.name: column.separator for column in chosen if column.separator is not None},
        tuple(unused),
        policy.missing,
        as_is=options.as_is,
    )


def records_of_arrow(
    table: pa.Table,
    options: TableOptions,
    policy: Policy,
    *,
    file: str,
    notices: tuple[str, ...] = (),
) -> Records:
    """Return the records of an Arrow table: set-valued columns are lists, or texts with separators."""
    from .arrow import is_list, list_column, named_columns, row_numbers, text_columns

    table = named_columns(table, file)
    names = table.column_names
    wanted = {column.name for column in options.columns(names)} | {options.id_column}
    texts, lists = [], {}
    for name in names:
        if (
            name in wanted
            and is_list(table.schema.field(name).type)
            and name in options.separator_of_set
        ):
            found = list_column(table.column(name), name, file)
            lists[name] = (found.values, found.row_of_entry, found.code_of_entry, found.null_rows)
        elif name in wanted:
            if name in options.separator_of_set and options.separator_of_set[name] is None:
                raise UsageError(
                    f"column {shorten(name)} holds texts and no separator is given.",
                    "Give its separator, or a column of lists.",
                    code="bad-separator",
                    file=file,
                )
            texts.append(name)
    columns = text_columns(table, texts, file)
    _require_all(columns, lists, names, options)
    if not texts:
        columns = Columns({}, table.num_rows, file, row_numbers(table.num_rows))
    return build_records(
        columns, lists, names, options, policy, layout=Layout("table"), notices=notices
    )


def _require_all(
    columns: Columns, lists: Mapping[str, object], names: Sequence[str], options: TableOptions
) -> None:
    blank = Column([], np.zeros(0, dtype=np.int32))
    known = replace(columns, by_name=dict.fromkeys(names, blank), line_of_row=None)
    for name in options.all_names:
        if name not in lists:
            known.require(name)


def _raw_cells(
    entries: _Entries, names: Sequence[str], columns: Columns, record_of_row: Places | None
) -> list[tuple[str, ...]]:
    """Return the cells of unprotected columns, row by row; merged rows must agree on them."""
    texts: list[list[str]] = []
    for name in names:
        column = columns.require(name)
        for code, value in enumerate(column.values):
            fault = label_fault(value) if value else None
            if fault is not None:
                rows = np.flatnonzero(column.code_of_row == code)[:1].tolist()
                entries.problems += [Problem(*fault, columns.file, columns.line(row)) for row in rows]
        values = [*column.values, ""]  # a null has the code -1
        texts.append([values[code] for code in column.code_of_row.tolist()])
    cells = list(zip(*texts, strict=True))
    if record_of_row is not None:
        first: dict[int, tuple[str, ...]] = {}
        for row, record in enumerate(record_of_row.tolist()):
            if (
                first.setdefault(record, cells[row]) != cells[row]
                and len(entries.problems) < MAX_PROBLEMS
            ):
                entries.problems.append(
                    Problem("conflicting-cells",
                            "the rows of one id differ in a column that is published as it is.",
                            "Make them equal, or leave the column out of --keep-unprotected.",
                            columns.file, columns.line(row))
                )  # fmt: skip
    return cells


def _add_kept(
    entries: _Entries, column: LayoutColumn, columns: Columns, options: TableOptions, policy: Policy
) -> None:
    cells = columns.require(column.name)
    absent = _absent(cells, policy.missing | {""})
    rows = np.flatnonzero(~absent)
    entries.add(column.name, cells.values, rows, cells.code_of_row[rows])
    _treat_missing(entries, column.name, np.flatnonzero(absent), columns, options)


def _add_sets(
    entries: _Entries, column: LayoutColumn, columns: Columns, options: TableOptions, policy: Policy
) -> tuple[str, ...]:
    """Split each distinct cell once, spread its items over the rows that have it, and tell how."""
    cells = columns.require(column.name)
    absent = _absent(cells, policy.missing)
    told: tuple[str, ...] = ()
    counts = np.bincount(cells.code_of_row[~absent], minlength=len(cells.values)).tolist()
    used = [(value, count) for value, count in zip(cells.values, counts, strict=True) if count]
    spaced = not options.as_is and follows_blank(used, str(column.separator))
    if spaced:
        told = (
            f"blanks follow the separator {column.separator!r} in column {shorten(column.name)}: they "
            "were left out (--as-is keeps them).",
        )
    number: dict[str, int] = {}
    items_of_cell: list[list[int]] = []
    faulty: list[bool] = []
    mapping = policy.label_of_id
    unknown: dict[int, str] = {}
    for code, cell in enumerate(cells.values):
        parts = cell.split(column.separator) if cell else []
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
    entries.add(column.name, list(number), np.repeat(present, lengths), flat[places])
    wrong = present[np.array(faulty or [False])[code_of_present]]
    entries.problems += [
        Problem("empty-item", f"an empty item in a cell of column {shorten(column.name)}.",
                "Remove the extra separator, or name another (--set-separator).",
                columns.file, columns.line(row))
        for row in wrong[:MAX_PROBLEMS].tolist()
    ]  # fmt: skip
    for row in present[np.isin(code_of_present, list(unknown))][:MAX_PROBLEMS].tolist():
        value = unknown[int(cells.code_of_row[row])]
        entries.problems.append(
            Problem("unknown-id", f"id {shorten(value)} has no label.", "Add it to the file of labels.",
                    columns.file, columns.line(row))
        )  # fmt: skip
    _treat_missing(entries, column.name, np.flatnonzero(absent), columns, options)
    return told


def _add_lists(
    entries: _Entries,
    column: LayoutColumn,
    found: tuple[Sequence[str], Places, Codes, Places],
    columns: Columns,
    options: TableOptions,
    policy: Policy,
) -> None:
    values, rows, codes, null_rows = found
    mapping = policy.label_of_id
    kept = np.array([value not in policy.missing for value in values], dtype=np.bool_)[codes]
    rows, codes = rows[kept], codes[kept]
    for code, value in enumerate(values):
        fault = None
        if not value:
            fault = ("empty-item", f"an empty item in column {shorten(column.name)}.", "Remove it.")
        elif mapping is not None and value not in mapping:
            fault = (
                "unknown-id",
                f"id {shorten(value)} has no label.",
                "Add it to the file of labels.",
            )
        where = rows[codes == code][:1].tolist() if fault is not None else []
        if fault is not None and where:
            entries.problems.append(Problem(*fault, columns.file, columns.line(where[0])))
    if mapping is not None:
        values = [mapping.get(value, value) for value in values]
    entries.add(column.name, values, rows, codes)
    _treat_missing(entries, column.name, null_rows, columns, options)


def _absent(cells: Column, missing: frozenset[str]) -> np.ndarray:
    flags = np.array([value in missing for value in cells.values] + [True], dtype=np.bool_)
    return flags[cells.code_of_row]


def _treat_missing(
    entries: _Entries, name: str, rows: Places, columns: Columns, options: TableOptions
) -> None:
    """Refuse cells without a value, leave them out, or make them a value of their own."""
    if not len(rows) or options.missing_cells == "suppress":
        return
    if options.missing_cells == "category":
        if f"{name}={MISSING_LABEL}" in entries.values:
            entries.problems.append(
                Problem("reserved-label",
                        f"column {shorten(name)} holds {MISSING_LABEL!r}, which stands for no value.",
                        "Rename that value, or use --missing-cells error or suppress.", columns.file)
            )  # fmt: skip
            return
        entries.add(name, [MISSING_LABEL], rows, np.zeros(len(rows), dtype=np.int32))
        return
    entries.problems += [
        Problem("missing-cell", f"no value in column {shorten(name)}.",
                "Fill it in, or choose what it means (--missing-cells suppress or category).",
                columns.file, columns.line(row))
        for row in rows[:MAX_PROBLEMS].tolist()
    ]  # fmt: skip


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
