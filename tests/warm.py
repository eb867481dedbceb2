"""Programs that need not start cold: each in a process of its own, where the package is loaded already.

A process loads the command line, runs a first small job, and then makes a copy of itself for every
program. What a test says of signals, exit codes and files is said of a true process, and what takes
most of its time, loading, is done once. What a test says of starting, of closed streams or of too
little memory needs a fresh process.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.integration.cli import BASKETS, PRODUCTS

SERVER = """
import contextlib, io, json, os, sys
from setveil.cli.main import main, run
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    assert run(sys.argv[1].split()) == 0
sys.stdout.write("ready\\n")
sys.stdout.flush()
asked = None
for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if child == 0:
        break
    asked = None
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    sys.stdout.write(f"{ended}\\n")
    sys.stdout.flush()
if asked is not None:
    os.chdir(asked["folder"])
    for number, name in ((0, os.devnull), (1, asked["out"]), (2, asked["err"])):
        opened = os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        os.dup2(opened, number)
        os.close(opened)
    sys.argv = ["-c", *asked["words"]]
    exec(compile(asked["script"], "<string>", "exec"), {"__name__": "__main__"})
"""


class Warm:
    """Runs programs, one after the other."""

    def __init__(self) -> None:
        self._place = tempfile.TemporaryDirectory(prefix="warm-")
        folder = Path(self._place.name)
        (folder / "baskets.csv").write_text(BASKETS)
        (folder / "products.csv").write_text(PRODUCTS)
        first = "anonymize baskets.csv --hierarchy products.csv -k 2 -m 2 -o out"
        self._server = subprocess.Popen(
            [sys.executable, "-c", SERVER, first],
            cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._out, self._err = folder / "stdout", folder / "stderr"
        assert self._answer() == "ready"

    def run(self, folder: Path, script: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a script with words as its arguments in a folder."""
        asked = {
            "folder": str(folder),
            "script": script,
            "words": words,
            "out": str(self._out),
            "err": str(self._err),
        }
        assert self._server.stdin is not None
        self._server.stdin.write(json.dumps(asked) + "\n")
        self._server.stdin.flush()
        code = int(self._answer())
        return subprocess.CompletedProcess(
            ["-c", script, *words], code, self._out.read_text(), self._err.read_text()
        )

    def _answer(self) -> str:
        assert self._server.stdout is not None
        answer = self._server.stdout.readline().strip()
        assert answer, f"the process ended: {self._server.wait()}"
        return answer

    def close(self) -> None:
        self._server.communicate()
        self._place.cleanup()
