"""The searches for a recoding without patterns: one pattern at a time, or whole groups of them.

`hide_one_by_one` is the search of M. W.-K. Cheng, *Hiding emerging pattern with local recoding
generalization*, Fig. 2, greedy and annealed. Each round takes the pattern that overlaps most with the
others, looks at every class of rows of the other data set that its rows could be recoded with, and
takes the one of the largest utility gain, or draws one by its gain. A third way to choose is setveil's
own: least distortion first.

`hide_in_groups` is setveil's own search, and what the paper's outlook asks for. A round looks at
several patterns, and beside single classes at groups of them: everything of the other data set, or of
both, that is like the pattern up to some height. The promising moves are tried out and mined, so that a
move that makes new patterns is seen to. Of those that cost the frequent itemsets least, the one is
taken that generalizes least for each pattern gone.

At the end values are given back: where all values published as one category can be what they were, or
stay lower, and still no pattern shows, they are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray

from ...distinct import number_distinct
from ...errors import TimeLimit
from ...hierarchy.tree import Ids
from ...kernels.base import Flags
from .scoring import FrequentForms, Reals, Scores, Scoring
from .state import Moves, Patterns, Side, find_moves, find_slots
from .work import Move, PatternWork

COLDEST = 0.01
FROZEN = 1e-9
"""So cold, chance is out of the question: for a cooling of 0."""
MOST_WATCHED = 2_000
"""How many patterns at most a move is judged by; those that overlap most."""
TRIED = 8
"""How many of the best moves are tried out, where sets below the minimum support are looked after."""
DIGITS = 12
"""Gains that are the same up to so many digits are the same."""
PATTERNS_A_ROUND = 3
CLASSES_TRIED = 4
THETAS = (0.4, 0.8)
"""The paper's best weights; here they only choose which single classes are tried out."""

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Round:
    """What there is to choose from: the moves, what each would change, and of which patterns."""

    patterns: Patterns
    moves: Moves
    scores: Scores


Choice = Callable[[PatternWork, Round], int]


class Ranking(ABC):
    """A way to choose: the best move, or the best few of them."""

    @abstractmethod
    def several(self, work: PatternWork, given: Round, number: int) -> Places:
        """Return up to so many moves, the one to be taken first."""

    def __call__(self, work: PatternWork, given: Round) -> int:
        """Return the move to be taken."""
        return int(self.several(work, given, 1)[0])


def hide_one_by_one(work: PatternWork, choose: Choice) -> int:
    """Hide all patterns by moves chosen for one of them each; return in how many rounds."""

    def next_move(patterns: Patterns) -> Move:
        place = overlapping(patterns)[0]
        pattern, side = patterns.pattern(place), int(patterns.side[place])
        moves = find_moves(work.state, pattern, side, every_level=work.every_level)
        if not len(moves):
            return work.way_out(pattern, side)
        judged = watched(patterns)
        chosen = choose(work, Round(judged, moves, scored(work, moves, judged)))
        return as_move(work, moves, chosen)

    return work.hide(next_move)


@dataclass(frozen=True)
class ByGain(Ranking):
    """Greedy: the largest utility gain; of several the one that raises least."""

    theta_p: float
    theta_q: float

    def several(self, work: PatternWork, given: Round, number: int) -> Places:
        tier, gain = utility_gain(work, given.patterns, given.scores, self.theta_p, self.theta_q)
        return _first(number, -tier, -gain.round(DIGITS), raised_by(work, given.moves))


@dataclass
class ByChance(Ranking):
    """Annealed: drawn with weights exp(gain / temperature), which cools from round to round.

    An infinite gain has all the weight: the draw is among the moves that end most jumping patterns.
    """

    theta_p: float
    theta_q: float
    temperature: float
    cooling: float
    random: Random

    def several(self, work: PatternWork, given: Round, number: int) -> Places:
        """Return moves, each drawn; one of large gain can be drawn more than once."""
        tier, gain = utility_gain(work, given.patterns, given.scores, self.theta_p, self.theta_q)
        best = np.flatnonzero(tier == tier.max())
        heat = max(self.temperature, FROZEN)
        ends = np.cumsum(np.exp((gain[best] - gain[best].max()) / heat))
        chances = [self.random.random() * ends[-1] for _ in range(number)]
        places = np.searchsorted(ends, chances, side="right")
        if self.temperature > COLDEST:
            self.temperature *= self.cooling
        drawn: Places = best[np.minimum(places, len(best) - 1)]
        return drawn


@dataclass(frozen=True)
class ByCare(Ranking):
    """The least distortion; then most jumping patterns fewer, the largest fall, the least raised."""

    theta_q: float

    def several(self, work: PatternWork, given: Round, number: int) -> Places:
        scores = given.scores
        lost = distortion(scores, work.frequent, self.theta_q).round(DIGITS)
        raised = raised_by(work, given.moves)
        return _first(number, lost, -scores.jumping, -scores.finite.round(DIGITS), raised)


@dataclass(frozen=True)
class Guarded:
    """Of the best moves the one that leaves fewest jumping sets just below the minimum support.

    Each is made, mined and undone: scores tell nothing of the sets that are no patterns.
    """

    ranking: Ranking

    def __call__(self, work: PatternWork, given: Round) -> int:
        """Return the move; of several that leave as few the one that is better otherwise."""
        if not work.guard:
            return self.ranking(work, given)
        saved = work.state.saved
        best: tuple[int, int] | None = None
        for which in dict.fromkeys(self.ranking.several(work, given, TRIED).tolist()):
            work.watch.check_deadline()
            try:
                work.apply(as_move(work, given.moves, which))
                left = work.jumping_below()
            finally:
                work.state.go_back(saved)
            if best is None or left < best[0]:
                best = left, which
            if not left:
                break
        assert best is not None
        return best[1]


def overlapping(patterns: Patterns) -> NDArray[np.int64]:
    """Return the places of the patterns, those first that share most items with the others."""
    inside = patterns.sets >= 0
    often = np.bincount(patterns.sets[inside])
    shared = np.where(inside, often[patterns.sets] - 1, 0).sum(axis=1)
    return np.argsort(-shared, kind="stable")


def watched(patterns: Patterns) -> Patterns:
    """Return the patterns that moves are judged by: all, or of many those that overlap most."""
    if len(patterns) <= MOST_WATCHED:
        return patterns
    places = np.sort(overlapping(patterns)[:MOST_WATCHED])
    return Patterns(
        np.ascontiguousarray(patterns.sets[places]), patterns.counts[places], patterns.side[places]
    )


def scored(work: PatternWork, moves: Moves, patterns: Patterns) -> Scores:
    """Return what the moves change of these patterns, and of the frequent itemsets."""
    return Scoring(
        work.state,
        patterns,
        work.frequent,
        work.miner.least,
        work.every_level,
        work.threads,
        work.miner.all_threads,
        work.silent.asking(""),
    ).score(moves)


def utility_gain(
    work: PatternWork, patterns: Patterns, scores: Scores, theta_p: float, theta_q: float
) -> tuple[NDArray[np.int64], Reals]:
    """Return the gain of each move: jumping patterns fewer, then ``theta_p RG - (1 - theta_p) RD``."""
    shares = patterns.counts / work.state.records
    low, high = shares.min(axis=1), shares.max(axis=1)
    finite = low > 0
    total = float((high[finite] / low[finite]).sum())
    reduction = scores.finite / total if total else np.zeros(len(scores.finite))
    gain = theta_p * reduction - (1 - theta_p) * distortion(scores, work.frequent, theta_q)
    # An infinite growth less is an infinite gain, unless growth has no weight at all.
    return scores.jumping if theta_p > 0 else np.zeros(len(gain), dtype=np.int64), gain


def distortion(scores: Scores, frequent: FrequentForms, theta_q: float) -> Reals:
    """Return RD_local of each move."""
    largest = np.where(frequent.largest > 0, frequent.largest, 1.0)
    by_itemset = np.where(scores.distance < 0, 1 - theta_q, theta_q * scores.distance / largest)
    total: Reals = by_itemset.sum(axis=1)
    return total


def raised_by(work: PatternWork, moves: Moves) -> Reals:
    """Return how far each move raises values, over all records that it moves."""
    cost = work.cost_by_node
    own, other = (work.state.published[which].weight_by_row for which in (moves.side, 1 - moves.side))
    targets = cost[moves.targets[moves.targets_of_class]].sum(axis=1)
    first = moves.row_by_member[moves.class_start[:-1]]
    sizes = np.add.reduceat(other[moves.row_by_member], moves.class_start[:-1])
    here = (targets - cost[moves.pattern].sum()) * own[moves.holders].sum()
    total: Reals = here + (targets - cost[moves.values[first]].sum(axis=1)) * sizes
    return total


def as_move(work: PatternWork, moves: Moves, which: int) -> Move:
    """Return one of the moves."""
    n_rows = len(work.state.published[1 - moves.side].weight_by_row)
    targets, members = moves.targets_of(which), moves.members(which, n_rows)
    if not moves.narrow:
        return Move(moves.side, targets, moves.holders, members)
    own = np.repeat(moves.pattern[None, :], len(moves.holders), axis=0)
    return Move(moves.side, targets, moves.holders, members, own, moves.values)


def _first(number: int, *keys: NDArray[np.int64] | Reals) -> Places:
    """Return the places of the smallest, by the first key, then the next; of equals the earliest."""
    order: Places = np.lexsort(keys[::-1])[:number]
    return order


def hide_in_groups(work: PatternWork) -> int:
    """Hide all patterns by the best move of each round; return in how many rounds."""

    def next_move(patterns: Patterns) -> Move:
        best: tuple[tuple[object, ...], Move] | None = None
        before = work.cost()
        saved = work.state.saved
        for move in _moves(work, patterns):
            work.apply(move)
            key = _merit(work, patterns, before, None if best is None else best[0])
            work.state.go_back(saved)
            if key is not None and (best is None or key < best[0]):
                best = key, move
        if best is not None:
            return best[1]
        first = overlapping(patterns)[0]
        return work.way_out(patterns.pattern(first), int(patterns.side[first]))

    return work.hide(next_move)


def _merit(
    work: PatternWork, patterns: Patterns, cost_before: float, best: tuple[object, ...] | None
) -> tuple[object, ...] | None:
    """Return how a move that was just made looks, smaller is better; None where `best` beats it."""
    lost, distance = work.frequent.total(work.state)
    if best is not None and best[0] == 0 and (0, lost, distance) > best[:3]:
        return None
    gone = len(patterns) - len(work.after_a_move(patterns))
    jumping, raised = work.jumping_below(), work.cost() - cost_before
    if gone > 0:
        return (0, lost, distance, jumping, raised / gone)
    # Nothing gained yet: what matters is to go on, so the largest step that costs least.
    return (1, lost, distance, jumping, -gone, -raised)


def _moves(work: PatternWork, patterns: Patterns) -> list[Move]:
    """Return the moves worth a trial, each once."""
    found: dict[bytes, Move] = {}
    for place in _chosen(patterns):
        pattern, side = patterns.pattern(place), int(patterns.side[place])
        for move in (*_single(work, patterns, pattern, side), *_grouped(work, pattern, side)):
            key = move.targets.tobytes() + move.own.tobytes() + move.other.tobytes()
            if move.own.any() or move.other.any():
                found.setdefault(bytes([move.side]) + key, move)
    return list(found.values())


def _chosen(patterns: Patterns) -> list[int]:
    """Return the patterns that a round looks at: those that overlap most, in all and for their size."""
    inside = patterns.sets >= 0
    often = np.bincount(patterns.sets[inside])
    by_size = np.where(inside, often[patterns.sets], 0).sum(axis=1) / inside.sum(axis=1)
    ranked = [*overlapping(patterns)[:1].tolist(), *np.argsort(-by_size, kind="stable").tolist()]
    return list(dict.fromkeys(ranked))[:PATTERNS_A_ROUND]


def _single(work: PatternWork, patterns: Patterns, pattern: Ids, side: int) -> list[Move]:
    """Return the moves with one class of rows that promise most."""
    moves = find_moves(work.state, pattern, side, every_level=work.every_level)
    if not len(moves):
        return []
    judged = watched(patterns)
    tier, gain = utility_gain(work, judged, scored(work, moves, judged), *THETAS)
    order = np.lexsort((-gain, -tier))[:CLASSES_TRIED]
    return [as_move(work, moves, which) for which in order.tolist()]


def _grouped(work: PatternWork, pattern: Ids, side: int) -> list[Move]:
    """Return the moves that take all rows along that are like the pattern up to some height."""
    own_rows = work.state.published[side].holders(pattern, every_level=work.every_level)
    values, common = zip(*(find_slots(work.state, pattern, of) for of in (side, 1 - side)), strict=True)
    lines = values if work.narrow else (None, None)
    found = []
    for targets in _heights(work, pattern):
        near = [_is_near(each, targets, work) for each in common]
        found.append(Move(side, targets, own_rows, near[1], *lines))
        found.append(Move(side, targets, near[0] | own_rows, near[1], *lines))
    return found


def _heights(work: PatternWork, pattern: Ids) -> list[Ids]:
    """Return combinations of targets: one value raised, step by step, or all of them."""
    tree = work.state.tree.hierarchy
    chains = [[node, *tree.ancestors(node)] for node in pattern.tolist()]
    found = [
        [*pattern[:slot].tolist(), above, *pattern[slot + 1 :].tolist()]
        for slot, chain in enumerate(chains)
        for above in chain[1:]
    ]
    highest = max(len(chain) for chain in chains)
    if len(chains) > 1:
        found += [[chain[min(step, len(chain) - 1)] for chain in chains] for step in range(1, highest)]
    return [np.array(line, dtype=np.int32) for line in dict.fromkeys(map(tuple, found))]


def _is_near(lines: Ids, targets: Ids, work: PatternWork) -> Flags:
    """Tell which rows have in each slot a value below the target there."""
    first, end, _ = work.state.tree.shape
    low, high = first[targets], end[targets]
    inside = (lines >= 0) & (first[lines] >= low) & (end[lines] <= high)
    near: Flags = np.all(inside, axis=1)
    return near


def give_back(work: PatternWork) -> tuple[int, bool]:
    """Publish values lower where no pattern shows; return how many groups, and whether all were tried.

    All groups are tried together, then halves of them, and so on: what is given back in vain shows
    early, and what must stay is found in few trials.
    """
    given = 0
    stack = [groups] if (groups := _raised(work)) else []
    try:
        while stack:
            groups = stack.pop()
            work.watch.tick("giving values back", None)
            if _given(work, [(leaf, node, leaf) for leaf, node in groups], work.state.sides):
                given += len(groups)
            elif len(groups) > 1:
                middle = len(groups) // 2
                stack += [groups[middle:], groups[:middle]]
            else:
                given += _given_in_part(work, *groups[0])
    except TimeLimit:  # what was given so far was seen to be good
        return given, False
    return given, True


def _given_in_part(work: PatternWork, leaf: int, node: int) -> bool:
    """Give a group back on one side, or not as far down."""
    path = [leaf, *work.state.pair.hierarchy.ancestors(leaf)]
    for lower in path[: path.index(node)]:
        sides = (work.state.sides, work.state.sides[:1], work.state.sides[1:])
        for some in sides[lower == leaf :]:  # the leaf on both sides was tried
            if _given(work, [(leaf, node, lower)], some):
                return True
    return False


def _given(work: PatternWork, groups: Sequence[tuple[int, int, int]], sides: Sequence[Side]) -> bool:
    """Give groups back, each from a node to a lower one, if no pattern shows and nothing is lost."""
    before = work.state.saved
    for side in sides:
        nodes = side.node_by_entry
        for leaf, node, lower in groups:
            concerned = (side.leaves == leaf) & (side.node_by_entry == node)
            if not work.narrow:
                concerned &= _stands_alone(side, node)
            nodes = np.where(concerned, lower, nodes)
        if not np.array_equal(nodes, side.node_by_entry):
            side.go_back((nodes.astype(np.int32), None))
    good = False
    try:
        if work.is_clean:
            loss, reached = work.loss(), work.state.saved
            work.state.go_back(before)
            good = loss < work.loss()
            work.state.go_back(reached)
    finally:
        if not good:
            work.state.go_back(before)
    return good


def _stands_alone(side: Side, node: int) -> Flags:
    """Tell which entries are the only ones of their row that are published as `node`.

    Where a row has several, one that went lower would stand below the others.
    """
    row_by_entry = np.repeat(np.arange(len(side.indptr) - 1), np.diff(side.indptr))
    alike = np.bincount(row_by_entry[side.node_by_entry == node], minlength=len(side.indptr) - 1)
    alone: Flags = alike[row_by_entry] == 1
    return alone


def _raised(work: PatternWork) -> list[tuple[int, int]]:
    """Return original and published value of all groups that were raised, the costliest first."""
    tree = work.state.pair.hierarchy
    weight: dict[tuple[int, int], int] = {}
    for side in work.state.sides:
        raised = side.leaves != side.node_by_entry
        keys = side.leaves[raised].astype(np.int64) * len(tree) + side.node_by_entry[raised]
        records = np.repeat(side.weight_by_row, np.diff(side.indptr))[raised]
        codes, group = number_distinct(keys)
        sums = np.bincount(group, weights=records, minlength=len(codes))
        for code, total in zip(codes.tolist(), sums.tolist(), strict=True):
            pair = divmod(code, len(tree))
            weight[pair] = weight.get(pair, 0) + int(total)
    cost = {key: count * int(tree.leaf_count[key[1]] - 1) for key, count in weight.items()}
    return sorted(weight, key=lambda key: (-cost[key], key))
