"""Apriori anonymization, AA (Terrovitis, Mamoulis, Kalnis: Privacy-preserving anonymization of
set-valued data, VLDB 2008, section 4.4, Algorithms 1, 3 and 4).

For i = 1 .. m the sets of i nodes are made safe, each loop starting from the cut of the one before, so
that most sets never have to be looked at. Two paths give the same cut:

- ``path="reference"``: as the paper writes it. Each loop builds a count-tree of the sets of i nodes in
  force (`build_count_tree`) and walks it in preorder (`walk`). Needs rows.
- ``path="fast"``, the default: asks the engine for the rare sets of the cut and closes them upwards
  (`apriori_cut`). The tree, most of which is frequent, is never made.

Fixed here, since the paper leaves it open and the loss depends on it: nodes are ordered by falling
support, then label; a rare set is repaired by the cheapest minimal raising of its nodes, by the cost
of the whole cut, then by label (`cheapest_repair`).

Negative knowledge (`KmAnonymity(..., negative=True)`) is met by further steps on that cut
(`_repair_absences`): it is not monotone, so each step takes the cheapest single raise among the nodes
of the violations and everything is counted anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..engines.base import Engine
from ..errors import Infeasible, UsageError
from ..model.costs import Cost
from ..model.guarantees import KmAnonymity
from ..progress import Watch
from ..registry import method
from ..release.recoding import Recoding
from ..search.apriori_cut import AprioriCut, apriori_cut
from ..search.count_tree import CountTree, build_count_tree
from ..search.cuts import Nodes, Supports, WorkingCut, falling_support_rank
from ..search.feasible import check_roots, node_supports
from ..search.tree_walk import Visit, walk
from .outcome import Objective, Outcome

__all__ = ["AprioriCut", "anonymize", "apriori_cut"]

PATHS = ("fast", "reference")
_ASKED_AT_ONCE = 1000
"""Violations with absent nodes that are looked at for one step."""


def anonymize(
    engine: Engine,
    guarantee: KmAnonymity,
    *,
    cost: Cost,
    watch: Watch,
    path: str = "fast",
    listener: Callable[[Visit], None] | None = None,
) -> Outcome:
    """Return the cut that AA finds.

    Parameters
    ----------
    engine
        The data.
    guarantee
        `KmAnonymity`.
    cost
        What a published node costs.
    watch
        Told about progress; stops the work.
    path
        "fast", or "reference" for the paper's count-tree; the cut is the same.
    listener
        Called with each leaf of the count-trees as the reference path meets it.
    """
    method("aa").check_guarantee(guarantee)
    if path not in PATHS:
        raise UsageError(f"unknown path {path[:40]!r}.", f"Known: {', '.join(PATHS)}.")
    check_roots(engine, guarantee, watch)
    hierarchy = engine.hierarchy
    figures: dict[str, int | float | str]
    if path == "reference":
        node_of_leaf, figures = _reference(engine, guarantee, cost, watch, listener)
    else:
        identity = np.arange(hierarchy.n_leaves, dtype=np.int32)
        reached = apriori_cut(engine, guarantee.k, guarantee.m, identity, cost=cost, watch=watch)
        node_of_leaf, figures = reached.node_of_leaf, {"repairs": reached.repairs}
    cut = WorkingCut(hierarchy, cost, engine.item_counts(), node_of_leaf)
    if guarantee.negative:
        figures["negative_steps"] = _repair_absences(engine, guarantee, cut, watch)
    return Outcome(Recoding.from_cut(hierarchy, cut.nodes), Objective(cost.name, cut.cost), figures)


def _reference(
    engine: Engine,
    guarantee: KmAnonymity,
    cost: Cost,
    watch: Watch,
    listener: Callable[[Visit], None] | None,
) -> tuple[NDArray[np.int32], dict[str, int | float | str]]:
    """Return the cut by count-trees (Algorithm 4), the most nodes a tree had, and the repairs."""
    hierarchy, rows = engine.hierarchy, engine.rows()
    support_by_node = node_supports(engine)
    rank_of_node = falling_support_rank(hierarchy, support_by_node)
    cut = WorkingCut(hierarchy, cost, engine.item_counts())
    most_nodes, repairs = 0, 0
    for size in range(1, min(guarantee.m, int(np.diff(rows.indptr).max(initial=0))) + 1):
        watch.tick(f"sets of {size}")
        tree = build_count_tree(
            hierarchy, rows, rank_of_node, cut.in_force_by_node(), range(size, size + 1), watch
        )
        most_nodes = max(most_nodes, tree.n_nodes)
        supports = _tree_supports(tree, size, guarantee.k, support_by_node)
        repairs += walk(tree, cut, guarantee.k, supports, watch, listener=listener)
    return cut.node_of_leaf, {"count_tree_nodes": most_nodes, "repairs": repairs}


def _tree_supports(tree: CountTree, size: int, k: int, support_by_node: NDArray[np.int64]) -> Supports:
    """Return the answers of a tree that holds the sets of one size."""

    def supports(sets: Sequence[Nodes]) -> list[int]:
        # Nodes that met leave a smaller set, and those were made safe in earlier loops. A single
        # node may be the root that the tree leaves out.
        return [
            int(support_by_node[nodes[0]])
            if len(nodes) == 1
            else tree.support(nodes)
            if len(nodes) == size
            else k
            for nodes in sets
        ]

    return supports


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
