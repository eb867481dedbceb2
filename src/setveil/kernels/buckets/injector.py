"""Forming groups of tuples that can swap their sensitive values: lines 2-17 of Injector's Figure 2.

Tuples are seen as classes: a sensitive value, and the number of a set of values ruled out. Two tuples
are compatible if their values differ and each may take the other's. NIT of a group is the number of
tuples at hand that are not compatible with all of it. For a group g and a candidate of value s with
set S it is ::

    NIT[g] + able(s) + sum over v in S + {s} of (open(v) - unable(v, s))

where only *open* tuples are counted, those compatible with g: open(v) have value v, able(s) is how many
cannot take s, and unable(v, s) how many of value v cannot. So a candidate costs as much as its set is
large, whatever the number of tuples.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..base import Counts, Flags, Ids, jit

ATTEMPTS = 256
"""How many groups are tried between two lists of the classes that have tuples left."""


class Classes(NamedTuple):
    """Classes of tuples as arrays; a *ruled* value is one that some set holds."""

    value: Ids
    """The sensitive value of each class."""
    kind: Ids
    """The set of each class."""
    cannot: Flags
    """Which values (columns) each set (lines) holds."""
    ruled_start: Counts
    ruled: Ids
    """The values of set i are ``ruled[ruled_start[i] : ruled_start[i + 1]]``."""
    column_of_value: Ids
    """The place of each value among the ruled ones, -1 for the others."""


class Tallies(NamedTuple):
    """Counts of tuples that are not yet in a group; all but the first of open ones only."""

    remaining: Counts
    """By class."""
    by_value: Counts
    unable: Counts
    """By ruled value: how many cannot take it."""
    unable_by_value: Counts
    """The same by value (lines) and ruled value (columns)."""


@jit
def are_incompatible(classes: Classes, one: int, other: int) -> bool:
    """Tell whether tuples of two classes cannot swap their values, or have the same (Definition 2)."""
    value, value_of_other = classes.value[one], classes.value[other]
    return bool(
        value == value_of_other
        or classes.cannot[classes.kind[one], value_of_other]
        or classes.cannot[classes.kind[other], value]
    )


@jit
def add_tuples(classes: Classes, tallies: Tallies, which: int, count: int) -> None:
    """Add tuples of a class to the open ones; a negative count takes them away."""
    value, kind = classes.value[which], classes.kind[which]
    tallies.by_value[value] += count
    for place in range(classes.ruled_start[kind], classes.ruled_start[kind + 1]):
        column = classes.column_of_value[classes.ruled[place]]
        tallies.unable[column] += count
        tallies.unable_by_value[value, column] += count


@jit
def count_incompatible(classes: Classes, tallies: Tallies, which: int) -> int:
    """Return how many open tuples are incompatible with a class."""
    value, kind = classes.value[which], classes.kind[which]
    column = classes.column_of_value[value]
    found = tallies.by_value[value]
    if column >= 0:
        found += tallies.unable[column] - tallies.unable_by_value[value, column]
    for place in range(classes.ruled_start[kind], classes.ruled_start[kind + 1]):
        other = classes.ruled[place]
        found += tallies.by_value[other]
        if column >= 0:
            found -= tallies.unable_by_value[other, column]
    return int(found)


@jit
def _choose(
    classes: Classes,
    tallies: Tallies,
    listed: Counts,
    is_shut: Flags,
    cost: Counts,
    most: bool,
    word: int,
) -> int:
    """Return the open class with most (or fewest) incompatible tuples, -1 where none is open.

    Of equally good tuples a random one is taken, so a class counts as often as it has tuples.
    """
    best, ties = -1, 0
    for which in listed:
        count = tallies.remaining[which]
        if count == 0 or is_shut[which]:
            continue
        here = count_incompatible(classes, tallies, which)
        cost[which] = here
        if best < 0 or (here > best if most else here < best):
            best, ties = here, count
        elif here == best:
            ties += count
    if best < 0:
        return -1
    place = word % ties
    for which in listed:
        if tallies.remaining[which] > 0 and not is_shut[which] and cost[which] == best:
            place -= tallies.remaining[which]
            if place < 0:
                return int(which)
    return -1


@jit
def form_groups(
    classes: Classes,
    tallies: Tallies,
    l: int,
    words: Counts,
    grouped: Ids,
    n_grouped: int,
    rest: Ids,
    n_rest: int,
    nit_by_choice: Counts,
) -> tuple[int, int, int]:
    """Form groups of `l` mutually compatible tuples until fewer than `l` tuples or words are left.

    Parameters
    ----------
    classes, tallies
        The tuples; `tallies` are changed in place, and outside of this function all are open.
    l
        The size of a group.
    words
        Random words; each choice takes one.
    grouped, n_grouped
        The classes of each group in turn, and how many of them are there already.
    rest, n_rest
        The classes of tuples for which no group was found.
    nit_by_choice
        Gets the NIT of each choice, by its word.

    Returns
    -------
    n_grouped, n_rest, choices
        The new counts, and how many words were used.
    """
    n_classes = classes.value.size
    is_shut = np.zeros(n_classes, np.bool_)
    shut = np.empty(n_classes, np.int64)
    cost = np.empty(n_classes, np.int64)
    total = tallies.remaining.sum()
    used, attempts = 0, 0
    listed = np.flatnonzero(tallies.remaining)
    while total >= l and used + l <= words.size:
        attempts += 1
        if attempts % ATTEMPTS == 0:
            # Rare values run out early, and classes without tuples need not be looked at.
            listed = np.flatnonzero(tallies.remaining)
        n_shut, size = 0, 0
        shut_tuples = np.int64(0)
        while size < l:
            # Line 3 takes the tuple with most, lines 12-13 that with fewest incompatible tuples.
            new = _choose(classes, tallies, listed, is_shut, cost, size == 0, words[used])
            if new < 0:
                break
            nit_by_choice[used] = shut_tuples + cost[new]
            used += 1
            grouped[n_grouped + size] = new
            size += 1
            total -= 1
            tallies.remaining[new] -= 1
            add_tuples(classes, tallies, new, -1)
            for number in listed:
                which = int(number)
                if not is_shut[which] and are_incompatible(classes, new, which):
                    is_shut[which] = True
                    shut[n_shut] = which
                    n_shut += 1
                    add_tuples(classes, tallies, which, -tallies.remaining[which])
                    shut_tuples += tallies.remaining[which]
        if size == l:
            n_grouped += l
        else:
            # Lines 8-11: the first tuple is put aside, the others go back.
            rest[n_rest] = grouped[n_grouped]
            n_rest += 1
            for place in range(n_grouped + 1, n_grouped + size):
                tallies.remaining[grouped[place]] += 1
                total += 1
        for place in range(n_shut):
            is_shut[shut[place]] = False
            add_tuples(classes, tallies, shut[place], tallies.remaining[shut[place]])
    return n_grouped, n_rest, used
