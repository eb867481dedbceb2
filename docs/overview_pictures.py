"""Pictures of the whole: a few baskets before and after, and a large hierarchy in summary."""

from __future__ import annotations

from collections.abc import Callable

import setveil as sv
from docs.method_pictures import chips
from setveil.io.demo import groceries
from setveil.report.drawing import (
    CHOSEN,
    GREEN,
    INK,
    MINT,
    MUTED,
    PLAIN,
    PUBLISHED,
    RARE,
    RULE,
    SHADE,
    VERMILION,
    Drawing,
    Style,
)
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


def way() -> str:
    """Return the way of a release: found by one half of the code, judged by the other."""
    sheet = Drawing(
        1000,
        300,
        title="The way of a release",
        description="Read, search, apply, write to a hidden folder; then an independent audit decides.",
    )
    steps = (
        ("records", "hierarchy", "as they came", PLAIN),
        ("read", "io", "line by line", PLAIN),
        ("search", "methods, engines", "find a recoding", PLAIN),
        ("apply", "release", "sort what is published", PLAIN),
        ("write", "io", "to a hidden folder", PLAIN),
        ("audit", "audit", "read back and count", CHOSEN),
    )
    width, step = 130, 162
    sheet.heading(24, 36, "One half finds, the other judges")
    sheet.box(12, 58, 5 * step + 0, 140, Style(SHADE, RULE, INK), radius=10)
    sheet.box(5 * step + 20, 58, 158, 140, Style(MINT, GREEN, INK), radius=10)
    for place, (name, where, what, style) in enumerate(steps):
        x = 24 + place * step + (8 if place == 5 else 0)
        sheet.label_box(x, 78, width, 54, name, style, note=where, size=15)
        sheet.text(x + width / 2, 158, what, size=12, colour=MUTED, anchor="middle")
        if place:
            sheet.line(x - (40 if place == 5 else 31), 105, x - 3, 105, colour=MUTED, arrow=True)
    sheet.text(24, 186, "shares no code with the audit", size=12, colour=MUTED)
    sheet.text(5 * step + 32, 186, "sees the files only", size=12, colour=INK)
    yes, no = 5 * step + 32, 5 * step - 330
    sheet.line(yes + 65, 198, yes + 65, 228, colour=GREEN, weight=2, arrow=True)
    sheet.label_box(yes, 232, width, 44, "release/", PUBLISHED, note="yes: put into place", size=14)
    sheet.line(yes + 14, 198, no + 212, 254, colour=VERMILION, dashed=True, arrow=True)
    sheet.label_box(no, 232, 208, 44, "nothing", RARE, note="no: a bug, exit code 70", size=14)
    return sheet.svg()


PICTURES: dict[str, Callable[[], str]] = {
    "before-after": before_after,
    "groceries": large_hierarchy,
    "way": way,
}
