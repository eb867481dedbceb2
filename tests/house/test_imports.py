"""What is imported when: never in a circle, nothing heavy at the start, nothing without need."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping

from tests.house.sources import imports_at_start, module_names, modules, targets, tell

HEAVY = {"numba", "pyspark", "matplotlib", "pandas", "polars", "duckdb", "pyarrow", "numpy", "highspy"}
FRAMES = {"pyspark", "matplotlib", "pandas", "polars", "duckdb"}
WEB = {"pyarrow", "pyarrow.compute", "urllib.request", "ssl"}
NEEDED_BY_AUDIT = {
    *("setveil", "setveil._version", "setveil.errors", "setveil.model", "setveil.model.numbers"),
}
NEEDED_FOR_HELP = {
    *("setveil", "setveil.__main__", "setveil._version", "setveil.errors", "setveil.progress"),
    *("setveil.refusals", "setveil.registry"),
    *("setveil.run", "setveil.run.fields", "setveil.run.reading"),
    *("setveil.model", "setveil.model.numbers"),
}
GUARANTEES = "setveil.model.guarantees"
OF_OTHER_KINDS = re.compile(r"bucket|pair|pattern|microdata|anatomy|injector|hiding|matching")
"""What is in the names of modules of buckets and pairs. Promises are values that all kinds know."""
LOADED_FOR_SETS_ALL_THE_SAME: frozenset[str] = frozenset()
"""Modules of buckets and pairs that a run of sets still loads. This list only gets shorter."""

STEPS = """
import contextlib, io, json, os, sys, tempfile
loaded = {}
def run(line):
    sys.argv = line.split()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main()
import setveil
loaded["import"] = sorted(sys.modules)
import setveil.cli.main
loaded["command line"] = sorted(sys.modules)
from setveil.__main__ import main
run("setveil --help")
loaded["help"] = sorted(sys.modules)
os.chdir(tempfile.mkdtemp())
open("data.csv", "w").write("ale,bun\\nale,bun\\nale\\nbun\\n")
open("tree.csv", "w").write("ale;ALL\\nbun;ALL\\n")
run("setveil anonymize data.csv --hierarchy tree.csv -k 2 -m 2 -o out")
assert os.path.isfile("out/certificate.json")
loaded["sets"] = sorted(sys.modules)
for name in setveil.__all__:
    getattr(setveil, name)
loaded["names"] = sorted(sys.modules)
json.dump(loaded, sys.stdout)
"""
AUDIT = """
import json, sys, setveil.audit, setveil.audit.__main__
json.dump({"audit": sorted(sys.modules)}, sys.stdout)
"""


def loaded_by(script: str) -> dict[str, set[str]]:
    """Return the modules that are loaded after each step of a fresh process."""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return {step: set(names) for step, names in json.loads(run.stdout).items()}


def own(names: set[str]) -> set[str]:
    return {name for name in names if name.partition(".")[0] == "setveil"}


def tangles(needed: Mapping[str, set[str]]) -> Iterator[list[str]]:
    """Yield the groups of modules of which each needs every other, directly or not."""
    reached = {name: _reached(name, needed) for name in needed}
    told: set[str] = set()
    for name in sorted(needed):
        group = {other for other in reached[name] if name in reached[other]}
        if group and name not in told:
            told |= group
            yield sorted(group)


def _reached(start: str, needed: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = needed.get(waiting.pop(), set()) - found
        found |= new
        waiting.extend(new)
    return found


def needed_at_start() -> dict[str, set[str]]:
    return {
        module.name: {target for node in imports_at_start(module) for target in targets(module, node)}
        & module_names() - {module.name}
        for module in modules()
    }


def faults(loaded: Mapping[str, set[str]]) -> Iterator[str]:
    """Yield what is loaded too early, or without need."""
    for step in ("import", "command line", "help"):
        yield from (f"{name} is heavy: {step}" for name in sorted(loaded[step] & HEAVY))
    yield from (
        f"{name} is loaded by `import setveil`"
        for name in sorted(own(loaded["import"]) - {"setveil", "setveil._version"})
    )
    for name in sorted(own(loaded["help"]) - NEEDED_FOR_HELP):
        if not name.startswith(("setveil.cli", GUARANTEES)):
            yield f"{name} is not needed for help"
    if len(loaded["help"]) >= 300:
        yield f"help loads {len(loaded['help'])} modules"
    yield from (f"{name} is loaded by a small run of sets" for name in sorted(loaded["sets"] & WEB))
    others = {
        name
        for name in own(loaded["sets"])
        if OF_OTHER_KINDS.search(name) and not name.startswith(GUARANTEES)
    }
    for name in sorted(others - LOADED_FOR_SETS_ALL_THE_SAME):
        yield f"{name} is loaded by a run of sets, which needs no buckets and no pairs"
    for name in sorted(LOADED_FOR_SETS_ALL_THE_SAME - others):
        yield f"{name} is not loaded by a run of sets any more: take it off the list"
    yield from (f"{name} is loaded by the public names" for name in sorted(loaded["names"] & FRAMES))
    for name in sorted(own(loaded["audit"]) - NEEDED_BY_AUDIT):
        if not name.startswith(("setveil.audit", GUARANTEES)):
            yield f"{name} is loaded by the audit, which shares no code with what it judges"


def test_imports_run_in_no_circle_and_load_only_what_is_needed() -> None:
    """What it takes in time is measured by ``python -m benchmarks startup``."""
    circles = [f"in a circle: {', '.join(group)}" for group in tangles(needed_at_start())]
    tell([*circles, *faults(loaded_by(STEPS) | loaded_by(AUDIT))])


def test_the_test_sees_a_circle() -> None:
    needed = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set(), "e": {"a"}}
    assert list(tangles(needed)) == [["a", "b", "c"]]
    assert sum(map(len, needed_at_start().values())) > 500
