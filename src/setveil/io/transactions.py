"""Read set-valued data from a file, whatever its layout, and judge what any reader drafted.

`read_transactions` opens the file, finds out how it is laid out or takes the caller's word, and hands
the bytes to the reader of that format. An option that the format has no use for is refused.

A draft holds values and where they were. `finish` maps ids to labels, drops what was declared
missing, checks labels and their spelling, merges rows of one person, counts repeats, treats empty rows,
and gives transactions, or raises with every problem it found.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np

from ..arguments import checked
from ..distinct import first_places, number_distinct
from ..errors import DataError, Problem, UsageError
from ..model.transactions import Transactions, label_fault
from .columns import Draft, no_records
from .csv_text import (
    MAX_FIELD_CHARACTERS,
    Codes,
    Places,
    check_delimiter,
    field_too_long,
    guess_table_delimiter,
    head_of,
    number_strings,
)
from .formats import FORMATS, LAYOUTS, guess_format
from .formats.base import Reading
from .formats.parquet import MAGIC
from .lists import read_labels
from .options import (
    ID_POLICIES,
    OfAnyFile,
    OfItems,
    OfSets,
    check_choice,
    refuse_unused_policy,
    texts_of,
)
from .source import MAX_BYTES, MAX_PROBLEMS, plain_text, read_source, shorten
from .spelling import FORMS, LineOf, check_spelling

EMPTY_ROWS = ("error", "keep", "skip")
REPEATS = ("once", "error")

_INTEGER = re.compile(r"[0-9]+\Z")
_OF_LAYOUT = {
    **dict.fromkeys(("delimiter", "header", "id_column", "item_column", "count_column")),
    "counts": False,
    "comment": None,
    "id_policy": "merge",
}
"""Options that some layouts have no use for, each with what it is where it was not given."""


@checked()
def read_transactions(
    path: str | os.PathLike[str], *, empty_rows: str = "error", **reading: Unpack[OfAnyFile]
) -> Transactions:
    """Return the records of a file as sets of items, with `layout` and `notices` set.

    Parameters
    ----------
    path
        A regular file, plain or gzip; ``-`` is standard input.
    layout
        One of baskets, long, onehot, fimi, jsonl, parquet; guessed and told if not given. A file that
        looks like a table is not guessed to hold baskets: it is refused.
    delimiter, header, encoding
        How a CSV file is written; the delimiter is guessed and told if not given.
    id_column, item_column, count_column
        Names of columns (of keys in JSON lines). Rows of one id are one record.
    counts
        Keep how often an item is in its record: it becomes the item ``milk x2``.
    labels
        A mapping from id to label, or a CSV file that holds one.
    empty_rows
        What to do with blank lines: error, keep or skip. Records that are empty on purpose, such as
        ``[]`` or a row of zeros, are kept unless this is skip.
    id_policy
        merge rows of one id to one record, or raise an error; the long layout always merges.
    repeats
        Keep an item that is twice in its row once, or raise an error.
    comment
        The mark that comment lines of a FIMI file begin with.
    integers
        Refuse items that are not made of the digits 0-9 alone.
    missing
        Texts that stand for no item.
    normalize, strict
        Bring labels to a Unicode normal form; make oddities of spelling errors.
    max_bytes
        Refuse more bytes than that, unpacked.

    >>> import setveil as sv
    >>> from pathlib import Path
    >>> _ = Path("baskets.csv").write_text("ale,milk\\nwine\\n")
    >>> list(sv.read_transactions("baskets.csv", layout="baskets").rows())
    [('ale', 'milk'), ('wine',)]
    """
    layout, delimiter = reading["layout"], reading["delimiter"]
    check_choice("layout", layout, (None, *LAYOUTS))
    check_choice("id_policy", reading["id_policy"], ID_POLICIES)
    if delimiter is not None:
        check_delimiter(delimiter)
    asked: Mapping[str, object] = reading
    given = [name for name, default in _OF_LAYOUT.items() if asked[name] != default]
    if layout is not None:
        _refuse_unused(layout, given)
    refuse_unused_policy(reading["id_policy"], reading["id_column"])
    policy = Policy.of_items(empty_rows, reading, max_bytes=reading["max_bytes"])
    source = read_source(path, max_bytes=reading["max_bytes"])
    file = Reading(source.data, source, asked=reading)
    if layout == "parquet" or (layout is None and source.data.startswith(MAGIC)):
        format = "parquet"
    else:
        data, notices = plain_text(source, encoding=reading["encoding"])
        header, head = reading["header"], head_of(data, source, reading)
        format = layout or guess_format(head)
        by_header = layout not in (None, "baskets") and delimiter is None
        mark = guess_table_delimiter(data) if by_header else head.delimiter
        file = replace(
            file,
            data=data,
            delimiter=mark,
            header=bool(header) if format == "baskets" else header is not False,
            notices=(*notices, *_told(format, mark, layout, delimiter)),
        )
    if layout is None:
        _refuse_unused(format, given, " (guessed)")
    return finish(FORMATS[format].read(file), policy)


def _told(format: str, mark: str, layout: str | None, delimiter: str | None) -> tuple[str, ...]:
    """Return the notice of what was guessed."""
    parts, options = [], []
    if layout is None:
        parts.append(f"the layout {format}")
        options.append("--layout")
    if delimiter is None and "delimiter" in FORMATS[format].options:
        parts.append(f"the delimiter {mark!r}")
        options.append("--delimiter")
    if not parts:
        return ()
    return (
        f"read as {' with '.join(parts)}, by the look of the file; "
        f"say otherwise with {', '.join(options)}.",
    )


def _refuse_unused(format: str, given: Sequence[str], guessed: str = "") -> None:
    """An option that would change nothing is a misunderstanding, so it is an error."""
    for name in given:
        if name not in FORMATS[format].options:
            raise UsageError(
                f"the option {name.replace('_', '-')} has no use with the layout {format}{guessed}.",
                "Leave it out, or name another layout (--layout).",
                code="unused-option",
            )


@dataclass(frozen=True)
class Policy:
    """What to do with what is not plain; the options that all formats share."""

    empty_rows: str = "error"
    missing: frozenset[str] = frozenset()
    normalize: str | None = None
    strict: bool = False
    integers: bool = False
    counts: bool = False
    label_of_id: Mapping[str, str] | None = None
    repeats: str = "once"

    def __post_init__(self) -> None:
        check_choice("repeats", self.repeats, REPEATS)
        check_choice("empty_rows", self.empty_rows, EMPTY_ROWS)
        check_choice("normal_form", self.normalize, (None, *FORMS))

    @classmethod
    def of_sets(cls, empty_rows: str, reading: OfSets, max_bytes: int = MAX_BYTES) -> Policy:
        """Return what options say that all readers of sets have."""
        labels = reading["labels"]
        return cls(
            empty_rows=empty_rows,
            missing=texts_of(reading["missing"]),
            normalize=reading["normalize"],
            strict=reading["strict"],
            label_of_id=None if labels is None else read_labels(labels, max_bytes=max_bytes),
            repeats=reading["repeats"],
        )

    @classmethod
    def of_items(cls, empty_rows: str, reading: OfItems, max_bytes: int = MAX_BYTES) -> Policy:
        """Return the same with what is said of the items."""
        counts = reading["counts"] or reading["count_column"] is not None
        policy = cls.of_sets(empty_rows, reading, max_bytes)
        return replace(policy, integers=reading["integers"], counts=counts)


def finish(draft: Draft, policy: Policy) -> Transactions:
    """Return the transactions of a draft; raise `DataError` with every problem found."""
    notices = list(draft.notices)
    problems = list(draft.problems)
    if draft.n_rows == 0 and not problems:
        raise no_records(draft.file)
    if policy.missing:
        draft = _without_missing(draft, policy.missing, notices)
    line_of_value = _first_lines(draft)
    used = np.zeros(len(draft.values), dtype=np.bool_)
    used[draft.code_of_entry] = True
    labels = draft.values
    if policy.label_of_id is not None:
        labels, unknown = _mapped(draft, used, policy.label_of_id, line_of_value, notices)
        problems += unknown
    problems += _label_problems(labels, used, line_of_value, draft.file, policy)
    numbers = np.flatnonzero(used).tolist()
    spelling = check_spelling(
        [labels[code] for code in numbers],
        lambda place: line_of_value(numbers[place]),
        file=draft.file,
        normalize=policy.normalize,
        strict=policy.strict,
        prefixes=None if draft.prefixes is None else [draft.prefixes[code] for code in numbers],
    )
    problems += spelling.problems
    notices += spelling.notices
    labels = list(labels)
    for place, code in enumerate(numbers):
        labels[code] = spelling.labels[place]
    draft = replace(draft, values=labels)
    if draft.record_of_row is None:
        draft = _with_empty_rows(draft, policy, problems, notices)
    if problems:
        raise DataError(problems[:MAX_PROBLEMS])
    if draft.n_rows == 0:
        raise DataError(
            "contains no records: every row is empty.", "Use --empty-rows keep to keep them.",
            code="no-records", file=draft.file,
        )  # fmt: skip
    return _encoded(draft, policy, notices)


def _first_lines(draft: Draft) -> LineOf:
    if draft.line_of_row is None:
        return lambda _code: None
    first = np.full(len(draft.values), -1, dtype=np.int64)
    # Assigned from the back, so that the first entry of a value is written last.
    first[draft.code_of_entry[::-1]] = np.arange(len(draft.code_of_entry) - 1, -1, -1)
    return lambda code: None if first[code] < 0 else draft.line(int(draft.row_of_entry[first[code]]))


def _without_missing(draft: Draft, missing: frozenset[str], notices: list[str]) -> Draft:
    absent = np.array([value in missing for value in draft.values], dtype=np.bool_)
    kept = ~absent[draft.code_of_entry] if len(absent) else np.zeros(0, dtype=np.bool_)
    dropped = len(kept) - int(kept.sum())
    if not dropped:
        return draft
    notices.append(f"{dropped:,} entries marked as missing were left out.")
    counts = None if draft.count_of_entry is None else draft.count_of_entry[kept]
    return replace(
        draft,
        row_of_entry=draft.row_of_entry[kept],
        code_of_entry=draft.code_of_entry[kept],
        count_of_entry=counts,
        blank_rows=False,
    )


def _mapped(
    draft: Draft,
    used: np.ndarray,
    label_of_id: Mapping[str, str],
    line_of_value: LineOf,
    notices: list[str],
) -> tuple[list[str], list[Problem]]:
    """Replace ids by labels."""
    problems = [
        Problem(*unknown_id(draft.values[code]), draft.file, line_of_value(code))
        for code in np.flatnonzero(used).tolist()
        if draft.values[code] not in label_of_id
    ]
    labels = [label_of_id.get(value, value) for value in draft.values]
    mapped = [labels[code] for code in np.flatnonzero(used).tolist()]
    merged = len(mapped) - len(set(mapped))
    if merged and not problems:
        notices.append(f"{merged:,} ids share their label with another id and were merged with it.")
    return labels, problems


def unknown_id(value: str) -> tuple[str, str, str]:
    """Return code, fault and remedy of an id that no label is given for."""
    return "unknown-id", f"id {shorten(value)} has no label.", "Add it to the file of labels."


def _label_problems(
    labels: list[str], used: np.ndarray, line_of_value: LineOf, file: str | None, policy: Policy
) -> list[Problem]:
    problems: list[Problem] = []
    for code in np.flatnonzero(used).tolist():
        label = labels[code]
        if len(label) > MAX_FIELD_CHARACTERS:
            raise field_too_long(file or "", line_of_value(code))
        fault = label_fault(label)
        if fault is None and policy.integers and not _INTEGER.match(label):
            decimal = re.fullmatch(r"[0-9]+\.0*", label) is not None
            why = " It looks like an id turned into a decimal number." if decimal else ""
            fault = ("not-integer", f"{shorten(label)} is not a whole number.{why}", "Use digits 0-9.")
        if fault is not None:
            problems.append(Problem(*fault, file, line_of_value(code)))
    return problems


def _with_empty_rows(
    draft: Draft, policy: Policy, problems: list[Problem], notices: list[str]
) -> Draft:
    """Refuse, keep or leave out rows without entries."""
    filled = np.zeros(draft.n_rows, dtype=np.bool_)
    filled[draft.row_of_entry] = True
    empty = np.flatnonzero(~filled)
    if not len(empty):
        return draft
    if policy.empty_rows == "error" and draft.blank_rows:
        remedy = "Remove it, or use --empty-rows keep or skip."
        problems += draft.problems_at("empty-row", "an empty row.", remedy, empty)
        return draft
    if policy.empty_rows != "skip":
        notices.append(f"{len(empty):,} records are empty and were kept.")
        return draft
    notices.append(f"{len(empty):,} empty rows were left out.")
    new_of_row = np.cumsum(filled) - 1
    lines = None if draft.line_of_row is None else draft.line_of_row[filled]
    cells = draft.cells_of_row
    return replace(
        draft,
        cells_of_row=None if cells is None else [cells[row] for row in np.flatnonzero(filled)],
        row_of_entry=new_of_row[draft.row_of_entry],
        n_rows=int(filled.sum()),
        line_of_row=lines,
    )


def _encoded(draft: Draft, policy: Policy, notices: list[str]) -> Transactions:
    """Build the transactions, with repeats counted or kept once."""
    record_of_entry, n_records = draft.row_of_entry, draft.n_rows
    if draft.record_of_row is not None:
        record_of_entry = draft.record_of_row[draft.row_of_entry]
        n_records = int(draft.record_of_row.max()) + 1
    labels, codes = draft.values, draft.code_of_entry
    lines = None if draft.line_of_row is None else draft.line_of_row[draft.row_of_entry]
    if policy.counts:
        labels, record_of_entry, codes, lines = _counted(draft, record_of_entry, lines)
    result = Transactions.from_codes(labels, record_of_entry, codes, n_records)
    repeats = len(codes) - len(result.items)
    if repeats and policy.repeats == "error":
        _refuse_repeats(draft, record_of_entry, labels, codes)
    if repeats and draft.record_of_row is None:
        notices.append(f"{repeats:,} repeats of an item in its row were kept once.")
    first_lines = None
    if lines is not None:
        ascending = bool(np.all(lines[1:] >= lines[:-1]))
        order = slice(None, None, -1) if ascending else np.argsort(lines, kind="stable")[::-1]
        line_of_code = np.zeros(max(len(labels), 1), dtype=np.int64)
        line_of_code[codes[order]] = lines[order]
        first_lines = np.zeros(len(result.vocabulary), dtype=np.int64)
        ids = result.vocabulary.ids
        for code, label in enumerate(labels):
            line, item = int(line_of_code[code]), ids.get(label)
            if item is not None and line and (not first_lines[item] or line < first_lines[item]):
                first_lines[item] = line
    return replace(
        result,
        layout=draft.layout,
        notices=tuple(notices),
        source=draft.file,
        first_line_by_item=first_lines,
        unprotected=_cells_of_records(draft, n_records),
    )


def _refuse_repeats(draft: Draft, record_of_entry: Places, labels: list[str], codes: Codes) -> None:
    """Raise `DataError` where a row repeats a label; rows merged by their id may share labels."""
    rows = draft.row_of_entry
    if np.bincount(rows).max(initial=0) <= 1:
        rows = record_of_entry  # one entry a row: the long layout, where a record is many rows
    numbered = number_strings(labels)
    keys = rows * max(len(numbered.values), 1) + numbered.code_of_piece[codes]
    order = np.argsort(keys, kind="stable")
    again = np.sort(order[1:][keys[order[1:]] == keys[order[:-1]]])
    if not len(again):
        return
    remedy = "Published rows are sets: publish each label once, or name counts (--counts)."
    problems = []
    for entry in again[:MAX_PROBLEMS].tolist():
        what = f"the row repeats the label {shorten(labels[codes[entry]])}."
        line = draft.line(int(draft.row_of_entry[entry]))
        problems.append(Problem("repeated-label", what, remedy, draft.file, line))
    raise DataError(problems)


def _cells_of_records(draft: Draft, n_records: int) -> tuple[tuple[str, ...], ...] | None:
    if draft.cells_of_row is None:
        return None
    if draft.record_of_row is None:
        return tuple(draft.cells_of_row)
    row_of_record = np.zeros(n_records, dtype=np.int64)
    row_of_record[draft.record_of_row] = np.arange(draft.n_rows)
    return tuple(draft.cells_of_row[row] for row in row_of_record.tolist())


def _counted(
    draft: Draft, record_of_entry: Places, lines: Places | None
) -> tuple[list[str], Places, Codes, Places | None]:
    """Make an item of each (label, number of times in the record) that occurs."""
    numbered = number_strings(draft.values)
    width = max(len(numbered.values), 1)
    label_of_entry = numbered.code_of_piece[draft.code_of_entry]
    keys, place = number_distinct(record_of_entry * width + label_of_entry)
    first = first_places(place, len(keys))
    counts = np.zeros(len(keys), dtype=np.int64)
    once = np.ones(len(place), dtype=np.int64)
    np.add.at(counts, place, once if draft.count_of_entry is None else draft.count_of_entry)
    pairs, code = np.unique(np.stack((keys % width, counts)), axis=1, return_inverse=True)
    labels = [f"{numbered.values[label]} x{count}" for label, count in pairs.T.tolist()]
    kept_lines = None if lines is None else lines[first]
    return labels, keys // width, code.reshape(-1).astype(np.int32), kept_lines
