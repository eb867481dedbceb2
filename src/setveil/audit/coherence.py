"""(h, k, p)-coherence: no public labels that somebody knows single out few records or tell a secret.

Two counts. The rows without their private labels must be k^p-anonymous. And for every set c of 1..p
public labels and every private label s, ``support(c + s)`` is at most h percent of ``support(c)``,
compared as whole numbers: with h/100 = a/b, ``b * support(c + s) <= a * support(c)``.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..model.guarantees import Coherence, KmAnonymity
from .counting import (
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
from .km import audit_km
from .published import Published
from .verdict import SizeFinding, Verdict, Witness


def audit_coherence(
    published: Published,
    guarantee: Coherence,
    *,
    witnesses: int = 0,
    threads: int | None = None,
    work_limit: int = WORK_LIMIT,
) -> Verdict:
    """Count public labels, then the private ones among the records that fit them.

    Violations are the minimal rare sets of public labels and the counted sets, not only minimal ones,
    in whose records a private label is too frequent. Parameters are those of `audit_km`.
    """
    supports = audit_km(
        _public_part(published, guarantee),
        KmAnonymity(guarantee.k, guarantee.p),
        witnesses=witnesses,
        threads=threads,
        work_limit=work_limit,
    )
    broken, found, worst, stopped = _shares(
        published, guarantee, witnesses, threads, work_limit, settled=not supports.holds
    )
    by_size = tuple(
        SizeFinding(
            finding.size,
            finding.checked,
            finding.achieved_k,
            finding.violations + broken[finding.size],
            finding.exact and not stopped,
        )
        for finding in supports.by_size
    )
    notes = [note.replace("m=", "p=") for note in supports.notes]
    if stopped:
        notes.append("counting stopped at the work limit, after violations had been found.")
    together = sorted([*supports.witnesses, *found], key=lambda one: (len(one.present), one.present))
    return Verdict(
        supports.holds and not any(broken),
        guarantee,
        "exact",
        published.records,
        supports.smallest_support,
        by_size,
        tuple(together[:witnesses]),
        tuple(dict.fromkeys(notes)),
        worst,
    )


def _public_part(published: Published, guarantee: Coherence) -> Published:
    """Return the rows without their private labels."""
    is_public = np.array([label not in guarantee.private for label in published.labels], np.bool_)
    shown = is_public[published.items] if len(published.items) else np.empty(0, np.bool_)
    kept_before = np.concatenate(([0], np.cumsum(shown)))
    return Published(kept_before[published.indptr], published.items[shown], published.labels)


def _shares(
    published: Published,
    guarantee: Coherence,
    witnesses: int,
    threads: int | None,
    work_limit: int,
    *,
    settled: bool,
) -> tuple[list[int], list[Witness], Fraction | None, bool]:
    """Return violations by size, witnesses, the largest share, and whether the work ran out."""
    layout = lay_out(published)
    is_private = np.array(
        [published.labels[code] in guarantee.private for code in layout.code_of_rank], np.bool_
    )
    size = min(guarantee.p, published.longest)
    counts = no_counts(size, witnesses)
    worst_by_task = np.tile(np.array([0, 1], np.int64), (TASKS, 1))
    most = guarantee.h / 100
    part, times = most.numerator, most.denominator

    def run(task: int, first_ranks: NDArray[np.int64]) -> None:
        count_shares(
            first_ranks,
            layout.lists,
            is_private,
            times,
            part,
            size,
            task,
            work_limit,
            counts,
            worst_by_task,
        )

    if size and is_private.any():
        needed = steps_of_shares(layout.lists, is_private)
        if needed > work_limit and not settled:
            raise too_much_work(work_limit, needed=needed)
        counts.cut_short[:, STOPPED] = needed > work_limit
        if needed <= work_limit:
            share_out(run, len(is_private), work=counts.work, threads=threads)
    stopped = bool(counts.cut_short[:, STOPPED].any())
    broken = [int(number) for number in counts.rare.sum(axis=0)]
    if stopped and not any(broken) and not settled:
        raise too_much_work(work_limit)
    found = [
        Witness(layout.names(kept[:length]), (), support, layout.names(kept[length : length + 1])[0])
        for kept, length, support in layout.kept(counts)
    ]
    worst = max(Fraction(int(held), int(whole)) for held, whole in worst_by_task) or None
    return broken, found, worst, stopped
