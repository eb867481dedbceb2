"""What is measured about buckets: attacks, times, errors of rules and queries, the audit."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache, partial
from random import Random
from typing import Any

import numpy as np

from .context import Context
from .tables import adult, resampled, tiny
from .worker import timed

RUNS, QUERIES = 10, 1000
MIN_SUPPORT, MIN_CONVICTION = "0.01", "1.01"
ROWS = (30_162, 100_000, 300_000, 1_000_000)
METHODS = ("Anatomy", "Injector", "Printed")
"""Injector by its default, and with the grouping that its paper prints."""
GROUPING = {"Injector": "compact", "Printed": "printed"}

Point = tuple[int, str]
"""l, and the least expectation of a rule."""


class Bench:
    """The table, the rules of each expectation, and the buckets of each point, made once."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.data = tiny() if context.quick else adult()
        self.runs = 1 if context.quick else RUNS
        self.rules = cache(self._rules)
        self.buckets = cache(self._buckets)
        self.queries = cache(self._queries)

    def _rules(self, expectation: str) -> Any:
        from setveil.mining.negative_rules import mine_negative_rules

        return mine_negative_rules(self.data, min_expectation=expectation, control="none").rules

    def once(self, method: str, point: Point, data: Any = None, seed: int | None = None) -> Any:
        """Return what one run gives."""
        from setveil.methods import anatomy, injector
        from setveil.model.guarantees import LDiversity, MatchingDiversity
        from setveil.progress import Watch

        data = self.data if data is None else data
        random = None if seed is None else Random(seed)
        if method == "Anatomy":
            return anatomy.anonymize(data, LDiversity(point[0]), random=random, watch=Watch())
        rules = self.rules(point[1])
        return injector.anonymize(
            data,
            MatchingDiversity(point[0]),
            rules=rules,
            random=random,
            watch=Watch(),
            grouping=GROUPING[method],
        )

    def _buckets(self, method: str, point: Point) -> list[Any]:
        self.context.note(f"{method}, l={point[0]}, expectation {point[1]}")
        return [self.once(method, point, seed=seed).bucketing for seed in range(self.runs)]

    def of(self, method: str, point: Point) -> list[Any]:
        """Return the buckets of some runs; Anatomy does not depend on the rules."""
        return list(self.buckets(method, (point[0], "" if method == "Anatomy" else point[1])))

    def _queries(self, columns: int, share: str) -> Any:
        from setveil.measure.buckets import draw_queries

        return draw_queries(
            self.data,
            columns=min(columns, len(self.data.quasi)),
            selectivity=share,
            random=Random(1),
            count=100 if self.context.quick else QUERIES,
        )

    def mean(self, method: str, point: Point, measure: Callable[[Any], float]) -> float:
        """Return the mean of a measure over the runs."""
        return statistics.fmean(measure(buckets) for buckets in self.of(method, point))


def false_links(data: Any, buckets: Any, rules: Sequence[Any]) -> Fraction:
    """Return the mean share of a tuple that buckets link to values which the rules rule out for it."""
    from setveil.measure.buckets import Reconstruction
    from setveil.model.rules import impossible_values

    impossible = impossible_values(data, tuple(rules))
    told = Reconstruction.of(data, buckets)
    ruled = [value for value in range(impossible.shape[1]) if impossible[:, value].any()]
    linked = sum(told.numerators(impossible[:, value])[value] for value in ruled)
    return Fraction(linked, told.denominator * max(1, len(data)))


def attacks_on(bench: Bench, point: Point) -> dict[str, Any]:
    from setveil.risk.buckets import attack_by_learning, attack_by_rules

    rules = bench.rules(point[1])
    row: dict[str, Any] = {"rules": len(rules)}
    for method in METHODS:
        row[f"{method} vulnerable"] = bench.mean(
            method, point, lambda b: attack_by_rules(bench.data, b, rules, point[0]).vulnerable
        )
    for method in METHODS:
        row[f"{method} false links %"] = bench.mean(
            method, point, lambda b: 100 * float(false_links(bench.data, b, rules))
        )
    for method in METHODS:
        learned = attack_by_learning(bench.data, bench.of(method, point)[0])
        row[f"{method} guessed %"] = 100 * float(learned.accuracy)
    return row


def sizes_of(bench: Bench, point: Point) -> dict[str, Any]:
    """Return how large buckets are in the first run, and how many there can be at most."""
    outcome = bench.once("Injector", point, seed=0)
    row: dict[str, Any] = {"at most": outcome.figures["buckets at most"]}
    for method in METHODS:
        sizes = np.bincount(bench.of(method, point)[0].bucket_by_tuple)
        row[f"{method} buckets"] = len(sizes)
        row[f"{method} largest"] = int(sizes.max())
        row[f"{method} mean"] = float(sizes.mean())
    return row


def learned_by_size(
    bench: Bench, ls: Sequence[int], expectation: str
) -> dict[tuple[str, int], dict[str, Any]]:
    """Return how much is learned from buckets, and the query error, beside their mean size."""
    from setveil.errors import Infeasible
    from setveil.measure.buckets import measure_queries
    from setveil.risk.buckets import attack_by_learning

    queries, found = bench.queries(3, "0.3"), {}
    for method in METHODS:
        for l in ls:  # noqa: E741
            try:
                buckets = bench.once(method, (l, expectation), seed=0).bucketing
            except Infeasible:
                continue
            found[method, l] = {
                "mean bucket": len(bench.data) / buckets.n_buckets,
                "guessed %": 100 * float(attack_by_learning(bench.data, buckets).accuracy),
                "query error %": 100 * (measure_queries(bench.data, buckets, queries).mean or 0.0),
            }
    return found


def rule_errors(bench: Bench, point: Point) -> dict[str, Any]:
    from setveil.measure.buckets import measure_rules

    row: dict[str, Any] = {}
    for method in METHODS:
        found = [
            measure_rules(bench.data, buckets, min_support=MIN_SUPPORT, min_conviction=MIN_CONVICTION)
            for buckets in bench.of(method, point)
        ]
        row["rules"] = found[0].original
        row[f"{method} confidence"] = 100 * statistics.fmean(each.confidence or 0.0 for each in found)
        for sign, name in (("-", "false_negative"), ("+", "false_positive")):
            shares = [float(getattr(each, name) or 0) for each in found]
            row[f"{method} false {sign}"] = 100 * statistics.fmean(shares)
    return row


def query_error(bench: Bench, point: Point, columns: int, share: str) -> dict[str, Any]:
    from setveil.measure.buckets import measure_queries

    queries = bench.queries(columns, share)
    row: dict[str, Any] = {"drawn": queries.drawn}
    for method in METHODS:
        row[f"{method} error %"] = bench.mean(
            method,
            point,
            lambda b: 100 * (measure_queries(bench.data, b, queries).mean or 0.0),
        )
    return row


def seconds_of(bench: Bench, point: Point) -> dict[str, Any]:
    runs = 1 if bench.context.quick else 3
    _, mined = timed(lambda: bench._rules(point[1]), runs=runs)
    found = {"rules": mined["seconds"]}
    for method in METHODS:
        found[method] = timed(partial(bench.once, method, point), runs=runs)[1]["seconds"]
    return {name: found[name] for name in ("Anatomy", "rules", "Injector", "Printed")}


def grow(bench: Bench, point: Point) -> dict[int, dict[str, Any]]:
    found = {}
    for rows in (400, 800) if bench.context.quick else ROWS:
        bench.context.note(f"{rows:,} rows")
        data = resampled(bench.data, rows)
        row: dict[str, Any] = {}
        for method in METHODS:
            # Drawing again can tip a value over one in l, where Anatomy has no solution.
            outcome, times = _if_feasible(partial(bench.once, method, point, data))
            row[method] = times
            row[f"{method} buckets"] = None if outcome is None else outcome.bucketing.n_buckets
        found[rows] = row
    return found


def _if_feasible(work: Callable[[], Any]) -> tuple[Any, float | None]:
    from setveil.errors import Infeasible

    try:
        outcome, times = timed(work, runs=1)
    except Infeasible:
        return None, None
    return outcome, float(times["seconds"])


def audit_all(bench: Bench, default: Point) -> tuple[float, bool]:
    """Return the seconds of an audit at the default point, and whether all runs there hold."""
    from setveil.audit.bucket_tables import PublishedBuckets
    from setveil.audit.buckets import audit_buckets
    from setveil.model.guarantees import LDiversity, MatchingDiversity

    data = bench.data
    cells = {
        each.name: [each.hierarchy.labels[leaf] for leaf in each.leaf_by_tuple] for each in data.quasi
    }
    paths = {
        each.name: {label: each.hierarchy.path(label) for label in set(cells[each.name])}
        for each in data.quasi
    }
    rules = [(rule.conditions, rule.value) for rule in bench.rules(default[1])]
    seconds, held = 0.0, True
    for method, guarantee in (
        ("Anatomy", LDiversity(default[0])),
        ("Injector", MatchingDiversity(default[0])),
        ("Printed", MatchingDiversity(default[0])),
    ):
        for buckets in bench.of(method, default):
            numbers = buckets.bucket_by_tuple.tolist()
            pairs = zip(numbers, (data.values[v] for v in data.value_by_tuple), strict=True)
            counted = sorted((b, value, count) for (b, value), count in Counter(pairs).items())

            def judge(
                guarantee: Any = guarantee, numbers: Any = numbers, counted: Any = counted
            ) -> Any:
                tables = PublishedBuckets.of(cells, numbers, counted)
                return audit_buckets(tables, guarantee, rules=rules, paths=paths)

            finding, times = timed(judge, runs=1)
            held = held and finding.holds
            seconds = times["seconds"]
    return seconds, held
