"""One pattern at a time: the search of M. W.-K. Cheng, *Hiding emerging pattern with local recoding
generalization*, Fig. 2, greedy and annealed.

Each round takes the pattern that overlaps most with the others, looks at every class of rows of the
other data set that its rows could be recoded with, and takes the one of the largest utility gain, or
draws one by its gain. A third way to choose is setveil's own: least distortion first.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray

from .scoring import FrequentForms, Scores, score
from .state import Moves, Patterns, find_moves
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

Reals = NDArray[np.float64]
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
    return score(
        work.state,
        moves,
        patterns,
        work.frequent,
        work.miner.least,
        every_level=work.every_level,
        threads=work.threads,
        all_threads=work.miner.all_threads,
        ask=work.silent.asking(""),
    )


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
