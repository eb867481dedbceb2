"""The mean cost of an occurrence: what NCP and LM have in common."""

from __future__ import annotations

from fractions import Fraction

from ..model.costs import make_cost
from .before_after import BeforeAfter


def mean_unit_cost(name: str, pair: BeforeAfter) -> Fraction:
    """Return the cost `name` as a mean over the original occurrences, exactly.

    A suppressed occurrence counts as wholly lost. Nothing lost where there is no occurrence.
    """
    nodes = pair.node_of_occurrence
    if not len(nodes):
        return Fraction(0)
    cost = make_cost(name, pair.hierarchy)
    kept = nodes[nodes >= 0]
    lost = int(cost.unit_by_node[kept].sum()) + cost.scale * (len(nodes) - len(kept))
    return Fraction(lost, cost.scale * len(nodes))
