"""Data to try things on, made from a seed: the same on every machine.

Only integers and uniform numbers are drawn from the generator, and only basic arithmetic follows, so
that another version of numpy gives the same baskets.

- `toy`: the example of Terrovitis et al. (2008), Figures 1 and 2a;
- `groceries`: the named products of ``demo_shop.json``, skewed and with bundles like a real shop.
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

GROCERIES_LONGEST = 30


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
    if n < 1:
        raise UsageError(f"n={n} is out of range.", "Give n >= 1.")
    paths = product_paths()
    names = [path[0] for path in paths]
    generator = np.random.Generator(np.random.PCG64(seed))
    weight_by_product = _grocery_weights(names, generator)
    record, product = _bundles(names, n, generator)
    wanted = _grocery_lengths(n, generator)
    filled = np.bincount(record, minlength=n)
    singles = np.maximum(wanted - filled, (filled == 0).astype(np.int64))
    record_of_single = np.repeat(np.arange(n, dtype=np.int64), singles)
    product_of_single = drawn(weight_by_product, len(record_of_single), generator)
    baskets = Transactions.from_codes(
        names,
        np.concatenate([record, record_of_single]),
        np.concatenate([product, product_of_single]).astype(np.int32),
        n,
    )
    return baskets, Hierarchy.from_paths(paths)


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
    chosen = drawn(weights, len(has_bundle), generator)
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


def drawn(
    weights: NDArray[np.float64], count: int, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Return `count` numbers drawn by weight, from uniform numbers alone."""
    bounds = np.cumsum(weights)
    places = np.searchsorted(bounds, generator.random(count) * bounds[-1], side="right")
    drawn: NDArray[np.int64] = np.minimum(places, len(weights) - 1).astype(np.int64)
    return drawn
