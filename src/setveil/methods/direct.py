"""Direct anonymization, DA (Terrovitis, Mamoulis, Kalnis: Privacy-preserving anonymization of
set-valued data, VLDB 2008, section 4.3, Algorithm 3).

The full count-tree holds the support of every set of at most m nodes, at any level, that occurs in a
record (`build_count_tree`). One walk in preorder meets the rare sets and repairs each by the cheapest
raising of its nodes (`walk`, `cheapest_repair`); sets with a node that has gone out of force are
passed over. The tree is what stops the method: its size is estimated first (`most_paths`), and beyond
`max_tree_nodes` the method refuses.

Differences from the paper: leaves of the tree count at every depth, not only at depth m, since a
short record's leaf lies higher; ties are broken by label; a forest and leaves of unequal depth are
allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..engines.base import Engine
from ..errors import ResourceLimit
from ..model.costs import Cost
from ..model.guarantees import KmAnonymity
from ..progress import Watch
from ..registry import method
from ..release.recoding import Recoding
from ..search.count_tree import build_count_tree, most_paths
from ..search.cuts import Nodes, WorkingCut, falling_support_rank
from ..search.feasible import check_roots, node_supports
from ..search.tree_walk import Visit, walk
from .outcome import Objective, Outcome


def anonymize(
    engine: Engine,
    guarantee: KmAnonymity,
    *,
    cost: Cost,
    watch: Watch,
    max_tree_nodes: int = 20_000_000,
    listener: Callable[[Visit], None] | None = None,
) -> Outcome:
    """Return the cut that DA finds.

    Parameters
    ----------
    engine
        The data; it must hold rows.
    guarantee
        `KmAnonymity` without negative knowledge.
    cost
        What a published node costs.
    watch
        Told about progress; stops the work.
    max_tree_nodes
        Refuse with `ResourceLimit` where the count-tree could have more nodes than this.
    listener
        Called with each leaf of the count-tree as the walk meets it.
    """
    method("da").check_guarantee(guarantee)
    hierarchy, rows = engine.hierarchy, engine.rows()
    check_roots(engine, guarantee, watch)
    longest = int(np.diff(rows.indptr).max(initial=0))
    m = min(guarantee.m, longest)
    estimate = most_paths(hierarchy, rows, m)
    if estimate > max_tree_nodes:
        raise ResourceLimit(
            f"the count-tree of method da could have {estimate:,} nodes, "
            f"more than the limit of {max_tree_nodes:,}.",
            "Use method aa or optimal, which need no such tree, lower m, or raise max_tree_nodes.",
            code="count-tree",
        )
    support_by_node = node_supports(engine)
    count_by_leaf = engine.item_counts()
    cut = WorkingCut(hierarchy, cost, count_by_leaf)
    rank_of_node = falling_support_rank(hierarchy, support_by_node)
    tree = build_count_tree(
        hierarchy, rows, rank_of_node, cut.in_force_by_node(), range(1, m + 1), watch
    )

    def supports(sets: Sequence[Nodes]) -> list[int]:
        # A single node may be the root that the tree leaves out.
        return [
            int(support_by_node[nodes[0]]) if len(nodes) == 1 else tree.support(nodes) for nodes in sets
        ]

    repaired = walk(tree, cut, guarantee.k, supports, watch, listener=listener)
    return Outcome(
        Recoding.from_cut(hierarchy, cut.nodes),
        Objective(cost.name, cut.cost),
        {"count_tree_nodes": tree.n_nodes, "repairs": repaired},
    )
