"""MM: total item suppression for (h, k, p)-coherence (Xu, Wang, Fu, Yu: Anonymizing transaction
databases for publication, KDD 2008).

A mole is a set of at most p public items that occurs in fewer than k records, or in whose records some
private item has a share above h percent. Taking an item out of all records changes no other support, so
the release is coherent exactly when every minimal mole has lost an item:

1. items that are moles by themselves go (they are in no larger minimal mole);
2. the minimal moles are listed, smaller sizes first (`Engine.violations`);
3. while any is left, the item goes that is in most of them for what it costs, its occurrences
   (`suppression_order`). Of equal ones the smaller label is kept.

k^m-anonymity is the case h = 100, p = m without private items. Nothing is generalized, so no hierarchy
is needed. Private items are never suppressed.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from ..engines.base import Ask, Engine, NodeSets
from ..errors import ResourceLimit
from ..hierarchy.tree import Counts, Ids
from ..kernels.base import Flags
from ..model.costs import Cost
from ..model.guarantees import Coherence, KmAnonymity
from ..progress import Watch
from ..registry import method
from ..release.recoding import Recoding
from ..search.cuts import check_enough_records
from . import Objective, Outcome


def anonymize(
    engine: Engine,
    guarantee: Coherence | KmAnonymity,
    *,
    cost: Cost,
    watch: Watch,
    max_moles: int = 50_000_000,
) -> Outcome:
    """Return which items MM keeps; a suppressed occurrence is wholly lost.

    `ResourceLimit` where there are more minimal moles than `max_moles`. `TimeLimit` past the time
    limit: nothing valid is held.
    """
    method("mm").check_guarantee(guarantee)
    check_enough_records(engine, guarantee.k)
    hierarchy = engine.hierarchy
    paid_by_leaf = cost.scale * cost.weighted_counts(engine.item_counts())
    is_kept = np.ones(hierarchy.n_leaves, dtype=np.bool_)
    look = watch.asking("mm: single items")
    single = _moles(engine, is_kept, guarantee.with_limit(1), max_moles, look)
    is_kept[single[:, 0]] = False
    look = watch.asking("mm: minimal moles")
    moles = _moles(engine, is_kept, guarantee, max_moles, look)
    for item in suppression_order(moles, paid_by_leaf, hierarchy.label_rank, watch):
        is_kept[item] = False
    recoding = Recoding.from_cut(hierarchy, np.flatnonzero(is_kept).astype(np.int32))
    return Outcome(
        recoding,
        Objective(cost.name, int(paid_by_leaf[~is_kept].sum())),
        {"moles": len(single) + len(moles), "suppressed": int((~is_kept).sum())},
    )


def _moles(
    engine: Engine,
    is_kept: Flags,
    guarantee: Coherence | KmAnonymity,
    most: int,
    ask: Ask,
) -> NodeSets:
    """Return the minimal moles among the items kept."""
    ask()
    shown = Recoding.from_cut(engine.hierarchy, np.flatnonzero(is_kept).astype(np.int32))
    found = engine.violations(shown, guarantee, limit=most + 1, ask=ask)
    if len(found) > most:
        raise ResourceLimit(
            f"there are more than {most:,} minimal moles.",
            "Use a method that generalizes, or know fewer items at once.",
            code="too-many-moles",
        )
    return found.sets


def suppression_order(
    moles: NodeSets, paid_by_leaf: Counts, label_rank: Ids, watch: Watch
) -> list[int]:
    """Return the items to suppress, in turn, until no mole is left.

    Of equal items the one with the larger label goes, the smaller is kept.
    """

    def choose(left_by_item: Counts, n_left: int) -> int:
        watch.tick("mm: suppressing", 1.0 - n_left / len(moles))
        watch.check_deadline()
        return _most_for_its_cost(left_by_item, paid_by_leaf, label_rank)

    return hit_all(moles, len(paid_by_leaf), choose)


def hit_all(sets: NodeSets, n_nodes: int, choose: Callable[[Counts, int], int]) -> list[int]:
    """Return nodes that hit every set, each chosen by how many of the sets left each node is in."""
    lines = np.arange(len(sets), dtype=np.int32)
    member, line = sets.ravel(), np.repeat(lines, sets.shape[1])
    line, member = line[member >= 0], member[member >= 0]
    left_by_node = np.bincount(member, minlength=n_nodes)
    by_member = np.argsort(member, kind="stable")
    lines_of_node = np.split(line[by_member], np.cumsum(left_by_node)[:-1])
    is_left, n_left = np.ones(len(sets), dtype=np.bool_), len(sets)
    chosen: list[int] = []
    while left_by_node.any():
        node = choose(left_by_node, n_left)
        gone = lines_of_node[node][is_left[lines_of_node[node]]]
        is_left[gone] = False
        n_left -= len(gone)
        lost = sets[gone].ravel()
        left_by_node -= np.bincount(lost[lost >= 0], minlength=n_nodes)
        chosen.append(node)
    return chosen


def _most_for_its_cost(left_by_item: Counts, paid_by_leaf: Counts, label_rank: Ids) -> int:
    """Return the item in most moles for its cost; an item that costs nothing goes before all."""
    items = np.flatnonzero(left_by_item)
    free = items[paid_by_leaf[items] == 0]
    if len(free):
        return int(max(free.tolist(), key=lambda item: label_rank[item]))
    ratio = left_by_item[items] / paid_by_leaf[items]
    # Floats choose the candidates, exact ratios among them.
    near = items[ratio >= ratio.max() * (1 - 1e-9)].tolist()

    def worth(item: int) -> tuple[Fraction, int]:
        return Fraction(int(left_by_item[item]), int(paid_by_leaf[item])), int(label_rank[item])

    return int(max(near, key=worth))
