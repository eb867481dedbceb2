"""Why a label of a global recoding is published as it is.

The cut is changed at the label alone (`changes`), the engine is asked what that would break, and what
the last change breaks leads to the conclusion.
"""

from __future__ import annotations

import numpy as np

from ..engines.local import LocalEngine
from ..progress import Watch
from ..release.recoding import Recoding
from ..release.release import Release
from ..search.alternatives import Breach, breaches, node_above, records_with
from ..search.concessions import LIMIT, ncp
from .account import Explanation, Level, Share
from .changes import Change, changes, level_of
from .conclusion import concluded


def shares_of(engine: LocalEngine, recoding: Recoding, node: int) -> tuple[Share, ...]:
    """Return what the items under a node are published as, most occurrences first."""
    hierarchy = engine.hierarchy
    first, end = int(hierarchy.first_leaf[node]), int(hierarchy.end_leaf[node])
    published = recoding.node_of_leaf()[first:end]
    counts = engine.item_counts()[first:end]
    shares = [
        Share(
            None if upper < 0 else hierarchy.labels[upper],
            int((published == upper).sum()),
            int(counts[published == upper].sum()),
        )
        for upper in np.unique(published).tolist()
    ]
    return tuple(sorted(shares, key=lambda share: (-share.occurrences, share.published_as or "")))


def explain_cut(
    release: Release, engine: LocalEngine, node: int, *, top: int, watch: Watch
) -> Explanation:
    """Return why a node is published as it is by a global recoding."""
    hierarchy, guarantee = release.hierarchy, release.guarantee
    label = hierarchy.labels[node]
    cut = frozenset(release.recoding.cut().tolist())
    upper = node_above(hierarchy, cut, node)
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
        shares=shares_of(engine, release.recoding, node),
        levels=tuple(levels),
        ncp=ncp(engine, cut),
    )
    return concluded(plain, release, engine, last, watch)
