"""Every example in a docstring runs."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import setveil


def module_names() -> list[str]:
    """Return the names of all modules of the package."""
    found = pkgutil.walk_packages(setveil.__path__, "setveil.")
    return [info.name for info in found if not info.name.endswith("__main__")]


@pytest.mark.parametrize("name", module_names())
def test_docstring_examples(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0
