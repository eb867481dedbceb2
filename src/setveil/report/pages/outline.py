"""A hierarchy as an indented list: readable on a phone, on paper, and by a screen reader.

A page shows at most `MOST_LINES` lines. The heaviest branches are opened while there is room; the
others stand as one line that counts what is under them, and siblings that are too many share the last
line. So ten labels are all shown, and of ten thousand those that matter most.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ...hierarchy.tree import Hierarchy
from ..html import Content, Html, element, join, label, section, table
from .sections import counted

MOST_LINES, MOST_FREQUENT = 48, 10
PUBLISHED, ABOVE, HIDDEN, LEFT_OUT = "published", "above", "hidden", "left-out"
KEYS: Mapping[str, str] = {
    PUBLISHED: "in the records",
    ABOVE: "above what is in the records",
    HIDDEN: "published as the category above it",
    LEFT_OUT: "left out",
}


@dataclass
class _Line:
    """A line of the list: one node, or several siblings that are only counted."""

    nodes: tuple[int, ...]
    depth: int
    below: list[_Line] = field(default_factory=list)


def outline(
    hierarchy: Hierarchy,
    *,
    kind_by_node: Sequence[str],
    weight_by_node: Sequence[int],
    told_of_node: Callable[[int], Content],
    told_of_rest: Callable[[Sequence[int]], str],
) -> Html:
    """Return the list, with a legend of the kinds that it shows.

    Parameters
    ----------
    hierarchy
        What to show.
    kind_by_node
        What each node is to the release: a key of `KEYS`.
    weight_by_node
        What is opened and shown first: the heaviest.
    told_of_node, told_of_rest
        What is written behind a node that is not opened, and for siblings that share a line.
    """
    if not len(hierarchy):
        return Html("")
    lines = _opened(hierarchy, weight_by_node, MOST_LINES)
    seen: set[str] = set()

    def drawn(line: _Line) -> Html:
        if len(line.nodes) > 1:
            return element("li", element("span", told_of_rest(line.nodes), class_="more"))
        node = line.nodes[0]
        kind = kind_by_node[node]
        seen.add(kind)
        chip = element("span", label(hierarchy.labels[node]), class_=f"node {kind}")
        told = told_of_node(node) if not line.below or kind == PUBLISHED else ""
        note = element("span", told, class_="note") if told else Html("")
        below = element("ul", *map(drawn, line.below)) if line.below else Html("")
        return element("li", chip, note, below)

    tree = element("ul", *map(drawn, lines), class_="tree")
    return join((_legend(seen), tree), "\n")


def labels_part(
    paths: Sequence[Sequence[str]],
    count_by_label: Mapping[str, int],
    told_of_label: Callable[[str], Content],
    *about: Content,
) -> Html:
    """Return the published hierarchy at and above the cut, with what is told of each published label.

    Parameters
    ----------
    paths
        The published labels, each with what is above it up to its root.
    count_by_label
        How many published records hold each label: the most frequent come first.
    told_of_label
        What is written behind a published label.
    about
        What is said before it.
    """
    if not paths:
        return Html("")
    tree = Hierarchy.from_paths(paths)
    shown = [name in count_by_label for name in tree.labels]
    below = with_below(tree, [int(yes) for yes in shown])

    def told_of_node(node: int) -> Content:
        return told_of_label(tree.labels[node]) if shown[node] else counted(below[node], "label")

    frequent: list[tuple[Content, ...]] = []
    if len(paths) > MOST_LINES // 2:
        first = sorted(count_by_label, key=lambda name: (-count_by_label[name], name))[:MOST_FREQUENT]
        frequent = [(label(name), told_of_label(name)) for name in first]
    return section(
        "labels",
        "The labels it shows",
        *about,
        outline(
            tree,
            kind_by_node=[PUBLISHED if yes else ABOVE for yes in shown],
            weight_by_node=with_below(tree, [count_by_label.get(name, 0) for name in tree.labels]),
            told_of_node=told_of_node,
            told_of_rest=lambda nodes: f"and {counted(sum(below[n] for n in nodes), 'label')} more",
        ),
        table(("label", "records"), frequent, caption="The most frequent labels") if frequent else "",
    )


def with_below(tree: Hierarchy, own: Sequence[int]) -> list[int]:
    """Return the sum of each node's own number and of those of all nodes below it."""
    total = list(own)
    for node, above in enumerate(tree.parent.tolist()):
        if above >= 0:
            total[above] += total[node]
    return total


def _legend(seen: set[str]) -> Html:
    keys = [
        element("span", element("span", "label", class_=f"node {kind}"), said, class_="key")
        for kind, said in KEYS.items()
        if kind in seen
    ]
    return element("p", *keys, class_="legend")


def _opened(hierarchy: Hierarchy, weight: Sequence[int], most: int) -> list[_Line]:
    """Return the roots, with the heaviest branches opened while lines are left."""
    roots = _side_by_side(hierarchy, hierarchy.roots, weight, 0, most)
    closed, used = list(roots), len(roots)
    while closed:
        line = max(closed, key=lambda one: (weight[one.nodes[0]], hierarchy.labels[one.nodes[0]]))
        closed.remove(line)
        children = hierarchy.children[line.nodes[0]] if len(line.nodes) == 1 else ()
        room = most - used
        if not children or room < min(2, len(children)):
            continue
        # The first branches must not take all the room; one level more for many says more.
        share = room if not line.depth else max(3, room // 3)
        line.below = _side_by_side(hierarchy, children, weight, line.depth + 1, min(share, room))
        used += len(line.below)
        closed += line.below
    return roots


def _side_by_side(
    hierarchy: Hierarchy, nodes: Sequence[int], weight: Sequence[int], depth: int, most: int
) -> list[_Line]:
    """Return one line a node, heaviest first; where there are too many, the last counts the rest."""
    ordered = sorted(nodes, key=lambda node: (-weight[node], hierarchy.labels[node]))
    if len(ordered) <= most:
        return [_Line((node,), depth) for node in ordered]
    shown = max(most - 1, 0)
    return [*(_Line((node,), depth) for node in ordered[:shown]), _Line(tuple(ordered[shown:]), depth)]
