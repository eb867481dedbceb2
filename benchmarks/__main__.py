"""``python -m benchmarks [NAME ...]``: run, print, and keep the results."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from . import against
from .catalogue import BENCHMARKS, NAMES, benchmark
from .context import Context, WorkerFailed
from .data import ROOT, DataAbsent
from .report import as_text, write
from .worker import PIECES, tell

RESULTS = ROOT / "benchmarks" / "results"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the named benchmarks, or all that run by default; 1 if one failed, or with --strict a bar."""
    asked = _parser().parse_args(arguments)
    if asked.list:
        for entry in BENCHMARKS:
            print(f"{entry.name:<12} {entry.about}{'' if entry.by_default else ' (only by name)'}")
        return 0
    names = asked.names or [entry.name for entry in BENCHMARKS if entry.by_default]
    strange = [name for name in names if name not in NAMES]
    if strange:
        print(f"unknown benchmark {strange[0]!r}; known: {', '.join(NAMES)}", file=sys.stderr)
        return 2
    if asked.against is not None:
        return _against(asked, names)
    output = asked.output or (None if asked.quick else RESULTS)
    context = Context(
        quick=asked.quick,
        reference_limit=asked.reference_limit,
        limit=asked.limit,
        only=tuple(asked.data),
        resume=asked.resume,
        output=output,
    )
    missed, failed = 0, False
    for name in names:
        started = time.perf_counter()
        tell(name)
        try:
            report = benchmark(name).load()(context)
        except DataAbsent as reason:
            print(f"{name}: skipped: {reason}\n")
            continue
        except WorkerFailed as words:
            print(f"{name}: failed:\n{words}\n")
            failed = True
            continue
        print(as_text(report))
        print(f"  ({time.perf_counter() - started:.0f} s in all)\n", flush=True)
        missed += sum(bar.met is False for bar in report.bars)
        if output is not None:
            write(report, output)
    if asked.timings is not None:
        import setveil

        package = str(Path(setveil.__file__).parent)
        asked.timings.write_text(json.dumps({"package": package, "pieces": PIECES}))
    return 1 if failed or (missed and asked.strict) else 0


def _against(asked: argparse.Namespace, names: Sequence[str]) -> int:
    """Print what the same work takes by another checkout's code; 1 if it could not be measured."""
    arguments = ["--quick"] if asked.quick else []
    arguments += [f"--limit={asked.limit:g}", f"--reference-limit={asked.reference_limit:g}"]
    arguments += [f"--data={name}" for name in asked.data]
    failed = False
    for name in names:
        try:
            print(as_text(against.compare(name, asked.against, arguments)), end="\n\n", flush=True)
        except WorkerFailed as words:
            print(f"{name}: failed:\n{words}\n")
            failed = True
    return 1 if failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure speed, memory and loss of setveil."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="what to run; by default nearly all")
    parser.add_argument("--list", action="store_true", help="show the names and stop")
    parser.add_argument("--quick", action="store_true", help="tiny inputs, no bars; keeps no results")
    parser.add_argument("--strict", action="store_true", help="exit 1 if a bar was missed")
    parser.add_argument("--output", type=Path, help="folder for the results instead of the kept ones")
    parser.add_argument(
        "--reference-limit",
        type=float,
        default=Context.reference_limit,
        metavar="SECONDS",
        help="how long aa's count-tree path may take before it counts as not finished",
    )
    parser.add_argument(
        "--limit",
        type=float,
        default=Context.limit,
        metavar="SECONDS",
        help="how long each point of compare may take",
    )
    parser.add_argument(
        "--data", action="append", default=[], metavar="NAME", help="compare on this data set only"
    )
    parser.add_argument(
        "--resume", action="store_true", help="compare keeps the points already in its results"
    )
    parser.add_argument(
        "--against",
        type=Path,
        metavar="CHECKOUT",
        help="run with the package of another checkout too, and print ratios of CPU seconds; keeps "
        "no results",
    )
    parser.add_argument(
        "--timings", type=Path, metavar="FILE", help="write what each piece of work took, as JSON"
    )
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
