"""The sources as the checks of the house see them: read and parsed once."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import setveil

PACKAGE = Path(setveil.__file__).parent
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Module:
    """One file of the package."""

    path: str
    """Where it is below the package."""
    text: str
    tree: ast.Module = field(repr=False)

    @property
    def name(self) -> str:
        """Its full name, as it is imported."""
        parts = ["setveil", *self.path.removesuffix(".py").split("/")]
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def package(self) -> str:
        """The full name of what its relative imports start from."""
        return self.name if self.path.endswith("__init__.py") else self.name.rpartition(".")[0]


def parsed(path: str, text: str) -> Module:
    return Module(path, text, ast.parse(text))


@functools.cache
def modules() -> tuple[Module, ...]:
    """Return all files of the package."""
    return tuple(
        parsed(path.relative_to(PACKAGE).as_posix(), path.read_text(encoding="utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    )


@functools.cache
def module_names() -> frozenset[str]:
    return frozenset(module.name for module in modules())


def targets(module: Module, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """Yield the full names of the modules that an import names: of ours, or of others."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    base = module.package.split(".")[: -node.level + 1 or None] if node.level else []
    full = ".".join([*base, node.module] if node.module else base)
    for alias in node.names:
        inner = f"{full}.{alias.name}"
        yield inner if inner in module_names() else full


def imports_at_start(module: Module) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield what runs when the module is imported: no late imports, none for the type checker alone."""
    waiting: list[ast.AST] = [module.tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            waiting.extend(node.orelse)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))


def all_imports(module: Module) -> Iterator[ast.Import | ast.ImportFrom]:
    return (node for node in ast.walk(module.tree) if isinstance(node, ast.Import | ast.ImportFrom))


def tell(faults: Iterable[str]) -> None:
    """Fail with all faults at once, a line each."""
    found = list(faults)
    assert not found, "\n".join(["", f"{len(found)} faults:", *found])
