"""Which sensitive values the people of a bucket can have, given what each cannot have.

People with the same set of impossible values are interchangeable, and so are equal values. So a bucket
is a small table: a line for each such set, a column for each value, and `flow`, how many of the line
hold a value of the column. One full assignment tells about all others: a pair can be had if and only
if the assignment has it, or it lies on a cycle of swaps, that is inside one strongly connected
component of the graph with edges line -> column (may take) and column -> line (takes now).
"""

from __future__ import annotations

import numpy as np

from ..base import Counts, Flags, Ids, grown, jit


@jit
def fill_assignment(flow: Counts, need: Counts, spare: Counts, allowed: Flags) -> bool:
    """Hand the `spare` values to the lines that `need` some, in place; tell if all then have one.

    Others are moved on where that helps: shortest augmenting paths, each as wide as it can be.
    """
    lines, columns = flow.shape
    from_line = np.empty(columns, np.int64)
    from_column = np.empty(lines, np.int64)
    queue = np.empty(lines, np.int64)
    while True:
        from_line[:] = -1
        from_column[:] = -2
        end = 0
        for line in range(lines):
            if need[line] > 0:
                from_column[line] = -1
                queue[end] = line
                end += 1
        if end == 0:
            return True
        low = 0
        goal = -1
        while low < end and goal < 0:
            line = queue[low]
            low += 1
            for column in range(columns):
                if from_line[column] >= 0 or not allowed[line, column]:
                    continue
                from_line[column] = line
                if spare[column] > 0:
                    goal = column
                    break
                for other in range(lines):
                    if from_column[other] == -2 and flow[other, column] > 0:
                        from_column[other] = column
                        queue[end] = other
                        end += 1
        if goal < 0:
            return False
        _push(flow, need, spare, from_line, from_column, goal)


@jit
def _push(
    flow: Counts, need: Counts, spare: Counts, from_line: Counts, from_column: Counts, goal: int
) -> None:
    """Send as much as fits along the path that ends at the column `goal`."""
    width = spare[goal]
    column = goal
    line = from_line[column]
    while from_column[line] >= 0:
        column = from_column[line]
        width = min(width, flow[line, column])
        line = from_line[column]
    width = min(width, need[line])
    need[line] -= width
    spare[goal] -= width
    column = goal
    line = from_line[column]
    while True:
        flow[line, column] += width
        column = from_column[line]
        if column < 0:
            return
        flow[line, column] -= width
        line = from_line[column]


@jit
def find_components(flow: Counts, allowed: Flags) -> Ids:
    """Return the strongly connected component of each line, then of each column (Tarjan)."""
    lines, columns = flow.shape
    size = lines + columns
    component = np.full(size, -1, np.int32)
    order = np.full(size, -1, np.int64)
    lowest = np.empty(size, np.int64)
    next_edge = np.zeros(size, np.int64)
    path = np.empty(size, np.int64)
    waiting = np.empty(size, np.int64)
    n_waiting, n_seen, n_components = 0, 0, 0
    for start in range(size):
        if order[start] >= 0:
            continue
        depth = 0
        path[0] = start
        while depth >= 0:
            node = path[depth]
            if order[node] < 0:
                order[node] = lowest[node] = n_seen
                n_seen += 1
                waiting[n_waiting] = node
                n_waiting += 1
            deeper = False
            is_line = node < lines
            ends = columns if is_line else lines
            while next_edge[node] < ends:
                edge = next_edge[node]
                if is_line:
                    there, other = allowed[node, edge], lines + edge
                else:
                    there, other = flow[edge, node - lines] > 0, edge
                if there and order[other] < 0:
                    # The edge is looked at again on the way back, when `lowest[other]` is known.
                    depth += 1
                    path[depth] = other
                    deeper = True
                    break
                if there and component[other] < 0:
                    lowest[node] = min(lowest[node], lowest[other])
                next_edge[node] += 1
            if deeper:
                continue
            if lowest[node] == order[node]:
                while True:
                    n_waiting -= 1
                    other = waiting[n_waiting]
                    component[other] = n_components
                    if other == node:
                        break
                n_components += 1
            depth -= 1
    return component


@jit
def find_valid(held: Counts, allowed: Flags) -> tuple[bool, Flags]:
    """Return whether there is an assignment, and which pairs of line and column some assignment has.

    ``held[line, column]`` people of a line have a value of their own; where they may not have it by
    `allowed`, they look for another.
    """
    lines, columns = held.shape
    flow = np.zeros((lines, columns), np.int64)
    need = np.zeros(lines, np.int64)
    spare = np.zeros(columns, np.int64)
    for line in range(lines):
        for column in range(columns):
            if allowed[line, column]:
                flow[line, column] = held[line, column]
            else:
                need[line] += held[line, column]
                spare[column] += held[line, column]
    valid = np.zeros((lines, columns), np.bool_)
    if not fill_assignment(flow, need, spare, allowed):
        return False, valid
    component = find_components(flow, allowed)
    for line in range(lines):
        for column in range(columns):
            valid[line, column] = allowed[line, column] and (
                flow[line, column] > 0 or component[line] == component[lines + column]
            )
    return True, valid


@jit
def gather_bucket(
    sets: Ids, values: Ids, counts: Counts, cannot: Flags, line_of_set: Ids, column_of_value: Ids
) -> tuple[Counts, Flags]:
    """Return a bucket's table of people and which pairs are allowed, from its classes.

    A class is the number of its set of impossible values, its value, and how many there are;
    ``cannot[set]`` tells what a set holds. The lines and columns given are left in `line_of_set` and
    `column_of_value`, work space of -1 for `forget_bucket` to clear.
    """
    set_of_line = np.empty(sets.size, np.int32)
    value_of_column = np.empty(sets.size, np.int32)
    lines, columns = 0, 0
    for place in range(sets.size):
        if line_of_set[sets[place]] < 0:
            line_of_set[sets[place]] = lines
            set_of_line[lines] = sets[place]
            lines += 1
        if column_of_value[values[place]] < 0:
            column_of_value[values[place]] = columns
            value_of_column[columns] = values[place]
            columns += 1
    held = np.zeros((lines, columns), np.int64)
    for place in range(sets.size):
        held[line_of_set[sets[place]], column_of_value[values[place]]] += counts[place]
    allowed = np.empty((lines, columns), np.bool_)
    for line in range(lines):
        for column in range(columns):
            allowed[line, column] = not cannot[set_of_line[line], value_of_column[column]]
    return held, allowed


@jit
def forget_bucket(sets: Ids, values: Ids, line_of_set: Ids, column_of_value: Ids) -> None:
    """Set the work space of `gather_bucket` back to -1."""
    for place in range(sets.size):
        line_of_set[sets[place]] = -1
        column_of_value[values[place]] = -1


@jit
def count_valid(
    start: Counts, sets: Ids, values: Ids, counts: Counts, cannot: Flags, uncounted: int
) -> Ids:
    """Return how many values each class of each bucket can have; 0 where there is no assignment.

    The classes of bucket b are ``start[b] : start[b + 1]`` of `sets`, `values` and `counts`. The value
    `uncounted`, -1 for none, may be had and is not counted.
    """
    line_of_set = np.full(cannot.shape[0], -1, np.int32)
    column_of_value = np.full(cannot.shape[1], -1, np.int32)
    found = np.zeros(sets.size, np.int32)
    for bucket in range(start.size - 1):
        low, high = start[bucket], start[bucket + 1]
        held, allowed = gather_bucket(
            sets[low:high], values[low:high], counts[low:high], cannot, line_of_set, column_of_value
        )
        _, valid = find_valid(held, allowed)
        if uncounted >= 0 and column_of_value[uncounted] >= 0:
            valid[:, column_of_value[uncounted]] = False
        for place in range(low, high):
            found[place] = valid[line_of_set[sets[place]]].sum()
        forget_bucket(sets[low:high], values[low:high], line_of_set, column_of_value)
    return found


@jit
def list_valid(
    line_start: Counts, set_by_line: Ids, held_start: Counts, values: Ids, counts: Counts, cannot: Flags
) -> tuple[Counts, Ids]:
    """Return where the values begin that each line of each bucket can have, and all of them.

    The lines of bucket b are ``line_start[b] : line_start[b + 1]``; each has a set of impossible
    values, as in `gather_bucket`. Line i holds ``held_start[i] : held_start[i + 1]``: values, and how
    many of each.
    """
    column_of_value = np.full(cannot.shape[1], -1, np.int64)
    value_of_column = np.empty(cannot.shape[1], np.int32)
    start = np.zeros(set_by_line.size + 1, np.int64)
    found = np.empty(2 * values.size, np.int32)
    n_found = 0
    for bucket in range(line_start.size - 1):
        low, high = line_start[bucket], line_start[bucket + 1]
        columns = 0
        for place in range(held_start[low], held_start[high]):
            if column_of_value[values[place]] < 0:
                column_of_value[values[place]] = columns
                value_of_column[columns] = values[place]
                columns += 1
        held = np.zeros((high - low, columns), np.int64)
        allowed = np.empty((high - low, columns), np.bool_)
        for line in range(low, high):
            for place in range(held_start[line], held_start[line + 1]):
                held[line - low, column_of_value[values[place]]] = counts[place]
            for column in range(columns):
                allowed[line - low, column] = not cannot[set_by_line[line], value_of_column[column]]
        _, valid = find_valid(held, allowed)
        found = grown(found, n_found, n_found + valid.size)
        for line in range(low, high):
            for column in range(columns):
                if valid[line - low, column]:
                    found[n_found] = value_of_column[column]
                    n_found += 1
            start[line + 1] = n_found
        for column in range(columns):
            column_of_value[value_of_column[column]] = -1
    return start, found[:n_found]
