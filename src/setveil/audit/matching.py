"""Which sensitive values each published row of a bucket can have, from the published tables alone.

Whose value is whose is not known here, so an assignment of values to rows is looked for from nothing:
rows take what is free, and where nothing is, others give theirs up along a chain. Rows that cannot have
the same values are one line of a small table, with a count. Given one assignment, a line can have a
value if there is a way to move values around in a circle through both; all lines and values from which
and to which there is a way form a block, and blocks are found one at a time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._jit import jit

Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]


@jit
def _assign(demand: Counts, supply: Counts, may: Flags, given: Counts) -> bool:
    """Fill `given`, values by line and column, and tell whether every row got one."""
    lines, columns = given.shape
    giver_of_line = np.empty(lines, np.int64)
    through = np.empty(lines, np.int64)
    stack = np.empty(lines, np.int64)
    for line in range(lines):
        for column in range(columns):
            if may[line, column]:
                taken = min(demand[line], supply[column])
                given[line, column] += taken
                demand[line] -= taken
                supply[column] -= taken
    for line in range(lines):
        while demand[line] > 0:
            # Depth first: who could give up a value that this line may have?
            giver_of_line[:] = -1
            giver_of_line[line] = line
            stack[0] = line
            height = 1
            end, free = -1, -1
            while height > 0 and end < 0:
                height -= 1
                here = stack[height]
                for column in range(columns):
                    if not may[here, column]:
                        continue
                    if supply[column] > 0:
                        end, free = here, column
                        break
                    for other in range(lines):
                        if giver_of_line[other] < 0 and given[other, column] > 0:
                            giver_of_line[other] = here
                            through[other] = column
                            stack[height] = other
                            height += 1
            if end < 0:
                return False
            # One value moves along the chain; with larger counts as many as every step allows.
            amount = min(demand[line], supply[free])
            here = end
            while here != line:
                amount = min(amount, given[here, through[here]])
                here = giver_of_line[here]
            supply[free] -= amount
            demand[line] -= amount
            here, column = end, free
            while True:
                given[here, column] += amount
                if here == line:
                    break
                column = through[here]
                given[here, column] -= amount
                here = giver_of_line[here]
    return True


@jit
def _spread(given: Counts, may: Flags, start: int, forward: bool, reached: Flags) -> None:
    """Mark all lines, then columns, that there is a way to from `start`, or from them to it."""
    lines, columns = given.shape
    reached[:] = False
    reached[start] = True
    stack = np.empty(lines + columns, np.int64)
    stack[0] = start
    height = 1
    while height > 0:
        height -= 1
        node = stack[height]
        if node < lines:
            for column in range(columns):
                step = may[node, column] if forward else given[node, column] > 0
                if step and not reached[lines + column]:
                    reached[lines + column] = True
                    stack[height] = lines + column
                    height += 1
        else:
            for line in range(lines):
                step = given[line, node - lines] > 0 if forward else may[line, node - lines]
                if step and not reached[line]:
                    reached[line] = True
                    stack[height] = line
                    height += 1


@jit
def find_possible(demand: Counts, supply: Counts, may: Flags) -> Flags:
    """Return which values (columns) the rows of each line can have; none where no assignment exists.

    Parameters
    ----------
    demand, supply
        How many rows a line has, and how often a value is there.
    may
        Whether a row of the line may have the value.
    """
    lines, columns = may.shape
    possible = np.zeros(may.shape, np.bool_)
    given = np.zeros(may.shape, np.int64)
    if not _assign(demand.copy(), supply.copy(), may, given):
        return possible
    block = np.full(lines + columns, -1, np.int64)
    ahead = np.empty(lines + columns, np.bool_)
    behind = np.empty(lines + columns, np.bool_)
    for start in range(lines):
        if block[start] >= 0:
            continue
        _spread(given, may, start, True, ahead)
        _spread(given, may, start, False, behind)
        for node in range(lines + columns):
            if ahead[node] and behind[node]:
                block[node] = start
    for line in range(lines):
        for column in range(columns):
            if may[line, column] and (given[line, column] > 0 or block[line] == block[lines + column]):
                possible[line, column] = True
    return possible


@jit
def list_possible(
    line_start: Counts,
    kind_by_line: Counts,
    rows_by_line: Counts,
    column_start: Counts,
    value_by_column: Counts,
    count_by_column: Counts,
    cannot: Flags,
    pair_start: Counts,
    possible: Flags,
) -> None:
    """Fill in which values the rows of each line can have; none where a bucket has no assignment.

    Parameters
    ----------
    line_start, kind_by_line, rows_by_line
        The lines of bucket b are ``line_start[b] : line_start[b + 1]``: a kind of rows, and how many.
    column_start, value_by_column, count_by_column
        The sensitive values of each bucket likewise, with their counts.
    cannot
        Which values (columns) each kind (lines) cannot have.
    pair_start, possible
        The pairs of line and column of bucket b begin at ``pair_start[b]``, line by line.
    """
    for bucket in range(line_start.size - 1):
        low, high = line_start[bucket], line_start[bucket + 1]
        left, right = column_start[bucket], column_start[bucket + 1]
        may = np.empty((high - low, right - left), np.bool_)
        for line in range(high - low):
            for column in range(right - left):
                may[line, column] = not cannot[kind_by_line[low + line], value_by_column[left + column]]
        found = find_possible(rows_by_line[low:high], count_by_column[left:right], may)
        possible[pair_start[bucket] : pair_start[bucket + 1]] = found.ravel()
