"""How few records match what somebody knows of a record: counted for all rows, or for drawn ones.

Items are ranks: 0 is the item that the fewest records hold, and rows hold ranks ascending. A set is
rare where fewer than `k` records hold it. Two ways lead to the same answers. `count_rare_subsets` and
`mark_rare_rows` go through all itemsets of a size, each once, which is the cheaper way to treat all
rows. `search_rare` goes through the subsets of single rows, which is the cheaper way to treat a few.
Both count their steps and give up at a limit, so that what comes out depends on the data alone.
"""

from __future__ import annotations

from math import comb

import numpy as np
import numpy.typing as npt

from ..base import Counts, Flags, Ids, even_parts, in_threads, plain
from ..itemsets.projected import list_places
from ..supports import Index
from . import match_rows as loops
from .match_loops import SHARE, Data, count_rare_sized, mark_rare_sized
from .match_rows import AT_RISK, SAFE, UNKNOWN, count_holders, count_signed, search_rows

__all__ = [
    "AT_RISK",
    "SAFE",
    "SHARE",
    "UNKNOWN",
    "Data",
    "count_rare_subsets",
    "draw_known",
    "draw_records",
    "draw_signed",
    "mark_rare_rows",
    "search_rare",
    "supports_of_rows",
    "supports_signed",
]

_TASKS_PER_THREAD = 8
_LEAST_PER_TASK = 64


def count_rare_subsets(data: Data, k: int, sizes: range, steps_left: int) -> list[tuple[Counts, int]]:
    """Count the subsets of each of some sizes of each row that fewer than `k` records hold.

    All sizes are counted at once; what comes out is as if one were counted after the other.

    Parameters
    ----------
    data
        The rows.
    k
        A set is rare where fewer records than this hold it.
    sizes
        The items in a set, at least 1, in steps of 1; of the longest row no more sets of the largest
        size than fit in a number.
    steps_left
        A size that would take more than a `SHARE` of the steps that those before it leave is given up,
        and with it all larger ones.

    Returns
    -------
    counted
        For each size that was counted, how many such subsets of each row are rare, and the steps.
    """
    if not sizes:
        return []
    longest = int(np.diff(data.indptr).max(initial=0))
    choose = np.array(
        [[comb(n, t) for t in range(sizes[-1])] for n in range(longest + 1)], dtype=np.int64
    ).reshape(longest + 1, sizes[-1])
    places, start, _ = list_places(data.indptr, data.items, data.support_by_item.size, 1)
    steps_by_size = np.zeros(len(sizes), np.int64)
    rare_by_row = np.zeros((len(sizes), len(data.weight_by_row)), np.int64)
    counted = count_rare_sized(
        data, places, start, choose, k, sizes[0], steps_left, steps_by_size, rare_by_row
    )
    return [(rare_by_row[s], int(steps_by_size[s])) for s in range(counted)]


def mark_rare_rows(
    data: Data, k: int, size: int, is_open: Flags, most_steps: int
) -> tuple[Flags, int | None]:
    """Find the open rows that hold a set of `size` items that fewer than `k` records hold.

    Parameters
    ----------
    data
        The rows.
    k, size
        As for `count_rare_subsets`.
    is_open
        The rows to look at; none of them may hold a rare set of fewer items.
    most_steps
        Give up after so many steps.

    Returns
    -------
    is_open
        The rows that hold no rare set of this size, as far as it was found out.
    steps
        The steps it took; None where it gave up, so that some rows still open may hold one.
    """
    places, start, _ = list_places(data.indptr, data.items, data.support_by_item.size, 1)
    is_open = is_open.copy()
    steps = mark_rare_sized(data, places, start, k, size, most_steps, is_open)
    return is_open, None if steps < 0 else steps


def search_rare(
    rows: Ids,
    data: Data,
    index: Index,
    k: int,
    most: int,
    most_steps: int,
    from_size: int = 1,
    threads: int = 1,
) -> tuple[npt.NDArray[np.int8], Ids]:
    """Look in each of some rows for rare sets, size by size, until one is found.

    Parameters
    ----------
    rows
        The rows to look at; they may repeat.
    data, index
        The rows, and the rows of each item.
    k
        A set is rare where fewer records than this hold it.
    most
        The most items in a set.
    most_steps
        The steps that a row may take in all.
    from_size
        The first size to look for; no row given may hold a smaller rare set.
    threads
        The threads to use; the result does not depend on their number.

    Returns
    -------
    state
        For each row and size: `AT_RISK` where a rare set of this size is in the row, `SAFE` where none
        is, `UNKNOWN` where that took too many steps. A row with fewer items is known whole.
    evidence
        For each row a smallest rare set that was found, padded with -1.
    """
    rows = plain(rows, np.int32)
    state = np.zeros((len(rows), most), np.int8)
    evidence = np.full((len(rows), most), -1, np.int32)
    in_threads(
        lambda part: search_rows(rows, data, index, k, from_size, most_steps, *part, state, evidence),
        even_parts(len(rows), threads * _TASKS_PER_THREAD, _LEAST_PER_TASK),
        threads,
    )
    return state, evidence


def supports_of_rows(
    rows: Ids, data: Data, index: Index, enough: int = 0, most_steps: int = 0, threads: int = 1
) -> Counts:
    """Count the records that hold all items of each of some rows.

    Parameters
    ----------
    rows
        The rows whose items are known.
    data, index
        The rows, and the rows of each item.
    enough
        Where above 0, counting may stop at this number or above it.
    most_steps
        Where above 0, the steps that a row may take; -1 is returned where it would take more.
    threads
        The threads to use.
    """
    rows = plain(rows, np.int32)
    support = np.zeros(len(rows), np.int64)
    in_threads(
        lambda part: count_holders(rows, data, index, enough, most_steps, *part, support),
        even_parts(len(rows), threads * _TASKS_PER_THREAD, _LEAST_PER_TASK),
        threads,
    )
    return support


def supports_signed(known: Ids, data: Data, index: Index, enough: int = 0, threads: int = 1) -> Counts:
    """Count the records that fit things known: items that are there, others that are not.

    Parameters
    ----------
    known
        One row a case: an item, or ``-2 - item`` for one that is absent; -1 says nothing.
    data, index
        The rows, and the rows of each item.
    enough
        Where above 0, counting may stop at this number or above it.
    threads
        The threads to use.
    """
    known = plain(known, np.int32)
    support = np.zeros(len(known), np.int64)
    in_threads(
        lambda part: count_signed(known, data, index, enough, *part, support),
        even_parts(len(known), threads * _TASKS_PER_THREAD, _LEAST_PER_TASK),
        threads,
    )
    return support


def draw_records(data: Data, n_draws: int, seed: int) -> Ids:
    """Draw records with replacement, each with the same chance; return the rows that stand for them.

    Parameters
    ----------
    data
        The rows, at least one of them.
    n_draws
        How many records to draw.
    seed
        Where the draws begin; the same seed gives the same rows.
    """
    row_of_draw = np.empty(n_draws, np.int32)
    loops.draw_rows(seed, np.cumsum(data[2]), row_of_draw)
    return row_of_draw


def draw_known(row_of_draw: Ids, data: Data, most: int, seed: int) -> Ids:
    """Draw up to `most` items of each row without replacement; the first j of them are a random j.

    Parameters
    ----------
    row_of_draw
        The rows.
    data
        All rows.
    most
        How many items to draw; a row with fewer gives all it has, padded with -1.
    seed
        Where the draws begin.
    """
    known = np.full((len(row_of_draw), most), -1, np.int32)
    loops.draw_present(seed, plain(row_of_draw, np.int32), data[0], data[1], known)
    return known


def draw_signed(row_of_draw: Ids, data: Data, most: int, seed: int) -> Ids:
    """Draw up to `most` things about each row: items in it, and ``-2 - item`` for items not in it.

    Each thing is one or the other with the same chance, unless one kind is used up. Present items have
    the same chance each; an absent one has a chance by how many records hold it.

    Parameters
    ----------
    row_of_draw, data, most, seed
        As for `draw_known`.
    """
    known = np.full((len(row_of_draw), most), -1, np.int32)
    ends = np.cumsum(data[3])
    loops.draw_signed(seed, plain(row_of_draw, np.int32), data[0], data[1], ends, known)
    return known
