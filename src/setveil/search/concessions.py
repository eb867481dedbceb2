"""What else would have to give way for a label to be published as it is: a small set of others.

The patterns that stand against the label are hit one after the other, the label that is in most of them
first, and once more the one that costs least for each it hits; the cheaper answer is taken. Each label
gives way in the cheaper of two manners: it is left out, or published as the nearest label above it that
brings all its patterns to k records. Leaving out and, for k^m-anonymity, raising can only mend, so
asking the engine again after each round ends with a cut that keeps the promise. In the end whatever
turns out not to be needed is taken back, so that the set is minimal; it need not be the smallest or the
cheapest there is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..engines.base import Engine, padded
from ..model.costs import Cost, make_cost
from ..model.guarantees import Guarantee
from ..progress import Watch
from .alternatives import Breach, Cut, breaches, nodes_below, raised_to

MOST = 20
"""Above this many labels the answer helps nobody, and the search ends."""

LIMIT = 200_000
"""How many patterns are looked at in a round."""


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

    Parameters
    ----------
    engine
        Answers about the records.
    cut
        What shall be published; it may break the promise.
    guarantee
        The promise.
    kept
        Nodes of the cut that do not give way.
    watch
        Progress listener and cancel switch.
    """
    ledger = _Ledger(engine)
    bargains = [
        _struck(engine, ledger, cut, guarantee, kept, watch, cheapest_first=cheapest)
        for cheapest in (False, True)
    ]
    enough = [bargain for bargain in bargains if bargain.outcome == "enough"]
    return min(enough or bargains, key=lambda bargain: ledger.ncp(after(engine, cut, bargain.given)))


def _struck(
    engine: Engine,
    ledger: _Ledger,
    cut: Cut,
    guarantee: Guarantee,
    kept: frozenset[int],
    watch: Watch,
    *,
    cheapest_first: bool,
) -> Bargain:
    """Return the concessions that one order of choosing leads to."""
    given: list[Concession] = []
    now = cut
    while True:
        watch.tick("explain: what would have to give way", None)
        found, _ = breaches(engine, now, guarantee, limit=LIMIT)
        if not found:
            break
        if any(kept.issuperset(breach.nodes) for breach in found):
            return Bargain("impossible")
        for concession in _one_round(engine, ledger, now, guarantee, kept, found, cheapest_first):
            if concession.instead is not None:
                covered = engine.hierarchy.covers
                given = [old for old in given if not covered(concession.instead, old.node)]
            given.append(concession)
            now = _after(engine, now, [concession])
            if len(given) > MOST:
                return Bargain("many")
    return Bargain("enough", tuple(_needed(engine, cut, guarantee, given, watch)))


def after(engine: Engine, cut: Cut, given: tuple[Concession, ...]) -> Cut:
    """Return the cut in which these nodes have given way."""
    return _after(engine, cut, list(given))


def ncp(engine: Engine, cut: Cut) -> Fraction:
    """Return the NCP of publishing a cut; leaves that it does not cover are lost."""
    return _Ledger(engine).ncp(cut)


def _one_round(
    engine: Engine,
    ledger: _Ledger,
    cut: Cut,
    guarantee: Guarantee,
    kept: frozenset[int],
    found: list[Breach],
    cheapest_first: bool,
) -> Iterator[Concession]:
    """Yield concessions until every pattern of the round is hit; what is left over comes again."""
    rank = engine.hierarchy.label_rank
    first = engine.hierarchy.first_leaf.tolist()
    while found:
        hits = Counter(node for breach in found for node in set(breach.nodes) - kept)
        price = {other: ledger.price_of_loss(other) for other in hits}
        order: dict[int, tuple[Fraction | int, ...]] = {
            other: (Fraction(price[other], hits[other]),)
            if cheapest_first
            else (-hits[other], price[other])
            for other in hits
        }
        node = min(hits, key=lambda other: (*order[other], int(rank[other])))
        mine = [breach for breach in found if node in breach.nodes]
        upper = _mending(engine, guarantee, kept, node, mine)
        if upper is not None and ledger.price_of_raising(cut, upper) > ledger.price_of_loss(node):
            upper = None
        concession = Concession(node, upper)
        yield concession
        cut = _after(engine, cut, [concession])
        # Nodes of one cut: those at or under the top are those whose leaves are.
        top = node if upper is None else upper
        start, end = first[top], int(engine.hierarchy.end_leaf[top])
        found = [breach for breach in found if not any(start <= first[n] < end for n in breach.nodes)]


def _mending(
    engine: Engine, guarantee: Guarantee, kept: frozenset[int], node: int, mine: list[Breach]
) -> int | None:
    """Return the nearest node above `node` that brings its patterns to k records; None without one."""
    if not guarantee.monotone:
        return None
    hierarchy = engine.hierarchy
    least = guarantee.least_support
    for upper in hierarchy.ancestors(node):
        if any(hierarchy.covers(upper, other) for other in kept):
            return None
        sets = [
            [upper, *(other for other in breach.present if not hierarchy.covers(upper, other))]
            for breach in mine
        ]
        if (engine.supports(padded(sets), enough=least) >= least).all():
            return upper
    return None


def _after(engine: Engine, cut: Cut, given: list[Concession]) -> Cut:
    for concession in given:
        if concession.instead is None:
            cut = cut - {concession.node}
        else:
            cut = raised_to(engine.hierarchy, cut, concession.instead)
    return cut


def _needed(
    engine: Engine, cut: Cut, guarantee: Guarantee, given: list[Concession], watch: Watch
) -> list[Concession]:
    """Return the concessions without those that nothing depends on, last come first gone."""
    for concession in list(reversed(given)) if len(given) > 1 else []:
        watch.tick("explain: what would have to give way", None)
        fewer = [other for other in given if other is not concession]
        if not breaches(engine, _after(engine, cut, fewer), guarantee, limit=1)[0]:
            given = fewer
    return given


class _Ledger:
    """What cuts cost in NCP, as integers until the last division."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.cost: Cost = make_cost("ncp", engine.hierarchy)
        self.counts: NDArray[np.int64] = engine.item_counts()

    @cached_property
    def _running(self) -> NDArray[np.int64]:
        return np.concatenate(([0], np.cumsum(self.counts)))

    def _under(self, node: int) -> int:
        """Return the occurrences of all leaves under a node."""
        tree = self.engine.hierarchy
        return int(self._running[tree.end_leaf[node]] - self._running[tree.first_leaf[node]])

    def price_of_loss(self, node: int) -> int:
        """Return what it adds to leave out a node that is published."""
        return (self.cost.scale - int(self.cost.unit_by_node[node])) * self._under(node)

    def price_of_raising(self, cut: Cut, node: int) -> int:
        """Return what it adds to publish a node in place of what a cut publishes under it."""
        below = nodes_below(self.engine.hierarchy, cut, node)
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
