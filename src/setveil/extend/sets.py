"""New records under the labels of a release of sets.

It is as if old and new had been recoded together, so the result does not depend on which records came
first.

The loss of the union is exact. It is counted from the original records where the release holds them,
and else from what the private twin knows: in how many records each original item is. Only a release
that holds its original records gets a seal, by which the union can later be compared with its own.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..api import as_transactions, audit
from ..errors import UsageError
from ..hierarchy.build import Parents, forest, place
from ..hierarchy.tree import Hierarchy
from ..model.costs import COST_NAMES, make_cost
from ..model.fit import by_column, labels_in
from ..model.layout import Layout, LayoutColumn
from ..model.transactions import (
    Transactions,
    Vocabulary,
    as_labels,
    as_leaves,
    bind,
    canonical_order,
)
from ..progress import Watch
from ..release.header import APPLIED
from ..release.recoding import BeforeAfter, InMemory, Recoding
from ..release.release import Release, dropped_notice, seal
from ..reopen import read_set_release
from ..run.fields import SETS
from ..run.reading import input_files
from ..run.sets import WHOLE_DOMAIN
from . import Adding, Extension, refuse_labels

Counts = NDArray[np.int64]


class AddingSets(Adding):
    """New records in a file."""

    def __init__(self, asked: Any, release: str, new_data: str | None) -> None:
        super().__init__(asked, release, new_data)
        for field in asked.given_fields():
            if SETS not in field.fits:
                raise UsageError(
                    f"{field.flag} is for a release of two data sets.",
                    "Leave it out: this release is of one.",
                    code="option-does-not-fit",
                )
        if new_data is None:
            raise UsageError(
                "the new records are not named.", "Give a file: setveil apply RELEASE FILE."
            )
        self.file = new_data
        self.inputs = input_files(asked, new_data, asked.original)

    def read(self) -> Sequence[str]:
        self.new: Transactions = self.asked.read_sets(self.file)
        notices: Sequence[str] = self.new.notices
        return notices

    def join(self, watch: Watch) -> Extension:
        asked = self.asked
        original = None if asked.original is None else asked.read_sets(asked.original)
        opened = read_set_release(self.path, original, watch=watch)
        hierarchy = asked.read_trees(self.new) if asked.hierarchy else None
        watch.tick("applying the recoding", None)
        return extended(opened, self.new, hierarchy=hierarchy, unseen=asked.unseen, watch=watch)


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


def with_new_items(
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
    _refuse(new, categories, "item-is-category", "is a category of the release, not an item.")
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
    if unseen == "error":
        _refuse(new, strange, "unseen-item", "is not among those that the release was made from.")
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


_REMEDIES = {
    "unseen-item": "Leave such items out (--unseen suppress), give the hierarchy that tells their "
    "place (--hierarchy FILE), or anonymize everything anew.",
    "item-is-category": "Use the items themselves.",
}


def _refuse(new: Transactions, labels: Collection[str], code: str, what: str) -> None:
    refuse_labels(new, labels, code, what, _REMEDIES[code])


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


def extended(
    release: Release,
    data: Any,
    *,
    hierarchy: Hierarchy | Mapping[str, Hierarchy] | None,
    unseen: str,
    watch: Watch,
) -> Extension:
    """Return the union of a release and new records, as `setveil.apply` does."""
    started = time.monotonic()
    new = as_transactions(data)
    old_counts = check(release, new, hierarchy)
    tree, strange, placed = with_new_items(release, new, hierarchy, unseen)
    recoding = Recoding.from_cut(
        tree,
        [
            tree.node_of_label[release.hierarchy.labels[node]]
            for node in release.recoding.cut().tolist()
        ],
    )
    rows = as_leaves(new, tree)
    counts = np.bincount(rows.leaves, minlength=tree.n_leaves).astype(np.int64)
    leaf_of_old = [tree.node_of_label[label] for label in release.hierarchy.labels[: len(old_counts)]]
    counts[leaf_of_old] += old_counts
    fresh = replace(BeforeAfter(recoding, rows).by_record, unprotected=cells_of(release, new))
    lost = losses_of(recoding, counts)
    left_out = recoding.node_of_leaf() < 0
    published, dropped = united(release, fresh, suppressing=bool(counts[left_out].sum()))
    union = Release(
        part=InMemory(replace(published, layout=release.layout)),
        guarantee=release.guarantee,
        method=APPLIED,
        recoding=recoding,
        hierarchy=tree,
        losses=lost,
        seconds=0.0,
        items=tree.n_leaves,
        occurrences=int(counts.sum()),
        unchanged=int(counts[recoding.node_of_leaf() == np.arange(tree.n_leaves)].sum()),
        layout=release.layout,
        figures={"recoding of": release.made_by, "new records": len(new), "unseen items": len(strange)},
        suppressed_items=int(left_out.sum()),
        suppressed=int(counts[left_out].sum()),
        dropped=(-1,) * dropped,
        count_by_leaf=counts,
    )
    watch.tick("auditing the union", None)
    verdict = audit(union)
    alone = audit(fresh, release.guarantee).holds
    union = replace(union, notices=_notices(new, strange, placed, union, alone=alone))
    if verdict.holds and release.rows is not None:
        union = with_rows(union, as_labels(release.rows, release.hierarchy), new)
    union = replace(union, seconds=round(time.monotonic() - started, 6))
    return Extension(
        union if verdict.holds else None, verdict, len(new), len(strange), len(placed), alone
    )


def _notices(
    new: Transactions, strange: set[str], placed: set[str], union: Release, *, alone: bool
) -> tuple[str, ...]:
    """Return what the holder should know; no label is named."""
    notices = list(new.notices)
    if union.hierarchy.domain == "hierarchy":
        notices.append(WHOLE_DOMAIN)
    if strange:
        notices.append(f"items that the recoding does not know are left out: {len(strange):,}.")
    if placed:
        notices.append(f"items that the release did not hold, put under its labels: {len(placed):,}.")
    if union.dropped:
        notices.append(dropped_notice(len(union.dropped)))
    own = "do" if alone else "do not"
    notices.append(
        "whoever has both releases can tell which records are new, and the new ones alone "
        f"{own} keep the promise: replace the earlier release, do not publish both."
    )
    return tuple(notices)


ADDING = AddingSets
