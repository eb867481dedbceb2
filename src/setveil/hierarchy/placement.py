"""Put items that a hierarchy does not know into it, where another hierarchy tells their place.

A release was made with a hierarchy restricted to the items that occurred. New items of the same domain
have a place in the full hierarchy: below a label that is known, or nowhere. What is known stays as it
was; two hierarchies that disagree are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..errors import HierarchyError
from .tree import Hierarchy

Parents = dict[str, str | None]


def place(known: Hierarchy, labels: Iterable[str], given: Hierarchy | None) -> tuple[Parents, set[str]]:
    """Return the parents of all labels with the new ones placed, and those that have no place.

    Parameters
    ----------
    known
        The hierarchy that stays as it is.
    labels
        Items that are not in it.
    given
        The hierarchy that tells their places.

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
        path = _path(label, given)
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


def _path(label: str, given: Hierarchy | None) -> tuple[str, ...]:
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
