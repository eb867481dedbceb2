"""Other cuts than the one that was published: what would be wrong with them, and what could give way.

A release keeps its promise. Publish one label finer, all else unchanged, and it may not: the patterns
that would break it are the reason why the label is published as it is. `split_down` and `raised_to`
make such a cut, `breaches` asks an engine what it would break, `strongest` how much of the promise it
would still keep.

`find_concessions` looks for a small set of other labels that would have to give way for a label to be
published as it is. The patterns that stand against the label are hit one after the other, the label
that is in most of them first, and once more the one that costs least for each it hits; the cheaper
answer is taken. Each label gives way in the cheaper of two manners: it is left out, or published as the
nearest label above it that brings all its patterns to k records. Leaving out and, for k^m-anonymity,
raising can only mend, so asking the engine again after each round ends with a cut that keeps the
promise. In the end whatever turns out not to be needed is taken back, so that the set is minimal; it
need not be the smallest or the cheapest there is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from ..engines.base import Engine, padded
from ..hierarchy.tree import Hierarchy
from ..model.costs import make_cost
from ..model.guarantees import Guarantee
from ..progress import Watch
from ..release.recoding import Recoding

MOST = 20
"""Above this many labels that give way the answer helps nobody, and the search ends."""
LIMIT = 200_000
"""How many patterns are looked at in a round."""

Cut = frozenset[int]


@dataclass(frozen=True)
class Breach:
    """A pattern against the promise: nodes present, nodes absent, and how many records fit.

    Where the pattern points at a sensitive or private item too surely, `secret` is its node and
    `with_secret` counts the fitting records that hold it.
    """

    present: tuple[int, ...]
    absent: tuple[int, ...]
    support: int
    secret: int | None = None
    with_secret: int = 0

    @property
    def nodes(self) -> tuple[int, ...]:
        """All nodes that take part; without any one of them there is no breach."""
        secret = () if self.secret is None else (self.secret,)
        return (*self.present, *self.absent, *secret)


def node_above(hierarchy: Hierarchy, cut: Cut, node: int) -> int | None:
    """Return the node of a cut at or above `node`; None where there is none."""
    return next((upper for upper in (node, *hierarchy.ancestors(node)) if upper in cut), None)


def nodes_below(hierarchy: Hierarchy, cut: Cut, node: int) -> list[int]:
    """Return the nodes of a cut strictly below `node`, in the order of their leaves."""
    nodes = np.array(sorted(cut), dtype=np.int32)
    start = hierarchy.first_leaf[nodes]
    inside = (start >= hierarchy.first_leaf[node]) & (start < hierarchy.end_leaf[node])
    below = inside & (hierarchy.depth[nodes] > hierarchy.depth[node])
    return [int(lower) for lower in nodes[below][np.argsort(start[below], kind="stable")]]


def split_down(hierarchy: Hierarchy, cut: Cut, upper: int, node: int) -> Cut:
    """Return the cut with `upper` split as far as `node` needs; what hangs off the way stays whole.

    >>> toy = Hierarchy.from_parents({"a": "A", "b": "A", "c": "T", "A": "T", "T": None})
    >>> [toy.labels[n] for n in sorted(split_down(toy, frozenset({4}), 4, 0))]
    ['a', 'b', 'c']
    """
    parts = set(cut) - {upper}
    here = node
    while here != upper:
        above = int(hierarchy.parent[here])
        parts |= set(hierarchy.children[above]) - {here}
        here = above
    return frozenset(parts | {node})


def raised_to(hierarchy: Hierarchy, cut: Cut, node: int) -> Cut:
    """Return the cut with `node` published in place of whatever is published under it."""
    return cut.difference(nodes_below(hierarchy, cut, node)) | {node}


def breaches(
    engine: Engine, cut: Cut, guarantee: Guarantee, *, limit: int | None = None
) -> tuple[list[Breach], bool]:
    """Return what publishing `cut` would break, smaller patterns first, and whether this is all."""
    recoding = Recoding.from_cut(engine.hierarchy, sorted(cut))
    found = engine.violations(recoding, guarantee, limit=limit)
    absent = found.absent.tolist() if found.absent is not None else [[]] * len(found)
    patterns = [
        Breach(_nodes(line), _nodes(without), support)
        for line, without, support in zip(
            found.sets.tolist(), absent, found.support.tolist(), strict=True
        )
    ]
    if guarantee.secret_labels:
        patterns = _with_secrets(engine, cut, guarantee, patterns)
    patterns.sort(key=lambda breach: (len(breach.nodes), breach.support))
    return patterns, found.complete


def _nodes(line: list[int]) -> tuple[int, ...]:
    return tuple(node for node in line if node >= 0)


def _with_secrets(
    engine: Engine, cut: Cut, guarantee: Guarantee, patterns: list[Breach]
) -> list[Breach]:
    """Tell of each pattern which items it gives away; a rare one stays as it is."""
    number = engine.hierarchy.node_of_label
    named = guarantee.secret_labels
    secrets = sorted(cut.intersection(number[label] for label in named if label in number))
    told: list[Breach] = []
    for secret in secrets:
        together = engine.supports(padded([[*breach.present, secret] for breach in patterns]))
        told += [
            replace(breach, secret=secret, with_secret=count)
            for breach, count in zip(patterns, together.tolist(), strict=True)
            if count > guarantee.share * breach.support
        ]
    return told + [breach for breach in patterns if breach.support < guarantee.crowd]


def strongest(engine: Engine, cut: Cut, guarantee: Guarantee) -> tuple[int | None, int | None]:
    """Return the largest k (or l) and the largest m (or p) that a cut which breaks more would keep.

    Each with the other as it is; None where not even the weakest promise is kept.
    """
    known = guarantee.known_at_most
    if known is None:
        return None, None
    recoding = Recoding.from_cut(engine.hierarchy, sorted(cut))

    def keeps(weaker: Callable[[int], Guarantee]) -> Callable[[int], bool]:
        return lambda number: not len(engine.violations(recoding, weaker(number), limit=1))

    return (
        _largest(2, guarantee.least_support - 1, keeps(guarantee.with_strength)),
        _largest(1, known - 1, keeps(guarantee.with_knowledge)),
    )


def _largest(low: int, high: int, keeps: Callable[[int], bool]) -> int | None:
    """Return the largest number from low to high that is kept, where every lower one is too."""
    best = None
    while low <= high:
        middle = (low + high) // 2
        if keeps(middle):
            best, low = middle, middle + 1
        else:
            high = middle - 1
    return best


def records_with(engine: Engine, nodes: Iterable[int]) -> list[int]:
    """Return in how many records each node is."""
    return [int(count) for count in engine.supports(np.array([[node] for node in nodes], np.int32))]


@dataclass(frozen=True)
class Concession:
    """A node that gives way: published as the node `instead`, or left out where that is None."""

    node: int
    instead: int | None


@dataclass(frozen=True)
class Bargain:
    """What gives way, and how it ended: "enough", "impossible", or "many" where the search gave up."""

    outcome: str
    given: tuple[Concession, ...] = ()


def find_concessions(
    engine: Engine, cut: Cut, guarantee: Guarantee, kept: frozenset[int], watch: Watch
) -> Bargain:
    """Return what has to give way so that `kept`, nodes of `cut`, can stay.

    The cut, which shall be published, may break the promise.
    """
    table = _Table(engine, guarantee, kept, watch, Ledger(engine))
    bargains = [table.strike(cut, cheapest_first=cheapest) for cheapest in (False, True)]
    enough = [bargain for bargain in bargains if bargain.outcome == "enough"]
    return min(
        enough or bargains, key=lambda bargain: table.ledger.ncp(after(engine, cut, bargain.given))
    )


def after(engine: Engine, cut: Cut, given: Iterable[Concession]) -> Cut:
    """Return the cut in which these nodes have given way."""
    for concession in given:
        if concession.instead is None:
            cut = cut - {concession.node}
        else:
            cut = raised_to(engine.hierarchy, cut, concession.instead)
    return cut


class Ledger:
    """What cuts cost in NCP, as integers until the last division."""

    def __init__(self, engine: Engine) -> None:
        self.hierarchy = engine.hierarchy
        self.cost = make_cost("ncp", engine.hierarchy)
        self.counts = engine.item_counts()
        self._running = np.concatenate(([0], np.cumsum(self.counts)))

    def _under(self, node: int) -> int:
        """Return the occurrences of all leaves under a node."""
        tree = self.hierarchy
        return int(self._running[tree.end_leaf[node]] - self._running[tree.first_leaf[node]])

    def price_of_loss(self, node: int) -> int:
        """Return what it adds to leave out a node that is published."""
        return (self.cost.scale - int(self.cost.unit_by_node[node])) * self._under(node)

    def price_of_raising(self, cut: Cut, node: int) -> int:
        """Return what it adds to publish a node in place of what a cut publishes under it."""
        below = nodes_below(self.hierarchy, cut, node)
        unit, whole = self.cost.unit_by_node, self._under(node)
        now = sum(int(unit[lower]) * self._under(lower) for lower in below)
        now += self.cost.scale * (whole - sum(self._under(lower) for lower in below))
        return int(unit[node]) * whole - now

    def ncp(self, cut: Cut) -> Fraction:
        """Return the NCP of a cut; what it does not cover is lost."""
        unit = self.cost.unit_by_node
        kept = sum(self._under(node) for node in cut)
        lost = sum(int(unit[node]) * self._under(node) for node in cut)
        lost += self.cost.scale * (int(self.counts.sum()) - kept)
        return self.cost.share(lost, self.counts)


@dataclass(frozen=True, eq=False)
class _Table:
    """Where bargains are struck: the promise, and the nodes that do not give way."""

    engine: Engine
    guarantee: Guarantee
    kept: frozenset[int]
    watch: Watch
    ledger: Ledger

    def strike(self, cut: Cut, *, cheapest_first: bool) -> Bargain:
        """Return the concessions that one order of choosing leads to."""
        covers = self.engine.hierarchy.covers
        given: list[Concession] = []
        now = cut
        while True:
            self.watch.tick("explain: what would have to give way", None)
            found, _ = breaches(self.engine, now, self.guarantee, limit=LIMIT)
            if not found:
                return Bargain("enough", tuple(self._needed(cut, given)))
            if any(self.kept.issuperset(breach.nodes) for breach in found):
                return Bargain("impossible")
            for one in self._one_round(now, found, cheapest_first):
                if one.instead is not None:
                    given = [old for old in given if not covers(one.instead, old.node)]
                given.append(one)
                now = after(self.engine, now, [one])
                if len(given) > MOST:
                    return Bargain("many")

    def _one_round(self, cut: Cut, found: list[Breach], cheapest_first: bool) -> Iterator[Concession]:
        """Yield concessions until every pattern of the round is hit; what is left over comes again."""
        hierarchy, ledger = self.engine.hierarchy, self.ledger
        first = hierarchy.first_leaf.tolist()
        while found:
            hits = Counter(node for breach in found for node in set(breach.nodes) - self.kept)
            price = {other: ledger.price_of_loss(other) for other in hits}
            order: dict[int, tuple[Fraction | int, ...]] = {
                other: (Fraction(price[other], hits[other]),)
                if cheapest_first
                else (-hits[other], price[other])
                for other in hits
            }
            node = min(hits, key=lambda other: (*order[other], int(hierarchy.label_rank[other])))
            upper = self._mending(node, [breach for breach in found if node in breach.nodes])
            if upper is not None and ledger.price_of_raising(cut, upper) > ledger.price_of_loss(node):
                upper = None
            concession = Concession(node, upper)
            yield concession
            cut = after(self.engine, cut, [concession])
            # Nodes of one cut: those at or under the top are those whose leaves are.
            top = node if upper is None else upper
            start, end = first[top], int(hierarchy.end_leaf[top])
            found = [each for each in found if not any(start <= first[n] < end for n in each.nodes)]

    def _mending(self, node: int, mine: list[Breach]) -> int | None:
        """Return the nearest node above `node` that brings its patterns to k records, if any does."""
        if not self.guarantee.monotone:
            return None
        hierarchy, least = self.engine.hierarchy, self.guarantee.least_support
        for upper in hierarchy.ancestors(node):
            if any(hierarchy.covers(upper, other) for other in self.kept):
                return None
            sets = [
                [upper, *(other for other in breach.present if not hierarchy.covers(upper, other))]
                for breach in mine
            ]
            if (self.engine.supports(padded(sets), enough=least) >= least).all():
                return upper
        return None

    def _needed(self, cut: Cut, given: list[Concession]) -> list[Concession]:
        """Return the concessions without those that nothing depends on, last come first gone."""
        for concession in list(reversed(given)) if len(given) > 1 else []:
            self.watch.tick("explain: what would have to give way", None)
            fewer = [other for other in given if other is not concession]
            remaining = after(self.engine, cut, fewer)
            if not breaches(self.engine, remaining, self.guarantee, limit=1)[0]:
                given = fewer
        return given
