"""Injector beside Anatomy on Adult: Figures 4 to 8 of Li and Li (2008), the audit, and growth.

Both methods use chance, so all figures but times are means of ten runs, from fixed seeds. Anatomy knows
nothing of the rules: its line against their expectation changes only where the attacker's rules do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..buckets import (
    METHODS,
    MIN_CONVICTION,
    MIN_SUPPORT,
    QUERIES,
    ROWS,
    Bench,
    attacks_on,
    audit_all,
    grow,
    learned_by_size,
    query_error,
    rule_errors,
    seconds_of,
    sizes_of,
)
from ..context import Context
from ..plot import Panel, small_multiples
from ..report import Bar, Cell, Report, Table, at_most, is_true

LS = (3, 4, 5, 6)
EXPECTATIONS, DEFAULT_EXPECTATION = ("0.75", "0.8", "0.85", "0.9", "0.95"), "0.9"
COLUMNS, DEFAULT_COLUMNS = (2, 3, 4, 5), 3
SHARES, DEFAULT_SHARE = ("0.1", "0.2", "0.3", "0.4"), "0.3"
LEARNED = (3, 4, 5, 6, 7, 8)
SECONDS, SECONDS_OF_A_MILLION = 1.0, 15.0


def run(context: Context) -> Report:
    """Measure everything; some minutes."""
    bench = Bench(context)
    ls, expectations = (LS[:2], EXPECTATIONS[-2:]) if context.quick else (LS, EXPECTATIONS)
    default = (ls[-1], expectations[-2] if context.quick else DEFAULT_EXPECTATION)
    by_l = [(l, default[1]) for l in ls]  # noqa: E741
    by_expectation = [(default[0], expectation) for expectation in expectations]
    points = sorted({*by_l, *by_expectation})
    attacks = {point: attacks_on(bench, point) for point in points}
    rules = {point: rule_errors(bench, point) for point in points}
    usual = [(point, DEFAULT_COLUMNS, DEFAULT_SHARE) for point in points]
    by_columns = [(default, columns, DEFAULT_SHARE) for columns in COLUMNS]
    by_share = [(default, DEFAULT_COLUMNS, share) for share in SHARES]
    queries = {key: query_error(bench, *key) for key in dict.fromkeys([*usual, *by_columns, *by_share])}
    speed = {point: seconds_of(bench, point) for point in points}
    sizes = {point: sizes_of(bench, point) for point in points}
    learned = learned_by_size(bench, LEARNED[:2] if context.quick else LEARNED, default[1])
    growth = grow(bench, default)
    audited, held = audit_all(bench, default)

    def lines(found: dict[Any, dict[str, Any]], keys: Sequence[Any], name: str) -> dict[str, list[Any]]:
        return {method: [found[key][f"{method} {name}"] for key in keys] for method in METHODS}

    def both(at_l: dict[str, list[Any]], at_expectation: dict[str, list[Any]]) -> list[Panel]:
        return [
            Panel("by l", "l", ls, at_l),
            Panel("by expectation", "expectation", expectations, at_expectation),
        ]

    def figure(found: dict[Any, dict[str, Any]], title: str, names: dict[str, str]) -> str:
        blocks = []
        for name, words in names.items():
            panels = both(lines(found, by_l, name), lines(found, by_expectation, name))
            blocks.append((words, [panels]))
        return small_multiples(blocks, title)

    query_panels = [
        *both(
            *(
                lines(queries, [(p, *usual[0][1:]) for p in points_of], "error %")
                for points_of in (by_l, by_expectation)
            )
        ),
        Panel("by columns (dim)", "columns", COLUMNS, lines(queries, by_columns, "error %")),
        Panel("by selectivity (sel)", "share of values", SHARES, lines(queries, by_share, "error %")),
    ]
    tables = (
        _table("Figure 4: attack by rules, and by learning", ("l", "expectation"), attacks),
        _table("Buckets", ("l", "expectation"), sizes),
        _table("Learning from buckets, by their size", ("method", "l"), learned),
        _table("Figure 5: seconds", ("l", "expectation"), speed),
        _table("Figures 6 and 7: rules, errors in percent", ("l", "expectation"), rules),
        _table(
            "Figure 8: counting queries, error in percent",
            ("l", "expectation", "columns", "share"),
            {(*point, columns, share): row for (point, columns, share), row in queries.items()},
        ),
        _ratios(attacks, rules, queries),
        _table("Growth", ("rows",), growth),
    )
    speed_lines = {
        name: [speed[p][name] for p in by_l] for name in ("Anatomy", "rules", "Injector", "Printed")
    }
    more_lines = {name: [speed[p][name] for p in by_expectation] for name in speed_lines}
    pictures = {
        "injector-attack.svg": figure(
            attacks, "Vulnerable tuples (Figure 4)", {"vulnerable": "vulnerable tuples"}
        ),
        "injector-seconds.svg": small_multiples(
            [("seconds", [both(speed_lines, more_lines)])],
            "Efficiency (Figure 5)",
        ),
        "injector-confidence.svg": figure(
            rules, "Confidence error (Figure 6)", {"confidence": "confidence error, percent"}
        ),
        "injector-identification.svg": figure(
            rules,
            "Identification error (Figure 7)",
            {"false -": "rules missed, percent", "false +": "rules made up, percent"},
        ),
        "injector-queries.svg": small_multiples(
            [("mean relative error, percent", [query_panels[:2], query_panels[2:]])],
            "Counting queries (Figure 8)",
        ),
    }
    vulnerable = sum(
        float(row[f"{method} vulnerable"]) for row in attacks.values() for method in METHODS[1:]
    )
    bars: list[Bar] = [
        is_true("Injector leaves no vulnerable tuple", vulnerable == 0, quick=context.quick),
        is_true(
            "as many buckets as there can be, at every point",
            all(row["Injector buckets"] == row["at most"] for row in sizes.values()),
            quick=context.quick,
        ),
        is_true(
            "the buckets of every run at the default point hold by the audit", held, quick=context.quick
        ),
        at_most(
            f"Adult, l={default[0]}: rules, buckets, audit",
            speed[default]["rules"] + speed[default]["Injector"] + audited,
            SECONDS,
            quick=context.quick,
        ),
        at_most(
            f"{ROWS[-1]:,} rows, l={default[0]}",
            growth[max(growth)]["Injector"],
            SECONDS_OF_A_MILLION,
            quick=context.quick,
        ),
    ]
    return Report(
        "injector",
        "Injector and Anatomy on Adult, 30,162 tuples, occupation sensitive",
        tables,
        tuple(bars),
        _notes(bench),
        context.quick,
        pictures,
    )


def _table(title: str, keys: tuple[str, ...], found: dict[Any, dict[str, Any]]) -> Table:
    names = tuple(next(iter(found.values())))
    rows: list[tuple[Cell, ...]] = []
    for key, row in found.items():
        rows.append((*(key if isinstance(key, tuple) else (key,)), *(row[name] for name in names)))
    return Table((*keys, *names), tuple(rows), title)


def _ratios(*found: dict[Any, dict[str, Any]]) -> Table:
    """Return each error of Injector over Anatomy's: the mean of the points, and the worst point."""
    rows: list[tuple[Cell, ...]] = []
    for table in found:
        for name in next(iter(table.values())):
            measure = name.removeprefix("Anatomy ")
            # Rules made up are so few with Anatomy that no share of them tells anything.
            if measure == name or measure in ("vulnerable", "false links %", "false +"):
                continue
            row: list[Cell] = [measure]
            for method in METHODS[1:]:
                shares = [each[f"{method} {measure}"] / each[name] for each in table.values()]
                row += [sum(shares) / len(shares), max(shares)]
            rows.append(tuple(row))
    names = [f"{method}, {which}" for method in METHODS[1:] for which in ("mean", "worst")]
    return Table(("measure", *names), tuple(rows), "Over Anatomy's")


def _notes(bench: Bench) -> tuple[str, ...]:
    return (
        f"means of {bench.runs} runs each; times are medians of 3 runs, warmed, in one process.",
        "the paper reports 45, 39, 32, 22 and 15 rules for expectations 0.75 to 0.95, from hierarchies "
        "that it does not print; rules that follow from others are not counted here.",
        "false links: the mean share of a tuple that buckets link to values ruled out for it. guessed: "
        "tuples whose value the deFinetti attack finds, first run.",
        f"rules of up to two conditions, support {MIN_SUPPORT}, conviction {MIN_CONVICTION}; the paper "
        "does not print its thresholds.",
        f"{QUERIES:,} queries a point; those that count nobody are drawn again ('drawn' counts all).",
        "Printed: injector with the grouping of the paper's Figure 2 (--grouping printed). It takes "
        "rare values first, what is left shares fewer values, and buckets grow beyond l. Learning from "
        "them is harder, for an attacker as for a reader: the table by size has the default beside it "
        "at an l where its buckets are as large.",
        "over Anatomy's: the paper finds all of Injector's errors smaller; a figure below 1 says so.",
        "growth: Adult drawn again with replacement; the rules are those of the original rows.",
    )
