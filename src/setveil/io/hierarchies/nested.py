"""Nested JSON hierarchies, read without recursion and with line numbers.

The standard parser forgets lines, lets the last of two equal keys win, takes NaN and stops at about a
thousand levels. This one scans tokens, keeps its own stack and refuses what is not strict JSON.

Two forms: nodes ``{"label": "A", "children": [..]}`` (``name`` for ``label`` is understood), and plain
nesting ``{"A": {"B": ["b1", "b2"], "c": {}}}``, where an empty object, an empty list or null is a leaf.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import NoReturn

from ...errors import HierarchyError, ResourceLimit
from ...hierarchy.doctor import MAX_NODES, HierarchyFile
from ...hierarchy.tree import Hierarchy

MAX_DEPTH = 50_000
_SPACE = re.compile(r"[ \t\n\r]*")
_WORD = re.compile(r"[A-Za-z0-9+.\-]+")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LABEL_KEYS = ("label", "name")


@dataclass(slots=True)
class _Text:
    """A string of the JSON text and where it stands."""

    value: str
    place: int


@dataclass(slots=True)
class _Box:
    """An object (with `keys`) or a list (keys None) of the JSON text."""

    keys: list[_Text] | None
    values: list[_Text | _Box | None]
    place: int

    @property
    def closing(self) -> str:
        """The sign that ends it."""
        return "]" if self.keys is None else "}"


def looks_like_json(text: str, name: str | None) -> bool:
    """Tell JSON by the file's name or its first two signs; ``[0,10[`` is an interval."""
    if name is not None and name.lower().removesuffix(".gz").endswith(".json"):
        return True
    return re.match(r'\s*(\{\s*["}]|\[\s*[{"\]])', text) is not None


def read_json(text: str, source: HierarchyFile) -> None:
    """Record the edges of the text."""
    reader = _Reader(text, source.file)
    top = reader.parse()
    _collect(top, reader, source)


class _Reader:
    """Strict JSON of objects, lists, strings and null, without recursion."""

    def __init__(self, text: str, file: str | None) -> None:
        self.text = text
        self.file = file
        self.place = 0
        self.line_starts = [0] + [match.end() for match in re.finditer("\n", text)]

    def line(self, place: int) -> int:
        """Return the line of a place in the text."""
        return bisect_right(self.line_starts, place)

    def refuse(self, code: str, what: str, remedy: str, place: int) -> NoReturn:
        """Raise for a fault at a place."""
        line = self.line(place)
        column = place - self.line_starts[line - 1] + 1
        raise HierarchyError(what, remedy, code=code, file=self.file, line=line, column=column)

    def parse(self) -> _Text | _Box | None:
        """Return the one value of the text."""
        if not self._sign():
            return None
        stack = [_Box(None, [], 0)]  # around the text, so that its value has a box too
        boxes = 0
        while True:
            if stack[-1].keys is not None:
                stack[-1].keys.append(self._key())
            sign, place = self._sign(), self.place
            if sign in ("{", "["):
                box = _Box([] if sign == "{" else None, [], place)
                boxes += 1
                if len(stack) > MAX_DEPTH:
                    self.refuse("too-deep", "nested too deeply.", f"Limit: {MAX_DEPTH:,}.", place)
                if boxes > 2 * MAX_NODES:
                    raise ResourceLimit(
                        "the hierarchy has too many nodes.", code="too-many-nodes", file=self.file
                    )
                stack[-1].values.append(box)
                stack.append(box)
                self.place += 1
                if self._sign() != box.closing:
                    continue
            else:
                if sign != '"':
                    self._skip_null()
                stack[-1].values.append(self._string() if sign == '"' else None)
            while len(stack) > 1:
                sign = self._sign()
                if sign not in (",", stack[-1].closing):
                    self._unexpected()
                self.place += 1
                if sign == ",":
                    break
                stack.pop()
            else:
                if self._sign():
                    what = "text follows the end of the JSON value."
                    self.refuse("bad-json", what, "Remove it.", self.place)
                return stack[0].values[0]

    def _sign(self) -> str:
        """Return the next sign that is no blank, nothing at the end; the place is there."""
        self.place = _SPACE.match(self.text, self.place).end()  # type: ignore[union-attr]
        return self.text[self.place : self.place + 1]

    def _string(self) -> _Text:
        place = self.place
        try:
            value, self.place = scanstring(self.text, place + 1, True)
        except json.JSONDecodeError as error:
            self.refuse("bad-json", f"broken string: {error.msg}.", "Correct the JSON.", error.pos)
        if _SURROGATE.search(value):
            self.refuse("surrogate", "a lone surrogate in a label.", "Remove it.", place)
        if "\0" in value or "\ufeff" in value:
            self.refuse("odd-character", "a zero character or U+FEFF in a label.", "Remove it.", place)
        return _Text(value, place)

    def _key(self) -> _Text:
        """Read the key before a value of an object."""
        if self._sign() != '"':
            self._unexpected()
        key = self._string()
        if self._sign() != ":":
            self._unexpected()
        self.place += 1
        return key

    def _skip_null(self) -> None:
        word = _WORD.match(self.text, self.place)
        if word is None:
            self._unexpected()
        if word.group() != "null":
            what = f"{word.group()[:20]} is not a label; labels are strings."
            self.refuse("not-a-label", what, "Put labels in quotes.", self.place)
        self.place = word.end()

    def _unexpected(self) -> NoReturn:
        if self.place >= len(self.text):
            self.refuse("bad-json", "the JSON text ends too early.", "Is it cut off?", self.place)
        what = f"unexpected {self.text[self.place]!r} in the JSON text."
        self.refuse("bad-json", what, "Correct the JSON.", self.place)


def _collect(top: _Text | _Box | None, reader: _Reader, source: HierarchyFile) -> None:
    """Walk the parsed value and record edges, in the order of the text."""
    stack: list[tuple[_Text | _Box | None, str | None]] = [(top, None)]
    while stack:
        value, parent = stack.pop()
        if value is None:
            continue
        if isinstance(value, _Text):
            _add(value, parent, reader, source)
            continue
        if value.keys is None:
            stack += [(entry, parent) for entry in reversed(value.values)]
            continue
        _refuse_equal_keys(value.keys, reader)
        node = _labelled(value, reader)
        if node is not None:
            label, children = node
            _add(label, parent, reader, source)
            stack.append((children, label.value))
            continue
        pairs = list(zip(value.keys, value.values, strict=True))
        for key, below in pairs:
            if isinstance(below, _Text):
                what = f"the value of {key.value[:40]!r} is a string."
                remedy = 'Give a list or an object of its children, or {"label": .., "children": ..}.'
                reader.refuse("bad-node", what, remedy, below.place)
            _add(key, parent, reader, source)
        stack += [(below, key.value) for key, below in reversed(pairs)]


def _add(label: _Text, parent: str | None, reader: _Reader, source: HierarchyFile) -> None:
    line = reader.line(label.place)
    if not label.value:
        source.fault("empty-label", "a label is empty.", "Give it a name.", line)
    elif not source.add(label.value, parent, line):
        source.repeat(label.value, source.line_of[label.value], line)


def _refuse_equal_keys(keys: list[_Text], reader: _Reader) -> None:
    seen: dict[str, _Text] = {}
    for key in keys:
        first = seen.setdefault(key.value, key)
        if first is not key:
            what = (
                f"the key {key.value[:40]!r} stands twice in one object "
                f"(first on line {reader.line(first.place)})."
            )
            reader.refuse("duplicate-key", what, "Keep one of them.", key.place)


def _labelled(box: _Box, reader: _Reader) -> tuple[_Text, _Box | None] | None:
    """Return label and children of a node of the first form, or None for plain nesting."""
    assert box.keys is not None
    fields = {key.value: value for key, value in zip(box.keys, box.values, strict=True)}
    label = next((fields[key] for key in _LABEL_KEYS if isinstance(fields.get(key), _Text)), None)
    if not isinstance(label, _Text):
        return None
    for key in box.keys:
        if key.value not in (*_LABEL_KEYS, "children"):
            what = f"unknown key {key.value[:40]!r} beside a label."
            reader.refuse("unknown-key", what, "Known: label, children.", key.place)
    children = fields.get("children")
    if isinstance(children, _Text):
        reader.refuse("bad-node", "children must be a list.", "Use [..].", children.place)
    return label, children


def json_lines(hierarchy: Hierarchy) -> Iterator[str]:
    """Yield the text of a tree (an object) or of a forest (a list of them), one node a line."""
    encode = json.JSONEncoder(ensure_ascii=False).encode
    roots = sorted(hierarchy.roots, key=lambda node: hierarchy.labels[node])
    several = len(roots) != 1
    if several:
        yield "[\n"
    # (node, what follows it); a node of -1 closes a list of children
    stack = [(node, "," if place < len(roots) - 1 else "") for place, node in enumerate(roots)][::-1]
    while stack:
        node, after = stack.pop()
        if node < 0:
            yield f"{' ' * min(-node - 1, 40)}]}}{after}\n"
            continue
        depth = int(hierarchy.depth[node])
        opening = f'{" " * min(depth, 40)}{{"label": {encode(hierarchy.labels[node])}'
        below = hierarchy.children[node]
        if not below:
            yield f"{opening}}}{after}\n"
            continue
        yield f'{opening}, "children": [\n'
        stack.append((-depth - 1, after))
        last = len(below) - 1
        stack += [
            (child, "," if place < last else "") for place, child in reversed(list(enumerate(below)))
        ]
    if several:
        yield "]\n"
