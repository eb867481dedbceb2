"""The compiled loops for negative knowledge: labels known to be present, labels known to be absent.

For each set U of present labels, the labels that occur with it in some but not all of its records
are its candidates: only knowing one of those to be absent changes anything. Absent labels are picked
from the most frequent candidate down. Each pick takes away at most the candidate's support, so
where even the largest remaining ones leave enough records, the search turns back.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._jit import bits_set, jit
from .counting import BOUNDED, STOPPED, Counts, Lists, reaches, word_groups
from .km_kernels import note_support


@jit
def is_minimal_signed(
    present: NDArray[np.int32],
    absent: NDArray[np.int32],
    k: int,
    lists: Lists,
) -> bool:
    """Return whether every combination with one label less fits at least k records."""
    for left_out in range(len(present) + len(absent)):
        fewer_present, fewer_absent = present, absent
        if left_out < len(present):
            fewer_present = np.empty(len(present) - 1, np.int32)
            fewer_present[:left_out] = present[:left_out]
            fewer_present[left_out:] = present[left_out + 1 :]
        else:
            gone = left_out - len(present)
            fewer_absent = np.empty(len(absent) - 1, np.int32)
            fewer_absent[:gone] = absent[:gone]
            fewer_absent[gone:] = absent[gone + 1 :]
        if len(fewer_present) + len(fewer_absent) > 0 and not reaches(
            fewer_present,
            fewer_absent,
            k,
            lists,
        ):
            return False
    return True


@jit
def keep_signed(
    task: int,
    present: NDArray[np.int32],
    absent: NDArray[np.int32],
    support: int,
    counts: Counts,
) -> None:
    """Keep a rare combination while there is room; absent ranks are stored as ``-1 - rank``."""
    number = counts.witness_count[task]
    if number < counts.witness_size.shape[1]:
        for which in range(len(present)):
            counts.witness_ranks[task, number, which] = present[which]
        for which in range(len(absent)):
            counts.witness_ranks[task, number, len(present) + which] = -1 - absent[which]
        counts.witness_size[task, number] = len(present) + len(absent)
        counts.witness_support[task, number] = support
        counts.witness_count[task] = number + 1


@jit
def pick_absent(
    present: NDArray[np.int32],
    present_support: int,
    candidate_rank: NDArray[np.int32],
    candidate_support: NDArray[np.int64],
    words: NDArray[np.uint64],
    digits: NDArray[np.int64],
    lists: Lists,
    k: int,
    m: int,
    task: int,
    work_limit: int,
    counts: Counts,
) -> None:
    """Search the absent labels that go with `present`; single absent labels alone are not noted."""
    count, wide = len(candidate_rank), len(digits)
    known = len(present)
    depth_limit = m - known
    order = np.argsort(-candidate_support, kind="mergesort")
    union = np.zeros((max(depth_limit, 1), wide), np.uint64)
    left = np.empty(depth_limit + 1, np.int64)
    upcoming = np.zeros(depth_limit + 1, np.int64)
    absent = np.empty(depth_limit + 1, np.int32)
    left[0] = present_support
    depth = 0
    while depth >= 0:
        size = known + depth
        turn_back = upcoming[depth] >= count or size >= m
        if not turn_back:
            largest = candidate_support[order[upcoming[depth]]]
            turn_back = True
            for reached in range(size + 1, m + 1):
                lower_bound = left[depth] - (reached - size) * largest
                if lower_bound < max(k, counts.smallest[task, reached]):
                    turn_back = False
                    break
        if turn_back:
            depth -= 1
            continue
        candidate = order[upcoming[depth]]
        upcoming[depth] += 1
        taken = 0
        if depth == 0:
            taken = candidate_support[candidate]
        else:
            for word in range(wide):
                fresh = words[candidate * wide + word] & ~union[depth, word]
                taken += bits_set(fresh) << digits[word]
            counts.work[task] += wide
        support = left[depth] - taken
        # None left, or none taken away: nothing that a smaller combination does not tell.
        if support == 0 or taken == 0:
            continue
        absent[depth] = candidate_rank[candidate]
        if size >= 1:
            note_support(task, size + 1, support, counts.checked, counts.smallest)
            # Two of the parts are known already, and cheap to rule out by.
            alone = present_support - candidate_support[candidate]
            may_be_minimal = support < k <= left[depth] and (depth == 0 or alone >= k)
            if may_be_minimal and is_minimal_signed(
                present,
                absent[: depth + 1],
                k,
                lists,
            ):
                counts.rare[task, size + 1] += 1
                keep_signed(
                    task,
                    present,
                    absent[: depth + 1],
                    support,
                    counts,
                )
        if size + 1 < m and (support >= k or counts.smallest[task, size + 2] > 1):
            if counts.work.sum() > work_limit:
                counts.cut_short[task, STOPPED] = True
                return
            for word in range(wide):
                union[depth + 1, word] = union[depth, word] | words[candidate * wide + word]
            left[depth + 1] = support
            upcoming[depth + 1] = upcoming[depth]
            depth += 1
            counts.work[task] += 1


@jit
def bitmaps_over(
    rows: NDArray[np.int32],
    member_of_rank: NDArray[np.int64],
    count: int,
    lists: Lists,
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the bitmaps of all members over some rows, and the digit of each word."""
    next_bit_by_digit, digits = word_groups(rows.astype(np.int64), lists.weight_by_row)
    wide = len(digits)
    words = np.zeros(count * wide, np.uint64)
    for row in rows:
        weight = lists.weight_by_row[row]
        digit = 0
        while weight:
            if weight & 1:
                bit = next_bit_by_digit[digit]
                next_bit_by_digit[digit] += 1
                mask = np.uint64(1) << np.uint64(bit & 63)
                for place in range(lists.row_ptr[row], lists.row_ptr[row + 1]):
                    member = member_of_rank[lists.row_ranks[place]]
                    if member >= 0:
                        words[member * wide + (bit >> 6)] |= mask
            weight >>= 1
            digit += 1
    return words, digits


@jit
def narrow_class(
    one: int,
    one_support: int,
    ranks: NDArray[np.int32],
    supports: NDArray[np.int64],
    words: NDArray[np.uint64],
    digits: NDArray[np.int64],
    present: NDArray[np.int32],
    lists: Lists,
    k: int,
    task: int,
    counts: Counts,
) -> tuple[
    NDArray[np.int32], NDArray[np.int64], NDArray[np.bool_], NDArray[np.uint64], NDArray[np.int64]
]:
    """Add member `one` to the present labels: return the narrower class, noting the larger sets.

    The arrays are ranks, supports, whether a member may become present next, bitmaps and digits.
    """
    wide = len(digits)
    live = np.empty(wide, np.int64)
    live_count = 0
    for word in range(wide):
        if words[one * wide + word] != 0:
            live[live_count] = word
            live_count += 1
    child_ranks = np.empty(len(ranks), np.int32)
    child_supports = np.empty(len(ranks), np.int64)
    may_follow = np.zeros(len(ranks), np.bool_)
    child_words = np.empty(len(ranks) * live_count, np.uint64)
    child_digits = digits[live[:live_count]]
    larger = np.empty(len(present) + 1, np.int32)
    larger[: len(present)] = present
    none_absent = np.empty(0, np.int32)
    kept = 0
    for other in range(len(ranks)):
        if other == one:
            continue
        support = 0
        for which in range(live_count):
            word = live[which]
            common = words[one * wide + word] & words[other * wide + word]
            child_words[kept * live_count + which] = common
            support += bits_set(common) << digits[word]
        if support == 0:
            continue
        if ranks[other] > ranks[one]:
            note_support(task, len(larger), support, counts.checked, counts.smallest)
            if support < k <= one_support and supports[other] >= k:
                larger[len(present)] = ranks[other]
                if is_minimal_signed(
                    larger,
                    none_absent,
                    k,
                    lists,
                ):
                    counts.rare[task, len(larger)] += 1
                    keep_signed(
                        task,
                        larger,
                        none_absent,
                        support,
                        counts,
                    )
        if support == one_support:
            continue
        child_ranks[kept] = ranks[other]
        child_supports[kept] = support
        may_follow[kept] = ranks[other] > ranks[one] and support < supports[other]
        kept += 1
    counts.work[task] += len(ranks) * (live_count + 1)
    return (
        child_ranks[:kept].copy(),
        child_supports[:kept].copy(),
        may_follow[:kept].copy(),
        child_words[: kept * live_count].copy(),
        child_digits,
    )


@jit
def count_signed(
    first_ranks: NDArray[np.int64],
    lists: Lists,
    k: int,
    m: int,
    task: int,
    work_limit: int,
    rare_work_limit: int,
    counts: Counts,
) -> None:
    """Count combinations of 2..m labels whose smallest present rank is one of `first_ranks`.

    `m` is at least 2. Class 0 is treated as the narrowing of all labels by `first`.
    """
    ranks = len(lists.support_by_rank)
    member_of_rank = np.full(ranks, -1, np.int64)
    every_support = np.zeros(ranks, np.int64)
    prefix = np.empty(m, np.int32)
    none_absent = np.empty(0, np.int32)
    rare_work = 0
    for first in first_ranks:
        first_support = lists.support_by_rank[first]
        if first_support < k and (counts.smallest[task, 2] == 1 or rare_work > rare_work_limit):
            counts.cut_short[task, BOUNDED] |= counts.smallest[task, 2] > 1
            continue
        before = counts.work[task]
        prefix[0] = first
        begin = lists.list_ptr[first]
        if lists.list_ptr[first + 1] - begin == 1:
            # What is with it is in all its records: neither its presence nor its absence tells more.
            larger = lists.row_ptr[lists.rows_of_rank[begin] + 1] - lists.place_of_rank[begin] - 1
            if larger > 0:
                note_support(task, 2, first_support, counts.checked, counts.smallest)
                counts.checked[task, 2] += larger - 1
            counts.work[task] += 1
            continue
        rows = lists.rows_of_rank[lists.list_ptr[first] : lists.list_ptr[first + 1]]
        for row in rows:
            for place in range(lists.row_ptr[row], lists.row_ptr[row + 1]):
                every_support[lists.row_ranks[place]] += lists.weight_by_row[row]
            counts.work[task] += lists.row_ptr[row + 1] - lists.row_ptr[row]
        every_support[first] = 0
        together = np.flatnonzero(every_support)
        class_ranks = np.empty(len(together), np.int32)
        class_supports = np.empty(len(together), np.int64)
        may_follow = np.zeros(len(together), np.bool_)
        count = 0
        for rank in together:
            support = every_support[rank]
            every_support[rank] = 0
            if rank > first:
                note_support(task, 2, support, counts.checked, counts.smallest)
                if support < k and first_support >= k and lists.support_by_rank[rank] >= k:
                    counts.rare[task, 2] += 1
                    prefix[1] = rank
                    keep_signed(
                        task,
                        prefix[:2],
                        none_absent,
                        support,
                        counts,
                    )
            if support < first_support:
                class_ranks[count] = rank
                class_supports[count] = support
                may_follow[count] = rank > first and support < lists.support_by_rank[rank]
                member_of_rank[rank] = count
                count += 1
        words, digits = np.empty(0, np.uint64), np.empty(0, np.int64)
        if m > 2:
            words, digits = bitmaps_over(rows, member_of_rank, count, lists)
            counts.work[task] += len(words)
        member_of_rank[together] = -1
        class_ranks, class_supports = class_ranks[:count].copy(), class_supports[:count].copy()
        may_follow = may_follow[:count].copy()
        pending = [(class_ranks, class_supports, may_follow, words, digits, 0, first_support)]
        prefix_of = [prefix[:1].copy()]
        while len(pending) > 0:
            class_ranks, class_supports, may_follow, words, digits, current, inside = pending.pop()
            present = prefix_of.pop()
            if current == 0:
                pick_absent(
                    present,
                    inside,
                    class_ranks,
                    class_supports,
                    words,
                    digits,
                    lists,
                    k,
                    m,
                    task,
                    work_limit,
                    counts,
                )
            if counts.work.sum() > work_limit:
                counts.cut_short[task, STOPPED] = True
                return
            size = len(present) + 1
            while current < len(class_ranks) and not may_follow[current]:
                current += 1
            if size >= m or current >= len(class_ranks):
                continue
            one_support = class_supports[current]
            pending.append(
                (class_ranks, class_supports, may_follow, words, digits, current + 1, inside)
            )
            prefix_of.append(present)
            if one_support < k and (
                counts.smallest[task, size + 1] == 1
                or rare_work + counts.work[task] - before > rare_work_limit
            ):
                counts.cut_short[task, BOUNDED] |= counts.smallest[task, size + 1] > 1
                continue
            larger = np.empty(size, np.int32)
            larger[: size - 1] = present
            larger[size - 1] = class_ranks[current]
            child = narrow_class(
                current,
                one_support,
                class_ranks,
                class_supports,
                words,
                digits,
                larger,
                lists,
                k,
                task,
                counts,
            )
            pending.append((child[0], child[1], child[2], child[3], child[4], 0, one_support))
            prefix_of.append(larger)
        if first_support < k:
            rare_work += counts.work[task] - before
