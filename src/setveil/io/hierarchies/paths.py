"""Hierarchies line by line, in and out: as CSV, and in Amnesia's text form.

Of CSV a line is a path from leaf to root, or a child and its parent. Amnesia's form has a head of four
lines (``distinct`` or ``range``, ``name ..``, ``type ..``, ``height ..``), then lines ``parent has
child child ..``, lowest level first, an empty line between levels. Blanks separate labels there, so a
label with a blank cannot be told from two labels: such lines are refused, both ways.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from ...errors import DataError, HierarchyError, Problem, ResourceLimit
from ...hierarchy.doctor import HierarchyFile
from ...hierarchy.tree import Hierarchy
from ..csv_text import quoted

DELIMITERS = (";", "\t", "|", ",")
MOST_RAGGED, SHOWN_RAGGED = 10, 5
"""Up to so many ragged rows may be slips; of more the first few are told."""
MAX_CELLS = 200_000_000
_HEADER_WORD = re.compile(
    r"child|parent|leaf|leaves|item|label|node|value|code|category|group|department|root|top"
    r"|level[ _-]?[0-9]+"
)

_HEAD_WORDS = ("distinct", "range", "name", "type", "height")
_BLANK = re.compile(r"\s")


def read_table(
    text: str,
    source: HierarchyFile,
    form: str | None,
    delimiter: str | None,
    has_header: bool | None,
) -> None:
    """Record what either form of CSV says; two columns are the same tree in both, but for padding."""
    guess = delimiter or _sniffed_delimiter(text)
    opening = list(islice(_csv_rows(text, guess, source.file), 100))
    skip = 0
    if has_header is None and opening and _is_header(opening[0][1], text, guess, source.file):
        source.notices.append(f"line {opening[0][0]} was taken for column names")
        skip = 1
    elif has_header:
        skip = 1
    source.format, source.delimiter = form or "paths", guess
    opening = opening[skip:]
    if not opening:
        return
    width = Counter(len(cells) for _, cells in opening).most_common(1)[0][0]
    if width == 1 and len(opening) > 1:
        mixed = any(len(cells) > 1 for _, cells in opening)
        what = f"found 1 column{' in most rows' * mixed} with the delimiter {guess!r}."
        remedy = "Give the right --delimiter; a line must be leaf;...;root or child,parent."
        remedy += " Are data and hierarchy swapped?" * mixed
        place = opening[0][0]
        raise HierarchyError(what, remedy, code="one-column", file=source.file, line=place)
    source.format = form or ("parents" if width == 2 else "paths")
    rows = islice(_csv_rows(text, guess, source.file), skip, None)
    if source.format == "parents":
        n_rows = _read_parents(rows, source)
    else:
        n_rows = _read_paths(rows, width, source)
    _refuse_ragged(source, n_rows)


def _refuse_ragged(source: HierarchyFile, n_rows: int) -> None:
    """Raise where many rows are ragged: then the file is something else, perhaps the data.

    Nothing is said about what such rows hold, for they may be private records.
    """
    ragged = [fault for fault in source.faults if fault.code == "ragged-row"]
    if len(ragged) <= MOST_RAGGED or len(ragged) * 4 < n_rows:
        return
    what = f"{len(ragged):,} of {n_rows:,} rows are ragged: it does not look like a hierarchy."
    remedy = "Are data and hierarchy swapped?"
    swapped = Problem("not-a-hierarchy", what, remedy, source.file)
    raise HierarchyError([*ragged[:SHOWN_RAGGED], swapped])


def _read_paths(rows: Iterator[tuple[int, list[str]]], width: int, source: HierarchyFile) -> int:
    """Record the steps of each leaf's path and return how many rows there are.

    Upper parts that were seen are not walked again.
    """
    seen_above: set[tuple[str, ...]] = set()
    leaf_line_of = source.leaf_line_of
    n_rows = 0
    for line, cells in rows:
        n_rows += 1
        if len(cells) != width:
            levels = "1 level" if len(cells) == 1 else f"{len(cells)} levels"
            what = f"this row has {levels}, the others have {width}."
            remedy = "Give every row the same number of levels; repeat a label to pad."
            source.fault("ragged-row", what, remedy, line)
            source.unplaced.update(cells)
            continue
        if "" in cells:
            what = f"level {cells.index('') + 1} of this row is empty."
            source.fault("empty-label", what, "Repeat the label to its left to pad.", line)
            source.unplaced.update(cells)
            continue
        leaf, above = cells[0], tuple(cells[1:])
        place = 0
        while place < len(above) and above[place] == leaf:
            place += 1
        new = source.add(leaf, above[place] if place < len(above) else None, line)
        if leaf not in leaf_line_of:
            leaf_line_of[leaf] = line
        elif not new and above in seen_above:
            source.repeat(leaf, leaf_line_of[leaf], line)
        if above not in seen_above:
            seen_above.add(above)
            _add_path(above[place:], line, source)
    return n_rows


def _add_path(path: tuple[str, ...], line: int, source: HierarchyFile) -> None:
    steps = [step for place, step in enumerate(path) if place == 0 or step != path[place - 1]]
    for place, step in enumerate(steps):
        source.add(step, steps[place + 1] if place + 1 < len(steps) else None, line)


def _read_parents(rows: Iterator[tuple[int, list[str]]], source: HierarchyFile) -> int:
    n_rows = 0
    for line, cells in rows:
        n_rows += 1
        if len(cells) != 2:
            what = f"this row has {len(cells)} cells; a child and its parent are expected."
            source.fault("ragged-row", what, "Quote a label that holds the delimiter.", line)
            source.unplaced.update(cells)
            continue
        child, parent = cells
        if not child:
            what = "the child of this row is empty."
            source.fault("empty-label", what, "Fill it in or remove the row.", line)
            continue
        if not source.add(child, parent or None, line):
            source.repeat(child, source.line_of[child], line)
    source.declare_roots()
    return n_rows


def _csv_rows(text: str, delimiter: str, name: str | None) -> Iterator[tuple[int, list[str]]]:
    """Yield (first line, cells); lines end at LF or CRLF only, blank lines are passed over."""
    # Lines end at LF alone; the csv module then finds a lone CR by itself.
    reader = csv.reader(io.StringIO(text, newline="\n"), delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in reader:
            if cells:
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise _quoting_error(str(error), name, line) from None


def _quoting_error(reason: str, name: str | None, line: int) -> DataError | ResourceLimit:
    if "field limit" in reason:
        what = "a label is longer than 131,072 characters."
        remedy = "Shorten it, or look for a quote that is not closed."
        return ResourceLimit(what, remedy, code="long-field", file=name, line=line)
    code, what, remedy = "bad-quotes", "the quoting of this row is broken.", "Close or double quotes."
    if "new-line" in reason:
        code, what = "lone-cr", "a carriage return without a line feed (old Mac line ends?)."
        remedy = "Convert the line ends to LF or CRLF."
    elif "end of data" in reason:
        code, what = "unclosed-quote", "a quote opened in this row is not closed."
    elif "expected after" in reason:
        code, what = "text-after-quote", "text follows a closing quote."
    return DataError(what, remedy, code=code, file=name, line=line)


def _sniffed_delimiter(text: str) -> str:
    """Return the first delimiter that cuts the opening lines into equally many cells."""
    opening: list[str] = []
    start = 0
    while start < len(text) and len(opening) < 50:
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        opening.append(text[start:end].removesuffix("\r"))
        start = end + 1
    opening = [line for line in opening if line]
    best, most = ";", 0
    for delimiter in DELIMITERS:
        widths = Counter(_width(line, delimiter) for line in opening)
        if len(widths) == 1 and 1 not in widths:
            return delimiter
        split = sum(count for width, count in widths.items() if width > 1)
        if split > most:
            best, most = delimiter, split
    return best


def _width(line: str, delimiter: str) -> int:
    """Return the number of cells of a line; quotes are minded, a quote left open is not."""
    # A lone carriage return is refused where the rows are read, which knows the line.
    if '"' not in line or "\r" in line:
        return line.count(delimiter) + 1
    return len(next(csv.reader([line], delimiter=delimiter), [""]))


def _is_header(names: list[str], text: str, delimiter: str, file: str | None) -> bool:
    """Tell whether these are column names: words for columns that occur nowhere else."""
    if len(names) < 2 or not all(_HEADER_WORD.fullmatch(cell.strip().lower()) for cell in names):
        return False
    known = set(names)
    rows = islice(_csv_rows(text, delimiter, file), 1, None)
    return all(known.isdisjoint(cells) for _, cells in rows)


def path_lines(hierarchy: Hierarchy, delimiter: str) -> Iterator[str]:
    """Yield a line a leaf, sorted, short paths padded with the root."""
    width = hierarchy.height + 1
    if hierarchy.n_leaves * width > MAX_CELLS:
        what = f"{hierarchy.n_leaves:,} leaves with {width:,} levels are too many cells."
        remedy = "Write the hierarchy as parents or json."
        raise ResourceLimit(what, remedy, code="too-many-cells")
    cells = [quoted(label, delimiter) for label in hierarchy.labels]
    # Leaves of one parent share the rest of their row, which is made once.
    tail_of: dict[int, str] = {}
    for leaf in sorted(range(hierarchy.n_leaves), key=lambda node: hierarchy.labels[node]):
        above = int(hierarchy.parent[leaf])
        if above not in tail_of:
            nodes = [above, *hierarchy.ancestors(above)] if above >= 0 else []
            steps = [cells[node] for node in nodes]
            steps += [steps[-1]] * (width - 1 - len(steps)) if steps else []
            tail_of[above] = delimiter.join(steps)
        row = [cells[leaf]] * width if above < 0 else [cells[leaf], tail_of[above]]
        yield delimiter.join(row) + "\n"


def parent_lines(hierarchy: Hierarchy, delimiter: str) -> Iterator[str]:
    """Yield a header and a line a label, sorted; a root has an empty parent."""
    # A label that is a column name would make the header ambiguous.
    if not any(label.strip().lower() in ("child", "parent") for label in hierarchy.labels):
        yield f"child{delimiter}parent\n"
    for node in sorted(range(len(hierarchy)), key=lambda node: hierarchy.labels[node]):
        above = int(hierarchy.parent[node])
        parent = "" if above < 0 else quoted(hierarchy.labels[above], delimiter)
        yield f"{quoted(hierarchy.labels[node], delimiter)}{delimiter}{parent}\n"


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
