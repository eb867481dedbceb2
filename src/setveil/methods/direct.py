"""Direct anonymization, DA (Terrovitis, Mamoulis, Kalnis: Privacy-preserving anonymization of
set-valued data, VLDB 2008, section 4.3, Algorithm 3).

The full count-tree holds the support of every set of at most m nodes, at any level, that occurs in a
record. One walk in preorder meets the rare sets and repairs each by the cheapest raising of its nodes;
sets with a node that has gone out of force are passed over (`search.count_tree`). The tree is what
stops the method: its size is estimated first (`most_paths`), and beyond `max_tree_nodes` the method
refuses.

Differences from the paper: leaves of the tree count at every depth, not only at depth m, since a
short record's leaf lies higher; ties are broken by label; a forest and leaves of unequal depth are
allowed.
"""

from __future__ import annotations

import numpy as np

from ..engines.base import Engine
from ..errors import ResourceLimit
from ..model.costs import Cost
from ..model.guarantees import KmAnonymity
from ..progress import Watch
from ..registry import method
from ..release.recoding import Recoding
from ..search.count_tree import Listener, cut_by_trees, most_paths
from ..search.cuts import check_roots
from . import Objective, Outcome


def anonymize(
    engine: Engine,
    guarantee: KmAnonymity,
    *,
    cost: Cost,
    watch: Watch,
    max_tree_nodes: int = 20_000_000,
    listener: Listener | None = None,
) -> Outcome:
    """Return the cut that DA finds.

    The engine must hold rows. `ResourceLimit` where the count-tree could have more than
    `max_tree_nodes` nodes; `listener` is called with each leaf of the count-tree as the walk meets it.
    """
    method("da").check_guarantee(guarantee)
    hierarchy, rows = engine.hierarchy, engine.rows()
    check_roots(engine, guarantee, watch)
    m = min(guarantee.m, int(np.diff(rows.indptr).max(initial=0)))
    estimate = most_paths(hierarchy, rows, m)
    if estimate > max_tree_nodes:
        raise ResourceLimit(
            f"the count-tree of method da could have {estimate:,} nodes, "
            f"more than the limit of {max_tree_nodes:,}.",
            "Use method aa or optimal, which need no such tree, lower m, or raise max_tree_nodes.",
            code="count-tree",
        )
    loops = [range(1, m + 1)]
    cut, figures = cut_by_trees(engine, guarantee.k, loops, cost=cost, watch=watch, listener=listener)
    recoding = Recoding.from_cut(hierarchy, cut.nodes)
    return Outcome(recoding, Objective(cost.name, cut.cost), figures)
