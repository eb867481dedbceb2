"""Data flow one way: a layer imports only what is below it, and siblings do not import each other."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from tests.house.sources import Module, all_imports, modules, parsed, targets, tell

TOP = frozenset(
    {
        "api",
        "compare",
        "editions",
        "explain",
        "extend",
        "foreign",
        "publish",
        "refusals",
        "reopen",
        "reporting",
        "run",
        "sweep",
        "trials",
    }
)
REGISTRY = frozenset({"options", "registry"})
"""Methods by name, as text: what they are is known without importing them."""
LAYERS: tuple[frozenset[str], ...] = (
    frozenset({"__main__"}),
    frozenset({"cli"}),
    TOP,
    frozenset({"report"}),
    frozenset({"audit", "measure", "risk"}),
    frozenset({"methods"}),
    REGISTRY,
    frozenset({"search", "mining"}),
    frozenset({"engines"}),
    frozenset({"release"}),
    frozenset({"io"}),
    frozenset({"model"}),
    frozenset({"hierarchy"}),
    frozenset({"kernels"}),
    frozenset({"arguments", "distinct", "plain", "errors", "progress", "_version"}),
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
TOGETHER = (TOP, REGISTRY, frozenset({"arguments", "errors", "progress"}))
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
    "highspy": ("search/", "cli/first_steps.py"),
}
NEVER = ("pandas", "polars", "duckdb", "pickle", "requests", "urllib", "http", "socket")


def layer(module: Module) -> str:
    return module.path.split("/", maxsplit=1)[0].removesuffix(".py")


def faults(module: Module) -> Iterator[str]:
    """Yield what a file imports against the rules, late imports included."""
    own = layer(module)
    if own != "__init__" and own not in RANK:
        yield f"{module.path} has no layer"
        return
    if ".to_pandas" in module.text:  # older pyarrow imports pandas for it, and fails where it is not
        yield f"{module.path} asks pyarrow for pandas"
    found = {target for node in all_imports(module) for target in targets(module, node)}
    for target in sorted(found):
        parts = target.split(".")
        if parts[0] in NEVER:
            yield f"{module.path} imports {target}, which the package never needs"
        allowed = ONLY_IN.get(parts[0])
        if allowed is not None and not module.path.startswith(allowed):
            yield f"{module.path} imports {target}, which only {allowed} may"
        foreign = parts[0] not in sys.stdlib_module_names
        if own == "audit" and foreign and not target.startswith(AUDIT_MAY_IMPORT):
            yield f"{module.path} imports {target}: the judge shares no code with the judged"
        if own == "kernels" and foreign and not target.startswith(KERNELS_MAY_IMPORT):
            yield f"{module.path} imports {target}: kernels see arrays only"
        if parts[0] != "setveil" or own == "__init__":
            continue
        other = parts[1] if len(parts) > 1 else "__init__"
        if other == own or any({own, other} <= group for group in TOGETHER):
            continue
        if other not in RANK:
            yield f"{module.path} imports {target}, which has no layer"
        elif RANK[other] <= RANK[own]:
            yield f"{module.path} imports {target}, which is not below it"


def test_imports_only_what_is_below() -> None:
    assert len(modules()) > 60
    tell(fault for module in modules() for fault in faults(module))


def test_the_test_sees_every_broken_layer() -> None:
    broken = (
        ("model/fit.py", "from ..io import transactions"),
        ("io/write.py", "from ..release.recoding import Recoding"),
        ("audit/km.py", "from ..kernels.rare import find_rare"),
        ("audit/km.py", "from ..hierarchy.tree import Hierarchy"),
        ("measure/scores.py", "import setveil.audit"),
        ("kernels/rare.py", "from ..errors import DataError"),
        ("methods/apriori.py", "from .. import api"),
        ("methods/apriori.py", "def f():\n    from ..api import anonymize"),
        ("io/frames.py", "import pandas as pd"),
        ("engines/local.py", "import pyspark"),
        ("api.py", "from .cli import main"),
        ("nowhere/at_all.py", ""),
    )
    tell(f"{path}: {line} is not seen" for path, line in broken if not list(faults(parsed(path, line))))
