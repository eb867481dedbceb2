"""Is this the original? Figures about other data than a release was made from would mislead.

Records that lead to the published ones by the recoding, and agree with all that the release knows of
its original, are taken for it. A release that holds the original compares the two outright.
"""

from __future__ import annotations

import numpy as np

from ..model.fit import labels_in
from ..model.transactions import Rows, Transactions, bind, canonical_order
from ..release.apply import BeforeAfter
from ..release.release import Release
from .counted import mean_unit_cost


def rows_of_original(release: Release, original: Transactions) -> Rows | None:
    """Return the records as leaves in canonical order, or None where they are not the original."""
    hierarchy = release.hierarchy
    if labels_in(original) != sorted(hierarchy.labels[: hierarchy.n_leaves]):
        return None
    if len(original) != release.records + len(release.dropped):
        return None
    _, rows = bind(original.take(canonical_order(original)), hierarchy)
    known = release.rows
    if known is not None:
        same = np.array_equal(known.indptr, rows.indptr) and np.array_equal(known.leaves, rows.leaves)
        return rows if same else None
    counts = release.occurrences_by_leaf
    if counts is not None and not np.array_equal(counts, np.bincount(rows.leaves)):
        return None
    pair = BeforeAfter(release.recoding, rows)
    lost = {name: mean_unit_cost(name, pair) for name in release.losses}
    if len(rows.leaves) != release.occurrences or lost != dict(release.losses):
        return None
    return rows if release.is_made_of(rows) else None
