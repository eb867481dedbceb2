"""Frequent itemsets against brute force, on small random data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.kernels import rows
from setveil.kernels.itemsets import frequent
from setveil.kernels.itemsets.projected import POSITION, ROW, list_places
from tests.oracle import frequent as oracle
from tests.property.test_kernels import Table, csr, forests, shuffled, tables, unpack

CASES = settings(deadline=None, max_examples=150)
KINDS = st.sampled_from(["all", "closed", "maximal"])


def as_pairs(found: Any) -> list[tuple[tuple[int, ...], int]]:
    indptr, items, support = found
    return list(zip(unpack(indptr, items), support.tolist(), strict=True))


@CASES
@given(tables(), st.integers(1, 8), st.integers(0, 6), KINDS, st.integers(1, 3), st.integers(0, 9))
def test_find_frequent(
    table: Table, least: int, most_items: int, kind: str, threads: int, seed: int
) -> None:
    found = oracle.of_kind(oracle.frequent(*table, least), kind)
    expected = oracle.in_order({x: s for x, s in found.items() if not 0 < most_items < len(x)})
    options: Any = {"kind": kind, "most_items": most_items, "threads": threads}
    for given_table in (table, shuffled(table, seed)):
        got = frequent.find_frequent(*csr(given_table), 8, least, **options)
        assert as_pairs(got) == expected


@settings(deadline=None, max_examples=100)
@given(tables(5, 15), forests(leaves=5), st.integers(1, 8), st.integers(0, 4), KINDS)
def test_find_frequent_nodes(
    table: Table, parent: list[int], least: int, most_items: int, kind: str
) -> None:
    found = oracle.of_kind(oracle.frequent(*table, least, parent=parent), kind, parent)
    expected = oracle.in_order({x: s for x, s in found.items() if not 0 < most_items < len(x)})
    indptr, items, weights = csr(table)
    above = np.array(parent, np.int32)
    got = frequent.find_frequent(
        *rows.expand_rows(indptr, items, above),
        weights,
        len(parent),
        least,
        kind=kind,
        most_items=most_items,
        parent=above,
    )
    assert as_pairs(got) == expected


@pytest.mark.parametrize("kind", ["all", "closed", "maximal"])
@pytest.mark.parametrize("seed", range(12))
def test_wide_tables_reach_the_deep_levels(kind: str, seed: int) -> None:
    """More extensions than a table of subsets takes, many equal rows, items in all records."""
    random = np.random.default_rng(seed)
    density = random.uniform(0.3, 0.8)
    held = random.random((40, 13)) < density
    held[:, : seed % 3] = True
    table = [frozenset(np.flatnonzero(row).tolist()) for row in held], [1 + seed % 2] * 40
    least = int(random.integers(3, 12))
    expected = oracle.in_order(fast_of_kind(fast_frequent(*table, least), kind))
    for most_items in (0, 4):
        wanted = [(x, s) for x, s in expected if not 0 < most_items < len(x)]
        got = frequent.find_frequent(*csr(table), 13, least, kind=kind, most_items=most_items)
        assert as_pairs(got) == wanted


def fast_frequent(rows_: list[frozenset[int]], weights: list[int], least: int) -> oracle.Found:
    """As the oracle, one item added at a time to what is frequent."""
    found: oracle.Found = {}
    level = [((), list(range(len(rows_))))]
    while level:
        further = []
        for prefix, records in level:
            for item in range(prefix[-1] + 1 if prefix else 0, 13):
                left = [record for record in records if item in rows_[record]]
                held = sum(weights[record] for record in left)
                if held >= least:
                    found[*prefix, item] = held
                    further.append(((*prefix, item), left))
        level = further
    return found


def fast_of_kind(found: oracle.Found, kind: str) -> oracle.Found:
    """As the oracle, from sets with one item more: if any larger set is in the way, one of them is."""
    if kind == "all":
        return found
    more_held: dict[tuple[int, ...], list[int]] = {}
    for x, held in found.items():
        for place in range(len(x)):
            more_held.setdefault(x[:place] + x[place + 1 :], []).append(held)
    if kind == "maximal":
        return {x: held for x, held in found.items() if x not in more_held}
    return {x: held for x, held in found.items() if held not in more_held.get(x, [])}


@pytest.mark.parametrize("kind", ["all", "closed", "maximal"])
@pytest.mark.parametrize("seed", range(12))
def test_the_fast_oracle_is_the_oracle(kind: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    held = random.random((9, 6)) < random.uniform(0.3, 0.8)
    held[:, : seed % 3] = True
    table = [frozenset(np.flatnonzero(row).tolist()) for row in held], [1 + seed % 2] * 9
    found = oracle.frequent(*table, 2)
    assert fast_frequent(*table, 2) == found
    assert fast_of_kind(found, kind) == oracle.of_kind(found, kind)


@pytest.mark.parametrize("kind", ["all", "closed", "maximal"])
def test_too_many_sets_are_given_up(kind: str) -> None:
    """Ten thousand sets and more, so that the search looks at the limit while it runs."""
    table = [frozenset(range(16)) - {item} for item in range(16)], [1] * 16
    found = frequent.find_frequent(*csr(table), 16, 2, kind=kind)
    assert found is not None
    number = len(found[2])
    assert number == {"all": 2**16 - 18, "closed": 2**16 - 18, "maximal": 120}[kind]
    assert frequent.find_frequent(*csr(table), 16, 2, kind=kind, most_sets=number) is not None
    for fewer in (number - 1, number // 2):
        assert frequent.find_frequent(*csr(table), 16, 2, kind=kind, most_sets=fewer) is None


def test_threads_and_progress() -> None:
    random = np.random.default_rng(5)
    held = random.random((400, 60)) < 0.3
    table = [frozenset(np.flatnonzero(row).tolist()) for row in held], [1] * 400
    shares: list[float] = []
    one = frequent.find_frequent(*csr(table), 60, 6, threads=1, tick=shares.append)
    two = frequent.find_frequent(*csr(table), 60, 6, threads=3)
    assert one is not None
    assert two is not None
    assert all((a == b).all() for a, b in zip(one, two, strict=True))
    assert shares == sorted(shares)
    assert len(shares) > 5
    assert shares[0] == 0
    assert shares[-1] < 1


@CASES
@given(forests())
def test_tree_places(parent: list[int]) -> None:
    first, end = frequent.tree_places(np.array(parent, np.int32))
    assert sorted(first.tolist()) == list(range(len(parent)))
    for node in range(len(parent)):
        above = oracle.with_ancestors([node], parent)
        for other in range(len(parent)):
            assert (first[other] <= first[node] < end[other]) == (other in above)


def test_list_places() -> None:
    table = [frozenset({0, 1, 2}), frozenset({0, 2}), frozenset({1, 2})], [2, 1, 1]
    indptr, items, _ = csr(table)
    for loop in (list_places, list_places.py_func):
        places, start, cost = loop(indptr, items, 3, 1)
        assert [x.tolist() for x in (start, places[:, POSITION], places[:, ROW])] == [
            [0, 2, 4, 4],
            [0, 3, 1, 5],
            [0, 1, 0, 2],
        ]
        assert cost.tolist() == [4.0, 2.0, 0.0]
        assert loop(indptr, items, 3, 0)[1].tolist() == [0, 2, 4, 7]
