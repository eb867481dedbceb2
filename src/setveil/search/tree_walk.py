"""DA's walk over a count-tree (Terrovitis et al. 2008, Algorithm 3), which AA runs once a size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..errors import InternalError
from ..progress import Watch
from .count_tree import CountTree
from .cuts import Nodes, Supports, WorkingCut, cheapest_repair, publish_repair


@dataclass(frozen=True)
class Visit:
    """One leaf of the tree as the walk met it.

    `verdict` is "fine", "rare" (repaired at once; `risen` are the nodes then published) or "skipped"
    (a node of it is out of force, so the walk turned back before it).
    """

    nodes: Nodes
    support: int
    verdict: str
    risen: Nodes = ()


def walk(
    tree: CountTree,
    cut: WorkingCut,
    k: int,
    supports: Supports,
    watch: Watch,
    *,
    listener: Callable[[Visit], None] | None = None,
) -> int:
    """Repair every rare leaf of the tree, in preorder, and return how many were repaired.

    Frequent leaves change nothing, so they are passed over unless a `listener` wants to see them all.
    One pass is enough: supports do not change, a repaired set is out of force, and what is in force
    at the end was in force, and looked at, all along.

    Parameters
    ----------
    tree
        The supports; leaves at any depth count, so that short records are covered too.
    cut
        Raised in place.
    k
        A set in fewer records is rare.
    supports
        Answers about raised sets.
    watch
        Told about progress; stops the work.
    listener
        Called with every leaf in turn.
    """
    wanted = tree.is_leaf_by_path
    if listener is None:
        wanted &= tree.support_by_path < k
    repaired = 0
    paths = np.flatnonzero(wanted)
    for done, path in enumerate(paths.tolist()):
        nodes, support = tree.nodes(path), int(tree.support_by_path[path])
        visit = Visit(nodes, support, "fine")
        if not all(cut.in_force(node) for node in nodes):
            visit = Visit(nodes, support, "skipped")
        elif support < k:
            watch.tick("repairing", done / len(paths))
            watch.check_deadline()
            repair = cheapest_repair(cut, nodes, k, supports)
            if repair is None:
                raise InternalError("a rare set has no repair although the roots are safe.")
            visit = Visit(nodes, support, "rare", publish_repair(cut, nodes, repair))
            repaired += 1
        if listener is not None:
            listener(visit)
    return repaired
