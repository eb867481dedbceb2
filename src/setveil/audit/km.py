"""k^m-anonymity, exactly: every set of 1..m published labels is in no record or in at least k.

All occurring sets are visited by intersection of bitmaps, except those that cannot matter. A set
whose support equals that of one of its parts is not extended: whatever is added to it, adding the
same to the part gives the same support with fewer labels. A rare set is not extended either, unless
a smaller support may still be found below it. So the smallest support up to each size and the
number of *minimal* rare sets are exact.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..model.guarantees import KmAnonymity
from .counting import (
    BOUNDED,
    LARGEST_SUPPORT,
    RARE_WORK_LIMIT,
    STOPPED,
    TASKS,
    WORK_LIMIT,
    Counts,
    entries_of_pairs,
    lay_out,
    no_counts,
    share_out,
    too_much_work,
)
from .km_kernels import count_larger, count_pairs
from .published import Published
from .verdict import SizeFinding, Verdict, Witness

LARGEST_TABLE = 16_384
"""With more labels than this no table of pairs is kept; the count is slower, not other."""


def audit_km(
    published: Published,
    guarantee: KmAnonymity,
    *,
    witnesses: int = 0,
    threads: int | None = None,
    work_limit: int = WORK_LIMIT,
) -> Verdict:
    """Count every set of at most m labels; see the module's docstring.

    Parameters
    ----------
    published
        The published rows.
    guarantee
        k and m; its `negative` is ignored here.
    witnesses
        How many minimal rare sets to return.
    threads
        How many threads to use; all available ones if None.
    work_limit
        Words that may be looked at. Beyond it the answer is `ResourceLimit`, or no if a rare set
        was found before.
    """
    layout = lay_out(published)
    k, supports = guarantee.k, layout.lists.support_by_rank
    m = min(guarantee.m, published.longest)
    counts = no_counts(max(m, 1), witnesses)
    counts.smallest[:, 1:] = supports.min(initial=LARGEST_SUPPORT)
    counts.checked[0, 1] = len(supports)
    counts.rare[0, 1] = np.count_nonzero(supports < k)
    rare = supports < k
    entries = entries_of_pairs(layout.lists) if m >= 2 else np.zeros(len(supports), np.int64)
    needed = int(entries[~rare].sum())
    if needed > work_limit and not rare.any():
        raise too_much_work(work_limit, needed=needed)
    # A rare label has answered already: many minutes for the number of rare pairs would be too long.
    enough = min(RARE_WORK_LIMIT, work_limit) if rare.any() else work_limit
    counts.cut_short[:, STOPPED] = needed > enough
    # What holds a rare label is settled; only the smallest support could still be found in it.
    least = k if int(entries[rare].sum()) > min(RARE_WORK_LIMIT, work_limit) else 0
    if least and supports.min() > layout.lists.weight_by_row.min():
        counts.cut_short[:, BOUNDED] = True
    tabled = len(supports) if m >= 3 and len(supports) <= LARGEST_TABLE else 0
    good_pairs, free_pairs = (np.zeros((tabled, (tabled + 63) >> 6), np.uint64) for _ in range(2))

    def pairs(task: int, first_ranks: NDArray[np.int64]) -> None:
        count_pairs(
            first_ranks, layout.lists, k, least, task, work_limit, good_pairs, free_pairs, counts
        )

    def larger(task: int, first_ranks: NDArray[np.int64]) -> None:
        count_larger(
            first_ranks,
            layout.lists,
            k,
            m,
            least,
            task,
            work_limit,
            RARE_WORK_LIMIT // TASKS,
            good_pairs,
            free_pairs,
            counts,
        )

    for run in (pairs, larger)[: max(m - 1, 0) if needed <= enough else 0]:
        share_out(run, len(supports), work=counts.work, threads=threads)
        counts.smallest[:] = counts.smallest.min(axis=0)
    found = [
        Witness(layout.names([rank]), (), int(supports[rank]))
        for rank in np.flatnonzero(supports < k)[:witnesses]
    ]
    found += [
        Witness(layout.names(ranks[:size]), (), support) for ranks, size, support in layout.kept(counts)
    ]
    found.sort(key=lambda witness: (len(witness.present), witness.present))
    return sum_up(counts, published, guarantee, m, found[:witnesses], work_limit)


def sum_up(
    counts: Counts,
    published: Published,
    guarantee: KmAnonymity,
    m: int,
    found: list[Witness],
    work_limit: int,
) -> Verdict:
    """Return the verdict; raise `ResourceLimit` if the work ran out before an answer."""
    smallest = counts.smallest.min(axis=0)
    stopped, bounded = (
        bool(counts.cut_short[:, STOPPED].any()),
        bool(counts.cut_short[:, BOUNDED].any()),
    )
    holds = bool(smallest[m] >= guarantee.k) if m else True
    if stopped and holds:
        raise too_much_work(work_limit)
    findings = tuple(
        SizeFinding(
            size,
            int(counts.checked[:, size].sum()),
            int(smallest[size]),
            int(counts.rare[:, size].sum()),
            size == 1 or not (stopped or (bounded and smallest[size] > 1)),
        )
        for size in range(1, m + 1)
    )
    notes = []
    if guarantee.m > m:
        notes.append(f"no larger combination than {m} occurs, so m={guarantee.m} asks no more.")
    if stopped:
        notes.append("counting stopped at the work limit, after violations had been found.")
    return Verdict(
        holds,
        guarantee,
        "exact",
        published.records,
        int(smallest[m]) if m else None,
        findings,
        tuple(found),
        tuple(notes),
    )
