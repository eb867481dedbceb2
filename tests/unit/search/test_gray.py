"""Gray order against its definition by big integers, and what chunks promise."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.model.transactions import Rows
from setveil.search.parts import chunk_bounds, combinations_by_record, gray_order, gray_rank

N_LEAVES = 70
rows_of_leaves = st.lists(
    st.sets(st.integers(0, N_LEAVES - 1), max_size=6).map(sorted), min_size=1, max_size=30
)


def as_rows(records: list[list[int]]) -> Rows:
    indptr = np.cumsum([0, *map(len, records)], dtype=np.int64)
    return Rows(indptr, np.array([leaf for row in records for leaf in row], dtype=np.int32))


def test_gray_rank_inverts_the_gray_code() -> None:
    for number in range(200):
        code = number ^ (number >> 1)
        assert gray_rank([bit for bit in range(10) if code >> bit & 1]) == number


@settings(deadline=None)
@given(rows_of_leaves)
def test_order_is_that_of_the_ranks(records: list[list[int]]) -> None:
    order = gray_order(as_rows(records), N_LEAVES).tolist()
    assert order == sorted(range(len(records)), key=lambda record: gray_rank(records[record]))


@settings(deadline=None)
@given(rows_of_leaves, st.integers(1, 4))
def test_combinations_are_counted_in_all_sizes(records: list[list[int]], m: int) -> None:
    counted = combinations_by_record(as_rows(records), m).tolist()
    assert counted == [sum(math.comb(len(row), size) for size in range(1, m + 1)) for row in records]


def test_combinations_of_a_long_record_do_not_overflow() -> None:
    counted = combinations_by_record(as_rows([list(range(2000))]), 2000)
    assert np.isfinite(counted).all()
    assert counted[0] > 1e200


@settings(deadline=None)
@given(rows_of_leaves, st.integers(1, 6), st.integers(0, 5), st.integers(1, 4), st.integers(1, 3))
def test_chunks_cover_the_order_and_hold_enough_records(
    records: list[list[int]], parts: int, f: int, least: int, m: int
) -> None:
    rows = as_rows(records)
    order = gray_order(rows, N_LEAVES)
    bounds = chunk_bounds(rows, order, combinations_by_record(rows, m), parts, f, least).tolist()
    assert bounds[0] == 0
    assert bounds[-1] == len(records)
    assert bounds == sorted(bounds)
    assert len(bounds) - 1 <= parts
    if len(bounds) > 2:
        for low, high in pairwise(bounds):
            assert sum(bool(records[record]) for record in order[low:high]) >= least


@settings(deadline=None)
@given(rows_of_leaves, st.integers(0, 4))
def test_a_border_goes_where_neighbours_differ_most(records: list[list[int]], f: int) -> None:
    rows = as_rows(records)
    order = gray_order(rows, N_LEAVES)
    weights = combinations_by_record(rows, 2)
    fixed = chunk_bounds(rows, order, weights, 2, 0, 1).tolist()
    moved = chunk_bounds(rows, order, weights, 2, f, 1).tolist()
    assert len(fixed) == len(moved)
    if len(fixed) == 3:
        equal, border = fixed[1], moved[1]
        filled = [bool(records[record]) for record in order]

        def distance(place: int) -> int:
            return len(set(records[order[place - 1]]) ^ set(records[order[place]]))

        allowed = [
            place
            for place in range(equal - f, equal + max(f, 1))
            if 0 < place < len(records) and any(filled[:place]) and any(filled[place:])
        ]
        assert border in allowed
        assert distance(border) == max(map(distance, allowed))


def test_chunks_are_equal_in_combinations_not_in_records() -> None:
    # One record of six items holds as many pairs and single items as 21 records of one item.
    rows = as_rows([[leaf] for leaf in range(21)] + [[64, 65, 66, 67, 68, 69]])
    order = gray_order(rows, N_LEAVES)
    assert chunk_bounds(rows, order, combinations_by_record(rows, 2), 2, 0, 1).tolist() == [0, 21, 22]
