"""Apriori anonymization, AA (Terrovitis, Mamoulis, Kalnis: Privacy-preserving anonymization of
set-valued data, VLDB 2008, section 4.4, Algorithms 1, 3 and 4).

For i = 1 .. m the sets of i nodes are made safe, each loop starting from the cut of the one before, so
that most sets never have to be looked at. Two paths give the same cut:

- ``path="reference"``: as the paper writes it. Each loop builds a count-tree of the sets of i nodes in
  force and walks it in preorder (`search.count_tree`). Needs rows.
- ``path="fast"``, the default: asks the engine for the rare sets of the cut and closes them upwards
  (`apriori_cut`). The tree, most of which is frequent, is never made.

Fixed here, since the paper leaves it open and the loss depends on it: nodes are ordered by falling
support, then label; a rare set is repaired by the cheapest minimal raising of its nodes, by the cost
of the whole cut, then by label (`cheapest_repair`).

Negative knowledge (`KmAnonymity(..., negative=True)`) is met by further steps on that cut
(`_repair_absences`): it is not monotone, so each step takes the cheapest single raise among the nodes
of the violations and everything is counted anew.

The fast path
-------------
In loop i the count-tree holds every set of i unrelated nodes in force that occurs in a record, and the
walk repairs the rare ones in the order of their sorted ranks. Three facts spare the tree:

1. Every rare set lies above a rare set of the cut. Let a record hold Y = {y1..yi}. Its items, as the
   cut publishes them, include wj at or below yj for each j; the wj are distinct since the yj are
   unrelated; and 0 < support(w) <= support(Y) < k. All sets between w and Y are rare as well. So
   starting from the cut's own rare sets (`engine.violations`) and raising one node by one step while
   the support stays below k reaches every rare set (`rare_sets_above`).
2. A set whose nodes meet on the way up gets smaller, and smaller sets were made safe in earlier loops:
   it need not be followed.
3. If X has a rare set Y above it that comes before it in the order, X is never repaired: when Y's turn
   is over, a node of Y has risen or is out of force, and so is the node of X below it. Raising a node
   to a parent of lower rank gives such a Y. Only sets without one, the *leading* sets, are walked.

A loop may also be cut in two at any place of the order: what is rare and in force after the first part
lies at and above the cut as it then is. The pairs of the most frequent nodes come first, are easily
listed, and their repair takes most rare nodes out of force; so loop 2 begins with them
(`_repair_first_pairs`) and asks for the cut's rare pairs, many times fewer by then, afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..engines.base import Engine, padded
from ..errors import Infeasible, UsageError
from ..hierarchy.tree import Hierarchy, Ids
from ..model.costs import Cost
from ..model.guarantees import KmAnonymity
from ..progress import Watch
from ..registry import method
from ..release.recoding import Recoding
from ..search.count_tree import Listener, cut_by_trees
from ..search.cuts import (
    Nodes,
    WorkingCut,
    cheapest_repair,
    check_roots,
    falling_support_rank,
    node_supports,
    publish_repair,
    set_keys,
)
from . import Objective, Outcome

Flags = NDArray[np.bool_]

PATHS = ("fast", "reference")
_ASKED_AT_ONCE = 1000
"""Violations with absent nodes that are looked at for one step."""
_WALKED_AT_ONCE = 4096
"""Sets whose nodes are looked up together before they are walked one by one."""
_PAIRS_AT_ONCE = 1 << 15
_PAIRS_PER_NODE = 64
"""How many pairs of the most frequent nodes are counted, in one go and, for each node, in all."""


def anonymize(
    engine: Engine,
    guarantee: KmAnonymity,
    *,
    cost: Cost,
    watch: Watch,
    path: str = "fast",
    listener: Listener | None = None,
) -> Outcome:
    """Return the cut that AA finds.

    `listener` is called with each leaf of the count-trees as the reference path meets it.
    """
    method("aa").check_guarantee(guarantee)
    if path not in PATHS:
        raise UsageError(f"unknown path {path[:40]!r}.", f"Known: {', '.join(PATHS)}.")
    check_roots(engine, guarantee, watch)
    hierarchy = engine.hierarchy
    figures: dict[str, int | float | str]
    if path == "reference":
        loops = _loops(engine, guarantee.m, watch)
        cut, figures = cut_by_trees(
            engine, guarantee.k, loops, cost=cost, watch=watch, listener=listener
        )
    else:
        identity = np.arange(hierarchy.n_leaves, dtype=np.int32)
        reached = apriori_cut(engine, guarantee.k, guarantee.m, identity, cost=cost, watch=watch)
        cut, figures = reached.cut, {"repairs": reached.repairs}
    if guarantee.signed:
        figures["negative_steps"] = _repair_absences(engine, guarantee, cut, watch)
    return Outcome(Recoding.from_cut(hierarchy, cut.nodes), Objective(cost.name, cut.cost), figures)


def _loops(engine: Engine, m: int, watch: Watch) -> Iterator[range]:
    """Yield the sizes of sets that each loop counts (Algorithm 4)."""
    longest = int(np.diff(engine.rows().indptr).max(initial=0))
    for size in range(1, min(m, longest) + 1):
        watch.tick(f"sets of {size}")
        yield range(size, size + 1)


@dataclass(frozen=True, eq=False)
class AprioriCut:
    """What `apriori_cut` reached."""

    cut: WorkingCut
    repaired: bool
    """Whether no rare set is left among the leaves of the part."""
    repairs: int
    """How many rare sets were repaired."""


def apriori_cut(
    engine: Engine,
    k: int,
    m: int,
    start_node_of_leaf: Ids,
    *,
    cost: Cost,
    watch: Watch,
    first_size: int = 1,
) -> AprioriCut:
    """Raise a cut until every set of at most `m` of its nodes is in 0 or at least `k` records.

    Nothing is ever lowered. A leaf that starts at -1 is left out: records are counted as if they did
    not hold it, and no node above such a leaf is published. So the other leaves are a part of the
    domain that is repaired by itself, at most up to the highest nodes all of whose leaves are in the
    part. No node of the start may cover a leaf that is left out, and all sets smaller than `first_size`
    must be safe already.

    A rare set that no raising within the part makes safe is left as it is, together with all sets that
    contain it, and `repaired` is then False; everything else is safe. With the whole domain in the
    part, and roots that are safe, `repaired` is always True.
    """
    hierarchy = engine.hierarchy
    cut = WorkingCut(hierarchy, cost, engine.item_counts(), start_node_of_leaf)
    support_by_node = node_supports(engine)
    rank_of_node = falling_support_rank(hierarchy, support_by_node)
    walk = _Walk(engine, cut, rank_of_node, k, watch)
    size = first_size
    while size <= min(m, len(cut.nodes)):
        watch.tick(f"sets of {size}", (size - first_size) / max(m - first_size + 1, 1))
        watch.check_deadline()
        if size == 2:
            _repair_first_pairs(walk, support_by_node >= k)
        rare = _rare_sets_of_cut(engine, cut, k, size)
        if len(rare):
            allowed = cut.allowed_by_node
            walk.repair(rare_sets_above(engine, rare, rank_of_node, allowed, k, watch))
        elif size < m:
            # Nothing at this size: if nothing larger is rare either, a huge m costs no more loops.
            recoding = Recoding.from_node_of_leaf(hierarchy, cut.node_of_leaf)
            larger = engine.violations(recoding, KmAnonymity(k, m), limit=None if walk.stuck else 1)
            if not ((larger.sets >= 0).sum(axis=1) > size).any():
                break
        size += 1
    return AprioriCut(cut, not walk.stuck, walk.repairs)


def _rare_sets_of_cut(engine: Engine, cut: WorkingCut, k: int, size: int) -> Ids:
    """Return the cut's minimal rare sets of exactly this size, one a line."""
    recoding = Recoding.from_node_of_leaf(cut.hierarchy, cut.node_of_leaf)
    sets = engine.violations(recoding, KmAnonymity(k, size)).sets
    if sets.shape[1] < size:
        return np.empty((0, size), dtype=np.int32)
    exact: Ids = sets[(sets >= 0).sum(axis=1) == size][:, :size]
    return exact


class _Walk:
    """The walk's order and state over all loops."""

    def __init__(
        self, engine: Engine, cut: WorkingCut, rank_of_node: Ids, k: int, watch: Watch
    ) -> None:
        self.engine, self.cut, self.k, self.watch = engine, cut, k, watch
        self.rank_of_node = rank_of_node
        self.node_of_rank = np.argsort(rank_of_node).astype(np.int32)
        self.repairs = 0
        self.stuck: set[Nodes] = set()
        self._support_of_set: dict[Nodes, int] = {}

    def repair(self, rare: Ids) -> None:
        """Repair rare sets of one size in the order of the walk, passing over those out of force."""
        ranks = np.sort(self.rank_of_node[rare], axis=1)
        sets = self.node_of_rank[ranks[np.lexsort(ranks.T[::-1])]]
        self._support_of_set.clear()
        for start in range(0, len(sets), _WALKED_AT_ONCE):
            part = sets[start : start + _WALKED_AT_ONCE]
            inside = self.cut.in_force_by_node()[part].all(axis=1)
            for line in part[inside].tolist():
                if all(map(self.cut.in_force, line)):
                    self.watch.tick(f"sets of {len(line)}", start / len(sets))
                    self.watch.check_deadline()
                    repair = cheapest_repair(self.cut, tuple(line), self.k, self._supports)
                    if repair is None:
                        self.stuck.add(tuple(line))
                    else:
                        publish_repair(self.cut, tuple(line), repair)
                        self.repairs += 1

    def _supports(self, sets: Sequence[Nodes]) -> list[int]:
        known = self._support_of_set
        unknown = [nodes for nodes in sets if nodes not in known]
        if unknown:
            answers = self.engine.supports(padded(unknown), enough=self.k).tolist()
            known.update(zip(unknown, answers, strict=True))
        return [known[nodes] for nodes in sets]


def _repair_first_pairs(walk: _Walk, safe_by_node: Flags) -> None:
    """Repair the rare pairs whose first node is among the most frequent ones.

    A node that is rare by itself is here only where loop 1 could not repair it; its pairs have no
    repair either.
    """
    hierarchy, cut = walk.engine.hierarchy, walk.cut
    rank = 0
    spent = 0
    while rank < len(hierarchy) and spent < _PAIRS_PER_NODE * len(hierarchy):
        in_force = walk.node_of_rank[(cut.in_force_by_node() & safe_by_node)[walk.node_of_rank]]
        ranks = walk.rank_of_node[in_force]
        firsts = in_force[ranks >= rank][: max(1, _PAIRS_AT_ONCE // max(1, len(in_force)))]
        if not len(firsts):
            return
        first, second = np.repeat(firsts, len(in_force)), np.tile(in_force, len(firsts))
        apart = (hierarchy.first_leaf[first] >= hierarchy.end_leaf[second]) | (
            hierarchy.end_leaf[first] <= hierarchy.first_leaf[second]
        )
        wanted = apart & (walk.rank_of_node[first] < walk.rank_of_node[second])
        pairs = np.column_stack((first[wanted], second[wanted]))
        support = walk.engine.supports(pairs, enough=walk.k)
        walk.repair(pairs[(support > 0) & (support < walk.k)])
        spent += len(pairs)
        rank = int(walk.rank_of_node[firsts[-1]]) + 1


def rare_sets_above(
    engine: Engine,
    rare: Ids,
    rank_of_node: Ids,
    allowed_by_node: Flags,
    k: int,
    watch: Watch,
    *,
    leading_only: bool = True,
) -> Ids:
    """Return the rare sets at and above the given ones, all of one size, by allowed raises.

    The subsets of those given must all be safe. With `leading_only` those that the walk is certain to
    pass over are left out (fact 3).
    """
    hierarchy = engine.hierarchy
    found: list[Ids] = []
    # A raise takes one step off the sum of depths, so going from deep to high meets a set only
    # when all sets that lead to it are known, and asks for each support once.
    waiting: dict[int, list[Ids]] = {}
    depth_sums = hierarchy.depth[rare].sum(axis=1)
    for depth_sum in np.unique(depth_sums).tolist():
        waiting[depth_sum] = [np.sort(rare[depth_sums == depth_sum], axis=1)]
    while waiting:
        watch.tick("rare sets above the cut")
        depth_sum = max(waiting)
        sets = np.concatenate(waiting.pop(depth_sum))
        sets = sets[np.unique(set_keys(sets, len(hierarchy)), return_index=True)[1]]
        raised, source, earlier = _raises(hierarchy, sets, rank_of_node, allowed_by_node)
        leading = np.ones(len(sets), dtype=np.bool_)
        if len(raised):
            keys = set_keys(raised, len(hierarchy))
            _, first, group = np.unique(keys, return_index=True, return_inverse=True)
            candidates = raised[first]
            still_rare = engine.supports(candidates, enough=k) < k
            leading[source[still_rare[group.reshape(-1)] & earlier]] = False
            if still_rare.any():
                waiting.setdefault(depth_sum - 1, []).append(candidates[still_rare])
        found.append(sets[leading] if leading_only else sets)
    return np.concatenate(found)


def _raises(
    hierarchy: Hierarchy, sets: Ids, rank_of_node: Ids, allowed_by_node: Flags
) -> tuple[Ids, NDArray[np.int64], Flags]:
    """Return the sets with one node raised and none met, whence each came, and if it ranks earlier."""
    raised: list[Ids] = []
    source: list[NDArray[np.int64]] = []
    earlier: list[Flags] = []
    width = sets.shape[1]
    for column in range(width):
        above = hierarchy.parent[sets[:, column]]
        fits = (above >= 0) & allowed_by_node[above]
        for other in range(width):
            if other != column:
                leaf = hierarchy.first_leaf[sets[:, other]]
                fits &= (leaf < hierarchy.first_leaf[above]) | (leaf >= hierarchy.end_leaf[above])
        places = np.flatnonzero(fits)
        lines = sets[places].copy()
        lines[:, column] = above[places]
        earlier.append(rank_of_node[above[places]] < rank_of_node[sets[places, column]])
        raised.append(np.sort(lines, axis=1))
        source.append(places)
    return np.concatenate(raised), np.concatenate(source), np.concatenate(earlier)


def _repair_absences(engine: Engine, guarantee: KmAnonymity, cut: WorkingCut, watch: Watch) -> int:
    """Raise the cut until nothing present or absent is rare; return the number of steps.

    The cut can only rise, so at the latest the roots end it; whether they hold is counted, not assumed.
    """
    hierarchy = engine.hierarchy
    steps = 0
    while True:
        watch.tick("negative knowledge")
        watch.check_deadline()
        recoding = Recoding.from_cut(hierarchy, cut.nodes)
        broken = engine.violations(recoding, guarantee, limit=_ASKED_AT_ONCE)
        if not len(broken):
            return steps
        lines = [broken.sets] if broken.absent is None else [broken.sets, broken.absent]
        involved = np.unique(np.concatenate([line.ravel() for line in lines]))
        parents = {int(hierarchy.parent[node]) for node in involved if node >= 0} - {-1}
        if not parents:
            # The nodes involved are roots; the others may still rise and take the pattern away.
            parents = {int(hierarchy.parent[node]) for node in cut.nodes} - {-1}
        if not parents:
            raise Infeasible(
                f"{guarantee} does not hold even where only the roots are published: "
                "some presence or absence of roots is rare.",
                "Lower k or m, or ask for it without negative knowledge.",
            )
        cut.raise_to(min(parents, key=lambda node: (cut.added_cost(node), hierarchy.label_rank[node])))
        steps += 1
