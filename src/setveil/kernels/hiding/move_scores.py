"""What moves would change, counted without making them.

A move raises values in some rows to its targets: everything strictly below one of them or, if it is
narrow, just the values that were found like the pattern's. In a row that moves a set of nodes is held
afterwards if none of its nodes is among those raised, and each of them is a target or was in the row
before. All counting rests on that sentence. The image of a set has the targets in place of what is
raised in the pattern's own rows.

Narrow moves are for sets whose values count as they stand. In a table there is nothing else below a
target, and at every level a pattern is hidden only if everything below it goes.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..base import Counts, Ids, Words, jit
from ..supports import support_of
from .rows import Shape, is_below

Reals: TypeAlias = npt.NDArray[np.float64]
Lists: TypeAlias = tuple[Counts, Ids, Words, Ids, Counts]
"""Row lists, bitmaps and weights of one side, from `supports`."""
Rows: TypeAlias = tuple[Counts, Ids, Counts]
"""The rows of one side, and the number of records that each stands for."""
Classes: TypeAlias = tuple[Ids, Ids, Ids, Ids, bool, Counts, Counts]
"""The move of each class, the targets of each move, the values of the pattern and of each class,
whether only these are raised, and the rows of each class by start and member. Classes of one move stand
together."""

OTHER, TARGET = -1, -2


@jit
def _target_above(node: int, targets: Ids, shape: Shape) -> int:
    """Return the highest target strictly above a node; -1 where there is none."""
    best = -1
    for slot in range(targets.size):
        target = targets[slot]
        higher = best < 0 or shape[2][target] < shape[2][best]
        if higher and is_below(node, target, shape):
            best = target
    return best


@jit
def _role(node: int, targets: Ids, values: Ids, narrow: bool, shape: Shape) -> int:
    """Return what a move makes of a node: the target that replaces it, `TARGET` or `OTHER`."""
    above = -1 if narrow else _target_above(node, targets, shape)
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
def _find_roles(
    targets: Ids,
    values: Ids,
    narrow: bool,
    sets: Ids,
    sizes: Ids,
    shape: Shape,
    role: Ids,
) -> None:
    """Find what a move makes of each node of each set."""
    for which in range(sets.shape[0]):
        for i in range(sizes[which]):
            role[which, i] = _role(sets[which, i], targets, values, narrow, shape)


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
def _support(nodes: Ids, size: int, lists: Lists, room: Ids) -> int:
    return support_of(nodes, size, lists[0], lists[1], lists[2], lists[3], lists[4], 0, room)


@jit
def count_raised(
    low: int,
    high: int,
    n_patterns: int,
    targets_by_move: Ids,
    pattern: Ids,
    narrow: bool,
    sets: Ids,
    sizes: Ids,
    held_before: Counts,
    shape: Shape,
    moved: Lists,
    here: Lists,
    there: Lists,
    change: Counts,
    image_here: Counts,
    image_there: Counts,
) -> None:
    """Count what raising the pattern's own rows changes, for the moves low .. high - 1.

    For each move and set: the change of the set's count, and for the first `n_patterns` sets the counts
    of the image on either side, this raising included; -1 where the image is the set. `moved` are the
    pattern's rows alone, `here` all rows of that side and `there` the other's.
    """
    width = max(1, sets.shape[1])
    probe, room = np.empty(width, np.int32), np.empty(width, np.int32)
    role = np.empty((sets.shape[0], width), np.int32)
    affected = np.empty(sets.shape[0], np.int32)
    for move in range(low, high):
        change[move] = 0
        image_here[move] = -1
        image_there[move] = -1
        _find_roles(targets_by_move[move], pattern, narrow, sets, sizes, shape, role)
        for turn in range(_find_affected(role, role, sizes, affected)):
            which = affected[turn]
            lost = False
            rest = 0
            for i in range(sizes[which]):
                if role[which, i] >= 0:
                    lost = True
                elif role[which, i] == OTHER:
                    probe[rest] = sets[which, i]
                    rest += 1
            # The moved rows that have the rest of the set: afterwards they hold its image.
            with_rest = _support(probe, rest, moved, room)
            change[move, which] = (0 if lost else with_rest) - held_before[which]
            if which >= n_patterns or not lost:
                continue
            for i in range(sizes[which]):
                probe[i] = role[which, i] if role[which, i] >= 0 else sets[which, i]
            had = _support(probe, sizes[which], moved, room)
            image_here[move, which] = _support(probe, sizes[which], here, room) - had + with_rest
            image_there[move, which] = _support(probe, sizes[which], there, room)


@jit
def _count_changes(
    members: Counts,
    n_patterns: int,
    sets: Ids,
    sizes: Ids,
    rows: Rows,
    parent: Ids,
    seen: Counts,
    stamp: int,
    role: Ids,
    own_role: Ids,
    affected: Ids,
    change: Counts,
    image_change: Counts,
    touched: Counts,
) -> int:
    """Count what raising the rows of one class changes; return the stamp to go on with.

    For each set of `affected`: the change of its count, for the first `n_patterns` that of its image's,
    and how many of its records move. `role` is what becomes of nodes in these rows, `own_role` in the
    pattern's own rows, which makes the image.
    """
    indptr, items, weight_by_row = rows
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
            before = True
            after = True
            image_before = True
            image_after = True
            for i in range(sizes[which]):
                kind = role[which, i]
                image = own_role[which, i]
                has = seen[sets[which, i]] == stamp
                has_after = kind == TARGET or (kind == OTHER and has)
                if not has:
                    before = False
                if not has_after:
                    after = False
                if image >= 0:
                    # Every row that moves holds all targets afterwards.
                    if seen[image] != stamp:
                        image_before = False
                else:
                    if not has:
                        image_before = False
                    if not has_after:
                        image_after = False
                        if not has:
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
    return stamp


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
    sets: Ids,
    sizes: Ids,
    counts: Counts,
    own_held: Counts,
    raised_change: Counts,
    image_here: Counts,
    image_there: Counts,
    rows: Rows,
    parent: Ids,
    shape: Shape,
    records: Counts,
    least: Counts,
    jumping: Counts,
    finite: Reals,
) -> None:
    """Score the moves of the classes low .. high - 1, each raised with the pattern's own rows.

    `jumping` gets how many jumping patterns fewer there are, `finite` the sum by which the finite
    growths fall. `side` is the side of the pattern's rows; `counts` has both sides' counts of each set,
    `own_held` how many of the pattern's records hold it, and the rest is what `count_raised` found.
    """
    move_of_class, targets_by_move, pattern, values, narrow, class_start, row_by_member = classes
    n_sets = sets.shape[0]
    seen = np.full(parent.size, -1, np.int64)
    role, own_role = (
        np.empty((n_sets, sets.shape[1]), np.int32),
        np.empty((n_sets, sets.shape[1]), np.int32),
    )
    affected = np.empty(n_sets, np.int32)
    change, image_change = np.empty(n_sets, np.int64), np.empty(n_sets, np.int64)
    touched = np.empty(n_sets, np.int64)
    now = np.empty(2, np.int64)
    growth = np.empty(n_sets, np.float64)
    for which in range(n_sets):
        growth[which] = worst_growth(counts[which, 0], counts[which, 1], records, least)
    stamp = 0
    last = -1
    concerned = affected[:0]
    for which_class in range(low, high):
        move = move_of_class[which_class]
        if move != last or narrow:
            targets = targets_by_move[move]
            if move != last:
                _find_roles(targets, pattern, narrow, sets, sizes, shape, own_role)
            last = move
            change[:] = 0
            image_change[:] = 0
            touched[:] = 0
            _find_roles(targets, values[which_class], narrow, sets, sizes, shape, role)
            concerned = affected[: _find_affected(role, own_role, sizes, affected)]
        stamp = _count_changes(
            row_by_member[class_start[which_class] : class_start[which_class + 1]],
            n_sets,
            sets,
            sizes,
            rows,
            parent,
            seen,
            stamp,
            role,
            own_role,
            concerned,
            change,
            image_change,
            touched,
        )
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
    forms: Ids,
    sizes: Ids,
    counts: Counts,
    raised_change: Counts,
    rows: Rows,
    parent: Ids,
    shape: Shape,
    least: int,
    start_by_itemset: Counts,
    distance_by_form: Reals,
    distance: Reals,
) -> None:
    """Find how far each frequent itemset would be from what is left of it, for classes low .. high - 1.

    The forms of an itemset are itself and all that is more general, nearest first. `distance` gets,
    for each class and itemset, the distance of the nearest form that is frequent; -1 where none is.
    """
    move_of_class, targets_by_move, _, values, narrow, class_start, row_by_member = classes
    n_forms = forms.shape[0]
    seen = np.full(parent.size, -1, np.int64)
    role = np.empty((n_forms, forms.shape[1]), np.int32)
    affected = np.empty(n_forms, np.int32)
    change, image_change = np.empty(n_forms, np.int64), np.empty(n_forms, np.int64)
    touched = np.empty(n_forms, np.int64)
    stamp = 0
    last = -1
    concerned = affected[:0]
    for which_class in range(low, high):
        move = move_of_class[which_class]
        if move != last or narrow:
            last = move
            change[:] = 0
            targets = targets_by_move[move]
            _find_roles(targets, values[which_class], narrow, forms, sizes, shape, role)
            concerned = affected[: _find_affected(role, role, sizes, affected)]
        stamp = _count_changes(
            row_by_member[class_start[which_class] : class_start[which_class + 1]],
            0,
            forms,
            sizes,
            rows,
            parent,
            seen,
            stamp,
            role,
            role,
            concerned,
            change,
            image_change,
            touched,
        )
        for itemset in range(start_by_itemset.size - 1):
            distance[which_class, itemset] = -1.0
            for form in range(start_by_itemset[itemset], start_by_itemset[itemset + 1]):
                if counts[form] + raised_change[move, form] + change[form] >= least:
                    distance[which_class, itemset] = distance_by_form[form]
                    break
