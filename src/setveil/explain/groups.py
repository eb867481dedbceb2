"""Why a label of a local recoding is published as it is: group by group of the records.

A local method decides in each group of records by itself, so the reasons are in the group: the label is
published finer there, all else unchanged, and what that would break is counted within the group. Of
whole records (k-anonymity) the classes are counted over all records: those of a group that would be
published alike, with any others that look the same.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..distinct import distinct
from ..engines.local import LocalEngine
from ..hierarchy.tree import Hierarchy
from ..kernels.rows import recode_rows
from ..model.transactions import Rows
from ..progress import Watch
from ..release.recoding import Recoding
from ..release.release import Release
from ..search.alternatives import LIMIT, Cut, breaches, node_above, nodes_below
from .account import Explanation, Group, Level, Pattern, Patterns
from .cuts import NOTHING, Change, changes, level_of, shares_of

Row = tuple[int, ...]


def explain_groups(release: Release, rows: Rows, node: int, *, top: int, watch: Watch) -> Explanation:
    """Return why a node is published as it is by a local recoding."""
    hierarchy, recoding = release.hierarchy, release.recoding
    assert recoding.group_of_record is not None
    first, end = int(hierarchy.first_leaf[node]), int(hierarchy.end_leaf[node])
    asked = (rows.leaves >= first) & (rows.leaves < end)
    record = np.repeat(np.arange(len(rows), dtype=np.int64), np.diff(rows.indptr))[asked]
    holding = distinct(record)
    published = recoding.nodes_of(rows)
    shares = shares_of(hierarchy, published[asked], rows.leaves[asked])
    size = np.bincount(recoding.group_of_record, minlength=recoding.n_groups)
    held = np.bincount(recoding.group_of_record[holding], minlength=recoding.n_groups)
    groups = [
        group
        for group in sorted(np.flatnonzero(held).tolist(), key=lambda g: (-held[g], -size[g], g))
        if _coarser(hierarchy, frozenset(recoding.cut(group).tolist()), node)
    ]
    classes = _classes(rows, published) if release.guarantee.known_at_most is None else Counter()
    told: list[Group] = []
    for place, group in enumerate(groups[:top]):
        watch.tick("explain: groups of records", place / min(top, len(groups)))
        cut = frozenset(recoding.cut(group).tolist())
        upper = node_above(hierarchy, cut, node)
        members = np.flatnonzero(recoding.group_of_record == group)
        told.append(
            Group(
                int(size[group]),
                int(held[group]),
                None if upper is None else hierarchy.labels[upper],
                _levels(release, rows.take(members), cut, node, classes, top=top),
            )
        )
    return Explanation(
        hierarchy.labels[node],
        len(holding),
        release.guarantee,
        shares[0].published_as if len(shares) == 1 else None,
        _conclusion(release, groups),
        shares=shares,
        ncp=release.losses.get("ncp"),
        groups=tuple(told),
        groups_total=len(groups),
    )


def _coarser(hierarchy: Hierarchy, cut: Cut, node: int) -> bool:
    """Tell whether a cut publishes less than the node or, of a category, no more than it."""
    if node in cut:
        return node >= hierarchy.n_leaves
    return not nodes_below(hierarchy, cut, node)


def _conclusion(release: Release, groups: list[int]) -> str:
    if not groups:
        return NOTHING
    if release.guarantee.known_at_most is None:
        return "the method splits a group of records only where every part keeps k of them."
    return (
        "the method makes each group of records anonymous by itself, so combinations are counted "
        "within the group; fewer groups (--parts) may keep more."
    )


def _levels(
    release: Release, members: Rows, cut: Cut, node: int, classes: Counter[Row], *, top: int
) -> tuple[Level, ...]:
    """Return what finer labels would break in one group."""
    engine = LocalEngine(release.hierarchy, members)
    guarantee = release.guarantee
    levels: list[Level] = []
    for change in changes(engine, cut, node):
        if guarantee.known_at_most is None:
            k = guarantee.least_support
            levels.append(_apart(engine, members, cut, change, node, classes, k, top))
            continue
        found, complete = breaches(engine, change.cut, guarantee, limit=LIMIT)
        levels.append(level_of(engine, change, node, found, complete=complete, top=top))
    return tuple(levels)


def _classes(rows: Rows, published: NDArray[np.int32]) -> Counter[Row]:
    """Return how many records are published as each set of nodes."""
    places = np.arange(len(rows.leaves), dtype=np.int32)
    return Counter(_as_rows(*recode_rows(rows.indptr, places, published)))


def _as_rows(indptr: NDArray[np.int64], nodes: NDArray[np.int32]) -> list[Row]:
    bounds, flat = indptr.tolist(), nodes.tolist()
    return [tuple(flat[start:end]) for start, end in pairwise(bounds)]


def _apart(
    engine: LocalEngine,
    members: Rows,
    cut: Cut,
    change: Change,
    node: int,
    classes: Counter[Row],
    k: int,
    top: int,
) -> Level:
    """Return the classes of fewer than k records that a change would set apart."""
    hierarchy = engine.hierarchy
    now = _published(hierarchy, members, cut)
    then = _published(hierarchy, members, change.cut)
    whole = classes.copy()
    whole.subtract(now)
    whole.update(then)
    fresh = change.cut - cut
    small = [(row, whole[row]) for row in sorted(set(then)) if whole[row] < k]
    small.sort(key=lambda pair: pair[1])
    against = [pair for pair in small if not change.own.isdisjoint(pair[0])]
    beside = [pair for pair in small if change.own.isdisjoint(pair[0])]

    def told(pairs: list[tuple[Row, int]]) -> Patterns:
        shown = tuple(
            Pattern(tuple(hierarchy.labels[n] for n in row if n in fresh), size)
            for row, size in pairs[:top]
        )
        return Patterns(shown, len(pairs))

    level = level_of(engine, change, node, [], complete=True, top=top)
    return replace(level, against=told(against), beside=told(beside))


def _published(hierarchy: Hierarchy, members: Rows, cut: Cut) -> list[Row]:
    node_of_leaf = Recoding.from_cut(hierarchy, sorted(cut)).node_of_leaf()
    return _as_rows(*recode_rows(members.indptr, members.leaves, node_of_leaf))
