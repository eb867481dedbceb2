"""Two data sets over one hierarchy, to be compared: sets of items, or tables of nominal attributes.

A table has one tree a column, its labels ``column=value``, and a row holds at most one value of each.
Sets have one hierarchy of items. Either way a row is a set of leaves, and nothing below has to ask.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..distinct import distinct
from ..errors import DataError, HierarchyError, Problem, UsageError
from ..hierarchy.tree import Hierarchy
from ..plain import Summary
from .layout import Layout
from .microdata import ROOT
from .numbers import counted
from .transactions import Rows, Transactions, as_labels, as_leaves, canonical_order, problem_with

NO_VALUE = frozenset({"", "?", "-", "--", ".", "na", "n/a", "nan", "null", "none", "(missing)"})
"""What people write where there is no value, in small letters."""


@dataclass(frozen=True, eq=False)
class PatternPair(Summary):
    """Two data sets bound to one hierarchy; all values that occur are leaves of it.

    `columns` are those of the tables, in order, and empty for sets of items. `names` are for the
    holder. `classes` is the column that split one table in two and its two values, where one did.
    `layout` is how the data came, where that is known.

    >>> tree = Hierarchy.from_parents({"ale": "drink", "tea": "drink", "drink": None})
    >>> pair = PatternPair.of_sets(
    ...     Transactions.from_rows([["ale"], ["ale", "tea"]]), Transactions.from_rows([["tea"]]), tree
    ... )
    >>> pair
    PatternPair('first' with 2 records, 'second' with 1)
    """

    hierarchy: Hierarchy
    sides: tuple[Rows, Rows]
    columns: tuple[str, ...] = ()
    names: tuple[str, str] = ("first", "second")
    classes: tuple[str, tuple[str, str]] | None = None
    layout: Layout | None = None
    notices: tuple[str, ...] = ()

    @classmethod
    def of_sets(
        cls,
        first: Transactions,
        second: Transactions,
        hierarchy: Hierarchy | None = None,
        *,
        names: tuple[str, str] = ("first", "second"),
        notices: tuple[str, ...] = (),
    ) -> PatternPair:
        """Return two data sets of items under one hierarchy; without one, all items have one root."""
        if hierarchy is None:
            _refuse_reserved(first, second, (ROOT,))
            hierarchy = _flat((*first.vocabulary.labels, *second.vocabulary.labels))
        if len(hierarchy.roots) > 1:
            raise HierarchyError(
                "the hierarchy has several roots.",
                "Put one above them (--add-root): patterns are hidden by going up as far as need be.",
            )
        _refuse_unfit(first, second, hierarchy)
        # The hierarchy is kept whole: distances count all leaves under a category, also of values that
        # do not occur.
        sides = (as_leaves(first, hierarchy), as_leaves(second, hierarchy))
        return cls(hierarchy, sides, (), names, None, first.layout, notices)

    @classmethod
    def of_tables(
        cls,
        first: Transactions,
        second: Transactions,
        columns: Sequence[str],
        hierarchies: Mapping[str, Hierarchy] | None = None,
        *,
        names: tuple[str, str] = ("first", "second"),
        classes: tuple[str, tuple[str, str]] | None = None,
        notices: tuple[str, ...] = (),
        below_root: Collection[str] = (),
    ) -> PatternPair:
        """Return two tables whose cells are the items ``column=value``.

        `hierarchies` are those of some columns, over values alone; the others get a root above all.
        `below_root` are items that no hierarchy has to know, as those for cells without a value: where
        one does not, they lie right below its root.
        """
        given = dict(hierarchies or {})
        for name in given:
            if name not in columns:
                raise UsageError(
                    f"there is no column {name[:40]!r} for a hierarchy.", "Check the name."
                )
        _refuse_reserved(first, second, [f"{name}={ROOT}" for name in columns if name not in given])
        parent_of_label: dict[str, str | None] = {}
        column_of_label = {
            label: column_of(label, columns)
            for label in (*first.vocabulary.labels, *second.vocabulary.labels)
        }
        for name in columns:
            labels = [label for label, column in column_of_label.items() if column == name]
            values = [label[len(name) + 1 :] for label in labels]
            tree = given.get(name) or _flat(values)
            if len(tree.roots) > 1:
                raise HierarchyError(
                    f"the hierarchy of the column {name[:40]!r} has several roots.",
                    "Put one above them (--add-root).",
                )
            for label, above in tree.parents_by_label().items():
                parent_of_label[f"{name}={label}"] = None if above is None else f"{name}={above}"
            root = f"{name}={tree.labels[tree.roots[0]]}"
            for label in labels:
                if label in below_root:
                    parent_of_label.setdefault(label, root)
        private = any(tree.private for tree in given.values())
        forest = Hierarchy.from_parents(parent_of_label, private=private)
        _refuse_unfit(first, second, forest, columns)
        sides = (as_leaves(first, forest), as_leaves(second, forest))
        return cls(forest, sides, tuple(columns), names, classes, Layout("table"), notices)

    @property
    def is_table(self) -> bool:
        return bool(self.columns)

    @property
    def different_names(self) -> tuple[str, str]:
        """The names, where they tell the data sets apart."""
        return self.names if self.names[0] != self.names[1] else ("first", "second")

    @property
    def records(self) -> tuple[int, int]:
        return len(self.sides[0]), len(self.sides[1])

    @property
    def labelled(self) -> tuple[Transactions, Transactions]:
        """The records of either side as labels."""
        first, second = (as_labels(rows, self.hierarchy) for rows in self.sides)
        return first, second

    @cached_property
    def originals(self) -> tuple[tuple[Transactions, NDArray[np.int64]], ...]:
        """The records of either side as labels, and their canonical order."""
        return tuple((side, canonical_order(side)) for side in self.labelled)

    def __repr__(self) -> str:
        here, there = self.records
        return f"PatternPair({self.names[0]!r} with {here:,} records, {self.names[1]!r} with {there:,})"

    def lines(self) -> list[tuple[str, str]]:
        lines = [
            (name, counted(count, "record"))
            for name, count in zip(self.names, self.records, strict=True)
        ]
        if self.columns:
            lines.append(("columns", ", ".join(self.columns)))
        lines.append(("values", f"{self.hierarchy.n_leaves:,}"))
        return lines + [("note", notice) for notice in self.notices]


def column_of(label: str, columns: Sequence[str]) -> str:
    """Return the column of a label ``column=value``; a column's name may itself hold ``=``."""
    fitting = [name for name in columns if label.startswith(f"{name}=")]
    if not fitting:
        raise UsageError(f"the item {label[:40]!r} belongs to no column.", "Name the columns.")
    return max(fitting, key=len)


def _refuse_unfit(
    first: Transactions, second: Transactions, hierarchy: Hierarchy, columns: Sequence[str] = ()
) -> None:
    """Raise `HierarchyError` for values that are no leaves, each with its file and line."""
    problems: dict[str, Problem] = {}
    for data in (first, second):
        for item in distinct(data.items).tolist():
            label = data.vocabulary.labels[item]
            node = hierarchy.node_of_label.get(label)
            if label in problems or (node is not None and node < hierarchy.n_leaves):
                continue
            name, value = f"the item {label[:40]!r}", label
            if columns:
                column = column_of(label, columns)
                value = label[len(column) + 1 :]
                name = f"the value {value[:40]!r} of the column {column[:40]!r}"
            its = "its hierarchy" if columns else "the hierarchy"
            what, code, remedy = f"{name} is not in {its}.", "unknown-item", "Add it."
            if value.strip().casefold() in NO_VALUE:
                cells = " and --missing-cells suppress, suppress-row or category" if columns else ""
                remedy = f"Add it, or if it means no value say so: --missing '{value}'{cells}."
            if node is not None:
                what, code = f"{name} is a category of {its}.", "item-is-category"
                remedy = "Add a leaf such as '… (unspecified)' below it, and use that in the data."
            problems[label] = problem_with(data, label, code, what, remedy)
    if problems:
        raise HierarchyError(list(problems.values()))


def _flat(labels: Sequence[str]) -> Hierarchy:
    return Hierarchy.from_parents({ROOT: None} | dict.fromkeys(labels, ROOT))


def _refuse_reserved(first: Transactions, second: Transactions, reserved: Sequence[str]) -> None:
    """Raise `DataError` for items that are called as the root that is put above all."""
    problems = []
    for data in (first, second):
        for label in reserved:
            if label in data.vocabulary.ids:
                column = label.rpartition("=")[0]
                which = f"a value of the column {column[:40]!r}" if column else "an item"
                what = f"{ROOT!r} is {which}, and stands for any value where there is no hierarchy."
                named = f"{column[:40]}=FILE" if column else "FILE"
                remedy = f"Call it otherwise, or give a hierarchy: --hierarchy {named}."
                problems.append(problem_with(data, label, "reserved-label", what, remedy))
    if problems:
        raise DataError(problems)
