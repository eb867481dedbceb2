"""Many points on the same data: a process that reads points and prints an answer to each.

The data are bound and indexed once, and the engine is used for all points. Some methods look at the
clock between steps only, and a step can take very long, so `Apart` watches the process from outside: it
stops one that exceeds its time by far, and starts another for the next point.
"""

from __future__ import annotations

import contextlib
import json
import queue
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import IO, Any

from .context import Context, WorkerFailed
from .data import ROOT, Source

MEMORY = 8 << 30
"""The most a process may hold."""
START_SECONDS = 300.0
"""How long loading the data may take."""
METHODS = ("aa", "vpa", "optimal", "partition", "mm", "hghs", "mhghs", "trim")
"""What is compared."""


@dataclass(frozen=True)
class Point:
    """A method and a promise; m is None for methods that know no m."""

    method: str
    k: int
    m: int | None


class Bench:
    """One data set, ready for any point: bound, merged and indexed."""

    def __init__(self, source: Source) -> None:
        import numpy as np

        from setveil.engines.local import LocalEngine
        from setveil.model.guarantees import KmAnonymity
        from setveil.run.work import Job

        job = Job(KmAnonymity(2, 1), method="trim", cost="lm")
        self.prepared = job.prepare(*source.load())
        self.engine = LocalEngine(self.prepared.hierarchy, self.prepared.rows)
        # The index is built at the first question about sets; no method shall pay for it.
        self.engine.supports(np.zeros((1, 1), dtype=np.int32))

    def answer(self, point: Point, limit: float) -> dict[str, Any]:
        """Return losses and seconds of a point; ``state`` tells what kept it from its end."""
        from setveil.errors import SetveilError
        from setveil.measure.scores import mean_unit_cost
        from setveil.model.guarantees import KAnonymity, KmAnonymity
        from setveil.progress import Watch
        from setveil.registry import method
        from setveil.release.recoding import BeforeAfter

        record = method(point.method)
        guarantee = KAnonymity(point.k) if point.m is None else KmAnonymity(point.k, point.m)
        own = {"threads": None} if record.takes_threads else {}
        cost, rows = self.prepared.cost, self.prepared.rows
        started = time.perf_counter()
        try:
            outcome = record.load()(
                self.engine, guarantee, cost=cost, watch=Watch(time_limit=limit), **own
            )
        except (SetveilError, MemoryError) as error:
            seconds = round(time.perf_counter() - started, 4)
            return {"state": type(error).__name__, "seconds": seconds}
        seconds = round(time.perf_counter() - started, 4)
        objective = outcome.objective
        has_bound = objective is not None and objective.bound is not None
        return {
            "state": "" if outcome.complete else "cut short",
            "seconds": seconds,
            "lm": float(mean_unit_cost("lm", BeforeAfter(outcome.recoding, rows))),
            "ncp": float(mean_unit_cost("ncp", BeforeAfter(outcome.recoding, rows))),
            "left_out": int((outcome.recoding.nodes_of(rows) < 0).sum()),
            "bound": float(cost.share(objective.bound, self.engine.item_counts()))
            if has_bound
            else None,
            "proven": objective.proven if has_bound else None,
        }


class Apart:
    """A `Bench` in a process of its own, started at the first question and again after a stop."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.Queue[str] = queue.Queue()
        self._words: IO[str] | None = None

    def answer(self, point: Point, limit: float) -> dict[str, Any]:
        """Return what `Bench.answer` says; "stopped" where it took far too long."""
        process = self._process or self._start()
        assert process.stdin is not None
        question = {**asdict(point), "limit": limit}
        try:
            process.stdin.write(json.dumps(question) + "\n")
            process.stdin.flush()
            line = self._lines.get(timeout=at_most_seconds(limit))
        except queue.Empty:
            self.close()
            return {"state": "stopped", "seconds": at_most_seconds(limit)}
        except BrokenPipeError:
            line = ""
        if not line:
            return {"state": self._ended(process)}
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _start(self) -> subprocess.Popen[str]:
        self._words = tempfile.TemporaryFile("w+")  # noqa: SIM115 - lives as long as the process
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.grid", json.dumps(self.source.as_dict())],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
            text=True,
        )
        self._process, self._lines = process, queue.Queue()
        threading.Thread(target=_pass_on, args=(process.stdout, self._lines), daemon=True).start()
        if not self._lines.get(timeout=START_SECONDS):
            self._ended(process)
        return process

    def _ended(self, process: subprocess.Popen[str]) -> str:
        """Return which signal ended the process; `WorkerFailed` where it failed by itself."""
        code = process.wait()
        assert self._words is not None
        self._words.seek(0)
        words = self._words.read()[-2000:]
        self.close()
        if code >= 0:
            raise WorkerFailed(words)
        return f"signal {-code}"

    def close(self) -> None:
        """End the process, if there is one."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._words):
                if pipe is not None:
                    # What was not yet sent to a dead process is of no use.
                    with contextlib.suppress(BrokenPipeError):
                        pipe.close()
            self._process = None


def at_most_seconds(limit: float) -> float:
    """Return after how long a point is stopped from outside; methods may overrun by a last step."""
    return 2 * limit + 10


def _pass_on(pipe: IO[str], lines: queue.Queue[str]) -> None:
    """Put each line into the queue, and an empty one at the end."""
    with pipe:
        for line in pipe:
            lines.put(line)
    lines.put("")


def answers(
    context: Context, source: Source, points: Sequence[Point], limit: float
) -> Iterator[tuple[Point, dict[str, Any]]]:
    """Yield each point with its answer, as they come.

    After a point that was refused or stopped, the same method and k with larger m are not tried.
    Points must come with rising m.
    """
    bench = Bench(source) if context.quick else Apart(source)
    given_up: set[tuple[str, int]] = set()
    try:
        for point in points:
            case = (point.method, point.k)
            answer = {"state": "not tried"} if case in given_up else bench.answer(point, limit)
            if "lm" not in answer:
                given_up.add(case)
            yield point, answer
    finally:
        if isinstance(bench, Apart):
            bench.close()


def serve(source: Source) -> None:
    """Answer the points that come on standard input until it ends."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    small = Bench(Source("small", 600))
    for name in METHODS:
        # Loads or compiles the kernels of each method.
        small.answer(Point(name, 5, None if name == "partition" else 3), 10.0)
    bench = Bench(source)
    print("ready", flush=True)
    for line in sys.stdin:
        question = json.loads(line)
        limit = question.pop("limit")
        print(json.dumps(bench.answer(Point(**question), limit)), flush=True)


if __name__ == "__main__":
    serve(Source(**json.loads(sys.argv[1])))
