"""Data to try things on, made from a seed: no files, the same on every machine.

Only integers and uniform numbers are drawn from the generator, and only basic arithmetic follows, so
that another version of numpy gives the same baskets.

- `toy`: the example of Terrovitis et al. (2008), Figures 1 and 2a;
- `groceries`: named products in a three-level taxonomy, skewed and with bundles like a real shop;
- `pos_shape`: the size and shape of BMS-POS, whose original cannot be had.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from ..hierarchy.tree import Hierarchy
from ..model.transactions import Transactions

POS_RECORDS = 515_597
POS_ITEMS = 1_657
POS_LONGEST = 164
GROCERIES_LONGEST = 30
TAIL_SCALE = 18.0


@cache
def shop() -> dict[str, Any]:
    """Return the made-up shop: its shelves, what sells best and seldom, and what is bought together.

    ``best sellers`` begin with the most bought; ``rare`` products are bought a handful of times in ten
    thousand baskets; a bundle begins with how often it is bought compared with the others.
    """
    text = files(__package__).joinpath("demo_shop.json").read_text(encoding="utf-8")
    told: dict[str, Any] = json.loads(text)
    return told


def product_paths() -> list[tuple[str, str, str, str]]:
    """Return (product, category, department, root) of every product, in the order of the shelves."""
    return [
        (product, category, department, shop()["root"])
        for department, shelves in shop()["shelves"].items()
        for category, products in shelves.items()
        for product in products
    ]


def toy() -> tuple[Transactions, Hierarchy]:
    """Return the four records and the tree of the 2008 paper.

    >>> toy()
    (Transactions(4 records, 4 items, 11 occurrences), Hierarchy(4 leaves, 3 categories, height 2))
    """
    rows = [["a1", "b1", "b2"], ["a2", "b1"], ["a2", "b1", "b2"], ["a1", "a2", "b2"]]
    parents: dict[str, str | None] = {"a1": "A", "a2": "A", "b1": "B", "b2": "B"}
    parents |= {"A": "ALL", "B": "ALL", "ALL": None}
    return Transactions.from_rows(rows), Hierarchy.from_parents(parents)


def groceries(n: int = 10_000, seed: int = 7) -> tuple[Transactions, Hierarchy]:
    """Return `n` baskets of about 200 named products, and the taxonomy of the shop.

    Few products sell often, many seldom, some a handful of times; about a third of the baskets hold a
    bundle such as spaghetti, tomato sauce and parmesan, sometimes with one part left out.
    """
    _at_least_one("n", n)
    paths = product_paths()
    names = [path[0] for path in paths]
    generator = np.random.Generator(np.random.PCG64(seed))
    weight_by_product = _grocery_weights(names, generator)
    record, product = _bundles(names, n, generator)
    wanted = _grocery_lengths(n, generator)
    filled = np.bincount(record, minlength=n)
    singles = np.maximum(wanted - filled, (filled == 0).astype(np.int64))
    record_of_single = np.repeat(np.arange(n, dtype=np.int64), singles)
    product_of_single = _drawn(weight_by_product, len(record_of_single), generator)
    baskets = Transactions.from_codes(
        names,
        np.concatenate([record, record_of_single]),
        np.concatenate([product, product_of_single]).astype(np.int32),
        n,
    )
    return baskets, Hierarchy.from_paths(paths)


def pos_shape(n: int = POS_RECORDS, items: int = POS_ITEMS, seed: int = 11) -> Transactions:
    """Return data of BMS-POS's shape: 515,597 records, 1,657 items, mean 6.5, longest 164.

    Items are labelled ``0001`` .. in an order that has nothing to do with how often they occur. Every
    item occurs, some a handful of times. With fewer than 164 items the longest record holds them all.
    """
    _at_least_one("n", n)
    _at_least_one("items", items)
    generator = np.random.Generator(np.random.PCG64(seed))
    longest = min(POS_LONGEST, items)
    length_by_record = _pos_lengths(n, longest, generator)
    rank = np.arange(items, dtype=np.float64)
    weight_by_item = (1.0 - rank / items) / (rank + 12.0)
    keys = _distinct_draws(length_by_record, weight_by_item, generator)
    record, item = keys // items, (keys % items).astype(np.int32)
    item = _every_item(item, items)
    width = len(str(items))
    shuffled = np.argsort(generator.random(items), kind="stable").tolist()
    labels = [f"{number + 1:0{width}d}" for number in shuffled]
    return Transactions.from_codes(labels, record, item, n)


def _at_least_one(name: str, value: int) -> None:
    if value < 1:
        raise UsageError(f"{name}={value} is out of range.", f"Give {name} >= 1.")


def _grocery_weights(names: list[str], generator: np.random.Generator) -> NDArray[np.float64]:
    """Return how often each product is taken, near Zipf's law with a floor for the rare ones."""
    order, rare = list(shop()["best sellers"]), set(shop()["rare"])
    rest = [name for name in names if name not in rare and name not in set(order)]
    keys = generator.random(len(rest))
    order += [rest[place] for place in np.argsort(keys, kind="stable")]
    rank = {name: place for place, name in enumerate(order)}
    weights = np.array([1.0 / (rank.get(name, 0) + 6.0) for name in names])
    share = weights.sum()
    for place, name in enumerate(names):
        if name in rare:
            weights[place] = share * (1.0 + place % 4) * 6e-5
    return weights


def _grocery_lengths(n: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Return wanted basket sizes: many of one or two, a tail to 30."""
    uniform = generator.random(n)
    sizes = np.floor(0.4 + 0.68 / (uniform + 0.022) + 4.1 * (1.0 - uniform)).astype(np.int64)
    return np.clip(sizes, 1, GROCERIES_LONGEST)


def _bundles(
    names: list[str], n: int, generator: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (record, product) pairs of the bundles; each part is left out one time in five."""
    number_of = {name: number for number, name in enumerate(names)}
    weights = np.array([weight for weight, *_ in shop()["bundles"]], dtype=np.float64)
    has_bundle = np.flatnonzero(generator.random(n) < 0.24)
    chosen = _drawn(weights, len(has_bundle), generator)
    parts = [[number_of[name] for name in parts] for _, *parts in shop()["bundles"]]
    size = np.array([len(part) for part in parts], dtype=np.int64)
    start = np.concatenate([[0], np.cumsum(size)])
    flat = np.array([number for part in parts for number in part], dtype=np.int64)
    repeats = size[chosen]
    record = np.repeat(has_bundle, repeats)
    offset = np.arange(len(record)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    product = flat[np.repeat(start[chosen], repeats) + offset]
    kept = generator.random(len(record)) >= 0.2
    return record[kept].astype(np.int64), product[kept]


def _drawn(
    weights: NDArray[np.float64], count: int, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Return `count` numbers drawn by weight, from uniform numbers alone."""
    bounds = np.cumsum(weights)
    places = np.searchsorted(bounds, generator.random(count) * bounds[-1], side="right")
    drawn: NDArray[np.int64] = np.minimum(places, len(weights) - 1).astype(np.int64)
    return drawn


def _pos_lengths(n: int, longest: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Return record lengths with mean near 6.5 and a heavy tail that ends at `longest`."""
    uniform = generator.random(n) + 2.0**-54
    # Two square roots give a power tail and, unlike a logarithm, the same digits everywhere.
    tail = TAIL_SCALE * (1.0 / np.sqrt(np.sqrt(uniform)) - 1.0)
    length = 1 + np.floor(tail).astype(np.int64)
    # What lies beyond the end is folded back over the upper half, so that no heap forms there.
    beyond = length >= longest
    length[beyond] = longest - 1 - (length[beyond] - longest) % max(longest // 2, 1)
    length = np.maximum(length, 1)
    length[0] = longest
    return length


def _distinct_draws(
    length_by_record: NDArray[np.int64],
    weight_by_item: NDArray[np.float64],
    generator: np.random.Generator,
) -> NDArray[np.int64]:
    """Return keys record * items + item, each record with exactly its length of distinct items."""
    items = len(weight_by_item)
    open_records = np.arange(len(length_by_record), dtype=np.int64)
    keys = np.empty(0, dtype=np.int64)
    missing = length_by_record
    done: list[NDArray[np.int64]] = []
    for _ in range(12):
        record = np.repeat(open_records, missing)
        fresh = record * items + _drawn(weight_by_item, len(record), generator)
        keys = _sorted_distinct(np.concatenate([keys, fresh]))
        record_of_key = keys // items
        held = np.bincount(record_of_key, minlength=len(length_by_record))[open_records]
        missing = length_by_record[open_records] - held
        # Full records leave the round, so that the next one sorts only what is still open.
        is_open = np.zeros(len(length_by_record), dtype=bool)
        is_open[open_records[missing > 0]] = True
        done.append(keys[~is_open[record_of_key]])
        keys = keys[is_open[record_of_key]]
        open_records, missing = open_records[missing > 0], missing[missing > 0]
        if not len(open_records):
            break
    for number, lacking in zip(open_records.tolist(), missing.tolist(), strict=True):
        # Long records would draw frequent items for ever: they take the first ones they lack.
        start, end = np.searchsorted(keys, [number * items, (number + 1) * items])
        free = np.setdiff1d(np.arange(items), keys[start:end] - number * items)[:lacking]
        done.append(number * items + free)
    return np.sort(np.concatenate([*done, keys]))


def _sorted_distinct(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the distinct keys in order; sorting beats the hashing of `numpy.unique` here."""
    keys = np.sort(keys)
    first = np.ones(len(keys), dtype=bool)
    first[1:] = keys[1:] != keys[:-1]
    return keys[first]


def _every_item(item: NDArray[np.int32], items: int) -> NDArray[np.int32]:
    """Put each item that never occurs in place of one occurrence of the most frequent item."""
    count = np.bincount(item, minlength=items)
    absent = np.flatnonzero(count == 0)
    donors = np.flatnonzero(item == int(np.argmax(count)))
    item = item.copy()
    step = max(len(donors) // max(len(absent), 1), 1)
    for place, number in enumerate(absent.tolist()):
        if place * step + 1 < len(donors):
            item[donors[place * step]] = number
    return item
