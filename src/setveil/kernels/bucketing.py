"""Dealing sensitive values out to groups, the most frequent first."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np

from ._calls import Counts, Ids
from ._jit import jit


@jit
def deal_values(count_by_value: Counts, l: int, words: Counts) -> tuple[Ids, int]:  # noqa: E741
    """Take one of each of the `l` values with most left, again and again, while there are `l`.

    Parameters
    ----------
    count_by_value
        How many tuples have each value.
    l
        How many values make a group.
    words
        Random words, one for each tuple; they tell equally frequent values apart.

    Returns
    -------
    values, dealt
        Values, each as often as it is counted: the first ``dealt * l`` are the groups in turn, the
        others are left over.
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
