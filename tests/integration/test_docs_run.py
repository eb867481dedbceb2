"""Every command and every line of Python in the README and the guide runs and shows what it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.integration.documents import (
    PAGES,
    ROOT,
    blocks,
    check_console,
    check_python,
    run_command,
)
from tests.integration.patients import write_patients


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_page_runs(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__docs__"}
    for block in blocks(page):
        if block.language == "console":
            check_console(block, capfd)
        elif block.language == "python":
            check_python(block, names, page)


def test_commands_within_sentences_of_the_readme_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    inline = [command for command in re.findall(r"`(setveil [^`]+)`", text) if " -o " in command]
    assert len(inline) >= 2
    for number, command in enumerate(inline):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        write_patients()
        Path("before.csv").write_text("ale,bread\nale,tea\nbread,tea\n")
        Path("after.csv").write_text("tea,bread\ntea,ale\ntea,milk\n")
        code, seen = run_command(command, capfd)
        assert code == 0, f"{command}\n{seen}"
        assert Path("release/certificate.json").exists()


def test_pages_hold_code_of_known_kinds() -> None:
    known = {"console", "python", "text", "json"}
    for page in PAGES:
        assert {block.language for block in blocks(page)} <= known, page.name


def test_there_is_something_to_run() -> None:
    kinds = [block.language for page in PAGES for block in blocks(page)]
    assert kinds.count("console") >= 15
    assert kinds.count("python") >= 8
