"""Run the command line inside the test process, and small files to run it on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from setveil.cli.main import run

BASKETS = (
    "ale,milk\nwine,milk\nmilk\nale,bun\nwine,bun\nbun,milk\nbun,milk\n"
    '"a, ""b""",milk\n"a, ""b""",milk\n'
)
PRODUCTS = 'ale;alcohol;ALL\nwine;alcohol;ALL\nmilk;food;ALL\nbun;food;ALL\n"a, ""b""";food;ALL\n'


@dataclass(frozen=True)
class Ran:
    """What one command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Shell:
    """Runs commands in a folder that holds ``baskets.csv`` and ``products.csv``."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.capsys = capsys
        (folder / "baskets.csv").write_text(BASKETS)
        (folder / "products.csv").write_text(PRODUCTS)

    def __call__(self, *words: str) -> Ran:
        self.capsys.readouterr()
        code = run(words)
        captured = self.capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    def anonymize(self, *words: str) -> Ran:
        usual = ("--hierarchy", "products.csv", "-k", "2", "-m", "2", "-o", "out")
        return self("anonymize", "baskets.csv", *usual, *words)

    def names(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir())
