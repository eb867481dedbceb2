"""What is asked before a search: is there a solution at all, and how frequent is each node?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..engines.base import Engine
from ..errors import Infeasible
from ..model.guarantees import KmAnonymity
from ..progress import Watch
from ..release.recoding import Recoding


def check_enough_records(engine: Engine, k: int) -> None:
    """Raise `Infeasible` where there are fewer records than must look alike."""
    if engine.n_records < k:
        raise Infeasible(f"k={k} exceeds the number of records ({engine.n_records}).", "Lower k.")


def check_roots(engine: Engine, guarantee: KmAnonymity, watch: Watch) -> None:
    """Raise `Infeasible` where even publishing only the roots breaks the positive guarantee.

    Supports never shrink on the way up, so what the roots break every cut breaks; and where the roots
    hold, any rare set can be repaired by raising its nodes to their roots.
    """
    watch.tick("checking the roots")
    hierarchy = engine.hierarchy
    check_enough_records(engine, guarantee.k)
    positive = KmAnonymity(guarantee.k, min(guarantee.m, max(len(hierarchy.roots), 1)))
    roots = Recoding.from_cut(hierarchy, np.array(hierarchy.roots, dtype=np.int32))
    broken = engine.violations(roots, positive, limit=1)
    if len(broken):
        size = int((broken.sets[0] >= 0).sum())
        what = "a root" if size == 1 else f"a combination of {size} roots"
        raise Infeasible(
            f"{what} of the hierarchy is in fewer than k={guarantee.k} records, "
            "so no generalization can protect them.",
            "Lower k or m, join the trees under one root, or use a method that suppresses.",
        )


def node_supports(engine: Engine) -> NDArray[np.int64]:
    """Return in how many records each node of the hierarchy is."""
    every = np.arange(len(engine.hierarchy), dtype=np.int32)[:, None]
    return engine.supports(every)
