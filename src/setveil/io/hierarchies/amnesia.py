"""Amnesia's text form of a hierarchy.

A head of four lines (``distinct`` or ``range``, ``name ..``, ``type ..``, ``height ..``), then lines
``parent has child child ..``, lowest level first, an empty line between levels. Blanks separate
labels, so a label with a blank cannot be told from two labels: such lines are refused, both ways.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...errors import HierarchyError
from ...hierarchy.edges import HierarchyFile
from ...hierarchy.tree import Hierarchy

_HEAD_WORDS = ("distinct", "range", "name", "type", "height")
_BLANK = re.compile(r"\s")


def looks_like_amnesia(text: str) -> bool:
    """Tell whether the text opens with Amnesia's head."""
    opening = text[:200].replace("\r\n", "\n").lower().split("\n")
    return (
        opening[0].strip() in ("distinct", "range")
        and opening[1:2] != []
        and (opening[1].startswith("name ") or opening[1].strip() == "name")
    )


def read_amnesia(text: str, source: HierarchyFile) -> None:
    """Record the edges of the text."""
    in_head = True
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.removesuffix("\r").strip(" ")
        if not line:
            in_head = False
            continue
        tokens = [token for token in line.split(" ") if token]
        if in_head and "has" not in tokens[1:2]:
            if tokens[0].lower() not in _HEAD_WORDS:
                what = f"unknown word {tokens[0][:40]!r} in the head."
                source.fault("bad-head", what, "Known: name, type, height.", number)
            continue
        in_head = False
        if tokens.count("has") != 1 or tokens.index("has") != 1 or len(tokens) < 3:
            what = "this line is not of the form 'parent has child child'."
            remedy = "Labels with blanks do not fit Amnesia's form; use leaf-path CSV for them."
            source.fault("bad-has-line", what, remedy, number)
            source.unplaced.update(tokens)
            continue
        parent = tokens[0]
        for child in tokens[2:]:
            if not source.add(child, parent, number):
                source.repeat(child, source.line_of[child], number)
    source.declare_roots()


def amnesia_lines(hierarchy: Hierarchy, name: str) -> Iterator[str]:
    """Yield the text of a tree; a label with a blank is refused before the first line."""
    for label in (*hierarchy.labels, name):
        if _BLANK.search(label) or label == "has" or not label:
            what = f"Amnesia's form cannot hold the label {label[:40]!r}."
            remedy = "Labels there have no blanks and are not 'has'; write paths instead."
            raise HierarchyError(what, remedy, code="not-for-amnesia")
    if len(hierarchy.roots) != 1:
        what = f"Amnesia's form holds one tree, this has {len(hierarchy.roots)}."
        remedy = "Write paths instead."
        raise HierarchyError(what, remedy, code="not-for-amnesia")
    yield f"distinct\nname {name}\ntype string\nheight {hierarchy.height + 1}\n\n"
    parents_at: list[list[int]] = [[] for _ in range(hierarchy.height + 1)]
    for node in range(hierarchy.n_leaves, len(hierarchy)):
        parents_at[int(hierarchy.depth[node])].append(node)
    for depth in range(hierarchy.height - 1, -1, -1):
        for node in sorted(parents_at[depth], key=lambda node: hierarchy.labels[node]):
            below = " ".join(hierarchy.labels[child] for child in hierarchy.children[node])
            yield f"{hierarchy.labels[node]} has {below}\n"
        yield "\n"
