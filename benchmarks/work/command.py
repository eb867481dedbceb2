"""The whole of ``setveil anonymize`` beside the method alone: what start, files and audit add."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any

from ..context import Context
from ..data import FILES, data_file
from ..report import Cell, Report, Table, at_most
from ..worker import command_times, keep

K, M = 5, 2
DATA = ("groceries", "BMS-WebView-1")
SECONDS = 2.0
COLUMNS = ("data", "whole, s", "whole, CPU s", "without private page", "method alone", "start", "added")


def run(context: Context) -> Report:
    """Run the command on real data as anybody would, several times each."""
    runs = 1 if context.quick else 5
    rows: list[tuple[Cell, ...]] = []
    bars = []
    context.note("the command's start")
    start = command_times(["-m", "setveil", "--version"], runs=runs)["cpu_seconds"]
    for name in DATA[:1] if context.quick else DATA:
        with tempfile.TemporaryDirectory() as folder:
            files = _files(context, name, Path(folder))
            words = ["-m", "setveil", "anonymize", *files, "-k", str(K), "-m", str(M), "--force"]
            words += ["-o", str(Path(folder) / "release")]
            context.note(f"anonymize {name}")
            whole = command_times(words, runs=runs)
            context.note(f"anonymize {name} --no-report")
            bare = _seconds([*words, "--no-report"], runs)
        context.note(f"the method alone on {name}, warm")
        alone = context.anonymize(context.source(name), "auto", K, M, audit=False)["cpu_seconds"]
        added = whole["cpu_seconds"] - alone
        rows.append((name, whole["seconds"], whole["cpu_seconds"], bare, alone, start, added))
        if name == "groceries":
            what = "anonymize groceries, CPU seconds"
            bars.append(at_most(what, whole["cpu_seconds"], SECONDS, quick=context.quick))
    return Report(
        "command",
        f"The whole of setveil anonymize, k={K}, m={M}: CPU seconds beside those of the method alone",
        (Table(COLUMNS, tuple(rows)),),
        tuple(bars),
        (
            "fresh processes with compiled kernels and bytecode; medians, the first run not counted.",
            "the method alone is the default one, from records in memory to a release in memory, warm.",
            "start is setveil --version: Python, the command line, none of the work's libraries.",
        ),
        context.quick,
    )


def _seconds(words: list[str], runs: int) -> float | None:
    """Return the CPU seconds of a command; None where an older package does not know a flag of it."""
    try:
        return command_times(words, runs=runs)["cpu_seconds"]
    except subprocess.CalledProcessError:
        keep(None)
        return None


def _files(context: Context, name: str, folder: Path) -> list[str]:
    """Return the arguments that name the data and its hierarchy; tiny files where the run is quick."""
    if not context.quick:
        data, tree = FILES[name]
        return [str(data_file(data)), "--hierarchy", str(data_file(str(tree)))]
    rows, hierarchy = context.source(name).load()
    (folder / "data.csv").write_text("".join(",".join(row) + "\n" for row in rows.rows()))
    paths: Any = (hierarchy.path(hierarchy.labels[leaf]) for leaf in range(hierarchy.n_leaves))
    (folder / "tree.csv").write_text("".join(";".join(path) + "\n" for path in paths))
    return [str(folder / "data.csv"), "--layout=baskets", "--hierarchy", str(folder / "tree.csv")]
