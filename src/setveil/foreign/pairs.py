"""Two data sets that somebody published, judged by a promise that is given.

Values count as they stand. Where hierarchies tell the categories above them, patterns are also counted
at every level; without one a value has one root above it, as where such data are anonymized.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from ..audit import Published, audit_pair
from ..errors import HierarchyError, Problem, UsageError
from ..hierarchy.tree import Hierarchy
from ..io.pairs import PatternData, read_pair_data
from ..model.guarantees import AnyGuarantee
from ..model.microdata import ROOT
from ..model.pattern_pair import PatternPair, column_of
from ..run.fields import PAIRS, refuse_unfit
from ..run.pairs import Work, check_columns
from . import Foreign, refuse_mode

if TYPE_CHECKING:
    from ..audit.verdict import PairFinding
    from ..run import Run

Paths = Mapping[str, tuple[str, ...]]
Trees = Hierarchy | Mapping[str, Hierarchy] | None


class ForeignPair(Foreign):
    """Two data sets as labels, and the path of each label to its root."""

    def __init__(self, data: PatternPair | PatternData, paths: Paths, *, levels: bool) -> None:
        self.sides, self.paths, self.levels = data.labelled, paths, levels
        self.notices = data.notices

    @classmethod
    def read(cls, target: Any, *, mode: str = "exact", hierarchy: Trees = None, **reading: Any) -> Self:
        refuse_mode(mode, "two data sets have")
        if not hasattr(target, "labelled"):
            data = read_pair_data(target, reading.pop("against", None), repeats="error", **reading)
            return cls._with(data, hierarchy)
        if reading:
            raise UsageError(f"{min(reading)} is for files and frames.", "Leave it out.")
        tree = getattr(target, "hierarchy", None)
        if tree is None:
            return cls._with(target, hierarchy)
        if hierarchy is not None:
            raise UsageError("these data sets have their hierarchy with them.", "Leave it out.")
        return cls(target, {label: tree.path(label) for label in tree.labels}, levels=True)

    @classmethod
    def _with(cls, data: PatternData, hierarchy: Trees) -> Self:
        return cls(data, paths_of(data, hierarchy), levels=bool(hierarchy))

    @classmethod
    def asked(cls, asked: Any, run: Run) -> tuple[Self, AnyGuarantee]:
        refuse_unfit(asked, PAIRS)
        work = Work(run)
        guarantee = work.read_guarantee()
        work.name_inputs()
        data = run.read_two(run.data, repeats="error")
        check_columns(work.tree_files, data.columns)
        trees = {column: run.read_tree(path) for column, path in work.tree_files.items()}
        return cls._with(data, trees if data.columns else trees.get("")), guarantee

    def judge(self, guarantee: Any, *, witnesses: int = 0, threads: int | None = None) -> PairFinding:
        """Return the answer; `UsageError` for a promise at levels that nothing tells."""
        if guarantee.every_level and not self.levels:
            raise UsageError(
                "a promise at every level is about categories, and no hierarchy tells them.",
                "Give it (--hierarchy FILE, for tables COLUMN=FILE).",
                code="hierarchy-needed",
            )
        first, second = (
            Published(side.indptr, side.items, side.vocabulary.labels) for side in self.sides
        )
        return audit_pair(
            first, second, guarantee, paths=self.paths, witnesses=witnesses, threads=threads
        )


def paths_of(data: PatternData, hierarchy: Trees) -> dict[str, tuple[str, ...]]:
    """Return the path of each published label to its root; those that a hierarchy lacks are refused.

    A published label may be a category. Of tables the hierarchies are those of values, by column.
    """
    columns = data.columns
    if columns and isinstance(hierarchy, Hierarchy):
        what, remedy = "tables have a hierarchy for each column.", "Give {column: hierarchy}."
        raise UsageError(what, remedy, code="hierarchy")
    if not columns and isinstance(hierarchy, Mapping) and hierarchy:
        raise UsageError("sets of items have one hierarchy.", "Give it alone.", code="hierarchy")
    trees: Mapping[str, Hierarchy] = {}
    if isinstance(hierarchy, Mapping):
        check_columns(hierarchy, columns)
        trees = hierarchy
    elif hierarchy is not None:
        trees = {"": hierarchy}
    found: dict[str, tuple[str, ...]] = {}
    problems: list[Problem] = []
    for label in sorted({label for side in data.labelled for label in side.vocabulary.labels}):
        column = column_of(label, columns) if columns else ""
        start = f"{column}=" if columns else ""
        value, tree = label.removeprefix(start), trees.get(column)
        if tree is None:
            path: tuple[str, ...] = tuple(dict.fromkeys((value, ROOT)))
        elif value in tree.node_of_label:
            path = tree.path(value)
        elif label in data.made:
            path = (value, tree.labels[tree.roots[0]])
        else:
            of_column = f" of the column {column[:40]!r}" if columns else ""
            what = f"the value {value[:40]!r}{of_column} is not in its hierarchy."
            problems.append(Problem("unknown-item", what, "Add it."))
            continue
        found[label] = tuple(f"{start}{step}" for step in path)
    if problems:
        raise HierarchyError(problems)
    return found


FOREIGN = ForeignPair
