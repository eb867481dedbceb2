"""Whole groups of patterns at a time, and what was raised in vain given back: setveil's own search.

What the paper's outlook asks for. A round looks at several patterns, and beside single classes at
groups of them: everything of the other data set, or of both, that is like the pattern up to some
height. The promising moves are tried out and mined, so that a move that makes new patterns is seen to.
Of those that cost the frequent itemsets least, the one is taken that generalizes least for each pattern
gone.

At the end values are given back: where all values published as one category can be what they were, or
stay lower, and still no pattern shows, they are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...distinct import number_distinct
from ...errors import TimeLimit
from ...hierarchy.tree import Ids
from ...kernels.base import Flags
from .state import Patterns, Side, find_moves, find_slots
from .steps import as_move, overlapping, scored, utility_gain, watched
from .work import Move, PatternWork

PATTERNS_A_ROUND = 3
CLASSES_TRIED = 4
THETAS = (0.4, 0.8)
"""The paper's best weights; here they only choose which single classes are tried out."""


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
