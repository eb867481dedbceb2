"""The tables of `hiding_tables` as text: ours beside the paper's, cell by cell, and counts of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from statistics import median
from typing import Any

from .hiding_paper import FLAT_TABLE, LARGEST, TABLES, THETAS, PaperTable
from .report import environment, markdown

BEGIN, END = "<!-- tables: begin -->", "<!-- tables: end -->"

Found = dict[str, Any]


def as_page(found: Sequence[Found]) -> str:
    """Return the page of results."""
    where = environment()
    head = [
        "# hiding-tables",
        "",
        "Tables 2 to 7 of M. W.-K. Cheng's paper on hiding emerging patterns, made again by "
        "`python -m benchmarks.hiding_tables`.",
        "",
        f"{where['cores']} cores, Python {where['python']}.",
        "",
    ]
    return "\n".join(head) + tables(found)


def with_tables(page: str, found: Sequence[Found]) -> str:
    """Return a page with the text between its marks replaced with the tables."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    if not after:
        raise ValueError(f"the page lacks the marks {BEGIN} and {END}.")
    return f"{before}{BEGIN}\n{tables(found)}{END}{after}"


def tables(found: Sequence[Found]) -> str:
    """Return all that is made of the cells, as Markdown."""
    by_cell = {(one["data"], one["search"], one["theta_p"], one["theta_q"]): one for one in found}
    lines = [
        "### In all",
        "",
        *_summary(by_cell),
        "",
        "### The largest distortion",
        "",
        *_largest(found),
    ]
    for table in (*TABLES, FLAT_TABLE):
        lines += ["", f"### {table.title}", "", _legend(table), "", *_grid(table, by_cell)]
    return "\n".join(lines) + "\n"


def _legend(table: PaperTable) -> str:
    if table.minutes:
        return "Ours in seconds (the paper's in minutes); θp down, θq across."
    return "Ours (the paper's); θp down, θq across."


def _grid(table: PaperTable, by_cell: dict[tuple[str, ...], Found]) -> list[str]:
    rows = []
    for theta_p in THETAS:
        row = [theta_p]
        for theta_q in THETAS:
            plain = by_cell.get((table.data, table.search, theta_p, theta_q))
            row.append(f"{_ours(plain, table)} ({table.cells[theta_p, theta_q]})")
        rows.append(row)
    return markdown(("θp \\ θq", *THETAS), rows)


def _ours(plain: Found | None, table: PaperTable) -> str:
    if plain is None:
        return "not run"
    if not plain["finished"]:
        return f"not finished in {plain['limit']:g} s"
    if table.minutes:
        return f"{plain['seconds']:.1f}"
    return f"{number(plain['distortion'])}/{plain['missing']}"


def _summary(by_cell: dict[tuple[str, ...], Found]) -> list[str]:
    rows = []
    for table in TABLES:
        if table.minutes:
            continue
        found = [plain for cell, plain in by_cell.items() if cell[:2] == (table.data, table.search)]
        ended = [plain for plain in found if plain["finished"]]
        printed = [_read(cell) for cell in table.cells.values()]
        theirs = [cell for cell in printed if cell is not None]
        times = [plain["seconds"] for plain in ended]
        clean = sum(map(_clean, ended)), sum(cell == (0, 0) for cell in theirs)
        whole = sum(not plain["missing"] for plain in ended), sum(not missing for _, missing in theirs)
        largest = Fraction(LARGEST[table.data])
        rows.append(
            [
                f"{table.search} on {table.data}",
                f"{len(ended)} of {len(table.cells)}",
                f"{sum(plain['patterns_left'] for plain in ended)}",
                f"{clean[0]} ({clean[1]})",
                f"{whole[0]} ({whole[1]})",
                f"{_share(map(_part, ended))} ({_share(far / largest for far, _ in theirs)})",
                f"{median(times):.1f}, {max(times):.1f}" if times else "-",
            ]
        )
    columns = (
        *("search and data", "cells finished", "patterns left in all of them", "cells 0/0"),
        *("cells with no itemset missing", "median distortion of the largest"),
        "seconds: median, most",
    )
    return ["Ours (the paper's).", "", *markdown(columns, rows)]


def _largest(found: Iterable[Found]) -> list[str]:
    ours = {plain["data"]: plain["largest"] for plain in found if plain["finished"]}
    rows = [
        [data, number(ours[data]) if data in ours else "not run", printed]
        for data, printed in LARGEST.items()
    ]
    return markdown(("data", "ours", "the paper's"), rows)


def _clean(plain: Found) -> bool:
    return not plain["missing"] and not Fraction(plain["distortion"])


def _part(plain: Found) -> Fraction:
    largest = Fraction(plain["largest"])
    return Fraction(plain["distortion"]) / largest if largest else largest


def _share(parts: Iterable[Fraction]) -> str:
    known = list(parts)
    return f"{float(median(known)):.0%}" if known else "-"


def _read(cell: str) -> tuple[Fraction, int] | None:
    """Return distortion and missing itemsets of a printed cell; None for words.

    >>> _read("46.7/1"), _read("NA")
    ((Fraction(467, 10), 1), None)
    """
    if "/" not in cell:
        return None
    distortion, missing, *_ = cell.split("/")
    return Fraction(distortion), int(missing)


def number(text: str) -> str:
    """Return a fraction with at most one decimal.

    >>> number("29/3"), number("15"), number("1649/6")
    ('9.7', '15', '274.8')
    """
    exact = Fraction(text)
    return str(exact) if exact.denominator == 1 else f"{float(exact):.1f}"
