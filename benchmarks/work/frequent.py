"""Frequent itemsets, against the miners that Python users know, in one run.

Each starts from what it takes in memory: arrays here, lists of lists of integers for pyfim (C), a list
of tuples for efficient-apriori (Python). All must find the same sets with the same supports. The rivals
are in the extra ``bench``; what is not installed is left out, and the bars about it are missed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from ..context import Context
from ..report import Bar, Cell, Report, Table, at_least, at_most, is_true, ratio
from ..worker import timed

SHARES = (Fraction(1, 1000), Fraction(1, 2000))
KNOWN_SETS = {Fraction(1, 1000): 23_294, Fraction(1, 2000): 114_216}
COLUMNS = ("miner", "support", "least", "sets", "seconds", "CPU s", "seconds / ours", "CPU / ours")
TIMES_FASTER, TIMES_SLOWER = 10, 3
KINDS = {"closed": "c", "maximal": "m"}

Sets = Mapping[tuple[int, ...], int]
Measured = tuple[Any, dict[str, Any]]


def run(context: Context) -> Report:
    """Mine BMS-WebView-2 at 0.1 % and 0.05 %."""
    from setveil.mining.itemsets import least_count

    data, _ = context.source("BMS-WebView-2").load()
    shares = (Fraction(1, 20),) if context.quick else SHARES
    rows: list[tuple[Cell, ...]] = []
    more: list[tuple[Cell, ...]] = []
    bars: list[Bar] = []
    for share in shares:
        least = least_count(share, len(data))
        told = f"{float(share * 100):g} %"
        found = {name: _measured(context, name, work) for name, work in _miners(data, least).items()}
        ours = found["setveil"][1]
        for name, (sets, cost) in found.items():
            rows.append((name, told, least, len(sets), *_costs(cost, ours)))
        bars += _bars(context, told, found, None if context.quick else KNOWN_SETS[share])
        for kind, target in KINDS.items():
            more += _of_kind(context, data, least, told, kind, target)
    return Report(
        "frequent",
        f"Frequent itemsets of {len(data):,} records",
        (Table(COLUMNS, tuple(rows), "All"), Table(COLUMNS, tuple(more), "Closed and maximal")),
        tuple(bars),
        (
            "setveil merges and ranks the records each time; its threads are those of the machine.",
            "'as a dict' turns the arrays into what the rivals return, tuples of Python.",
            "efficient-apriori is told to keep sets of any length; by default it drops those above 8.",
        ),
        context.quick,
    )


def _measured(context: Context, name: str, work: Callable[[], Any]) -> Measured:
    context.note(name)
    if name.startswith("setveil"):
        work()  # compiled now, whatever it takes: only short first runs count as a warm-up
    return timed(work, runs=1 if context.quick else 5)


def _costs(cost: Mapping[str, Any], ours: Mapping[str, Any]) -> tuple[Cell, ...]:
    seconds, cpu = cost["seconds"], cost["cpu_seconds"]
    return (seconds, cpu, ratio(seconds, ours["seconds"]), ratio(cpu, ours["cpu_seconds"]))


def _miners(data: Any, least: int) -> dict[str, Callable[[], Any]]:
    """Return the work of each miner that is here, by its name."""
    lists = _lists(data)
    miners: dict[str, Callable[[], Any]] = {
        "setveil": lambda: _ours(data, least),
        "setveil, one thread": lambda: _ours(data, least, threads=1),
        "setveil, as a dict": lambda: _ours(data, least).as_dict(),
    }
    fim, apriori = _module("fim"), _module("efficient_apriori")
    if fim is not None:
        miners["pyfim eclat"] = lambda: fim.eclat(lists, target="s", supp=-least, zmin=1, report="a")
        miners["pyfim fpgrowth"] = lambda: fim.fpgrowth(
            lists, target="s", supp=-least, zmin=1, report="a"
        )
    if apriori is not None:
        tuples = [tuple(row) for row in lists]
        # Half a record below, so that a rounding error of the share decides nothing.
        share = (least - 0.5) / len(tuples)

        def mined() -> list[tuple[tuple[int, ...], int]]:
            by_size, _ = apriori.itemsets_from_transactions(tuples, share, max_length=len(lists))
            return [pair for sets in by_size.values() for pair in sets.items()]

        miners["efficient-apriori"] = mined
    return miners


def _module(name: str) -> Any:
    try:
        return __import__(name)
    except ImportError:
        return None


def _lists(data: Any) -> list[list[int]]:
    items = data.items.tolist()
    return [items[start:end] for start, end in pairwise(data.indptr.tolist())]


def _ours(data: Any, least: int, **options: Any) -> Any:
    from setveil.mining.itemsets import frequent_itemsets

    weights = np.ones(len(data), np.int64)
    return frequent_itemsets(data.indptr, data.items, weights, len(data.vocabulary), least, **options)


def _as_sets(found: Any) -> Sets:
    """Return what any of the miners found as ascending tuples and supports."""
    pairs = found.as_dict().items() if hasattr(found, "as_dict") else found
    pairs = pairs.items() if isinstance(pairs, dict) else pairs
    return {tuple(sorted(chosen)): support for chosen, support in pairs}


def _bars(context: Context, told: str, found: Mapping[str, Measured], known: int | None) -> list[Bar]:
    sets = {name: _as_sets(result) for name, (result, _) in found.items()}
    seconds = {name: cost["seconds"] for name, (_, cost) in found.items()}
    fast = min((seconds[name] for name in seconds if name.startswith("pyfim")), default=None)
    slow = seconds.get("efficient-apriori")
    quick = context.quick
    same = len(sets) == 6 and all(other == sets["setveil"] for other in sets.values())
    judged = [
        at_least(
            f"faster than efficient-apriori, {told}",
            ratio(slow, seconds["setveil"]),
            TIMES_FASTER,
            quick=quick,
        ),
        at_most(
            f"slower than pyfim, {told}",
            ratio(seconds["setveil"], fast),
            TIMES_SLOWER,
            "x",
            quick=quick,
        ),
        is_true(f"all find the same sets, {told}", same, quick=quick),
    ]
    if known is not None:
        number = len(sets["setveil"])
        judged.append(is_true(f"as many sets as known, {told}", number == known, quick=quick))
    return judged


def _of_kind(
    context: Context, data: Any, least: int, told: str, kind: str, target: str
) -> list[tuple[Cell, ...]]:
    sets, ours = _measured(context, kind, lambda: _ours(data, least, kind=kind))
    rows: list[tuple[Cell, ...]] = [(f"setveil, {kind}", told, least, len(sets), *_costs(ours, ours))]
    fim = _module("fim")
    if fim is not None:
        lists = _lists(data)
        sets, cost = _measured(
            context,
            f"pyfim, {kind}",
            lambda: fim.fpgrowth(lists, target=target, supp=-least, zmin=1, report="a"),
        )
        rows.append((f"pyfim fpgrowth, {kind}", told, least, len(sets), *_costs(cost, ours)))
    return rows
