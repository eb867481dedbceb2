"""``python -m benchmarks [NAME ...]``: run, print, and keep the results."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from .catalogue import BENCHMARKS, NAMES, benchmark
from .context import Context, WorkerFailed
from .data import ROOT, DataAbsent
from .report import as_text, write

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
    return 1 if failed or (missed and asked.strict) else 0


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
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
