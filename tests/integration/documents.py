"""Code blocks of the documentation, and how they are run."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from setveil.cli.main import run

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LENIENT = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
EXIT = re.compile(r"\[exit code (\d+)\]\s*\Z")


@dataclass(frozen=True)
class Block:
    """A code block: its language, its text, and the line it starts at."""

    language: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(found[1], found[2], text.count("\n", 0, found.start()) + 1)
        for found in FENCE.finditer(text)
    ]


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a console block with the output that the page shows."""
    lines = text.split("\n")
    place = 0
    while place < len(lines):
        line = lines[place]
        place += 1
        if not line.startswith("$ "):
            assert not line.strip(), f"output without a command: {line}"
            continue
        command = [line[2:]]
        here = re.search(r"<<'(\w+)'", line)
        if here:
            end = lines.index(here[1], place)
            command += lines[place : end + 1]
            place = end + 1
        shown = []
        while place < len(lines) and not lines[place].startswith("$ "):
            shown.append(lines[place])
            place += 1
        yield "\n".join(command), "\n".join(shown)


def run_command(command: str, capfd: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Run a command: ours in this process, for speed, the others by the shell."""
    words = shlex.split(command) if "\n" not in command else []
    if words[:1] == ["setveil"] and not set(command) & set("|;&<>"):
        capfd.readouterr()
        code = run(words[1:])
        seen = capfd.readouterr()
        return code, seen.err + seen.out
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        ["sh", "-ec", command],
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": path},
        check=False,
    )
    return done.returncode, done.stderr + done.stdout


def check_console(block: Block, capfd: pytest.CaptureFixture[str]) -> None:
    for command, shown in commands(block.text):
        ended = EXIT.search(shown)
        expected = EXIT.sub("", shown)
        code, seen = run_command(command, capfd)
        assert code == (int(ended[1]) if ended else 0), f"{command}\n{seen}"
        if expected.strip():
            # Notices about what was guessed come before the output and are not shown.
            told = re.sub(r"^notice: .*\n", "", seen, flags=re.MULTILINE)
            checker = doctest.OutputChecker()
            fits = checker.check_output(expected.strip() + "\n", told.strip() + "\n", LENIENT)
            assert fits, f"{command}\nshown:\n{expected}\nseen:\n{told}"


def check_python(block: Block, names: dict[str, Any], page: Path) -> None:
    if ">>>" not in block.text:
        exec(compile("\n" * block.line + block.text, str(page), "exec"), names)
        return
    parsed = doctest.DocTestParser().get_doctest(block.text, names, page.name, str(page), block.line)
    failures: list[str] = []
    runner = doctest.DocTestRunner(optionflags=LENIENT, verbose=False)
    runner.run(parsed, out=failures.append, clear_globs=False)
    assert not failures, "".join(failures)
    names.update(parsed.globs)
