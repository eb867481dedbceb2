"""New records fitted to a release, and the union: what is published, lost, and was original."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..distinct import distinct, sort_within
from ..errors import HierarchyError, Problem, UsageError
from ..hierarchy.build import Parents, forest, place
from ..hierarchy.tree import Hierarchy
from ..model.costs import COST_NAMES, make_cost
from ..model.fit import by_column, labels_in
from ..model.layout import Layout, LayoutColumn
from ..model.transactions import Rows, Transactions, bind, canonical_order
from ..model.vocabulary import Vocabulary
from ..release.recoding import BeforeAfter, Recoding
from ..release.release import Release, seal

Counts = NDArray[np.int64]


def check(
    release: Release, new: Transactions, hierarchy: Hierarchy | Mapping[str, Hierarchy] | None
) -> Counts:
    """Refuse what cannot be joined; return in how many old records each leaf is."""
    if not release.recoding.is_global:
        raise UsageError(
            f"the recoding of this release is local ({release.method}): it says how each group of the "
            "old records is published, not how a new record would be.",
            "Anonymize the old and the new records together anew, or use a global method.",
            code="local-recoding",
        )
    if hierarchy is not None and release.guarantee.secret_labels:
        raise UsageError(
            "this release has sensitive or private items, and a hierarchy cannot tell which of the new "
            "items are such: they must not be generalized.",
            "Leave the hierarchy out; new items can be left out, or everything anonymized anew.",
            code="sensitive-unknown",
        )
    _check_columns(release.layout, new.layout)
    counts = release.occurrences_by_leaf
    if counts is None:
        raise UsageError(
            "it is not known how often each item was in the old records, so the loss cannot be told.",
            "Give the original of the release (--original DATA).",
            code="no-original",
        )
    return counts


def _check_columns(old: Layout | None, new: Layout | None) -> None:
    """Refuse a table with other columns than the release has."""
    ours, theirs = _kinds(old), _kinds(new)
    if old is not None and old.format == "table" and ours != theirs:
        names = ", ".join(f"{name} ({kind})" for name, kind in ours.items())
        raise UsageError(
            "the new data have other columns than the release, or read them in another way.",
            f"Read them as a table with the columns {names}.",
            code="other-columns",
        )
    if "unprotected" in theirs.values() and "unprotected" not in ours.values():
        raise UsageError(
            "the new data have columns to publish as they are, and the release has none.",
            "Leave --keep-unprotected out.",
            code="other-columns",
        )


def _kinds(layout: Layout | None) -> dict[str, str]:
    columns: tuple[LayoutColumn, ...] = () if layout is None else layout.columns
    return {c.name: "kept" if c.role == "sensitive" else c.role for c in columns}


def extended(
    release: Release,
    new: Transactions,
    hierarchy: Hierarchy | Mapping[str, Hierarchy] | None,
    unseen: str,
) -> tuple[Hierarchy, set[str], set[str]]:
    """Return the hierarchy with the new items in it, those left out, and those put under a label."""
    known = release.hierarchy
    if isinstance(hierarchy, Hierarchy):
        hierarchy = by_column(new, hierarchy)
    given = forest(hierarchy) if isinstance(hierarchy, Mapping) else hierarchy
    labels = labels_in(new)
    categories = [label for label in labels if known.node_of_label.get(label, -1) >= known.n_leaves]
    if categories:
        raise _told(new, categories, "item-is-category", "is a category of the release, not an item.")
    fresh = [label for label in labels if label not in known.node_of_label]
    parents, lost = place(known, fresh, given)
    cut = {known.labels[node] for node in release.recoding.cut().tolist()}
    for label in sorted(lost) if not release.guarantee.secret_labels else ():
        anything = f"{label.partition('=')[0]}=*"
        column = known.node_of_label.get(anything, -1)
        # A column without a hierarchy: its root stands for any value.
        if _kinds(new.layout) and column >= known.n_leaves and anything in cut:
            parents[label] = anything
            lost.discard(label)
    strange = {label for label in fresh if label in lost or not _published(label, parents, cut)}
    if strange and unseen == "error":
        raise _told(new, strange, "unseen-item", "is not among those that the release was made from.")
    for label in lost:
        parents[label] = None
    tree = _sized(Hierarchy.from_parents(parents, private=known.private), known, given)
    return tree, strange, set(fresh) - strange


def _sized(tree: Hierarchy, known: Hierarchy, given: Hierarchy | None) -> Hierarchy:
    """Return the tree with the domain of the release, enlarged by what is new to it.

    A category is as large as it was, as in the hierarchy given, or as what is below it now, whichever
    is most.
    """
    if known.domain == "used":
        return tree
    size_by_node = tree.leaf_count.copy()
    for whole in (known,) if given is None else (known, given):
        for node, label in enumerate(tree.labels[tree.n_leaves :], tree.n_leaves):
            there = whole.node_of_label.get(label)
            if there is not None:
                size_by_node[node] = max(size_by_node[node], whole.domain_count[there])
    below = np.zeros_like(size_by_node)
    for node, above in enumerate(tree.parent.tolist()):
        size_by_node[node] = max(size_by_node[node], below[node])
        if above >= 0:
            below[above] += size_by_node[node]
    return replace(tree, size_by_node=size_by_node)


def _published(label: str, parents: Parents, cut: set[str]) -> bool:
    here: str | None = label
    while here is not None and here not in cut:
        here = parents[here]
    return here is not None


def _told(new: Transactions, labels: Collection[str], code: str, what: str) -> HierarchyError:
    remedies = {
        "unseen-item": "Leave such items out (--unseen suppress), give the hierarchy that tells their "
        "place (--hierarchy FILE), or anonymize everything anew.",
        "item-is-category": "Use the items themselves.",
    }
    return HierarchyError(
        [
            Problem(code, f"item {label[:40]!r} {what}", remedies[code], new.source, line)
            for line, label in sorted((new.first_line_of(label) or 0, label) for label in labels)
        ]
    )


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
    if suppressing and empty < release.guarantee.least_support:
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
    dropped = tuple(BeforeAfter(union.recoding, rows).left_empty.tolist()) if union.dropped else ()
    return replace(union, rows=rows, seal=seal(original), dropped=dropped)
