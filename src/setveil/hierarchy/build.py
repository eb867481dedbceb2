"""Make a hierarchy where there is none.

- `balanced`: sorted labels in groups of equal size, as in the papers' synthetic trees;
- `flat`: everything below one root; `from_paths`: from leaf-to-root paths;
- `from_prefixes`: codes such as ICD, by their first characters;
- `from_intervals`: numbers by intervals, coarser ones above finer ones;
- `learned`: from the data, so that items that occur with the same others share a parent. Each item is
  described by how often it occurs together with the most frequent items (its contexts), as far as that
  is more often than chance would have it. Level by level, the most frequent item not yet placed takes
  the ones most like it into a group; groups are then items of the next level. The result tells
  something about the records, so it is marked private;
- `forest`: one tree a column of a table; `with_counts`: leaves ``milk x2`` below ``milk``;
- `place`: new items put where another hierarchy has them.

Made categories have readable labels that no item has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import HierarchyError, UsageError
from .intervals import from_intervals
from .tree import Hierarchy

__all__ = [
    "balanced",
    "flat",
    "forest",
    "from_intervals",
    "from_paths",
    "from_prefixes",
    "learned",
    "place",
    "with_counts",
]

ROOT = "ALL"
MAX_CONTEXTS = 256
MAX_PAIRS = 4_000_000
"""Pairs of items counted at a time."""
Parents = dict[str, str | None]
_DIGITS = re.compile(r"[0-9]{1,4000}")
_COUNTED = re.compile(r"(.+) x([1-9][0-9]*)", re.DOTALL)


def balanced(labels: Iterable[str], fan_out: int = 4, *, root: str = ROOT) -> Hierarchy:
    """Return a tree over the sorted labels in groups of `fan_out`, level above level.

    Labels made of digits only are sorted as numbers. No group has a single member: the last two of a
    level share theirs (so a fan-out of 2 makes some groups of 3). A group is named by its first and
    last leaf.

    >>> balanced(["e", "d", "c", "b", "a"], 2).path("a")
    ('a', '[a..b]', 'ALL')
    >>> balanced(["10", "9", "8", "7"], 2).path("10")
    ('10', '[9..10]', 'ALL')
    """
    if isinstance(fan_out, bool) or not isinstance(fan_out, int) or fan_out < 2:
        raise UsageError(f"fan_out={fan_out} is out of range.", "Give a whole number >= 2.")
    leaves = sorted_labels(labels)
    _refuse_root(root, leaves)
    taken = {*leaves, root}
    parent_of: dict[str, str | None] = {root: None}
    # (label, first leaf, last leaf) of the nodes of one level
    level = [(label, label, label) for label in leaves]
    while len(level) > max(fan_out, 3):
        above: list[tuple[str, str, str]] = []
        for members in _groups(level, fan_out):
            first, last = members[0][1], members[-1][2]
            name = _unused(f"[{first}..{last}]", taken)
            above.append((name, first, last))
            parent_of.update(dict.fromkeys((label for label, _, _ in members), name))
        level = above
    parent_of.update(dict.fromkeys((label for label, _, _ in level), root))
    return Hierarchy.from_parents(parent_of)


def flat(labels: Iterable[str], root: str = ROOT) -> Hierarchy:
    """Return all labels below one root.

    >>> flat(["a", "b"])
    Hierarchy(2 leaves, 1 categories, height 1)
    """
    leaves = sorted_labels(labels)
    _refuse_root(root, leaves)
    return Hierarchy.from_parents({**dict.fromkeys(leaves, root), root: None})


def from_paths(paths: Iterable[Sequence[str]]) -> Hierarchy:
    """Return the tree of leaf-to-root paths; consecutive repeats are padding.

    >>> from_paths([("a", "A", "ALL"), ("b", "b", "ALL")]).path("b")
    ('b', 'ALL')
    """
    hierarchy = Hierarchy.from_paths(paths)
    if len(hierarchy.roots) != 1:
        names = ", ".join(repr(hierarchy.labels[node][:40]) for node in hierarchy.roots[:5])
        what = f"the paths have {len(hierarchy.roots)} roots ({names}); one is expected."
        remedy = "End all paths with the same label."
        raise HierarchyError(what, remedy, code="several-roots")
    return hierarchy


def from_prefixes(labels: Iterable[str], lengths: Sequence[int], *, root: str = ROOT) -> Hierarchy:
    """Return a tree of codes by their first characters, e.g. ICD codes with lengths 1 and 3.

    A category is named by its prefix and a star. Categories that would hold one code, or the same
    codes as a longer prefix, are left out.

    >>> tree = from_prefixes(["E10.1", "E10.9", "E66", "I10"], [1, 3])
    >>> tree.path("E10.9"), tree.path("E66"), tree.path("I10")
    (('E10.9', 'E10*', 'E*', 'ALL'), ('E66', 'E*', 'ALL'), ('I10', 'ALL'))
    """
    bad = [length for length in lengths if isinstance(length, bool) or length < 1]
    if not lengths or bad or len(set(lengths)) != len(lengths):
        raise UsageError(
            f"the prefix lengths {list(lengths)} are not distinct whole numbers >= 1.",
            "Give e.g. 1,3.",
        )
    leaves = sorted_labels(labels)
    _refuse_root(root, leaves)
    count: dict[str, int] = {}
    for label in leaves:
        for length in lengths:
            if len(label) >= length:
                count[label[:length]] = count.get(label[:length], 0) + 1
    taken = {*leaves, root}
    name_of: dict[str, str] = {}
    parent_of: dict[str, str | None] = {root: None}
    for label in leaves:
        here, size = label, 1
        for length in sorted(lengths, reverse=True):
            prefix = label[:length]
            if len(label) < length or count[prefix] == size:
                continue
            size = count[prefix]
            if prefix not in name_of:
                name_of[prefix] = _unused(f"{prefix}*", taken)
            parent_of[here] = name_of[prefix]
            here = name_of[prefix]
        parent_of[here] = root
    return Hierarchy.from_parents(parent_of)


def forest(hierarchy_of_column: Mapping[str, Hierarchy]) -> Hierarchy:
    """Return the trees of several columns side by side, every label prefixed with ``column=``.

    >>> forest({"sex": flat(["F", "M"], "any")}).path("sex=F")
    ('sex=F', 'sex=any')
    """
    parent_of: dict[str, str | None] = {}
    for column, hierarchy in hierarchy_of_column.items():
        for label, above in hierarchy.parents_by_label().items():
            name = f"{column}={label}"
            if name in parent_of:
                what, remedy = f"two columns give the label {name[:40]!r}.", "Rename a column."
                raise HierarchyError(what, remedy, code="column-clash")
            parent_of[name] = None if above is None else f"{column}={above}"
    private = any(hierarchy.private for hierarchy in hierarchy_of_column.values())
    return Hierarchy.from_parents(parent_of, private=private)


def with_counts(hierarchy: Hierarchy, labels: Iterable[str]) -> Hierarchy:
    """Return the hierarchy with each label ``milk x2`` of the data as a leaf below ``milk``.

    Labels that the hierarchy knows already, that hold no count, or whose name is a category rather
    than an item, are left as they are.

    >>> with_counts(flat(["milk", "tea"]), ["milk x1", "milk x2"]).path("milk x2")
    ('milk x2', 'milk', 'ALL')
    """
    parent_of = hierarchy.parents_by_label()
    known = set(parent_of)
    items = set(hierarchy.labels[: hierarchy.n_leaves])
    for label in labels:
        match = None if label in known else _COUNTED.fullmatch(label)
        if match is not None and match[1] in items:
            parent_of[label] = match[1]
    return Hierarchy.from_parents(parent_of, private=hierarchy.private)


def sorted_labels(labels: Iterable[str]) -> list[str]:
    """Return the distinct labels: by value if all are digits, else by code point."""
    leaves = sorted(set(labels))
    if not leaves or "" in leaves:
        raise HierarchyError(
            "there are no labels, or one is empty.", "Give labels.", code="empty-hierarchy"
        )
    if all(_DIGITS.fullmatch(label) for label in leaves):
        leaves.sort(key=lambda label: (len(label.lstrip("0")), label.lstrip("0"), label))
    return leaves


def _refuse_root(root: str, leaves: Sequence[str]) -> None:
    if not root or root in leaves:
        what = f"the root's label {root[:40]!r} is empty or an item of the data."
        remedy = "Choose another label for the root."
        raise HierarchyError(what, remedy, code="root-name-taken")


def _groups(level: list[tuple[str, str, str]], fan_out: int) -> list[list[tuple[str, str, str]]]:
    groups = [level[start : start + fan_out] for start in range(0, len(level), fan_out)]
    if len(groups) > 1 and len(groups[-1]) == 1:
        if fan_out > 2:
            groups[-1].insert(0, groups[-2].pop())
        else:
            single = groups.pop()
            groups[-1] += single
    return groups


def _unused(name: str, taken: set[str]) -> str:
    """Return the name, numbered if it is taken, and take it."""
    label, number = name, 2
    while label in taken:
        label, number = f"{name} ({number})", number + 1
    taken.add(label)
    return label


def place(known: Hierarchy, labels: Iterable[str], given: Hierarchy | None) -> tuple[Parents, set[str]]:
    """Return the parents of all labels with the new ones placed, and those that have no place.

    A release was made with the hierarchy `known`, restricted to the items that occurred. New items of
    the same domain have a place in the full one, `given`: below a label that is known, or nowhere.
    What is known stays as it was; two hierarchies that disagree are refused.

    >>> known = Hierarchy.from_parents({"a": "A", "A": "ALL", "ALL": None})
    >>> full = Hierarchy.from_parents({"a": "A", "b": "A", "A": "ALL", "ALL": None})
    >>> place(known, ["b", "c"], full)
    ({'a': 'A', 'A': 'ALL', 'ALL': None, 'b': 'A'}, {'c'})
    """
    parents: Parents = known.parents_by_label()
    lost: set[str] = set()
    if given is not None:
        _refuse_differences(parents, given)
    leaves = set(known.labels[: known.n_leaves])
    for label in labels:
        path = _path_above(label, given)
        meeting = next((step for step in path if step in known.node_of_label), None)
        if meeting is None:
            lost.add(label)
            continue
        if meeting in leaves:
            raise HierarchyError(
                f"the hierarchy puts items below {meeting[:40]!r}, which is an item of the release.",
                "Use the hierarchy that the release was made with, and read the data in the same way.",
                code="item-is-category",
            )
        for child, above in zip((label, *path), path[: path.index(meeting) + 1], strict=False):
            parents.setdefault(child, above)
    return parents, lost


def _path_above(label: str, given: Hierarchy | None) -> tuple[str, ...]:
    """Return the labels above an item in the hierarchy given; none where it is no leaf of it."""
    node = None if given is None else given.node_of_label.get(label)
    if given is None or node is None or node >= given.n_leaves:
        return ()
    return given.path(label)[1:]


def _refuse_differences(parents: Mapping[str, str | None], given: Hierarchy) -> None:
    for label, above in given.parents_by_label().items():
        if label in parents and parents[label] != above:
            raise HierarchyError(
                f"the hierarchy has {label[:40]!r} in another place than the release.",
                "Use the hierarchy that the release was made with, or one that only adds items to it.",
                code="hierarchy-differs",
            )


class Names(Protocol):
    """The labels of items, by their numbers."""

    @property
    def labels(self) -> tuple[str, ...]: ...


class Records(Protocol):
    """What learning reads of records as sets; `setveil.model.transactions.Transactions` are such."""

    @property
    def items(self) -> NDArray[np.int32]: ...
    @property
    def vocabulary(self) -> Names: ...
    @property
    def count_by_item(self) -> NDArray[np.int64]: ...
    @property
    def length_by_record(self) -> NDArray[np.int64]: ...
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
