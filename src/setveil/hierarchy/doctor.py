"""The hierarchy doctor: all faults of a hierarchy at once, and those it can mend.

`diagnose` looks at the edges of a file (`HierarchyFile`) and, if given, at the items of the data. It
never stops at the first fault. `mend` repairs what has one obvious repair, or what the caller asked
for by name. Everything is iterative: a tree may be ten thousand levels deep.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from ..errors import HierarchyError, Problem
from .edges import HierarchyFile
from .intervals import interval_faults
from .tree import Hierarchy

SEVERITIES = ("error", "warning", "info")
INVISIBLE = frozenset("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u202a\u202b\u202c\u202d\u202e")
UNSPECIFIED = "{} (unspecified)"


@dataclass(frozen=True)
class Finding:
    """A problem and how grave it is: an error stops the work, a warning should be read."""

    severity: str
    problem: Problem

    def __str__(self) -> str:
        return str(self.problem).replace("error[", f"{self.severity}[", 1)

    def as_dict(self) -> dict[str, object]:
        """Return the finding as plain values for ``--json``."""
        return {"severity": self.severity, **self.problem.as_dict()}


def diagnose(
    source: HierarchyFile | Hierarchy,
    items: Mapping[str, int | None] | Iterable[str] | None = None,
    *,
    data_file: str | None = None,
    allow_forest: bool = False,
) -> list[Finding]:
    """Return all findings, errors first, each kind in the order of the file.

    Parameters
    ----------
    source
        The edges as read, or a finished hierarchy.
    items
        The labels of the data, with the line each is first seen on where that is known.
    data_file
        The name to print with lines of the data.
    allow_forest
        Accept several roots.

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
    findings = [Finding("error", fault) for fault in source.faults]
    findings += _shape(source, category_of, allow_forest=allow_forest)
    findings += _parents(source)
    findings += [Finding("error", problem) for problem in _cycles(source)]
    return findings + _intervals(source)


def short(label: str | None) -> str:
    """Return a label as shown in a message."""
    if label is None:
        return "no parent"
    return repr(label if len(label) <= 40 else label[:39] + "…")


def _problem(
    source: HierarchyFile, code: str, what: str, remedy: str, line: int | None = None
) -> Problem:
    return Problem(code, what, remedy, source.file, line)


def _shape(source: HierarchyFile, category_of: set[str], *, allow_forest: bool) -> list[Finding]:
    """Empty, only a root, no root, several roots."""
    found: list[Finding] = []
    if not source.parent_of:
        if not source.faults:
            found.append(
                Finding(
                    "error",
                    _problem(source, "empty-hierarchy", "the hierarchy is empty.", "Give a tree."),
                )
            )
        return found
    roots = source.roots
    if not roots:
        what = "the hierarchy has no root: every label has a parent."
        found.append(Finding("error", _problem(source, "no-root", what, "Break the cycle.")))
    elif not category_of:
        what = "the hierarchy has only a root and nothing below it."
        if len(roots) > 1:
            what = "no label of the hierarchy has a parent."
        remedy = "Put the items below it."
        line = source.line_of.get(roots[0])
        found.append(Finding("error", _problem(source, "only-root", what, remedy, line)))
    elif len(roots) > 1 and not allow_forest:
        remedy = "Join them with --add-root NAME, or correct the top of this row."
        found += [
            Finding(
                "error",
                _problem(
                    source,
                    "several-roots",
                    f"{short(root)} is one of {len(roots):,} roots; one is allowed.",
                    remedy,
                    source.line_of.get(root),
                ),
            )
            for root in roots
        ]
    return found


def _parents(source: HierarchyFile) -> list[Finding]:
    """Two parents, repeated lines, a leaf that is a category."""
    found: list[Finding] = []
    for other in source.other_parents:
        first_line = source.line_of.get(other.label)
        where = "" if first_line is None else f" (line {first_line})"
        again = "" if other.line is None else f" (line {other.line})"
        what = (
            f"{short(other.label)} has two parents: {short(source.parent_of[other.label])}{where} "
            f"and {short(other.parent)}{again}."
        )
        remedy = "Keep one of them, or give the two meanings two labels."
        found.append(
            Finding("error", _problem(source, "two-parents", what, remedy, other.line or first_line))
        )
    if source.leaf_line_of:
        found += _leaf_and_category(source)
    for repeat in source.repeats:
        where = "" if repeat.first_line is None else f" line {repeat.first_line}"
        what = f"this line repeats{where or ' an earlier one'}; counted once."
        remedy = "Remove it, or use --fix."
        found.append(Finding("info", _problem(source, "duplicate-line", what, remedy, repeat.line)))
    return found


def _leaf_and_category(source: HierarchyFile) -> list[Finding]:
    leaf_line_of = source.leaf_line_of
    child_line: dict[str, tuple[str, int | None]] = {}
    for child, above in source.parent_of.items():
        if above is not None and above in leaf_line_of:
            child_line.setdefault(above, (child, source.line_of.get(child)))
    found: list[Finding] = []
    for label, (child, line) in child_line.items():
        where = "" if line is None else f" (line {line})"
        what = (
            f"{short(label)} is a leaf here and the category above {short(child)}{where}; "
            "a published label would have two meanings."
        )
        remedy = f"Rename the leaf, e.g. {short(UNSPECIFIED.format(label))}."
        found.append(
            Finding(
                "error",
                _problem(source, "leaf-and-category", what, remedy, leaf_line_of[label]),
            )
        )
    return found


def _cycles(source: HierarchyFile) -> list[Problem]:
    """Return one problem for each cycle, which it prints."""
    walk_of: dict[str, int] = {}
    found: list[Problem] = []
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
        found.append(_problem(source, "cycle", what, remedy, max(lines, default=None)))
    return found


def fold(label: str) -> str:
    """Return a label without what the eye misses: case, outer blanks, invisible characters, form."""
    visible = "".join(character for character in label if character not in INVISIBLE)
    return " ".join(unicodedata.normalize("NFKC", visible).casefold().split())


def _against_data(
    source: HierarchyFile,
    category_of: set[str],
    items: Mapping[str, int | None],
    data_file: str | None,
) -> list[Finding]:
    """Items that are missing or are categories; leaves that do not occur."""
    found: list[Finding] = []
    missing = [
        label for label in items if label not in source.parent_of and label not in source.unplaced
    ]
    spelled: dict[str, str] = {}
    if missing:
        for known in source.parent_of:
            spelled.setdefault(fold(known), known)
    for label in missing:
        what = f"item {short(label)} of the data is not in the hierarchy."
        remedy = "Add it, or use --fix with --attach CATEGORY."
        near = spelled.get(fold(label))
        if near is not None:
            line = source.line_of.get(near)
            where = "" if line is None else f" (line {line} of the hierarchy)"
            what += f" It has {short(near)}{where}, which looks the same."
            remedy = "Spell both alike."
        found.append(Finding("error", Problem("unknown-item", what, remedy, data_file, items[label])))
    for label, line in items.items():
        if label in category_of:
            what = f"item {short(label)} of the data is a category of the hierarchy."
            remedy = (
                f"Add a leaf such as {short(UNSPECIFIED.format(label))} (--unspecified with --fix) "
                "and use it in the data."
            )
            found.append(Finding("error", Problem("item-is-category", what, remedy, data_file, line)))
    unused = sum(1 for label in source.parent_of if label not in category_of and label not in items)
    if unused:
        what = f"{unused:,} leaves of the hierarchy do not occur in the data; they are not published."
        found.append(Finding("info", _problem(source, "unused-leaves", what, "")))
    return found


def _one_leaf(source: HierarchyFile) -> list[Finding]:
    """Categories above a single leaf: they hide nothing."""
    children: dict[str, int] = {}
    for above in source.parent_of.values():
        if above is not None:
            children[above] = children.get(above, 0) + 1
    found: list[Finding] = []
    for leaf, parent in source.parent_of.items():
        above = parent if leaf not in children else None
        while above is not None and children[above] == 1:
            what = f"category {short(above)} has one leaf, {short(leaf)}, so it hides nothing."
            remedy = "Merge it with another category, if that was not meant."
            line = source.line_of.get(above)
            found.append(Finding("warning", _problem(source, "one-leaf-category", what, remedy, line)))
            above = source.parent_of.get(above)
    return found


def _intervals(source: HierarchyFile) -> list[Finding]:
    """Labels that are intervals of numbers: gaps, overlaps, numbers in the wrong one."""
    return [
        Finding(
            "error" if certain else "warning",
            _problem(source, code, what, remedy, source.line_of.get(label)),
        )
        for label, code, what, remedy, certain in interval_faults(source.parent_of)
    ]


def _spellings(source: HierarchyFile, category_of: set[str]) -> list[Finding]:
    """Outer blanks and invisible characters; leaves, or categories, that only look alike."""
    found: list[Finding] = []
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
            found.append(
                Finding(
                    "warning",
                    _problem(source, "odd-spelling", what, "Clean it in hierarchy and data.", line),
                )
            )
        if other != label:
            at = source.line_of.get(other)
            where = "" if at is None else f" (line {at})"
            what = f"labels {short(label)} and {short(other)}{where} differ only in spelling."
            remedy = "Spell them alike if they mean the same; they count as two."
            found.append(Finding("warning", _problem(source, "look-alike", what, remedy, line)))
    return found


def mend(
    source: HierarchyFile | Hierarchy,
    items: Iterable[str] | None = None,
    *,
    add_root: str | None = None,
    attach: str | None = None,
    unspecified: bool = False,
) -> tuple[HierarchyFile, list[str]]:
    """Return the edges with unambiguous faults repaired, and what was done.

    Parameters
    ----------
    source
        The edges as read.
    items
        The labels of the data, for `attach` and `unspecified`.
    add_root
        Join several roots below a new one of this name.
    attach
        Put items that are missing below this category; ``"*"`` or the root's own label for the root.
    unspecified
        Give each category that is also an item or a leaf line a leaf ``X (unspecified)``.
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
