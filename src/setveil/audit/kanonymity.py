"""k-anonymity of whole records: every distinct published row is there at least k times."""

from __future__ import annotations

import numpy as np

from ..model.guarantees import KAnonymity
from .published import Published
from .verdict import SizeFinding, Verdict, Witness


def audit_k(published: Published, guarantee: KAnonymity, *, witnesses: int = 0) -> Verdict:
    """Count equal rows, empty ones included; findings are by the length of the rows.

    Parameters
    ----------
    published
        The published rows.
    guarantee
        Holds k.
    witnesses
        How many rows below k to return.
    """
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
        Witness(tuple(sorted(published.labels[code] for code in merged.row(row))), (), weight)
        for row, weight in zip(np.flatnonzero(rare).tolist(), weights[rare].tolist(), strict=True)
    ]
    return Verdict(
        not rare.any(),
        guarantee,
        "exact",
        published.records,
        int(weights.min()) if len(weights) else None,
        findings,
        tuple(sorted(found, key=lambda witness: (len(witness.present), witness.present)))[:witnesses],
    )
