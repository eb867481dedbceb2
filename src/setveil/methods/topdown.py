"""HgHs and mHgHs: generalization with suppression, top down (Liu, Wang: Anonymizing transaction data by
integrating suppression and generalization, PAKDD 2010).

- `anonymize` is HgHs. List the minimal privacy threats of all cuts once (`threats_of_all_cuts`). Begin
  with the roots; of the cuts that replace one node by its children, each with its own suppression
  scenario, take the one that costs least, while that costs less than the cut in hand (`CutSearch`).
- `anonymize_rounds` is mHgHs. Round i = 1 .. m does the same for threats of at most i nodes, on the
  taxonomy at and above the cut of the round before, so that the lists of threats stay short.

Where the time limit cuts a search, the best of what is known to be valid is returned: the cut in hand,
those further down the same tree with their suppression scenarios (`_Round._search_in_haste`), and, for
`anonymize`, what the rounds gave, which are quick and are run first where there is a limit.

What a cut costs is the cost of its kept nodes plus the whole of every occurrence suppressed. Fixed
here, since the paper leaves it open: of equal steps the one at the smaller label is taken, and of nodes
with equal suppression cost the smaller label is kept. See docs/methods/hghs.md and mhghs.md.

A threat is an antichain of at most m nodes, at any levels of the hierarchy, that at least one record
holds and fewer than k; it is minimal where no smaller part of it is one. Those made of a cut's nodes
are exactly what is rare in the data generalized to that cut, so one list serves every cut of a search.

The suppression scenario of a cut (section 3) is the paper's walk down the enumeration tree. Nodes are
tried in falling suppression cost, the smaller label first where that is equal; one is kept unless it
completes a threat with those kept before. A node refused once can never be kept further down, so the
first valid child of each tree node is found by one pass.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from ..engines.base import Ask, Engine, NearData, NodeSets, padded
from ..errors import ResourceLimit, TimeLimit
from ..hierarchy.tree import Counts, Hierarchy, Ids
from ..kernels.base import Flags, Words
from ..kernels.itemsets.top_down import by_last_member, later_bits, take_step, try_steps
from ..model.costs import Cost
from ..model.guarantees import KmAnonymity
from ..progress import Watch
from ..registry import method
from ..release.recoding import Recoding
from ..search.cuts import Nodes, check_enough_records
from . import Objective, Outcome

MOST_THREATS = 50_000_000
ROUNDS_SHARE = 0.5
"""The share of a time limit that hghs leaves to the rounds before its own search."""
ASKED_AT_ONCE = 100_000
FROM_ROUNDS = "hghs was not through in time: this is the result of its search in rounds (mhghs)."


def anonymize(
    engine: Engine,
    guarantee: KmAnonymity,
    *,
    cost: Cost,
    watch: Watch,
    max_threats: int = MOST_THREATS,
) -> Outcome:
    """Return the cut and the suppression that HgHs finds.

    Past the time limit the best result known is returned, be it that of the rounds; `TimeLimit` where
    not even those were through. `ResourceLimit` where there are more than `max_threats` minimal
    threats.
    """
    km = _checked(engine, guarantee, "hghs")
    bottom = np.arange(engine.hierarchy.n_leaves, dtype=np.int32)
    held: Outcome | None = None
    if watch.time_limit is not None:
        with contextlib.suppress(TimeLimit, ResourceLimit):
            share = watch.within(ROUNDS_SHARE * watch.remaining)
            held = anonymize_rounds(engine, guarantee, cost=cost, watch=share, max_threats=max_threats)
    try:
        reached = _Round(engine, km.k, km.m, bottom, cost, watch, max_threats, "hghs")
    except TimeLimit:
        if held is None:
            raise
        return replace(held, complete=False, notices=(FROM_ROUNDS,))
    own = reached.outcome(cost, {"threats": reached.n_threats, "steps": reached.steps})
    if held is None or own.complete or reached.cost <= _cost(held):
        return own
    return replace(held, complete=False, notices=(FROM_ROUNDS,))


def anonymize_rounds(
    engine: Engine,
    guarantee: KmAnonymity,
    *,
    cost: Cost,
    watch: Watch,
    max_threats: int = MOST_THREATS,
) -> Outcome:
    """Return the cut and the suppression that mHgHs finds; the parameters are those of `anonymize`."""
    km = _checked(engine, guarantee, "mhghs")
    bottom = np.arange(engine.hierarchy.n_leaves, dtype=np.int32)
    most, steps, size = 0, 0, 1
    while True:
        stage = f"mhghs: round {size}"
        reached = _Round(engine, km.k, size, bottom, cost, watch, max_threats, stage)
        most, steps = max(most, reached.n_threats), steps + reached.steps
        if size == km.m:
            return reached.outcome(cost, {"threats": most, "steps": steps, "rounds": size})
        bottom, size = reached.search.cut, size + 1


class _Round:
    """One top-down search: the cut it ends at, and whether the time limit cut it short."""

    def __init__(
        self,
        engine: Engine,
        k: int,
        m: int,
        bottom: Ids,
        cost: Cost,
        watch: Watch,
        max_threats: int,
        stage: str,
    ) -> None:
        watch.tick(stage)
        watch.check_deadline()
        self.hierarchy = engine.hierarchy
        self.taxonomy = taxonomy = Taxonomy.above(engine.hierarchy, bottom)
        threats = threats_of_all_cuts(
            engine, taxonomy.nodes, k, m, most=max_threats, ask=watch.asking(stage)
        )
        self.n_threats = len(threats)
        self.search = CutSearch(taxonomy, threats, cost, engine.item_counts())
        self.steps = 0
        self.complete = False
        whole = max(1, len(taxonomy.nodes))
        while not watch.expired:
            # How far down the cut is tells little about when no step helps; it is an upper share.
            watch.tick(stage, len(self.search.cut) / whole)
            steps = self.search.steps()
            node, added = min(steps, key=lambda step: step[1], default=(-1, 0))
            if added >= 0:
                self.complete = True
                break
            self.search.descend(node)
            self.steps += 1
        self.cost, self.kept = self.search.cost, self.search.kept
        if not self.complete:
            self._search_in_haste()

    def _search_in_haste(self) -> None:
        """Keep the best of the cuts further down, each node in turn replaced by its children.

        No step is compared with others, so that this takes hardly any time. It ends at the bottom,
        where nothing is generalized beyond it and all that is rare is left out.
        """
        taxonomy, search = self.taxonomy, self.search
        for node in reversed(taxonomy.nodes.tolist()):
            if taxonomy.children[node] and node in search:
                search.descend(node)
                if search.cost < self.cost:
                    self.cost, self.kept = search.cost, search.kept

    def outcome(self, cost: Cost, figures: dict[str, int | float | str]) -> Outcome:
        """Return what a method returns."""
        return Outcome(
            Recoding.from_cut(self.hierarchy, self.kept),
            Objective(cost.name, self.cost),
            figures,
            complete=self.complete,
        )


def _cost(outcome: Outcome) -> int:
    assert outcome.objective is not None
    return outcome.objective.cost


def _checked(engine: Engine, guarantee: KmAnonymity, key: str) -> KmAnonymity:
    method(key).check_guarantee(guarantee)
    check_enough_records(engine, guarantee.k)
    # No record holds more labels than there are items.
    return KmAnonymity(guarantee.k, max(1, min(guarantee.m, engine.hierarchy.n_leaves)))


@dataclass(frozen=True, eq=False)
class Taxonomy:
    """The part of a hierarchy that a search works on: the nodes at and above some cut, ascending.

    Unary chains are drawn together to their lowest node, which says most and costs no more. At the
    bottom nodes have no children.
    """

    hierarchy: Hierarchy
    nodes: Ids
    roots: tuple[int, ...]
    children: tuple[tuple[int, ...], ...]

    @classmethod
    def above(cls, hierarchy: Hierarchy, bottom: Ids) -> Taxonomy:
        """Return the nodes at or above `bottom`, an antichain, without the upper ends of chains."""
        is_bottom = np.zeros(len(hierarchy), dtype=np.bool_)
        is_bottom[bottom] = True
        inside = is_bottom.copy()
        for node, above in enumerate(hierarchy.parent.tolist()):
            if above >= 0 and inside[node]:
                inside[above] = True
        children: list[tuple[int, ...]] = [()] * len(hierarchy)
        lowest = np.arange(len(hierarchy))
        for node in np.flatnonzero(inside & ~is_bottom).tolist():
            below = [child for child in hierarchy.children[node] if inside[child]]
            if len(below) == 1:
                lowest[node] = lowest[below[0]]
            else:
                children[node] = tuple(int(lowest[child]) for child in below)
        nodes = np.flatnonzero(inside & (lowest == np.arange(len(hierarchy)))).astype(np.int32)
        roots = tuple(int(lowest[root]) for root in hierarchy.roots if inside[root])
        return cls(hierarchy, nodes, roots, tuple(children))


class CutSearch:
    """A cut of a taxonomy with its suppression scenario and its cost; it begins at the roots.

    A suppressed occurrence costs the whole scale.
    """

    def __init__(
        self, taxonomy: Taxonomy, threats: NodeSets, cost: Cost, count_by_leaf: Counts
    ) -> None:
        hierarchy = taxonomy.hierarchy
        self._taxonomy = taxonomy
        running = np.concatenate(([0], np.cumsum(cost.weighted_counts(count_by_leaf))))
        below = running[hierarchy.end_leaf] - running[hierarchy.first_leaf]
        if_kept = cost.weight_by_node(hierarchy, count_by_leaf)
        if_gone = below * cost.scale
        nodes = taxonomy.nodes
        extra = if_gone[nodes] - if_kept[nodes]
        self._node_of_rank = nodes[np.lexsort((hierarchy.label_rank[nodes], -extra))]
        self._rank_of_node = np.full(len(hierarchy), -1, dtype=np.int32)
        self._rank_of_node[self._node_of_rank] = np.arange(len(nodes), dtype=np.int32)
        self._label_rank = hierarchy.label_rank[self._node_of_rank]
        below_rank = [self._ranks(taxonomy.children[node]) for node in self._node_of_rank.tolist()]
        self._child_start = np.concatenate(([0], np.cumsum([len(part) for part in below_rank])))
        self._children = np.concatenate([*below_rank, np.empty(0, dtype=np.int32)])
        # The threats by the member tried last, their other members, and who meets whom.
        sets = np.ascontiguousarray(threats, dtype=np.int32)
        start, others = by_last_member(sets, self._rank_of_node, len(nodes))
        n_words = max(1, len(nodes) + 63 >> 6)
        self._data = (
            start,
            others,
            later_bits(start, others, n_words),
            if_kept[self._node_of_rank],
            if_gone[self._node_of_rank],
        )
        self._in_cut = np.zeros(n_words, dtype=np.uint64)
        self._kept = np.zeros(len(nodes), dtype=np.bool_)
        self._witness = np.full(len(nodes), -1, dtype=np.int64)
        self.cost = 0
        self._cut: set[int] = set()
        self._replace(-1, self._ranks(taxonomy.roots))

    def _ranks(self, nodes: tuple[int, ...] | Ids) -> Ids:
        return self._rank_of_node[np.asarray(nodes, dtype=np.int64)]

    @property
    def _state(self) -> tuple[Words, Flags, Counts]:
        return self._in_cut, self._kept, self._witness

    def _replace(self, removed: int, added: Ids) -> None:
        self.cost += int(take_step(removed, added, True, *self._data, *self._state))
        self._cut = (self._cut - {removed}) | set(added.tolist())

    @property
    def cut(self) -> Ids:
        """The nodes of the cut, kept or suppressed, ascending."""
        return np.sort(self._node_of_rank[sorted(self._cut)])

    @property
    def kept(self) -> Ids:
        """The nodes of the cut that are published, ascending."""
        return np.sort(self._node_of_rank[self._kept])

    @property
    def suppressed(self) -> Ids:
        """The suppression scenario: the nodes of the cut that are not published, ascending."""
        return np.setdiff1d(self.cut, self.kept)

    def __contains__(self, node: int) -> bool:
        """Whether the node is in the cut."""
        return int(self._rank_of_node[node]) in self._cut

    def steps(self) -> list[tuple[int, int]]:
        """Return each node of the cut that has children, by label, and what replacing it adds."""
        inner = [rank for rank in self._cut if self._child_start[rank + 1] > self._child_start[rank]]
        inner.sort(key=lambda rank: int(self._label_rank[rank]))
        candidates = np.array(inner, dtype=np.int64)
        added = try_steps(candidates, self._child_start, self._children, *self._data, *self._state)
        nodes = self._node_of_rank[candidates] if inner else candidates
        return list(zip(nodes.tolist(), added.tolist(), strict=True))

    def descend(self, node: int) -> None:
        """Replace a node of the cut by its children."""
        rank = int(self._rank_of_node[node])
        if rank not in self._cut:
            raise ValueError("the node is not in the cut")
        self._replace(rank, self._ranks(self._taxonomy.children[node]))


def threats_of_all_cuts(
    engine: Engine, nodes: Ids, k: int, m: int, *, most: int, ask: Ask | None = None
) -> NodeSets:
    """Return the minimal sets of at most `m` of these nodes that 1 to `k` - 1 records hold.

    Other nodes do not occur. `ResourceLimit` where there are more than `most`.
    """
    if isinstance(engine, NearData):
        found = engine.threats(nodes, k, m, most + 1, ask)
    else:
        found = threats_by_levels(engine, nodes, k, m, ask)
    if len(found) > most:
        raise ResourceLimit(
            f"there are more than {most:,} minimal privacy threats of up to {m} labels.",
            "Use mhghs, which holds those of a reduced hierarchy only, or lower m.",
            code="too-many-threats",
        )
    return found


def threats_by_levels(engine: Engine, nodes: Ids, k: int, m: int, ask: Ask | None = None) -> NodeSets:
    """Find the threats level by level: a set is asked about where all its parts are frequent."""
    hierarchy = engine.hierarchy
    found: list[Nodes] = []
    frequent: list[Nodes] = []
    candidates: Iterator[Nodes] | list[Nodes] = [(node,) for node in sorted(nodes.tolist())]
    for size in range(1, m + 1):
        asked = list(candidates)
        if not asked:
            break
        supports = _supports(engine, asked, k, ask)
        found += [line for line, held in zip(asked, supports, strict=True) if 0 < held < k]
        frequent = [line for line, held in zip(asked, supports, strict=True) if held >= k]
        candidates = _joined(hierarchy, frequent, size)
    return padded(found, m)


def _supports(engine: Engine, sets: list[Nodes], k: int, ask: Ask | None) -> list[int]:
    answers: list[int] = []
    for start in range(0, len(sets), ASKED_AT_ONCE):
        if ask is not None:
            ask()
        part = padded(sets[start : start + ASKED_AT_ONCE])
        answers += engine.supports(part, enough=k).tolist()
    return answers


def _joined(hierarchy: Hierarchy, frequent: list[Nodes], size: int) -> Iterator[Nodes]:
    """Yield the antichains of one more node all of whose parts of `size` nodes are frequent."""
    known = set(frequent)
    by_start: dict[Nodes, list[int]] = {}
    for line in frequent:
        by_start.setdefault(line[:-1], []).append(line[-1])
    for start, ends in by_start.items():
        for one, other in combinations(ends, 2):
            if hierarchy.covers(one, other) or hierarchy.covers(other, one):
                continue
            line = (*start, one, other)
            if all(part in known for part in combinations(line, size)):
                yield line
