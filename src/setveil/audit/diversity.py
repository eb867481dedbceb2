"""l^m-diversity: nobody who knows m other labels of a record links it to a sensitive one above 1/l.

For every set c of 1..m labels that are not sensitive, and every sensitive label s,
``l * support(c + s) <= support(c)``, in whole numbers.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..model.guarantees import LmDiversity
from .counting import (
    LARGEST_SUPPORT,
    STOPPED,
    TASKS,
    WORK_LIMIT,
    lay_out,
    no_counts,
    share_out,
    steps_of_shares,
    too_much_work,
)
from .diversity_kernels import count_shares
from .published import Published
from .verdict import SizeFinding, Verdict, Witness


def audit_lm(
    published: Published,
    guarantee: LmDiversity,
    *,
    witnesses: int = 0,
    threads: int | None = None,
    work_limit: int = WORK_LIMIT,
) -> Verdict:
    """Compare each set of known labels with its most frequent sensitive label.

    Violations are the counted sets that break the promise, not only minimal ones: larger sets can
    keep it where smaller ones break it, and the reverse. Parameters are those of `audit_km`.
    """
    layout = lay_out(published)
    ranks = len(layout.code_of_rank)
    is_sensitive = np.array(
        [published.labels[code] in guarantee.sensitive for code in layout.code_of_rank], np.bool_
    )
    m = min(guarantee.m, published.longest)
    counts = no_counts(m, witnesses)
    worst_by_task = np.tile(np.array([0, 1], np.int64), (TASKS, 1))

    def run(task: int, first_ranks: NDArray[np.int64]) -> None:
        count_shares(
            first_ranks,
            layout.lists,
            is_sensitive,
            guarantee.l,
            1,
            m,
            task,
            work_limit,
            counts,
            worst_by_task,
        )

    if m:
        needed = steps_of_shares(layout.lists, is_sensitive)
        if needed > work_limit:
            raise too_much_work(work_limit, needed=needed)
        share_out(run, ranks, work=counts.work, threads=threads)
    stopped = bool(counts.cut_short[:, STOPPED].any())
    violated = bool(counts.rare.any())
    if stopped and not violated:
        raise too_much_work(work_limit)
    largest_l = counts.smallest.min(axis=0)
    found = [
        Witness(layout.names(kept[:size]), (), support, layout.names(kept[size : size + 1])[0])
        for kept, size, support in layout.kept(counts)
    ]
    found.sort(key=lambda witness: (len(witness.present), witness.present))
    note = "counting stopped at the work limit, after violations had been found."
    return Verdict(
        not violated,
        guarantee,
        "exact",
        published.records,
        None,
        tuple(
            SizeFinding(
                size,
                int(counts.checked[:, size].sum()),
                int(largest_l[size]) if largest_l[size] < LARGEST_SUPPORT else None,
                int(counts.rare[:, size].sum()),
                not stopped,
            )
            for size in range(1, m + 1)
        ),
        tuple(found[:witnesses]),
        (note,) if stopped else (),
        max(Fraction(int(part), int(whole)) for part, whole in worst_by_task) or None,
    )
