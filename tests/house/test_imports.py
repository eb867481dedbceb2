"""What importing costs, seen from a fresh process."""

from __future__ import annotations

import json
import resource
import subprocess
import sys

import pytest

HEAVY = ("numba", "pyspark", "matplotlib", "pandas", "polars", "duckdb", "pyarrow", "numpy", "highspy")


def loaded_after(code: str) -> set[str]:
    script = f"import json, sys\n{code}\njson.dump(sorted(sys.modules), sys.stdout)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(run.stdout[run.stdout.rindex("[") :]))


def cpu_seconds(*command: str) -> float:
    """Return the least processor time of a few runs; the clock on the wall depends on neighbours."""
    taken = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return min(taken)


def test_import_loads_nothing_heavy() -> None:
    assert not loaded_after("import setveil") & set(HEAVY)


def test_command_line_loads_nothing_heavy() -> None:
    assert not loaded_after("import setveil.cli.main") & set(HEAVY)


def test_names_load_no_foreign_frames() -> None:
    code = "import setveil\nfor name in setveil.__all__: getattr(setveil, name)"
    assert not loaded_after(code) & {"pyspark", "matplotlib", "pandas", "polars", "duckdb"}


def test_audit_loads_no_method() -> None:
    modules = loaded_after("import setveil.audit, setveil.audit.__main__")
    inside = {name for name in modules if name.startswith("setveil.")}
    foreign = {
        name
        for name in inside
        if not name.startswith("setveil.audit")
        and name
        not in {"setveil._version", "setveil.errors", "setveil.model", "setveil.model.guarantees"}
    }
    assert foreign == set()


@pytest.mark.parametrize(
    ("limit", "arguments"),
    [(0.15, ["-c", "import setveil"]), (0.3, ["-m", "setveil", "--help"])],
)
def test_start_is_fast(limit: float, arguments: list[str]) -> None:
    assert cpu_seconds(sys.executable, *arguments) < limit
