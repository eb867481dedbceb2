"""What a second thread is worth, on the POS shape: wall and CPU seconds."""

from __future__ import annotations

from typing import Any

from ..context import Context
from ..report import Cell, Report, Table, is_true, ratio

K, M = 5, 3
FEWER_RECORDS = 100_000
"""For the finder, whose answer on all of the raw records would fill gigabytes."""


def run(context: Context) -> Report:
    """Run three methods and the finder of rare itemsets with one thread and with two."""
    source = context.source("POS shape")
    fewer = context.source("POS shape", records=FEWER_RECORDS)
    rows: list[tuple[Cell, ...]] = []
    same = True
    for what in ("vpa", "lra", "optimal", "find_rare"):
        found: dict[int, dict[str, Any]] = {}
        for threads in (1, 2):
            context.note(f"{what}, {threads} threads")
            if what == "find_rare":
                guarantee = {"k": K, "m": M}
                found[threads] = context.measure(what, fewer, guarantee=guarantee, threads=threads)
            else:
                found[threads] = context.anonymize(source, what, K, M, threads=threads, audit=False)
        one, two = found[1], found[2]
        key = "sets" if what == "find_rare" else "cut"
        same &= one[key] == two[key]
        walls = (one["seconds"], two["seconds"])
        cpus = (one["cpu_seconds"], two["cpu_seconds"])
        rows.append((what, *walls, ratio(*walls), *cpus, one["peak_mb"], two["peak_mb"]))
    columns = ("work", "wall 1", "wall 2", "wall 1 / wall 2", "CPU 1", "CPU 2", "MB 1", "MB 2")
    return Report(
        "threads",
        f"One thread and two on the POS shape, k={K}, m={M}",
        (Table(columns, tuple(rows)),),
        (is_true("the results do not depend on the threads", same, quick=context.quick),),
        (
            f"find_rare searches {FEWER_RECORDS:,} raw records for all their minimal rare itemsets.",
            "MB is the peak of the whole process.",
        ),
        context.quick,
    )
