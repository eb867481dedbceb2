"""The audit's count against the same count with sets in plain Python, in one run.

The rival keeps a set of records for each item, intersects, and prunes as the audit does: a rare
itemset and one with the support of a part of it are not extended. Both must find the same numbers of
minimal rare itemsets.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from itertools import pairwise

from ..context import Context
from ..report import Report, Table, at_least, at_most, is_true, ratio
from ..worker import timed

K, M = 5, 3
TIMES_FASTER, SECONDS = 20, 2.0


def rare_by_size(rows: Sequence[Sequence[int]], k: int) -> tuple[int, int, int]:
    """Return how many minimal rare itemsets of one, two and three items the rows hold."""
    records: dict[int, set[int]] = {}
    for number, row in enumerate(rows):
        for item in row:
            records.setdefault(item, set()).add(number)
    singles = sum(len(held) < k for held in records.values())
    by_support = sorted(
        (item for item in records if len(records[item]) >= k), key=lambda i: len(records[i])
    )
    rank = {item: place for place, item in enumerate(by_support)}
    pairs, triples = 0, 0
    # item -> later items -> records of the pair, for pairs that may be extended
    after: list[dict[int, set[int]]] = []
    for place, item in enumerate(by_support):
        held = records[item]
        near = {rank[other] for number in held for other in rows[number] if other in rank}
        free: dict[int, set[int]] = {}
        for other in near:
            if other > place:
                both = held & records[by_support[other]]
                if len(both) < k:
                    pairs += 1
                elif len(both) < len(held):
                    free[other] = both
        after.append(free)
    for free in after:
        for second, both in free.items():
            for third in after[second].keys() & free.keys():
                triples += 0 < len(both & records[by_support[third]]) < k
    return singles, pairs, triples


def run(context: Context) -> Report:
    """Audit the raw BMS-WebView-2 at m=3."""
    from setveil import KmAnonymity, audit

    data, _ = context.source("BMS-WebView-2").load()
    verdict, ours = timed(lambda: audit(data, KmAnonymity(K, M)), runs=1 if context.quick else 5)
    bounds, items = data.indptr.tolist(), data.items.tolist()
    rows = [items[start:end] for start, end in pairwise(bounds)]
    seconds = []
    for _ in range(1 if context.quick else 3):
        started = time.perf_counter()
        counted = rare_by_size(rows, K)
        seconds.append(time.perf_counter() - started)
    theirs = statistics.median(seconds)
    found = tuple(finding.violations for finding in verdict.by_size)
    faster = ratio(theirs, ours["seconds"])
    quick = context.quick
    table = Table(
        ("count", "seconds", "rare, 1 item", "rare, 2 items", "rare, 3 items"),
        (
            ("setveil.audit", ours["seconds"], *found),
            ("sets in plain Python", round(theirs, 3), *counted),
        ),
    )
    return Report(
        "audit",
        f"Auditing {len(data):,} raw records at k={K}, m={M}",
        (table,),
        (
            at_least("faster than sets in plain Python", faster, TIMES_FASTER, quick=quick),
            at_most("seconds of the audit", ours["seconds"], SECONDS, quick=quick),
            is_true("both find the same", found == counted, quick=quick),
        ),
        (f"{sum(finding.checked for finding in verdict.by_size):,} itemsets counted by the audit.",),
        quick,
    )
