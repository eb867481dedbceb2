"""The whole hierarchy with the cut through it, for the holder of the data."""

from __future__ import annotations

from collections.abc import Sequence

from ..release.apply import BeforeAfter
from .html import Html, element, section
from .outline import ABOVE, HIDDEN, LEFT_OUT, PUBLISHED, outline
from .sections import counted


def cut_part(pair: BeforeAfter) -> Html:
    """Return the whole hierarchy with the cut through it."""
    tree, nodes, leaves = pair.hierarchy, pair.node_of_occurrence, pair.rows.leaves
    published = set(nodes[nodes >= 0].tolist())
    kept = set(leaves[nodes >= 0].tolist())
    kinds = [ABOVE] * len(tree)
    for node in range(len(tree) - 1, -1, -1):
        above = int(tree.parent[node])
        if node in published:
            kinds[node] = PUBLISHED
        elif node < tree.n_leaves and node not in kept:
            kinds[node] = LEFT_OUT
        elif node < tree.n_leaves or (above >= 0 and kinds[above] in (PUBLISHED, HIDDEN)):
            kinds[node] = HIDDEN
    labels = [int(kind == PUBLISHED) for kind in kinds]
    weight = [*pair.count_by_leaf.tolist(), *[0] * (len(tree) - tree.n_leaves)]
    for node, above in enumerate(tree.parent.tolist()):
        if above >= 0:
            weight[above] += weight[node]
            labels[above] += labels[node]

    def told(node: int) -> str:
        if node < tree.n_leaves:
            return f"in {counted(weight[node], 'record')}"
        items = counted(int(tree.leaf_count[node]), "item")
        return f"{items}, {counted(labels[node], 'label')}" if kinds[node] == ABOVE else items

    def told_of_rest(rest: Sequence[int]) -> str:
        return f"and {counted(sum(int(tree.leaf_count[node]) for node in rest), 'item')} more"

    return section(
        "hierarchy",
        "The hierarchy, and the cut through it",
        element("p", "The numbers are those of the original records. The most frequent stand first."),
        outline(
            tree,
            kind_by_node=kinds,
            weight_by_node=weight,
            told_of_node=told,
            told_of_rest=told_of_rest,
        ),
    )
