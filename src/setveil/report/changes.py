"""What became of the items: which stand under another label, which are left out, and how often.

For the holder's eyes alone: every line names items that the release does not show.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..measure.before_after import BeforeAfter
from ..model.costs import make_cost


@dataclass(frozen=True)
class Change:
    """A category in the release, and the items that it stands for there, most frequent first.

    `lost` is the share of the whole loss (NCP) that it causes.
    """

    label: str
    items: tuple[tuple[str, int], ...]
    lost: float

    @property
    def occurrences(self) -> int:
        """How many occurrences of items it stands for."""
        return sum(count for _, count in self.items)


def generalized(pair: BeforeAfter) -> tuple[Change, ...]:
    """Return the categories that stand for other labels, those that cost most first."""
    tree, width = pair.hierarchy, pair.hierarchy.n_leaves
    nodes, leaves = pair.node_of_occurrence, pair.rows.leaves
    changed = (nodes >= 0) & (nodes != leaves)
    keys, counts = np.unique(
        nodes[changed].astype(np.int64) * width + leaves[changed], return_counts=True
    )
    cost = make_cost("ncp", tree)
    cost_by_key = cost.unit_by_node[keys // width].astype(np.int64) * counts
    whole = int(cost_by_key.sum()) + cost.scale * int((nodes < 0).sum())
    found: list[Change] = []
    starts = np.flatnonzero(np.diff(keys // width, prepend=-1)).tolist()
    for start, end in pairwise([*starts, len(keys)]):
        items = zip((keys[start:end] % width).tolist(), counts[start:end].tolist(), strict=True)
        named = sorted(((tree.labels[leaf], count) for leaf, count in items), key=_heaviest)
        lost = int(cost_by_key[start:end].sum()) / whole if whole else 0.0
        found.append(Change(tree.labels[int(keys[start]) // width], tuple(named), lost))
    return tuple(sorted(found, key=lambda change: (-change.lost, change.label)))


def left_out(pair: BeforeAfter) -> tuple[tuple[str, int], ...]:
    """Return the items that are left out, each with how many records held it, most frequent first."""
    gone = pair.rows.leaves[pair.node_of_occurrence < 0]
    leaves, counts = np.unique(gone, return_counts=True)
    named = zip(leaves.tolist(), counts.tolist(), strict=True)
    return tuple(sorted(((pair.hierarchy.labels[leaf], n) for leaf, n in named), key=_heaviest))


def _heaviest(named: tuple[str, int]) -> tuple[int, str]:
    return -named[1], named[0]
