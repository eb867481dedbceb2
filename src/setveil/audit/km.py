"""Sets of published labels, exactly: k^m-anonymity in both readings of support, and k-anonymity.

k^m-anonymity: every set of 1..m published labels is in no record or in at least k. All occurring sets
are visited by intersection of bitmaps, except those that cannot matter. A set whose support equals that
of one of its parts is not extended: whatever is added to it, adding the same to the part gives the
same support with fewer labels. A rare set is not extended either, unless a smaller support may still be
found below it. So the smallest support up to each size and the number of *minimal* rare sets are exact.

In the other reading a row covers every leaf under its labels, and every set of at most m leaves must be
covered by no row or by at least k. A row is widened to all the leaves it covers, and the widened rows
are counted in the same way. Leaves covered by the same labels are covered by the same rows, so one of
them stands for all; violations count these representatives.

k-anonymity of whole records: every distinct published row is there at least k times.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..errors import ResourceLimit
from ..model.guarantees import KAnonymity, KmAnonymity
from ._jit import jit
from .counting import (
    BOUNDED,
    LARGEST_SUPPORT,
    RARE_WORK_LIMIT,
    STOPPED,
    TASKS,
    Counts,
    Effort,
    Lists,
    Members,
    Words,
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
    raise_rows,
    ranks_with,
    share_out,
    too_much_work,
)
from .published import Codes, Numbers, Published, bounds_of
from .verdict import SizeFinding, Verdict, Witness

LARGEST_TABLE = 16_384
"""With more labels than this no table of pairs is kept; the count is slower, not other."""
WIDEST = 500_000_000
"""The most labels that all widened rows together may have."""
ENOUGH = "counting stopped at the work limit, after violations had been found."


class Asked(NamedTuple):
    """What is counted: sets of up to `m` ranks that fewer than `k` records hold.

    Ranks of less than `least` records are passed over, and so many steps may go into sets with a rare
    part.
    """

    k: int
    m: int
    least: int
    rare_work: int


class Pairs(NamedTuple):
    """A bit for each pair, the smaller rank first; no rows where no table is kept.

    A free pair occurs less often than either part; a good one is free and not rare.
    """

    good: Words
    free: Words


def audit_k(published: Published, guarantee: KAnonymity, effort: Effort) -> Verdict:
    """Count equal rows, empty ones included; findings are by the length of the rows."""
    merged = published.merged
    weights, lengths = merged.weight_by_row, np.diff(merged.indptr)
    rare = weights < guarantee.k
    findings = tuple(
        SizeFinding(
            int(length),
            int(np.count_nonzero(lengths == length)),
            int(weights[lengths <= length].min()),
            int(np.count_nonzero(rare & (lengths == length))),
        )
        for length in np.unique(lengths)
    )
    found = [
        Witness(tuple(sorted(published.labels[code] for code in merged.items[begin:end])), (), weight)
        for begin, end, weight in zip(
            merged.indptr[:-1][rare], merged.indptr[1:][rare], weights[rare].tolist(), strict=True
        )
    ]
    return Verdict(
        not rare.any(),
        guarantee,
        "exact",
        published.records,
        int(weights.min()) if len(weights) else None,
        findings,
        choose_witnesses(found, effort),
    )


def audit_km(
    published: Published,
    guarantee: KmAnonymity,
    effort: Effort,
    *,
    leaves_under: Mapping[str, Collection[str]] | None = None,
) -> Verdict:
    """Count every set of at most m labels, or of the leaves that they cover where these are given.

    Beyond the limit that is refused, or no if one was rare.
    """
    if guarantee.negative:
        from .negative import audit_negative

        return audit_negative(published, guarantee, effort)
    if leaves_under is not None:
        published = widen(published, leaves_under)
    layout = lay_out(published)
    lists, k, supports = layout.lists, guarantee.k, layout.lists.support_by_rank
    m = min(guarantee.m, published.longest)
    counts = no_counts(max(m, 1), effort)
    rare = supports < k
    counts.smallest[:, 1:] = supports.min(initial=LARGEST_SUPPORT)
    counts.checked[0, 1] = len(supports)
    counts.rare[0, 1] = np.count_nonzero(rare)
    entries = entries_of_pairs(lists) if m >= 2 else np.zeros(len(supports), np.int64)
    has_room = may_begin(counts, int(entries[~rare].sum()), settled=bool(rare.any()))
    # What holds a rare label is settled; only the smallest support could still be found in it.
    least = k if int(entries[rare].sum()) > min(RARE_WORK_LIMIT, effort.limit) else 0
    if least and supports.min() > lists.weight_by_row.min():
        counts.cut_short[:, BOUNDED] = True
    asked = Asked(k, m, least, RARE_WORK_LIMIT // TASKS)
    tabled = len(supports) if m >= 3 and len(supports) <= LARGEST_TABLE else 0
    pairs = Pairs(*(np.zeros((tabled, (tabled + 63) >> 6), np.uint64) for _ in range(2)))
    for count in (count_pairs, count_larger)[: max(m - 1, 0) if has_room else 0]:

        def run(task: int, firsts: Numbers, count: Any = count) -> None:
            count(firsts, lists, asked, pairs, counts._replace(task=task))

        share_out(run, len(supports), counts.work, effort)
        counts.smallest[:] = counts.smallest.min(axis=0)
    found = [
        Witness(layout.names([rank]), (), int(supports[rank]))
        for rank in np.flatnonzero(rare)[: effort.witnesses]
    ]
    found += [
        Witness(layout.names(ranks[:size]), (), support) for ranks, size, support in layout.kept(counts)
    ]
    mode = "exact" if leaves_under is None else "cover"
    return sum_up(counts, published, guarantee, m, choose_witnesses(found, effort), mode)


def may_begin(counts: Counts, needed: int, *, settled: bool) -> bool:
    """Tell whether to begin so much work; to leave it is refused while no answer is settled."""
    if needed > counts.limit and not settled:
        raise too_much_work(counts.limit, needed=needed)
    # A rare label has answered already: many minutes for the number of rare pairs would be too long.
    enough = min(RARE_WORK_LIMIT, counts.limit) if settled else counts.limit
    counts.cut_short[:, STOPPED] = needed > enough
    return needed <= enough


def choose_witnesses(found: list[Witness], effort: Effort) -> tuple[Witness, ...]:
    """Return as many witnesses as are asked for, the shortest first."""
    order = sorted(found, key=lambda one: (len(one.present + one.absent), one.present, one.absent))
    return tuple(order[: effort.witnesses])


def sum_up(
    counts: Counts,
    published: Published,
    guarantee: KmAnonymity,
    m: int,
    found: tuple[Witness, ...],
    mode: str = "exact",
) -> Verdict:
    """Return the verdict; raise `ResourceLimit` if the work ran out before an answer."""
    findings, stopped = by_size(counts, m), bool(counts.cut_short[:, STOPPED].any())
    least = findings[-1].achieved_k if findings else None
    holds = least is None or least >= guarantee.k
    if stopped and holds:
        raise too_much_work(counts.limit)
    notes = []
    if guarantee.m > m:
        notes.append(f"no larger combination than {m} occurs, so m={guarantee.m} asks no more.")
    if stopped:
        notes.append(ENOUGH)
    return Verdict(holds, guarantee, mode, published.records, least, findings, found, tuple(notes))


def by_size(counts: Counts, m: int, *, single_known: bool = True) -> tuple[SizeFinding, ...]:
    """Return what was found at each size up to `m`; single labels may be known before the count."""
    smallest = counts.smallest.min(axis=0)
    stopped, bounded = (bool(counts.cut_short[:, which].any()) for which in (STOPPED, BOUNDED))
    return tuple(
        SizeFinding(
            size,
            int(counts.checked[:, size].sum()),
            int(smallest[size]) if smallest[size] < LARGEST_SUPPORT else None,
            int(counts.rare[:, size].sum()),
            (single_known and size == 1) or not (stopped or (bounded and smallest[size] > 1)),
        )
        for size in range(1, m + 1)
    )


def widen(published: Published, leaves_under: Mapping[str, Collection[str]]) -> Published:
    """Return the rows with each label replaced by the (representative) leaves it covers."""
    codes_of_leaf: dict[str, list[int]] = {}
    for code, label in enumerate(published.labels):
        for leaf in set(leaves_under.get(label, (label,))):
            codes_of_leaf.setdefault(leaf, []).append(code)
    leaf_of_codes: dict[tuple[int, ...], str] = {}
    for leaf, codes in sorted(codes_of_leaf.items()):
        leaf_of_codes.setdefault(tuple(codes), leaf)
    leaves = sorted((leaf, codes) for codes, leaf in leaf_of_codes.items())
    covered: list[list[int]] = [[] for _ in published.labels]
    for number, (_, covering) in enumerate(leaves):
        for code in covering:
            covered[code].append(number)
    first_by_code = bounds_of([len(numbers) for numbers in covered])
    flat = np.array([number for numbers in covered for number in numbers], np.int32)
    total = int(np.diff(first_by_code)[published.items].sum())
    if total > WIDEST:
        raise ResourceLimit(
            f"the rows cover {total:,} leaves in all; the limit is {WIDEST:,}.",
            "Use mode exact, which implies cover.",
            code="audit-work",
        )
    indptr, items = raise_rows(published.indptr, published.items, first_by_code, flat)
    return Published(indptr, items, tuple(leaf for leaf, _ in leaves))


@jit
def in_table(table: Words, one: int, other: int) -> bool:
    """Return the bit of a pair, the smaller rank first."""
    return bool((table[one, other >> 6] >> np.uint64(other & 63)) & np.uint64(1))


@jit
def count_pairs(firsts: Numbers, lists: Lists, asked: Asked, pairs: Pairs, counts: Counts) -> None:
    """Count all pairs whose smaller rank is one of `firsts`, and fill the tables."""
    ranks, task = len(lists.support_by_rank), counts.task
    checked, smallest, rare = counts.checked[task], counts.smallest[task], counts.rare[task]
    room = counts.witness_size.shape[1]
    support_with_first = np.zeros(ranks, np.int64)
    touched = np.empty(ranks, np.int32)
    pair = np.empty(2, np.int32)
    tabled = len(pairs.good) > 0
    for first in firsts:
        if counts.work.sum() > counts.limit:
            counts.cut_short[task, STOPPED] = True
            return
        first_support = lists.support_by_rank[first]
        # Of a rank in one row no pair is free, and none is newly rare.
        if first_support < asked.least or is_in_one_row(first, lists, counts):
            continue
        count, entries = ranks_with(first, False, lists, support_with_first, touched)
        counts.work[task] += entries
        for rank in touched[:count]:
            support = support_with_first[rank]
            support_with_first[rank] = 0
            note_support(2, support, checked, smallest)
            other_support = lists.support_by_rank[rank]
            if support < asked.k and first_support >= asked.k and other_support >= asked.k:
                pair[0] = first
                pair[1] = rank
                rare[2] += 1
                if counts.witness_count[task] < room:
                    keep_witness(pair, 2, support, counts)
            if tabled and support < first_support and support < other_support:
                mask = np.uint64(1) << np.uint64(rank & 63)
                pairs.free[first, rank >> 6] |= mask
                if support >= asked.k:
                    pairs.good[first, rank >> 6] |= mask


@jit
def rows_of_members(first: int, member_of_rank: Numbers, lists: Lists) -> tuple[Codes, Numbers]:
    """Return the rows of `first` in which two members follow it, as a larger set needs, and where."""
    rows = lists.rows_of_rank[lists.list_ptr[first] : lists.list_ptr[first + 1]].copy()
    begins = np.empty(len(rows), np.int64)
    count = 0
    for entry in range(lists.list_ptr[first], lists.list_ptr[first + 1]):
        row = lists.rows_of_rank[entry]
        inside = 0
        for place in range(lists.place_of_rank[entry] + 1, lists.row_ptr[row + 1]):
            if member_of_rank[lists.row_ranks[place]] >= 0:
                inside += 1
        if inside >= 2:
            rows[count] = row
            begins[count] = lists.place_of_rank[entry] + 1
            count += 1
    return rows[:count], begins[:count]


@jit
def count_larger(firsts: Numbers, lists: Lists, asked: Asked, pairs: Pairs, counts: Counts) -> None:
    """Count the sets of 3..m ranks whose smallest rank is one of `firsts`.

    Sets with a part that is not free are left out; so are sets with a rare part, unless supports
    below the smallest known one are still looked for.
    """
    ranks, k, task = len(lists.support_by_rank), asked.k, counts.task
    checked, smallest, rare = counts.checked[task], counts.smallest[task], counts.rare[task]
    room = counts.witness_size.shape[1]
    support_with_first = np.zeros(ranks, np.int64)
    member_of_rank = np.full(ranks, -1, np.int64)
    touched = np.empty(ranks, np.int32)
    now = np.empty(asked.m, np.int32)
    kept = np.empty(ranks, np.int64)
    supports_of_kept = np.empty(ranks, np.int64)
    tabled = len(pairs.good) > 0
    search_rare = smallest[2] > 1
    table = pairs.free if search_rare else pairs.good
    rare_work = 0
    for first in firsts:
        first_support = lists.support_by_rank[first]
        if first_support < asked.least or (first_support < k and not search_rare):
            continue
        # Of a rank in one distinct row no pair is free.
        if lists.list_ptr[first + 1] - lists.list_ptr[first] == 1:
            continue
        touched_count, entries = ranks_with(first, False, lists, support_with_first, touched)
        count = 0
        for rank in touched[:touched_count]:
            support = support_with_first[rank]
            support_with_first[rank] = 0
            is_free = support < first_support and support < lists.support_by_rank[rank]
            if is_free and (support >= k or search_rare):
                member_of_rank[rank] = count
                kept[count] = rank
                supports_of_kept[count] = support
                count += 1
        if count >= 2:
            rows, begins = rows_of_members(first, member_of_rank, lists)
            words, digits = bitmaps(rows, begins, member_of_rank, count, lists)
        member_of_rank[kept[:count]] = -1
        if count < 2:
            continue
        counts.work[task] += count * len(digits) + entries
        all_members = Members(
            kept[:count].astype(np.int32), supports_of_kept[:count].copy(), words, digits
        )
        now[0] = first
        pending = [(all_members, now[:1].copy(), 0)]
        while len(pending) > 0:
            members, prefix, one = pending.pop()
            if one >= len(members.ranks) - 1:
                continue
            if counts.work.sum() > counts.limit:
                counts.cut_short[task, STOPPED] = True
                return
            pending.append((members, prefix, one + 1))
            size = len(prefix) + 2
            one_support = members.supports[one]
            if one_support < k and (smallest[size] == 1 or rare_work > asked.rare_work):
                counts.cut_short[task, BOUNDED] |= smallest[size] > 1
                continue
            for place in range(size - 2):
                now[place] = prefix[place]
            now[size - 2] = members.ranks[one]
            words, digits = members.words, members.digits
            wide = len(digits)
            live = live_words(words, one * wide, wide)
            count, counted = 0, 0
            for other in range(one + 1, len(members.ranks)):
                now[size - 1] = members.ranks[other]
                if tabled and not in_table(table, now[size - 2], now[size - 1]):
                    continue
                counted += 1
                support = meeting(words, one * wide, words, other * wide, digits, live)
                if support == 0:
                    continue
                note_support(size, support, checked, smallest)
                # With the table the one remaining part of a triple is known.
                if (
                    support < k <= one_support
                    and members.supports[other] >= k
                    and (
                        in_table(pairs.good, now[size - 2], now[size - 1])
                        if tabled and size == 3
                        else is_minimal(now[:size], 2, k, lists)
                    )
                ):
                    rare[size] += 1
                    if counts.witness_count[task] < room:
                        keep_witness(now[:size], size, support, counts)
                if size == asked.m or support in (one_support, members.supports[other]):
                    continue
                if support < k and (smallest[size + 1] == 1 or rare_work > asked.rare_work):
                    counts.cut_short[task, BOUNDED] |= smallest[size + 1] > 1
                    continue
                kept[count] = other
                supports_of_kept[count] = support
                count += 1
            spent = counted * (len(live) + 2) + len(members.digits)
            counts.work[task] += spent
            if one_support < k:
                rare_work += spent
            if count >= 2:
                child = narrowed(members, one, members, kept[:count], supports_of_kept[:count], live)
                pending.append((child, now[: size - 1].copy(), 0))
