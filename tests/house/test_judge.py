"""The audit derives for itself what a guarantee means: one slip must not fool judge and judged."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import setveil
from setveil.model.guarantees import Promise

AUDIT = Path(setveil.__file__).parent / "audit"
READ = {"model", "as_dict", "from_dict"}
"""Of what guarantees share: the wire form; their fields belong to each one."""
DERIVED = {name for name in vars(Promise) if not name.startswith("_")} - READ
FOREIGN = {"claims", "GUARANTEES", "Promise"}


def borrowed(text: str) -> list[str]:
    """Return what a file of the audit takes from the judged: each derived name, with its line."""
    found: list[str] = []
    for node in ast.walk(ast.parse(text)):
        names: list[str] = []
        if isinstance(node, ast.Attribute):
            names = [node.attr] if node.attr in DERIVED else []
        elif isinstance(node, ast.ImportFrom):
            parts = {*(node.module or "").split("."), *(alias.name for alias in node.names)}
            names = sorted(parts & (FOREIGN | DERIVED))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            texts = [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
            names = [name for name in texts if name in DERIVED] if node.func.id == "getattr" else []
        found += [f"line {node.lineno}: {name}" for name in names]
    return found


def test_the_audit_borrows_nothing_of_the_judged() -> None:
    wrong = {
        path.relative_to(AUDIT).as_posix(): borrowed(path.read_text()) for path in AUDIT.rglob("*.py")
    }
    assert {name: faults for name, faults in wrong.items() if faults} == {}
    assert len(wrong) > 10
    assert {"least_support", "known_at_most", "secret_labels", "signed", "with_limit"} <= DERIVED


@pytest.mark.parametrize(
    "line",
    [
        "few = guarantee.least_support",
        "weaker = guarantee.with_limit(2)",
        "known = getattr(guarantee, 'known_at_most')",
        "from ..model.guarantees import GUARANTEES",
        "from ..release import claims",
        "from ..release.claims import promised",
    ],
)
def test_the_test_sees_what_is_borrowed(line: str) -> None:
    assert borrowed(line)
