"""A hierarchy learned from the data: items that occur with the same others share a parent.

Each item is described by how often it occurs together with the most frequent items (its contexts),
as far as that is more often than chance would have it. Level by level, the most
frequent item not yet placed takes the ones most like it into a group; groups are then items of the
next level. The result tells something about the records, so it is marked private.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import HierarchyError, UsageError
from .tree import Hierarchy

MAX_CONTEXTS = 256
MAX_PAIRS = 4_000_000
"""Pairs of items counted at a time."""


class Names(Protocol):
    """The labels of items, by their numbers."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels."""
        ...


class Records(Protocol):
    """Records as sets of items; `setveil.model.transactions.Transactions` are such."""

    @property
    def items(self) -> NDArray[np.int32]:
        """The items of all records, one record after the other."""
        ...

    @property
    def vocabulary(self) -> Names:
        """What the items are called."""
        ...

    @property
    def count_by_item(self) -> NDArray[np.int64]:
        """In how many records each item is."""
        ...

    @property
    def length_by_record(self) -> NDArray[np.int64]:
        """How many items each record has."""
        ...

    def __len__(self) -> int: ...


def learned(transactions: Records, *, fan_out: int = 4, root: str = "ALL") -> Hierarchy:
    """Return a tree over the items that occur, groups of `fan_out`, marked private.

    The same data give the same tree, whatever the order of the records.

    >>> from setveil.model.transactions import Transactions
    >>> rows = [["milk", "tea"], ["cream", "tea"], ["rope", "nail"], ["rope", "screw"], ["tea"]]
    >>> tree = learned(Transactions.from_rows(rows), fan_out=2)
    >>> tree.path("milk")[1] == tree.path("cream")[1], tree.private
    (True, True)
    """
    if isinstance(fan_out, bool) or not isinstance(fan_out, int) or fan_out < 2:
        raise UsageError(f"fan_out={fan_out} is out of range.", "Give a whole number >= 2.")
    count_by_item = transactions.count_by_item
    used = np.flatnonzero(count_by_item)
    labels = [transactions.vocabulary.labels[item] for item in used.tolist()]
    if not labels or root in labels:
        what = "the data have no items, or one is named like the root."
        remedy = "Choose another label for the root."
        raise HierarchyError(what, remedy, code="root-name-taken" if labels else "empty-hierarchy")
    together, context_count = _co_occurrence(transactions, count_by_item)
    together, count = together[used], count_by_item[used]
    parent_of: dict[str, str | None] = {root: None}
    level = 1
    taken = set(labels)
    while len(labels) > max(fan_out, 3):
        groups = _similar_groups(together, count, context_count, len(transactions), fan_out)
        number_of_group = len(str(len(groups)))
        names = []
        for number, group in enumerate(groups, start=1):
            name = f"group {level}.{number:0{number_of_group}d}"
            while name in taken:
                name += "'"
            taken.add(name)
            names.append(name)
            parent_of.update({labels[member]: name for member in group})
        together = np.stack([together[group].sum(axis=0) for group in groups])
        count = np.array([count[group].sum() for group in groups], dtype=np.int64)
        labels = names
        level += 1
    parent_of.update(dict.fromkeys(labels, root))
    return Hierarchy.from_parents(parent_of, private=True)


def _co_occurrence(
    transactions: Records, count_by_item: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return counts (item x context) of records that hold both, and the contexts' own counts."""
    n_items = len(count_by_item)
    contexts = np.argsort(-count_by_item, kind="stable")[:MAX_CONTEXTS]
    context_of_item = np.full(n_items, -1, dtype=np.int64)
    context_of_item[contexts] = np.arange(len(contexts))
    record = np.repeat(np.arange(len(transactions)), transactions.length_by_record)
    is_context = context_of_item[transactions.items] >= 0
    context_entry = context_of_item[transactions.items[is_context]]
    start = np.zeros(len(transactions) + 1, dtype=np.int64)
    np.cumsum(np.bincount(record[is_context], minlength=len(transactions)), out=start[1:])
    pairs_of_entry = (start[1:] - start[:-1])[record]
    running = np.cumsum(pairs_of_entry)
    counts = np.zeros(n_items * len(contexts), dtype=np.int64)
    begin = 0
    while begin < len(record):
        before = int(running[begin - 1]) if begin else 0
        end = max(int(np.searchsorted(running, before + MAX_PAIRS, side="right")), begin + 1)
        pairs = pairs_of_entry[begin:end]
        item = np.repeat(transactions.items[begin:end].astype(np.int64), pairs)
        offset = np.arange(len(item)) - np.repeat(np.cumsum(pairs) - pairs, pairs)
        context = context_entry[np.repeat(start[:-1][record[begin:end]], pairs) + offset]
        counts += np.bincount(item * len(contexts) + context, minlength=len(counts))
        begin = end
    together = counts.reshape(n_items, len(contexts)).astype(np.float64)
    # An item always occurs with itself, which says nothing about its company.
    together[contexts, np.arange(len(contexts))] = 0.0
    return together, count_by_item[contexts]


def _similar_groups(
    together: NDArray[np.float64],
    count: NDArray[np.int64],
    context_count: NDArray[np.int64],
    n_records: int,
    fan_out: int,
) -> list[NDArray[np.int64]]:
    """Return groups of like rows, each begun by the most frequent row that is left."""
    expected = np.outer(count, context_count) / max(n_records, 1)
    # Only company beyond chance counts (two standard deviations), and the more the better, slowly.
    surprise = np.log2(1.0 + np.maximum((together - expected) / np.sqrt(expected + 0.5) - 2.0, 0.0))
    norm = np.sqrt((surprise * surprise).sum(axis=1, keepdims=True))
    direction = (surprise / np.maximum(norm, 1e-12)).astype(np.float32)
    order = np.argsort(-count, kind="stable")
    direction = direction[order]
    groups: list[NDArray[np.int64]] = []
    free = np.ones(len(order), dtype=bool)
    first = 0
    while first < len(order):
        # Rounded, so that equal likeness stays equal on every machine; ties go to the frequent.
        likeness = np.round(direction[first + 1 :] @ direction[first], 5)
        likeness[~free[first + 1 :]] = -1.0
        left = int(free[first + 1 :].sum())
        wanted = min(fan_out - 1, left)
        if left == fan_out:
            wanted += -1 if fan_out > 2 else 1  # leave no single row behind
        best = first + 1 + np.argsort(-likeness, kind="stable")[:wanted]
        free[first] = False
        free[best] = False
        groups.append(order[np.concatenate([[first], best])].astype(np.int64))
        if 2 * (left - wanted) < len(order) - first:
            # Half of the rows are placed: drop them, so that the products stay short.
            order, direction = order[free], direction[free]
            free, first = np.ones(len(order), dtype=bool), 0
        while first < len(order) and not free[first]:
            first += 1
    return groups
