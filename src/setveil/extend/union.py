"""The union of a release and new records: what is published, what is lost, what was original."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..distinct import distinct, sort_within
from ..errors import UsageError
from ..hierarchy.tree import Hierarchy
from ..job import seal
from ..model.costs import COST_NAMES, make_cost
from ..model.fit import labels_in
from ..model.guarantees import least_support
from ..model.transactions import Rows, Transactions, bind
from ..model.vocabulary import Vocabulary
from ..release.apply import canonical_order, left_empty, published_nodes
from ..release.recoding import Recoding
from ..release.release import Release

Counts = NDArray[np.int64]


def as_leaves(new: Transactions, tree: Hierarchy) -> Rows:
    """Return the new records as leaves of the union's hierarchy."""
    leaf_of_item = np.full(max(len(new.vocabulary), 1), -1, dtype=np.int64)
    for item in distinct(new.items).tolist():
        leaf_of_item[item] = tree.node_of_label[new.vocabulary.labels[item]]
    return Rows(new.indptr, sort_within(new.indptr, leaf_of_item[new.items], tree.n_leaves))


def cells_of(release: Release, new: Transactions) -> tuple[tuple[str, ...], ...] | None:
    """Return the unprotected cells of the new records, in the order of the release's columns."""
    if new.unprotected is None or release.layout is None or new.layout is None:
        return None
    order = [new.layout.unprotected.index(name) for name in release.layout.unprotected]
    return tuple(tuple(cells[place] for place in order) for cells in new.unprotected)


def losses_of(recoding: Recoding, counts: Counts) -> dict[str, Fraction]:
    """Return the loss of the union by name, from how often each leaf is there."""
    node = recoding.node_of_leaf()
    losses: dict[str, Fraction] = {}
    for name in COST_NAMES:
        cost = make_cost(name, recoding.hierarchy)
        cost.check_size(counts)
        unit = np.where(node >= 0, cost.unit_by_node[node], cost.scale)
        losses[name] = cost.share(int((unit * counts).sum()), counts)
    return losses


def united(release: Release, fresh: Transactions, *, suppressing: bool) -> tuple[Transactions, int]:
    """Return the published records of the union, and how many are dropped, as one run would do it.

    Records of which nothing is left are published if they are at least k, those too that the release
    had to drop.
    """
    both = _joined(release.published, fresh)
    empty = int((both.length_by_record == 0).sum()) + len(release.dropped)
    if suppressing and empty < least_support(release.guarantee):
        both = both.take(np.flatnonzero(both.length_by_record))
        dropped = empty
    else:
        dropped = 0
        if release.dropped:
            both = _joined(both, _nothing(release, both))
    return both.take(canonical_order(both)), dropped


def _nothing(release: Release, both: Transactions) -> Transactions:
    """Return the records that the release dropped, which hold nothing."""
    if both.unprotected is not None:
        raise UsageError(
            "with the new records, those that the release dropped have to be published, but their "
            "cells in columns that are published as they are were not kept.",
            "Anonymize the old and the new records together anew.",
            code="dropped-records",
        )
    indptr = np.zeros(len(release.dropped) + 1, dtype=np.int64)
    return Transactions(Vocabulary(()), indptr, np.empty(0, dtype=np.int32))


def _joined(one: Transactions, other: Transactions) -> Transactions:
    """Return the records of both, the one's first."""
    vocabulary = Vocabulary.of([*labels_in(one), *labels_in(other)])
    ids = vocabulary.ids
    items = [
        np.array([ids.get(label, -1) for label in part.vocabulary], dtype=np.int32)[part.items]
        for part in (one, other)
        if len(part.items)
    ]
    indptr = np.concatenate([one.indptr, one.indptr[-1] + other.indptr[1:]])
    cells = None
    if one.unprotected is not None or other.unprotected is not None:
        cells = (*(one.unprotected or ()), *(other.unprotected or ()))
    whole = np.concatenate(items) if items else np.empty(0, dtype=np.int32)
    return Transactions(vocabulary, indptr, whole, unprotected=cells)


def with_rows(union: Release, old: Transactions, new: Transactions) -> Release:
    """Return the union with its original records, sealed."""
    original = _joined(old, replace(new, unprotected=None))
    original = original.take(canonical_order(original))
    _, rows = bind(original, union.hierarchy)
    dropped = tuple(_empty_after(union, rows)) if union.dropped else ()
    return replace(union, rows=rows, seal=seal(original), dropped=dropped)


def _empty_after(union: Release, rows: Rows) -> list[int]:
    return [int(place) for place in left_empty(published_nodes(union.recoding, rows), rows)]
