"""Forming groups of tuples: Anatomy's dealing of values, and Injector's compact grouping.

Anatomy deals values out to groups, the most frequent first. Injector's tuples of a group can swap their
values, and as many groups are formed as can be found. Lines 2-17 of Injector's Figure 2 add the tuple
to a group that leaves fewest tuples incompatible with it. That takes rare values first, and what is
left at the end shares few values. Here the tuple that is hardest to place, the one incompatible with
most of those at hand, is taken at every step, and not only at the first. Without rules that is the most
frequent value, as Anatomy does it. Where a group cannot be completed, its last tuple is taken out again
and others are tried. A class that is in no group of l at all then is in none later either, for tuples
only become fewer, so all its tuples are put aside at once.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np

from ..base import Counts, Ids, jit
from .injector import Classes

STEPS = 400_000
"""Classes looked at, about, until one that finds no group is given up."""
ATTEMPTS = 256
"""How many groups are formed between two lists of the classes that have tuples left."""


@jit
def _hardest(open_classes: Counts, remaining: Counts, hardness: Counts, tied: Counts, word: int) -> int:
    """Return the place of the class that is incompatible with most tuples.

    Of equally hard tuples a random one is taken, so a class counts as often as it has tuples.
    """
    best, ties, n_tied = np.int64(-1), np.int64(0), 0
    for place in range(open_classes.size):
        which = open_classes[place]
        if hardness[which] < best:
            continue
        if hardness[which] > best:
            best, ties, n_tied = hardness[which], np.int64(0), 0
        ties += remaining[which]
        tied[n_tied] = place
        n_tied += 1
    share = word % ties
    for number in range(n_tied):
        share -= remaining[open_classes[tied[number]]]
        if share < 0:
            return int(tied[number])
    return int(tied[n_tied - 1])


@jit
def _keep_compatible(classes: Classes, which: int, open_classes: Counts) -> int:
    """Put the classes that are compatible with one first; return how many there are."""
    value = classes.value[which]
    cannot = classes.cannot[classes.kind[which]]
    kept = 0
    for place in range(open_classes.size):
        other = open_classes[place]
        its_value = classes.value[other]
        if (
            its_value != value
            and not cannot[its_value]
            and not classes.cannot[classes.kind[other], value]
        ):
            open_classes[place] = open_classes[kept]
            open_classes[kept] = other
            kept += 1
    return kept


@jit
def _ease(classes: Classes, which: int, count: int, listed: Counts, hardness: Counts) -> None:
    """Reckon with fewer tuples of a class."""
    value = classes.value[which]
    cannot = classes.cannot[classes.kind[which]]
    for other in listed:
        its_value = classes.value[other]
        if its_value == value or cannot[its_value] or classes.cannot[classes.kind[other], value]:
            hardness[other] -= count


@jit
def form_compact(
    classes: Classes,
    remaining: Counts,
    hardness: Counts,
    l: int,
    words: Counts,
    grouped: Ids,
    n_grouped: int,
    left: Counts,
) -> tuple[int, int]:
    """Form groups of `l` mutually compatible tuples until fewer tuples or words than that are left.

    `remaining` tells how many tuples of each class are at hand, `hardness` with how many of these it is
    incompatible; both are changed in place, and `left` gets how many of each class were put aside.
    ``grouped[:n_grouped]`` are the classes of the groups so far, in turn. Each group takes `l` of the
    random `words`; the new `n_grouped` and how many words were used are returned.
    """
    tied = np.empty(classes.value.size, np.int64)
    n_open = np.zeros(l + 1, np.int64)
    total = remaining.sum()
    used, attempts = 0, 0
    listed = np.flatnonzero(remaining)
    order = listed.copy()
    while total >= l and used + l <= words.size:
        attempts += 1
        if attempts % ATTEMPTS == 0:
            listed = np.flatnonzero(remaining)
            order = listed.copy()
        # Of `order` the first n_open[size] are compatible with all of the group.
        n_open[0] = 0
        for place in range(order.size):
            which = order[place]
            if remaining[which] > 0:
                order[place] = order[n_open[0]]
                order[n_open[0]] = which
                n_open[0] += 1
        size, tried = 0, 0
        while size < l:
            open_classes = order[: n_open[size]]
            if open_classes.size > 0:
                place = _hardest(open_classes, remaining, hardness, tied, words[used + size])
                new = open_classes[place]
                grouped[n_grouped + size] = new
                size += 1
                n_open[size] = _keep_compatible(classes, new, open_classes)
                continue
            tried += 1
            if size == 1 or tried * listed.size > STEPS:
                break
            # The last one is not tried again until the one before it is taken out too.
            size -= 1
            last = grouped[n_grouped + size]
            for place in range(n_open[size]):
                if order[place] == last:
                    n_open[size] -= 1
                    order[place] = order[n_open[size]]
                    order[n_open[size]] = last
                    break
        if size == l:
            used += l
            total -= l
            for place in range(n_grouped, n_grouped + l):
                remaining[grouped[place]] -= 1
                _ease(classes, grouped[place], 1, listed, hardness)
            n_grouped += l
        else:
            first = grouped[n_grouped]
            left[first] += remaining[first]
            total -= remaining[first]
            _ease(classes, first, remaining[first], listed, hardness)
            remaining[first] = 0
    return n_grouped, used


@jit
def deal_values(count_by_value: Counts, l: int, words: Counts) -> tuple[Ids, int]:
    """Take one of each of the `l` values with most left, again and again, while there are `l`.

    There is a random word for each tuple; they tell equally frequent values apart. Returned are the
    values, each as often as it is counted, and how many groups there are: the first ``l`` values are
    the first of them and so on, the others are left over.
    """
    heap = [(-count_by_value[0], words[0], 0)]
    heap.clear()
    total = 0
    for value in range(count_by_value.size):
        if count_by_value[value] > 0:
            # A value's tuples own a range of the words; a fresh one is used each time it is put back.
            heap.append((-count_by_value[value], words[total + count_by_value[value] - 1], value))
            total += count_by_value[value]
    first_word = np.cumsum(count_by_value) - count_by_value
    heapify(heap)
    values = np.empty(total, np.int32)
    taken = np.empty(l, np.int64)
    left = np.empty(l, np.int64)
    dealt = 0
    while len(heap) >= l:
        for place in range(l):
            count, _, value = heappop(heap)
            taken[place] = value
            left[place] = -count - 1
            values[dealt * l + place] = value
        for place in range(l):
            if left[place] > 0:
                word = words[first_word[taken[place]] + left[place] - 1]
                heappush(heap, (-left[place], word, taken[place]))
        dealt += 1
    end = dealt * l
    while len(heap) > 0:
        count, _, value = heappop(heap)
        for _ in range(-count):
            values[end] = value
            end += 1
    return values, dealt
