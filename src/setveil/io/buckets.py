"""Read a table in buckets that somebody published: one joined file, or two files.

Every row is a person: quasi-identifying cells, and the bucket. How often a bucket has which sensitive
value stands in the same table (joined) or in one of its own. What is read are two lists a bucket, of
rows and of values; whose value is whose is told by neither. A joined table in which the rows of a
bucket and its values do not both stand in order may tell it all the same, so it is refused, unless it
is said that the values were shuffled.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, Unpack

import numpy as np

from ..arguments import checked
from ..errors import DataError, Problem, UsageError
from ..model.layout import NO_VALUE
from .columns import Columns, told_of_unused
from .options import OfFiles, check_choice, texts_of
from .source import MAX_PROBLEMS, shorten
from .spelling import check_spelling
from .table import missing_cells, open_table

MISSING_CELLS = ("error", "category")
FRAMES = ("table", "sensitive table")
"""How frames are named in messages."""
COUNT = "count"
"""The column of counts, where there is one of this name."""

Path = str | os.PathLike[str]


@dataclass(frozen=True, eq=False)
class BucketLists:
    """The rows and the values of a table in buckets, which are numbered from 0 on.

    `counts` has bucket, value, and how often the bucket has it.
    """

    cells_by_column: dict[str, Sequence[str]]
    bucket_by_row: list[int]
    counts: list[tuple[int, str, int]]
    notices: tuple[str, ...] = ()


class Options(OfFiles, total=False):
    """How published tables in buckets are read."""

    bucket: Annotated[str, "bucket"]
    sensitive_table: Annotated[Any, None]
    bucket_count: Annotated[str | None, None]
    missing: Annotated[Sequence[str], ()]
    missing_cells: Annotated[str, "error"]
    as_is: Annotated[bool, False]


@checked()
def read_buckets(
    table: Any, *, quasi: Sequence[str] | str, sensitive: str, **reading: Unpack[Options]
) -> BucketLists:
    """Return the rows and the values of a table in buckets, from files or frames.

    Parameters
    ----------
    table
        The table with a row for each person: a file or a frame.
    quasi
        Its columns by which people may be recognised.
    sensitive
        The column of sensitive values, here or in `sensitive_table`.
    bucket
        The column that names the bucket, in both tables.
    sensitive_table
        The second table, where there are two.
    bucket_count
        Its column that says how often a bucket has a value; ``count`` where there is one. Where there
        is none every line counts once.
    delimiter, encoding, max_bytes
        As in `read_transactions`.
    missing, missing_cells
        Texts that stand for no value, beside the empty cell; a cell without a value is an ``error`` or
        a value of its own (``category``), which is none of the sensitive ones.
    as_is
        Go on where rows and values of a joined table do not both stand in order: they were shuffled.
    """
    check_choice("missing_cells", reading["missing_cells"], MISSING_CELLS)
    names = (quasi,) if isinstance(quasi, str) else tuple(quasi)
    bucket, second = reading["bucket"], reading["sensitive_table"]
    if not names:
        raise UsageError("no quasi-identifying column is named.", "Name some (--quasi).")
    roles = [*names, bucket, sensitive]
    for name in roles:
        if roles.count(name) > 1:
            what = f"column {shorten(name)} is given two roles or named twice."
            raise UsageError(what, "Give it one.", code="two-roles")
    if second is None and reading["bucket_count"] is not None:
        raise UsageError(
            "a joined table has one line for each person, so nothing is counted in it.",
            "Leave --bucket-count out, or give the second table (--sensitive-table FILE).",
            code="option-does-not-fit",
        )
    used = roles if second is None else roles[:-1]
    columns, notices = _load(table, used, reading, FRAMES[0])
    texts: dict[str, Sequence[str]] = {
        name: _texts(columns, name, reading, may_lack=name != bucket) for name in used
    }
    number: dict[str, int] = {}
    buckets = [number.setdefault(name, len(number)) for name in texts.pop(bucket)]
    if second is None:
        values = texts.pop(sensitive)
        if not reading["as_is"]:
            in_order = [texts[name] for name in columns.names if name in texts]
            rows = list(zip(*in_order, strict=True))
            _refuse_unsorted(buckets, values, rows, columns.file)
        counted = Counter(zip(buckets, values, strict=True))
    else:
        counted, told = _read_counts(second, number, bucket, sensitive, reading)
        _compare(buckets, counted, list(number), columns.file, reading)
        notices += told
    notices += _told_of_spelling(texts, sorted({value for _, value in counted}), columns.file)
    counts = [(place, value, count) for (place, value), count in sorted(counted.items())]
    return BucketLists(texts, buckets, counts, tuple(dict.fromkeys(notices)))


def _told_of_spelling(
    texts: dict[str, Sequence[str]], values: Sequence[str], file: str | None
) -> tuple[str, ...]:
    """Refuse two spellings of one value, which would count as two; return what else is to tell."""
    told: tuple[str, ...] = ()
    for labels in (values, *(sorted(set(cells)) for cells in texts.values())):
        spelling = check_spelling(labels, lambda _place: None, file=file)
        if spelling.problems:
            raise DataError(spelling.problems[:MAX_PROBLEMS])
        told += tuple(spelling.notices)
    return told


def _load(
    table: Any, names: Sequence[str], reading: Options, called: str
) -> tuple[Columns, tuple[str, ...]]:
    """Return the named columns of a table, and what there is to tell of it."""
    opened = open_table(table, reading, called)
    for name in names:
        opened.columns.require(name)
    columns = opened.load(tuple(names), remedy="Here every cell is one value.")
    unused = [name for name in columns.names if name not in names]
    return columns, (*opened.notices, *told_of_unused(unused))


def _texts(columns: Columns, name: str, reading: Options, *, may_lack: bool = False) -> list[str]:
    """Return the cells of a column; those without a value are refused, or a value of their own."""
    column = columns.by_name[name]
    absent = column.absent(texts_of(reading["missing"]) | {""})
    texts = [column.values[code] if code >= 0 else "" for code in column.code_of_row.tolist()]
    if absent.any():
        if not may_lack or reading["missing_cells"] == "error":
            choices = MISSING_CELLS if may_lack else ("error", "another column")
            problems = missing_cells(columns, name, np.flatnonzero(absent), choices)
            raise DataError(problems[:MAX_PROBLEMS])
        texts = [NO_VALUE if lacks else text for text, lacks in zip(texts, absent, strict=True)]
    return texts


def _refuse_unsorted(
    buckets: Sequence[int],
    values: Sequence[str],
    rows: Sequence[tuple[str, ...]],
    file: str | None,
) -> None:
    """Refuse a joined table in which a row may have its own value beside it."""
    held: dict[int, list[tuple[tuple[str, ...], str]]] = {}
    for bucket, row, value in zip(buckets, rows, values, strict=True):
        held.setdefault(bucket, []).append((row, value))
    # Where rows and values both stand in order, the file tells nothing but which there are.
    open_ones = sum(
        len({row for row, _ in inside}) > 1
        and any(before[0] > after[0] or before[1] > after[1] for before, after in pairwise(inside))
        for inside in held.values()
    )
    if open_ones:
        raise DataError(
            f"in {open_ones:,} of {len(held):,} buckets rows differ, and rows and values do not both "
            "stand in order: each row may have its own value beside it, which would tell everything.",
            "Sort the rows of each bucket by their cells and its values by themselves; or if they were "
            "shuffled, say so (--as-is; as_is=True in Python).",
            code="values-not-sorted",
            file=file,
        )


def _read_counts(
    second: Any, number: dict[str, int], bucket: str, sensitive: str, reading: Options
) -> tuple[Counter[tuple[int, str]], tuple[str, ...]]:
    """Return how often each bucket has each value, as the second table tells it."""
    opened = open_table(second, reading, FRAMES[1])
    given = reading["bucket_count"]
    if given in (bucket, sensitive):
        what = f"column {shorten(str(given))} is given two roles or named twice."
        raise UsageError(what, "Give it one.", code="two-roles")
    count = COUNT if given is None and COUNT in opened.columns.names else given
    count = None if count in (bucket, sensitive) else count
    names = [bucket, sensitive, *([] if count is None else [count])]
    columns, notices = _load(second, names, reading, FRAMES[1])
    buckets = _texts(columns, bucket, reading)
    values = _texts(columns, sensitive, reading, may_lack=True)
    times = ["1"] * len(buckets) if count is None else _texts(columns, count, reading)
    counted: Counter[tuple[int, str]] = Counter()
    problems: list[Problem] = []
    for row, (name, value, text) in enumerate(zip(buckets, values, times, strict=True)):
        if name not in number:
            what = f"the bucket {shorten(name)} has no rows in the other table."
            remedy = "Give the two tables that belong together."
            problems += columns.problems_at("unknown-bucket", what, remedy, np.array([row]))
        elif not (text.isascii() and text.isdigit() and len(text) < 16 and int(text)):
            what = f"a count that is no whole number above 0 (got {shorten(text)})."
            problems += columns.problems_at("bad-count", what, "Write it in digits.", np.array([row]))
        else:
            counted[number[name], value] += int(text)
    if problems:
        raise DataError(problems[:MAX_PROBLEMS])
    return counted, notices


def _compare(
    buckets: Sequence[int],
    counted: Counter[tuple[int, str]],
    names: Sequence[str],
    file: str | None,
    reading: Options,
) -> None:
    """Refuse two tables that do not have the same number of people in each bucket."""
    rows = Counter(buckets)
    held: Counter[int] = Counter()
    for (bucket, _), count in counted.items():
        held[bucket] += count
    remedy = "Give the two tables that belong together."
    if reading["bucket_count"] is None:
        remedy += " If a column tells how often a bucket has a value, name it (--bucket-count COLUMN)."
    problems = [
        Problem(
            "bucket-size",
            f"the bucket {shorten(names[bucket])} has {size:,} rows, and {held[bucket]:,} sensitive "
            "values in the other table.",
            remedy,
            file,
        )
        for bucket, size in sorted(rows.items())
        if held[bucket] != size
    ]
    if problems:
        raise DataError(problems[:MAX_PROBLEMS])
