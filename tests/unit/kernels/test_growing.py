"""Kernels that find more than they made room for at first give all of it, padded."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from setveil.kernels.base import new_stop
from setveil.kernels.itemsets.signed import Telling, find_rare_signed, find_undiverse

ITEMS, ROWS = 60, 150
TABLE = np.random.default_rng(8).random((ROWS, ITEMS)) < 0.2
DATA = (
    np.concatenate([[0], np.cumsum(TABLE.sum(axis=1))]).astype(np.int64),
    np.nonzero(TABLE)[1].astype(np.int32),
    np.ones(ROWS, np.int64),
)


def test_rare_patterns_of_present_and_absent_items() -> None:
    sets, support = find_rare_signed(*DATA, ITEMS, 6, 3, 0)
    assert len(sets) > 2048
    found: dict[frozenset[int], int] = {}
    for line, records in zip(sets.tolist(), support.tolist(), strict=True):
        literals = [literal for literal in line if literal != -1]
        assert line == literals + [-1] * (3 - len(literals))
        found[frozenset(literals)] = records
        columns = [TABLE[:, x] if x >= 0 else ~TABLE[:, -2 - x] for x in literals]
        assert np.all(columns, axis=0).sum() == records
    for pair in combinations(range(ITEMS), 2):
        held = int(TABLE[:, pair].all(axis=1).sum())
        assert not 0 < held < 6 or found[frozenset(pair)] == held


def test_sets_that_give_an_item_away() -> None:
    is_secret = np.zeros(ITEMS, np.bool_)
    is_secret[7] = True
    sets, support = find_undiverse(*DATA, is_secret, Telling(7, 4, 1, 0, 3, 0), new_stop())
    assert len(sets) > 2048
    found: dict[tuple[int, ...], int] = {}
    for line, records in zip(sets.tolist(), support.tolist(), strict=True):
        items = tuple(item for item in line if item >= 0)
        assert line == [*items, *[-1] * (3 - len(items))]
        found[items] = records
    others = [item for item in range(ITEMS) if item != 7]
    expected = {}
    for size in (1, 2, 3):
        for items in combinations(others, size):
            rows = TABLE[TABLE[:, items].all(axis=1)]
            if 4 * rows[:, 7].sum() > len(rows):
                expected[items] = len(rows)
    assert found == expected
