"""A hierarchy as a picture, with the published labels marked.

Up to `MOST_LEAVES` leaves with short labels the tree is drawn from the top down, one box a node
(`place_tree` puts it on any sheet). Larger ones are drawn from left to right and summarised: the
largest branches are opened while there is room, the others stand as one line that counts what is
under them. So thousands of items give a picture that can still be read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from ..hierarchy.tree import Hierarchy
from ..model.numbers import counted
from ..release.recoding import Recoding
from .drawing import (
    ABOVE,
    HIDDEN,
    MARGIN,
    MUTED,
    PLAIN,
    PUBLISHED,
    RULE,
    Drawing,
    Style,
    cut_to_width,
    text_width,
)

MOST_LEAVES = 16
MOST_LINES = 26
WIDEST = 940.0
BOX_HEIGHT, LEVEL_HEIGHT, GAP = 30.0, 66.0, 14.0
LINE_HEIGHT, COLUMN_WIDTH = 28.0, 200.0


def draw_tree(
    hierarchy: Hierarchy,
    *,
    published: Collection[int] | None = None,
    support_by_node: Mapping[int, int] | None = None,
    title: str = "Hierarchy",
) -> str:
    """Return an SVG of a hierarchy.

    Parameters
    ----------
    hierarchy
        What to draw.
    published
        The nodes that a release publishes; they are marked, and what they hide is drawn pale.
    support_by_node
        In how many records each node is, written below its label where the tree is small.
    title
        The picture's heading.

    >>> from setveil.io.demo import toy
    >>> draw_tree(toy()[1], published=[4, 2, 3]).startswith("<svg")
    True
    """
    marked = frozenset(published) if published is not None else None
    needed = _column(hierarchy) * hierarchy.n_leaves
    if hierarchy.n_leaves <= MOST_LEAVES and needed <= WIDEST:
        width = max(needed, text_width(title, 14), 330) + 2 * MARGIN
        height = 64 + hierarchy.height * LEVEL_HEIGHT + BOX_HEIGHT + 44
        sheet = Drawing(width, height, title=title, description=_in_words(hierarchy, marked))
        sheet.heading(MARGIN, 32, title)
        place_tree(
            sheet,
            hierarchy,
            MARGIN,
            54,
            width - 2 * MARGIN,
            styles=styles_of(hierarchy, marked),
            support_by_node=support_by_node,
        )
        if marked is not None:
            legend(sheet, MARGIN, height - 18)
        return sheet.svg()
    return _draw_summary(hierarchy, marked, title)


def draw_recoding(recoding: Recoding, *, group: int = 0, title: str = "What is published") -> str:
    """Return an SVG of a recoding's hierarchy with the labels that a group of records uses."""
    return draw_tree(recoding.hierarchy, published=recoding.cut(group).tolist(), title=title)


def styles_of(hierarchy: Hierarchy, published: Collection[int] | None) -> dict[int, Style]:
    """Return how each node is drawn: published, hidden below, or above what is published."""
    if published is None:
        return dict.fromkeys(range(len(hierarchy)), PLAIN)
    styles: dict[int, Style] = {}
    for node in range(len(hierarchy) - 1, -1, -1):
        above = int(hierarchy.parent[node])
        if node in published:
            styles[node] = PUBLISHED
        elif above >= 0 and styles[above] in (PUBLISHED, HIDDEN):
            styles[node] = HIDDEN
        else:
            styles[node] = ABOVE if node >= hierarchy.n_leaves else HIDDEN
    return styles


def place_tree(
    sheet: Drawing,
    hierarchy: Hierarchy,
    x: float,
    y: float,
    width: float,
    *,
    styles: Mapping[int, Style],
    support_by_node: Mapping[int, int] | None = None,
    level_height: float = LEVEL_HEIGHT,
) -> dict[int, tuple[float, float]]:
    """Draw a small tree, its leaves evenly spread; return the middle of each node's box."""
    column = width / max(hierarchy.n_leaves, 1)
    height = BOX_HEIGHT + (10 if support_by_node else 0)
    deepest = hierarchy.height
    middle: dict[int, tuple[float, float]] = {}
    for node in range(len(hierarchy)):
        first, end = int(hierarchy.first_leaf[node]), int(hierarchy.end_leaf[node])
        level = deepest if node < hierarchy.n_leaves else int(hierarchy.depth[node])
        middle[node] = (x + column * (first + end) / 2, y + level * level_height + height / 2)
    for node, above in enumerate(hierarchy.parent.tolist()):
        if above >= 0:
            sheet.line(
                middle[above][0], middle[above][1] + height / 2, middle[node][0], middle[node][1]
            )
    for node in range(len(hierarchy)):
        label = hierarchy.labels[node]
        room = column * int(hierarchy.leaf_count[node]) - GAP
        own = min(max(text_width(label, 13) + 22, 44.0), room)
        note = "" if support_by_node is None else f"in {support_by_node[node]}"
        left = middle[node][0] - own / 2
        sheet.label_box(left, middle[node][1] - height / 2, own, height, label, styles[node], note=note)
    return middle


def legend(sheet: Drawing, x: float, y: float) -> None:
    """Explain the three kinds of boxes."""
    for style, text in (
        (PUBLISHED, "published"),
        (HIDDEN, "hidden below"),
        (ABOVE, "above"),
    ):
        sheet.box(x, y - 11, 22, 13, style, radius=3)
        sheet.text(x + 29, y, text, size=11.5, colour=MUTED)
        x += 46 + text_width(text, 11.5)


def _column(hierarchy: Hierarchy) -> float:
    """Return how much room a leaf needs, so that its label and those above fit."""
    widest = max(
        text_width(label, 13) / int(count)
        for label, count in zip(hierarchy.labels, hierarchy.leaf_count.tolist(), strict=True)
    )
    return max(widest + 22 + GAP, 66.0)


def _in_words(hierarchy: Hierarchy, published: frozenset[int] | None) -> str:
    said = f"{hierarchy.n_leaves:,} items in {len(hierarchy) - hierarchy.n_leaves:,} categories."
    if published is not None:
        said += f" {len(published):,} labels are published."
    return said


@dataclass
class Branch:
    """A line of a summary: one node, or several siblings that share a line."""

    nodes: tuple[int, ...]
    depth: int
    below: list[Branch] = field(default_factory=list)

    def lines(self) -> int:
        return max(1, sum(branch.lines() for branch in self.below))

    def deepest(self) -> int:
        return max([self.depth, *(branch.deepest() for branch in self.below)])


def open_branches(
    hierarchy: Hierarchy,
    most: int,
    *,
    lines_of: Callable[[Sequence[int], int], Sequence[tuple[int, ...]]],
    heaviest: Callable[[int], tuple[int, int | str]],
    keeps_line: bool,
) -> list[Branch]:
    """Return the roots, with the heaviest branches opened while up to `most` lines are left.

    `lines_of` puts siblings into a number of lines. A branch that is opened keeps its line in a list;
    in a picture its children stand beside it, and the first of them takes no line more.
    """
    roots = [Branch(nodes, 0) for nodes in lines_of(hierarchy.roots, most)]
    closed, used = list(roots), len(roots)
    while closed:
        branch = max(closed, key=lambda one: heaviest(one.nodes[0]))
        closed.remove(branch)
        children = hierarchy.children[branch.nodes[0]] if len(branch.nodes) == 1 else ()
        room = most - used + (not keeps_line)
        if not children or room < min(2, len(children)):
            continue
        # The first branches must not take all the room; one level more for many says more.
        share = max(3, room // (3 if keeps_line else 2)) if branch.depth else room
        lines = lines_of(children, min(share, room))
        branch.below = [Branch(nodes, branch.depth + 1) for nodes in lines]
        used += len(lines) - (not keeps_line)
        closed += branch.below
    return roots


def _draw_summary(hierarchy: Hierarchy, published: frozenset[int] | None, title: str) -> str:
    leaves = hierarchy.leaf_count.tolist()

    def lines_of(nodes: Sequence[int], most: int) -> Sequence[tuple[int, ...]]:
        """Put each node into a line; where they are too many, the smaller ones share the last."""
        if len(nodes) <= most:
            return [(node,) for node in nodes]
        largest = set(sorted(nodes, key=lambda node: (-leaves[node], node))[: most - 1])
        rest = tuple(node for node in nodes if node not in largest)
        return [*((node,) for node in nodes if node in largest), rest]

    roots = open_branches(
        hierarchy,
        MOST_LINES,
        lines_of=lines_of,
        heaviest=lambda node: (leaves[node], -node),
        keeps_line=False,
    )
    columns = 1 + max(branch.deepest() for branch in roots)
    n_lines = sum(branch.lines() for branch in roots)
    width = 2 * MARGIN + COLUMN_WIDTH * columns + 170
    height = 62 + n_lines * LINE_HEIGHT + 34
    sheet = Drawing(width, height, title=title, description=_in_words(hierarchy, published))
    sheet.heading(MARGIN, 32, title)
    styles = styles_of(hierarchy, published)
    own = COLUMN_WIDTH - 40

    def place(branch: Branch, y: float) -> float:
        """Draw a branch and what is below it; return the height of its middle."""
        x, top = MARGIN + branch.depth * COLUMN_WIDTH, y
        middle = y + branch.lines() * LINE_HEIGHT / 2
        for below in branch.below:
            sheet.curve(x + own, middle, x + COLUMN_WIDTH, place(below, top), colour=RULE)
            top += below.lines() * LINE_HEIGHT
        alone = len(branch.nodes) == 1
        name = hierarchy.labels[branch.nodes[0]] if alone else f"and {len(branch.nodes):,} more"
        style = styles[branch.nodes[0]] if alone else PLAIN
        sheet.label_box(x, middle - 11, own, 22, cut_to_width(name, 12, own - 10), style, size=12)
        told = "" if branch.below else _counted(hierarchy, branch, published)
        if told:
            sheet.text(x + own + 10, middle + 4, told, size=11.5, colour=MUTED)
        return middle

    y = 54.0
    for branch in roots:
        place(branch, y)
        y += branch.lines() * LINE_HEIGHT
    if published is not None:
        legend(sheet, MARGIN, height - 16)
    return sheet.svg()


def _counted(hierarchy: Hierarchy, branch: Branch, published: frozenset[int] | None) -> str:
    if branch.nodes[0] < hierarchy.n_leaves and len(branch.nodes) == 1:
        return ""
    items = counted(sum(int(hierarchy.leaf_count[node]) for node in branch.nodes), "item")
    if published is None:
        return items
    labels = sum(any(hierarchy.covers(top, node) for top in branch.nodes) for node in published)
    return f"{items}, {counted(labels, 'label')}" if labels else items
