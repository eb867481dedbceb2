"""How a benchmark asks for work: in a fresh process, or with --quick here, on a tiny input."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .data import ROOT, Source
from .worker import keep, run, tell

TINY_RECORDS = 150


class WorkerFailed(Exception):
    """A process that measures ended with an error of its own; its last words."""


@dataclass(frozen=True)
class Context:
    """The settings of one run of the benchmarks."""

    quick: bool = False
    reference_limit: float = 15.0
    """Seconds the count-tree path of aa may take before it counts as not finished."""
    limit: float = 15.0
    """Seconds each point of `compare` is given."""
    only: tuple[str, ...] = ()
    """The data sets `compare` is confined to; all where empty."""
    resume: bool = False
    """Whether `compare` keeps the points it finds in `output`."""
    output: Path | None = None
    """Where results go; a benchmark that takes long writes there as it comes."""

    def source(self, name: str, **shape: int) -> Source:
        """Return data by name, tiny ones where the run is quick; `DataAbsent` if files lack."""
        if self.quick:
            if name == "POS shape":
                return Source(name, min(shape.get("records", 400), 400), 60, shape.get("fan_out", 5))
            if name == "modulo":
                return Source("POS shape", 400, 20, 4)
            return Source("small", TINY_RECORDS)
        source = Source(name, **shape)
        source.check()
        return source

    def measure(self, task: str, source: Source, **spec: Any) -> dict[str, Any]:
        """Return what `worker.run` says about a task."""
        spec = {"task": task, "data": source.as_dict(), **spec}
        if self.quick:
            spec.pop("memory", None)
            return run(spec | {"runs": 1, "quick": True})
        found = measured_apart(spec)
        keep(found.get("cpu_seconds"))
        return found

    def anonymize(self, source: Source, method: str, k: int, m: int, **spec: Any) -> dict[str, Any]:
        """Return what `measure` says about k^m-anonymity by a method."""
        guarantee = {"model": "km", "k": k, "m": m}
        return self.measure("anonymize", source, **({"guarantee": guarantee, "method": method} | spec))

    def note(self, text: str) -> None:
        """Tell on stderr what is going on; long benchmarks have many parts."""
        tell(text)
        if not self.quick:
            print(f"  .. {text}", file=sys.stderr, flush=True)


def measured_apart(spec: dict[str, Any]) -> dict[str, Any]:
    """Run a spec in a fresh process and return its answer."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.worker", json.dumps(spec)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode < 0:
        return {"failed": f"signal {-done.returncode}"}
    if done.returncode:
        raise WorkerFailed(done.stderr[-2000:])
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer
