"""What became of the originals, for the holder of the data: loss, changes, what is left out, the cut.

The loss is exact, with its distance from the best, branch by branch. Every line names items that the
release need not show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...distinct import count_distinct
from ...measure.branches import BranchLosses
from ...measure.scores import Scores
from ...model.costs import cost_title, make_cost
from ...progress import where_time_went
from ...release.header import UNKNOWN_OPTIMUM
from ...release.recoding import BeforeAfter
from ...release.release import Release, dropped_words, empty_words
from ..html import (
    ABOVE,
    HIDDEN,
    LEFT_OUT,
    PUBLISHED,
    Content,
    Html,
    bar,
    element,
    first_of,
    join,
    label,
    outline,
    paragraph,
    section,
    table,
    terms_and_meanings,
    with_below,
)
from .sections import counted, in_percent

FEW_BRANCHES, MOST_BRANCHES = 5, 15
MOST_CHANGES, MOST_ITEMS, MOST_LEFT_OUT = 25, 6, 40


def loss_part(
    release: Release,
    branches: BranchLosses | None,
    scores: Scores | None,
    seconds: Mapping[str, float] | None,
) -> Html:
    """Return the exact losses, how far from the best they are, and where they come from."""
    pairs: list[tuple[Content, Content]] = []
    for name, loss in release.all_losses.items():
        exactly = f"{float(loss):.6f}, exactly {loss.numerator:,}/{loss.denominator:,}"
        pairs.append((cost_title(name), join((bar(float(loss)), exactly))))
    objective, items = release.objective, release.suppressed_items
    kept = counted(release.occurrences, "occurrence")
    run = f"{release.method}, {release.seconds:.2f} s"
    run += "" if release.complete else ", cut short by the time limit"
    run += "".join(f", {name} = {value}" for name, value in sorted(release.options.items()))
    pairs += [
        ("Distance from the best", UNKNOWN_OPTIMUM if objective is None else objective.told(6)),
        ("Kept", f"{release.unchanged:,} of {kept} under their own label"),
    ]
    if items:
        gone = counted(release.suppressed, "occurrence")
        pairs.append(("Left out", f"{counted(items, 'item')} with {gone}"))
    if release.dropped:
        pairs.append(("Dropped", dropped_words(len(release.dropped))))
    if release.empty_records:
        pairs.append(("Empty", empty_words(release)))
    pairs.append(("Run", run))
    if seconds is not None:
        pairs.append(("Time", where_time_went(seconds)))
    parts: list[Content] = [terms_and_meanings(pairs)]
    if branches is not None:
        parts.append(_branches(branches))
    if scores is not None and len(scores):
        rows = [
            (one.measure.title, one.told, f"{one.measure.goal} is better", one.measure.about)
            for one in scores.scores
        ]
        heads = ("measure", "#value", "goal", "what it means")
        parts.append(table(heads, rows, caption="All measures"))
    return section("loss", "What was lost, exactly", *parts)


def _branches(found: BranchLosses) -> Html:
    # The first depth that has some branches to compare.
    depths = range(found.hierarchy.height + 1)
    telling = next((depth for depth in depths if len(found.level(depth)) >= FEW_BRANCHES), None)
    worst = found.worst_branches(MOST_BRANCHES, depth=telling)
    if not worst:
        return Html("")
    rows: list[tuple[Content, ...]] = [
        (
            label(branch.label),
            bar(float(branch.shares["ncp"])),
            in_percent(float(branch.shares["ncp"])),
            f"{float(branch.own_losses['ncp']):.3f}",
            f"{branch.occurrences:,}",
            f"{branch.unchanged:,}",
            f"{branch.suppressed:,}",
        )
        for branch in worst
    ]
    heads = ("branch", "", "#of the loss", "#own NCP", "#occurrences", "#kept", "#left out")
    return table(heads, rows, caption="Where the loss is, worst branches first")


@dataclass(frozen=True)
class Change:
    """A category and the items it stands for; `lost` is its share of the whole loss (NCP)."""

    label: str
    items: tuple[tuple[str, int], ...]
    lost: float

    @property
    def occurrences(self) -> int:
        return sum(count for _, count in self.items)


def generalized(pair: BeforeAfter) -> tuple[Change, ...]:
    """Return the categories that stand for other labels, those that cost most first."""
    tree, width = pair.hierarchy, pair.hierarchy.n_leaves
    nodes, leaves = pair.node_of_occurrence, pair.rows.leaves
    changed = (nodes >= 0) & (nodes != leaves)
    keys, counts = count_distinct(nodes[changed].astype(np.int64) * width + leaves[changed])
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
    leaves, counts = count_distinct(gone)
    named = zip(leaves.tolist(), counts.tolist(), strict=True)
    return tuple(sorted(((pair.hierarchy.labels[leaf], n) for leaf, n in named), key=_heaviest))


def _heaviest(named: tuple[str, int]) -> tuple[int, str]:
    return -named[1], named[0]


def changes_part(changes: Sequence[Change]) -> Html:
    """Return which categories stand for which items, those that cost most first."""
    if not changes:
        said = paragraph("Nothing: every item that is published stands under its own label.")
        return section("changes", "What was generalized to what", said)

    def row(name: Content, stands_for: Content, alike: Sequence[Change]) -> tuple[Content, ...]:
        # A label over its count: one column less, so that the table fits on a phone.
        occurrences = counted(sum(change.occurrences for change in alike), "occurrence")
        over = join((name, element("span", occurrences, class_="note")))
        return over, stands_for, in_percent(sum(change.lost for change in alike))

    rows = [
        row(label(change.label), join(_with_counts(change.items, MOST_ITEMS), ", "), [change])
        for change in changes[:MOST_CHANGES]
    ]
    rest = changes[MOST_CHANGES:]
    if rest:
        rows.append(row(f"and {len(rest):,} more", "", rest))
    return section(
        "changes",
        "What was generalized to what",
        paragraph("What costs most stands first. In brackets: in how many records the item so stands."),
        table(
            ("published", "stands for", "#of the loss"),
            rows,
            caption="Categories in the release and the items they stand for",
        ),
    )


def _with_counts(items: Sequence[tuple[str, int]], most: int, noun: str = "") -> list[Content]:
    return first_of(
        [
            join((label(name), f" ({counted(count, noun) if noun else f'{count:,}'})"))
            for name, count in items
        ],
        most,
    )


def left_out_part(gone: Sequence[tuple[str, int]], dropped: int) -> Html:
    """Return which items are left out; an empty text where none is."""
    if not gone:
        return Html("")
    return section(
        "left-out",
        "What was left out",
        paragraph("Items with the number of records that held them. The release does not name them."),
        paragraph(join(_with_counts(gone, MOST_LEFT_OUT, "record"), ", ")),
        paragraph(f"{dropped_words(dropped)}." if dropped else "No record was dropped for it."),
    )


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
    labels = with_below(tree, [int(kind == PUBLISHED) for kind in kinds])
    weight = with_below(tree, [*pair.count_by_leaf.tolist(), *[0] * (len(tree) - tree.n_leaves)])

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
        paragraph("The numbers are those of the original records. The most frequent stand first."),
        outline(
            tree,
            kind_by_node=kinds,
            weight_by_node=weight,
            told_of_node=told,
            told_of_rest=told_of_rest,
        ),
    )
