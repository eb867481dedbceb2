"""The published hierarchy, read by the audit's own parser: only what is at and above the cut."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import HierarchyError
from .certificate import HIERARCHY as NAME
from .published import shortened
from .spelling import REMEDY, decode, parse_csv


@dataclass(frozen=True)
class PublishedHierarchy:
    """For each published label its path, from itself to its root."""

    path_of_label: dict[str, tuple[str, ...]]

    @property
    def roots(self) -> frozenset[str]:
        """The labels without a parent."""
        return frozenset(path[-1] for path in self.path_of_label.values())

    @property
    def labels(self) -> frozenset[str]:
        """All labels it tells: the published ones and those above them."""
        return frozenset(label for path in self.path_of_label.values() for label in path)

    @property
    def nested(self) -> tuple[str, ...]:
        """The published labels that are ancestors of other published labels, sorted."""
        above = {label for path in self.path_of_label.values() for label in path[1:]}
        return tuple(sorted(above & set(self.path_of_label)))

    @property
    def is_of_columns(self) -> bool:
        """Whether each tree is that of a table's column: all its labels start with ``column=``."""
        column_of_root: dict[str, str] = {}
        for path in self.path_of_label.values():
            columns = {label.partition("=")[0] for label in path if "=" in label}
            if len(columns) != 1 or not all("=" in label for label in path):
                return False
            column_of_root[path[-1]] = columns.pop()
        return len(set(column_of_root.values())) == len(column_of_root)

    def leaves_under(self) -> dict[str, tuple[str, ...]]:
        """Return the leaves that each published label covers, as far as the release tells.

        The leaves themselves are not published, so each label stands for one leaf that only it and
        its ancestors cover. That is the careful reading: a label above others may cover leaves that
        no other label does.
        """
        covered: dict[str, list[str]] = {label: [] for label in self.path_of_label}
        for label, path in self.path_of_label.items():
            for above in path:
                if above in covered:
                    covered[above].append(label)
        return {label: tuple(sorted(leaves)) for label, leaves in covered.items()}


def read_hierarchy(content: bytes) -> PublishedHierarchy:
    """Return the hierarchy, or raise `HierarchyError` or `DataError` naming the line."""
    rows, numbers = parse_csv(decode(content, NAME), ";", NAME)
    path_of_label: dict[str, tuple[str, ...]] = {}
    parent_of: dict[str, tuple[str | None, int]] = {}
    previous = ""
    unpadded = not rows
    for row, number in zip(rows, numbers, strict=True):
        if len(row) != len(rows[0]):
            raise _wrong(f"{len(row)} cells, but the first row has {len(rows[0])}.", number)
        if "" in row:
            raise _wrong("a cell is empty.", number)
        if row[0] <= previous:
            raise _wrong("the rows are not sorted by their first label, each once.", number)
        previous = row[0]
        length = len(row)
        while length > 1 and row[length - 1] == row[length - 2]:
            length -= 1
        unpadded = unpadded or length == len(row)
        path = tuple(row[:length])
        if len(set(path)) != length:
            raise _wrong(f"a label comes twice on the path of {shortened(row[0])}.", number)
        parents: tuple[str | None, ...] = (*path[1:], None)
        for label, parent in zip(path, parents, strict=True):
            known, line = parent_of.setdefault(label, (parent, number))
            if known != parent:
                raise _wrong(f"{shortened(label)} has another parent here than on line {line}.", number)
        path_of_label[row[0]] = path
    if not unpadded:
        raise _wrong("every row is padded, so the last column is not needed.", 1)
    return PublishedHierarchy(path_of_label)


def check_against(
    hierarchy: PublishedHierarchy, labels: tuple[str, ...], *, local: bool, forest: bool
) -> None:
    """Raise `HierarchyError` unless the hierarchy fits the labels that occur in the data.

    Where recoding is `local` a label and its ancestor may both be published, in a `forest` there may be
    several roots. Labels that are all roots are always allowed.
    """
    known = set(hierarchy.path_of_label)
    missing = sorted(set(labels) - known)
    if missing:
        raise _wrong(f"the published label {shortened(missing[0])} has no row.", None)
    spare = sorted(known - set(labels))
    if spare:
        raise _wrong(f"{shortened(spare[0])} has a row but is not published.", None)
    if hierarchy.nested and not local:
        raise _wrong(
            f"{shortened(hierarchy.nested[0])} is published and above another published label, "
            "which a global recoding cannot give.",
            None,
        )
    flat = all(len(path) == 1 for path in hierarchy.path_of_label.values())
    if len(hierarchy.roots) > 1 and not forest and not flat:
        raise _wrong(f"there are {len(hierarchy.roots)} roots.", None)


def check_apart(hierarchy: PublishedHierarchy, labels: frozenset[str]) -> None:
    """Raise `HierarchyError` unless each of these labels is a tree of its own.

    A sensitive label below a published one would be told by that one too, and one above others would
    be told by them; the counting sees neither. Labels that are not published are passed over.
    """
    for label in sorted(labels & set(hierarchy.path_of_label)):
        if len(hierarchy.path_of_label[label]) > 1:
            above = shortened(hierarchy.path_of_label[label][1])
            raise _wrong(f"the sensitive label {shortened(label)} is below {above}.", None)
    for path in hierarchy.path_of_label.values():
        for label in sorted(labels & set(path[1:])):
            raise _wrong(f"the sensitive label {shortened(label)} is above {shortened(path[0])}.", None)


def _wrong(what: str, line: int | None) -> HierarchyError:
    return HierarchyError(what, REMEDY, code="published-hierarchy", file=NAME, line=line)
