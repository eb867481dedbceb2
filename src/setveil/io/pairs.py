"""Read two data sets to be compared: two files of sets, two tables, or one table split by a class.

Of a table every cell of a chosen column is the item ``column=value``, so that a row is a set like any
other. Nothing is guessed: a cell without a value is an error until it is said what it means.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Unpack

import numpy as np

from ..arguments import checked
from ..distinct import distinct
from ..errors import DataError, Problem, UsageError
from ..hierarchy.tree import Hierarchy
from ..model.layout import NO_VALUE, Layout, LayoutColumn
from ..model.pattern_pair import PatternPair
from ..model.transactions import Transactions, label_fault
from .column_look import Roles, look_at_columns
from .columns import FRAME, Column, Columns, told_of_unused
from .csv_text import Flags
from .formats.lines import LEAST_LINES
from .options import OfFiles, OfLabels, check_choice, texts_of
from .source import shorten
from .spelling import FORMS, check_spelling_of_pair
from .table import Entries, every_row_lacks, missing_cells, open_table, told_of_left_out
from .transactions import Policy, finish, read_transactions

MISSING_CELLS = ("error", "suppress", "suppress-row", "complete-rows", "category")
SHOWN_CLASSES = 8
FRAMES = ("first frame", "second frame")
"""How two frames are named in messages; their rows count from 1."""
OF_FILES = ("delimiter", "encoding", "max_bytes")
"""Options that say how bytes are read."""

Path = str | os.PathLike[str]


@dataclass(frozen=True, eq=False)
class PatternData:
    """Two data sets over the same items, what to call them, and what the reader had to say.

    Of tables `columns` are those that count, in order, and `classes` is the column that split one
    table in two with its two values, where one did. `made` are the items that stand for cells without
    a value: no hierarchy has to know them.
    """

    first: Transactions
    second: Transactions
    names: tuple[str, str]
    notices: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    classes: tuple[str, tuple[str, str]] | None = None
    made: frozenset[str] = frozenset()

    @property
    def labelled(self) -> tuple[Transactions, Transactions]:
        """The records of either as labels."""
        return self.first, self.second

    def __repr__(self) -> str:
        return (
            f"PatternData({self.names[0]!r} with {len(self.first):,} records, "
            f"{self.names[1]!r} with {len(self.second):,})"
        )


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
    data = read_pair_data(
        first, second, class_column=class_column, classes=classes, table=table, **reading
    )
    return bind_pair(data, hierarchy)


def read_pair_data(
    first: Any,
    second: Any = None,
    *,
    class_column: str | None = None,
    classes: Sequence[str] | None = None,
    table: bool = False,
    **reading: Any,
) -> PatternData:
    """Return the same two data sets bound to no hierarchy."""
    if (second is None) == (class_column is None):
        what = "two data sets are needed." if second is None else "there are too many data sets."
        remedy = "Give either a second file or class_column, the column that splits one table."
        raise UsageError(what, remedy, code="not-two-data-sets")
    if classes is not None and class_column is None:
        raise UsageError("classes goes with class_column.", "Name the column.")
    if second is not None and _is_file(first) != _is_file(second):
        what, remedy = "one data set is a file, the other is not.", "Give two files or two frames."
        raise UsageError(what, remedy, code="not-a-frame")
    for name in OF_FILES:
        if name in reading and not _is_file(first):
            raise UsageError(f"{name} is for files, and these are frames.", "Leave it out.")
    if class_column is None and not table and "attributes" not in reading:
        return read_sets(first, second, **reading)
    reading.pop("repeats", None)  # a cell holds one value
    if class_column is not None:
        return read_classes(first, class_column=class_column, classes=classes, **reading)
    return read_attribute_tables(first, second, **reading)


def _is_file(given: object) -> bool:
    return isinstance(given, str | os.PathLike)


def bind_pair(
    data: PatternData, hierarchy: Hierarchy | Mapping[str, Hierarchy] | None = None
) -> PatternPair:
    """Return data sets that were read, bound to their hierarchies: of tables one a column by name."""
    if data.columns:
        if isinstance(hierarchy, Hierarchy):
            what, remedy = "tables have a hierarchy for each column.", "Give {column: hierarchy}."
            raise UsageError(what, remedy, code="hierarchy")
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


def read_sets(first: Any, second: Any, **reading: Any) -> PatternData:
    """Return two files of sets of items, or two frames.

    The options are those of `read_transactions`, of frames those of `from_frame`. Two tables are
    refused: where one looks like a table by itself, or where both begin with the same line of names.
    """
    if not _is_file(first):
        from .frames import from_frame

        here, there = (
            replace(from_frame(frame, **reading), source=name)
            for frame, name in zip((first, second), FRAMES, strict=True)
        )
        return _told_of_both(here, there, FRAMES)
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
    return _told_of_both(here, there, (os.fspath(first), os.fspath(second)))


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
        # Few lines of one item each may well begin alike.
        if width < 2 and len(data) < LEAST_LINES:
            return False
        # A value that is twice in its row makes that row shorter, so most rows are asked for, not all.
        if not once.all() or longest > width or 2 * full <= len(data):
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


def _told_of_both(
    first: Transactions, second: Transactions, names: tuple[str, str], *, table: bool = False
) -> PatternData:
    told = check_spelling_of_pair(first, second, table=table)
    notices = tuple(dict.fromkeys((*first.notices, *second.notices, *told)))
    return PatternData(first, second, names, notices)


def read_classes(
    given: Path | object,
    *,
    class_column: str,
    classes: Sequence[str] | None = None,
    some_may_lack: bool = False,
    **reading: Any,
) -> PatternData:
    """Return the rows of a table, a file or a frame, split in two by the value of one column.

    Of `classes` the first data set's value is the first; rows of other values are left out. If not
    given, the column must have two values, which are taken in alphabetical order. A class without rows
    is refused, unless `some_may_lack`. For the rest see `Options`.
    """
    cells = read_cells(given, class_column, **reading)
    column = cells.columns.by_name[class_column]
    absent = column.absent(cells.absent_texts)
    if cells.missing_cells == "error" and absent.any():
        rows = np.flatnonzero(absent)
        raise DataError(missing_cells(cells.columns, class_column, rows, MISSING_CELLS))
    if some_may_lack and classes is not None:
        pair = (classes[0], classes[1])
    else:
        pair = _two_classes(column, absent, class_column, classes, cells.columns.file)
    codes = [column.values.index(value) if value in column.values else -1 for value in pair]
    chosen = ~absent & np.isin(column.code_of_row, codes)
    if not chosen.all():
        # Only rows of either class have to be complete.
        left_out = len(chosen) - int(chosen.sum())
        cells = cells.rows(chosen, f"{left_out:,} rows are of neither class and were left out.")
    cells = cells.complete()
    data = cells.as_sets()
    code_of_row = cells.columns.by_name[class_column].code_of_row
    first, second = (data.take(np.flatnonzero(code_of_row == code)) for code in codes)
    for part, value in zip((first, second), pair, strict=True):
        if not len(part) and not some_may_lack:
            what = f"no complete row has the class {shorten(value)}."
            remedy = "Choose what cells without a value mean (--missing-cells), or other --classes."
            raise DataError(what, remedy, code="no-records", file=cells.columns.file)
    names = (f"{class_column}={pair[0]}", f"{class_column}={pair[1]}")
    return PatternData(
        first, second, names, data.notices, cells.names, (class_column, pair), cells.made()
    )


def read_attribute_tables(first: Any, second: Any, **reading: Any) -> PatternData:
    """Return two tables, both files or both frames, every cell of the chosen columns an item.

    Without `attributes` both must have the same columns. The options are those of `read_classes`.
    """
    names = (os.fspath(first), os.fspath(second)) if _is_file(first) else FRAMES
    here, there = (
        read_cells(given, None, file=name, **reading)
        for given, name in zip((first, second), names, strict=True)
    )
    if set(here.names) != set(there.names):
        only_one = sorted(set(here.names) ^ set(there.names))
        raise UsageError(
            "the tables do not have the same columns: only one has "
            f"{', '.join(shorten(name) for name in only_one[:5])}.",
            "Name those to compare (--attributes).",
            code="different-columns",
        )
    here, there = here.complete(), there.complete()
    made = (here.made(), there.made())
    sets = (here.as_sets(), there.as_sets())
    _refuse_mark(sets[0], made[1] - made[0])
    _refuse_mark(sets[1], made[0] - made[1])
    data = _told_of_both(*sets, names, table=True)
    return replace(data, columns=here.names, made=made[0] | made[1])


def _refuse_mark(data: Transactions, made_elsewhere: frozenset[str]) -> None:
    """Refuse a value that is written as the other table's cells without a value come out."""
    problems = [
        Problem(
            "reserved-label",
            f"column {shorten(label.partition('=')[0])} holds {NO_VALUE!r}, which stands for no "
            "value in the other table.",
            "Rename that value, or use another --missing-cells.",
            data.source,
            data.first_line_of(label),
        )
        for label in sorted(made_elsewhere)
        if label in data.vocabulary.ids
    ]
    if problems:
        raise DataError(problems)


def _two_classes(
    column: Column, absent: Flags, name: str, asked: Sequence[str] | None, file: str | None
) -> tuple[str, str]:
    """Return the values that split the table; `UsageError` where it is not clear which."""
    there = sorted({column.values[code] for code in distinct(column.code_of_row[~absent]).tolist()})
    shown = ", ".join(shorten(value) for value in there[:SHOWN_CLASSES])
    shown += ", …" if len(there) > SHOWN_CLASSES else ""
    pair = tuple(there if asked is None else asked)
    strange = [value for value in pair if value not in there]
    code = "not-two-classes"
    if asked is None and len(there) != 2:
        what = f"column {shorten(name)} has {len(there):,} values; it takes two to make two data sets."
        remedy = f"Name two: --classes a,b. There are: {shown}."
    elif len(pair) != 2 or pair[0] == pair[1]:
        what = f"two different classes are needed (got {len(pair)})."
        remedy = f"Name two of: {shown}."
    elif strange:
        code, what = "unknown-class", f"no row has the class {shorten(strange[0])}."
        remedy = f"Column {shorten(name)} has: {shown}."
    else:
        return pair[0], pair[1]
    raise UsageError(what, remedy, code=code, file=file)


@dataclass(frozen=True)
class _Cells:
    """A table that was read, which of its columns are attributes, and what empty cells mean."""

    columns: Columns
    names: tuple[str, ...]
    layout: Layout
    notices: tuple[str, ...]
    policy: Policy
    missing_cells: str
    absent_texts: frozenset[str]

    def rows(self, chosen: Flags, *told: str) -> _Cells:
        """Return some rows only, with what there is to tell about the others."""
        return replace(self, columns=self.columns.rows(chosen), notices=(*self.notices, *told))

    def complete(self) -> _Cells:
        """Leave out rows that lack a value, where that is what was asked for."""
        if self.missing_cells not in ("suppress-row", "complete-rows"):
            return self
        columns = self.columns
        among = columns.names if self.missing_cells == "complete-rows" else self.names
        lacking = [columns.by_name[name].absent(self.absent_texts) for name in among]
        whole = ~np.logical_or.reduce(lacking)
        if not whole.any():
            raise every_row_lacks(columns.file, ("suppress", "category"))
        left_out = columns.n_rows - int(whole.sum())
        return self.rows(whole, *told_of_left_out(columns.n_rows, left_out)) if left_out else self

    def made(self) -> frozenset[str]:
        """Return the items that stand for cells without a value."""
        lacking = self.names if self.missing_cells == "category" else ()
        return frozenset(
            f"{name}={NO_VALUE}"
            for name in lacking
            if self.columns.by_name[name].absent(self.absent_texts).any()
        )

    def as_sets(self) -> Transactions:
        """Return each row as the set of its items ``column=value``."""
        entries = Entries(self.columns, MISSING_CELLS, self.missing_cells)
        for name in self.names:
            entries.add_cells(name, self.absent_texts)
        kept = tuple(LayoutColumn(name, "kept") for name in self.names)
        return finish(entries.draft(replace(self.layout, columns=kept), self.notices), self.policy)


class Options(OfFiles, OfLabels, total=False):
    """How a table of attributes is read.

    The cells of `attributes` are items, by default those of all columns but the class. A cell without
    a value is an ``error``, no item (``suppress``), leaves its row out (``suppress-row``) or is a
    value of its own (``category``); with ``complete-rows`` a row is left out where any column of the
    table has no value, chosen or not. `missing` are texts that stand for no value, beside the empty
    cell; with `as_is` cells may look like lists of values.
    """

    attributes: Annotated[Sequence[str] | str | None, None]
    missing_cells: Annotated[str, "error"]
    as_is: Annotated[bool, False]


@checked()
def read_cells(
    given: Any, class_column: str | None, *, file: str = FRAME, **reading: Unpack[Options]
) -> _Cells:
    """Return the cells of a table; refuse columns that do not hold what they should."""
    attributes, missing_cells = reading["attributes"], reading["missing_cells"]
    check_choice("missing_cells", missing_cells, MISSING_CELLS)
    check_choice("normal_form", reading["normalize"], (None, *FORMS))
    named = None
    if attributes is not None:
        named = (attributes,) if isinstance(attributes, str) else tuple(attributes)
        _check_attributes(named, class_column)
    table = open_table(given, reading, file)
    names = _attributes_in(table.columns, named, class_column)
    columns = table.load(
        (*names, class_column),
        whole=missing_cells == "complete-rows",
        remedy="Leave it out (--attributes), or give the lists as transactions.",
    )
    texts = texts_of(reading["missing"])
    roles = Roles(names, missing=texts, split_by=class_column, as_is=reading["as_is"])
    notices = (*table.notices, *look_at_columns(columns, roles))
    unused = [name for name in columns.names if name not in (*names, class_column)]
    return _Cells(
        columns,
        names,
        table.layout,
        (*notices, *told_of_unused(unused)),
        Policy(empty_rows="keep", normalize=reading["normalize"], strict=reading["strict"]),
        missing_cells,
        texts | {""},
    )


def _check_attributes(named: Sequence[str], class_column: str | None) -> None:
    for name in named:
        if named.count(name) > 1:
            raise UsageError(f"column {shorten(name)} is named twice.", "Name it once.")
    if class_column in named:
        what = f"column {shorten(str(class_column))} is both the class and an attribute."
        remedy = "It splits the table, so that no pattern can hold it: leave it out of --attributes."
        raise UsageError(what, remedy, code="two-roles")


def _attributes_in(
    columns: Columns, named: Sequence[str] | None, class_column: str | None
) -> tuple[str, ...]:
    """Return the attributes in the order of the table: all but the class if none are named."""
    for name in (*(named or ()), *(() if class_column is None else (class_column,))):
        columns.require(name)
    wanted = columns.names if named is None else named
    names = tuple(name for name in columns.names if name in wanted and name != class_column)
    if not names:
        what, remedy = "the table has no attributes.", "Give a table with some beside the class."
        raise UsageError(what, remedy, file=columns.file)
    for name in names:
        if "=" in name or label_fault(name) is not None:
            raise UsageError(
                f"the column name {shorten(name)} holds '=', which ends column names in labels, or "
                "what no file can hold.",
                "Rename the column, or leave it out (--attributes).",
                code="bad-column-name",
            )
    return names
