"""Tables with a sensitive attribute: one row a person, quasi-identifying columns, one secret.

Values are coded: a tuple's value in a quasi-identifying column is a leaf of that column's hierarchy,
its sensitive value a number into `values`. Hierarchies are restricted to the values that occur.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..distinct import distinct
from ..errors import DataError, HierarchyError, Problem, UsageError
from ..hierarchy.intervals import parse_number
from ..hierarchy.tree import Hierarchy
from ..plain import Summary
from .layout import NO_VALUE
from .numbers import counted

Ids = NDArray[np.int32]
ROOT = "*"
"""The root above the values of a column without a hierarchy."""


@dataclass(frozen=True, eq=False)
class QuasiAttribute:
    """A column by which people may be recognised: its hierarchy, and the leaf of each tuple."""

    name: str
    hierarchy: Hierarchy
    leaf_by_tuple: Ids

    @cached_property
    def is_numeric(self) -> bool:
        leaves = self.hierarchy.labels[: self.hierarchy.n_leaves]
        return bool(leaves) and all(parse_number(label) is not None for label in leaves)


@dataclass(frozen=True, eq=False)
class Microdata(Summary):
    """Tuples: quasi-identifying attributes, and a sensitive value each.

    >>> Microdata.from_columns({"sex": ["F", "M", "M"], "ill": ["flu", "flu", "gout"]}, "ill")
    Microdata(3 tuples, sex; ill with 2 values)
    """

    quasi: tuple[QuasiAttribute, ...]
    sensitive: str
    values: tuple[str, ...]
    value_by_tuple: Ids
    notices: tuple[str, ...] = ()
    """What the reader had to say about the data."""

    @classmethod
    def from_columns(
        cls,
        columns: Mapping[str, Sequence[str]],
        sensitive: str,
        *,
        quasi: Sequence[str] | None = None,
        hierarchies: Mapping[str, Hierarchy] | None = None,
    ) -> Microdata:
        """Return the tuples of columns of texts, all of one length.

        By default all columns but the sensitive one are quasi-identifying; those without a hierarchy
        get a root above their values.
        """
        coded = {}
        for name, cells in columns.items():
            number: dict[str, int] = {}
            codes = [number.setdefault(cell, len(number)) for cell in cells]
            coded[name] = (tuple(number), np.array(codes, dtype=np.int32))
        return cls.from_codes(coded, sensitive, quasi=quasi, hierarchies=hierarchies)

    @classmethod
    def from_codes(
        cls,
        columns: Mapping[str, tuple[Sequence[str], Ids]],
        sensitive: str,
        *,
        quasi: Sequence[str] | None = None,
        hierarchies: Mapping[str, Hierarchy] | None = None,
        notices: Sequence[str] = (),
    ) -> Microdata:
        """Return the same of columns of numbered texts: the different ones, and each row's number."""
        names = [name for name in columns if name != sensitive] if quasi is None else list(quasi)
        check_roles(names, sensitive, tuple(columns), tuple(hierarchies or {}))
        attributes = tuple(
            _attribute(name, *_used(*columns[name]), (hierarchies or {}).get(name)) for name in names
        )
        values, codes = _used(*columns[sensitive])
        if "" in values:
            raise DataError(f"a cell of column {sensitive[:40]!r} is empty.", code="missing-cell")
        return cls(attributes, sensitive, tuple(values), codes, tuple(notices))

    def __len__(self) -> int:
        return len(self.value_by_tuple)

    def __repr__(self) -> str:
        names = ", ".join(attribute.name for attribute in self.quasi)
        return (
            f"Microdata({len(self):,} tuples, {names}; {self.sensitive} with {len(self.values)} values)"
        )

    def lines(self) -> list[tuple[str, str]]:
        lines = [("rows", f"{len(self):,}")]
        for attribute in self.quasi:
            tree = attribute.hierarchy
            lines.append((attribute.name, f"known to others: {counted(tree.n_leaves, 'value')}"))
        lines.append((self.sensitive, f"sensitive: {counted(len(self.values), 'value')}"))
        return lines + [("note", notice) for notice in self.notices]

    @cached_property
    def count_by_value(self) -> NDArray[np.int64]:
        return np.bincount(self.value_by_tuple, minlength=len(self.values)).astype(np.int64)

    @cached_property
    def no_value(self) -> int:
        """The number of the sensitive value that stands for none; -1 where there is no such."""
        return self.values.index(NO_VALUE) if NO_VALUE in self.values else -1

    @cached_property
    def has_value(self) -> NDArray[np.bool_]:
        """Which tuples have a sensitive value: an empty cell tells nothing and hides nobody."""
        held: NDArray[np.bool_] = self.value_by_tuple != self.no_value
        return held

    def subset(self, kept: NDArray[np.bool_]) -> Microdata:
        """Return these tuples; hierarchies and values stay, also where nobody is left in them."""
        return Microdata(
            tuple(replace(each, leaf_by_tuple=each.leaf_by_tuple[kept]) for each in self.quasi),
            self.sensitive,
            self.values,
            self.value_by_tuple[kept],
            self.notices,
        )

    def without_unused(self) -> Microdata:
        """Return the same tuples with hierarchies and values of what occurs in them alone."""
        trees = {each.name: each.hierarchy for each in self.quasi}
        coded = {
            each.name: (each.hierarchy.labels[: each.hierarchy.n_leaves], each.leaf_by_tuple)
            for each in self.quasi
        }
        coded[self.sensitive] = (self.values, self.value_by_tuple)
        return Microdata.from_codes(
            coded, self.sensitive, quasi=tuple(trees), hierarchies=trees, notices=self.notices
        )

    def rows(self) -> Iterator[tuple[str, ...]]:
        columns = [
            [each.hierarchy.labels[leaf] for leaf in each.leaf_by_tuple.tolist()] for each in self.quasi
        ]
        held = [self.values[value] for value in self.value_by_tuple.tolist()]
        return zip(*columns, held, strict=True)

    @cached_property
    def leaves(self) -> Ids:
        """The leaf of each tuple (line) in each attribute (column)."""
        columns = [attribute.leaf_by_tuple for attribute in self.quasi]
        return np.stack(columns, axis=1) if columns else np.empty((len(self), 0), dtype=np.int32)


def check_roles(
    quasi: Sequence[str], sensitive: str, known: Sequence[str], with_tree: Sequence[str] = ()
) -> None:
    """Raise `UsageError` where columns are missing, named twice, or in two roles."""
    for name in (*quasi, sensitive):
        if name not in known:
            what = f"there is no column {name[:40]!r}."
            remedy = f"Columns: {', '.join(other[:40] for other in known)}."
            raise UsageError(what, remedy, code="unknown-column")
        if "=" in name:
            what = f"the column name {name[:40]!r} holds '=', which ends column names in labels."
            remedy = "Rename the column."
            raise UsageError(what, remedy, code="bad-column-name")
        if [*quasi, sensitive].count(name) > 1:
            what, remedy = f"column {name[:40]!r} is given two roles or named twice.", "Give it one."
            raise UsageError(what, remedy, code="two-roles")
    if not quasi:
        raise UsageError("no quasi-identifying column is named.", "Name some (--quasi).")
    for name in with_tree:
        if name not in quasi:
            raise UsageError(
                f"a hierarchy is given for {name[:40]!r}, which is no quasi-identifying column.",
                f"Quasi-identifying: {', '.join(other[:40] for other in quasi)}.",
            )


def _used(texts: Sequence[str], codes: Ids) -> tuple[list[str], Ids]:
    """Return the texts that occur, sorted, and their numbers."""
    used = distinct(codes)
    kept = sorted({texts[code] for code in used.tolist()})
    place = {text: number for number, text in enumerate(kept)}
    new_of_code = np.zeros(len(texts), dtype=np.int32)
    new_of_code[used] = [place[texts[code]] for code in used.tolist()]
    return kept, new_of_code[codes] if len(texts) else np.empty(0, dtype=np.int32)


def _attribute(
    name: str, used: Sequence[str], codes: Ids, hierarchy: Hierarchy | None
) -> QuasiAttribute:
    if "" in used:
        raise DataError(f"a cell of column {name[:40]!r} is empty.", code="missing-cell")
    if hierarchy is None:
        root = ROOT
        while root in used:
            root += ROOT
        hierarchy = Hierarchy.from_parents({**dict.fromkeys(used, root), root: None})
    problems = [
        Problem(
            "unknown-item",
            f"the value {value[:40]!r} of column {name[:40]!r} is not a leaf of its hierarchy.",
            "Add it.",
        )
        for value in used
        if hierarchy.node_of_label.get(value, len(hierarchy)) >= hierarchy.n_leaves
    ]
    if problems:
        raise HierarchyError(problems)
    restricted = hierarchy.restricted_to(used)
    node = restricted.node_of_label
    leaf_of_code = np.array([node[value] for value in used], dtype=np.int32)
    return QuasiAttribute(name, restricted, leaf_of_code[codes])
