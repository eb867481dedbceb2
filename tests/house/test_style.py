"""How the files look: docstrings, lengths, exports, no print, nothing about a machine."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator

import setveil
from setveil.registry import ALL_METHODS
from tests.house.sources import ROOT, modules, tell

LONGEST = 500
MAY_BE_LONGER: frozenset[str] = frozenset()
"""Files that may have more than `LONGEST` lines, each for a reason said in its docstring."""
MOST_PARAMETERS = 12
NAMES_IN_INIT = (15, 60)
VERBS_THAT_ARE_PACKAGES = ("audit", "compare", "explain", "measure", "report", "risk", "sweep")
# Spelled in pieces, so that this file does not find itself.
MACHINE = re.compile(
    "|".join(["/" + "work/", "/" + "root/", "/" + "home/[a-z]", r"[A-Z]:\\" + "Users"])
)


def faults_of_files() -> Iterator[str]:
    for module in modules():
        if len(ast.get_docstring(module.tree) or "") <= 15:
            yield f"{module.path} does not say what it is"
        lines = module.text.count("\n")
        if lines > LONGEST and module.path not in MAY_BE_LONGER:
            yield f"{module.path} has {lines} lines"
        if re.search(r"\b(TODO|FIXME|XXX)\b", module.text):
            yield f"{module.path} has something left over"
        for node in ast.walk(module.tree):
            called = node.func if isinstance(node, ast.Call) else None
            if isinstance(called, ast.Name) and called.id in ("print", "breakpoint", "eval", "exec"):
                yield f"{module.path}:{called.lineno} calls {called.id}"


def faults_of_parameters() -> Iterator[str]:
    for module in modules():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found = parameters(node)
                if found > MOST_PARAMETERS:
                    yield f"{module.path}:{node.lineno} {node.name} takes {found} parameters"


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return how many parameters a function takes, but for `self` and `cls`."""
    args = node.args
    listed = [*args.posonlyargs, *args.args]
    bound = bool(listed) and listed[0].arg in ("self", "cls")
    return len(listed) - bound + len(args.kwonlyargs) + bool(args.vararg) + bool(args.kwarg)


def faults_of_exports() -> Iterator[str]:
    names = setveil.__all__
    if names != sorted(names) or not set(names) <= set(dir(setveil)):
        yield "setveil.__all__ is not sorted, or not what dir() tells"
    if not NAMES_IN_INIT[0] <= len(names) <= NAMES_IN_INIT[1]:
        yield f"setveil has {len(names)} public names"
    yield from (
        f"setveil.{name} is not there" for name in names if getattr(setveil, name, None) is None
    )
    if hasattr(setveil, "nothing_of_this_name"):
        yield "setveil has every name"
    for name in VERBS_THAT_ARE_PACKAGES:
        importlib.import_module(f"setveil.{name}")
        if not callable(getattr(setveil, name)):
            yield f"setveil.{name} cannot be called once its module is loaded"
    for module in modules():
        for name in _exported(module.tree):
            if not hasattr(importlib.import_module(module.name), name):
                yield f"{module.path} exports {name}, which is not there"


def _exported(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets
        ):
            yield from ast.literal_eval(node.value)


def faults_of_project_files() -> Iterator[str]:
    kinds = ("*.py", "*.md", "*.toml", "Makefile", "*.txt", "*.csv")
    places = ("src", "tests", "docs", "examples", "benchmarks", ".ci")
    found = [path for place in places for kind in kinds for path in (ROOT / place).rglob(kind)]
    found += [path for kind in kinds for path in ROOT.glob(kind)]
    for path in sorted(path for path in found if ".egg-info" not in str(path)):
        text = path.read_text(encoding="utf-8", errors="replace")
        if MACHINE.search(text):
            for number, line in enumerate(text.split("\n"), 1):
                if MACHINE.search(line):
                    yield f"{path.relative_to(ROOT)}:{number} has the path of a machine"
    for record in ALL_METHODS:
        page = ROOT / "docs" / "methods" / f"{record.key}.md"
        if not page.is_file() or not page.read_text(encoding="utf-8").startswith("# "):
            yield f"docs/methods/{record.key}.md is missing, or has no head"


def test_files_look_as_they_should() -> None:
    tell(
        [
            *faults_of_files(),
            *faults_of_parameters(),
            *faults_of_exports(),
            *faults_of_project_files(),
        ]
    )
