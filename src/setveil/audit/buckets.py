"""Promises about tables in buckets, judged from the two published tables, and the rules.

L-diversity: no value has a share above 1/l in any
bucket. Matching l-diversity: whoever knows the published rules finds at least l values possible for
every row; see `matching`. Where it is told from where on the rules are complete, that holds as well for
whoever concludes from a rule that is missing that somebody breaks it.

`(missing)` in the sensitive table stands for no value. It is none of the l, and of the rows that have a
value, too, no value has a share above 1/l.

Whose value is whose is not known here, so an assignment of values to rows is looked for from nothing:
rows take what is free, and where nothing is, others give theirs up along a chain. Rows that cannot have
the same values are one line of a small table, with a count. Given one assignment, a line can have a
value if there is a way to move values around in a circle through both; all lines and values from which
and to which there is a way form a block, and blocks are found one at a time.

Then what is possible if somebody breaks a rule that is missing. The certificate tells from which chance
on no rule is missing that holds. So of every other pair of conditions and a value that is as improbable
to be never seen, it is known that somebody who meets the conditions has the value. All such pairs are
gone through. If rows of at least two buckets can break the rule, either bucket can be as it likes. If
the rows that can are in one bucket, one of them does, and what its rows can have is found again for
each of them in turn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from ..model.guarantees import BucketGuarantee
from ._jit import jit
from .bucket_tables import Column, Flags, Paths, PublishedBuckets, Rule, ruled_out
from .promises import traits_of
from .published import Numbers, bounds_of
from .verdict import BucketFinding

NO_VALUE = "(missing)"


def audit_buckets(
    tables: PublishedBuckets,
    guarantee: BucketGuarantee,
    *,
    rules: Sequence[Rule] = (),
    paths: Paths | None = None,
    complete: Sequence[str | None] = (),
) -> BucketFinding:
    """Judge a promise about buckets.

    With matching diversity `rules` are reckoned, by the published hierarchies of the columns that have
    one, their `paths`. `complete` tells from which chance on no rule is missing that holds, by the
    number of conditions.
    """
    fewest_by_gaps: int | None = None
    if traits_of(guarantee).has_rules:
        chances = [None if chance is None else Fraction(chance) for chance in complete]
        by_rules, by_gaps = _possible_by_row(tables, rules, paths or {}, chances)
        fewest = int(by_rules.min()) if len(by_rules) else None
        broken = int((by_gaps < guarantee.l).sum())
        if len(by_gaps) and any(chance is not None for chance in chances):
            fewest_by_gaps = int(by_gaps.min())
    else:
        different = [0] * len(tables.size_by_bucket)
        above = set()
        for bucket, value, count, of_rows in _shares(tables):
            different[bucket] += value != NO_VALUE
            if count * guarantee.l > of_rows:
                above.add(bucket)
        fewest, broken = min(different, default=None), len(above)
    sizes = tables.size_by_bucket.tolist()
    largest: dict[int, int] = {}
    for _, _, count, of_rows in _shares(tables):
        # Among shares of one number of rows only the largest count matters.
        largest[of_rows] = max(largest.get(of_rows, 0), count)
    shares = [Fraction(count, size) for size, count in largest.items()]
    return BucketFinding(
        broken == 0,
        guarantee,
        len(tables.bucket_by_row),
        len(sizes),
        min(sizes, default=0),
        max(shares, default=None),
        fewest,
        broken,
        fewest_by_gaps,
    )


def _shares(tables: PublishedBuckets) -> Iterator[tuple[int, str, int, int]]:
    """Yield bucket, value and count, and the number of rows of which that is a share."""
    sizes = tables.size_by_bucket.tolist()
    valued = list(sizes)
    for bucket, value, count in tables.sensitive:
        if value == NO_VALUE:
            valued[bucket] -= count
    for bucket, value, count in tables.sensitive:
        yield bucket, value, count, sizes[bucket] if value == NO_VALUE else valued[bucket]


def _possible_by_row(
    tables: PublishedBuckets, rules: Sequence[Rule], paths: Paths, complete: Sequence[Fraction | None]
) -> tuple[Numbers, Numbers]:
    """Return how many values each row can have: by the rules, and by those that are missing too."""
    values = sorted({value for _, value, _ in tables.sensitive})
    number = {value: place for place, value in enumerate(values)}
    kind_by_row, cannot = ruled_out(tables.columns, len(tables.bucket_by_row), values, rules, paths)
    listed = sorted((bucket, number[value], count) for bucket, value, count in tables.sensitive)
    shares = Shares.of(tables.bucket_by_row, kind_by_row, np.array(listed).reshape(-1, 3), cannot)
    no_value = number.get(NO_VALUE, -1)
    fewest = shares.count_possible(no_value)
    return fewest, fewest_despite_gaps(shares, fewest, tables.columns, paths, complete, no_value)


class Shares(NamedTuple):
    """Each bucket as a table: lines are rows of one kind, columns values, and flags what is possible.

    Lines of a bucket lie side by side, and so do its columns. `possible` holds the flags of all lines,
    those of line i from ``flag_start[i]`` on.
    """

    bucket_by_row: Numbers
    line_by_row: Numbers
    line_start: Numbers
    rows_by_line: Numbers
    kind_by_line: Numbers
    column_start: Numbers
    value_by_column: Numbers
    count_by_column: Numbers
    cannot: Flags
    flag_start: Numbers
    possible: Flags

    @classmethod
    def of(cls, bucket_by_row: Numbers, kind_by_row: Numbers, counts: Numbers, cannot: Flags) -> Shares:
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
        flag_start = bounds_of(columns_by_line)
        shares = cls(
            bucket_by_row,
            line_by_row.astype(np.int64),
            line_start,
            rows_by_line.astype(np.int64),
            kind_by_line.astype(np.int64),
            column_start,
            np.ascontiguousarray(counts[:, 1], dtype=np.int64),
            np.ascontiguousarray(counts[:, 2], dtype=np.int64),
            cannot,
            flag_start,
            np.zeros(int(flag_start[-1]), dtype=np.bool_),
        )
        list_possible(shares)
        return shares

    def pairs(self) -> tuple[Numbers, Numbers]:
        """Return every pair of a line and a value that is possible for it."""
        bucket_by_line = np.repeat(np.arange(len(self.line_start) - 1), np.diff(self.line_start))
        line = np.repeat(np.arange(len(self.rows_by_line)), np.diff(self.flag_start))
        place = np.arange(len(self.possible)) - self.flag_start[line]
        value = self.value_by_column[self.column_start[bucket_by_line[line]] + place]
        return line[self.possible], value[self.possible]

    def count_possible(self, no_value: int) -> Numbers:
        """Return how many values each row can have; the value that stands for none does not count."""
        line, value = self.pairs()
        counted = np.bincount(line[value != no_value], minlength=len(self.rows_by_line))
        return counted[self.line_by_row].astype(np.int64)

    def count_where_one_has(self, bucket: int, value: int, rows: Numbers, no_value: int) -> Numbers:
        """Return how many values the rows of a bucket can have if one of some rows has a value."""
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
        counted: Numbers = found[:, values != no_value].sum(axis=1)
        return counted


def fewest_despite_gaps(
    shares: Shares,
    fewest_by_rules: Numbers,
    columns: Sequence[Column],
    paths: Paths,
    complete: Sequence[Fraction | None],
    no_value: int,
) -> Numbers:
    """Return how many values each row can have by whichever rule is missing that tells most.

    `complete` tells by the number of conditions from which chance on no rule is missing that holds;
    `no_value` stands for none.
    """
    if all(chance is None for chance in complete):
        return fewest_by_rules
    fewest = fewest_by_rules.copy()
    line, value = shares.pairs()
    n_values = shares.cannot.shape[1]
    total = np.bincount(
        shares.value_by_column, weights=shares.count_by_column, minlength=n_values
    ).astype(np.int64)
    # Rows take part with the values of their line.
    order = np.argsort(shares.line_by_row, kind="stable")
    rows_start = bounds_of(shares.rows_by_line)
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


def _conjunctions(columns: Sequence[Column], paths: Paths, size: int) -> Iterator[Numbers]:
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


def _levels(column: Column, paths: Mapping[str, Sequence[str]]) -> Iterator[Numbers]:
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


@jit
def _assign(demand: Numbers, supply: Numbers, may: Flags, given: Numbers) -> bool:
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
def _spread(given: Numbers, may: Flags, start: int, forward: bool, reached: Flags) -> None:
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
def find_possible(demand: Numbers, supply: Numbers, may: Flags) -> Flags:
    """Return which values (columns) the rows of each line can have; none where no assignment exists.

    `demand` is how many rows a line has, `supply` how often a value is there.
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
def list_possible(shares: Shares) -> None:
    """Fill in which values the rows of each line can have; none where a bucket has no assignment."""
    for bucket in range(shares.line_start.size - 1):
        low, high = shares.line_start[bucket], shares.line_start[bucket + 1]
        left, right = shares.column_start[bucket], shares.column_start[bucket + 1]
        may = np.empty((high - low, right - left), np.bool_)
        for line in range(high - low):
            for column in range(right - left):
                value = shares.value_by_column[left + column]
                may[line, column] = not shares.cannot[shares.kind_by_line[low + line], value]
        found = find_possible(shares.rows_by_line[low:high], shares.count_by_column[left:right], may)
        shares.possible[shares.flag_start[low] : shares.flag_start[high]] = found.ravel()
