"""Data flow one way: a layer imports only what is below it, and siblings do not import each other."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import setveil

PACKAGE = Path(setveil.__file__).parent

TOP = frozenset(
    {
        "api",
        "compare",
        "editions",
        "explain",
        "extend",
        "job",
        "job_file",
        "options",
        "pair_job",
        "publish",
        "registry",
        "reopen",
        "reopen_pair",
        "reopen_table",
        "twin_account",
        "sweep",
        "table_job",
    }
)
LAYERS: tuple[frozenset[str], ...] = (
    frozenset({"__main__"}),
    frozenset({"cli"}),
    TOP,
    frozenset({"report"}),
    frozenset({"audit", "measure", "risk"}),
    frozenset({"methods"}),
    frozenset({"search", "mining"}),
    frozenset({"engines"}),
    frozenset({"kernels"}),
    frozenset({"release"}),
    frozenset({"io"}),
    frozenset({"model"}),
    frozenset({"hierarchy"}),
    frozenset({"arguments", "distinct", "errors", "progress", "_version"}),
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
TOGETHER = (TOP, frozenset({"arguments", "errors", "progress"}))
"""Modules of one layer that may import each other."""

AUDIT_MAY_IMPORT = (
    "setveil.errors",
    "setveil.model.guarantees",
    "setveil.audit",
    "numpy",
    "numba",
    "pyarrow",
)
KERNELS_MAY_IMPORT = ("setveil.kernels", "numpy", "numba")
ONLY_IN = {
    "pyspark": "engines/spark.py",
    "typer": "cli/",
    "rich": "cli/",
    "highspy": ("search/", "cli/doctor.py"),
}
NEVER = ("pandas", "polars", "duckdb", "pickle", "requests", "urllib", "http", "socket")


def sources() -> list[str]:
    return sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))


def imported(name: str, text: str) -> set[str]:
    """Return the full names of the modules that a file of the package imports."""
    module = ["setveil", *name.removesuffix(".py").split("/")]
    if module[-1] == "__init__":
        module.append("")
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = module[: len(module) - node.level] if node.level else []
            full = ".".join([*base, node.module] if node.module else base)
            if full in ("setveil", "setveil.cli", "setveil.io", "setveil.model"):
                found |= {f"{full}.{alias.name}" for alias in node.names}
            else:
                found.add(full)
    return found


def layer(name: str) -> str:
    return name.split("/", maxsplit=1)[0].removesuffix(".py")


def faults(name: str, text: str) -> list[str]:
    """Return what a file imports against the rules."""
    own = layer(name)
    wrong: list[str] = []
    for target in sorted(imported(name, text)):
        parts = target.split(".")
        if parts[0] in NEVER:
            wrong.append(f"{name} imports {target}, which the package never needs")
        allowed = ONLY_IN.get(parts[0])
        if allowed is not None and not name.startswith(allowed):
            wrong.append(f"{name} imports {target}, which only {allowed} may")
        if own == "audit" and not _stdlib(parts[0]) and not target.startswith(AUDIT_MAY_IMPORT):
            wrong.append(f"{name} imports {target}: the judge shares no code with the judged")
        if own == "kernels" and not _stdlib(parts[0]) and not target.startswith(KERNELS_MAY_IMPORT):
            wrong.append(f"{name} imports {target}: kernels see arrays only")
        if parts[0] != "setveil" or own == "__init__":
            continue
        other = parts[1]
        if other == own or any({own, other} <= group for group in TOGETHER):
            continue
        if RANK[other] <= RANK[own]:
            wrong.append(f"{name} imports {target}, which is not below it")
    return wrong


def _stdlib(name: str) -> bool:
    import sys

    return name in sys.stdlib_module_names


def test_nothing_asks_pyarrow_for_pandas() -> None:
    """Older pyarrow imports it for ``to_pandas`` and its like, and fails where it is not installed."""
    assert [name for name in sources() if ".to_pandas" in (PACKAGE / name).read_text()] == []


def test_every_module_has_a_layer() -> None:
    assert {layer(name) for name in sources()} - {"__init__"} <= set(RANK)
    assert len(sources()) > 60


@pytest.mark.parametrize("name", sources())
def test_imports_only_what_is_below(name: str) -> None:
    assert faults(name, (PACKAGE / name).read_text()) == []


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("model/fit.py", "from ..io import transactions"),
        ("io/write.py", "from ..release.recoding import Recoding"),
        ("audit/km.py", "from ..kernels.rare import find_rare"),
        ("audit/km.py", "from ..hierarchy.tree import Hierarchy"),
        ("measure/ncp.py", "import setveil.audit"),
        ("kernels/rare.py", "from ..errors import DataError"),
        ("methods/apriori.py", "from .. import api"),
        ("methods/apriori.py", "def f():\n    from ..job import Job"),
        ("io/frames.py", "import pandas as pd"),
        ("engines/local.py", "import pyspark"),
        ("api.py", "from .cli import main"),
    ],
)
def test_the_test_sees_a_broken_layer(name: str, line: str) -> None:
    assert faults(name, line)
