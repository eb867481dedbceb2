"""What importing costs, seen from a fresh process."""

from __future__ import annotations

import json
import subprocess
import sys

HEAVY = ("numba", "pyspark", "matplotlib", "pandas", "polars", "duckdb", "pyarrow", "numpy", "highspy")


def loaded_after(code: str) -> set[str]:
    script = f"import json, sys\n{code}\njson.dump(sorted(sys.modules), sys.stdout)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(run.stdout[run.stdout.rindex("[") :]))


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


HELP = """
import contextlib, io, sys
sys.argv = ["setveil", "--help"]
from setveil.__main__ import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main()
"""
NEEDED_FOR_HELP = {
    *("setveil", "setveil.__main__", "setveil._version", "setveil.errors", "setveil.progress"),
    *("setveil.options", "setveil.registry"),
    *("setveil.model", "setveil.model.guarantees", "setveil.model.notices"),
}


BASKETS = """
import contextlib, io, os, sys, tempfile
os.chdir(tempfile.mkdtemp())
open("data.csv", "w").write("ale,bun\\nale,bun\\nale\\nbun\\n")
open("tree.csv", "w").write("ale;ALL\\nbun;ALL\\n")
sys.argv = "setveil anonymize data.csv --hierarchy tree.csv -k 2 -m 2 -o out".split()
from setveil.__main__ import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main()
assert os.path.isfile("out/certificate.json")
"""


def test_a_small_run_on_baskets_loads_no_arrow_and_nothing_of_the_web() -> None:
    assert not loaded_after(BASKETS) & {"pyarrow", "pyarrow.compute", "urllib.request", "ssl"}


def own(modules: set[str]) -> set[str]:
    return {name for name in modules if name.partition(".")[0] == "setveil"}


def test_an_import_loads_next_to_nothing() -> None:
    """What it takes in time is measured by ``python -m benchmarks startup``."""
    assert own(loaded_after("import setveil")) == {"setveil", "setveil._version"}


def test_help_loads_the_command_line_and_no_work() -> None:
    modules = loaded_after(HELP)
    assert {name for name in own(modules) if not name.startswith("setveil.cli")} <= NEEDED_FOR_HELP
    assert not modules & set(HEAVY)
    assert len(modules) < 300
