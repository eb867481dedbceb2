"""What is possible for the rows of a bucket if somebody breaks a rule that is missing.

The certificate tells from which chance on no rule is missing that holds. So of every other pair of
conditions and a value that is as improbable to be never seen, it is known that somebody who meets
the conditions has the value. Here all such pairs are gone through. If rows of at least two buckets can
break the rule, either bucket can be as it likes. If the rows that can are in one bucket, one of them
does, and what its rows can have is found again for each of them in turn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from .conditions import Column, Paths
from .matching import find_possible, list_possible

Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Shares:
    """Each bucket as a table: lines are rows of one kind, columns values, and flags what is possible.

    Lines of a bucket lie side by side, and so do its columns. `possible` holds the flags of all lines,
    those of line i from ``flag_start[i]`` on.
    """

    bucket_by_row: Counts
    line_by_row: Counts
    line_start: Counts
    rows_by_line: Counts
    kind_by_line: Counts
    column_start: Counts
    value_by_column: Counts
    count_by_column: Counts
    cannot: Flags
    flag_start: Counts
    possible: Flags

    @classmethod
    def of(cls, bucket_by_row: Counts, kind_by_row: Counts, counts: Counts, cannot: Flags) -> Shares:
        """Return the tables of buckets; `counts` has bucket, value and count, sorted."""
        width = max(1, len(cannot))
        line, line_by_row, rows_by_line = np.unique(
            bucket_by_row * width + kind_by_row, return_inverse=True, return_counts=True
        )
        bucket_by_line, kind_by_line = np.divmod(line, width)
        every = np.arange(int(bucket_by_row.max(initial=-1)) + 2)
        line_start = np.searchsorted(bucket_by_line, every).astype(np.int64)
        column_start = np.searchsorted(counts[:, 0], every).astype(np.int64)
        columns_by_line = np.diff(column_start)[bucket_by_line]
        flag_start = np.concatenate(([0], np.cumsum(columns_by_line))).astype(np.int64)
        possible = np.zeros(int(flag_start[-1]), dtype=np.bool_)
        value_by_column = np.ascontiguousarray(counts[:, 1], dtype=np.int64)
        count_by_column = np.ascontiguousarray(counts[:, 2], dtype=np.int64)
        list_possible(
            line_start,
            kind_by_line.astype(np.int64),
            rows_by_line.astype(np.int64),
            column_start,
            value_by_column,
            count_by_column,
            cannot,
            flag_start[line_start],
            possible,
        )
        return cls(
            bucket_by_row,
            line_by_row.astype(np.int64),
            line_start,
            rows_by_line.astype(np.int64),
            kind_by_line.astype(np.int64),
            column_start,
            value_by_column,
            count_by_column,
            cannot,
            flag_start,
            possible,
        )

    def pairs(self) -> tuple[Counts, Counts]:
        """Return every pair of a line and a value that is possible for it."""
        bucket_by_line = np.repeat(np.arange(len(self.line_start) - 1), np.diff(self.line_start))
        line = np.repeat(np.arange(len(self.rows_by_line)), np.diff(self.flag_start))
        place = np.arange(len(self.possible)) - self.flag_start[line]
        value = self.value_by_column[self.column_start[bucket_by_line[line]] + place]
        return line[self.possible], value[self.possible]

    def count_possible(self, no_value: int) -> Counts:
        """Return how many values each row can have; the value that stands for none does not count."""
        line, value = self.pairs()
        counted = np.bincount(line[value != no_value], minlength=len(self.rows_by_line))
        return counted[self.line_by_row].astype(np.int64)

    def count_where_one_has(self, bucket: int, value: int, rows: Counts, no_value: int) -> Counts:
        """Return how many values the rows of a bucket can have if one of some rows has a value.

        Parameters
        ----------
        bucket, value
            The bucket and the value.
        rows
            The rows of the bucket of which one has it.
        no_value
            What does not count.
        """
        low, high = self.line_start[bucket], self.line_start[bucket + 1]
        left, right = self.column_start[bucket], self.column_start[bucket + 1]
        values = self.value_by_column[left:right]
        column = int(np.flatnonzero(values == value)[0])
        may = ~self.cannot[np.ix_(self.kind_by_line[low:high], values)]
        members = np.flatnonzero(self.bucket_by_row == bucket)
        line_of = self.line_by_row[members] - low
        found = np.zeros((len(members), right - left), dtype=np.bool_)
        is_one = np.isin(members, rows)
        for line in np.unique(line_of[is_one]).tolist():
            demand, supply = self.rows_by_line[low:high].copy(), self.count_by_column[left:right].copy()
            demand[line] -= 1
            supply[column] -= 1
            if not may[line, column]:
                continue
            if demand.any():
                rest = find_possible(demand, supply, np.ascontiguousarray(may))
                if not rest.any():
                    continue
                alike = is_one & (line_of == line)
                # Rows of a line are alike, so each has what is left while another is the one.
                others = ~alike if alike.sum() == 1 else np.ones(len(members), dtype=np.bool_)
                found[others] |= rest[line_of[others]]
            found[is_one & (line_of == line), column] = True
        counted: Counts = found[:, values != no_value].sum(axis=1)
        return counted


def fewest_despite_gaps(
    shares: Shares,
    columns: Sequence[Column],
    paths: Paths,
    complete: Sequence[Fraction | None],
    no_value: int,
) -> Counts:
    """Return how many values each row can have by whichever rule is missing that tells most.

    Parameters
    ----------
    shares
        The buckets.
    columns, paths
        The published columns and their hierarchies.
    complete
        From which chance on no rule is missing that holds, by the number of conditions.
    no_value
        The value that stands for none.
    """
    fewest = shares.count_possible(no_value)
    line, value = shares.pairs()
    n_values = shares.cannot.shape[1]
    total = np.bincount(
        shares.value_by_column, weights=shares.count_by_column, minlength=n_values
    ).astype(np.int64)
    # Rows take part with the values of their line.
    order = np.argsort(shares.line_by_row, kind="stable")
    rows_start = np.concatenate(([0], np.cumsum(shares.rows_by_line)))
    width = shares.rows_by_line[line]
    first = np.cumsum(width) - width
    place = np.arange(int(width.sum())) - np.repeat(first, width) + np.repeat(rows_start[line], width)
    row_of_pair, value_of_pair = order[place], np.repeat(value, width)
    by_bucket = np.argsort(shares.bucket_by_row[row_of_pair], kind="stable")
    row_of_pair, value_of_pair = row_of_pair[by_bucket], value_of_pair[by_bucket]
    bucket_of_pair = shares.bucket_by_row[row_of_pair]
    for size, chance in enumerate(complete, 1):
        if chance is None:
            continue
        needed = [_least_rows(int(count), len(shares.line_by_row), chance) for count in total]
        least = np.array(needed, dtype=np.int64)
        for met in _conjunctions(columns, paths, size):
            code = met[row_of_pair]
            support = np.bincount(met[met >= 0])
            key = np.where(code >= 0, code * n_values + value_of_pair, -1)
            at = np.full(len(support) * n_values, -1, dtype=np.int64)
            until = at.copy()
            inside = key >= 0
            until[key[inside]] = bucket_of_pair[inside]
            at[key[inside][::-1]] = bucket_of_pair[inside][::-1]
            told = (
                (np.repeat(support, n_values) >= np.tile(least, len(support)))
                & (at >= 0)
                & (at == until)
            )
            for pair in np.flatnonzero(told).tolist():
                bucket, which = int(at[pair]), pair % n_values
                rows = row_of_pair[key == pair]
                members = np.flatnonzero(shares.bucket_by_row == bucket)
                counts = shares.count_where_one_has(bucket, which, rows, no_value)
                fewest[members] = np.minimum(fewest[members], counts)
    return fewest


def _conjunctions(columns: Sequence[Column], paths: Paths, size: int) -> Iterator[Counts]:
    """Yield, for each choice of columns and levels, which conjunction each row meets, or -1."""
    levels = [list(_levels(column, paths.get(column.name, {}))) for column in columns]
    for chosen in combinations(range(len(columns)), size):
        for depths in product(*(range(len(levels[place])) for place in chosen)):
            joined = np.zeros(len(columns[0].code_by_row), dtype=np.int64)
            for place, depth in zip(chosen, depths, strict=True):
                label_of_code = levels[place][depth]
                own = label_of_code[columns[place].code_by_row]
                joined = np.where(
                    (joined < 0) | (own < 0), -1, joined * (label_of_code.max() + 1) + own
                )
                found, joined = np.unique(joined, return_inverse=True)
                joined -= int(found[0] < 0)
            yield joined


def _levels(column: Column, paths: Mapping[str, Sequence[str]]) -> Iterator[Counts]:
    """Yield, for each level from the root down, which label each cell has there, or -1.

    What everybody meets is no condition.
    """
    steps = [tuple(paths.get(label, (label,)))[::-1] for label in column.labels]
    for level in range(max(map(len, steps))):
        number: dict[str, int] = {}
        codes = [
            number.setdefault(path[level], len(number)) if level < len(path) else -1 for path in steps
        ]
        if len(set(codes)) > 1:
            yield np.array(codes)


def _least_rows(count: int, n: int, chance: Fraction) -> int:
    """Return among how many rows a value of `count` in `n` is never seen with at most a chance."""
    if count >= n:
        return 1
    with localcontext() as context:
        context.prec = 50
        never = (Decimal(n - count) / Decimal(n)).ln()
        bound = (Decimal(chance.numerator) / Decimal(chance.denominator)).ln()
        # Digits beyond these are rounding: a number of rows that just reaches the chance does reach it.
        return max(1, math.ceil(bound / never - Decimal("1e-40")))
