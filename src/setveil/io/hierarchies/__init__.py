"""Hierarchies in and out of files.

Four forms, told apart by their content:

- ``paths``: one line a leaf, ``leaf;level 1;...;root`` (ARX, Amnesia). All lines have one width; a
  label that repeats its left neighbour is padding.
- ``parents``: two columns ``child,parent``; a root has an empty parent or is never a child.
- ``json``: ``{"label": .., "children": [..]}`` or plain ``{"root": {"category": ["leaf", ..]}}``.
- ``amnesia``: Amnesia's text form, lines ``parent has child child``. It separates labels by blanks, so
  it cannot hold a label with a blank.

Reading keeps line numbers; `read_edges` returns what the file says, right or wrong, and
`read_hierarchy` a tree or one error that lists everything wrong with it.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import BinaryIO

from ...arguments import checked
from ...errors import UsageError
from ...hierarchy.doctor import HierarchyFile, mend, to_hierarchy
from ...hierarchy.tree import Hierarchy
from ..folder.staging import write_text_file
from ..source import plain_text, read_source
from .nested import json_lines, looks_like_json, read_json
from .paths import amnesia_lines, looks_like_amnesia, parent_lines, path_lines, read_amnesia, read_table

FORMATS = ("paths", "parents", "json", "amnesia")


@checked()
def read_hierarchy(
    path: str | PathLike[str],
    *,
    format: str | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    add_root: str | None = None,
    has_header: bool | None = None,
    allow_forest: bool = False,
) -> Hierarchy:
    """Return the hierarchy in a file, or raise one error that lists all that is wrong with it.

    Parameters
    ----------
    path
        The file, or ``"-"`` for standard input.
    format
        One of `FORMATS`; by default told by the content.
    delimiter
        Between cells of a line; by default one of ``; , | tab``.
    encoding
        Of the bytes; never guessed.
    add_root
        Join several roots below a new one of this name.
    has_header
        Whether the first line names the columns; by default if it holds words such as ``child`` and
        ``parent`` that occur nowhere else in the file.
    allow_forest
        Accept several roots.

    >>> import setveil as sv
    >>> from pathlib import Path
    >>> _ = Path("products.csv").write_text("ale;alcohol;ALL\\nmilk;food;ALL\\n")
    >>> sv.read_hierarchy("products.csv").path("ale")
    ('ale', 'alcohol', 'ALL')
    """
    source = read_edges(
        path, format=format, delimiter=delimiter, encoding=encoding, has_header=has_header
    )
    if add_root is not None:
        source, _ = mend(source, add_root=add_root)
    return to_hierarchy(source, allow_forest=allow_forest)


def read_edges(
    path: str | PathLike[str],
    *,
    format: str | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    has_header: bool | None = None,
) -> HierarchyFile:
    """Return what a hierarchy file says, with line numbers, faults of the tree included.

    Only faults of the bytes or of the quoting raise here. Parameters as in `read_hierarchy`.
    """
    if format is not None and format not in FORMATS:
        raise UsageError(f"unknown hierarchy format {format[:40]!r}.", f"Known: {', '.join(FORMATS)}.")
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise UsageError(
            f"the delimiter must be one character (got {delimiter[:40]!r}).", "Give for example ';'."
        )
    source = read_source(path)
    data, _ = plain_text(source, encoding=encoding)
    text, name = data.decode("utf-8"), source.name
    return parse_edges(text, name=name, format=format, delimiter=delimiter, has_header=has_header)


def parse_edges(
    text: str,
    *,
    name: str | None = None,
    format: str | None = None,
    delimiter: str | None = None,
    has_header: bool | None = None,
) -> HierarchyFile:
    """Return what the text of a hierarchy says; see `read_edges`."""
    if format is None and delimiter is None:
        if looks_like_json(text, name):
            format = "json"
        elif looks_like_amnesia(text):
            format = "amnesia"
    source = HierarchyFile(file=name)
    if format in ("json", "amnesia"):
        if delimiter is not None or has_header is not None:
            raise UsageError(f"a delimiter or header does not fit the format {format}.")
        source.format = format
    with _without_garbage_collection():
        if format == "json":
            read_json(text, source)
        elif format == "amnesia":
            read_amnesia(text, source)
        else:
            read_table(text, source, format, delimiter, has_header)
    return source


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Pause the collector: parsing makes millions of small objects and no cycles among them."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def write_hierarchy(
    hierarchy: Hierarchy,
    file: str | PathLike[str] | BinaryIO,
    *,
    format: str = "paths",
    delimiter: str | None = None,
    name: str = "hierarchy",
    force: bool = False,
) -> None:
    """Write a hierarchy as UTF-8 with LF line ends, rows sorted by label.

    A path is written in one step, and a private hierarchy's file is for its owner only. `name` is
    noted in Amnesia's form, which cannot hold labels with blanks; the delimiter of ``paths`` is ``;``
    by default, that of ``parents`` ``,``.
    """
    if format not in FORMATS:
        raise UsageError(f"unknown hierarchy format {format[:40]!r}.", f"Known: {', '.join(FORMATS)}.")
    lines = {
        "paths": lambda: path_lines(hierarchy, delimiter or ";"),
        "parents": lambda: parent_lines(hierarchy, delimiter or ","),
        "json": lambda: json_lines(hierarchy),
        "amnesia": lambda: amnesia_lines(hierarchy, name),
    }[format]()
    if isinstance(file, (str, PathLike)):
        mode = 0o600 if hierarchy.private else 0o644
        write_text_file(file, "".join(lines), mode=mode, force=force)
    else:
        for line in lines:
            file.write(line.encode("utf-8"))
