"""Why a label is published as it is: the reasons.

Of a global recoding the published cut is changed at the label alone, the engine is asked what that
would break, and what the last change breaks leads to the conclusion. The changes are:

- generalized: the published label above it is split down to it, level by level;
- left out: it is put back, as itself and as each label above it;
- a published category: it is split into its parts.

A local method decides in each group of records by itself, so the reasons are in the group: the label is
published finer there, all else unchanged, and what that would break is counted within the group. Of
whole records (k-anonymity) the classes are counted over all records: those of a group that would be
published alike, with any others that look the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..distinct import distinct
from ..engines.local import LocalEngine
from ..hierarchy.tree import Hierarchy
from ..kernels.rows import recode_rows
from ..model.guarantees import Guarantee
from ..model.numbers import counted
from ..model.transactions import Rows
from ..progress import Watch
from ..registry import METHODS
from ..release.recoding import Recoding
from ..release.release import Release
from ..search.alternatives import (
    LIMIT,
    MOST,
    Breach,
    Cut,
    Ledger,
    after,
    breaches,
    find_concessions,
    node_above,
    nodes_below,
    raised_to,
    records_with,
    split_down,
    strongest,
)
from . import (
    NOTHING,
    Explanation,
    GivingWay,
    Group,
    Level,
    Pattern,
    Patterns,
    Question,
    few,
    node_of,
    shares_of,
)


def explain_labels(
    release: Release, labels: Sequence[Question], rows: Rows, *, top: int, watch: Watch
) -> tuple[Explanation, ...]:
    """Return why labels of sets are published as they are; the records are indexed once."""
    columns = release.layout.item_columns if release.layout is not None else ()
    names = [column.name for column in columns]
    nodes = [node_of(release.hierarchy, names, label) for label in labels]
    if not release.recoding.is_global:
        return tuple(explain_groups(release, rows, node, top=top, watch=watch) for node in nodes)
    engine = LocalEngine(release.hierarchy, rows)
    return tuple(explain_cut(release, engine, node, top=top, watch=watch) for node in nodes)


@dataclass(frozen=True)
class Change:
    """A cut in which the label asked about is published as `own`, and what that takes along.

    `taken` are published labels that become `own`, `siblings` those that come up with it, because the
    published label `instead_of` is split. `split` tells that it is that label, and `own` its parts.
    """

    cut: Cut
    own: frozenset[int]
    taken: tuple[int, ...] = ()
    split: bool = False
    siblings: tuple[int, ...] = ()
    instead_of: int | None = None


def changes(engine: LocalEngine, cut: Cut, node: int) -> Iterator[Change]:
    """Yield the cuts to ask about, coarsest first, the one with the label as itself last."""
    hierarchy = engine.hierarchy
    upper = node_above(hierarchy, cut, node)
    path = [node, *hierarchy.ancestors(node)]
    if upper == node:
        parts = frozenset(hierarchy.children[node])
        if parts:
            yield Change(cut - {node} | parts, parts, split=True)
    elif upper is not None:
        for step in reversed(path[: path.index(upper)]):
            finer = split_down(hierarchy, cut, upper, step)
            siblings = tuple(
                sorted(finer - cut - {step}, key=lambda other: _far(hierarchy, step, other))
            )
            yield Change(finer, frozenset({step}), siblings=siblings, instead_of=upper)
    elif not nodes_below(hierarchy, cut, node):
        for step in reversed(path):
            below = tuple(nodes_below(hierarchy, cut, step))
            yield Change(raised_to(hierarchy, cut, step), frozenset({step}), below)


def _far(hierarchy: Hierarchy, node: int, other: int) -> tuple[bool, str]:
    """Return the order in which siblings are told: those of the same parent first."""
    return hierarchy.parent[other] != hierarchy.parent[node], hierarchy.labels[other]


def level_of(
    engine: LocalEngine, change: Change, node: int, found: list[Breach], *, complete: bool, top: int
) -> Level:
    """Return what a change would break, those with the label itself apart from the others."""
    labels = engine.hierarchy.labels
    against = [breach for breach in found if not change.own.isdisjoint(breach.nodes)]
    beside = [breach for breach in found if change.own.isdisjoint(breach.nodes)]
    shown = node if change.split else min(change.own)
    return Level(
        labels[shown],
        records_with(engine, [shown])[0],
        _patterns(engine, against, top, complete=complete),
        _patterns(engine, beside, top, complete=complete),
        tuple(sorted(labels[lower] for lower in change.taken)),
        tuple(labels[part] for part in sorted(change.own)) if change.split else (),
        tuple(labels[other] for other in change.siblings),
        None if change.instead_of is None else labels[change.instead_of],
    )


def _patterns(engine: LocalEngine, found: list[Breach], top: int, *, complete: bool) -> Patterns:
    labels = engine.hierarchy.labels
    shown = tuple(
        Pattern(
            tuple(sorted(labels[node] for node in breach.present)),
            breach.support,
            tuple(sorted(labels[node] for node in breach.absent)),
            None if breach.secret is None else labels[breach.secret],
            breach.with_secret,
        )
        for breach in found[:top]
    )
    return Patterns(shown, len(found), complete)


MIXED = "its items are published by finer labels, or left out: ask about them one by one."


def concluded(
    plain: Explanation,
    release: Release,
    engine: LocalEngine,
    last: tuple[Change, list[Breach]] | None,
    watch: Watch,
) -> Explanation:
    """Return the explanation with its conclusion.

    `last` is the change that publishes the label as itself, and what it would break; None where there
    is nothing to change.
    """
    if last is None:
        return replace(plain, conclusion=NOTHING if plain.kept else MIXED)
    change, found = last
    name = "as its parts" if change.split else "as itself"
    if not found:
        text = (
            f"not forced: published {name} it would break nothing, but {release.method} did not do so."
        )
        return replace(plain, conclusion=text)
    guarantee = release.guarantee
    watch.tick("explain: how much of the promise would be kept", None)
    largest_k, largest_m = strongest(engine, change.cut, guarantee)
    siblings = plain.levels[-1].siblings
    with_them = f"{name}, with {few(siblings)} beside it and" if siblings else f"{name},"
    lines = [_weaker(guarantee, with_them, largest_k, largest_m)]
    alone = [breach for breach in found if change.own.issuperset(breach.nodes)]
    giving_way, then = None, None
    if alone:
        lines.append(_forced(change, alone[0]))
    else:
        bargain = find_concessions(engine, change.cut, guarantee, change.own, watch)
        if bargain.outcome == "enough":
            labels = engine.hierarchy.labels
            giving_way = tuple(
                GivingWay(labels[other.node], None if other.instead is None else labels[other.instead])
                for other in bargain.given
            )
            then = Ledger(engine).ncp(after(engine, change.cut, bargain.given))
            lines.append(_choice(plain, release, name, giving_way, then))
        else:
            lines.append(f"for that, more than {MOST} other labels would have to give way.")
    return replace(
        plain,
        conclusion="\n".join(lines),
        largest_k=largest_k,
        largest_m=largest_m,
        giving_way=giving_way,
        ncp_then=then,
    )


def _weaker(guarantee: Guarantee, name: str, largest_k: int | None, largest_m: int | None) -> str:
    """Return how much of the promise would be kept."""
    strength, knowledge = guarantee.strength, guarantee.knowledge
    kept_k = f"not even {strength}=2" if largest_k is None else f"{strength} up to {largest_k}"
    kept_m = f"not even {knowledge}=1" if largest_m is None else f"{knowledge} up to {largest_m}"
    return (
        f"{name} all else unchanged, the release would keep {kept_k} with "
        f"{knowledge}={guarantee.known_at_most}, {kept_m} with "
        f"{strength}={guarantee.least_support}."
    )


def _forced(change: Change, alone: Breach) -> str:
    """Return why nothing else that gives way would help."""
    support = counted(alone.support, "record")
    if change.split:
        return f"forced: a combination of its own parts is in {support}, whatever else gives way."
    without = (
        f"{support} that do not hold it would stand out" if alone.absent else f"it is in {support}"
    )
    return f"forced: {without}, too few by itself, whatever else gives way."


def _choice(
    plain: Explanation, release: Release, name: str, given: tuple[GivingWay, ...], then: Fraction
) -> str:
    """Return what the method preferred."""
    now = plain.ncp or Fraction(0)
    others = ", ".join(map(str, given[:5])) + (f" and {len(given) - 5} more" if given[5:] else "")
    text = f"a choice: it could be published {name} with {others}; NCP {float(then):.4f} instead of "
    text += f"{float(now):.4f}."
    if then > now:
        return f"{text} {release.method} kept {'that' if len(given) == 1 else 'those'} and lost less."
    if then == now:
        return f"{text} Both lose the same."
    suppresses = any(record.key == release.method and record.suppresses for record in METHODS)
    if not suppresses and any(other.instead is None for other in given):
        return f"{text} That loses less, but {release.method} leaves no item out."
    if release.objective is not None and release.objective.name != "ncp":
        minimized = release.objective.title
        return f"{text} That loses less NCP, but {release.method} minimized {minimized}."
    return f"{text} That loses less: {release.method} does not prove that it loses least."


def explain_cut(
    release: Release, engine: LocalEngine, node: int, *, top: int, watch: Watch
) -> Explanation:
    """Return why a node is published as it is by a global recoding."""
    hierarchy, guarantee = release.hierarchy, release.guarantee
    label = hierarchy.labels[node]
    cut = frozenset(release.recoding.cut().tolist())
    upper = node_above(hierarchy, cut, node)
    below = np.arange(hierarchy.first_leaf[node], hierarchy.end_leaf[node], dtype=np.int32)
    counts = engine.item_counts()[below]
    levels: list[Level] = []
    last: tuple[Change, list[Breach]] | None = None
    for change in changes(engine, cut, node):
        watch.tick("explain: what a finer label would break", None)
        found, complete = breaches(engine, change.cut, guarantee, limit=LIMIT)
        levels.append(level_of(engine, change, node, found, complete=complete, top=top))
        last = change, found
    plain = Explanation(
        label,
        records_with(engine, [node])[0],
        guarantee,
        None if upper is None else hierarchy.labels[upper],
        "",
        shares=shares_of(hierarchy, release.recoding.node_of_leaf()[below], below, counts),
        levels=tuple(levels),
        ncp=Ledger(engine).ncp(cut),
    )
    return concluded(plain, release, engine, last, watch)


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
