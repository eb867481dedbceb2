"""The demo data: their shape, their repeatability, and that they fit their taxonomy."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from benchmarks.pos_shape import pos_shape

from setveil.errors import UsageError
from setveil.io.demo import groceries, product_paths, shop, toy
from setveil.model.transactions import Transactions, bind


def fingerprint(transactions: Transactions) -> str:
    digest = hashlib.sha256()
    digest.update("\n".join(transactions.vocabulary.labels).encode())
    digest.update(transactions.indptr.astype("<i8").tobytes())
    digest.update(transactions.items.astype("<i4").tobytes())
    return digest.hexdigest()[:16]


def test_toy_is_the_example_of_the_paper() -> None:
    records, tree = toy()
    assert list(records.rows()) == [
        ("a1", "b1", "b2"), ("a2", "b1"), ("a2", "b1", "b2"), ("a1", "a2", "b2"),
    ]  # fmt: skip
    assert tree.path("a1") == ("a1", "A", "ALL")
    assert tree.path("b2") == ("b2", "B", "ALL")
    assert bind(records, tree)[0].n_leaves == 4


def test_the_shop_has_three_levels_and_every_named_product() -> None:
    paths = product_paths()
    products = {path[0] for path in paths}
    assert len(products) == len(paths) == 201
    assert len({path[1] for path in paths}) == 46
    assert len({path[2] for path in paths}) == 12
    best, rare, bundles = (shop()[name] for name in ("best sellers", "rare", "bundles"))
    assert {*best, *rare, *(name for _, *names in bundles for name in names)} <= products
    assert not set(best) & set(rare)


def test_baskets_look_like_a_shops() -> None:
    baskets, taxonomy = groceries()
    assert len(baskets) == 10_000
    assert taxonomy.height == 3
    lengths = baskets.length_by_record
    assert 4.2 <= lengths.mean() <= 4.6
    assert lengths.min() >= 1
    assert 24 <= lengths.max() <= 34
    counts = np.sort(baskets.count_by_item)[::-1]
    assert len(counts) == 201
    assert counts[0] > 10 * counts[100]
    assert (counts < 20).sum() >= 10
    restricted, rows = bind(baskets, taxonomy)
    assert restricted.n_leaves == 201
    assert len(rows) == 10_000


def test_bundles_are_bought_together() -> None:
    baskets, _ = groceries()
    sets = [set(row) for row in baskets.rows()]
    with_both = sum({"spaghetti", "tomato sauce"} <= basket for basket in sets)
    spaghetti = sum("spaghetti" in basket for basket in sets)
    sauce = sum("tomato sauce" in basket for basket in sets)
    assert with_both > 5 * spaghetti * sauce / len(sets)


def test_the_seed_decides() -> None:
    assert fingerprint(groceries(n=300)[0]) == fingerprint(groceries(n=300)[0])
    assert fingerprint(groceries(n=300)[0]) != fingerprint(groceries(n=300, seed=8)[0])


def test_the_same_bytes_everywhere() -> None:
    assert fingerprint(groceries()[0]) == "adbc0970e0b88c67"
    assert fingerprint(pos_shape(n=20_000)) == "22f7cf902daec120"


def test_pos_shape_at_full_size() -> None:
    records = pos_shape()
    lengths = records.length_by_record
    assert len(records) == 515_597
    assert len(records.vocabulary) == 1_657
    assert (records.count_by_item > 0).all()
    assert lengths.max() == 164
    assert lengths.min() == 1
    assert 6.4 <= lengths.mean() <= 6.6
    counts = np.sort(records.count_by_item)
    assert counts[-1] > 40_000
    assert counts[0] <= 5
    # Frequency does not follow the labels, or any tree over them would look good.
    rank = np.argsort(np.argsort(records.count_by_item))
    assert abs(np.corrcoef(rank, np.arange(1_657))[0, 1]) < 0.1


@pytest.mark.parametrize(("n", "items"), [(1, 1), (2, 5), (40, 3), (300, 164), (50, 1_657)])
def test_small_shapes_are_possible(n: int, items: int) -> None:
    records = pos_shape(n=n, items=items)
    assert len(records) == n
    assert records.length_by_record.max() == min(164, items)
    if n * 6 > 2 * items:
        assert len(records.vocabulary) == items


@pytest.mark.parametrize(
    "make", [lambda: groceries(n=0), lambda: pos_shape(n=0), lambda: pos_shape(items=0)]
)
def test_sizes_below_one_are_refused(make) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UsageError, match="out of range"):
        make()
