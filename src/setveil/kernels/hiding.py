"""The steps of hiding patterns: rows like a pattern, values raised, and what that would change.

With `parent` of -1 everywhere nodes count as they stand; with the parents of the hierarchy a row also
holds everything above its nodes.

What moves would change is counted without making them. A move raises values in some rows to its
targets: everything strictly below one of them or, if it is narrow, just the values that were found like
the pattern's. In a row that moves a set of nodes is held afterwards if none of its nodes is among those
raised, and each of them is a target or was in the row before. All counting rests on that sentence. The
image of a set has the targets in place of what is raised in the pattern's own rows.

Narrow moves are for sets whose values count as they stand. In a table there is nothing else below a
target, and at every level a pattern is hidden only if everything below it goes.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from .base import Counts, Flags, Ids, Reals, jit
from .supports import Index, support_of

Shape: TypeAlias = tuple[Ids, Ids, Ids]
"""First leaf, end of the leaves, and depth of each node."""


@jit
def is_below(node: int, above: int, shape: Shape) -> bool:
    """Tell whether `node` is strictly below `above`, by their intervals of leaves: in O(1)."""
    first, end, depth = shape
    return bool(depth[node] > depth[above] and first[above] <= first[node] and end[node] <= end[above])


@jit
def common_ancestor(one: int, other: int, parent: Ids, shape: Shape) -> int:
    """Return the lowest node that is at or above both; -1 where they are of different trees."""
    here = one
    while here >= 0 and here != other and not is_below(other, here, shape):
        here = parent[here]
    return here


@jit
def match_slots(
    indptr: Counts, items: Ids, pattern: Ids, parent: Ids, shape: Shape, values: Ids, targets: Ids
) -> None:
    """Find in each row one value for each value of a pattern, and what both have in common.

    A row's value serves one slot only. Equal values come first, then those below, then the nearest.
    `values` and `targets` are filled with -1 where a slot finds nothing.
    """
    used = np.zeros(64, np.bool_)
    depth = shape[2]
    for row in range(indptr.size - 1):
        start, length = indptr[row], indptr[row + 1] - indptr[row]
        if length > used.size:
            used = np.zeros(2 * length, np.bool_)
        used[:length] = False
        values[row] = -1
        targets[row] = -1
        for turn in range(3):
            for slot in range(pattern.size):
                if values[row, slot] >= 0:
                    continue
                best, best_target = -1, -1
                for place in range(length):
                    node = items[start + place]
                    if used[place] or (turn == 0 and node != pattern[slot]):
                        continue
                    if turn == 1 and not is_below(node, pattern[slot], shape):
                        continue
                    target = common_ancestor(pattern[slot], node, parent, shape)
                    if target >= 0 and (best < 0 or depth[target] > depth[best_target]):
                        best, best_target = place, target
                if best >= 0:
                    values[row, slot] = items[start + best]
                    targets[row, slot] = best_target
                    used[best] = True


@jit
def find_holders(indptr: Counts, items: Ids, pattern: Ids, parent: Ids, holds: Flags) -> None:
    """Tell which rows hold all of a pattern's nodes."""
    wanted = np.zeros(parent.size, np.int64)
    seen = np.full(parent.size, -1, np.int64)
    for slot in range(pattern.size):
        wanted[pattern[slot]] = 1
    for row in range(indptr.size - 1):
        found = 0
        for place in range(indptr[row], indptr[row + 1]):
            node = items[place]
            while node >= 0 and seen[node] != row:
                seen[node] = row
                found += wanted[node]
                node = parent[node]
        holds[row] = found == pattern.size


@jit
def raise_entries(
    indptr: Counts,
    node_by_entry: Ids,
    is_moved: Flags,
    targets: Ids,
    values: Ids,
    row_of_values: Counts,
    shape: Shape,
) -> int:
    """Raise what lies below a target in the rows that move, in place; return how often.

    Where `values` has rows, only the values in it are raised, each to the target of its slot: row r has
    those of ``values[row_of_values[r]]``.
    """
    changed = 0
    narrow = values.shape[0] > 0
    for row in range(indptr.size - 1):
        if not is_moved[row]:
            continue
        for place in range(indptr[row], indptr[row + 1]):
            for slot in range(targets.size):
                node = node_by_entry[place]
                if narrow and node != values[row_of_values[row], slot]:
                    continue
                if is_below(node, targets[slot], shape):
                    node_by_entry[place] = targets[slot]
                    changed += 1
                    if narrow:
                        break
    return changed


Rows: TypeAlias = tuple[Counts, Ids, Counts]
"""The rows of one side, and the number of records that each stands for."""


class Sets(NamedTuple):
    """Sets of nodes, one a line, and how many each has."""

    nodes: Ids
    sizes: Ids


class Classes(NamedTuple):
    """Moves in classes of rows that go together; classes of one move stand together."""

    move_of_class: Ids
    targets_by_move: Ids
    pattern: Ids
    values: Ids
    """Of each class, those that were found like the pattern's."""
    narrow: bool
    """Whether only these are raised."""
    class_start: Counts
    row_by_member: Counts
    """The rows of class c are those from ``class_start[c]`` to the next start."""


class Reading(NamedTuple):
    """What a row holds besides its nodes: what is above them; the shape of the trees."""

    parent: Ids
    shape: Shape


class Raised(NamedTuple):
    """What raising the pattern's own rows changes, by move and set.

    The change of the set's count, and the counts of its image on either side, this raising included; -1
    where the image is the set.
    """

    change: Counts
    image_here: Counts
    image_there: Counts


class Counted(NamedTuple):
    """Sets, how many records of each side hold them, and how many of the pattern's."""

    sets: Sets
    counts: Counts
    own_held: Counts


class Work(NamedTuple):
    """Work space of a count over classes; the last five are by set."""

    seen: Counts
    """By node, the stamp of the last row that held it."""
    role: Ids
    own_role: Ids
    """What becomes of each node of each set in the rows of the class, and in the pattern's own, which
    makes the image; `role` itself for no images."""
    affected: Ids
    change: Counts
    image_change: Counts
    touched: Counts
    """How many records that move hold the set."""
    at: Counts
    """The last stamp and the last move, and how many sets are affected."""


STAMP, MOVE, AFFECTED = 0, 1, 2
"""Places in `Work.at`."""
OTHER, TARGET = -1, -2


@jit
def _role(node: int, targets: Ids, values: Ids, narrow: bool, shape: Shape) -> int:
    """Return what a move makes of a node: the highest target above it, `TARGET` or `OTHER`."""
    above = -1
    for target in targets if not narrow else targets[:0]:
        if (above < 0 or shape[2][target] < shape[2][above]) and is_below(node, target, shape):
            above = int(target)
    if above >= 0:
        return above
    for slot in range(targets.size):
        if targets[slot] == node:
            return TARGET
    if narrow:
        for slot in range(targets.size):
            if values[slot] == node:
                return int(targets[slot])
    return OTHER


@jit
def _find_roles(targets: Ids, values: Ids, narrow: bool, sets: Sets, shape: Shape, role: Ids) -> None:
    """Find what a move makes of each node of each set."""
    nodes, sizes = sets
    for which in range(sizes.size):
        for i in range(sizes[which]):
            role[which, i] = _role(nodes[which, i], targets, values, narrow, shape)


@jit
def _find_affected(role: Ids, other_role: Ids, sizes: Ids, affected: Ids) -> int:
    """List the sets that a move concerns on either side; return how many there are."""
    found = 0
    for which in range(sizes.size):
        for i in range(sizes[which]):
            if role[which, i] != OTHER or other_role[which, i] != OTHER:
                affected[found] = which
                found += 1
                break
    return found


@jit
def count_raised(
    low: int,
    high: int,
    n_patterns: int,
    classes: Classes,
    sets: Sets,
    held_before: Counts,
    shape: Shape,
    moved: Index,
    here: Index,
    there: Index,
    raised: Raised,
) -> None:
    """Count what raising the pattern's own rows changes, for the moves low .. high - 1.

    Images are counted for the first `n_patterns` sets. `moved` are the pattern's rows alone, `here` all
    rows of that side and `there` the other's.
    """
    nodes, sizes = sets
    change, image_here, image_there = raised
    width = max(1, nodes.shape[1])
    probe, room = np.empty(width, np.int32), np.empty(width, np.int32)
    role = np.empty((sizes.size, width), np.int32)
    affected = np.empty(sizes.size, np.int32)
    for move in range(low, high):
        change[move] = 0
        image_here[move] = -1
        image_there[move] = -1
        _find_roles(classes.targets_by_move[move], classes.pattern, classes.narrow, sets, shape, role)
        for turn in range(_find_affected(role, role, sizes, affected)):
            which = affected[turn]
            lost = False
            rest = 0
            for i in range(sizes[which]):
                if role[which, i] >= 0:
                    lost = True
                elif role[which, i] == OTHER:
                    probe[rest] = nodes[which, i]
                    rest += 1
            # The moved rows that have the rest of the set: afterwards they hold its image.
            with_rest = support_of(probe, rest, moved, 0, room)
            change[move, which] = (0 if lost else with_rest) - held_before[which]
            if which >= n_patterns or not lost:
                continue
            for i in range(sizes[which]):
                probe[i] = role[which, i] if role[which, i] >= 0 else nodes[which, i]
            had = support_of(probe, sizes[which], moved, 0, room)
            image_here[move, which] = support_of(probe, sizes[which], here, 0, room) - had + with_rest
            image_there[move, which] = support_of(probe, sizes[which], there, 0, room)


@jit
def _count_changes(
    members: Counts, n_patterns: int, sets: Sets, rows: Rows, parent: Ids, work: Work
) -> None:
    """Count what raising some rows, the members of a class, changes of the sets that are affected.

    For each the change of its count, for the first `n_patterns` that of its image's, and how many
    of its records move.
    """
    indptr, items, weight_by_row = rows
    nodes, sizes = sets
    seen, role, own_role, every, change, image_change, touched, at = work
    affected = every[: at[AFFECTED]]
    stamp = at[STAMP]
    for turn in range(affected.size):
        change[affected[turn]] = 0
        image_change[affected[turn]] = 0
        touched[affected[turn]] = 0
    for place in range(members.size):
        row = members[place]
        stamp += 1
        for entry in range(indptr[row], indptr[row + 1]):
            node = items[entry]
            while node >= 0 and seen[node] != stamp:
                seen[node] = stamp
                node = parent[node]
        weight = weight_by_row[row]
        for turn in range(affected.size):
            which = affected[turn]
            before = after = image_before = image_after = True
            for i in range(sizes[which]):
                kind = role[which, i]
                image = own_role[which, i]
                has = seen[nodes[which, i]] == stamp
                has_after = kind == TARGET or (kind == OTHER and has)
                before = before and has
                after = after and has_after
                if image >= 0:
                    # Every row that moves holds all targets afterwards.
                    image_before = image_before and seen[image] == stamp
                else:
                    image_before = image_before and has
                    image_after = image_after and has_after
                    if not has and not has_after:
                        break
            if before:
                touched[which] += weight
                change[which] -= weight
            if after:
                change[which] += weight
            if which < n_patterns:
                if image_before:
                    image_change[which] -= weight
                if image_after:
                    image_change[which] += weight
    at[STAMP] = stamp


@jit
def _new_work(sets: Sets, n_nodes: int, with_images: bool) -> Work:
    """Return work space for these sets of a tree of so many nodes."""
    nodes, sizes = sets
    role = np.empty(nodes.shape, np.int32)
    by_set = np.zeros((3, sizes.size), np.int64)
    return Work(
        np.full(n_nodes, -1, np.int64),
        role,
        np.empty(nodes.shape, np.int32) if with_images else role,
        np.empty(sizes.size, np.int32),
        by_set[0],
        by_set[1],
        by_set[2],
        np.array([0, -1, 0]),
    )


@jit
def _count_class(
    which: int, classes: Classes, n_patterns: int, sets: Sets, rows: Rows, reading: Reading, work: Work
) -> int:
    """Count what raising the rows of a class changes, into `work`; return its move."""
    move = classes.move_of_class[which]
    at = work.at
    if move != at[MOVE] or classes.narrow:
        targets = classes.targets_by_move[move]
        if move != at[MOVE] and n_patterns > 0:
            _find_roles(targets, classes.pattern, classes.narrow, sets, reading.shape, work.own_role)
        at[MOVE] = move
        work.change[:] = 0
        work.image_change[:] = 0
        work.touched[:] = 0
        values = classes.values[which]
        _find_roles(targets, values, classes.narrow, sets, reading.shape, work.role)
        at[AFFECTED] = _find_affected(work.role, work.own_role, sets.sizes, work.affected)
    members = classes.row_by_member[classes.class_start[which] : classes.class_start[which + 1]]
    _count_changes(members, n_patterns, sets, rows, reading.parent, work)
    return int(move)


@jit
def worst_growth(here: int, there: int, records: Counts, least: Counts) -> float:
    """Return the larger growth of a set with these counts, either way; 0 where it is too rare.

    `here` counts the first side's records, `there` the second's; infinite where one side lacks it.
    """
    found = 0.0
    if here >= least[0]:
        found = np.inf if there == 0 else (here / records[0]) / (there / records[1])
    if there >= least[1]:
        back = np.inf if here == 0 else (there / records[1]) / (here / records[0])
        found = max(found, back)
    return found


@jit
def score_moves(
    low: int,
    high: int,
    side: int,
    classes: Classes,
    patterns: Counted,
    raised: Raised,
    rows: Rows,
    reading: Reading,
    records: Counts,
    least: Counts,
    jumping: Counts,
    finite: Reals,
) -> None:
    """Score the moves of the classes low .. high - 1, each raised with the pattern's own rows.

    `jumping` gets how many jumping patterns fewer there are, `finite` the sum by which the finite
    growths fall. `side` is that of the pattern's rows, and `raised` is from `count_raised`. By side,
    there are so many `records`, and `least` of them make a pattern.
    """
    sets, counts, own_held = patterns
    raised_change, image_here, image_there = raised
    n_sets = sets.sizes.size
    work = _new_work(sets, reading.parent.size, True)
    change, image_change, touched = work.change, work.image_change, work.touched
    now, growth = np.empty(2, np.int64), np.empty(n_sets, np.float64)
    for which in range(n_sets):
        growth[which] = worst_growth(counts[which, 0], counts[which, 1], records, least)
    for which_class in range(low, high):
        move = _count_class(which_class, classes, n_sets, sets, rows, reading, work)
        fewer = 0
        fall = 0.0
        for which in range(n_sets):
            before = growth[which]
            now[side] = counts[which, side] + raised_change[move, which]
            now[1 - side] = counts[which, 1 - side] + change[which]
            after = worst_growth(now[0], now[1], records, least)
            moves = touched[which] > 0 or own_held[which] > 0
            if moves and image_here[move, which] >= 0:
                now[side] = image_here[move, which]
                now[1 - side] = image_there[move, which] + image_change[which]
                after = max(after, worst_growth(now[0], now[1], records, least))
            if before == np.inf:
                if after != np.inf:
                    fewer += 1
            elif after == np.inf:
                fewer -= 1
            else:
                fall += before - after
        jumping[which_class] = fewer
        finite[which_class] = fall


@jit
def find_distances(
    low: int,
    high: int,
    classes: Classes,
    forms: Sets,
    counts: Counts,
    raised_change: Counts,
    rows: Rows,
    reading: Reading,
    least: int,
    start_by_itemset: Counts,
    distance_by_form: Reals,
    distance: Reals,
) -> None:
    """Find how far each frequent itemset would be from what is left of it, for classes low .. high - 1.

    The forms of an itemset are itself and all that is more general, nearest first. `distance` gets,
    for each class and itemset, the distance of the nearest form that is frequent; -1 where none is.
    """
    work = _new_work(forms, reading.parent.size, False)
    change = work.change
    for which_class in range(low, high):
        move = _count_class(which_class, classes, 0, forms, rows, reading, work)
        for itemset in range(start_by_itemset.size - 1):
            distance[which_class, itemset] = -1.0
            for form in range(start_by_itemset[itemset], start_by_itemset[itemset + 1]):
                if counts[form] + raised_change[move, form] + change[form] >= least:
                    distance[which_class, itemset] = distance_by_form[form]
                    break
