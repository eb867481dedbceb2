"""The compiled loop of the l^m audit: known labels by intersection, with the sensitive ones along.

A set of known labels that occurs in no record with a sensitive label is left with all that contain
it. So is a set that fits the same records as one of its parts: whatever is added, the part with the
same added fits the same records again. Nothing else is left out, for the promise is not monotone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._jit import bits_set, jit
from .counting import STOPPED, Counts, Lists
from .negative_kernels import bitmaps_over


@jit
def note_share(
    known: NDArray[np.int32],
    support: int,
    most: int,
    secret: int,
    times: int,
    part: int,
    task: int,
    counts: Counts,
    worst: NDArray[np.int64],
) -> None:
    """Note that `most` of `support` records with the known labels have the sensitive one.

    That breaks the promise where ``times * most > part * support``.
    """
    size = len(known)
    counts.checked[task, size] += 1
    if most == 0:
        return
    above = size
    while above < counts.smallest.shape[1] and support // most < counts.smallest[task, above]:
        counts.smallest[task, above] = support // most
        above += 1
    if most * worst[task, 1] > worst[task, 0] * support:
        worst[task, 0] = most
        worst[task, 1] = support
    if times * most > part * support:
        counts.rare[task, size] += 1
        number = counts.witness_count[task]
        if number < counts.witness_size.shape[1]:
            for which in range(size):
                counts.witness_ranks[task, number, which] = known[which]
            counts.witness_ranks[task, number, size] = secret
            counts.witness_size[task, number] = size
            counts.witness_support[task, number] = most
            counts.witness_count[task] = number + 1


@jit
def count_shares(
    first_ranks: NDArray[np.int64],
    lists: Lists,
    is_sensitive: NDArray[np.bool_],
    times: int,
    part: int,
    m: int,
    task: int,
    work_limit: int,
    counts: Counts,
    worst: NDArray[np.int64],
) -> None:
    """Check all sets of 1..m known labels whose smallest rank is one of `first_ranks`."""
    ranks = len(lists.support_by_rank)
    member_of_rank = np.full(ranks, -1, np.int64)
    support_with_first = np.zeros(ranks, np.int64)
    # The first sensitive rank of a row, -1 where it has none and -2 where nobody has looked.
    secret_of_row = np.full(len(lists.weight_by_row), -2, np.int64)
    for first in first_ranks:
        if is_sensitive[first]:
            continue
        if counts.work.sum() > work_limit:
            counts.cut_short[task, STOPPED] = True
            return
        rows = lists.rows_of_rank[lists.list_ptr[first] : lists.list_ptr[first + 1]]
        if len(rows) == 1:
            # What else is in its one row fits the same records: nothing to tell the first one by.
            row = rows[0]
            if secret_of_row[row] == -2:
                secret_of_row[row] = -1
                for place in range(lists.row_ptr[row], lists.row_ptr[row + 1]):
                    if is_sensitive[lists.row_ranks[place]]:
                        secret_of_row[row] = lists.row_ranks[place]
                        break
                counts.work[task] += lists.row_ptr[row + 1] - lists.row_ptr[row]
            prefix = np.empty(1, np.int32)
            prefix[0] = first
            secret = secret_of_row[row]
            note_share(
                prefix,
                lists.support_by_rank[first],
                lists.support_by_rank[first] if secret >= 0 else 0,
                secret,
                times,
                part,
                task,
                counts,
                worst,
            )
            continue
        for row in rows:
            for place in range(lists.row_ptr[row], lists.row_ptr[row + 1]):
                support_with_first[lists.row_ranks[place]] += lists.weight_by_row[row]
            counts.work[task] += lists.row_ptr[row + 1] - lists.row_ptr[row]
        first_support = lists.support_by_rank[first]
        together = np.flatnonzero(support_with_first)
        known_ranks = np.empty(len(together), np.int32)
        known_supports = np.empty(len(together), np.int64)
        secret_ranks = np.empty(len(together), np.int32)
        known_count, secret_count, most, most_secret = 0, 0, 0, -1
        for rank in together:
            support = support_with_first[rank]
            support_with_first[rank] = 0
            if is_sensitive[rank]:
                secret_ranks[secret_count] = rank
                secret_count += 1
                if support > most:
                    most, most_secret = int(support), int(rank)
            elif rank > first and support < first_support:
                known_ranks[known_count] = rank
                known_supports[known_count] = support
                known_count += 1
        prefix = np.empty(1, np.int32)
        prefix[0] = first
        note_share(
            prefix,
            first_support,
            most,
            most_secret,
            times,
            part,
            task,
            counts,
            worst,
        )
        if most == 0 or m == 1 or known_count == 0:
            continue
        # Members 0..known-1 are known labels, the ones after them sensitive.
        for which in range(known_count):
            member_of_rank[known_ranks[which]] = which
        for which in range(secret_count):
            member_of_rank[secret_ranks[which]] = known_count + which
        words, digits = bitmaps_over(rows, member_of_rank, known_count + secret_count, lists)
        member_of_rank[together] = -1
        counts.work[task] += len(words)
        wide = len(digits)
        pending = [
            (
                known_ranks[:known_count].copy(),
                known_supports[:known_count].copy(),
                words[: known_count * wide].copy(),
                secret_ranks[:secret_count].copy(),
                words[known_count * wide :].copy(),
                digits,
                prefix,
            )
        ]
        while len(pending) > 0:
            known, supports, known_words, secrets, secret_words, digits, prefix = pending.pop()
            wide = len(digits)
            size = len(prefix) + 1
            for one in range(len(known)):
                if counts.work.sum() > work_limit:
                    counts.cut_short[task, STOPPED] = True
                    return
                live = np.empty(wide, np.int64)
                live_count = 0
                for word in range(wide):
                    if known_words[one * wide + word] != 0:
                        live[live_count] = word
                        live_count += 1
                child_secrets = np.empty(len(secrets), np.int32)
                child_secret_words = np.empty(len(secrets) * live_count, np.uint64)
                kept_secrets, most, most_secret = 0, 0, -1
                for which in range(len(secrets)):
                    support = 0
                    for at in range(live_count):
                        word = live[at]
                        common = known_words[one * wide + word] & secret_words[which * wide + word]
                        child_secret_words[kept_secrets * live_count + at] = common
                        support += bits_set(common) << digits[word]
                    if support > 0:
                        child_secrets[kept_secrets] = secrets[which]
                        kept_secrets += 1
                        if support > most:
                            most, most_secret = support, secrets[which]
                larger = np.empty(size, np.int32)
                larger[: size - 1] = prefix
                larger[size - 1] = known[one]
                counts.work[task] += (len(secrets) + 1) * (live_count + 1)
                note_share(
                    larger,
                    supports[one],
                    most,
                    most_secret,
                    times,
                    part,
                    task,
                    counts,
                    worst,
                )
                # The same records as without the first label: already told there.
                same = size == 2 and supports[one] == lists.support_by_rank[known[one]]
                if most == 0 or size >= m or same:
                    continue
                child_known = np.empty(len(known) - one - 1, np.int32)
                child_supports = np.empty(len(child_known), np.int64)
                child_words = np.empty(len(child_known) * live_count, np.uint64)
                kept = 0
                for other in range(one + 1, len(known)):
                    support = 0
                    for at in range(live_count):
                        word = live[at]
                        common = known_words[one * wide + word] & known_words[other * wide + word]
                        child_words[kept * live_count + at] = common
                        support += bits_set(common) << digits[word]
                    if 0 < support < supports[one] and support < supports[other]:
                        child_known[kept] = known[other]
                        child_supports[kept] = support
                        kept += 1
                counts.work[task] += len(child_known) * (live_count + 1)
                if kept:
                    pending.append(
                        (
                            child_known[:kept].copy(),
                            child_supports[:kept].copy(),
                            child_words[: kept * live_count].copy(),
                            child_secrets[:kept_secrets].copy(),
                            child_secret_words[: kept_secrets * live_count].copy(),
                            digits[live[:live_count]],
                            larger,
                        )
                    )
