"""The steps in which all counts of sets walk from smaller sets to larger ones.

A set and the labels that may join it, its `Members`, are narrowed by one member after the other: its
bitmap is laid over those of the others. `meeting` counts the records of a larger set, and `narrowed`
keeps the members that may join that one in turn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._jit import bits_set, jit
from .counting import Counts, Lists, word_groups


class Members(NamedTuple):
    """The labels that may join a set, over rows that hold the set.

    Member i has the rank ``ranks[i]`` and is in ``supports[i]`` records of the set. Its bitmap is
    ``words[i * wide:(i + 1) * wide]``; `digits` has the digit of each of those `wide` words.
    """

    ranks: NDArray[np.int32]
    supports: NDArray[np.int64]
    words: NDArray[np.uint64]
    digits: NDArray[np.int64]


@jit
def reaches(ranks: NDArray[np.int32], k: int, lists: Lists) -> bool:
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
def is_minimal(ranks: NDArray[np.int32], known: int, k: int, lists: Lists) -> bool:
    """Return whether leaving out one rank always gives k records; of the last `known` that is known."""
    part = np.empty(len(ranks) - 1, np.int32)
    for left_out in range(len(ranks) - known):
        part[:left_out] = ranks[:left_out]
        part[left_out:] = ranks[left_out + 1 :]
        if not reaches(part, k, lists):
            return False
    return True


@jit
def note_support(
    size: int, support: int, checked: NDArray[np.int64], smallest: NDArray[np.int64]
) -> None:
    """Count one occurring combination, and lower the smallest support of its size and above."""
    checked[size] += 1
    while size < len(smallest) and support < smallest[size]:
        smallest[size] = support
        size += 1


@jit
def keep_witness(ranks: NDArray[np.int32], size: int, support: int, counts: Counts) -> None:
    """Keep a combination that breaks the promise; there must be room for it."""
    task = counts.task
    number = counts.witness_count[task]
    counts.witness_ranks[task, number, : len(ranks)] = ranks
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
    first: int,
    both_sides: bool,
    lists: Lists,
    support_with_first: NDArray[np.int64],
    touched: NDArray[np.int32],
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
    if 16 * count > len(support_with_first) - smallest:
        count = 0
        for rank in range(smallest, len(support_with_first)):
            if support_with_first[rank] > 0:
                touched[count] = rank
                count += 1
    else:
        touched[:count].sort()
    return count, entries


@jit
def bitmaps(
    rows: NDArray[np.int32],
    begins: NDArray[np.int64],
    member_of_rank: NDArray[np.int64],
    count: int,
    lists: Lists,
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
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
def live_words(words: NDArray[np.uint64], at: int, wide: int) -> NDArray[np.int64]:
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
    words: NDArray[np.uint64],
    one_at: int,
    other_words: NDArray[np.uint64],
    other_at: int,
    digits: NDArray[np.int64],
    live: NDArray[np.int64],
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
    members: Members,
    one: int,
    others: Members,
    kept: NDArray[np.int64],
    supports_of_kept: NDArray[np.int64],
    live: NDArray[np.int64],
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
