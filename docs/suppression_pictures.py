"""Pictures of the methods that leave items out, and of `auto`, on the example of Liu and Wang.

Cuts, costs, threats and orders come from running the methods; only arrangement and words are made here.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from docs.method_pictures import chips
from setveil.engines.local import LocalEngine
from setveil.hierarchy.tree import Hierarchy
from setveil.methods import Outcome, auto, moles, optimal, topdown, trim
from setveil.methods.topdown import CutSearch, Taxonomy, threats_of_all_cuts
from setveil.model.costs import make_cost
from setveil.model.guarantees import KmAnonymity
from setveil.model.transactions import Transactions
from setveil.progress import Watch
from setveil.release.recoding import Recoding
from setveil.report.drawing import (
    CHOSEN,
    HIDDEN,
    INK,
    MUTED,
    PLAIN,
    PUBLISHED,
    RARE,
    REMARK,
    VERMILION,
    Drawing,
    Style,
)
from setveil.report.tree_picture import place_tree, styles_of

CHILDREN = {"T": "PQei", "P": "HK", "H": "ab", "K": "cd", "Q": "JM", "J": "fg", "M": "xyz"}
ROWS = ("bcd", "afg", "dfyz", "cdfx", "abcfg", "ei", "e", "i")
PARENTS: dict[str, str | None] = {
    **{child: above for above, below in CHILDREN.items() for child in below},
    "T": None,
}
ENGINE = LocalEngine.of(Transactions.from_rows(map(tuple, ROWS)), Hierarchy.from_parents(PARENTS))
TREE = ENGINE.hierarchy
COST = make_cost("lm", TREE)
GOAL = KmAnonymity(2, 5)


def _names(nodes: object) -> list[str]:
    return sorted(TREE.labels[node] for node in np.asarray(nodes).tolist())


def _spent(cost: int) -> str:
    return f"{cost / COST.scale:.1f}"


def hghs() -> str:
    """From the root down: the cheapest child cut, each with what it must leave out."""
    taxonomy = Taxonomy.above(TREE, np.arange(TREE.n_leaves, dtype=np.int32))
    threats = threats_of_all_cuts(ENGINE, taxonomy.nodes, GOAL.k, GOAL.m, most=1000)
    search = CutSearch(taxonomy, threats, COST, ENGINE.item_counts())
    sheet = Drawing(
        960,
        430,
        title="hghs: from the top down, leaving out what stands in the way",
        description="Four cuts from the root downwards, each cheaper than the one before.",
    )
    sheet.heading(24, 34, "Every cut with its own suppression, k = 2", number="1.")
    y = 76.0
    while True:
        steps = search.steps()
        end = chips(sheet, 24, y, _names(search.kept), style=PUBLISHED)
        chips(sheet, end, y, _names(search.suppressed), style=RARE)
        sheet.text(250, y, f"costs {_spent(search.cost)}", size=13)
        node, added = min(steps, key=lambda step: step[1])
        for other, more in steps:
            if other != node or added >= 0:
                y += 24
                told = f"opening {TREE.labels[other]} instead: {_spent(search.cost + more)}"
                sheet.text(250, y, told, size=12, colour=MUTED)
        if added >= 0:
            break
        y += 24
        sheet.line(36, y - 12, 36, y + 8, colour=MUTED, arrow=True)
        sheet.text(52, y + 4, f"open {TREE.labels[node]}", size=12.5)
        search.descend(node)
        y += 34
    sheet.lines(24, y + 36, ["No step costs less: the search ends."], colour=INK)
    sheet.heading(480, 34, "What is published", number="2.")
    styles = styles_of(TREE, search.kept.tolist())
    styles |= dict.fromkeys(search.suppressed.tolist(), RARE)
    place_tree(sheet, TREE, 470, 56, 470, styles=styles)
    sheet.lines(
        480,
        336,
        [
            f"{len(threats)} minimal threats, listed once, serve all cuts. e and i are in one record",
            "together; one of them goes. Without that, everything would become T.",
        ],
    )
    return sheet.svg()


def mhghs() -> str:
    """Rounds: what round i left is the bottom of round i + 1."""
    sheet = Drawing(
        860,
        312,
        title="mhghs: one round for each size of threat",
        description="Three rounds; the cut of each is the lowest that the next may publish.",
    )
    sheet.heading(24, 34, "Each round starts at the root and may not go below the last cut")
    heads = ("round", "nodes in play", "minimal threats", "kept, left out", "cost")
    places = (24, 96, 216, 356, 640)
    for x, head in zip(places, heads, strict=True):
        sheet.text(x, 72, head, size=12, colour=MUTED)
    bottom = np.arange(TREE.n_leaves, dtype=np.int32)
    for size in (1, 2, 3):
        taxonomy = Taxonomy.above(TREE, bottom)
        threats = threats_of_all_cuts(ENGINE, taxonomy.nodes, GOAL.k, size, most=1000)
        search = CutSearch(taxonomy, threats, COST, ENGINE.item_counts())
        while steps := [step for step in search.steps() if step[1] < 0]:
            search.descend(min(steps, key=lambda step: step[1])[0])
        y = 68.0 + 42 * size
        for x, told in zip(places, (size, len(taxonomy.nodes), len(threats)), strict=False):
            sheet.text(x, y, str(told), size=13)
        end = chips(sheet, 356, y, _names(search.kept), style=PUBLISHED)
        chips(sheet, end, y, _names(search.suppressed), style=RARE)
        sheet.text(640, y, _spent(search.cost), size=13)
        bottom = search.cut
    final = topdown.anonymize_rounds(ENGINE, GOAL, cost=COST, watch=Watch())
    assert final.objective is not None
    same = _spent(final.objective.cost)
    sheet.box(24, 222, 640, 68, REMARK)
    sheet.lines(
        38,
        246,
        [
            f"Rounds 4 and 5 change nothing: {same}. Round 2 took J, so f and g are out of reach;",
            "hghs, which sees all threats at once, ends at 5.6. In return the lists stay short.",
        ],
        colour=INK,
    )
    return sheet.svg()


def mm() -> str:
    """Total item suppression: minimal moles, and the item that is in most of them for its cost."""
    whole = ENGINE.violations(Recoding.identity(TREE), GOAL)
    outcome = moles.anonymize(ENGINE, GOAL, cost=COST, watch=Watch())
    gone = set(TREE.labels[: TREE.n_leaves]) - set(_names(outcome.recoding.cut()))
    sheet = Drawing(
        860,
        352,
        title="mm: leave out the items that most rare sets share",
        description="Rare sets of items, the order in which items go, and the records after it.",
    )
    sheet.heading(24, 34, "Minimal moles, k = 2", number="1.")
    lines = [[TREE.labels[node] for node in line if node >= 0] for line in whole.sets.tolist()]
    for place, line in enumerate(lines):
        chips(sheet, 24 + 112 * (place % 2), 76 + 30 * (place // 2), sorted(line), style=RARE)
    sheet.heading(290, 34, "Items go, one by one", number="2.")
    singles = sorted(line[0] for line in lines if len(line) == 1)
    sheet.lines(290, 72, ["moles by themselves:"])
    chips(sheet, 430, 72, singles, style=CHOSEN)
    larger = whole.sets[(whole.sets >= 0).sum(axis=1) > 1]
    order = moles.suppression_order(larger, ENGINE.item_counts(), TREE.label_rank, Watch())
    left = [{TREE.labels[node] for node in line if node >= 0} for line in larger.tolist()]
    y = 112.0
    for item in order:
        label = TREE.labels[item]
        hit = sum(label in line for line in left)
        left = [line for line in left if label not in line]
        chips(sheet, 290, y, [label], style=CHOSEN)
        told = f"in {hit} of them, {int(ENGINE.item_counts()[item])} occurrences"
        sheet.text(326, y, told, size=12.5)
        y += 32
    sheet.text(290, y, "no mole is left", size=12.5, colour=VERMILION)
    sheet.heading(570, 34, "What is published", number="3.")
    for place, row in enumerate(ROWS):
        end = chips(sheet, 570, 76 + 30 * place, [x for x in row if x not in gone], style=PUBLISHED)
        chips(sheet, end, 76 + 30 * place, [x for x in row if x in gone], style=HIDDEN)
    lost = sum(x in gone for row in ROWS for x in row)
    total = sum(len(row) for row in ROWS)
    sheet.lines(
        24, 332, [f"{lost} of {total} occurrences are lost; those shown are exactly as they were."]
    )
    return sheet.svg()


def _tree(sheet: Drawing, x: float, outcome: Outcome) -> None:
    published = outcome.recoding.cut().tolist()
    covered = outcome.recoding.node_of_leaf() >= 0
    styles: dict[int, Style] = styles_of(TREE, published)
    styles |= dict.fromkeys(np.flatnonzero(~covered).tolist(), RARE)
    place_tree(sheet, TREE, x, 66, 420, styles=styles)


def _loss(outcome: Outcome) -> str:
    assert outcome.objective is not None
    lost = outcome.objective.cost / COST.scale
    return f"loses {lost:.1f} of {int(ENGINE.item_counts().sum())} occurrences (LM), proven"


def trim_picture() -> str:
    """The best cut, and the best antichain: what leaving one item out is worth."""
    whole = optimal.anonymize(ENGINE, GOAL, cost=COST, watch=Watch())
    part = trim.anonymize(ENGINE, GOAL, cost=COST, watch=Watch())
    sheet = Drawing(
        940,
        400,
        title="trim: what leaving a little out is worth",
        description="The best cut of a tree beside the best antichain, which leaves one item out.",
    )
    sheet.heading(24, 34, "Generalization only: the best cut", number="1.")
    _tree(sheet, 16, whole)
    sheet.lines(24, 332, [_loss(whole)], colour=INK)
    sheet.heading(494, 34, "With suppression: the best antichain", number="2.")
    _tree(sheet, 490, part)
    gone = [
        label
        for leaf, label in enumerate(TREE.labels[: TREE.n_leaves])
        if part.recoding.node_of_leaf()[leaf] < 0
    ]
    sheet.lines(494, 332, [_loss(part), f"left out: {', '.join(sorted(gone))}"], colour=INK)
    sheet.lines(24, 372, ["e and i meet in one record only: a cut must hide them both under the root."])
    return sheet.svg()


def auto_picture() -> str:
    """The questions that `auto` asks."""
    sheet = Drawing(
        860,
        250,
        title="auto: which method, and why",
        description="A short decision: suppression, and whether costs are small enough.",
    )
    sheet.heading(24, 34, "What auto asks, in this order")
    rows = (
        ("May rare items be left out?", "trim", "loses least; with or without a hierarchy"),
        ("Otherwise", "optimal", "the best cut, nothing left out"),
        ("Costs too large for the solver?", "mhghs, aa", "the fast methods alone, without a bound"),
    )
    for place, (question, key, why) in enumerate(rows):
        y = 66 + 50 * place
        sheet.label_box(24, y, 330, 30, question, PLAIN)
        sheet.line(354, y + 15, 404, y + 15, colour=MUTED, arrow=True)
        sheet.label_box(410, y, 96, 30, key, CHOSEN)
        sheet.text(522, y + 20, why, size=13)
    choice = auto.choose(ENGINE.hierarchy, suppression=True)
    sheet.box(24, 208, 700, 30, REMARK)
    sheet.lines(
        38, 228, [f"For the example of Liu and Wang: {choice.key}, as {choice.why}."], colour=INK
    )
    return sheet.svg()


PICTURES: dict[str, Callable[[], str]] = {
    "hghs": hghs,
    "mhghs": mhghs,
    "mm": mm,
    "trim": trim_picture,
    "auto": auto_picture,
}
