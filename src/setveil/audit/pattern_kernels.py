"""The compiled loops of the audit of two data sets: all closed sets of one, each counted in the other.

A set is closed if no label can be added without losing a record of the data set that it is looked for
in. A `Part` holds the records of both data sets that hold a set, and what else they hold: first the
labels that came before, then those that may still be added. Adding one gives a smaller part. Its closed
set takes in all labels that every record here holds; should one of those come before, the same set is
found elsewhere, and is not counted again.

Records that may still be given the same labels go together, so parts shrink fast: of the labels before
only those that all of them hold matter then.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._jit import jit, sort_between
from .counting import Flags
from .published import Codes, Numbers


class Part(NamedTuple):
    """Rows that hold a set, without the labels of the set. Local numbers: labels before come first.

    Row r holds ``before_items[before_begin[r]:before_end[r]]`` and
    ``items[row_ptr[r]:row_ptr[r + 1]]``, both rising.
    ``rows_of_item[list_ptr[i]:list_ptr[i + 1]]`` are the rows with the label ``n_before + i``.
    Labels that too few records hold are left out.
    """

    name_by_item: Codes
    n_before: int
    row_ptr: Numbers
    items: Codes
    before_begin: Numbers
    before_end: Numbers
    before_items: Codes
    here_by_row: Numbers
    elsewhere_by_row: Numbers
    list_ptr: Numbers
    rows_of_item: Codes


class Desk(NamedTuple):
    """Room for one step; between steps `here_by_item` is 0 and `is_closing` is false everywhere."""

    here_by_item: Numbers
    is_closing: Flags
    touched: Codes
    closing: Codes
    new_number: Codes


@jit
def new_desk(items: int) -> Desk:
    """Return room for parts of so many labels."""
    return Desk(
        np.zeros(items, np.int64),
        np.zeros(items, np.bool_),
        np.empty(items, np.int32),
        np.empty(items, np.int32),
        np.full(items, -1, np.int32),
    )


@jit
def lists_of(row_ptr: Numbers, items: Codes, n_before: int, n_items: int) -> tuple[Numbers, Codes]:
    """Return for each label that may be added the rows that hold it."""
    list_ptr = np.zeros(n_items - n_before + 1, np.int64)
    for item in items:
        list_ptr[item - n_before + 1] += 1
    for place in range(1, len(list_ptr)):
        list_ptr[place] += list_ptr[place - 1]
    upcoming = list_ptr.copy()
    rows_of_item = np.empty(len(items), np.int32)
    for row in range(len(row_ptr) - 1):
        for place in range(row_ptr[row], row_ptr[row + 1]):
            at = items[place] - n_before
            rows_of_item[upcoming[at]] = row
            upcoming[at] += 1
    return list_ptr, rows_of_item


@jit
def add_label(part: Part, item: int, desk: Desk) -> tuple[int, int, int, int, int]:
    """Add a label to the set of a part and close it.

    Returns the records here and elsewhere that hold the closed set, how many labels were closed in
    (in ``desk.closing``), how many labels other than those are left in the records (in
    ``desk.touched``), and the work. A closed set found elsewhere has 0 records here. `clear` must
    follow.
    """
    here, touched, entries = 0, 0, 0
    first = part.list_ptr[item - part.n_before]
    last = part.list_ptr[item - part.n_before + 1]
    for entry in range(first, last):
        row = part.rows_of_item[entry]
        weight = part.here_by_row[row]
        entries += part.row_ptr[row + 1] - part.row_ptr[row] + 1
        if weight == 0:
            continue
        here += weight
        entries += part.before_end[row] - part.before_begin[row]
        for place in range(part.before_begin[row], part.before_end[row]):
            other = part.before_items[place]
            if desk.here_by_item[other] == 0:
                desk.touched[touched] = other
                touched += 1
            desk.here_by_item[other] += weight
        for place in range(part.row_ptr[row], part.row_ptr[row + 1]):
            other = part.items[place]
            if desk.here_by_item[other] == 0:
                desk.touched[touched] = other
                touched += 1
            desk.here_by_item[other] += weight
    closing = 0
    for which in range(touched):
        other = desk.touched[which]
        if desk.here_by_item[other] == here and other != item:
            if other < item:
                return 0, 0, closing, touched, entries
            desk.closing[closing] = other
            desk.is_closing[other] = True
            closing += 1
    elsewhere = 0
    for entry in range(first, last):
        row = part.rows_of_item[entry]
        if part.elsewhere_by_row[row] > 0 and fits(part, row, closing, desk):
            elsewhere += part.elsewhere_by_row[row]
    return here, elsewhere, closing, touched, entries


@jit
def fits(part: Part, row: int, closing: int, desk: Desk) -> bool:
    """Return whether a row holds all labels that are closed in; rows here do."""
    if closing == 0 or part.here_by_row[row] > 0:
        return True
    held = 0
    for place in range(part.row_ptr[row], part.row_ptr[row + 1]):
        held += desk.is_closing[part.items[place]]
    return held == closing


@jit
def clear(desk: Desk, touched: int, closing: int) -> None:
    """Leave the desk as it must be between steps."""
    for which in range(touched):
        desk.here_by_item[desk.touched[which]] = 0
    for which in range(closing):
        desk.is_closing[desk.closing[which]] = False


@jit
def goes_on(item: int, here: int, touched: int, least: int, desk: Desk) -> bool:
    """Return whether a further label may be added to the closed set."""
    for which in range(touched):
        other = desk.touched[which]
        if other > item and least <= desk.here_by_item[other] < here:
            return True
    return False


@jit
def smaller_part(
    part: Part, item: int, here: int, closing: int, touched: int, least: int, desk: Desk
) -> Part:
    """Return the part of a closed set; `add_label` went before, with the same desk."""
    kept, n_before = 0, 0
    sort_between(desk.touched, 0, touched)
    for which in range(touched):
        other = desk.touched[which]
        if least <= desk.here_by_item[other] < here:
            desk.new_number[other] = kept
            kept += 1
            n_before += other < item
    name_by_item = np.empty(kept, np.int32)
    for which in range(touched):
        other = desk.touched[which]
        if desk.new_number[other] >= 0:
            name_by_item[desk.new_number[other]] = part.name_by_item[other]
    first = part.list_ptr[item - part.n_before]
    last = part.list_ptr[item - part.n_before + 1]
    room, room_before = 0, 0
    for entry in range(first, last):
        row = part.rows_of_item[entry]
        room += part.row_ptr[row + 1] - part.row_ptr[row]
        room_before += part.before_end[row] - part.before_begin[row]
    slots = 16
    while slots < 2 * (last - first):
        slots *= 2
    kind_of_slot = np.full(slots, -1, np.int32)
    row_ptr = np.zeros(last - first + 1, np.int64)
    items = np.empty(room, np.int32)
    before_begin, before_end = np.zeros(last - first, np.int64), np.zeros(last - first, np.int64)
    before_items = np.empty(room + room_before, np.int32)
    here_by_row, elsewhere_by_row = np.zeros(last - first, np.int64), np.zeros(last - first, np.int64)
    kinds, used_before = 0, 0
    for entry in range(first, last):
        row = part.rows_of_item[entry]
        if not fits(part, row, closing, desk):
            continue
        begin = row_ptr[kinds]
        end = begin
        mixed = np.uint64(1469598103934665603)
        for place in range(part.row_ptr[row], part.row_ptr[row + 1]):
            other = part.items[place]
            number = desk.new_number[other]
            if other > item and number >= 0:
                items[end] = number
                end += 1
                mixed = (mixed ^ np.uint64(number + 1)) * np.uint64(0x9E3779B97F4A7C15)
                mixed ^= mixed >> np.uint64(29)
        if end == begin:
            continue
        slot = np.int64(mixed & np.uint64(slots - 1))
        kind = kind_of_slot[slot]
        while kind >= 0:
            same = row_ptr[kind + 1] - row_ptr[kind] == end - begin
            offset = 0
            while same and offset < end - begin:
                same = items[row_ptr[kind] + offset] == items[begin + offset]
                offset += 1
            if same:
                break
            slot = (slot + 1) & (slots - 1)
            kind = kind_of_slot[slot]
        if kind < 0:
            kind = kinds
            kind_of_slot[slot] = kind
            kinds += 1
            row_ptr[kinds] = end
        if part.here_by_row[row] > 0:
            begin_new = used_before
            for place in range(part.before_begin[row], part.before_end[row]):
                number = desk.new_number[part.before_items[place]]
                if number >= 0:
                    before_items[used_before] = number
                    used_before += 1
            for place in range(part.row_ptr[row], part.row_ptr[row + 1]):
                other = part.items[place]
                if other < item and desk.new_number[other] >= 0:
                    before_items[used_before] = desk.new_number[other]
                    used_before += 1
            if here_by_row[kind] == 0:
                before_begin[kind], before_end[kind] = begin_new, used_before
            else:
                before_end[kind] = keep_common(
                    before_items, before_begin[kind], before_end[kind], begin_new, used_before
                )
                used_before = begin_new
        here_by_row[kind] += part.here_by_row[row]
        elsewhere_by_row[kind] += part.elsewhere_by_row[row]
    for which in range(touched):
        desk.new_number[desk.touched[which]] = -1
    kept_ptr, kept_items = row_ptr[: kinds + 1].copy(), items[: row_ptr[kinds]].copy()
    list_ptr, rows_of_item = lists_of(kept_ptr, kept_items, n_before, kept)
    return Part(
        name_by_item,
        n_before,
        kept_ptr,
        kept_items,
        before_begin[:kinds].copy(),
        before_end[:kinds].copy(),
        before_items[:used_before].copy(),
        here_by_row[:kinds].copy(),
        elsewhere_by_row[:kinds].copy(),
        list_ptr,
        rows_of_item,
    )


@jit
def keep_common(values: Codes, begin: int, end: int, other_begin: int, other_end: int) -> int:
    """Keep of one rising run what another one holds too; return where it ends now."""
    kept, other = begin, other_begin
    for place in range(begin, end):
        while other < other_end and values[other] < values[place]:
            other += 1
        if other < other_end and values[other] == values[place]:
            values[kept] = values[place]
            kept += 1
    return kept


class Tally(NamedTuple):
    """What the tasks find, one line each, so that none waits for another.

    `best` are the counts, here and elsewhere, of the set with the highest finite growth.
    """

    checked: Numbers
    patterns: Numbers
    best: Numbers
    work: Numbers
    witness_count: Numbers
    witness_counts: Numbers
    witness_ptr: Numbers
    witness_names: Codes


class Asked(NamedTuple):
    """A pattern is in at least `least` records here, and at most ``most_elsewhere[here]`` elsewhere."""

    least: int
    most_elsewhere: Numbers
    records_here: int
    records_elsewhere: int


@jit
def note(here: int, elsewhere: int, names: Codes, asked: Asked, tally: Tally, task: int) -> None:
    """Count a closed set, and judge it."""
    tally.checked[task] += 1
    best = tally.best[task]
    as_frequent = here * asked.records_elsewhere >= elsewhere * asked.records_here
    if elsewhere > 0 and as_frequent and here * best[1] > best[0] * elsewhere:
        best[0], best[1] = here, elsewhere
    if elsewhere > asked.most_elsewhere[here]:
        return
    tally.patterns[task] += 1
    number = tally.witness_count[task]
    if number < tally.witness_counts.shape[1]:
        begin = tally.witness_ptr[task, number]
        if begin + len(names) <= tally.witness_names.shape[1]:
            for place in range(len(names)):
                tally.witness_names[task, begin + place] = names[place]
            tally.witness_ptr[task, number + 1] = begin + len(names)
            tally.witness_counts[task, number, 0] = here
            tally.witness_counts[task, number, 1] = elsewhere
            tally.witness_count[task] = number + 1


@jit
def count_closed(
    firsts: Numbers,
    root: Part,
    closed_at_root: Codes,
    n_ranks: int,
    asked: Asked,
    tally: Tally,
    task: int,
    work_limit: int,
) -> None:
    """Count all closed sets that start with one of `firsts`; stop where all tasks pass the limit."""
    desk = new_desk(len(root.name_by_item))
    names = np.empty(n_ranks, np.int32)
    for place in range(len(closed_at_root)):
        names[place] = closed_at_root[place]
    for first in firsts:
        parts = [root]
        upcoming = [first]
        sizes = [len(closed_at_root)]
        while len(parts) > 0:
            part, item, size = parts[-1], upcoming[-1], sizes[-1]
            if item == len(part.name_by_item) or (len(parts) == 1 and item > first):
                parts.pop()
                upcoming.pop()
                sizes.pop()
                continue
            upcoming[-1] = item + 1
            if tally.work.sum() > work_limit:
                return
            here, elsewhere, closing, touched, entries = add_label(part, item, desk)
            tally.work[task] += entries
            if here > 0:
                names[size] = part.name_by_item[item]
                size += 1
                for which in range(closing):
                    names[size] = part.name_by_item[desk.closing[which]]
                    size += 1
                note(here, elsewhere, names[:size], asked, tally, task)
                if goes_on(item, here, touched, asked.least, desk):
                    child = smaller_part(part, item, here, closing, touched, asked.least, desk)
                    parts.append(child)
                    upcoming.append(child.n_before)
                    sizes.append(size)
            clear(desk, touched, closing)
