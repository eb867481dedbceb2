"""``python -m benchmarks NAME --against CHECKOUT``: the same work by the code of two checkouts.

Each benchmark runs twice as a process of its own, once with the package of the other checkout and once
with this one's, and each piece of work it measured is shown beside its twin. The benchmarks, their data
and the machine are the same; what differs is the package. CPU seconds are compared, since they say
something on a machine that does other work too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .context import WorkerFailed
from .data import ROOT
from .report import Cell, Report, Table, ratio

COLUMNS = ("work", "CPU s there", "CPU s here", "here / there")


def compare(name: str, there: Path, arguments: Sequence[str]) -> Report:
    """Return what each piece of a benchmark takes by the code of `there` and by this one's."""
    theirs, ours = (timings(name, place, arguments) for place in (there, ROOT))
    if [piece["work"] for piece in theirs] != [piece["work"] for piece in ours]:
        raise WorkerFailed("the two checkouts did not do the same work")
    rows = [_row(one["work"], one, other) for one, other in zip(theirs, ours, strict=True)]
    known = [(one, other) for one, other in zip(theirs, ours, strict=True) if _both(one, other)]
    if len(known) > 1:
        sides = zip(*known, strict=True)
        sums = [{"cpu_seconds": sum(piece["cpu_seconds"] for piece in side)} for side in sides]
        rows.append(_row("all that both did", *sums))
    return Report(
        name,
        "CPU seconds by two checkouts",
        (Table(COLUMNS, tuple(rows)),),
        quick="--quick" in arguments,
    )


def timings(name: str, checkout: Path, arguments: Sequence[str]) -> list[dict[str, Any]]:
    """Run a benchmark with the package of a checkout; return its pieces of work in their order."""
    source = (checkout / "src").resolve()
    if not (source / "setveil").is_dir():
        raise WorkerFailed(f"{checkout} is no checkout: it has no src/setveil")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "timings.json"
        places = [f"--output={folder}", f"--timings={file}"]
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks", name, *arguments, *places],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(source)},
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode or not file.is_file():
            raise WorkerFailed(done.stdout[-2000:])
        found = json.loads(file.read_text())
    if Path(found["package"]).resolve() != source / "setveil":
        raise WorkerFailed("the package of another checkout was measured")
    pieces: list[dict[str, Any]] = found["pieces"]
    return pieces


def _both(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one["cpu_seconds"] is not None and other["cpu_seconds"] is not None


def _row(work: str, there: dict[str, Any], here: dict[str, Any]) -> tuple[Cell, ...]:
    cells = there["cpu_seconds"], here["cpu_seconds"]
    return (work, *cells, ratio(cells[1], cells[0]))
