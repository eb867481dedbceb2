"""What a hierarchy file says, before anyone knows whether it is a tree.

A file may hold cycles, two parents for a label or several roots. `HierarchyFile` keeps what was read,
with line numbers, so that `hierarchy.doctor` can list all faults at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..errors import Problem, ResourceLimit

MAX_NODES = 5_000_000
"""More labels than this are refused."""


@dataclass(frozen=True)
class OtherParent:
    """A second, different parent of a label, and the line that gives it."""

    label: str
    parent: str | None
    line: int | None


@dataclass(frozen=True)
class Repeat:
    """A line that says again what an earlier one said."""

    label: str
    first_line: int | None
    line: int | None


@dataclass
class HierarchyFile:
    """The edges of a hierarchy with their lines, gathered line by line.

    `parent_of` has the first parent given for each label (None at a root), `line_of` its line,
    `other_parents` the further ones. `leaf_line_of` is filled by formats that say which labels are
    meant as leaves. `faults` are broken rows and `unplaced` the labels in them.
    """

    parent_of: dict[str, str | None] = field(default_factory=dict)
    line_of: dict[str, int | None] = field(default_factory=dict)
    other_parents: list[OtherParent] = field(default_factory=list)
    repeats: list[Repeat] = field(default_factory=list)
    leaf_line_of: dict[str, int | None] = field(default_factory=dict)
    faults: list[Problem] = field(default_factory=list)
    unplaced: set[str] = field(default_factory=set)
    format: str = "parents"
    delimiter: str | None = None
    file: str | None = None
    notices: list[str] = field(default_factory=list)

    @property
    def roots(self) -> list[str]:
        """The labels without a parent, in the order of the file."""
        return [label for label, above in self.parent_of.items() if above is None]

    def add(self, child: str, parent: str | None, line: int | None) -> bool:
        """Record an edge; return False where `child` had this very parent already."""
        if child not in self.parent_of:
            if len(self.parent_of) >= MAX_NODES:
                what = f"the hierarchy has more than {MAX_NODES:,} labels."
                remedy = "Split it, or drop the labels that do not occur in the data."
                raise ResourceLimit(what, remedy, code="too-many-nodes", file=self.file, line=line)
            self.parent_of[child] = parent
            self.line_of[child] = line
            return True
        if self.parent_of[child] == parent:
            return False
        self.other_parents.append(OtherParent(child, parent, line))
        return True

    def repeat(self, label: str, first_line: int | None, line: int | None) -> None:
        """Record a line that repeats an earlier one."""
        self.repeats.append(Repeat(label, first_line, line))

    def fault(self, code: str, what: str, remedy: str, line: int | None) -> None:
        """Record a broken row."""
        self.faults.append(Problem(code, what, remedy, self.file, line))

    def declare_roots(self) -> None:
        """Give the labels that are only ever parents their place as roots."""
        above_lines: dict[str, int | None] = {}
        for child, parent in self.parent_of.items():
            if parent is not None and parent not in self.parent_of:
                above_lines.setdefault(parent, self.line_of[child])
        for other in self.other_parents:
            if other.parent is not None and other.parent not in self.parent_of:
                above_lines.setdefault(other.parent, other.line)
        for label, line in above_lines.items():
            self.add(label, None, line)
