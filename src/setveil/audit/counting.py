"""Counting from the side of the labels: for each label the rows that hold it, as lists and bitmaps.

The methods search rows from left to right; the audit does not. It ranks labels from rare to
frequent, takes the rows of one first label, and turns them into one bitmap for each other label in
them. Supports of larger combinations are then intersections of bitmaps. Only words that are not
zero are carried on, so a bitmap thins out to a list by itself.

Equal rows are merged. A row of weight w is written into one group of words for each binary digit of
w, so that a support is a sum of bit counts, each shifted by its word's digit; no row is looked at
singly.

All counts of sets walk from smaller sets to larger ones. A set and the labels that may join it, its
`Members`, are narrowed by one member after the other: its bitmap is laid over those of the others.
`meeting` counts the records of a larger set, and `narrowed` keeps the members that may join that one in
turn.
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
from ._jit import bits_set, jit, sort_between
from .published import Codes, Merged, Numbers, Published, bounds_of, sort_rows

Flags = NDArray[np.bool_]
Words = NDArray[np.uint64]

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

    @classmethod
    def of(cls, witnesses: int, threads: int | None, limit: int) -> Effort:
        """Return what was asked for, checked."""
        if isinstance(witnesses, bool) or not isinstance(witnesses, int) or witnesses < 0:
            raise UsageError("witnesses must be a whole number, 0 or more.", "Give for example 5.")
        return cls(witnesses, threads, limit)


class Lists(NamedTuple):
    """Distinct rows and, for each label, the rows that hold it; labels are ranked by rising support.

    ``rows_of_rank[list_ptr[r]:list_ptr[r + 1]]`` are the rows with rank r, and `place_of_rank`
    tells where in `row_ranks` that rank stands, so that the ranks after it are the larger ones.
    """

    row_ptr: Numbers
    row_ranks: Codes
    weight_by_row: Numbers
    list_ptr: Numbers
    rows_of_rank: Codes
    place_of_rank: Numbers
    support_by_rank: Numbers


class Counts(NamedTuple):
    """What the tasks count, one line each, so that none waits for another.

    The second index of `checked`, `smallest` and `rare` is a size; `smallest` is the smallest
    support of that size or less. `cut_short` has a column each for `STOPPED` and `BOUNDED`. A kept
    witness is its ranks, of which a negative one stands for the absence of ``-1 - rank``, and its size.
    `task` is the line of who counts, and `limit` is the work that all may take together.
    """

    checked: Numbers
    smallest: Numbers
    rare: Numbers
    work: Numbers
    cut_short: Flags
    witness_count: Numbers
    witness_size: Numbers
    witness_support: Numbers
    witness_ranks: Codes
    task: int
    limit: int


class Members(NamedTuple):
    """The labels that may join a set, over rows that hold the set.

    Member i has the rank ``ranks[i]`` and is in ``supports[i]`` records of the set. Its bitmap is
    ``words[i * wide:(i + 1) * wide]``; `digits` has the digit of each of those `wide` words.
    """

    ranks: Codes
    supports: Numbers
    words: Words
    digits: Numbers


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
    code_of_rank: Numbers
    labels: tuple[str, ...]

    def names(self, ranks: Iterable[int]) -> tuple[str, ...]:
        """Return the labels of some ranks, sorted."""
        return tuple(sorted(self.labels[self.code_of_rank[rank]] for rank in ranks))

    def kept(self, counts: Counts) -> Iterator[tuple[Codes, int, int]]:
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
    support_by_code = supports(merged, len(published.labels))
    by_support = np.argsort(support_by_code, kind="stable")
    code_of_rank = by_support[support_by_code[by_support] > 0]
    rank_of_code = np.full(len(published.labels), -1, np.int32)
    rank_of_code[code_of_rank] = np.arange(len(code_of_rank), dtype=np.int32)
    row_ranks = rank_of_code[merged.items]
    sort_rows(merged.indptr, row_ranks)
    list_ptr = bounds_of(np.bincount(row_ranks, minlength=len(code_of_rank)))
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


@jit
def supports(rows: Merged, labels: int) -> Numbers:
    """Return the number of records with each code."""
    support_by_code = np.zeros(labels, np.int64)
    for row in range(len(rows.weight_by_row)):
        for code in rows.items[rows.indptr[row] : rows.indptr[row + 1]]:
            support_by_code[code] += rows.weight_by_row[row]
    return support_by_code


def share_out(run: Callable[[int, Numbers], None], firsts: int, work: Numbers, effort: Effort) -> None:
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


def entries_of_pairs(lists: Lists, *, both_sides: bool = False) -> Numbers:
    """Return how many entries are read to pair each rank with the larger ones of its rows.

    A rank that is in one distinct row is paired in one step. With `both_sides` all of each row is read.
    """
    if not len(lists.support_by_rank):
        return np.zeros(0, np.int64)
    begin = lists.row_ptr[lists.rows_of_rank] if both_sides else lists.place_of_rank
    read = lists.row_ptr[lists.rows_of_rank + 1] - begin
    entries: Numbers = np.add.reduceat(read, lists.list_ptr[:-1])
    entries[np.diff(lists.list_ptr) == 1] = 1
    return entries


@jit
def raise_rows(
    row_ptr: Numbers, codes: Codes, up_ptr: Numbers, up_codes: Codes
) -> tuple[Numbers, Codes]:
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
        sort_between(raised, begin, used)
        end = begin
        for place in range(begin, used):
            if end == begin or raised[end - 1] != raised[place]:
                raised[end] = raised[place]
                end += 1
        used = end
        raised_ptr[row + 1] = used
    return raised_ptr, raised[:used].copy()


@jit
def turn_over(row_ptr: Numbers, row_ranks: Codes, list_ptr: Numbers) -> tuple[Codes, Numbers]:
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
def word_groups(chosen_rows: Codes, weight_by_row: Numbers) -> tuple[Numbers, Numbers]:
    """Return the first bit of each binary digit's group, and the digit of each word."""
    rows_by_digit = np.zeros(64, np.int64)
    for row in chosen_rows:
        weight = weight_by_row[row]
        digit = 0
        while weight:
            rows_by_digit[digit] += weight & 1
            weight >>= 1
            digit += 1
    words_by_digit = (rows_by_digit + 63) >> 6
    first_bit_by_digit = 64 * (np.cumsum(words_by_digit) - words_by_digit)
    return first_bit_by_digit, np.repeat(np.arange(64), words_by_digit)


@jit
def reaches(ranks: Codes, k: int, lists: Lists) -> bool:
    """Return whether at least `k` records have all of these ranks, and none of the absent ones."""
    rarest = np.iinfo(np.int32).max
    for rank in ranks:
        if 0 <= rank < rarest:
            rarest = rank
    everywhere = rarest == np.iinfo(np.int32).max
    begin, end = 0, len(lists.weight_by_row)
    if not everywhere:
        begin, end = lists.list_ptr[rarest], lists.list_ptr[rarest + 1]
    support = 0
    for entry in range(begin, end):
        row = entry if everywhere else lists.rows_of_rank[entry]
        first, last = lists.row_ptr[row], lists.row_ptr[row + 1]
        fits = True
        for rank in ranks:
            wanted = rank >= 0
            label = rank if wanted else -1 - rank
            low, high = first, last
            while low < high:
                middle = (low + high) >> 1
                if lists.row_ranks[middle] < label:
                    low = middle + 1
                else:
                    high = middle
            if (low < last and lists.row_ranks[low] == label) != wanted:
                fits = False
                break
        if fits:
            support += lists.weight_by_row[row]
            if support >= k:
                return True
    return False


@jit
def is_minimal(ranks: Codes, known: int, k: int, lists: Lists) -> bool:
    """Return whether leaving out one rank always gives k records; of the last `known` that is known."""
    part = np.empty(len(ranks) - 1, np.int32)
    for left_out in range(len(ranks) - known):
        for place in range(len(part)):
            part[place] = ranks[place if place < left_out else place + 1]
        if not reaches(part, k, lists):
            return False
    return True


@jit
def note_support(size: int, support: int, checked: Numbers, smallest: Numbers) -> None:
    """Count one occurring combination, and lower the smallest support of its size and above."""
    checked[size] += 1
    while size < len(smallest) and support < smallest[size]:
        smallest[size] = support
        size += 1


@jit
def keep_witness(ranks: Codes, size: int, support: int, counts: Counts) -> None:
    """Keep a combination that breaks the promise; there must be room for it."""
    task = counts.task
    number = counts.witness_count[task]
    for place in range(len(ranks)):
        counts.witness_ranks[task, number, place] = ranks[place]
    counts.witness_size[task, number] = size
    counts.witness_support[task, number] = support
    counts.witness_count[task] = number + 1


@jit
def is_in_one_row(first: int, lists: Lists, counts: Counts) -> bool:
    """Return whether a rank is in one distinct row, and if so note its pairs: all have its support."""
    begin = lists.list_ptr[first]
    if lists.list_ptr[first + 1] - begin > 1:
        return False
    larger = lists.row_ptr[lists.rows_of_rank[begin] + 1] - lists.place_of_rank[begin] - 1
    if larger > 0:
        checked = counts.checked[counts.task]
        note_support(2, lists.support_by_rank[first], checked, counts.smallest[counts.task])
        checked[2] += larger - 1
    counts.work[counts.task] += 1
    return True


@jit
def ranks_with(
    first: int, both_sides: bool, lists: Lists, support_with_first: Numbers, touched: Codes
) -> tuple[int, int]:
    """List the ranks in the rows of `first` with their supports, all others or the larger ones.

    They rise. Returns how many they are, and the work.
    """
    count, entries = 0, 0
    support_with_first[first] = 1  # so that it is no other
    for entry in range(lists.list_ptr[first], lists.list_ptr[first + 1]):
        row = lists.rows_of_rank[entry]
        weight = lists.weight_by_row[row]
        begin, end = lists.place_of_rank[entry], lists.row_ptr[row + 1]
        if both_sides:
            begin = lists.row_ptr[row]
        entries += end - begin
        for place in range(begin, end):
            rank = lists.row_ranks[place]
            if support_with_first[rank] == 0:
                touched[count] = rank
                count += 1
            support_with_first[rank] += weight
    support_with_first[first] = 0
    smallest = 0 if both_sides else first + 1
    # Many are sorted faster by looking through all.
    if 64 * count > len(support_with_first) - smallest:
        count = 0
        for rank in range(smallest, len(support_with_first)):
            if support_with_first[rank] > 0:
                touched[count] = rank
                count += 1
    else:
        sort_between(touched, 0, count)
    return count, entries


@jit
def bitmaps(
    rows: Codes, begins: Numbers, member_of_rank: Numbers, count: int, lists: Lists
) -> tuple[Words, Numbers]:
    """Return the bitmaps of all members over rows, each read from a place on, and each word's digit."""
    next_bit_by_digit, digits = word_groups(rows, lists.weight_by_row)
    wide = len(digits)
    words = np.zeros(count * wide, np.uint64)
    for which in range(len(rows)):
        row = rows[which]
        weight = lists.weight_by_row[row]
        digit = 0
        while weight:
            if weight & 1:
                bit = next_bit_by_digit[digit]
                next_bit_by_digit[digit] += 1
                mask = np.uint64(1) << np.uint64(bit & 63)
                for place in range(begins[which], lists.row_ptr[row + 1]):
                    member = member_of_rank[lists.row_ranks[place]]
                    if member >= 0:
                        words[member * wide + (bit >> 6)] |= mask
            weight >>= 1
            digit += 1
    return words, digits


@jit
def live_words(words: Words, at: int, wide: int) -> Numbers:
    """Return which of so many words from `at` on, the bitmap of a member, are not zero."""
    live = np.empty(wide, np.int64)
    count = 0
    for word in range(wide):
        if words[at + word] != 0:
            live[count] = word
            count += 1
    return live[:count]


@jit
def meeting(
    words: Words, one_at: int, other_words: Words, other_at: int, digits: Numbers, live: Numbers
) -> int:
    """Return how many records hold two members, given where their bitmaps are; `live` are common words.

    It takes arrays, since a call with all of `Members` would take longer than the count.
    """
    support = 0
    for word in live:
        common = words[one_at + word] & other_words[other_at + word]
        support += bits_set(common) << digits[word]
    return support


@jit
def narrowed(
    members: Members, one: int, others: Members, kept: Numbers, supports_of_kept: Numbers, live: Numbers
) -> Members:
    """Return the members that may join once `one` has joined, over the words that are `live` then."""
    wide = len(members.digits)
    words = np.empty(len(kept) * len(live), np.uint64)
    at = 0
    for other in kept:
        for word in live:
            words[at] = members.words[one * wide + word] & others.words[other * wide + word]
            at += 1
    return Members(others.ranks[kept], supports_of_kept.copy(), words, members.digits[live])
