"""What a benchmark found: tables, and bars that were met or not; as text, Markdown and JSON."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

QUICK = "Quick run: tiny generated data stand in for all the data named here."
MEMORY_TOLD = (
    "peak MB is that of the whole process; MB added is how far the work raised it above what "
    "the interpreter, the libraries, the warm-up and the data had taken before."
)
Cell = str | int | float | bool | None


@dataclass(frozen=True)
class Table:
    """Rows of cells under names."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str = ""


@dataclass(frozen=True)
class Bar:
    """A promise about speed, memory or loss; `met` is None where it was not judged."""

    what: str
    bar: str
    measured: Cell
    met: bool | None


@dataclass(frozen=True)
class Report:
    """The result of one benchmark."""

    name: str
    title: str
    tables: tuple[Table, ...]
    bars: tuple[Bar, ...] = ()
    notes: tuple[str, ...] = ()
    quick: bool = False
    pictures: dict[str, str] = field(default_factory=dict)
    """File name -> SVG text."""


def ratio(dearer: float | None, cheaper: float | None) -> float | None:
    """Return how many times `dearer` is `cheaper`; None where either is missing or below counts to 0.

    >>> ratio(6.0, 1.5), ratio(None, 1.0), ratio(1.0, 0.0)
    (4.0, None, None)
    """
    if dearer is None or cheaper is None or cheaper <= 0:
        return None
    return dearer / cheaper


def cells(found: Mapping[str, Any], *keys: str) -> tuple[Cell, ...]:
    """Return what was found under some keys; None for what is not there.

    >>> cells({"ncp": 0.5, "failed": "Infeasible"}, "ncp", "seconds")
    (0.5, None)
    """
    return tuple(found.get(key) for key in keys)


def at_most(what: str, measured: float | None, bar: float, unit: str = "s", *, quick: bool) -> Bar:
    """Return the bar that `measured` stays at or below a value; a missing value misses it."""
    met = None if quick else measured is not None and measured <= bar
    return Bar(what, f"<= {bar:g} {unit}".rstrip(), measured, met)


def at_least(what: str, measured: float | None, bar: float, unit: str = "x", *, quick: bool) -> Bar:
    """Return the bar that `measured` reaches a value; a missing value misses it."""
    met = None if quick else measured is not None and measured >= bar
    return Bar(what, f">= {bar:g} {unit}".rstrip(), measured, met)


def is_true(what: str, measured: bool, *, quick: bool) -> Bar:
    """Return the bar that something is so."""
    return Bar(what, "yes", measured, None if quick else measured)


def shown(cell: Cell) -> str:
    """Return a cell as text.

    >>> shown(0.0491234), shown(0.000058), shown(12.3456), shown(1234.5), shown(515597), shown(True)
    ('0.04912', '0.000058', '12.3', '1,234', '515,597', 'yes')
    """
    if cell is None:
        return "-"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}"
    if isinstance(cell, float):
        size = abs(cell)
        if size >= 100:
            return f"{cell:,.0f}"
        if size >= 10:
            return f"{cell:.1f}"
        if size >= 1:
            return f"{cell:.2f}"
        return f"{cell:.4g}" if size >= 1e-4 else f"{cell:.6f}".rstrip("0").rstrip(".")
    return cell


def _bar_table(bars: Sequence[Bar]) -> Table:
    said = {True: "met", False: "MISSED", None: "not judged"}
    rows = tuple((bar.what, bar.bar, bar.measured, said[bar.met]) for bar in bars)
    return Table(("bar", "allowed", "measured", ""), rows, "Bars")


def _all_tables(report: Report) -> list[Table]:
    return [*report.tables, *([_bar_table(report.bars)] if report.bars else [])]


def as_text(report: Report) -> str:
    """Return the report for a terminal."""
    lines = [f"{report.name}: {report.title}"]
    lines += [f"  {QUICK}"] if report.quick else []
    for table in _all_tables(report):
        if table.title:
            lines += ["", f"  {table.title}"]
        cells = [table.columns, *(tuple(shown(cell) for cell in row) for row in table.rows)]
        widths = [max(len(row[column]) for row in cells) for column in range(len(table.columns))]
        for row in cells:
            padded = [row[0].ljust(widths[0])]
            padded += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
            lines.append("  " + "  ".join(padded).rstrip())
    lines += [f"  note: {note}" for note in report.notes]
    return "\n".join(lines)


def environment() -> dict[str, Any]:
    """Return what of the machine is stated: its cores and its Python."""
    return {"cores": len(os.sched_getaffinity(0)), "python": platform.python_version()}


def _escaped(cell: Cell) -> str:
    return shown(cell).replace("|", "\\|")


def markdown(columns: Sequence[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """Return the lines of a table, its first column to the left."""
    return [
        "| " + " | ".join(columns) + " |",
        "|" + "|".join([" --- ", *(" ---: " for _ in columns[1:])]) + "|",
        *("| " + " | ".join(row) + " |" for row in rows),
    ]


def as_markdown(report: Report) -> str:
    """Return the report for a page."""
    where = environment()
    lines = [f"# {report.name}", "", f"{report.title}."]
    lines += ["", f"{where['cores']} cores, Python {where['python']}."]
    lines += ["", QUICK] if report.quick else []
    for table in _all_tables(report):
        lines += ["", f"## {table.title}"] if table.title else []
        lines += ["", *markdown(table.columns, [map(_escaped, row) for row in table.rows])]
    for name in report.pictures:
        lines += ["", f"![{report.title}]({name})"]
    if report.notes:
        lines += ["", *(f"- {note}" for note in report.notes)]
    return "\n".join(lines) + "\n"


def as_plain(report: Report) -> dict[str, Any]:
    """Return the report as plain values for JSON."""
    return {
        "benchmark": report.name,
        "title": report.title,
        **environment(),
        "quick": report.quick,
        "tables": [
            {
                "title": table.title,
                "rows": [dict(zip(table.columns, row, strict=True)) for row in table.rows],
            }
            for table in report.tables
        ],
        "bars": [
            {"what": bar.what, "bar": bar.bar, "measured": bar.measured, "met": bar.met}
            for bar in report.bars
        ],
        "notes": list(report.notes),
    }


def write(report: Report, folder: Path) -> None:
    """Write NAME.json, NAME.md and pictures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(as_plain(report), indent=2, ensure_ascii=False) + "\n"
    (folder / f"{report.name}.json").write_text(text, encoding="utf-8")
    (folder / f"{report.name}.md").write_text(as_markdown(report), encoding="utf-8")
    for name, picture in report.pictures.items():
        (folder / name).write_text(picture, encoding="utf-8")
