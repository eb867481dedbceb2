"""The benchmarks by name: what each measures, where it is, whether it runs by default."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass

from .context import Context
from .report import Report


@dataclass(frozen=True)
class Benchmark:
    """One entry: `place` is a module of `benchmarks.work` and its function."""

    name: str
    place: str
    about: str
    by_default: bool = True

    def load(self) -> Callable[[Context], Report]:
        """Return the function."""
        module, _, function = self.place.partition(":")
        found: Callable[[Context], Report] = getattr(
            importlib.import_module(f"benchmarks.work.{module}"), function or "run"
        )
        return found


BENCHMARKS = (
    Benchmark("startup", "startup", "the command's and the package's start, reading a file"),
    Benchmark("command", "command", "the whole of setveil anonymize, beside the method alone"),
    Benchmark("audit", "audit", "counting all itemsets, against sets in plain Python"),
    Benchmark("aa", "apriori", "aa on real data: seconds, loss, verdict, the reference path, memory"),
    Benchmark("optimal", "optimal", "proven optima on real data, and how far aa is from them"),
    Benchmark(
        "trim", "trim", "generalization with suppression on real data, beside the optimum without"
    ),
    Benchmark("threats", "threats", "hghs, mhghs and mm on real data, and how they keep a time limit"),
    Benchmark("pos", "pos", "optimal, aa, vpa and lra on 515,597 records"),
    Benchmark("partition", "partition", "k-anonymity of whole records by partition"),
    Benchmark("sweep", "sweep", "15 points (k, m) in one call, against the dearest alone"),
    Benchmark("growth", "growth", "time and memory against |D|, |I|, k, m and h, as a picture"),
    Benchmark("fig23", "fig23", "vpa against partition as m grows"),
    Benchmark("negative", "promises:negative", "optima against negative knowledge"),
    Benchmark("diversity", "promises:diversity", "optima under l^m-diversity"),
    Benchmark("risk", "risk", "the risk curve: seconds, and how much of it is counted"),
    Benchmark("threads", "threads", "one thread against two"),
    Benchmark("frequent", "frequent", "frequent itemsets, against pyfim and efficient-apriori"),
    Benchmark("rules", "rules", "negative rules of Adult and of a million rows"),
    Benchmark("patterns", "patterns", "emerging patterns of Adult, Mushroom and a million rows"),
    Benchmark(
        "hiding", "hiding", "emerging patterns hidden: Adult, Mushroom, sets of items, a million rows"
    ),
    Benchmark(
        "guard",
        "hiding:guarded",
        "sets below the minimum support, looked after by hide-patterns and not",
    ),
    Benchmark("ml2", "ml2", "what mining loses by aa and vpa, as tables and a picture"),
    Benchmark(
        "injector", "injector", "injector and anatomy on Adult: attacks, seconds, errors, growth"
    ),
    Benchmark("pos-large-m", "pos:large_m", "vpa and optimal at m=6 on 515,597 records", False),
    Benchmark("compare", "compare", "eight methods on five data sets, as a table and a picture", False),
)

NAMES = tuple(benchmark.name for benchmark in BENCHMARKS)


def benchmark(name: str) -> Benchmark:
    """Return the entry of a name; KeyError that lists the known ones."""
    for entry in BENCHMARKS:
        if entry.name == name:
            return entry
    raise KeyError(f"unknown benchmark {name!r}; known: {', '.join(NAMES)}")
