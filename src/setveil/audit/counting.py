"""Counting from the side of the labels: for each label the rows that hold it, as lists and bitmaps.

The methods search rows from left to right; the audit does not. It ranks labels from rare to
frequent, takes the rows of one first label, and turns them into one bitmap for each other label in
them. Supports of larger combinations are then intersections of bitmaps. Only words that are not
zero are carried on, so a bitmap thins out to a list by itself.

Equal rows are merged. A row of weight w is written into one group of words for each binary digit of
w, so that a support is a sum of bit counts, each shifted by its word's digit; no row is looked at
singly.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import ResourceLimit, UsageError
from ._jit import jit
from .published import Published

WORK_LIMIT = 400_000_000_000
"""Words (or list entries) that one audit may look at before it gives up."""

RARE_WORK_LIMIT = 4_000_000_000
"""How much of that may go into the exact smallest support once the answer is already no."""

TASKS = 64
"""Shares the first labels are dealt into; fixed, so that results do not depend on the threads."""

WITNESSES_AT_MOST = 10_000

LARGEST_SUPPORT = 2**62

STOPPED = 0
"""Column of `cut_short`: the work limit ended the count."""

BOUNDED = 1
"""Column of `cut_short`: the smallest support below k was not looked for to the end."""


class Effort(NamedTuple):
    """How much an audit does: violations to return, threads (None: all), and the work it may take."""

    witnesses: int = 0
    threads: int | None = None
    limit: int = WORK_LIMIT


class Lists(NamedTuple):
    """Distinct rows and, for each label, the rows that hold it; labels are ranked by rising support.

    ``rows_of_rank[list_ptr[r]:list_ptr[r + 1]]`` are the rows with rank r, and `place_of_rank`
    tells where in `row_ranks` that rank stands, so that the ranks after it are the larger ones.
    """

    row_ptr: NDArray[np.int64]
    row_ranks: NDArray[np.int32]
    weight_by_row: NDArray[np.int64]
    list_ptr: NDArray[np.int64]
    rows_of_rank: NDArray[np.int32]
    place_of_rank: NDArray[np.int64]
    support_by_rank: NDArray[np.int64]


class Counts(NamedTuple):
    """What the tasks count, one line each, so that none waits for another.

    The second index of `checked`, `smallest` and `rare` is a size; `smallest` is the smallest
    support of that size or less. `cut_short` has a column each for `STOPPED` and `BOUNDED`. A kept
    witness is its ranks, of which a negative one stands for the absence of ``-1 - rank``, and its size.
    `task` is the line of who counts, and `limit` is the work that all may take together.
    """

    checked: NDArray[np.int64]
    smallest: NDArray[np.int64]
    rare: NDArray[np.int64]
    work: NDArray[np.int64]
    cut_short: NDArray[np.bool_]
    witness_count: NDArray[np.int64]
    witness_size: NDArray[np.int64]
    witness_support: NDArray[np.int64]
    witness_ranks: NDArray[np.int32]
    task: int
    limit: int


def no_counts(m: int, effort: Effort) -> Counts:
    """Return counts of nothing for sizes up to `m`."""
    kept = min(effort.witnesses, WITNESSES_AT_MOST)
    return Counts(
        np.zeros((TASKS, m + 1), np.int64),
        np.full((TASKS, m + 1), LARGEST_SUPPORT, np.int64),
        np.zeros((TASKS, m + 1), np.int64),
        np.zeros(TASKS, np.int64),
        np.zeros((TASKS, 2), np.bool_),
        np.zeros(TASKS, np.int64),
        np.zeros((TASKS, kept), np.int64),
        np.zeros((TASKS, kept), np.int64),
        np.zeros((TASKS, kept, m + 1), np.int32),
        0,
        effort.limit,
    )


@dataclass(frozen=True, eq=False)
class Layout:
    """Published rows laid out for counting, and the way back from ranks to labels."""

    lists: Lists
    code_of_rank: NDArray[np.int64]
    labels: tuple[str, ...]

    def names(self, ranks: Iterable[int]) -> tuple[str, ...]:
        """Return the labels of some ranks, sorted."""
        return tuple(sorted(self.labels[self.code_of_rank[rank]] for rank in ranks))

    def kept(self, counts: Counts) -> Iterator[tuple[NDArray[np.int32], int, int]]:
        """Yield the ranks, the size and the support of every witness kept."""
        for task in range(TASKS):
            for number in range(counts.witness_count[task]):
                yield (
                    counts.witness_ranks[task, number],
                    int(counts.witness_size[task, number]),
                    int(counts.witness_support[task, number]),
                )


def lay_out(published: Published) -> Layout:
    """Return the layout of published rows; labels that occur nowhere get no rank."""
    merged = published.merged
    support_by_code = supports(merged.indptr, merged.items, merged.weight_by_row, len(published.labels))
    by_support = np.argsort(support_by_code, kind="stable")
    code_of_rank = by_support[support_by_code[by_support] > 0]
    rank_of_code = np.full(len(published.labels), -1, np.int32)
    rank_of_code[code_of_rank] = np.arange(len(code_of_rank), dtype=np.int32)
    row_ranks = rank_of_code[merged.items]
    sort_within_rows(merged.indptr, row_ranks)
    rows_by_rank = np.bincount(row_ranks, minlength=len(code_of_rank))
    list_ptr = np.zeros(len(code_of_rank) + 1, np.int64)
    np.cumsum(rows_by_rank, out=list_ptr[1:])
    rows_of_rank, place_of_rank = turn_over(merged.indptr, row_ranks, list_ptr)
    lists = Lists(
        merged.indptr,
        row_ranks,
        merged.weight_by_row,
        list_ptr,
        rows_of_rank,
        place_of_rank,
        support_by_code[code_of_rank],
    )
    return Layout(lists, code_of_rank, published.labels)


def share_out(
    run: Callable[[int, NDArray[np.int64]], None], firsts: int, work: NDArray[np.int64], effort: Effort
) -> None:
    """Call ``run(task, first ranks)`` for every share of the first ranks, on some threads.

    Should one fail, or the user interrupt, `work` is filled up, so that the others soon end.
    """
    threads = effort.threads
    if threads is not None and threads < 1:
        raise UsageError(f"threads={threads} is out of range.", "Give threads >= 1.")
    shares = [np.arange(task, firsts, TASKS, dtype=np.int64) for task in range(TASKS)]
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    with ThreadPoolExecutor(min(threads or available or 1, TASKS)) as pool:
        try:
            list(pool.map(run, range(TASKS), shares))
        except BaseException:
            work[0] = LARGEST_SUPPORT
            raise


def too_much_work(limit: int, *, needed: int | None = None) -> ResourceLimit:
    """Return the error for an audit that would take too long; `needed` steps where that is known."""
    what = f"more than {limit:,} steps" if needed is None else f"at least {needed:,} steps"
    known = "" if needed is None else f"; the limit is {limit:,}"
    return ResourceLimit(
        f"the audit needs {what} on these rows{known}.",
        "Lower m, publish fewer labels in a row, or raise the work limit (in Python, work_limit=).",
        code="audit-work",
    )


def entries_of_pairs(lists: Lists, *, both_sides: bool = False) -> NDArray[np.int64]:
    """Return how many entries are read to pair each rank with the larger ones of its rows.

    A rank that is in one distinct row is paired in one step. With `both_sides` all of each row is read.
    """
    if not len(lists.support_by_rank):
        return np.zeros(0, np.int64)
    begin = lists.row_ptr[lists.rows_of_rank] if both_sides else lists.place_of_rank
    read = lists.row_ptr[lists.rows_of_rank + 1] - begin
    entries: NDArray[np.int64] = np.add.reduceat(read, lists.list_ptr[:-1])
    entries[np.diff(lists.list_ptr) == 1] = 1
    return entries


def steps_of_shares(lists: Lists, is_secret: NDArray[np.bool_]) -> int:
    """Return how many entries are read at least to compare each known label with the secret ones."""
    return int(entries_of_pairs(lists, both_sides=True)[~is_secret].sum())


@jit
def sort_within_rows(row_ptr: NDArray[np.int64], values: NDArray[np.int32]) -> None:
    """Sort each row in place."""
    for row in range(len(row_ptr) - 1):
        if row_ptr[row + 1] - row_ptr[row] > 1:
            values[row_ptr[row] : row_ptr[row + 1]].sort()


@jit
def supports(
    row_ptr: NDArray[np.int64],
    codes: NDArray[np.int32],
    weight_by_row: NDArray[np.int64],
    labels: int,
) -> NDArray[np.int64]:
    """Return the number of records with each code."""
    support_by_code = np.zeros(labels, np.int64)
    for row in range(len(row_ptr) - 1):
        for place in range(row_ptr[row], row_ptr[row + 1]):
            support_by_code[codes[place]] += weight_by_row[row]
    return support_by_code


@jit
def turn_over(
    row_ptr: NDArray[np.int64], row_ranks: NDArray[np.int32], list_ptr: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the rows of each rank, and where in its row the rank stands."""
    upcoming = list_ptr.copy()
    rows_of_rank = np.empty(len(row_ranks), np.int32)
    place_of_rank = np.empty(len(row_ranks), np.int64)
    for row in range(len(row_ptr) - 1):
        for place in range(row_ptr[row], row_ptr[row + 1]):
            at = upcoming[row_ranks[place]]
            upcoming[row_ranks[place]] += 1
            rows_of_rank[at] = row
            place_of_rank[at] = place
    return rows_of_rank, place_of_rank


@jit
def word_groups(
    chosen_rows: NDArray[np.int32], weight_by_row: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first bit of each binary digit's group, and the digit of each word."""
    rows_by_digit = np.zeros(64, np.int64)
    for row in chosen_rows:
        weight = weight_by_row[row]
        digit = 0
        while weight:
            rows_by_digit[digit] += weight & 1
            weight >>= 1
            digit += 1
    first_bit_by_digit = np.zeros(64, np.int64)
    words = 0
    for digit in range(64):
        first_bit_by_digit[digit] = 64 * words
        words += (rows_by_digit[digit] + 63) >> 6
    digit_by_word = np.empty(words, np.int64)
    word = 0
    for digit in range(64):
        for _ in range((rows_by_digit[digit] + 63) >> 6):
            digit_by_word[word] = digit
            word += 1
    return first_bit_by_digit, digit_by_word
