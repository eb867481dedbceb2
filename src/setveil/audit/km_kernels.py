"""The compiled loops of the k^m audit: pairs by counting, larger sets by intersecting bitmaps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._jit import bits_set, jit
from .counting import BOUNDED, STOPPED, Counts, Lists, reaches, word_groups


@jit
def note_support(
    task: int,
    size: int,
    support: int,
    checked: NDArray[np.int64],
    smallest: NDArray[np.int64],
) -> None:
    """Count one occurring combination and lower the smallest support of its size and above."""
    checked[task, size] += 1
    above = size
    while above < smallest.shape[1] and support < smallest[task, above]:
        smallest[task, above] = support
        above += 1


@jit
def keep_witness(
    task: int,
    ranks: NDArray[np.int32],
    support: int,
    counts: Counts,
) -> None:
    """Keep a rare set as a witness while there is room."""
    number = counts.witness_count[task]
    if number < counts.witness_size.shape[1]:
        for which in range(len(ranks)):
            counts.witness_ranks[task, number, which] = ranks[which]
        counts.witness_size[task, number] = len(ranks)
        counts.witness_support[task, number] = support
        counts.witness_count[task] = number + 1


@jit
def in_table(table: NDArray[np.uint64], one: int, other: int) -> bool:
    """Return the bit of a pair, the smaller rank first."""
    return bool((table[one, other >> 6] >> np.uint64(other & 63)) & np.uint64(1))


@jit
def deliver(
    first: int,
    lists: Lists,
    support_with_first: NDArray[np.int64],
    touched: NDArray[np.int32],
) -> tuple[int, int]:
    """List the larger ranks in the rows of `first`, with supports; return how many, and the work."""
    count, entries = 0, 0
    for entry in range(lists.list_ptr[first], lists.list_ptr[first + 1]):
        row = lists.rows_of_rank[entry]
        for place in range(lists.place_of_rank[entry] + 1, lists.row_ptr[row + 1]):
            rank = lists.row_ranks[place]
            if support_with_first[rank] == 0:
                touched[count] = rank
                count += 1
            support_with_first[rank] += lists.weight_by_row[row]
        entries += lists.row_ptr[row + 1] - lists.place_of_rank[entry]
    # Many are sorted faster by looking through all.
    if 16 * count > len(support_with_first) - first:
        count = 0
        for rank in range(first + 1, len(support_with_first)):
            if support_with_first[rank] > 0:
                touched[count] = rank
                count += 1
    else:
        touched[:count].sort()
    return count, entries


@jit
def count_pairs(
    first_ranks: NDArray[np.int64],
    lists: Lists,
    k: int,
    least_support: int,
    task: int,
    work_limit: int,
    good_pairs: NDArray[np.uint64],
    free_pairs: NDArray[np.uint64],
    counts: Counts,
) -> None:
    """Count all pairs whose smaller rank is one of `first_ranks`, and fill the tables.

    A free pair occurs less often than either part; a good one is free and not rare. Ranks of less than
    `least_support` are passed over.
    """
    ranks = len(lists.support_by_rank)
    support_with_first = np.zeros(ranks, np.int64)
    touched = np.empty(ranks, np.int32)
    pair = np.empty(2, np.int32)
    tabled = len(good_pairs) > 0
    for first in first_ranks:
        if counts.work.sum() > work_limit:
            counts.cut_short[task, STOPPED] = True
            return
        first_support = lists.support_by_rank[first]
        if first_support < least_support:
            continue
        begin = lists.list_ptr[first]
        if lists.list_ptr[first + 1] - begin == 1:
            # All its pairs have its own support: none is free, and none is newly rare.
            larger = lists.row_ptr[lists.rows_of_rank[begin] + 1] - lists.place_of_rank[begin] - 1
            if larger > 0:
                note_support(task, 2, first_support, counts.checked, counts.smallest)
                counts.checked[task, 2] += larger - 1
            counts.work[task] += 1
            continue
        count, entries = deliver(
            first,
            lists,
            support_with_first,
            touched,
        )
        counts.work[task] += entries
        for which in range(count):
            rank = touched[which]
            support = support_with_first[rank]
            support_with_first[rank] = 0
            note_support(task, 2, support, counts.checked, counts.smallest)
            if support < k and first_support >= k and lists.support_by_rank[rank] >= k:
                counts.rare[task, 2] += 1
                pair[0] = first
                pair[1] = rank
                keep_witness(
                    task,
                    pair,
                    support,
                    counts,
                )
            if tabled and support < first_support and support < lists.support_by_rank[rank]:
                mask = np.uint64(1) << np.uint64(rank & 63)
                free_pairs[first, rank >> 6] |= mask
                if support >= k:
                    good_pairs[first, rank >> 6] |= mask


@jit
def fill_bitmaps(
    first: int,
    count: int,
    member_of_rank: NDArray[np.int64],
    lists: Lists,
    words: NDArray[np.uint64],
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the bitmaps of all members over the rows of `first`, and the digit of each word.

    The bitmaps lie one after the other in `words`, or in a larger array if they do not fit.
    """
    chosen = np.empty(lists.list_ptr[first + 1] - lists.list_ptr[first], np.int64)
    chosen_place = np.empty(len(chosen), np.int64)
    chosen_count = 0
    for entry in range(lists.list_ptr[first], lists.list_ptr[first + 1]):
        row = lists.rows_of_rank[entry]
        inside = 0
        for place in range(lists.place_of_rank[entry] + 1, lists.row_ptr[row + 1]):
            if member_of_rank[lists.row_ranks[place]] >= 0:
                inside += 1
        # A row with one member holds no larger set.
        if inside >= 2:
            chosen[chosen_count] = row
            chosen_place[chosen_count] = lists.place_of_rank[entry] + 1
            chosen_count += 1
    next_bit_by_digit, digit_by_word = word_groups(chosen[:chosen_count], lists.weight_by_row)
    wide = len(digit_by_word)
    if count * wide > len(words):
        words = np.empty(2 * count * wide, np.uint64)
    words[: count * wide] = np.uint64(0)
    for which in range(chosen_count):
        row = chosen[which]
        weight = lists.weight_by_row[row]
        digit = 0
        while weight:
            if weight & 1:
                bit = next_bit_by_digit[digit]
                next_bit_by_digit[digit] += 1
                mask = np.uint64(1) << np.uint64(bit & 63)
                for place in range(chosen_place[which], lists.row_ptr[row + 1]):
                    member = member_of_rank[lists.row_ranks[place]]
                    if member >= 0:
                        words[member * wide + (bit >> 6)] |= mask
            weight >>= 1
            digit += 1
    return words, digit_by_word


@jit
def is_minimal(
    ranks: NDArray[np.int32],
    k: int,
    lists: Lists,
) -> bool:
    """Return whether leaving out one of all but the last two ranks always gives k records.

    Leaving out one of the last two is known to.
    """
    part = np.empty(len(ranks) - 1, np.int32)
    none_absent = np.empty(0, np.int32)
    for left_out in range(len(ranks) - 2):
        part[:left_out] = ranks[:left_out]
        part[left_out:] = ranks[left_out + 1 :]
        if not reaches(part, none_absent, k, lists):
            return False
    return True


@jit
def count_larger(
    first_ranks: NDArray[np.int64],
    lists: Lists,
    k: int,
    m: int,
    least_support: int,
    task: int,
    work_limit: int,
    rare_work_limit: int,
    good_pairs: NDArray[np.uint64],
    free_pairs: NDArray[np.uint64],
    counts: Counts,
) -> None:
    """Count the sets of 3..m ranks whose smallest rank is one of `first_ranks`.

    Sets with a part that is not free are left out; so are sets with a rare part, unless supports
    below the smallest known one are still looked for.
    """
    ranks = len(lists.support_by_rank)
    support_with_first = np.zeros(ranks, np.int64)
    member_of_rank = np.full(ranks, -1, np.int64)
    touched = np.empty(ranks, np.int32)
    prefix = np.empty(m, np.int32)
    # Class c holds the extensions of a prefix of c + 1 ranks: their ranks, supports and bitmaps,
    # the bitmaps one after the other in `words`, each as wide as the prefix's non-zero words.
    base = np.zeros(m, np.int64)
    width = np.zeros(m, np.int64)
    members = np.zeros(m, np.int64)
    member_base = np.zeros(m, np.int64)
    digit_base = np.zeros(m, np.int64)
    current = np.zeros(m, np.int64)
    words = np.empty(1 << 12, np.uint64)
    member_rank = np.empty(4 * ranks, np.int32)
    member_support = np.empty(4 * ranks, np.int64)
    tabled = len(good_pairs) > 0
    search_rare = counts.smallest[task, 2] > 1
    table = free_pairs if search_rare else good_pairs
    rare_work = 0
    for first in first_ranks:
        first_support = lists.support_by_rank[first]
        if first_support < least_support or (first_support < k and not search_rare):
            continue
        # Of a rank in one distinct row no pair is free.
        if lists.list_ptr[first + 1] - lists.list_ptr[first] == 1:
            continue
        touched_count, entries = deliver(
            first,
            lists,
            support_with_first,
            touched,
        )
        count = 0
        prefix[0] = first
        for which in range(touched_count):
            rank = touched[which]
            support = support_with_first[rank]
            support_with_first[rank] = 0
            is_free = support < first_support and support < lists.support_by_rank[rank]
            if is_free and (support >= k or search_rare):
                member_of_rank[rank] = count
                member_rank[count] = rank
                member_support[count] = support
                count += 1
        if count >= 2:
            words, digit_by_word = fill_bitmaps(
                first,
                count,
                member_of_rank,
                lists,
                words,
            )
        for which in range(count):
            member_of_rank[member_rank[which]] = -1
        if count < 2:
            continue
        wide = len(digit_by_word)
        digits = np.empty(wide * m, np.int64)
        digits[:wide] = digit_by_word
        live = np.empty(wide, np.int64)
        counts.work[task] += count * wide + entries
        depth = 0
        width[0] = wide
        members[0] = count
        current[0] = 0
        while depth >= 0:
            if current[depth] >= members[depth] - 1:
                depth -= 1
                continue
            if counts.work.sum() > work_limit:
                counts.cut_short[task, STOPPED] = True
                return
            one = current[depth]
            current[depth] += 1
            size = depth + 3
            at, many, labels_at = base[depth], width[depth], member_base[depth]
            digits_at = digit_base[depth]
            one_rank = member_rank[labels_at + one]
            one_support = member_support[labels_at + one]
            one_at = at + one * many
            if one_support < k and (counts.smallest[task, size] == 1 or rare_work > rare_work_limit):
                counts.cut_short[task, BOUNDED] |= counts.smallest[task, size] > 1
                continue
            prefix[depth + 1] = one_rank
            live_count = 0
            for word in range(many):
                if words[one_at + word] != 0:
                    live[live_count] = word
                    live_count += 1
            extend = size < m
            child_at = at + members[depth] * many
            child_labels = labels_at + members[depth]
            child_digits = digits_at + many
            if extend:
                need = child_at + (members[depth] - one) * live_count
                if need > len(words):
                    larger_words = np.empty(2 * need, np.uint64)
                    larger_words[:child_at] = words[:child_at]
                    words = larger_words
                if child_labels + members[depth] > len(member_rank):
                    larger_rank = np.empty(2 * len(member_rank), np.int32)
                    larger_rank[: len(member_rank)] = member_rank
                    member_rank = larger_rank
                    larger_support = np.empty(2 * len(member_support), np.int64)
                    larger_support[: len(member_support)] = member_support
                    member_support = larger_support
                for which in range(live_count):
                    digits[child_digits + which] = digits[digits_at + live[which]]
            kept = 0
            counted = 0
            for other in range(one + 1, members[depth]):
                other_rank = member_rank[labels_at + other]
                if tabled and not in_table(table, one_rank, other_rank):
                    continue
                counted += 1
                other_at = at + other * many
                support = 0
                for which in range(live_count):
                    word = live[which]
                    common = words[one_at + word] & words[other_at + word]
                    support += bits_set(common) << digits[digits_at + word]
                if support == 0:
                    continue
                note_support(task, size, support, counts.checked, counts.smallest)
                other_support = member_support[labels_at + other]
                if support < k and one_support >= k and other_support >= k:
                    prefix[depth + 2] = other_rank
                    # With the table the one remaining part of a triple is known.
                    if (
                        in_table(good_pairs, one_rank, other_rank)
                        if tabled and size == 3
                        else is_minimal(
                            prefix[:size],
                            k,
                            lists,
                        )
                    ):
                        counts.rare[task, size] += 1
                        keep_witness(
                            task,
                            prefix[:size],
                            support,
                            counts,
                        )
                if not extend or support in (one_support, other_support):
                    continue
                if support < k and (
                    counts.smallest[task, size + 1] == 1 or rare_work > rare_work_limit
                ):
                    counts.cut_short[task, BOUNDED] |= counts.smallest[task, size + 1] > 1
                    continue
                to = child_at + kept * live_count
                for which in range(live_count):
                    word = live[which]
                    words[to + which] = words[one_at + word] & words[other_at + word]
                member_rank[child_labels + kept] = other_rank
                member_support[child_labels + kept] = support
                kept += 1
            spent = counted * (live_count + 2) + many
            counts.work[task] += spent
            if one_support < k:
                rare_work += spent
            if kept >= 2:
                depth += 1
                base[depth] = child_at
                width[depth] = live_count
                members[depth] = kept
                member_base[depth] = child_labels
                digit_base[depth] = child_digits
                current[depth] = 0
