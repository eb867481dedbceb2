"""A shell for every test of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.cli import Shell


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.chdir(tmp_path)
    return Shell(tmp_path, capsys)


@pytest.fixture
def others(shell: Shell) -> Shell:
    """Return a shell with a table to put into buckets, and two data sets."""
    ill = ("flu", "gout", "ulcer", "cold")
    lines = ["age,sex,disease"]
    lines += [f"{20 + n % 17},{'FM'[n % 2]},{ill[(n * n + n // 3) % 4]}" for n in range(48)]
    (shell.folder / "people.csv").write_text("\n".join(lines) + "\n")
    for name, times in (("before.csv", (9, 1, 4, 1, 5)), ("after.csv", (2, 6, 4, 5, 3))):
        sets = ("ale,bun", "ale,rye", "tea", "tea,bun,rye", "bun")
        text = "".join(f"{line}\n" * n for line, n in zip(sets, times, strict=True))
        (shell.folder / name).write_text(text)
    tree = "ale;drink;all\ntea;drink;all\nbun;bread;all\nrye;bread;all\n"
    (shell.folder / "tree.csv").write_text(tree)
    return shell
