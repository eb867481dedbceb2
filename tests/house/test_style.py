"""How the files look: docstrings, lengths, exports, no print, nothing about a machine."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

import setveil
from setveil.registry import ALL_METHODS

PACKAGE = Path(setveil.__file__).parent
ROOT = Path(__file__).resolve().parents[2]
LONGEST = 500
MAY_BE_LONGER: frozenset[str] = frozenset()
"""Files that may have more than `LONGEST` lines, each for a reason said in its docstring."""


def sources() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def project_files() -> list[Path]:
    kinds = ("*.py", "*.md", "*.toml", "Makefile", "*.txt", "*.csv")
    places = ("src", "tests", "docs", "examples", "benchmarks", ".ci")
    found = [path for place in places for kind in kinds for path in (ROOT / place).rglob(kind)]
    found += [path for kind in kinds for path in ROOT.glob(kind)]
    return sorted(path for path in found if ".egg-info" not in str(path))


def short(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


@pytest.mark.parametrize("path", sources(), ids=short)
def test_module_says_what_it_is(path: Path) -> None:
    docstring = ast.get_docstring(ast.parse(path.read_text()))
    assert docstring is not None
    assert len(docstring) > 15


@pytest.mark.parametrize("path", sources(), ids=short)
def test_file_is_short_enough(path: Path) -> None:
    lines = path.read_text().count("\n")
    assert lines <= LONGEST or short(path) in MAY_BE_LONGER


@pytest.mark.parametrize("path", sources(), ids=short)
def test_no_print_and_nothing_left_over(path: Path) -> None:
    tree = ast.parse(path.read_text())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    names = {node.func.id for node in calls if isinstance(node.func, ast.Name)}
    assert not names & {"print", "breakpoint", "eval", "exec"}
    assert not re.search(r"\b(TODO|FIXME|XXX)\b", path.read_text())


def test_no_path_of_a_machine() -> None:
    # Spelled in pieces, so that this file does not find itself.
    wrong = re.compile(
        "|".join(["/" + "work/", "/" + "root/", "/" + "home/[a-z]", r"[A-Z]:\\" + "Users"])
    )
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in project_files()
        for number, line in enumerate(path.read_text(errors="replace").split("\n"), 1)
        if wrong.search(line)
    ]
    assert found == []


def test_exports_are_there_and_sorted() -> None:
    assert setveil.__all__ == sorted(setveil.__all__)
    assert 15 <= len(setveil.__all__) <= 35
    for name in setveil.__all__:
        assert getattr(setveil, name) is not None
    assert set(setveil.__all__) <= set(dir(setveil))
    with pytest.raises(AttributeError):
        _ = setveil.nothing_of_this_name


@pytest.mark.parametrize("name", ["audit", "compare", "explain", "measure", "report", "risk", "sweep"])
def test_verbs_that_are_packages_can_be_called(name: str) -> None:
    importlib.import_module(f"setveil.{name}")
    assert callable(getattr(setveil, name))


@pytest.mark.parametrize("path", sources(), ids=short)
def test_all_names_what_exists(path: Path) -> None:
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets
        ):
            names = ast.literal_eval(node.value)
            module = ".".join(["setveil", *path.relative_to(PACKAGE).with_suffix("").parts])
            loaded = importlib.import_module(module.removesuffix(".__init__"))
            assert [name for name in names if not hasattr(loaded, name)] == []


@pytest.mark.parametrize("key", [record.key for record in ALL_METHODS])
def test_every_method_has_a_page(key: str) -> None:
    page = ROOT / "docs" / "methods" / f"{key}.md"
    assert page.is_file(), f"docs/methods/{key}.md is missing"
    assert page.read_text().startswith("# ")
