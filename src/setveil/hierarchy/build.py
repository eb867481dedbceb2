"""Make a hierarchy where there is none.

- `balanced`: sorted labels in groups of equal size, as in the papers' synthetic trees;
- `flat`: everything below one root; `from_paths`: from leaf-to-root paths;
- `from_prefixes`: codes such as ICD, by their first characters;
- `from_intervals`: numbers by intervals, coarser ones above finer ones;
- `learned`: from the data, so that items that occur with the same others share a parent;
- `forest`: one tree a column of a table; `with_counts`: leaves ``milk x2`` below ``milk``;
- `place`: new items put where another hierarchy has them.

Made categories have readable labels that no item has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from ..errors import HierarchyError, UsageError
from .intervals import from_intervals
from .learn import learned
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
