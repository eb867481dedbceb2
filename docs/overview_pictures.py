"""Pictures of the whole: a few baskets before and after, and a large hierarchy in summary."""

from __future__ import annotations

from collections.abc import Callable

import setveil as sv
from docs.method_pictures import chips
from setveil.io.demo import groceries
from setveil.report.drawing import Drawing
from setveil.report.palette import MUTED, PUBLISHED, RARE, VERMILION
from setveil.report.tree_picture import draw_recoding, legend, place_tree, styles_of

BASKETS = (
    ("beer", "nappies"),
    ("wine", "nappies"),
    ("cider", "nappies"),
    ("beer", "bread"),
    ("wine", "bread"),
    ("cider", "bread"),
    ("bread", "milk"),
    ("bread", "milk"),
    ("bread", "milk"),
)
PATHS = (
    ("beer", "alcohol", "drinks", "ALL"),
    ("cider", "alcohol", "drinks", "ALL"),
    ("wine", "alcohol", "drinks", "ALL"),
    ("milk", "drinks", "ALL"),
    ("bread", "household", "ALL"),
    ("nappies", "household", "ALL"),
)
GOAL = sv.KmAnonymity(k=3, m=2)


def before_after() -> str:
    """Return nine baskets, the hierarchy with its cut, and the nine published baskets."""
    release = sv.anonymize(
        sv.Transactions.from_rows(BASKETS), GOAL, hierarchy=sv.Hierarchy.from_paths(PATHS)
    )
    recoding, hierarchy = release.recoding, release.hierarchy
    node_of_leaf = recoding.node_of_leaf()
    sheet = Drawing(
        1000,
        412,
        title="Before and after: 3^2-anonymity",
        description="Beer, cider and wine are published as alcohol; each pair is in 3 baskets or none.",
    )
    sheet.heading(24, 36, "Before")
    sheet.heading(286, 36, "What is published")
    sheet.heading(786, 36, "After")
    for place, basket in enumerate(BASKETS):
        y = 78 + place * 31
        alone = sum(set(basket) <= set(other) for other in BASKETS) < GOAL.k
        end = chips(sheet, 24, y, basket, marked=basket if alone else ())
        if alone:
            sheet.text(end + 4, y, "1 person", size=12, colour=VERMILION)
    for place, basket in enumerate(release.published.rows()):
        chips(sheet, 786, 78 + place * 31, basket, style=PUBLISHED)
    sheet.line(230, 190, 268, 190, colour=MUTED, arrow=True)
    sheet.line(736, 190, 774, 190, colour=MUTED, arrow=True)
    counts = [set(basket) for basket in BASKETS]
    support = {
        node: sum(
            any(
                hierarchy.covers(node, leaf) and hierarchy.labels[leaf] in basket
                for leaf in range(hierarchy.n_leaves)
            )
            for basket in counts
        )
        for node in range(len(hierarchy))
    }
    place_tree(
        sheet,
        hierarchy,
        272,
        62,
        470,
        styles=styles_of(hierarchy, set(node_of_leaf.tolist())),
        support_by_node=support,
    )
    legend(sheet, 290, 340)
    sheet.box(24, 376, 22, 13, RARE, radius=3)
    sheet.text(
        53,
        388,
        "a pair that singles out a person. Afterwards every label and every pair is in at least "
        f"{GOAL.k} baskets or in none.",
        size=12.5,
        colour=MUTED,
    )
    return sheet.svg()


def large_hierarchy() -> str:
    """Return the demo's groceries in summary, with what method aa publishes at k=5, m=2."""
    baskets, products = groceries()
    release = sv.anonymize(baskets, sv.KmAnonymity(k=5, m=2), hierarchy=products, method="aa")
    return draw_recoding(release.recoding, title="The demo's groceries, method aa, k = 5, m = 2")


PICTURES: dict[str, Callable[[], str]] = {
    "before-after": before_after,
    "groceries": large_hierarchy,
}
