"""Data of the size and shape of BMS-POS, whose original cannot be had, made from a seed.

Only uniform numbers are drawn and only basic arithmetic follows, so that another version of numpy gives
the same records.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.errors import UsageError
from setveil.model.transactions import Transactions

POS_RECORDS = 515_597
POS_ITEMS = 1_657
POS_LONGEST = 164
TAIL_SCALE = 18.0


def pos_shape(n: int = POS_RECORDS, items: int = POS_ITEMS, seed: int = 11) -> Transactions:
    """Return data of BMS-POS's shape: 515,597 records, 1,657 items, mean 6.5, longest 164.

    Items are labelled ``0001`` .. in an order that has nothing to do with how often they occur. Every
    item occurs, some a handful of times. With fewer than 164 items the longest record holds them all.
    """
    if n < 1 or items < 1:
        raise UsageError(f"n={n} or items={items} is out of range.", "Give at least 1 of each.")
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
        fresh = record * items + drawn(weight_by_item, len(record), generator)
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


def drawn(
    weights: NDArray[np.float64], count: int, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Return `count` numbers drawn by weight. Other checkouts have this elsewhere in the package."""
    bounds = np.cumsum(weights)
    places = np.searchsorted(bounds, generator.random(count) * bounds[-1], side="right")
    return np.minimum(places, len(weights) - 1).astype(np.int64)
