"""k^m-anonymity against negative knowledge: labels known to be absent count like labels present.

Every combination of at most m labels, each known to be present or absent, over the labels that
occur, fits no record or at least k. Empty records are records here: they fit any absence.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import ResourceLimit
from ..model.guarantees import KmAnonymity
from .counting import (
    LARGEST_SUPPORT,
    RARE_WORK_LIMIT,
    STOPPED,
    TASKS,
    WORK_LIMIT,
    entries_of_pairs,
    lay_out,
    no_counts,
    share_out,
    too_much_work,
)
from .km import sum_up
from .negative_kernels import bitmaps_over, count_signed, pick_absent
from .published import Published
from .verdict import Verdict, Witness

LARGEST_BITMAPS = 2**27
"""Words in the bitmaps of all labels over all rows."""


def audit_negative(
    published: Published,
    guarantee: KmAnonymity,
    *,
    witnesses: int = 0,
    threads: int | None = None,
    work_limit: int = WORK_LIMIT,
) -> Verdict:
    """Count combinations of present and absent labels; parameters as in `audit_km`."""
    layout = lay_out(published)
    lists = layout.lists
    k, supports, ranks = guarantee.k, lists.support_by_rank, len(lists.support_by_rank)
    m = min(guarantee.m, ranks)
    counts = no_counts(max(m, 1), witnesses)
    absences = published.records - supports
    occurring = np.concatenate([supports, absences[absences > 0]])
    counts.smallest[:, 1:] = occurring.min(initial=LARGEST_SUPPORT)
    counts.checked[0, 1] = len(occurring)
    counts.rare[0, 1] = np.count_nonzero(occurring < k)
    if m >= 2:
        rare = supports < k
        needed = int(entries_of_pairs(lists, both_sides=True)[~rare].sum())
        if needed > work_limit and not (occurring < k).any():
            raise too_much_work(work_limit, needed=needed)
        # As in `audit_km`: the answer is known, and the number of rare pairs is not worth many minutes.
        enough = min(RARE_WORK_LIMIT, work_limit) if (occurring < k).any() else work_limit
        counts.cut_short[:, STOPPED] = needed > enough
        distinct = len(lists.weight_by_row)
        if ranks * (distinct >> 6) > LARGEST_BITMAPS:
            raise ResourceLimit(
                f"{ranks:,} labels over {distinct:,} different rows are too many.",
                "Publish fewer labels, or audit without negative knowledge.",
                code="audit-work",
            )
        all_rows = np.arange(distinct, dtype=np.int32)
        all_ranks = np.arange(ranks, dtype=np.int32)
        words, digits = bitmaps_over(all_rows, all_ranks.astype(np.int64), ranks, lists)
        if needed <= enough:
            pick_absent(
                all_ranks[:0],
                published.records,
                all_ranks,
                supports,
                words,
                digits,
                lists,
                k,
                m,
                0,
                work_limit,
                counts,
            )
        counts.smallest[:] = counts.smallest.min(axis=0)

        def run(task: int, first_ranks: NDArray[np.int64]) -> None:
            rare_work = RARE_WORK_LIMIT // TASKS
            count_signed(first_ranks, lists, k, m, task, work_limit, rare_work, counts)

        if needed <= enough:
            share_out(run, ranks, work=counts.work, threads=threads)
    found = []
    if witnesses:
        for rank in range(ranks):
            name = layout.names([rank])
            if supports[rank] < k:
                found.append(Witness(name, (), int(supports[rank])))
            if 0 < absences[rank] < k:
                found.append(Witness((), name, int(absences[rank])))
    for kept, size, support in layout.kept(counts):
        signed = kept[:size]
        present, absent = signed[signed >= 0], -1 - signed[signed < 0]
        found.append(Witness(layout.names(present), layout.names(absent), support))
    found.sort(key=lambda one: (len(one.present) + len(one.absent), one.present, one.absent))
    return sum_up(counts, published, guarantee, m, found[:witnesses], work_limit)
