"""What became of the items: which stand under another label, which are left out, and how often.

For the holder's eyes alone: every line names items that the release does not show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..distinct import count_distinct
from ..model.costs import make_cost
from ..release.apply import BeforeAfter
from ..release.release import dropped_words
from .html import Content, Html, element, join, label, section, table
from .sections import counted, in_percent

MOST_CHANGES, MOST_ITEMS, MOST_LEFT_OUT = 25, 6, 40


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
        said = element("p", "Nothing: every item that is published stands under its own label.")
        return section("changes", "What was generalized to what", said)
    rows: list[tuple[Content, ...]] = [
        (
            _counted_label(label(change.label), change.occurrences),
            _items(change.items),
            in_percent(change.lost),
        )
        for change in changes[:MOST_CHANGES]
    ]
    rest = changes[MOST_CHANGES:]
    if rest:
        rows.append(
            (
                _counted_label(f"and {len(rest):,} more", sum(change.occurrences for change in rest)),
                "",
                in_percent(sum(change.lost for change in rest)),
            )
        )
    return section(
        "changes",
        "What was generalized to what",
        element(
            "p", "What costs most stands first. In brackets: in how many records the item so stands."
        ),
        table(
            ("published", "stands for", "#of the loss"),
            rows,
            caption="Categories in the release and the items they stand for",
        ),
    )


def _counted_label(name: Content, occurrences: int) -> Html:
    """Return a label over its count: one column less, so that the table fits on a phone."""
    return join((name, element("span", counted(occurrences, "occurrence"), class_="note")))


def _items(items: Sequence[tuple[str, int]]) -> Html:
    named = [join((label(name), f" ({count:,})")) for name, count in items[:MOST_ITEMS]]
    if len(items) > MOST_ITEMS:
        named.append(Html(f"and {len(items) - MOST_ITEMS:,} more"))
    return join(named, ", ")


def left_out_part(gone: Sequence[tuple[str, int]], dropped: int) -> Html:
    """Return which items are left out; an empty text where none is."""
    if not gone:
        return Html("")
    named = [
        join((label(name), f" ({counted(count, 'record')})")) for name, count in gone[:MOST_LEFT_OUT]
    ]
    if len(gone) > MOST_LEFT_OUT:
        named.append(Html(f"and {len(gone) - MOST_LEFT_OUT:,} more"))
    said = f"{dropped_words(dropped)}." if dropped else "No record was dropped for it."
    return section(
        "left-out",
        "What was left out",
        element(
            "p", "Items with the number of records that held them. The release does not name them."
        ),
        element("p", join(named, ", ")),
        element("p", said),
    )
