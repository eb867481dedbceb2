"""How hierarchies and findings look in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from ..errors import SHOWN, UsageError
from . import screen

if TYPE_CHECKING:
    from ..hierarchy.doctor import Finding
    from ..hierarchy.tree import Hierarchy

READABLE_LINES = 80
FEW_CHILDREN = 12
MOST_LEVELS = 8


def findings_text(findings: Sequence[Finding], name: str) -> str:
    """Return the findings, at most `SHOWN` of a kind, and a last line that sums up."""
    lines: list[str] = []
    count_by_code: dict[str, int] = {}
    count_by_severity = {"error": 0, "warning": 0, "info": 0}
    for finding in findings:
        code = finding.problem.code
        count_by_code[code] = count_by_code.get(code, 0) + 1
        count_by_severity[finding.severity] += 1
        if count_by_code[code] <= SHOWN:
            lines.append(str(finding))
    lines += [
        f"… and {count - SHOWN:,} more of [{code}]"
        for code, count in count_by_code.items()
        if count > SHOWN
    ]
    summary = ", ".join(
        f"{count:,} {severity}{'s' if count != 1 else ''}"
        for severity, count in count_by_severity.items()
        if count
    )
    return "\n".join([*lines, f"{name}: {summary or 'nothing to complain about'}."])


def draw(
    hierarchy: Hierarchy, *, depth: int | None, limit: int | None, under: str | None, as_json: bool
) -> None:
    """Print a tree: all of it if that is short, else its upper levels and some of each."""
    if under is not None and under not in hierarchy.node_of_label:
        raise UsageError(f"there is no label {under[:40]!r} in the hierarchy.", code="no-such-label")
    tops = hierarchy.roots if under is None else (hierarchy.node_of_label[under],)
    if depth is None or limit is None:
        depth, limit = _readable(hierarchy, tops, depth, limit)
    if as_json:
        nodes = [
            {
                "label": hierarchy.labels[node],
                "parent": hierarchy.labels[hierarchy.parent[node]]
                if hierarchy.parent[node] >= 0
                else None,
                "leaves": int(hierarchy.leaf_count[node]),
            }
            for node, _, _ in _lines(hierarchy, tops, depth, limit)
            if node >= 0
        ]
        plain = {
            "leaves": hierarchy.n_leaves,
            "categories": len(hierarchy) - hierarchy.n_leaves,
            "height": hierarchy.height,
            "levels": _level_sizes(hierarchy),
            "nodes": nodes,
        }
        screen.print_json(plain)
        return
    if screen.on_terminal():
        _draw_coloured(hierarchy, tops, depth, limit)
    else:
        for _, branch, text in _lines(hierarchy, tops, depth, limit):
            screen.result(branch + text, {}, as_json=False)
    sizes = " > ".join(f"{size:,}" for size in _level_sizes(hierarchy))
    screen.echo(f"{hierarchy!r}; labels by level: {sizes}")


def _draw_coloured(hierarchy: Hierarchy, tops: Sequence[int], depth: int, limit: int) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console()
    for node, branch, text in _lines(hierarchy, tops, depth, limit):
        line = Text(no_wrap=True, overflow="ellipsis")
        line.append(branch, style="dim")
        style = "dim" if node < 0 else ("bold" if node >= hierarchy.n_leaves else "")
        line.append(text, style=style)
        console.print(line)


def _readable(
    hierarchy: Hierarchy, tops: Sequence[int], depth: int | None, limit: int | None
) -> tuple[int, int]:
    """Return a depth and a width at which about a screen or two is filled."""
    widths = [limit] if limit is not None else [len(hierarchy), FEW_CHILDREN, FEW_CHILDREN // 2]
    depths = [depth] if depth is not None else [*range(min(hierarchy.height, MOST_LEVELS), 0, -1)]
    for levels in depths:
        for width in widths:
            count = sum(1 for _ in islice(_lines(hierarchy, tops, levels, width), READABLE_LINES + 1))
            if count <= READABLE_LINES:
                return levels, width
    return depths[-1] if depths else 0, widths[-1]


def _lines(
    hierarchy: Hierarchy, tops: Sequence[int], depth: int, limit: int
) -> Iterator[tuple[int, str, str]]:
    """Yield (node, branch drawing, text); a node of -1 stands for what is left out."""
    stack: list[tuple[int, str, str, int, str]] = [(top, "", "", 0, "") for top in reversed(tops)]
    while stack:
        node, branch, below, level, note = stack.pop()
        if node < 0:
            yield node, branch, note
            continue
        yield node, branch, _text(hierarchy, node, folded=level >= depth)
        if level >= depth:
            continue
        children = sorted(
            hierarchy.children[node],
            key=lambda child: (-int(hierarchy.leaf_count[child]), hierarchy.labels[child]),
        )
        shown = children if len(children) <= limit + 1 else children[:limit]
        entries = [(child, "") for child in shown]
        if len(shown) < len(children):
            leaves = sum(int(hierarchy.leaf_count[child]) for child in children[limit:])
            more = len(children) - limit
            entries.append((-1, f"… {more:,} more ({leaves:,} leaves)"))
        for place in range(len(entries) - 1, -1, -1):
            child, left_out = entries[place]
            last = place == len(entries) - 1
            fork, trunk = ("└─ ", "   ") if last else ("├─ ", "│  ")
            stack.append((child, below + fork, below + trunk, level + 1, left_out))


def _text(hierarchy: Hierarchy, node: int, *, folded: bool) -> str:
    label = hierarchy.labels[node]
    # Labels are foreign text: nothing in them may steer the terminal.
    shown = label if label.isprintable() else repr(label)[1:-1]
    if node < hierarchy.n_leaves:
        return shown
    leaves = int(hierarchy.leaf_count[node])
    return f"{shown}  ({leaves:,} {'leaf' if leaves == 1 else 'leaves'}{' …' if folded else ''})"


def _level_sizes(hierarchy: Hierarchy) -> list[int]:
    sizes = [0] * (hierarchy.height + 1)
    for level in hierarchy.depth.tolist():
        sizes[level] += 1
    return sizes
