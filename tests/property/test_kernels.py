"""Every kernel against its twin in the oracle, on small random data."""

from __future__ import annotations

import gzip
import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.kernels import rows, supports
from setveil.kernels.itemsets import projected, rare
from tests.oracle import itemsets
from tests.shared_data import shared_data

Table = tuple[list[frozenset[int]], list[int]]
CASES = settings(deadline=None, max_examples=150)


def tables(most_items: int = 8, most_rows: int = 25) -> st.SearchStrategy[Table]:
    row = st.frozensets(st.integers(0, most_items - 1), max_size=most_items)
    pairs = st.lists(st.tuples(row, st.integers(1, 3)), max_size=most_rows)
    return pairs.map(lambda p: ([r for r, _ in p], [w for _, w in p]))


@st.composite
def forests(draw: st.DrawFn, leaves: int = 8) -> list[int]:
    """A random forest: leaves first, every parent's id above its children's."""
    n_nodes = leaves + draw(st.integers(0, 7))
    parent = []
    for node in range(n_nodes):
        low = max(node + 1, leaves)
        choices = [-1, *range(low, n_nodes)]
        parent.append(draw(st.sampled_from(choices)))
    return parent


def csr(table: Table) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    sizes = [len(row) for row in table[0]]
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    flat = [item for row in table[0] for item in sorted(row)]
    return indptr, np.array(flat, np.int32), np.array(table[1], np.int64)


def unpack(indptr: np.ndarray, items: np.ndarray) -> list[tuple[int, ...]]:
    return [tuple(items[a:b].tolist()) for a, b in pairwise(indptr)]


def as_pairs(sets: np.ndarray, support: np.ndarray) -> list[tuple[tuple[int, ...], int]]:
    return [
        (tuple(int(i) for i in row if i >= 0), int(count))
        for row, count in zip(sets, support, strict=True)
    ]


def shuffled(table: Table, seed: int) -> Table:
    order = list(range(len(table[0])))
    random.Random(seed).shuffle(order)
    return [table[0][i] for i in order], [table[1][i] for i in order]


@CASES
@given(tables(), st.lists(st.integers(-1, 5), min_size=8, max_size=8))
def test_recode_rows(table: Table, node_of_leaf: list[int]) -> None:
    indptr, items, _ = csr(table)
    recoded = rows.recode_rows(indptr, items, np.array(node_of_leaf, np.int32))
    assert unpack(*recoded) == [tuple(sorted(r)) for r in itemsets.recode(table[0], node_of_leaf)]


@CASES
@given(tables(most_items=4), st.integers(0, 9))
def test_merge_rows(table: Table, seed: int) -> None:
    expected = itemsets.merge(*table)
    for given_table in (table, shuffled(table, seed)):
        indptr, items, weight, merged_of_row = rows.merge_rows(*csr(given_table))
        merged = unpack(indptr, items)
        assert list(zip(merged, weight.tolist(), strict=True)) == expected
        assert [merged[i] for i in merged_of_row] == [tuple(sorted(r)) for r in given_table[0]]


@CASES
@given(st.lists(st.lists(st.integers(2**30, 2**30 + 3), unique=True), max_size=30))
def test_merge_rows_breaks_ties_beyond_the_packed_prefix(lists: list[list[int]]) -> None:
    """Items of 31 bits leave room for two in a key; the rest is compared item by item."""
    table = [frozenset(x) for x in lists], [1] * len(lists)
    indptr, items, weight, _ = rows.merge_rows(*csr(table))
    expected = itemsets.merge(*table)
    assert list(zip(unpack(indptr, items), weight.tolist(), strict=True)) == expected


@CASES
@given(tables(), forests())
def test_expand_rows(table: Table, parent: list[int]) -> None:
    indptr, items, _ = csr(table)
    expanded = rows.expand_rows(indptr, items, np.array(parent, np.int32))
    expected = [itemsets.with_ancestors(row, parent) for row in table[0]]
    assert unpack(*expanded) == [tuple(sorted(row)) for row in expected]


def test_long_rows_are_sorted() -> None:
    row = np.arange(1000, dtype=np.int32)
    back = np.random.default_rng(3).permutation(1000).astype(np.int32)
    indptr, nodes = rows.recode_rows(np.array([0, 1000]), row, back)
    assert indptr.tolist() == [0, 1000]
    assert (nodes == row).all()


@CASES
@given(tables(), st.integers(1, 6), st.integers(1, 6), st.integers(1, 3), st.integers(0, 9))
def test_find_rare(table: Table, k: int, m: int, threads: int, seed: int) -> None:
    expected = itemsets.minimal_rare(*table, k, m)
    assert as_pairs(*rare.find_rare(*csr(table), 8, k, m, 0, threads)) == expected
    assert as_pairs(*rare.find_rare(*csr(shuffled(table, seed)), 8, k, m, 0, 1)) == expected


@CASES
@given(tables(), st.integers(2, 6), st.integers(1, 5), st.integers(1, 12), st.integers(0, 9))
def test_find_rare_with_a_limit(table: Table, k: int, m: int, limit: int, seed: int) -> None:
    every = itemsets.minimal_rare(*table, k, m)
    found = as_pairs(*rare.find_rare(*csr(table), 8, k, m, limit, 1))
    assert as_pairs(*rare.find_rare(*csr(shuffled(table, seed)), 8, k, m, limit, 3)) == found
    assert set(found) <= set(every)
    assert found == sorted(set(found), key=lambda pair: (len(pair[0]), pair[0]))
    assert len(found) == min(limit, len(every))
    sizes = sorted(len(items) for items, _ in every)
    assert [len(items) for items, _ in found] == sizes[: len(found)]


@settings(deadline=None, max_examples=60)
@given(tables(), st.integers(2, 6), st.integers(2, 5))
def test_find_rare_without_pair_bits_or_packed_keys(table: Table, k: int, m: int) -> None:
    """Large data have no room for a bit a pair, nor a set in one number: the same comes out."""
    wide = 2**24
    far = [frozenset(item * (wide // 8) for item in row) for row in table[0]], table[1]
    expected = itemsets.minimal_rare(*far, k, m)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rare, "_MOST_BIT_BYTES", 0)
        found = rare.find_rare(*csr(far), wide, k, m, 0, 2)
    assert as_pairs(*found) == expected


def test_find_rare_takes_from_many_first_items() -> None:
    """Ten items, each pair of them in one record: a limit is spread over the items."""
    table = [frozenset([a, b]) for a in range(10) for b in range(a)], [1] * 45
    sets, support = rare.find_rare(*csr(table), 10, 5, 2, 12, 2)
    assert len(sets) == 12
    assert (support == 1).all()
    assert len(set(sets[:, 0].tolist())) >= 5


def index_of(table: Table, parent: list[int], most_bytes: int) -> supports.Index:
    indptr, items, weight = csr(table)
    return supports.index_nodes(indptr, items, np.array(parent, np.int32), weight, most_bytes)


@CASES
@given(tables(), forests())
def test_node_lists(table: Table, parent: list[int]) -> None:
    list_indptr, node_rows, bitmaps, slots, *_ = index_of(table, parent, 1 << 20)
    expanded = [itemsets.with_ancestors(row, parent) for row in table[0]]
    for node, listed in enumerate(unpack(list_indptr, node_rows)):
        expected = [r for r, row in enumerate(expanded) if node in row]
        assert list(listed) == expected
        assert slots[node] >= 0 or len(expected) <= 8
        if slots[node] >= 0:
            assert bitmaps[slots[node], 0] == sum(1 << r for r in expected)
            assert bitmaps[slots[node], 1] == 1


@CASES
@given(tables(), forests(), st.data())
def test_count_supports(table: Table, parent: list[int], data: st.DataObject) -> None:
    node = st.integers(0, len(parent) - 1)
    sets = data.draw(st.lists(st.lists(node, unique=True, max_size=4), min_size=1, max_size=6))
    padded = np.array([[*s, *[-1] * (4 - len(s))] for s in sets], np.int32)
    most_bytes = data.draw(st.sampled_from([0, 64, 1 << 20]))
    index = index_of(table, parent, most_bytes)
    expected = np.array([itemsets.node_support(*table, s, parent) for s in sets])
    for threads in (1, 2):
        assert (supports.count_supports(padded, index, 0, threads) == expected).all()
    some = supports.count_supports(padded, index, 4, 1)
    assert (np.minimum(some, 4) == np.minimum(expected, 4)).all()
    assert (some <= expected).all()


@CASES
@given(tables(), forests(), st.integers(2, 8), st.integers(0, 9), st.sampled_from([0, 64, 1 << 20]))
def test_lift_sets(table: Table, parent: list[int], k: int, seed: int, most_bytes: int) -> None:
    sets = [items for items, _ in itemsets.minimal_rare(*table, k, 3)]
    padded = np.array([[*s, *[-1] * (3 - len(s))] for s in sets], np.int32).reshape(-1, 3)
    index = index_of(table, parent, most_bytes)
    ids = np.array(parent, np.int32)
    lifted, support = supports.lift_sets(padded, ids, index, k, 1)
    for given_set, (nodes, count) in zip(sets, as_pairs(lifted, support), strict=True):
        assert list(nodes) == itemsets.lift(*table, given_set, parent, k)
        assert count == itemsets.node_support(*table, nodes, parent)
        assert itemsets.lift_is_maximal(*table, frozenset(nodes), parent, k)
    other = index_of(shuffled(table, seed), parent, 1 << 20)
    again = supports.lift_sets(padded, ids, other, k, 2)
    assert (again[0] == lifted).all()
    assert (again[1] == support).all()


def test_supports_over_many_words() -> None:
    """Enough rows for bitmaps of many words, and nodes from rare to everywhere."""
    random_rows = np.random.default_rng(5)
    chance = np.array([0.0005, 0.002, 0.02, 0.1, 0.5, 0.9])
    held = random_rows.random((20_000, 6)) < chance
    table = [frozenset(np.flatnonzero(row).tolist()) for row in held], [1] * len(held)
    parent = [-1] * 6
    sets = np.array([[0, 4, -1], [1, 3, 5], [2, 3, 4], [3, 4, 5], [4, -1, -1], [0, 1, 2]], np.int32)
    expected = [int(held[:, [i for i in s if i >= 0]].all(axis=1).sum()) for s in sets]
    for most_bytes in (0, 8_000, 1 << 24):
        index = index_of(table, parent, most_bytes)
        assert supports.count_supports(sets, index, 0, 2).tolist() == expected


def test_a_set_that_is_not_rare_is_left_alone() -> None:
    table = [frozenset([0, 2])] * 4, [1] * 4
    parent = [4, 4, 4, 4, -1]
    lifted, support = supports.lift_sets(
        np.array([[0, 2]], np.int32), np.array(parent, np.int32), index_of(table, parent, 0), 3
    )
    assert lifted.tolist() == [[0, 2]]
    assert support[0] >= 3


def test_plain_python_twins_of_the_loops_agree() -> None:
    """What numba compiles and what Python runs are the same functions."""
    table = (
        [frozenset(row) for row in ([0, 2], [0, 2, 3], [0, 3], [1], [1, 2]) * 4],
        [1, 2, 1, 3, 1] * 4,
    )
    indptr, items, weight = csr(table)
    parent = np.array([4, 4, 5, 5, 6, 6, -1], np.int32)
    arguments = (indptr, items, weight, 4)
    compiled = projected.item_supports(*arguments)
    assert (compiled == projected.item_supports.py_func(*arguments)).all()
    out, twin = np.empty(21, np.int64), np.empty(21, np.int64)
    nodes, twin_nodes = np.empty(items.size, np.int32), np.empty(items.size, np.int32)
    filled = rows._recode(indptr, items, parent, out, nodes)
    assert rows._recode.py_func(indptr, items, parent, twin, twin_nodes) == filled
    assert (out == twin).all() and (nodes[:filled] == twin_nodes[:filled]).all()
    index = index_of(table, parent.tolist(), 1 << 20)
    assert len(index.bitmaps) >= 3, "some nodes need bitmaps here"
    slots = np.empty(2, np.int32)
    for pair in ([0, 2], [4, 5], [1, 5]):
        pair_nodes = np.array(pair, np.int32)
        expected = itemsets.node_support(*table, pair, parent.tolist())
        assert supports.support_of(pair_nodes, 2, index, 0, slots) == expected
        assert supports.support_of.py_func(pair_nodes, 2, index, 0, slots) == expected


def test_find_rare_on_real_baskets() -> None:
    """Groceries: pairs from a matrix product, triples by the oracle's rule on dense columns."""
    with gzip.open(shared_data("groceries.dat.gz"), "rt") as lines:
        baskets = [frozenset(map(int, line.split())) for line in lines]
    n_items = 1 + max(max(basket) for basket in baskets if basket)
    held = np.zeros((len(baskets), n_items), np.float64)
    for row, basket in enumerate(baskets):
        held[row, list(basket)] = 1
    k = 5
    pair = (held.T @ held).astype(np.int64)
    single = np.diag(pair)
    expected = [((int(i),), int(single[i])) for i in np.flatnonzero((single > 0) & (single < k))]
    often = (pair >= k) & (single >= k)[:, None]
    rare_pair = np.triu((pair > 0) & (pair < k) & (single >= k)[:, None] & (single >= k), 1)
    expected += [((int(a), int(b)), int(pair[a, b])) for a, b in np.argwhere(rare_pair)]
    for first in range(n_items):
        holders = held[held[:, first] > 0]
        both = (holders.T @ holders).astype(np.int64)
        fits = often & often[first] & often[first][:, None]
        found = np.triu((both > 0) & (both < k) & fits, 1)
        expected += [
            ((first, int(b), int(c)), int(both[b, c])) for b, c in np.argwhere(found) if b > first
        ]
    table = baskets, [1] * len(baskets)
    merged = rows.merge_rows(*csr(table))[:3]
    assert as_pairs(*rare.find_rare(*merged, n_items, k, 3, 0, 2)) == expected
