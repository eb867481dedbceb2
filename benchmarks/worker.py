"""One piece of work in a process of its own: ``python -m benchmarks.worker SPEC``.

A fresh process, so that the peak of its memory is that of the work. It loads the data, warms up on a
small input (which loads or compiles the kernels), runs, and prints one line of JSON. A first run on
the real input that is short counts as one more warm-up, and the median of those after it is taken.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from .data import ROOT, Source

SHORT_SECONDS = 4.0
"""A first run below this is not counted: the median of further ones is."""

Spec = dict[str, Any]

PIECES: list[dict[str, Any]] = []
"""What each piece of work of this process and its workers took, in order: for comparing checkouts."""
_about = ""


def tell(text: str) -> None:
    """Name the work that comes next."""
    global _about  # noqa: PLW0603
    _about = text


def keep(cpu_seconds: float | None) -> None:
    """Keep what a piece of work took; None where it came to no end."""
    PIECES.append({"work": f"{len(PIECES) + 1}: {_about}", "cpu_seconds": cpu_seconds})


def peak_mb() -> float:
    """Return the most memory this process has held, in MB."""
    # Not ru_maxrss: a process inherits that from the one that started it.
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return round(int(line.split()[1]) / 1024, 1)
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


def timed(work: Callable[[], Any], *, runs: int = 3) -> tuple[Any, dict[str, Any]]:
    """Return the last result of `work`, and the medians of wall and CPU seconds.

    With `runs` = 1, or where the first run is long, that run is the one counted.
    """
    result, *first = _once(work)
    times = [first]
    if runs > 1 and first[0] <= SHORT_SECONDS:
        times = []
        for _ in range(runs):
            result, *once = _once(work)
            times.append(once)
    seconds, cpu = (round(statistics.median(column), 4) for column in zip(*times, strict=True))
    keep(cpu)
    return result, {"seconds": seconds, "cpu_seconds": cpu, "runs": len(times)}


def command_times(arguments: list[str], *, runs: int) -> dict[str, float]:
    """Return the medians of wall and CPU seconds of a fresh Python, the first run not counted.

    The first run leaves bytecode, as an installed package has it, whatever the environment says.
    """
    wall, cpu = [], []
    with tempfile.TemporaryDirectory() as folder:
        own = os.environ | {"PYTHONPYCACHEPREFIX": folder}
        own.pop("PYTHONDONTWRITEBYTECODE", None)
        for _ in range(runs + 1):
            started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
            line = [sys.executable, *arguments]
            subprocess.run(line, cwd=ROOT, env=own, check=True, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            wall.append(time.perf_counter() - started)
            cpu.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    found = {
        "seconds": round(statistics.median(wall[1:]), 4),
        "cpu_seconds": round(statistics.median(cpu[1:]), 4),
    }
    keep(found["cpu_seconds"])
    return found


def _once(work: Callable[[], Any]) -> tuple[Any, float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return result, time.perf_counter() - wall, time.process_time() - cpu


def run(spec: Spec) -> dict[str, Any]:
    """Do what a spec asks for; an error of setveil is an answer too."""
    from setveil.errors import SetveilError

    if "memory" in spec:
        resource.setrlimit(resource.RLIMIT_AS, (spec["memory"], spec["memory"]))
    try:
        return TASKS[spec["task"]](spec)
    except SetveilError as error:
        return {"failed": type(error).__name__}
    except MemoryError:
        return {"failed": "MemoryError"}


def _guarantee(plain: Spec, data: Any) -> Any:
    """Return the guarantee; sensitive items may be given as a rank, which `data` turn into labels."""
    from setveil.model.guarantees import guarantee_from_dict

    if isinstance(plain.get("sensitive"), int):
        plain = plain | {"sensitive": sorted(frequent_labels(data, plain["sensitive"]))}
    return guarantee_from_dict(plain)


def frequent_labels(data: Any, rank: int) -> frozenset[str]:
    """Return five labels around a rank by frequency, to stand for sensitive items."""
    counts, labels = data.count_by_item.tolist(), data.vocabulary.labels
    order = sorted(range(len(labels)), key=lambda item: (-counts[item], labels[item]))
    return frozenset(labels[item] for item in order[rank : rank + 5])


def _anonymize(spec: Spec) -> dict[str, Any]:
    import setveil as sv

    work = _warmed(spec)
    before = peak_mb()
    release, found = timed(work, runs=spec.get("runs", 3))
    found["peak_mb"] = peak_mb()
    found["added_mb"] = round(found["peak_mb"] - before, 1)
    found |= {name: float(loss) for name, loss in release.losses.items()}
    found["left_out"] = release.suppressed
    found["labels"] = len(release.labels)
    found["complete"] = release.complete
    found["figures"] = dict(release.figures)
    if release.objective is not None:
        found |= {key: value for key, value in release.objective.as_dict().items() if key != "name"}
    found["cut"] = hashlib.sha256(release.recoding.nodes.tobytes()).hexdigest()[:16]
    if spec.get("audit", True):
        found["holds"] = sv.audit(release).holds
    return found


def _warmed(spec: Spec) -> Callable[[], Any]:
    """Return the work that a spec of a method asks for: data loaded, kernels too."""
    import setveil as sv

    def work(data: Any, hierarchy: Any) -> Any:
        return sv.anonymize(
            data,
            _guarantee(spec["guarantee"], data),
            hierarchy=hierarchy,
            method=spec["method"],
            threads=spec.get("threads"),
            time_limit=spec.get("time_limit"),
            cost=spec.get("cost", "ncp"),
            **spec.get("options", {}),
        )

    source = Source(**spec["data"])
    if not spec.get("quick"):
        # A small sample may have no solution; its kernels are loaded all the same.
        with contextlib.suppress(sv.SetveilError):
            work(*source.sample(spec["guarantee"].get("k", 0)).load())
    return partial(work, *source.load())


def _stopped(spec: Spec) -> dict[str, Any]:
    """Run a method within a time limit and tell when and how it ended, were it by an error."""
    import setveil as sv

    work = _warmed(spec)
    started, end = time.perf_counter(), "a release"
    try:
        work()
    except sv.SetveilError as error:
        end = type(error).__name__
    return {"seconds": round(time.perf_counter() - started, 4), "end": end, "peak_mb": peak_mb()}


def _sweep(spec: Spec) -> dict[str, Any]:
    from setveil.sweep import sweep

    small, tree = Source("small", 300).load()
    sweep(small, tree, [2, 5], [1, 2, 3])
    data, hierarchy = Source(**spec["data"]).load()
    result, found = timed(
        lambda: sweep(data, hierarchy, spec["ks"], spec["ms"]), runs=spec.get("runs", 3)
    )
    return found | {"peak_mb": peak_mb(), "points": result.as_dicts()}


def _points(spec: Spec) -> dict[str, Any]:
    """Ask for each point of a grid alone, each time from the data on."""
    from setveil.sweep import sweep

    small, tree = Source("small", 300).load()
    sweep(small, tree, [2, 5], [1, 2, 3])
    data, hierarchy = Source(**spec["data"]).load()
    points = []
    for k in spec["ks"]:
        for m in spec["ms"]:
            alone, found = timed(
                lambda k=k, m=m: sweep(data, hierarchy, [k], [m]),  # type: ignore[misc]
                runs=spec.get("runs", 3),
            )
            points.append(alone.as_dicts()[0] | {"alone_seconds": found["seconds"]})
    return {"points": points}


def _find_rare(spec: Spec) -> dict[str, Any]:
    from setveil.engines.local import LocalEngine
    from setveil.kernels.itemsets.rare import find_rare

    k, m, threads = spec["guarantee"]["k"], spec["guarantee"]["m"], spec.get("threads") or 1

    def searched(source: Source) -> Callable[[], Any]:
        data, hierarchy = source.load()
        engine = LocalEngine.of(data, hierarchy, threads=threads)
        merged = engine._merged
        rows = (merged.indptr, merged.nodes, merged.weight_by_row)
        return lambda: find_rare(*rows, engine.hierarchy.n_leaves, k, m, 0, threads)

    source = Source(**spec["data"])
    searched(source.sample(k))()
    (sets, _), found = timed(searched(source), runs=spec.get("runs", 3))
    return found | {"peak_mb": peak_mb(), "sets": len(sets)}


TASKS: dict[str, Callable[[Spec], dict[str, Any]]] = {
    "anonymize": _anonymize,
    "stopped": _stopped,
    "sweep": _sweep,
    "points": _points,
    "find_rare": _find_rare,
}


if __name__ == "__main__":
    print(json.dumps(run(json.loads(sys.argv[1]))))
