"""Count what shows whether the house is simple: ``python -m tests.house.counts`` prints it.

Four counts, each with the places it was found at:

**Files and lines** of the package; **small files** are those with fewer than 60 lines that a single
other file imports.

**Dispatches** are places that ask what a thing is, where the thing could answer: `isinstance` and
`type(x)` on a class of promises, of data or of releases; each `case` and each function registered for
such a class; a table with such classes as its keys; and the same for the keys of promises and the names
of kinds, as texts. One line counts once. An `assert isinstance` narrows a type and does not count.

**Files on the way of one basket** are those a newcomer must open to follow it from the command line
into the published folder. A small run by one method is watched. Whenever a function hands out the
basket in a new form (the text of a file, the data, a recoding, a release, what the audit read), the
files of all functions that are running then are on its way. Left out: what looks at the basket from
the side (pages, risks, measures), which another method or format would not change, and the foundation
that every file stands on (`FOUNDATION`).
"""

from __future__ import annotations

import ast
import importlib
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from tests.house.sources import Module, all_imports, module_names, modules, targets

SMALL = 60
DATA = ("Transactions", "Microdata", "PatternPair")
RELEASES = ("Release", "BucketRelease", "PairRelease", "ReadRelease", "ReadBuckets", "ReadPair")
KINDS = frozenset({"sets", "buckets", "pairs", "pair"})
FORMS = ("Transactions", "Recoding", "Release", "ReadRelease", "Published")
"""Classes that hold the records on the way of a basket, but for texts and bytes."""
FOUNDATION = (
    "kernels/",
    "model/",
    "hierarchy/",
    "arguments.py",
    "distinct.py",
    "errors.py",
    "progress.py",
)
FROM_THE_SIDE = ("report/", "risk/", "measure/")


@dataclass(frozen=True)
class Place:
    """Where something was found."""

    path: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}  {self.what}"


def lines() -> int:
    return sum(module.text.count("\n") for module in modules())


def small_files() -> list[str]:
    """Return the files with few lines that one other file imports."""
    importers: dict[str, set[str]] = defaultdict(set)
    for module in modules():
        for node in all_imports(module):
            for target in targets(module, node):
                if target != module.name and target in module_names():
                    importers[target].add(module.name)
    return [
        f"{module.path} ({module.text.count(chr(10))} lines, for {next(iter(importers[module.name]))})"
        for module in modules()
        if module.text.count("\n") < SMALL and len(importers[module.name]) == 1
    ]


def late_imports() -> int:
    """Return how many imports of our own stand in functions."""
    return sum(
        any(target in module_names() for target in targets(module, inner))
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for inner in ast.walk(node)
        if isinstance(inner, ast.Import | ast.ImportFrom)
    )


def guarantee_classes() -> dict[str, str]:
    """Return the classes of promises by their names, each with its key."""
    module = importlib.import_module("setveil.model.guarantees")
    found = {
        name: str(one.model)
        for name, one in vars(module).items()
        if isinstance(one, type) and isinstance(vars(one).get("model"), str)
    }
    assert len(found) >= 7, found
    return found


def dispatches() -> list[Place]:
    """Return every place that asks which promise, data or release a thing is."""
    asked = search()
    return [place for module in modules() for place in asked.in_module(module)]


def search() -> Search:
    """Return what finds such places."""
    known = guarantee_classes()
    return Search(frozenset({*known, *DATA, *RELEASES}), frozenset(known.values()))


@dataclass(frozen=True)
class Search:
    """Finds dispatches on some classes, on their keys and on the names of kinds."""

    classes: frozenset[str]
    keys: frozenset[str]

    def in_module(self, module: Module) -> list[Place]:
        narrowing = {
            inner
            for node in ast.walk(module.tree)
            if isinstance(node, ast.Assert)
            for inner in ast.walk(node)
        }
        found: dict[int, Place] = {}
        for node in ast.walk(module.tree):
            if node not in narrowing and (what := self._what(node)):
                line = node.lineno if hasattr(node, "lineno") else node.pattern.lineno
                found.setdefault(line, Place(module.path, line, what))
        return [found[line] for line in sorted(found)]

    def _what(self, node: ast.AST) -> str:
        """Return what kind of dispatch a node is, nothing where it is none."""
        match node:
            case ast.Call(func=ast.Name("isinstance" | "issubclass"), args=[_, asked]):
                return self._says("isinstance", asked)
            case ast.Call(
                func=ast.Name("hasattr" | "getattr"), args=[ast.expr() as asked, ast.Constant(), *_]
            ):
                return "attribute" if _asks(asked, "guarantee", "promise", "release") else ""
            case ast.match_case(pattern=pattern):
                named = [one.cls for one in ast.walk(pattern) if isinstance(one, ast.MatchClass)]
                texts = [one.value for one in ast.walk(pattern) if isinstance(one, ast.MatchValue)]
                return next(filter(None, (self._says("match", one) for one in named)), "") or (
                    "match on names" if any(map(self._is_kind, texts)) else ""
                )
            case ast.Compare(left=left, comparators=[right]):
                return self._compared(left, right)
            case ast.Dict(keys=keys):
                named = [key for key in keys if key and self._says("", key)]
                texts = {key.value for key in keys if isinstance(key, ast.Constant)}
                by_name = len(texts & KINDS) > 1 or len(texts & self.keys) > 2
                return "table by class" if len(named) > 1 else "table by name" if by_name else ""
            case ast.Call(func=ast.Attribute(attr="register"), args=[asked]):
                return self._says("registered", asked)
            case _:
                return ""

    def _says(self, way: str, asked: ast.AST) -> str:
        """Return the way and the classes where one of ours is asked for."""
        names = [
            one.id if isinstance(one, ast.Name) else one.attr
            for one in ast.walk(asked)
            if isinstance(one, ast.Name | ast.Attribute)
        ]
        ours = [name for name in names if name in self.classes]
        return f"{way} {', '.join(ours)}" if ours else ""

    def _compared(self, left: ast.expr, right: ast.expr) -> str:
        for asked, given in ((left, right), (right, left)):
            of_type = isinstance(asked, ast.Call) and ast.unparse(asked.func) == "type"
            if of_type and (told := self._says("type", given)):
                return told
            texts = given.elts if isinstance(given, ast.Tuple | ast.Set | ast.List) else [given]
            if any(map(self._is_kind, texts)):
                return "name of a kind"
            values = {one.value for one in texts if isinstance(one, ast.Constant)}
            if values & self.keys and _asks(asked, "model", "guarantee", "promise"):
                return "key of a promise"
        return ""

    @staticmethod
    def _is_kind(node: ast.AST) -> bool:
        return isinstance(node, ast.Constant) and node.value in KINDS


def _asks(node: ast.expr, *words: str) -> bool:
    text = ast.unparse(node)
    return any(word in text for word in words)


WATCHED = f"""
import contextlib, io, json, os, sys, tempfile
import setveil
from setveil.cli.main import run
ROOT = os.path.dirname(setveil.__file__) + os.sep
FORMS = {FORMS!r}
WORDS = "anonymize data.csv --hierarchy tree.csv -k 2 -m 2 --method aa -o out".split()
WORDS += ["--no-report", "--force"]
on_the_way, known, kept, forms = set(), set(), [], set()

def form_of(value):
    if isinstance(value, str | bytes):
        text = value if isinstance(value, str) else value.decode(errors="replace")
        return "text" if "quince,rye" in text else None
    name = type(value).__name__
    return name if name in FORMS and type(value).__module__.startswith("setveil.") else None

def watch(frame, event, value):
    if event != "return" or not frame.f_code.co_filename.startswith(ROOT):
        return
    form = form_of(value)
    if form is None or id(value) in known:
        return
    known.add(id(value))
    kept.append(value)  # so that no other value gets its id
    forms.add(form)
    on_the_stack = set()
    while frame is not None:
        path = frame.f_code.co_filename
        if path.startswith(ROOT):
            on_the_stack.add(path[len(ROOT):].replace(os.sep, "/"))
        frame = frame.f_back
    if not any(path.startswith({FROM_THE_SIDE!r}) for path in on_the_stack):
        on_the_way.update(on_the_stack)

os.chdir(tempfile.mkdtemp())
open("data.csv", "w").write("quince,rye\\nquince,rye\\nquince\\nrye\\n")
open("tree.csv", "w").write("quince;ALL\\nrye;ALL\\n")
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    run(WORDS)  # what is imported or compiled late is so now
    sys.setprofile(watch)
    code = run(WORDS)
    sys.setprofile(None)
assert code == 0
json.dump([sorted(on_the_way), sorted(forms)], sys.stdout)
"""


def files_on_the_way() -> tuple[list[str], list[str]]:
    """Return the files on the way of one basket, and the forms of it that were seen."""
    ran = subprocess.run([sys.executable, "-c", WATCHED], capture_output=True, text=True, check=True)
    paths, forms = json.loads(ran.stdout)
    return [path for path in paths if not path.startswith(FOUNDATION)], forms


def told() -> Iterator[str]:
    """Yield what the counts found, line by line."""
    small, found = small_files(), dispatches()
    way, forms = files_on_the_way()
    yield f"files: {len(modules())}"
    yield f"lines: {lines()}"
    yield f"late imports of our own: {late_imports()}"
    yield f"files under {SMALL} lines with one importer: {len(small)}"
    yield from (f"  {one}" for one in small)
    yield f"dispatches on promise or kind: {len(found)}"
    yield from (f"  {place}" for place in found)
    yield f"files on the way of one basket ({', '.join(forms)}): {len(way)}"
    yield from (f"  {path}" for path in way)


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in told())
