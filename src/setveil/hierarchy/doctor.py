"""The hierarchy doctor: all faults of a hierarchy at once, and those it can mend.

A file may hold cycles, two parents for a label or several roots: `HierarchyFile` keeps what was read,
with line numbers, before anyone knows whether it is a tree. `diagnose` looks at it and, if given, at
the items of the data. It never stops at the first fault. `mend` repairs what has one obvious repair,
or what the caller asked for by name. Everything is iterative: a tree may be ten thousand levels deep.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ..errors import HierarchyError, Problem, ResourceLimit
from .intervals import interval_faults
from .tree import Hierarchy

SEVERITIES = ("error", "warning", "info")
INVISIBLE = frozenset("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u202a\u202b\u202c\u202d\u202e")
UNSPECIFIED = "{} (unspecified)"
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
        self.repeats.append(Repeat(label, first_line, line))

    def fault(self, code: str, what: str, remedy: str, line: int | None) -> None:
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


@dataclass(frozen=True)
class Finding:
    """A problem and how grave it is: an error stops the work, a warning should be read."""

    severity: str
    problem: Problem

    def __str__(self) -> str:
        return str(self.problem).replace("error[", f"{self.severity}[", 1)

    def as_dict(self) -> dict[str, object]:
        return {"severity": self.severity, **self.problem.as_dict()}


def diagnose(
    source: HierarchyFile | Hierarchy,
    items: Mapping[str, int | None] | Iterable[str] | None = None,
    *,
    data_file: str | None = None,
    allow_forest: bool = False,
) -> list[Finding]:
    """Return all findings, errors first, each kind in the order of the file.

    `items` are the labels of the data, with the line of `data_file` on which each is first seen where
    that is known; `allow_forest` accepts several roots.

    >>> toy = HierarchyFile({"a": "A", "b": "A", "A": None})
    >>> [str(finding) for finding in diagnose(toy, ["a", "b", "c"])][0]
    "error[unknown-item]: item 'c' of the data is not in the hierarchy. Add it, or ..."
    """
    source = as_file(source)
    category_of = {above for above in source.parent_of.values() if above is not None}
    findings = _tree_findings(source, category_of, allow_forest=allow_forest)
    if items is not None:
        lines: Mapping[str, int | None] = (
            items if isinstance(items, Mapping) else dict.fromkeys(items, None)
        )
        findings += _against_data(source, category_of, lines, data_file)
    findings += _one_leaf(source)
    findings += _spellings(source, category_of)
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))


def as_file(source: HierarchyFile | Hierarchy) -> HierarchyFile:
    """Return a hierarchy as the edges that `diagnose` and `mend` take."""
    if isinstance(source, HierarchyFile):
        return source
    return HierarchyFile(source.parents_by_label())


def to_hierarchy(source: HierarchyFile, *, allow_forest: bool = False) -> Hierarchy:
    """Return the hierarchy of these edges, or raise one error with everything that is wrong."""
    category_of = {above for above in source.parent_of.values() if above is not None}
    findings = _tree_findings(source, category_of, allow_forest=allow_forest)
    errors = [finding.problem for finding in findings if finding.severity == "error"]
    if errors:
        raise HierarchyError(errors)
    return Hierarchy.from_parents(source.parent_of)


def _tree_findings(
    source: HierarchyFile, category_of: set[str], *, allow_forest: bool
) -> list[Finding]:
    """All that can make it no tree; the rest of `diagnose` only warns or looks at the data."""
    found = [Finding("error", fault) for fault in source.faults]
    found += _shape(source, category_of, allow_forest=allow_forest)
    found += _parents(source)
    found += _cycles(source)
    # Labels that are intervals of numbers: gaps, overlaps, numbers in the wrong one.
    for label, code, what, remedy, certain in interval_faults(source.parent_of):
        severity = "error" if certain else "warning"
        found.append(_finding(source, severity, code, what, remedy, source.line_of.get(label)))
    return found


def short(label: str | None) -> str:
    """Return a label as shown in a message."""
    if label is None:
        return "no parent"
    return repr(label if len(label) <= 40 else label[:39] + "…")


def _at(line: int | None, whose: str = "") -> str:
    return "" if line is None else f" (line {line}{whose})"


def _finding(
    source: HierarchyFile,
    severity: str,
    code: str,
    what: str,
    remedy: str = "",
    line: int | None = None,
) -> Finding:
    return Finding(severity, Problem(code, what, remedy, source.file, line))


def _shape(source: HierarchyFile, category_of: set[str], *, allow_forest: bool) -> Iterator[Finding]:
    """Empty, only a root, no root, several roots."""
    roots = source.roots
    if not source.parent_of:
        if not source.faults:
            what = "the hierarchy is empty."
            yield _finding(source, "error", "empty-hierarchy", what, "Give a tree.")
    elif not roots:
        what = "the hierarchy has no root: every label has a parent."
        yield _finding(source, "error", "no-root", what, "Break the cycle.")
    elif not category_of:
        what = "the hierarchy has only a root and nothing below it."
        if len(roots) > 1:
            what = "no label of the hierarchy has a parent."
        line = source.line_of.get(roots[0])
        yield _finding(source, "error", "only-root", what, "Put the items below it.", line)
    elif len(roots) > 1 and not allow_forest:
        remedy = "Join them with --add-root NAME, or correct the top of this row."
        for root in roots:
            what = f"{short(root)} is one of {len(roots):,} roots; one is allowed."
            yield _finding(source, "error", "several-roots", what, remedy, source.line_of.get(root))


def _parents(source: HierarchyFile) -> Iterator[Finding]:
    """Two parents, a leaf that is a category, repeated lines."""
    for other in source.other_parents:
        first_line = source.line_of.get(other.label)
        what = (
            f"{short(other.label)} has two parents: {short(source.parent_of[other.label])}"
            f"{_at(first_line)} and {short(other.parent)}{_at(other.line)}."
        )
        remedy = "Keep one of them, or give the two meanings two labels."
        yield _finding(source, "error", "two-parents", what, remedy, other.line or first_line)
    child_of_leaf: dict[str, str] = {}
    for child, above in source.parent_of.items() if source.leaf_line_of else ():
        if above is not None and above in source.leaf_line_of:
            child_of_leaf.setdefault(above, child)
    for label, child in child_of_leaf.items():
        what = (
            f"{short(label)} is a leaf here and the category above {short(child)}"
            f"{_at(source.line_of.get(child))}; a published label would have two meanings."
        )
        remedy = f"Rename the leaf, e.g. {short(UNSPECIFIED.format(label))}."
        line = source.leaf_line_of[label]
        yield _finding(source, "error", "leaf-and-category", what, remedy, line)
    for repeat in source.repeats:
        where = "an earlier one" if repeat.first_line is None else f"line {repeat.first_line}"
        what = f"this line repeats {where}; counted once."
        yield _finding(source, "info", "duplicate-line", what, "Remove it, or use --fix.", repeat.line)


def _cycles(source: HierarchyFile) -> Iterator[Finding]:
    """Each cycle once, printed."""
    walk_of: dict[str, int] = {}
    for walk, start in enumerate(source.parent_of):
        here: str | None = start
        trail: list[str] = []
        while here is not None and here not in walk_of:
            walk_of[here] = walk
            trail.append(here)
            here = source.parent_of.get(here)
        if here is None or walk_of[here] != walk:
            continue
        ring = trail[trail.index(here) :]
        if len(ring) == 1:
            what = f"{short(here)} is its own parent."
        else:
            shown = [short(label) for label in ring[:10]] + (["…"] if len(ring) > 10 else [])
            what = f"a cycle: {' -> '.join([*shown, short(here)])}."
        lines = [line for label in ring if (line := source.line_of.get(label)) is not None]
        remedy = "Remove one of these steps."
        if len(ring) == 1 and source.format == "parents":
            remedy = "Leave the root's parent empty; if repeats are padding, use --format paths."
        yield _finding(source, "error", "cycle", what, remedy, max(lines, default=None))


def fold(label: str) -> str:
    """Return a label without what the eye misses: case, outer blanks, invisible characters, form."""
    visible = "".join(character for character in label if character not in INVISIBLE)
    return " ".join(unicodedata.normalize("NFKC", visible).casefold().split())


def _against_data(
    source: HierarchyFile,
    category_of: set[str],
    items: Mapping[str, int | None],
    data_file: str | None,
) -> Iterator[Finding]:
    """Items that are missing or are categories; leaves that do not occur."""
    missing = [
        label for label in items if label not in source.parent_of and label not in source.unplaced
    ]
    spelled: dict[str, str] = {}
    for known in source.parent_of if missing else ():
        spelled.setdefault(fold(known), known)
    for label in missing:
        what = f"item {short(label)} of the data is not in the hierarchy."
        remedy = "Add it, or use --fix with --attach CATEGORY."
        near = spelled.get(fold(label))
        if near is not None:
            where = _at(source.line_of.get(near), " of the hierarchy")
            what += f" It has {short(near)}{where}, which looks the same."
            remedy = "Spell both alike."
        yield Finding("error", Problem("unknown-item", what, remedy, data_file, items[label]))
    for label, line in items.items():
        if label in category_of:
            what = f"item {short(label)} of the data is a category of the hierarchy."
            remedy = (
                f"Add a leaf such as {short(UNSPECIFIED.format(label))} (--unspecified with --fix) "
                "and use it in the data."
            )
            yield Finding("error", Problem("item-is-category", what, remedy, data_file, line))
    unused = sum(1 for label in source.parent_of if label not in category_of and label not in items)
    if unused:
        what = f"{unused:,} leaves of the hierarchy do not occur in the data; they are not published."
        yield _finding(source, "info", "unused-leaves", what)


def _one_leaf(source: HierarchyFile) -> Iterator[Finding]:
    """Categories above a single leaf: they hide nothing."""
    children = Counter(above for above in source.parent_of.values() if above is not None)
    for leaf, parent in source.parent_of.items():
        above = parent if leaf not in children else None
        while above is not None and children[above] == 1:
            what = f"category {short(above)} has one leaf, {short(leaf)}, so it hides nothing."
            remedy = "Merge it with another category, if that was not meant."
            line = source.line_of.get(above)
            yield _finding(source, "warning", "one-leaf-category", what, remedy, line)
            above = source.parent_of.get(above)


def _spellings(source: HierarchyFile, category_of: set[str]) -> Iterator[Finding]:
    """Outer blanks and invisible characters; leaves, or categories, that only look alike."""
    first_leaf: dict[str, str] = {}
    first_category: dict[str, str] = {}
    for label in source.parent_of:
        plain = label.isascii() and label.islower() and " " not in label
        key = label if plain else fold(label)
        first = first_category if label in category_of else first_leaf
        other = first.setdefault(key, label)
        line = source.line_of.get(label)
        if not plain and (label != label.strip() or not INVISIBLE.isdisjoint(label)):
            what = f"label {short(label)} has outer blanks or invisible characters."
            remedy = "Clean it in hierarchy and data."
            yield _finding(source, "warning", "odd-spelling", what, remedy, line)
        if other != label:
            where = _at(source.line_of.get(other))
            what = f"labels {short(label)} and {short(other)}{where} differ only in spelling."
            remedy = "Spell them alike if they mean the same; they count as two."
            yield _finding(source, "warning", "look-alike", what, remedy, line)


def mend(
    source: HierarchyFile | Hierarchy,
    items: Iterable[str] | None = None,
    *,
    add_root: str | None = None,
    attach: str | None = None,
    unspecified: bool = False,
) -> tuple[HierarchyFile, list[str]]:
    """Return the edges with unambiguous faults repaired, and what was done.

    Several roots are joined below `add_root`. `items` that are missing are put below the category
    `attach`; ``"*"`` is the root. With `unspecified` each category that is also an item or a leaf line
    gets a leaf ``X (unspecified)``.
    """
    source = as_file(source)
    parent_of = dict(source.parent_of)
    line_of = dict(source.line_of)
    leaf_line_of = dict(source.leaf_line_of)
    done: list[str] = []
    labels = list(items or ())
    if source.repeats:
        done.append(f"dropped {len(source.repeats):,} repeated lines")
    if add_root is not None and _join_roots(parent_of, add_root):
        done.append(f"joined the roots below {short(add_root)}")
    categories = {above for above in parent_of.values() if above is not None}
    if unspecified:
        wanted = [label for label in (*labels, *leaf_line_of) if label in categories]
        for label in dict.fromkeys(wanted):
            leaf = UNSPECIFIED.format(label)
            leaf_line_of.pop(label, None)
            if leaf not in parent_of:
                parent_of[leaf] = label
                line_of[leaf] = source.line_of.get(label)
                done.append(f"added the leaf {short(leaf)}; use it in the data for {short(label)}")
    if attach is not None:
        target = _attach_target(parent_of, attach)
        missing = [label for label in dict.fromkeys(labels) if label not in parent_of]
        parent_of.update(dict.fromkeys(missing, target))
        if missing:
            done.append(f"attached {len(missing):,} missing items below {short(target)}")
    mended = replace(
        source, parent_of=parent_of, line_of=line_of, leaf_line_of=leaf_line_of, repeats=[]
    )
    return mended, done


def _join_roots(parent_of: dict[str, str | None], name: str) -> bool:
    roots = [label for label, above in parent_of.items() if above is None and label != name]
    if name in parent_of and parent_of[name] is not None:
        what = f"{short(name)} is already a label below another one."
        remedy = "Choose another name for --add-root."
        raise HierarchyError(what, remedy, code="root-name-taken")
    if not roots or (len(roots) == 1 and name not in parent_of):
        return False
    for label in roots:
        parent_of[label] = name
    parent_of[name] = None
    return True


def _attach_target(parent_of: dict[str, str | None], attach: str) -> str:
    categories = {above for above in parent_of.values() if above is not None}
    if attach in categories:
        return attach
    roots = [label for label, above in parent_of.items() if above is None]
    if attach == "*" and len(roots) == 1:
        return roots[0]
    what = f"there is no category {short(attach)} to attach items to."
    remedy = "Name a category of the hierarchy, or '*' for its only root."
    raise HierarchyError(what, remedy, code="no-such-category")
