"""The distinct ones of long arrays of whole numbers, sorted.

``np.unique`` puts numbers into a hash table, of which three million distinct ones take seconds. Here
they are sorted by runs, since most keys come nearly in order (a record's number times a width, plus
an item), and numbers that lie close together are looked up in a table. What is returned is what
``np.unique`` returns, in the same order; a test compares them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[Any]
Counts = NDArray[np.int64]


def distinct(keys: Keys) -> Keys:
    """Return the distinct keys, sorted.

    >>> distinct(np.array([7, 2, 7, -1])).tolist()
    [-1, 2, 7]
    """
    low = _table_start(keys)
    if low is None:
        ordered = np.sort(keys, kind="stable")
        return ordered[_begins(ordered)]
    is_there = np.zeros(int(keys.max()) - low + 1, dtype=np.bool_)
    is_there[_offsets(keys, low)] = True
    return (np.flatnonzero(is_there) + low).astype(keys.dtype)


def count_distinct(keys: Keys) -> tuple[Keys, Counts]:
    """Return the distinct keys, sorted, and how often each is there.

    >>> [part.tolist() for part in count_distinct(np.array([7, 2, 7]))]
    [[2, 7], [1, 2]]
    """
    low = _table_start(keys)
    if low is None:
        ordered = np.sort(keys, kind="stable")
        starts = np.flatnonzero(_begins(ordered))
        return ordered[starts], np.diff(starts, append=len(ordered))
    counts = np.bincount(_offsets(keys, low))
    used = np.flatnonzero(counts)
    return (used + low).astype(keys.dtype), counts[used]


def number_distinct(keys: Keys) -> tuple[Keys, Counts]:
    """Return the distinct keys, sorted, and the place of each key among them.

    >>> [part.tolist() for part in number_distinct(np.array([7, 2, 7]))]
    [[2, 7], [1, 0, 1]]
    """
    low = _table_start(keys)
    if low is None:
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        begins = _begins(ordered)
        number = np.empty(len(keys), dtype=np.int64)
        number[order] = np.cumsum(begins) - 1
        return ordered[begins], number
    offsets = _offsets(keys, low)
    is_there = np.zeros(int(keys.max()) - low + 1, dtype=np.bool_)
    is_there[offsets] = True
    number_by_offset = np.cumsum(is_there) - 1
    return (np.flatnonzero(is_there) + low).astype(keys.dtype), number_by_offset[offsets]


def first_places(number: Counts, n_distinct: int) -> Counts:
    """Return where each of the numbers 0 .. `n_distinct` - 1, all of which occur, is first.

    >>> first_places(np.array([1, 0, 1]), 2).tolist()
    [1, 0]
    """
    first = np.empty(n_distinct, dtype=np.int64)
    # Of repeated places the last assignment stays: backwards, that is the first.
    first[number[::-1]] = np.arange(len(number) - 1, -1, -1, dtype=np.int64)
    return first


def sort_within(indptr: Counts, ids: NDArray[np.integer[Any]], width: int) -> NDArray[np.int32]:
    """Return the ids of each record in order; all are below `width`.

    >>> sort_within(np.array([0, 2, 3]), np.array([5, 1, 0]), 6).tolist()
    [1, 5, 0]
    """
    width = max(width, 1)
    record = np.repeat(np.arange(len(indptr) - 1, dtype=np.int64), np.diff(indptr))
    return (np.sort(record * width + ids, kind="stable") % width).astype(np.int32)


def _table_start(keys: Keys) -> int | None:
    """Return the least key, where a table from it to the greatest is no longer than the keys."""
    if keys.dtype.kind != "i" or not len(keys):
        return None
    low = int(keys.min())
    return low if int(keys.max()) - low < len(keys) else None


def _offsets(keys: Keys, low: int) -> Counts:
    return keys.astype(np.int64) - low


def _begins(ordered: Keys) -> NDArray[np.bool_]:
    """Tell of sorted keys where a new one begins."""
    begins = np.ones(len(ordered), dtype=np.bool_)
    begins[1:] = ordered[1:] != ordered[:-1]
    return begins
