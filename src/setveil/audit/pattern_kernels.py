"""The compiled loops over closed sets of one data set, each counted in the other one too."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._jit import jit
from .pattern_parts import Part, add_label, clear, goes_on, new_desk, smaller_part


class Tally(NamedTuple):
    """What the tasks find, one line each, so that none waits for another.

    `best` are the counts, here and elsewhere, of the set with the highest finite growth.
    """

    checked: NDArray[np.int64]
    patterns: NDArray[np.int64]
    best: NDArray[np.int64]
    work: NDArray[np.int64]
    witness_count: NDArray[np.int64]
    witness_counts: NDArray[np.int64]
    witness_ptr: NDArray[np.int64]
    witness_names: NDArray[np.int32]


@jit
def raise_rows(
    row_ptr: NDArray[np.int64],
    codes: NDArray[np.int32],
    up_ptr: NDArray[np.int64],
    up_codes: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return rows in which each code stands for all codes at and above it, rising and each once."""
    rows = len(row_ptr) - 1
    size = 0
    for code in codes:
        size += up_ptr[code + 1] - up_ptr[code]
    raised = np.empty(size, np.int32)
    raised_ptr = np.zeros(rows + 1, np.int64)
    used = 0
    for row in range(rows):
        begin = used
        for place in range(row_ptr[row], row_ptr[row + 1]):
            for up in range(up_ptr[codes[place]], up_ptr[codes[place] + 1]):
                raised[used] = up_codes[up]
                used += 1
        raised[begin:used].sort()
        end = begin
        for place in range(begin, used):
            if end == begin or raised[end - 1] != raised[place]:
                raised[end] = raised[place]
                end += 1
        used = end
        raised_ptr[row + 1] = used
    return raised_ptr, raised[:used].copy()


@jit
def note(
    task: int,
    here: int,
    elsewhere: int,
    names: NDArray[np.int32],
    most_elsewhere: NDArray[np.int64],
    records_here: int,
    records_elsewhere: int,
    tally: Tally,
) -> None:
    """Count a closed set, and judge it.

    It is a pattern if at most ``most_elsewhere[here]`` records elsewhere hold it.
    """
    tally.checked[task] += 1
    best = tally.best[task]
    as_frequent = here * records_elsewhere >= elsewhere * records_here
    if elsewhere > 0 and as_frequent and here * best[1] > best[0] * elsewhere:
        best[0], best[1] = here, elsewhere
    if elsewhere > most_elsewhere[here]:
        return
    tally.patterns[task] += 1
    number = tally.witness_count[task]
    if number < tally.witness_counts.shape[1]:
        begin = tally.witness_ptr[task, number]
        if begin + len(names) <= tally.witness_names.shape[1]:
            tally.witness_names[task, begin : begin + len(names)] = names
            tally.witness_ptr[task, number + 1] = begin + len(names)
            tally.witness_counts[task, number, 0] = here
            tally.witness_counts[task, number, 1] = elsewhere
            tally.witness_count[task] = number + 1


@jit
def count_closed(
    firsts: NDArray[np.int64],
    root: Part,
    closed_at_root: NDArray[np.int32],
    n_ranks: int,
    least: int,
    most_elsewhere: NDArray[np.int64],
    records_here: int,
    records_elsewhere: int,
    task: int,
    work_limit: int,
    tally: Tally,
) -> None:
    """Count all closed sets that start with one of `firsts`; stop where all tasks pass the limit."""
    desk = new_desk(len(root.name_by_item))
    names = np.empty(n_ranks, np.int32)
    names[: len(closed_at_root)] = closed_at_root
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
                note(
                    task,
                    here,
                    elsewhere,
                    names[:size],
                    most_elsewhere,
                    records_here,
                    records_elsewhere,
                    tally,
                )
                if goes_on(item, here, touched, least, desk):
                    child = smaller_part(part, item, here, closing, touched, least, desk)
                    parts.append(child)
                    upcoming.append(child.n_before)
                    sizes.append(size)
            clear(desk, touched, closing)
