"""Fit a hierarchy to the data and the promise: one tree a column, unknown items, sensitive items.

- A table has one tree a column. A kept column without one gets the flat tree ``column=*``.
- Items unknown to the hierarchy are an error, or are put under the root where the user says so.
- A sensitive or private item is never generalized: it leaves its tree and becomes a tree of its own.
- Without a hierarchy every item is a tree of its own, so that nothing can be generalized.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..distinct import distinct
from ..errors import HierarchyError, UsageError
from ..hierarchy.tree import Hierarchy
from .guarantees import Guarantee
from .transactions import Transactions, problem_with

UNKNOWN_POLICIES = ("error", "attach-to-root")


def labels_in(transactions: Transactions) -> list[str]:
    """Return the labels that occur, sorted."""
    labels = transactions.vocabulary.labels
    return [labels[item] for item in distinct(transactions.items).tolist()]


def fit_hierarchy(
    transactions: Transactions,
    hierarchy: Hierarchy | Mapping[str, Hierarchy] | None,
    guarantee: Guarantee,
    *,
    unknown: str = "error",
) -> tuple[Hierarchy, Guarantee, tuple[str, ...]]:
    """Return the hierarchy and the guarantee as a method needs them, and notices.

    For a table `hierarchy` has one for each column by name; a table with one set-valued column takes
    that column's hierarchy alone. The guarantee that is returned names those secrets that occur.
    """
    if unknown not in UNKNOWN_POLICIES:
        raise UsageError(
            f"unknown={str(unknown)[:40]!r} is not known.", f"Allowed: {', '.join(UNKNOWN_POLICIES)}."
        )
    labels = labels_in(transactions)
    if isinstance(hierarchy, Hierarchy):
        hierarchy = by_column(transactions, hierarchy)
    notices: list[str] = []
    parents: dict[str, str | None]
    private = False
    if hierarchy is None:
        parents = dict.fromkeys(labels)
    elif isinstance(hierarchy, Hierarchy):
        parents, private = hierarchy.parents_by_label(), hierarchy.private
    else:
        parents = _one_tree_a_column(transactions, hierarchy, labels, guarantee.secret_labels, notices)
        private = any(tree.private for tree in hierarchy.values())
    if guarantee.secret_labels:
        present = _set_apart(guarantee.secret_labels, str(guarantee.secrets), parents, labels)
        guarantee = guarantee.with_secrets(present)
    missing = [label for label in labels if label not in parents]
    if missing and unknown == "attach-to-root":
        _attach(parents, missing, _columns(transactions))
        notices.append(f"{len(missing):,} items unknown to the hierarchy were put under its root.")
    elif missing:
        raise HierarchyError(
            [
                problem_with(
                    transactions,
                    label,
                    "unknown-item",
                    f"item {label[:40]!r} is not in the hierarchy.",
                    "Add it, or put such items under the root (--unknown attach-to-root).",
                )
                for label in sorted(missing, key=lambda x: transactions.first_line_of(x) or 0)
            ]
        )
    fitted = Hierarchy.from_parents(parents, private=private)
    if hierarchy is not None and not _columns(transactions):
        _refuse_several_roots(fitted, labels, guarantee)
    return fitted, guarantee, tuple(notices)


def by_column(transactions: Transactions, hierarchy: Hierarchy) -> Hierarchy | dict[str, Hierarchy]:
    """Return one hierarchy as that of a table's only set-valued column.

    It stays as it is where the data are no table, or where its labels are ``column=value`` already.
    """
    layout = transactions.layout
    columns = layout.item_columns if layout is not None else ()
    labels = labels_in(transactions)
    if not columns or not labels or not set(hierarchy.labels).isdisjoint(labels):
        return hierarchy
    sets = [column.name for column in columns if column.role == "set"]
    if len(sets) != 1:
        raise UsageError(
            f"one hierarchy is given for a table with {len(sets)} set-valued columns.",
            "Give {column: hierarchy} (--hierarchy COLUMN=FILE), with a column of: "
            f"{', '.join(column.name for column in columns)}.",
            code="hierarchy-of-which-column",
        )
    return {sets[0]: hierarchy}


def _columns(transactions: Transactions) -> tuple[str, ...]:
    layout = transactions.layout
    return tuple(column.name for column in layout.item_columns) if layout is not None else ()


def _one_tree_a_column(
    transactions: Transactions,
    trees: Mapping[str, Hierarchy],
    labels: list[str],
    ungeneralized: frozenset[str],
    notices: list[str],
) -> dict[str, str | None]:
    layout = transactions.layout
    columns = layout.item_columns if layout is not None else ()
    if not columns:
        raise UsageError(
            "hierarchies by column need a table.", "Give one hierarchy, or read the data as a table."
        )
    strange = sorted(set(trees) - {column.name for column in columns})
    if strange:
        raise UsageError(
            f"a hierarchy is given for {strange[0][:40]!r}, which is no column of the release.",
            f"Columns: {', '.join(column.name for column in columns)}.",
        )
    parents: dict[str, str | None] = {}
    for column in columns:
        start = f"{column.name}="
        if column.name in trees:
            for label, above in trees[column.name].parents_by_label().items():
                parents[start + label] = None if above is None else start + above
            continue
        if column.role == "set":
            what = f"the column {column.name[:40]!r} needs a hierarchy."
            remedy = f"Give --hierarchy {column.name[:40]}=FILE."
            raise UsageError(what, remedy, code="hierarchy-needed")
        if start + "*" in labels:
            what = f"the column {column.name[:40]!r} holds the value '*', which stands for any value."
            remedy = f"Give a hierarchy for it: --hierarchy {column.name[:40]}=FILE."
            raise HierarchyError(what, remedy, code="reserved-label")
        own = [label for label in labels if label.startswith(start)]
        parents.update(dict.fromkeys(own, start + "*"))
        parents[start + "*"] = None
        if not own or not ungeneralized.issuperset(own):
            notices.append(
                f"column {column.name[:40]!r} has no hierarchy: its values generalize to '*'."
            )
    return parents


def _set_apart(
    named: frozenset[str], word: str, parents: dict[str, str | None], labels: list[str]
) -> frozenset[str]:
    """Make the named items that occur trees of their own, and return them."""
    occurring = set(labels)
    categories = {above for above in parents.values() if above is not None}
    for label in sorted(named):
        if label in categories:
            what = f"the {word} item {label[:40]!r} is a category of the hierarchy."
            remedy = "Name the items themselves."
            raise UsageError(what, remedy, code=f"{word}-category")
        if label not in occurring and label not in parents:
            what = f"the {word} item {label[:40]!r} is neither in the data nor in the hierarchy."
            remedy = f"Correct the list of {word} items."
            raise UsageError(what, remedy, code=f"unknown-{word}")
    present = named & occurring
    if not present:
        what, remedy = f"none of the {word} items occurs in the data.", "Correct the list."
        raise UsageError(what, remedy, code=f"unknown-{word}")
    for label in named:
        parents.pop(label, None)
    parents.update(dict.fromkeys(present))
    _drop_childless(parents, categories)
    return present


def _drop_childless(parents: dict[str, str | None], categories: set[str]) -> None:
    """Remove categories that have lost their last item, so that they do not pass for items."""
    while True:
        still = {above for above in parents.values() if above is not None}
        empty = [label for label in categories if label in parents and label not in still]
        if not empty:
            return
        for label in empty:
            del parents[label]


def _attach(parents: dict[str, str | None], missing: list[str], columns: tuple[str, ...]) -> None:
    categories = {above for above in parents.values() if above is not None}
    roots = [label for label, above in parents.items() if above is None and label in categories]
    for label in missing:
        column = next((name for name in columns if label.startswith(f"{name}=")), None)
        fitting = [root for root in roots if column is None or root.startswith(f"{column}=")]
        if len(fitting) != 1:
            raise HierarchyError(
                f"item {label[:40]!r} has no single root to be put under.", "Add it to the hierarchy."
            )
        parents[label] = fitting[0]


def _refuse_several_roots(hierarchy: Hierarchy, labels: Iterable[str], guarantee: Guarantee) -> None:
    """Refuse labels under several roots; those to be kept secret are roots of their own."""
    used = {int(hierarchy.root[hierarchy.node_of_label[label]]) for label in labels}
    roots = [hierarchy.labels[root] for root in sorted(used)]
    roots = [label for label in roots if label not in guarantee.secret_labels]
    if len(roots) > 1:
        shown = ", ".join(repr(label[:40]) for label in roots[:5])
        what = f"the hierarchy has several roots: {shown}."
        remedy = "Put one root above them (--add-root NAME when reading it)."
        raise HierarchyError(what, remedy, code="several-roots")
