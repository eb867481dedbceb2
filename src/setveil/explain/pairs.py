"""Why a value of two data sets was raised: the patterns that would show if it were not.

All its raised occurrences are published as itself again, in both data sets and all else unchanged, and
the two are mined as the promise reads them. No pattern was there before, so whatever is found now is
what the value was raised for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..hierarchy.tree import Hierarchy
from ..measure.pairs import FEW_SETS, as_read, patterns_of
from ..mining.emerging import EmergingPattern, EmergingPatterns
from ..model.guarantees import HiddenPatterns
from ..model.numbers import counted
from ..plain import Plain
from ..progress import Watch
from ..release.pair_release import PairRelease
from . import NOTHING, Answer, Patterns, Question, Share, node_of, shares_of


@dataclass(frozen=True)
class Side(Plain):
    """A data set: how many `records` of how many `of` hold the value, and what it is published as."""

    name: str
    records: int
    of: int
    shares: tuple[Share, ...]

    def __str__(self) -> str:
        held = f"in {self.records:,} of {counted(self.of, 'record')} of {self.name}"
        if not self.shares:
            return held
        return f"{held}: " + ", ".join(
            f"{share.occurrences:,} as {share.published_as!r}" for share in self.shares
        )


@dataclass(frozen=True)
class ValueExplanation(Answer):
    """Why a value of two data sets is published as it is.

    `raised` is how many of its occurrences are published as something more general; `patterns` are
    those that would show if they were published as itself, the most frequent first, None where too many
    sets of values are frequent to tell.
    """

    label: str
    guarantee: HiddenPatterns
    sides: tuple[Side, Side]
    raised: int
    patterns: Patterns | None
    conclusion: str

    def head(self) -> str:
        if not self.raised:
            return f"{self.label!r} is raised in no record."
        return f"{self.label!r} is raised in {counted(self.raised, 'record')}."

    def details(self) -> Iterator[str]:
        yield from map(str, self.sides)
        if self.patterns is not None and self.patterns.total:
            found = counted(self.patterns.total, "pattern")
            yield f"as {self.label!r} in all of them: {found} would appear"
            yield from (f"  {line}" for line in self.patterns.lines())


@dataclass(frozen=True)
class Appearing(Plain):
    """A pattern that would appear, with how many records of either data set would hold it."""

    pattern: EmergingPattern
    other: str

    def as_dict(self) -> dict[str, object]:
        return self.pattern.as_dict()

    def __str__(self) -> str:
        found = self.pattern
        here = f"{found.count:,} of {counted(found.records, 'record')} of {found.more_frequent_in}"
        there = (
            f"{found.count_elsewhere:,} of {counted(found.records_elsewhere, 'record')} of {self.other}"
        )
        grown = "only there" if found.is_jumping else f"growth {found.told_growth}"
        return f"{' + '.join(found.items)}: {here}, {there}; {grown}"


def explain_values(
    release: PairRelease, labels: Sequence[Question], *, top: int, watch: Watch
) -> tuple[ValueExplanation, ...]:
    """Return why values of two data sets are published as they are."""
    nodes = [node_of(release.hierarchy, release.pair.columns, label) for label in labels]
    return tuple(_explained(release, node, top, watch) for node in nodes)


def _explained(release: PairRelease, node: int, top: int, watch: Watch) -> ValueExplanation:
    tree, pair, guarantee = release.hierarchy, release.pair, release.guarantee
    first, end = int(tree.first_leaf[node]), int(tree.end_leaf[node])
    names = pair.different_names
    sides, nodes, raised = [], [], 0
    for name, rows, published in zip(names, pair.sides, release.recoding.node_by_entry, strict=True):
        asked = (rows.leaves >= first) & (rows.leaves < end)
        is_raised = asked & (tree.depth[published] < tree.depth[node])
        record = np.repeat(np.arange(len(rows)), np.diff(rows.indptr))
        raised += len(np.unique(record[is_raised]))
        nodes.append(np.where(is_raised, node, published).astype(np.int32))
        shares = shares_of(tree, published[asked], rows.leaves[asked])
        sides.append(Side(name, len(np.unique(record[asked])), len(rows), shares))
    patterns: Patterns | None = Patterns()
    if raised:
        watch.tick("explain: which patterns would appear", None)
        both = as_read(pair, (nodes[0], nodes[1]), guarantee)
        found = patterns_of(
            both, guarantee, guarantee.min_support, "closed", FEW_SETS, names=names, watch=watch
        )
        patterns = None if found is None else _most_frequent(tree, found, top, guarantee)
    return ValueExplanation(
        tree.labels[node],
        guarantee,
        (sides[0], sides[1]),
        raised,
        patterns,
        _conclusion(release, raised, patterns),
    )


def _most_frequent(
    tree: Hierarchy, found: EmergingPatterns, top: int, guarantee: HiddenPatterns
) -> Patterns:
    """Return the patterns in most records first; labels above others of a pattern say nothing more."""
    records = np.array(found.records, dtype=np.int64)
    order = np.argsort(-found.sets.support * records[1 - found.side_by_pattern], kind="stable")
    shown = []
    for place in order[:top].tolist():
        pattern = found[place]
        if guarantee.every_level:
            above = {upper for label in pattern.items for upper in tree.path(label)[1:]}
            pattern = replace(pattern, items=tuple(i for i in pattern.items if i not in above))
        shown.append(Appearing(pattern, found.names[1 - found.names.index(pattern.more_frequent_in)]))
    return Patterns(tuple(shown), len(found))


def _conclusion(release: PairRelease, raised: int, patterns: Patterns | None) -> str:
    if not raised:
        return NOTHING
    if patterns is None:
        return "too many sets of values are frequent to tell which patterns would appear."
    if patterns.total:
        return (
            "forced, as long as all else is as it is: published as itself it would show what the "
            "release hides."
        )
    return (
        "nothing forces it any more: published as itself, all else unchanged, no pattern would appear; "
        f"{release.method} did not give it back all the same."
    )
