"""Pictures of `trim` and `auto`, on the running example of Liu and Wang."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from docs.suppression_pictures import COST, ENGINE, GOAL, TREE
from setveil.methods import auto, optimal, trim
from setveil.methods.outcome import Outcome
from setveil.progress import Watch
from setveil.report.drawing import Drawing
from setveil.report.palette import CHOSEN, INK, MUTED, PLAIN, RARE, REMARK, Style
from setveil.report.tree_picture import place_tree, styles_of


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


PICTURES: dict[str, Callable[[], str]] = {"trim": trim_picture, "auto": auto_picture}
