"""k^m-anonymity against negative knowledge: labels known to be absent count like labels present.

Every combination of at most m labels, each known to be present or absent, over the labels that
occur, fits no record or at least k. Empty records are records here: they fit any absence.

For each set U of present labels, the labels that occur with it in some but not all of its records
are its candidates: only knowing one of those to be absent changes anything. Absent labels are picked
from the most frequent candidate down. Each pick takes away at most the candidate's support, so
where even the largest remaining ones leave enough records, the search turns back.
"""

from __future__ import annotations

import numpy as np

from ..errors import ResourceLimit
from ..model.guarantees import KmAnonymity
from ._jit import bits_set, jit
from .counting import (
    BOUNDED,
    LARGEST_SUPPORT,
    RARE_WORK_LIMIT,
    STOPPED,
    TASKS,
    Counts,
    Effort,
    Flags,
    Lists,
    Members,
    bitmaps,
    entries_of_pairs,
    is_in_one_row,
    is_minimal,
    keep_witness,
    lay_out,
    live_words,
    meeting,
    narrowed,
    no_counts,
    note_support,
    ranks_with,
    share_out,
)
from .km import choose_witnesses, may_begin, sum_up
from .published import Codes, Numbers, Published
from .verdict import Verdict, Witness

LARGEST_BITMAPS = 2**27
"""Words in the bitmaps of all labels over all rows."""


def audit_negative(published: Published, guarantee: KmAnonymity, effort: Effort) -> Verdict:
    """Count combinations of present and absent labels. Too much work is refused as by `audit_km`."""
    layout = lay_out(published)
    lists = layout.lists
    k, supports, ranks = guarantee.k, lists.support_by_rank, len(lists.support_by_rank)
    m = min(guarantee.m, ranks)
    counts = no_counts(max(m, 1), effort)
    absences = published.records - supports
    occurring = np.concatenate([supports, absences[absences > 0]])
    counts.smallest[:, 1:] = occurring.min(initial=LARGEST_SUPPORT)
    counts.checked[0, 1] = len(occurring)
    counts.rare[0, 1] = np.count_nonzero(occurring < k)
    if m >= 2:
        needed = int(entries_of_pairs(lists, both_sides=True)[supports >= k].sum())
        has_room = may_begin(counts, needed, settled=bool((occurring < k).any()))
        distinct = len(lists.weight_by_row)
        if ranks * (distinct >> 6) > LARGEST_BITMAPS:
            raise ResourceLimit(
                f"{ranks:,} labels over {distinct:,} different rows are too many.",
                "Publish fewer labels, or audit without negative knowledge.",
                code="audit-work",
            )
        every_row, every_rank = np.arange(distinct, dtype=np.int32), np.arange(ranks, dtype=np.int32)
        found_bits = bitmaps(every_row, lists.row_ptr[:-1], every_rank.astype(np.int64), ranks, lists)
        everybody = Members(every_rank, supports, *found_bits)
        if has_room:
            pick_absent(every_rank[:0], published.records, everybody, lists, k, m, counts)
        counts.smallest[:] = counts.smallest.min(axis=0)

        def run(task: int, firsts: Numbers) -> None:
            count_signed(firsts, lists, k, m, RARE_WORK_LIMIT // TASKS, counts._replace(task=task))

        if has_room:
            share_out(run, ranks, counts.work, effort)
    found = []
    for rank in range(ranks if effort.witnesses else 0):
        name = layout.names([rank])
        if supports[rank] < k:
            found.append(Witness(name, (), int(supports[rank])))
        if 0 < absences[rank] < k:
            found.append(Witness((), name, int(absences[rank])))
    for kept, size, support in layout.kept(counts):
        signed = kept[:size]
        present, absent = signed[signed >= 0], -1 - signed[signed < 0]
        found.append(Witness(layout.names(present), layout.names(absent), support))
    return sum_up(counts, published, guarantee, m, choose_witnesses(found, effort))


@jit
def pick_absent(
    present: Codes, present_support: int, members: Members, lists: Lists, k: int, m: int, counts: Counts
) -> None:
    """Search the absent labels that go with `present`; single absent labels alone are not noted."""
    count, wide, known, task = len(members.ranks), len(members.digits), len(present), counts.task
    checked, smallest, rare = counts.checked[task], counts.smallest[task], counts.rare[task]
    room = counts.witness_size.shape[1]
    depth_limit = m - known
    order = np.argsort(-members.supports, kind="mergesort")
    union = np.zeros((max(depth_limit, 1), wide), np.uint64)
    left = np.empty(depth_limit + 1, np.int64)
    upcoming = np.zeros(depth_limit + 1, np.int64)
    signed = np.empty(m + 1, np.int32)
    for place in range(known):
        signed[place] = present[place]
    left[0] = present_support
    depth = 0
    while depth >= 0:
        size = known + depth
        turn_back = upcoming[depth] >= count or size >= m
        if not turn_back:
            largest = members.supports[order[upcoming[depth]]]
            turn_back = True
            for reached in range(size + 1, m + 1):
                lower_bound = left[depth] - (reached - size) * largest
                if lower_bound < max(k, smallest[reached]):
                    turn_back = False
                    break
        if turn_back:
            depth -= 1
            continue
        candidate = order[upcoming[depth]]
        upcoming[depth] += 1
        taken = np.int64(0)
        if depth == 0:
            taken = members.supports[candidate]
        else:
            for word in range(wide):
                fresh = members.words[candidate * wide + word] & ~union[depth, word]
                taken += bits_set(fresh) << members.digits[word]
            counts.work[task] += wide
        support = left[depth] - taken
        # None left, or none taken away: nothing that a smaller combination does not tell.
        if support == 0 or taken == 0:
            continue
        signed[size] = -1 - members.ranks[candidate]
        if size >= 1:
            note_support(size + 1, support, checked, smallest)
            # Two of the parts are known already, and cheap to rule out by.
            alone = present_support - members.supports[candidate]
            may_be_minimal = support < k <= left[depth] and (depth == 0 or alone >= k)
            if may_be_minimal and is_minimal(signed[: size + 1], 0, k, lists):
                rare[size + 1] += 1
                if counts.witness_count[task] < room:
                    keep_witness(signed[: size + 1], size + 1, support, counts)
        if size + 1 < m and (support >= k or smallest[size + 2] > 1):
            if counts.work.sum() > counts.limit:
                counts.cut_short[task, STOPPED] = True
                return
            for word in range(wide):
                union[depth + 1, word] = union[depth, word] | members.words[candidate * wide + word]
            left[depth + 1] = support
            upcoming[depth + 1] = upcoming[depth]
            depth += 1
            counts.work[task] += 1


@jit
def add_present(
    one: int, members: Members, present: Codes, lists: Lists, k: int, counts: Counts
) -> tuple[Members, Flags]:
    """Note the sets that have member `one`, the last of `present`, and another one.

    Returns the members of the narrower class, and which of them may become present next.
    """
    count, one_support, size = len(members.ranks), members.supports[one], len(present) + 1
    task = counts.task
    checked, smallest, rare = counts.checked[task], counts.smallest[task], counts.rare[task]
    room = counts.witness_size.shape[1]
    words, digits, wide = members.words, members.digits, len(members.digits)
    kept = np.empty(count, np.int64)
    supports_of_kept = np.empty(count, np.int64)
    may_follow = np.zeros(count, np.bool_)
    larger = np.empty(size, np.int32)
    for place in range(size - 1):
        larger[place] = present[place]
    live = live_words(words, one * wide, wide)
    used = 0
    for other in range(count):
        if other == one:
            continue
        support = meeting(words, one * wide, words, other * wide, digits, live)
        if support == 0:
            continue
        follows = members.ranks[other] > members.ranks[one]
        if follows:
            note_support(size, support, checked, smallest)
            larger[size - 1] = members.ranks[other]
            new = support < k <= one_support and members.supports[other] >= k
            if new and is_minimal(larger, 0, k, lists):
                rare[size] += 1
                if counts.witness_count[task] < room:
                    keep_witness(larger, size, support, counts)
        if support < one_support:
            kept[used] = other
            supports_of_kept[used] = support
            may_follow[used] = follows and support < members.supports[other]
            used += 1
    counts.work[task] += count * (len(live) + 1)
    child = narrowed(members, one, members, kept[:used], supports_of_kept[:used], live)
    return child, may_follow[:used].copy()


@jit
def count_signed(
    firsts: Numbers, lists: Lists, k: int, m: int, rare_work_limit: int, counts: Counts
) -> None:
    """Count combinations of 2..m labels whose smallest present rank is one of `firsts`.

    `m` is at least 2. The first class is treated as the narrowing of all labels by `first`.
    """
    ranks, task = len(lists.support_by_rank), counts.task
    checked, smallest, rare = counts.checked[task], counts.smallest[task], counts.rare[task]
    room = counts.witness_size.shape[1]
    member_of_rank = np.full(ranks, -1, np.int64)
    support_with_first = np.zeros(ranks, np.int64)
    touched = np.empty(ranks, np.int32)
    kept = np.empty(ranks, np.int32)
    supports_of_kept = np.empty(ranks, np.int64)
    follows = np.empty(ranks, np.bool_)
    pair = np.empty(2, np.int32)
    rare_work = 0
    for first in firsts:
        first_support = lists.support_by_rank[first]
        if first_support < k and (smallest[2] == 1 or rare_work > rare_work_limit):
            counts.cut_short[task, BOUNDED] |= smallest[2] > 1
            continue
        before = counts.work[task]
        # What is with a rank in one row is in all its records: neither presence nor absence tells more.
        if is_in_one_row(first, lists, counts):
            continue
        touched_count, entries = ranks_with(first, True, lists, support_with_first, touched)
        counts.work[task] += entries
        pair[0] = first
        count = 0
        for rank in touched[:touched_count]:
            support = support_with_first[rank]
            support_with_first[rank] = 0
            if rank > first:
                note_support(2, support, checked, smallest)
                if support < k <= first_support and lists.support_by_rank[rank] >= k:
                    pair[1] = rank
                    rare[2] += 1
                    if counts.witness_count[task] < room:
                        keep_witness(pair, 2, support, counts)
            if support < first_support:
                kept[count] = rank
                supports_of_kept[count] = support
                follows[count] = rank > first and support < lists.support_by_rank[rank]
                member_of_rank[rank] = count
                count += 1
        words, digits = np.empty(0, np.uint64), np.empty(0, np.int64)
        if m > 2:
            rows = lists.rows_of_rank[lists.list_ptr[first] : lists.list_ptr[first + 1]]
            words, digits = bitmaps(rows, lists.row_ptr[rows], member_of_rank, count, lists)
            counts.work[task] += len(words)
        member_of_rank[kept[:count]] = -1
        together = Members(kept[:count].copy(), supports_of_kept[:count].copy(), words, digits)
        pending = [(together, follows[:count].copy(), pair[:1].copy(), 0, first_support)]
        while len(pending) > 0:
            members, may_follow, present, current, inside = pending.pop()
            if current == 0:
                pick_absent(present, inside, members, lists, k, m, counts)
            if counts.work.sum() > counts.limit:
                counts.cut_short[task, STOPPED] = True
                return
            size = len(present) + 1
            while current < len(may_follow) and not may_follow[current]:
                current += 1
            if size >= m or current >= len(may_follow):
                continue
            one_support = members.supports[current]
            pending.append((members, may_follow, present, current + 1, inside))
            if one_support < k and (
                smallest[size + 1] == 1 or rare_work + counts.work[task] - before > rare_work_limit
            ):
                counts.cut_short[task, BOUNDED] |= smallest[size + 1] > 1
                continue
            larger = np.append(present, members.ranks[current])
            child, child_may_follow = add_present(current, members, larger, lists, k, counts)
            pending.append((child, child_may_follow, larger, 0, one_support))
        if first_support < k:
            rare_work += counts.work[task] - before
