"""``setveil hierarchy``: make, learn, check, show and convert hierarchies."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..errors import SHOWN, UsageError
from ..run import Shown
from ..run.fields import TABLE_PANEL, Fields, Text, declare, switch, whole
from ..run.reading import Reading
from . import screen
from .flags import as_json, with_flags

if TYPE_CHECKING:
    from ..hierarchy.doctor import Finding, HierarchyFile
    from ..hierarchy.tree import Hierarchy
    from ..model.transactions import Transactions

app = typer.Typer(
    help="Make, learn, check, show and convert hierarchies.",
    epilog="Example: setveil hierarchy check products.csv --data baskets.csv",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

FORMATS = "paths, parents, json or amnesia"
SEVERITIES = ("error", "warning", "info")
READABLE_LINES = 80
FEW_CHILDREN = 12
MOST_LEVELS = 8


class AsJson(Fields):
    """Results as JSON."""

    as_json: bool = as_json("the result")


class Written(AsJson):
    """Where the hierarchy goes."""

    PANEL = "Output"

    output: Text = declare("file to write; stdout if not given", "--output", "-o")
    to: Text = declare(f"format to write: {FORMATS}")
    force: bool = switch("replace an existing file")


class Tree(Fields):
    """How the hierarchy is read."""

    PANEL = "Hierarchy"

    format: Text = declare(f"{FORMATS}; told by the content if not given")
    tree_delimiter: Text = declare("what separates its cells", "--hierarchy-delimiter")
    tree_encoding: Text = declare("utf-8 if not given", "--hierarchy-encoding")
    tree_header: bool | None = declare(
        "whether its first line holds names", "--hierarchy-header/--no-hierarchy-header"
    )


class Data(Reading, Shown):
    """How the data are read."""

    column: Text = declare("the column of a table whose items are meant", panel=TABLE_PANEL)


class Making(Written, Data):
    """What the making of a hierarchy can be asked."""


class Checking(AsJson, Tree, Data):
    """What the check of a hierarchy can be asked."""


class Showing(AsJson, Tree, Shown):
    """What the showing of a hierarchy can be asked."""


class Converting(Written, Tree, Shown):
    """What the conversion of a hierarchy can be asked."""


@app.command(
    epilog="Examples: setveil hierarchy build baskets.csv --fan-out 4 -o tree.csv    "
    "setveil hierarchy build codes.csv --prefixes 1,3    "
    "setveil hierarchy build ages.csv --intervals 0,10,20,40 --intervals 0,20,40"
)
@with_flags(Making)
def build(
    data: str = typer.Argument(..., help="the data whose items get a hierarchy; - is stdin"),
    fan_out: str | None = typer.Option(None, help="groups of so many sorted labels, level by level"),
    prefixes: str | None = typer.Option(None, help="by the first characters of codes, e.g. 1,3"),
    intervals: list[str] | None = typer.Option(
        None, help="by intervals with these edges; repeat it for coarser ones"
    ),
    flat: bool = typer.Option(False, "--flat", help="everything below one root"),
    root: str = typer.Option("ALL", help="the label of the root"),
    **given: Any,
) -> None:
    """Make a hierarchy over the items of the data."""
    asked = Making.take(given)
    from ..hierarchy import build as builders

    ways = [bool(fan_out), bool(prefixes), bool(intervals), flat]
    if sum(ways) > 1:
        raise UsageError("--fan-out, --prefixes, --intervals and --flat exclude each other.")
    lengths = [whole("prefixes", text.strip()) for text in (prefixes or "1").split(",")]
    members = whole("fan_out", fan_out or "4")
    labels = list(_items_with_lines(_read(data, asked), asked))
    if prefixes:
        made = builders.from_prefixes(labels, lengths, root=root)
    elif intervals:
        levels = [text.split(",") for text in intervals]
        made = builders.from_intervals(labels, levels[0], coarser=levels[1:], root=root)
    elif flat:
        made = builders.flat(labels, root)
    else:
        made = builders.balanced(labels, members, root=root)
    _deliver(made, [data], asked)


@app.command(epilog="Example: setveil hierarchy learn baskets.csv --fan-out 5 -o learned.csv")
@with_flags(Making)
def learn(
    data: str = typer.Argument(..., help="the data to learn from; - is stdin"),
    fan_out: str = typer.Option("4", help="how many labels share a parent"),
    root: str = typer.Option("ALL", help="the label of the root"),
    **given: Any,
) -> None:
    """Learn a hierarchy: items that occur with the same others share a parent. It is private."""
    asked = Making.take(given)
    from ..hierarchy.build import learned

    members = whole("fan_out", fan_out)
    made = learned(_of_column(_read(data, asked), asked), fan_out=members, root=root)
    screen.say(
        "notice: a learned hierarchy tells something about the records: keep it private; "
        "give it to anonymize with --private-hierarchy."
    )
    _deliver(made, [data], asked)


@app.command(
    epilog="Examples: setveil hierarchy check products.csv --data baskets.csv    "
    "setveil hierarchy check products.csv --fix mended.csv --add-root ALL"
)
@with_flags(Checking)
def check(
    hierarchy: str = typer.Argument(..., help="the hierarchy file; - is stdin"),
    data: str | None = typer.Option(None, help="data whose items must be in it", metavar="FILE"),
    fix: str | None = typer.Option(None, help="write the mended hierarchy here", metavar="FILE"),
    add_root: str | None = typer.Option(None, help="with --fix: join several roots below this label"),
    attach: str | None = typer.Option(
        None, help="with --fix: put missing items below this category (* is the root)"
    ),
    unspecified: bool = typer.Option(
        False,
        "--unspecified",
        help="with --fix: give categories that are items a leaf 'X (unspecified)'",
    ),
    to: str | None = typer.Option(None, help=f"with --fix: {FORMATS}"),
    force: bool = typer.Option(False, "--force", help="with --fix: replace an existing file"),
    **given: Any,
) -> None:
    """List everything that is wrong with a hierarchy; exit code 3 if there are errors."""
    asked = Checking.take(given)
    from ..hierarchy.doctor import diagnose, mend

    if fix is None and (add_root or attach or unspecified or to or force):
        raise UsageError("--add-root, --attach, --unspecified, --to and --force go with --fix FILE.")
    if data is None and (attach or asked.given(Reading) or asked.column):
        raise UsageError("options for reading data, and --attach, go with --data FILE.")
    source = _edges(hierarchy, asked)
    screen.notices(source.notices, verbose=asked.verbose)
    items: dict[str, int | None] | None = None
    data_file = data
    if data is not None:
        transactions = _read(data, asked)
        items, data_file = _items_with_lines(transactions, asked), transactions.source
    findings = diagnose(source, items, data_file=data_file)
    plain: dict[str, Any] = {"hierarchy": hierarchy, "data": data, "format": source.format}
    if fix is not None:
        _refuse_same(fix, [hierarchy, *([data] if data else [])])
        mended, done = mend(source, items, add_root=add_root, attach=attach, unspecified=unspecified)
        if not any(finding.severity == "error" for finding in diagnose(mended)):
            from ..hierarchy.doctor import to_hierarchy
            from ..io.hierarchies import write_hierarchy

            target = to or _format_of(fix) or source.format
            write_hierarchy(to_hierarchy(mended), fix, format=target, force=force)
            plain |= {"fixed": done, "output": fix}
            screen.say(f"wrote {fix}: {'; '.join(done) or 'nothing had to be mended'}.")
        else:
            screen.say(f"{fix} was not written: some errors have no unambiguous repair.")
            plain |= {"fixed": done, "output": None}
        findings = diagnose(mended, items, data_file=data_file)
    count = Counter(finding.severity for finding in findings)
    plain |= {
        "ok": not count["error"],
        **{f"{severity}s": count[severity] for severity in SEVERITIES},
        "findings": [finding.as_dict() for finding in findings],
    }
    screen.result(findings_text(findings, hierarchy), plain, as_json=asked.as_json)
    if count["error"]:
        raise typer.Exit(3)


@app.command(
    epilog="Examples: setveil hierarchy show products.csv --depth 2    "
    "setveil hierarchy show products.csv --under dairy"
)
@with_flags(Showing)
def show(
    hierarchy: str = typer.Argument(..., help="the hierarchy file; - is stdin"),
    depth: str | None = typer.Option(None, help="levels to show; as many as are readable if not given"),
    limit: str | None = typer.Option(None, help="labels to show below a category"),
    under: str | None = typer.Option(None, help="show only what is below this label"),
    **given: Any,
) -> None:
    """Draw a hierarchy as a tree, with the number of leaves below each category."""
    asked = Showing.take(given)
    from ..hierarchy.doctor import to_hierarchy

    source = _edges(hierarchy, asked)
    screen.notices(source.notices, verbose=asked.verbose)
    tree = to_hierarchy(source, allow_forest=True)
    if under is not None and under not in tree.node_of_label:
        raise UsageError(f"there is no label {under[:40]!r} in the hierarchy.", code="no-such-label")
    tops = tree.roots if under is None else (tree.node_of_label[under],)
    levels = None if depth is None else whole("depth", depth)
    width = None if limit is None else whole("limit", limit)
    if levels is None or width is None:
        levels, width = _readable(tree, tops, levels, width)
    if asked.as_json:
        nodes = [
            {
                "label": tree.labels[node],
                "parent": tree.labels[tree.parent[node]] if tree.parent[node] >= 0 else None,
                "leaves": int(tree.leaf_count[node]),
            }
            for node, _, _ in _lines(tree, tops, levels, width)
            if node >= 0
        ]
        screen.print_json({**_size_of(tree), "levels": _level_sizes(tree), "nodes": nodes})
        return
    if screen.on_terminal():
        _draw_coloured(tree, tops, levels, width)
    else:
        for _, branch, text in _lines(tree, tops, levels, width):
            screen.echo(branch + text)
    sizes = " > ".join(f"{size:,}" for size in _level_sizes(tree))
    screen.echo(f"{tree!r}; labels by level: {sizes}")


@app.command(epilog="Example: setveil hierarchy convert products.csv --to json -o products.json")
@with_flags(Converting)
def convert(
    hierarchy: str = typer.Argument(..., help="the hierarchy file; - is stdin"),
    add_root: str | None = typer.Option(None, help="join several roots below this label"),
    delimiter: str | None = typer.Option(None, help="for CSV that is written"),
    **given: Any,
) -> None:
    """Write a hierarchy in another format."""
    asked = Converting.take(given)
    from ..hierarchy.doctor import mend, to_hierarchy

    source = _edges(hierarchy, asked)
    screen.notices(source.notices, verbose=asked.verbose)
    if not asked.to and _format_of(asked.output) is None:
        raise UsageError("the format to write is not given.", f"Give --to: {FORMATS}.")
    if add_root is not None:
        source, _ = mend(source, add_root=add_root)
    _deliver(to_hierarchy(source), [hierarchy], asked, delimiter=delimiter)


def _edges(path: str, asked: Any) -> HierarchyFile:
    from ..io.hierarchies import read_edges

    return read_edges(
        path,
        format=asked.format,
        delimiter=asked.tree_delimiter,
        encoding=asked.tree_encoding or "utf-8",
        has_header=asked.tree_header,
    )


def _read(path: str, asked: Data) -> Transactions:
    transactions = asked.read_sets(path)
    screen.notices(transactions.notices, verbose=asked.verbose)
    return transactions


def _column_start(transactions: Transactions, asked: Any) -> str:
    """Return the prefix of the labels meant: ``column=`` for a table, nothing otherwise."""
    columns = transactions.layout.item_columns if transactions.layout is not None else ()
    name: str | None = asked.column
    if not columns:
        if name is not None:
            raise UsageError("--column is for tables.", "Name the set-valued column: --set COLUMN.")
        return ""
    names = [column.name for column in columns]
    if name is None and len(names) == 1:
        name = names[0]
    if name not in names:
        raise UsageError(
            "a hierarchy is for one column of the table.", f"Give --column: {', '.join(names)}."
        )
    return f"{name}="


def _items_with_lines(transactions: Transactions, asked: Any) -> dict[str, int | None]:
    """Return the labels that a hierarchy must hold, each with the line it is first seen on.

    They are without column and count.
    """
    start = _column_start(transactions, asked)
    counted = asked.counts or asked.count_column
    items: dict[str, int | None] = {}
    for label in transactions.vocabulary:
        if not label.startswith(start):
            continue
        name = label.removeprefix(start)
        name = name.rpartition(" x")[0] if counted else name
        lines = [line for line in (items.get(name), transactions.first_line_of(label)) if line]
        items[name] = min(lines, default=None)
    return items


def _of_column(transactions: Transactions, asked: Any) -> Transactions:
    """Return the records with the items of one column only, without its name."""
    start = _column_start(transactions, asked)
    if asked.counts or asked.count_column:
        raise UsageError("counts do not fit learning.", "Learn without them; counts are put below.")
    if not start:
        return transactions
    from ..model.transactions import Transactions as Made

    return Made.from_rows(
        [label.removeprefix(start) for label in row if label.startswith(start)]
        for row in transactions.rows()
    )


def _format_of(path: str | None) -> str | None:
    return "json" if path is not None and path.lower().endswith(".json") else None


def _refuse_same(output: str, inputs: list[str]) -> None:
    for path in inputs:
        if (
            path != "-"
            and Path(output).exists()
            and Path(path).exists()
            and Path(output).samefile(path)
        ):
            raise UsageError(
                "the output is one of the inputs.", "Choose another name.", code="output-is-input"
            )


def _deliver(
    hierarchy: Hierarchy, inputs: list[str], asked: Any, *, delimiter: str | None = None
) -> None:
    """Write the hierarchy to its file, or to stdout, and say what it is."""
    from ..io.hierarchies import write_hierarchy

    output: str | None = asked.output
    form = asked.to or _format_of(output) or "paths"
    plain: dict[str, Any] = {
        **_size_of(hierarchy),
        "private": hierarchy.private,
        "format": form,
        "output": output,
    }
    if output is not None:
        _refuse_same(output, inputs)
        write_hierarchy(hierarchy, output, format=form, delimiter=delimiter, force=asked.force)
        screen.result(f"{hierarchy!r} written to {output}", plain, as_json=asked.as_json)
    elif asked.as_json:
        screen.print_json({**plain, "parents": hierarchy.parents_by_label()})
    else:
        if sys.stdout is None:
            raise screen.unprintable("stdout is closed")
        try:
            write_hierarchy(hierarchy, sys.stdout.buffer, format=form, delimiter=delimiter)
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise screen.unprintable(error.strerror or type(error).__name__) from error


def findings_text(findings: Sequence[Finding], name: str) -> str:
    """Return the findings, at most `SHOWN` of a kind, and a last line that sums up."""
    lines: list[str] = []
    count_by_code: Counter[str] = Counter()
    for finding in findings:
        code = finding.problem.code
        count_by_code[code] += 1
        if count_by_code[code] <= SHOWN:
            lines.append(str(finding))
    lines += [
        f"… and {count - SHOWN:,} more of [{code}]"
        for code, count in count_by_code.items()
        if count > SHOWN
    ]
    count_by_severity = Counter(finding.severity for finding in findings)
    summary = ", ".join(
        f"{count:,} {severity}{'s' if count != 1 else ''}"
        for severity in SEVERITIES
        if (count := count_by_severity[severity])
    )
    return "\n".join([*lines, f"{name}: {summary or 'nothing to complain about'}."])


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


def _size_of(tree: Hierarchy) -> dict[str, Any]:
    leaves = tree.n_leaves
    return {"leaves": leaves, "categories": len(tree) - leaves, "height": tree.height}


def _level_sizes(hierarchy: Hierarchy) -> list[int]:
    return [size for _, size in sorted(Counter(hierarchy.depth.tolist()).items())]
