"""Other ways to publish one label, and what each would break.

The published cut is changed at the label alone:

- generalized: the published label above it is split down to it, level by level;
- left out: it is put back, as itself and as each label above it;
- a published category: it is split into its parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..engines.local import LocalEngine
from ..hierarchy.tree import Hierarchy
from ..search.alternatives import (
    Breach,
    Cut,
    node_above,
    nodes_below,
    raised_to,
    records_with,
    split_down,
)
from .account import Level, Pattern, Patterns


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
