"""Which nodes of a cut are kept, and what replacing a node by its children would cost.

Nodes are numbered by rank: the order in which a suppression scenario considers them. A node is kept
unless it completes a threat whose other members are all kept already, so each threat is stored under
its last member. A step takes one node out of the cut and puts others in. Only nodes that come later
and share a threat with a node whose state changed can change, so a step is worked out by passing
changes on in rising rank, over bit sets, and most of the cut is never looked at.
"""

from __future__ import annotations

import numpy as np

from ..base import Counts, Flags, Ids, Words, jit, lowest_bit


@jit
def by_last_member(threats: Ids, rank_of_node: Ids, n_ranks: int) -> tuple[Counts, Ids]:
    """Return the threats sorted by their member of largest rank, as the other members of each.

    Those with last member r are from ``start_by_rank[r]`` to the next start; the ranks of the other
    members are falling, padded with -1.
    """
    n_threats, width = threats.shape
    start_by_rank = np.zeros(n_ranks + 1, np.int64)
    for threat in range(n_threats):
        last = -1
        for column in range(width):
            if threats[threat, column] >= 0:
                last = max(last, rank_of_node[threats[threat, column]])
        start_by_rank[last + 1] += 1
    for rank in range(n_ranks):
        start_by_rank[rank + 1] += start_by_rank[rank]
    upcoming = start_by_rank[:-1].copy()
    others = np.full((n_threats, width - 1), -1, np.int32)
    falling = np.empty(width, np.int32)
    for threat in range(n_threats):
        size = 0
        for column in range(width):
            if threats[threat, column] < 0:
                continue
            rank = rank_of_node[threats[threat, column]]
            place = size
            while place > 0 and falling[place - 1] < rank:
                falling[place] = falling[place - 1]
                place -= 1
            falling[place] = rank
            size += 1
        row = upcoming[falling[0]]
        upcoming[falling[0]] += 1
        for place in range(1, size):
            others[row, place - 1] = falling[place]
    return start_by_rank, others


@jit
def later_bits(start_by_rank: Counts, others: Ids, n_words: int) -> Words:
    """Return for each rank, as a bit set, the last members of the threats it is another member of."""
    n_ranks = start_by_rank.size - 1
    later = np.zeros((n_ranks, n_words), np.uint64)
    for last in range(n_ranks):
        bit = np.uint64(1) << np.uint64(last & 63)
        for threat in range(start_by_rank[last], start_by_rank[last + 1]):
            for column in range(others.shape[1]):
                other = others[threat, column]
                if other >= 0:
                    later[other, last >> 6] |= bit
    return later


@jit
def completed_threat(rank: int, start_by_rank: Counts, others: Ids, kept: Flags) -> int:
    """Return a threat that keeping `rank` would complete, or -1."""
    width = others.shape[1]
    for threat in range(start_by_rank[rank], start_by_rank[rank + 1]):
        column = 0
        while column < width and others[threat, column] >= 0 and kept[others[threat, column]]:
            column += 1
        if column == width or others[threat, column] < 0:
            return threat
    return -1


@jit
def is_complete(threat: int, others: Ids, kept: Flags) -> bool:
    """Tell whether all other members of a threat are kept."""
    for column in range(others.shape[1]):
        other = others[threat, column]
        if other < 0:
            return True
        if not kept[other]:
            return False
    return True


@jit
def take_step(
    removed: int,
    added: Ids,
    stays: bool,
    start_by_rank: Counts,
    others: Ids,
    later: Words,
    cost_if_kept: Counts,
    cost_if_gone: Counts,
    in_cut: Words,
    kept: Flags,
    witness: Counts,
) -> int:
    """Return by how much the cost grows if `added` replace `removed` (-1: nothing) in the cut.

    All are ranks. Unless the cut `stays` so everything is put back. `later` is from `later_bits`. The
    state is the cut as a bit set, whether each rank is `kept`, and for a suppressed rank a threat that
    may be the reason: its `witness`, only a hint.
    """
    n_words = in_cut.size
    one = np.uint64(1)
    risen = np.zeros(n_words, np.uint64)
    fallen = np.zeros(n_words, np.uint64)
    fresh = np.zeros(n_words, np.uint64)
    changed = np.empty(kept.size, np.int32)
    n_changed = 0
    grown = 0
    if removed >= 0:
        in_cut[removed >> 6] &= ~(one << np.uint64(removed & 63))
        if kept[removed]:
            grown -= cost_if_kept[removed]
            kept[removed] = False
            changed[n_changed] = removed
            n_changed += 1
            for word in range(removed >> 6, n_words):
                fallen[word] |= later[removed, word]
        else:
            grown -= cost_if_gone[removed]
    for rank in added:
        in_cut[rank >> 6] |= one << np.uint64(rank & 63)
        fresh[rank >> 6] |= one << np.uint64(rank & 63)
    for word in range(n_words):
        open_bits = ~np.uint64(0)
        while True:
            pending = (risen[word] | fallen[word] | fresh[word]) & in_cut[word] & open_bits
            if pending == 0:
                break
            place = lowest_bit(pending)
            bit = one << np.uint64(place)
            open_bits = ~((bit << one) - one) if place < 63 else np.uint64(0)
            rank = 64 * word + place
            is_fresh = fresh[word] & bit != 0
            if kept[rank]:
                if risen[word] & bit == 0:
                    continue
                threat = completed_threat(rank, start_by_rank, others, kept)
                if threat < 0:
                    continue
                witness[rank] = threat
                kept[rank] = False
                grown += cost_if_gone[rank] - cost_if_kept[rank]
                for later_word in range(word, n_words):
                    fallen[later_word] |= later[rank, later_word]
            else:
                if not is_fresh:
                    if fallen[word] & bit == 0:
                        continue
                    if witness[rank] >= 0 and is_complete(witness[rank], others, kept):
                        continue
                threat = completed_threat(rank, start_by_rank, others, kept)
                witness[rank] = threat
                if is_fresh:
                    grown += cost_if_gone[rank]
                if threat >= 0:
                    continue
                kept[rank] = True
                grown += cost_if_kept[rank] - cost_if_gone[rank]
                for later_word in range(word, n_words):
                    risen[later_word] |= later[rank, later_word]
            changed[n_changed] = rank
            n_changed += 1
    if not stays:
        for place in range(n_changed):
            kept[changed[place]] = not kept[changed[place]]
        for rank in added:
            in_cut[rank >> 6] &= ~(one << np.uint64(rank & 63))
        if removed >= 0:
            in_cut[removed >> 6] |= one << np.uint64(removed & 63)
    return grown


@jit
def try_steps(
    candidates: Counts,
    child_start: Counts,
    children: Ids,
    start_by_rank: Counts,
    others: Ids,
    later: Words,
    cost_if_kept: Counts,
    cost_if_gone: Counts,
    in_cut: Words,
    kept: Flags,
    witness: Counts,
) -> Counts:
    """Return by how much the cost grows if each candidate, alone, is replaced by its children."""
    grown = np.empty(candidates.size, np.int64)
    for place in range(candidates.size):
        rank = candidates[place]
        grown[place] = take_step(
            rank,
            children[child_start[rank] : child_start[rank + 1]],
            False,
            start_by_rank,
            others,
            later,
            cost_if_kept,
            cost_if_gone,
            in_cut,
            kept,
            witness,
        )
    return grown
